"""A step of an agent on a screen, and the episode it belongs to."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from functools import cached_property

from PIL import Image

from episodes.action import Action
from episodes.element import Box, Element


@dataclass(frozen=True)
class Step:
    """One observation and the demonstrated action on it.

    Parameters
    ----------
    step_id, episode_id
        Names, unique over a data set; an episode's steps share `episode_id`.
    index
        Place in the episode, from 0.
    instruction
        The task in words.
    screenshot
        The encoded picture (PNG, JPEG, WebP), or None where the source has none.
    elements
        Visible elements in document order.
    action
        The demonstrated action.
    target
        Box of the element that the action lands on, fractions; None for actions without one.
    previous_actions
        The actions of the episode before this step, oldest first.
    app
        The app or task ("click-button", "Chrome").
    """

    step_id: str
    episode_id: str
    index: int
    instruction: str
    elements: tuple[Element, ...]
    action: Action
    screenshot: bytes | None = field(default=None, repr=False)
    target: Box | None = None
    previous_actions: tuple[Action, ...] = ()
    app: str = ""

    @cached_property
    def image(self) -> Image.Image:
        """The screenshot as an RGB picture; `ValueError` where there is none or it is broken."""
        if self.screenshot is None:
            raise ValueError(f"step {self.step_id!r} has no screenshot")
        try:
            return Image.open(io.BytesIO(self.screenshot)).convert("RGB")
        except (OSError, SyntaxError, Image.DecompressionBombError) as error:
            raise ValueError(f"step {self.step_id!r}: its screenshot is broken: {error}") from None

    @property
    def target_element(self) -> Element | None:
        """The element whose box is the target, the smallest that holds the action's point otherwise."""
        for element in self.elements:
            if element.box == self.target:
                return element
        if self.action.point is None:
            return None
        under = [e for e in self.elements if e.contains(self.action.point)]
        return min(under, key=_area, default=None)


def _area(element: Element) -> float:
    left, top, right, bottom = element.box
    return (right - left) * (bottom - top)


@dataclass(frozen=True)
class Episode:
    """Steps in order, with where they come from and how they ended."""

    episode_id: str
    steps: tuple[Step, ...]
    source: str
    split: str
    success: bool
