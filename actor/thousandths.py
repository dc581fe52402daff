"""Points as Qwen-VL and UI-TARS write them: thousandths of the screenshot, whatever its size.

Convention: a written 0 is the fraction 0.0 and a written 1000 is 1.0. (Qwen's cookbook speaks of a
999 x 999 screen, its README of 0 to 1000; the difference is a thousandth of a screen.) What lies
outside the scale is an error and never clamped: a model that writes pixels, as UI-TARS-1.5 and
Qwen2.5-VL do, would otherwise go unnoticed with its points along the right and lower edge.
"""

from __future__ import annotations

import re

from actor.dialects import AnswerError
from episodes import Point

_NUMBER = r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*"
_POINT = re.compile(rf"[\[(]{_NUMBER},{_NUMBER}[\])]")


def to_thousandths(point: Point) -> tuple[int, int]:
    """A point of fractions in [0, 1] on the scale from 0 to 1000, rounded."""
    return round(point[0] * 1000), round(point[1] * 1000)


def from_thousandths(x: float, y: float) -> Point:
    """A point on the scale from 0 to 1000 as fractions; `AnswerError` when it lies outside."""
    if not (0 <= x <= 1000 and 0 <= y <= 1000):
        raise AnswerError(
            f"the point ({x:g}, {y:g}) lies outside the screen; coordinates are relative, from 0 "
            "to 1000, and never pixels"
        )
    return x / 1000, y / 1000


def read_point(text: str) -> Point:
    """The point written in `text` as "(x, y)" or "[x, y]", as fractions."""
    match = _POINT.fullmatch(text.strip())
    if match is None:
        raise AnswerError(f"{text[:80]!r} is not a point; expected (x, y), each from 0 to 1000")
    return from_thousandths(float(match[1]), float(match[2]))
