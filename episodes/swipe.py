"""A scroll as a finger's swipe: from where to where, and which way the content goes.

Convention: a scroll "down" shows the content further down, so the finger moves up.
"""

from __future__ import annotations

from episodes.action import Action, Direction, Point

# Canonical swipes along the middle of the screen, as SeeClick's evaluation draws them.
_SPANS: dict[Direction, tuple[float, float]] = {
    "down": (0.8, 0.2),
    "up": (0.2, 0.8),
    "right": (0.8, 0.2),
    "left": (0.2, 0.8),
}


def swipe_direction(start: Point, end: Point) -> Direction:
    """Direction of the scroll that a swipe from `start` to `end` makes.

    The longer axis decides, the vertical one when both are equal; `ValueError` when the points
    coincide.
    """
    across, along = end[0] - start[0], end[1] - start[1]
    if across == along == 0:
        raise ValueError(f"a swipe must move, found {start} as its start and its end")
    if abs(along) >= abs(across):
        return "down" if along < 0 else "up"
    return "right" if across < 0 else "left"


def scroll_direction(action: Action) -> Direction:
    """The direction of a scroll, from its `direction` or else its two points."""
    if action.direction is not None:
        return action.direction
    if action.point is None or action.end_point is None:
        raise ValueError("a scroll needs a direction or two points")
    return swipe_direction(action.point, action.end_point)


def scroll_swipe(action: Action) -> tuple[Point, Point]:
    """Start and end of the swipe of a scroll.

    Its own two points where it has them; otherwise the canonical swipe of its direction, which
    runs along the middle of the screen or through `action.point`.
    """
    if action.point is not None and action.end_point is not None:
        return action.point, action.end_point
    direction = scroll_direction(action)
    start, end = _SPANS[direction]
    x, y = action.point or (0.5, 0.5)
    if direction in ("up", "down"):
        return (x, start), (x, end)
    return (start, y), (end, y)
