"""Actions in plain words, for prompts: what was done, to what, and where."""

from __future__ import annotations

from collections.abc import Sequence

from actor.thousandths import to_thousandths
from episodes import Action, Element
from episodes.swipe import scroll_direction


def describe(action: Action, element: Element | None = None, *, coordinates: bool = True) -> str:
    """One line that says what `action` did.

    Parameters
    ----------
    action
        What was done.
    element
        What it was done to; named by its role and, where it has one, its label.
    coordinates
        Whether the point is told, in thousandths of the screen.
    """
    where = f" the {_name(element)}" if element is not None else ""
    if coordinates and action.point is not None:
        where += " at ({}, {})".format(*to_thousandths(action.point))
    match action.kind:
        case "click":
            return f"click{where}"
        case "long_press":
            return f"long press{where}"
        case "type":
            return f'type "{action.text}"' + (f" into{where}" if element is not None else "")
        case "scroll":
            return f"scroll {scroll_direction(action)}"
        case "press":
            return f"press the {action.key} key"
        case "open_app":
            return f'open the app "{action.text or ""}"'
        case "wait":
            return "wait"
        case "answer":
            return f'answer "{action.text or ""}"'
        case "complete":
            return "finish: the task is done"
        case "impossible":
            return "finish: the task cannot be done"


def describe_history(actions: Sequence[Action]) -> str:
    """The actions before a step, numbered, one a line, or "none"."""
    if not actions:
        return "none"
    return "\n".join(f"{i}. {describe(action)}" for i, action in enumerate(actions, start=1))


def _name(element: Element) -> str:
    return f'{element.role} "{element.text}"' if element.text else element.role
