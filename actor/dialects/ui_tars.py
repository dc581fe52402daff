r"""Dialect of UI-TARS-7B-SFT and its siblings: ``Thought: ... Action: click(start_box='...')``.

Points are read with and without the box tokens, ``'<|box_start|>(x,y)<|box_end|>'`` and
``'(x,y)'``; of a box of four numbers the centre counts. Coordinates are relative, 0 to 1000; a
value outside that scale is an `AnswerError` (see `actor.thousandths`). UI-TARS-1.5, which answers
in pixels of the resized picture, is another dialect. Of several actions the first one counts, and
an answer that is nothing but a call needs no "Action:".

==========================================  ================================================
call                                        action
==========================================  ================================================
click(start_box)                            click
long_press(start_box)                       long_press
type(content)                               type
scroll(start_box, end_box)                  scroll (against the finger)
scroll(direction), scroll(start_box,        scroll in that direction
direction)
press_home(), press_back()                  press
hotkey(key)                                 press of any other key
open_app(app_name)                          open_app
wait()                                      wait
finished(content)                           complete, with the content as its text
call_user()                                 impossible
==========================================  ================================================

The language has no answer to the user other than that of ``finished``, so an `answer` is rendered
as ``finished(content='...')`` and is read back as `complete`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from actor.dialects import AnswerError, ContentPart, Message
from actor.thousandths import from_thousandths, read_point, to_thousandths
from actor.wording import describe, describe_history
from episodes import Action, Element, Point, Step
from episodes.action import DIRECTIONS, Direction
from episodes.swipe import swipe_direction

PROMPT = """\
You are a GUI agent. You are given a task, the actions taken so far and a screenshot of the screen \
as it is now, sometimes also a step remembered from another task. Choose the next action.

## Output format
Thought: ...
Action: ...

## Actions
click(start_box='<|box_start|>(x,y)<|box_end|>')
long_press(start_box='<|box_start|>(x,y)<|box_end|>')
type(content='...')
scroll(start_box='<|box_start|>(x1,y1)<|box_end|>', end_box='<|box_start|>(x2,y2)<|box_end|>')
scroll(direction='down, up, right or left')
press_home()
press_back()
hotkey(key='...')
open_app(app_name='...')
wait()
finished(content='...') # when the task is done
call_user() # when it cannot be done

## Note
x goes from 0 at the left edge to 1000 at the right edge, y from 0 at the top to 1000 at the \
bottom. Within a content write \\n, \\' and \\\\ for a new line, a quote and a backslash.

"""

_ACTION = re.compile(r"(?:\A|\n)[ \t]*Action:", re.IGNORECASE)
_CALL = re.compile(r"\s*(\w+)\s*\(")
# A quoted value ends at the first quote that is not escaped and that an argument or the call's end
# follows, so that the unescaped quote of type(content='it's here') belongs to the text.
_ARGUMENT = re.compile(
    r"""\s*,?\s*(?P<name>\w+)\s*=\s*
    (?:(?P<quote>['"])(?P<quoted>(?:\\.|[^\\])*?)(?P=quote)
          (?=\s*(?:,\s*\w+\s*=|\)\s*(?:\n|\Z)))
      |(?P<bare>\([^()'"]*\)|[^\s()'",=]+))""",
    re.DOTALL | re.VERBOSE,
)
_NUMBERS = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_BOX = re.compile(
    r"\(?\s*N\s*,\s*N\s*\)?\s*,\s*\(?\s*N\s*,\s*N\s*\)?".replace("N", _NUMBERS.pattern)
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class UiTarsDialect:
    """Prompts for and answers by a thought and one call of the UI-TARS action space."""

    name = "ui-tars"
    stop_tokens = ("<|im_end|>", "<|endoftext|>")

    def __init__(self) -> None:
        self.chat_template_kwargs: dict[str, Any] = {}

    def render_action(
        self, action: Action, element: Element | None, *, coordinates: bool = True
    ) -> str:
        """The call that makes `action`, after a thought that names the element where it is known.

        Without coordinates it is the thought's words alone.
        """
        if not coordinates:
            return describe(action, element, coordinates=False)
        thought = ""
        if element is not None:
            thought = f"Thought: {describe(action, element, coordinates=False)}\n"
        return f"{thought}Action: {_call(action)}"

    def messages(
        self, step: Step, instruction: str, memory: Sequence[ContentPart]
    ) -> list[Message]:
        """One user message: the action space, memory, task, history and screenshot."""
        task = (
            f"## Task\n{instruction}\n\n"
            f"## Actions so far\n{describe_history(step.previous_actions)}\n\n"
            "## Screen now\n"
        )
        content = [
            {"type": "text", "text": PROMPT},
            *memory,
            {"type": "text", "text": task},
            {"type": "image", "image": step.image},
        ]
        return [{"role": "user", "content": content}]

    def parse(self, answer: str, step: Step) -> Action:
        """The first action of `answer`; `step` is not needed."""
        begin = _ACTION.search(answer)
        name, arguments = _read_call(answer[begin.end() :] if begin else answer)
        return _action(name, arguments)


def _call(action: Action) -> str:
    match action.kind:
        case "click" | "long_press":
            return f"{action.kind}(start_box={_box(action.point)})"
        case "type":
            return f"type(content={_quoted(action.text)})"
        case "scroll" if action.end_point is not None:
            return f"scroll(start_box={_box(action.point)}, end_box={_box(action.end_point)})"
        case "scroll":
            start = f"start_box={_box(action.point)}, " if action.point is not None else ""
            return f"scroll({start}direction={_quoted(action.direction)})"
        case "press" if action.key in ("home", "back"):
            return f"press_{action.key}()"
        case "press":
            return f"hotkey(key={_quoted(action.key)})"
        case "open_app":
            return f"open_app(app_name={_quoted(action.text)})"
        case "wait":
            return "wait()"
        case "answer" | "complete":
            return f"finished(content={_quoted(action.text)})"
        case "impossible":
            return "call_user()"


def _box(point: Point | None) -> str:
    assert point is not None
    return "'<|box_start|>({},{})<|box_end|>'".format(*to_thousandths(point))


def _quoted(text: str | None) -> str:
    escaped = (text or "").replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text, flags=re.DOTALL)


def _read_call(text: str) -> tuple[str, dict[str, str]]:
    """Name and arguments of the call that `text` begins with."""
    call = _CALL.match(text)
    if call is None:
        raise AnswerError(f"the answer holds no action call: {text[:80]!r}")
    arguments = {}
    position = call.end()
    while argument := _ARGUMENT.match(text, position):
        quoted = argument["quoted"]
        arguments[argument["name"]] = argument["bare"] if quoted is None else _unescaped(quoted)
        position = argument.end()
    if not text[position:].lstrip().startswith(")"):
        raise AnswerError(
            f"the arguments of {call[1][:80]!r} cannot be read from {text[position:][:80]!r}; "
            "expected name='value', ... and a closing parenthesis"
        )
    return call[1], arguments


def _action(name: str, arguments: Mapping[str, str]) -> Action:
    match name:
        case "click" | "long_press":
            return Action(name, point=_point(name, arguments, "start_box"))
        case "type":
            return Action("type", text=_argument(name, arguments, "content"))
        case "scroll":
            return _scroll(arguments)
        case "press_home" | "press_back":
            return Action("press", key=name.removeprefix("press_"))
        case "hotkey":
            key = _argument(name, arguments, "key").strip().lower()
            if not key:
                raise AnswerError("hotkey names no key")
            return Action("press", key=key)
        case "open_app":
            return Action("open_app", text=_argument(name, arguments, "app_name"))
        case "wait":
            return Action("wait")
        case "finished":
            return Action("complete", text=arguments.get("content") or None)
        case "call_user":
            return Action("impossible")
        case _:
            raise AnswerError(f"the action {name[:80]!r} is not in the action space")


def _scroll(arguments: Mapping[str, str]) -> Action:
    start = _point("scroll", arguments, "start_box") if "start_box" in arguments else None
    if start is not None and "end_box" in arguments:
        end = _point("scroll", arguments, "end_box")
        if start == end:
            raise AnswerError("the scroll ends where it starts")
        return Action("scroll", point=start, end_point=end, direction=swipe_direction(start, end))
    direction = _argument("scroll", arguments, "direction").strip().lower()
    if direction not in DIRECTIONS:
        raise AnswerError(f"direction {direction[:80]!r} is not one of {', '.join(DIRECTIONS)}")
    return Action("scroll", point=start, direction=cast(Direction, direction))


def _argument(call: str, arguments: Mapping[str, str], name: str) -> str:
    if name not in arguments:
        raise AnswerError(f"{call} needs a {name}, found {sorted(arguments) or 'no arguments'}")
    return arguments[name]


def _point(call: str, arguments: Mapping[str, str], name: str) -> Point:
    value = _argument(call, arguments, name)
    value = value.replace("<|box_start|>", "").replace("<|box_end|>", "").strip()
    if _BOX.fullmatch(value):
        left, top, right, bottom = map(float, _NUMBERS.findall(value))
        return from_thousandths((left + right) / 2, (top + bottom) / 2)
    return read_point(value)


DIALECT = UiTarsDialect()
