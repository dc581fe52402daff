"""One thing on a screen: a button, a link, a line of text.

Convention: boxes are (left, top, right, bottom) as fractions of the screenshot in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from episodes.action import Point

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Element:
    """A visible interface element.

    Parameters
    ----------
    role
        What it is ("button", "link", "textbox", "icon", "text", ...).
    text
        Its label as an accessibility tree gives it; empty for pictures and icons.
    box
        (left, top, right, bottom), fractions in [0, 1].
    appearance
        How it looks in a word or two ("red", "large blue circle"), where the source's markup
        says so. Never part of a text memory: it is what only the picture shows.

    Raises
    ------
    ValueError
        When the box is not ordered or leaves the screen.
    """

    role: str
    text: str
    box: Box
    appearance: str = ""

    def __post_init__(self) -> None:
        for name in ("role", "text", "appearance"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"element {name} must be a text, found {getattr(self, name)!r}")
        object.__setattr__(self, "box", checked_box(self.box, "element box"))

    @property
    def centre(self) -> Point:
        """Middle of the box, (x, y)."""
        left, top, right, bottom = self.box
        return (left + right) / 2, (top + bottom) / 2

    def contains(self, point: Point) -> bool:
        """Whether `point` lies in the box, edges included."""
        return in_box(point, self.box)


def in_box(point: Point, box: Box) -> bool:
    """Whether `point` (x, y) lies in `box`, edges included."""
    left, top, right, bottom = box
    return left <= point[0] <= right and top <= point[1] <= bottom


def checked_box(box: Any, what: str) -> Box:
    """`box` as four floats in [0, 1] with left <= right and top <= bottom, or a `ValueError`."""
    try:
        left, top, right, bottom = (float(value) for value in box)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be four numbers, found {box!r}") from None
    if not (0.0 <= left <= right <= 1.0 and 0.0 <= top <= bottom <= 1.0):
        raise ValueError(
            f"{what} must be (left, top, right, bottom) in [0, 1], ordered, found "
            f"{(left, top, right, bottom)}"
        )
    return left, top, right, bottom
