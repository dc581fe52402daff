"""Dialects: how one family of models is asked for an action, and how its answer is read.

A dialect owns the action schema in the prompt, the wording of past actions and the parsing of
answers. Each one is a file of this folder that holds an object called `DIALECT`; its name is the
file's, with hyphens for underscores (`ui_tars.py` is "ui-tars"). A new dialect is a new file.

Convention: an `Action` holds fractions of the screenshot; a dialect converts to what its model
writes (thousandths, pixels) at this border and nowhere else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from episodes import Action, Element, Step

ContentPart = dict[str, Any]
"""A part of a message in transformers' multimodal format: a text or an image."""

Message = dict[str, Any]
"""A chat message in transformers' multimodal format: a role and a list of content parts."""


class AnswerError(ValueError):
    """An answer from which no action can be read; the message says what is wrong with it."""


@runtime_checkable
class Dialect(Protocol):
    """What an actor must know about the way its model talks.

    Attributes
    ----------
    name
        The dialect's name in the registry.
    chat_template_kwargs
        Passed to the processor's chat template (``{"enable_thinking": False}``).
    stop_tokens
        Tokens, as the tokenizer writes them, that end an answer beside the end tokens of the
        checkpoint's generation config. Every one must exist in the vocabulary.
    """

    name: str
    chat_template_kwargs: dict[str, Any]
    stop_tokens: tuple[str, ...]

    def render_action(
        self, action: Action, element: Element | None, *, coordinates: bool = True
    ) -> str:
        """A past action in words; with `coordinates`, in a form that `parse` reads back.

        `element` is what it landed on, None where that is unknown or must not be told.
        """
        ...

    def messages(
        self, step: Step, instruction: str, memory: Sequence[ContentPart]
    ) -> list[Message]:
        """The whole prompt for `step`, with the content parts of what is recalled.

        `instruction` is what the actor is told to do, which may be less than `step.instruction`.
        """
        ...

    def parse(self, answer: str, step: Step) -> Action:
        """The action that `answer` asks for, or an `AnswerError`.

        `step` tells the screenshot's size where a model answers in pixels. Never looks at the
        step's own action or target.
        """
        ...


DIALECTS: tuple[str, ...] = tuple(
    sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))
)
"""Names that `get_dialect` knows."""


def get_dialect(name: str) -> Dialect:
    """The dialect called `name`; `ValueError` lists the known names otherwise."""
    if name not in DIALECTS:
        raise ValueError(f"dialect {name!r} is unknown; known dialects: {', '.join(DIALECTS)}")
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}").DIALECT


__all__ = [
    "DIALECTS",
    "AnswerError",
    "ContentPart",
    "Dialect",
    "Message",
    "get_dialect",
]
