"""Who acts: prompts in a model's dialect, sampled answers, the actions read from them."""

from actor.actor import Actor
from actor.dialects import (
    DIALECTS,
    AnswerError,
    ContentPart,
    Dialect,
    Message,
    get_dialect,
)
from actor.response import Response, ScoredAnswer, score_answer
from actor.sampling import Sampling, sample_seed

__all__ = [
    "DIALECTS",
    "Actor",
    "AnswerError",
    "ContentPart",
    "Dialect",
    "Message",
    "Response",
    "Sampling",
    "ScoredAnswer",
    "get_dialect",
    "sample_seed",
    "score_answer",
]
