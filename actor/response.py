"""What an actor gives for one prompt, and the score of an answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

from actor.dialects import AnswerError, Dialect
from episodes import Action, Step
from episodes.scorers import Scorer


@dataclass(frozen=True)
class Response:
    """Hidden states and sampled answers of one prompt, from one prefill.

    Parameters
    ----------
    states
        (n_sites, d), on the CPU in the model's dtype: hidden states at the last prompt token.
    sites
        Names of the rows of `states`.
    texts
        The sampled answers, without their stop token.
    prompt_tokens, image_tokens
        Length of the prompt, and how much of it are image placeholders.
    last_token_id
        The token at whose position the states were taken.
    prompt_sha256
        Of the rendered prompt.
    """

    states: Tensor = field(repr=False)
    sites: tuple[str, ...] = field(repr=False)
    texts: tuple[str, ...]
    prompt_tokens: int
    image_tokens: int
    last_token_id: int
    prompt_sha256: str


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer's action, or what kept it from being read, and its score in [0, 1]."""

    action: Action | None
    parse_error: str | None
    score: float


def score_answer(answer: str, dialect: Dialect, scorer: Scorer, step: Step) -> ScoredAnswer:
    """Read and score an answer; one from which no action can be read scores 0."""
    try:
        action = dialect.parse(answer, step)
    except AnswerError as error:
        return ScoredAnswer(None, str(error), 0.0)
    return ScoredAnswer(action, None, scorer(action, step))
