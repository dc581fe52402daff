"""The `element` rule: did the action do to the target what the demonstration did?"""

from __future__ import annotations

from episodes.action import Action
from episodes.element import Box, in_box
from episodes.step import Step
from episodes.swipe import scroll_direction


def element_score(predicted: Action, step: Step) -> float:
    """1.0 where the predicted action does what the step's action does, otherwise 0.0.

    ====================  ====================================================
    kind                  right when the kinds are equal and ...
    ====================  ====================================================
    click, long_press     the point lies in the target box, edges included
    type                  the text is equal after trimming, wherever it is typed
    answer, open_app      the text is equal after trimming
    press                 the key is the same
    scroll                the direction is the same, however it is written
    wait, complete,       always
    impossible
    ====================  ====================================================

    Raises
    ------
    ValueError
        When the step's own action is a tap, and neither a target box nor an element under its
        point says what was to be hit.
    """
    return float(predicted.kind == step.action.kind and _same_argument(predicted, step))


def _same_argument(predicted: Action, step: Step) -> bool:
    shown = step.action
    match shown.kind:
        case "click" | "long_press":
            return predicted.point is not None and in_box(predicted.point, _target_box(step))
        case "type" | "answer" | "open_app":
            return (predicted.text or "").strip() == (shown.text or "").strip()
        case "press":
            return predicted.key == shown.key
        case "scroll":
            return _direction(predicted) == scroll_direction(shown)
        case _:
            return True


def _target_box(step: Step) -> Box:
    if step.target is not None:
        return step.target
    element = step.target_element
    if element is None:
        raise ValueError(
            f"step {step.step_id!r}: the target of a {step.action.kind} is neither given nor an "
            "element under its point, so `element` cannot score it; use a scorer by distance"
        )
    return element.box


def _direction(predicted: Action) -> str | None:
    try:
        return scroll_direction(predicted)
    except ValueError:  # a scroll to nowhere is a wrong answer, not bad data
        return None
