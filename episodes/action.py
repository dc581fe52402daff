"""What an agent does at one step.

Convention: points are (x, y) as fractions of the screenshot in [0, 1], origin top left. Nothing in
the project holds pixels; readers and dialects convert at their own border.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

Point = tuple[float, float]
ActionKind = Literal[
    "click", "long_press", "type", "scroll", "press", "open_app", "wait", "answer", "complete", "impossible",
]  # fmt: skip
Direction = Literal["up", "down", "left", "right"]

ACTION_KINDS: tuple[str, ...] = get_args(ActionKind)
DIRECTIONS: tuple[str, ...] = get_args(Direction)


@dataclass(frozen=True)
class Action:
    """One action on a screen.

    Parameters
    ----------
    kind
        One of `ACTION_KINDS`.
    point, end_point
        (x, y) as fractions in [0, 1]; `end_point` only for drags and two-point scrolls.
    text
        What is typed, answered, or the name of the app that is opened.
    direction
        Where a scroll goes: the direction in which the content is to be seen further.
    key
        Name of a pressed key, lower case ("back", "home", "enter", ...).

    Raises
    ------
    ValueError
        When a field holds what its kind cannot have, naming the field and the value found.
    """

    kind: ActionKind
    point: Point | None = None
    end_point: Point | None = None
    text: str | None = None
    direction: Direction | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in ACTION_KINDS:
            raise ValueError(f"action kind {self.kind!r} is not one of {', '.join(ACTION_KINDS)}")
        if self.direction is not None and self.direction not in DIRECTIONS:
            raise ValueError(
                f"action direction {self.direction!r} is not one of {', '.join(DIRECTIONS)}"
            )
        for name in ("text", "key"):
            if not isinstance(getattr(self, name), str | None):
                raise ValueError(f"action {name} must be a text, found {getattr(self, name)!r}")
        for name in ("point", "end_point"):
            point = getattr(self, name)
            if point is not None:
                object.__setattr__(self, name, checked_point(point, f"action {name}"))
        if self.kind in ("click", "long_press") and self.point is None:
            raise ValueError(f"a {self.kind} needs a point")
        if self.kind == "type" and self.text is None:
            raise ValueError("a type action needs a text (it may be empty)")
        if self.kind == "press" and not self.key:
            raise ValueError("a press action needs a key")

    def to_json(self) -> str:
        """The fields that are set, as a JSON object with sorted keys."""
        return json.dumps({k: v for k, v in asdict(self).items() if v is not None}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Action:
        """Inverse of `to_json`; `ValueError` names an unknown or malformed field."""
        value: Any = json.loads(text)
        if not isinstance(value, dict):
            raise ValueError(f"an action is a JSON object, found {type(value).__name__}")
        known = {field.name for field in fields(cls)}
        if unknown := set(value) - known:
            raise ValueError(f"action has unknown fields {sorted(unknown)}, known: {sorted(known)}")
        if "kind" not in value:
            raise ValueError("action has no kind")
        return cls(**value)


def checked_point(point: Any, what: str) -> Point:
    """`point` as a pair of floats in [0, 1], or a `ValueError` that names `what`."""
    try:
        x, y = (float(value) for value in point)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a pair of numbers, found {point!r}") from None
    if not (0.0 <= x <= 1.0 and 0.0 <= y <= 1.0):
        raise ValueError(f"{what} must lie in [0, 1] on both axes (fractions), found {(x, y)}")
    return x, y
