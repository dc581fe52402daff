"""Who acts: prompts in a model's dialect, sampled answers, the actions read from them."""

from actor.dialects import DIALECTS, AnswerError, Dialect, get_dialect

__all__ = ["DIALECTS", "AnswerError", "Dialect", "get_dialect"]
