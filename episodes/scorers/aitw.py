"""The `aitw` rule: the action matching of Android in the Wild, quirks included.

The rule is that of google-research `android_in_the_wild/action_matching.py`, computed in float32
as there, because its thresholds are sensitive to rounding. Its arrays are (y, x) and
(y, x, height, width); the conversion from our (x, y) and (left, top, right, bottom) is here.

==================================  =====================================================
action                              AITW type
==================================  =====================================================
click, long_press                   DUAL_POINT with touch = lift, a tap
scroll                              DUAL_POINT from touch to lift: the scroll's two points,
                                    or the canonical swipe of its direction
type                                TYPE
press back, home, enter             PRESS_BACK, PRESS_HOME, PRESS_ENTER
complete                            STATUS_TASK_COMPLETE
impossible                          STATUS_TASK_IMPOSSIBLE
press of another key, open_app,     none: matches nothing
wait, answer
==================================  =====================================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from episodes.action import Action, Point
from episodes.element import Element
from episodes.step import Step
from episodes.swipe import scroll_swipe

TAP_DISTANCE = 0.14
"""Taps nearer than this match, in fractions of the screen on either axis (so anisotropic)."""

SWIPE_DISTANCE = 0.04
"""A touch and a lift nearer than this are a tap."""

AUGMENTATION = 1.4
"""What is *added* to a box's width and height, as a fraction of them."""

_KEYS = {"back": "PRESS_BACK", "home": "PRESS_HOME", "enter": "PRESS_ENTER"}
_KINDS = {
    "click": "DUAL_POINT",
    "long_press": "DUAL_POINT",
    "scroll": "DUAL_POINT",
    "type": "TYPE",
    "complete": "STATUS_TASK_COMPLETE",
    "impossible": "STATUS_TASK_IMPOSSIBLE",
}

Array = NDArray[np.float32]


def aitw_score(predicted: Action, step: Step) -> float:
    """1.0 where the predicted action matches the step's by the official rule, otherwise 0.0.

    Two taps match when both touch points lie in one common augmented element box or are at most
    `TAP_DISTANCE` apart; two drags when their main axis is the same, whatever their direction;
    other actions when their types are the same, whatever is typed. The boxes are those of
    `step.elements`; a step without elements has the distance alone.

    Raises
    ------
    ValueError
        When the step's own action has no AITW type.
    """
    shown_type, predicted_type = _aitw_type(step.action), _aitw_type(predicted)
    if shown_type is None:
        raise ValueError(
            f"step {step.step_id!r}: its action {step.action.to_json()} has no AITW type, so "
            "`aitw` cannot score it"
        )
    if predicted_type != shown_type:
        return 0.0
    if shown_type != "DUAL_POINT":
        return 1.0
    try:
        predicted_points = _touch_and_lift(predicted)
    except ValueError:  # a scroll to nowhere is a wrong answer, not bad data
        return 0.0
    return float(_dual_points_match(predicted_points, _touch_and_lift(step.action), step.elements))


def _aitw_type(action: Action) -> str | None:
    if action.kind == "press":
        return _KEYS.get(action.key or "")
    return _KINDS.get(action.kind)


def _touch_and_lift(action: Action) -> tuple[Array, Array]:
    if action.kind == "scroll":
        touch, lift = scroll_swipe(action)
        return _yx(touch), _yx(lift)
    assert action.point is not None
    return _yx(action.point), _yx(action.point)


def _yx(point: Point) -> Array:
    return np.array([point[1], point[0]], dtype=np.float32)


def _dual_points_match(
    first: tuple[Array, Array], second: tuple[Array, Array], elements: Sequence[Element]
) -> bool:
    taps = [_distance(touch, lift) <= SWIPE_DISTANCE for touch, lift in (first, second)]
    if all(taps):
        return _taps_match(first[0], second[0], elements)
    return not any(taps) and _main_axis(*first) == _main_axis(*second)


def _taps_match(first: Array, second: Array, elements: Sequence[Element]) -> bool:
    if _distance(first, second) <= TAP_DISTANCE:
        return True
    if not elements:
        return False
    boxes = _augmented_boxes(elements)
    return bool((_inside(first, boxes) & _inside(second, boxes)).any())


def _distance(first: Array, second: Array) -> np.float32:
    return np.linalg.norm(first - second).astype(np.float32)


def _main_axis(touch: Array, lift: Array) -> int:
    """0 for a vertical drag, 1 for a horizontal one; vertical when both move alike."""
    return int(np.argmax(np.abs(lift - touch)))


def _augmented_boxes(elements: Sequence[Element]) -> Array:
    """The elements' boxes as the official rule enlarges them, (n, 4) of (y, x, height, width).

    Each side moves out by 0.7 of the size, which makes the box 2.4 times as large. A top or left
    side that is clipped at the screen's edge does not shorten the box, so its far side moves out
    further; both are as in the official code.
    """
    sides = np.array([element.box for element in elements])
    left, top, right, bottom = sides.T
    y, x, height, width = np.stack([top, left, bottom - top, right - left]).astype(np.float32)
    more_height, more_width = AUGMENTATION * height, AUGMENTATION * width
    return np.stack(
        [
            np.maximum(0, y - more_height / 2),
            np.maximum(0, x - more_width / 2),
            np.minimum(1, height + more_height),
            np.minimum(1, width + more_width),
        ],
        axis=1,
    )


def _inside(point: Array, boxes: Array) -> NDArray[np.bool_]:
    y, x = point
    top, left, height, width = boxes.T
    return (y >= top) & (y <= top + height) & (x >= left) & (x <= left + width)
