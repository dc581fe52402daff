"""The dialect of the pocket actor: short prompts, and answers such as ``click button OK <x12><y20>``.

Convention: a point is written with two tokens, ``<xI><yJ>``, the I-th and J-th of 32 equal parts of
the screenshot's width and height; an answer's point is the middle of its part. The screen comes as
the picture and as a short list of elements with their points.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from actor.dialects import AnswerError, ContentPart, Message
from episodes import Action, Element, Point, Step

BINS = 32
MAX_ELEMENTS = 18
MAX_WORDS = 2
MAX_TEXT = 3
MAX_PREVIOUS = 3
_POINT = re.compile(r"<x(\d+)>\s*<y(\d+)>")
_WORDLESS = ("wait", "complete", "impossible")


class PocketDialect:
    """Prompts and answers of the pocket actor."""

    name = "pocket"
    chat_template_kwargs: dict[str, Any] = {}  # noqa: RUF012 (never changed; the protocol wants a dict)
    stop_tokens: tuple[str, ...] = ()

    def render_action(
        self, action: Action, element: Element | None, *, coordinates: bool = True
    ) -> str:
        """A past action: its kind and what it landed on; with `coordinates` its point as well."""
        words: list[str] = [action.kind]
        if action.kind in ("click", "long_press") and element is not None:
            words.append(label(element))
        words += [w for w in (action.text, action.direction, action.key) if w]
        if coordinates and action.point is not None:
            words.append(point_tokens(action.point))
        return " ".join(words)

    def messages(
        self, step: Step, instruction: str, memory: Sequence[ContentPart]
    ) -> list[Message]:
        """One user message: memory, task, previous actions, picture, list of elements."""
        before, after = self.frame(step, instruction)
        content = [
            *memory,
            {"type": "text", "text": before},
            {"type": "image", "image": step.image},
            {"type": "text", "text": after},
        ]
        return [{"role": "user", "content": content}]

    def frame(self, step: Step, instruction: str) -> tuple[str, str]:
        """What is said before and after the picture of the current screen."""
        done = "; ".join(
            self.render_action(action, None, coordinates=False)
            for action in step.previous_actions[-MAX_PREVIOUS:]
        )
        # Running text is left to the picture; labels and controls are listed.
        listed = [e for e in step.elements if e.role != "text" or len(e.text.split()) <= MAX_TEXT]
        words = " ".join(f"{label(e)} {point_tokens(e.centre)}" for e in listed[:MAX_ELEMENTS])
        more = f" {len(listed) - MAX_ELEMENTS} more" if len(listed) > MAX_ELEMENTS else ""
        return f"Task: {instruction}\nDone: {done}\nScreen: ", f"\n{words}{more}"

    def parse(self, answer: str, step: Step) -> Action:
        """The action in an answer; what stands between kind and point is commentary."""
        kind, _, rest = answer.strip().partition(" ")
        if kind in ("click", "long_press"):
            return Action(kind, point=_point(rest))
        if kind in ("type", "answer", "open_app"):
            return Action(kind, text=rest.strip())
        try:
            if kind == "scroll":
                return Action("scroll", direction=rest.strip() or None)  # type: ignore[arg-type]
            if kind == "press":
                return Action("press", key=rest.strip())
        except ValueError as error:
            raise AnswerError(f"{error} in {answer!r}") from None
        if kind in _WORDLESS and not rest.strip():
            return Action(kind)  # type: ignore[arg-type]
        raise AnswerError(f"no action begins {answer[:40]!r}")


def label(element: Element) -> str:
    """Role (but of mere text) and the first words of the label, in lists and past actions alike."""
    role = [] if element.role == "text" else [element.role]
    return " ".join([*role, *element.text.split()[:MAX_WORDS]])


def point_tokens(point: Point) -> str:
    """A point in [0, 1] x [0, 1] as the two tokens of its part of the screen."""
    x, y = (min(int(value * BINS), BINS - 1) for value in point)
    return f"<x{x}><y{y}>"


def _point(text: str) -> Point:
    found = _POINT.findall(text)
    if not found:
        raise AnswerError(f"no point <x..><y..> in {text[:60]!r}")
    x, y = (int(value) for value in found[-1])
    if x >= BINS or y >= BINS:
        raise AnswerError(f"point <x{x}><y{y}> lies beyond the {BINS} parts of the screen")
    return (x + 0.5) / BINS, (y + 0.5) / BINS


DIALECT = PocketDialect()
