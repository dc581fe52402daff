"""Representations: the form in which a past step is shown, one form per file.

A representation turns a past step into chat content parts. How an action reads is the dialect's
affair; the representation asks it through `ActionRenderer`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from episodes import Action, Element, Step

ContentPart = dict[str, Any]


class ActionRenderer(Protocol):
    """The part of a dialect that words an action."""

    def render_action(
        self, action: Action, element: Element | None, *, coordinates: bool = True
    ) -> str:
        """A past action in words."""
        ...


Representation = Callable[[Step, ActionRenderer], list[ContentPart]]


@dataclass(frozen=True)
class MemoryOptions:
    """What is free in the forms of memory; recorded with every run.

    Parameters
    ----------
    max_elements
        Elements of the screen that a text lists; the prompt says how many were cut.
    max_words
        Words of a label that a text shows; None shows all.
    coordinates
        Whether a text tells the past action's point and the elements' places.
    image_width
        Width in pixels to which a remembered screenshot is reduced; None keeps its size.
    mark
        Whether the place where the past action landed is marked on the screenshot.
    image_action
        How the action beside a screenshot reads: "words", as in the text form, or "mark", which
        leaves it to the mark (and of typing tells only that something was typed).
    """

    max_elements: int = 16
    max_words: int | None = None
    coordinates: bool = True
    image_width: int | None = None
    mark: bool = False
    image_action: Literal["words", "mark"] = "words"

    def __post_init__(self) -> None:
        if self.max_elements < 0:
            raise ValueError(f"max_elements must be 0 or more, found {self.max_elements}")
        if self.max_words is not None and self.max_words < 1:
            raise ValueError(f"max_words must be at least 1, found {self.max_words}")
        if self.image_width is not None and self.image_width < 8:
            raise ValueError(f"image_width must be at least 8 pixels, found {self.image_width}")
        if self.image_action == "mark" and not self.mark:
            raise ValueError('image_action = "mark" needs mark = true, or no form tells the action')


def get_representation(name: str, options: MemoryOptions | None = None) -> Representation:
    """The form called `name` ("none", "text", "image", "both").

    Raises
    ------
    ValueError
        For another name, listing the known ones.
    """
    from memory.representations.both import BothMemory
    from memory.representations.image import ImageMemory
    from memory.representations.none import NoMemory
    from memory.representations.text import TextMemory

    forms = {"none": NoMemory, "text": TextMemory, "image": ImageMemory, "both": BothMemory}
    if name not in forms:
        raise ValueError(f"form of memory {name!r} is unknown; known forms: {', '.join(forms)}")
    return forms[name](options or MemoryOptions())
