"""Dialect of the Qwen-VL family (Qwen3-VL, Qwen3.5): a call of the function `mobile_use`.

Answers are read in both forms that the family writes: a JSON object within ``<tool_call>``, and
Qwen3.5's ``<function=...><parameter=...>`` elements. Coordinates are relative, 0 to 1000; a value
outside that scale is an `AnswerError` (see `actor.thousandths`). Thinking is switched off; a think
block that comes all the same is skipped when it ends and an error when it does not. Of several
calls the first one counts.

================  ==========================================  =========================
call              arguments                                   action
================  ==========================================  =========================
click             coordinate                                  click
long_press        coordinate                                  long_press
swipe             coordinate, coordinate2                     scroll (against the finger)
type              text                                        type
answer            text                                        answer
open              text                                        open_app
system_button     button: Back, Home, Menu, Enter             press
key               text                                        press of any other key
wait                                                          wait
terminate         status: success, failure                    complete, impossible
================  ==========================================  =========================
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from actor.dialects import AnswerError, ContentPart, Message
from actor.thousandths import read_point, to_thousandths
from actor.wording import describe, describe_history
from episodes import Action, Element, Point, Step
from episodes.swipe import scroll_swipe, swipe_direction

SYSTEM_PROMPT = """\
You operate a touch screen for a user. You are given a task, the actions taken so far and a \
screenshot of the screen as it is now, sometimes also a step remembered from another task. Choose \
the one action to take next and call the function mobile_use with it.

A point is [x, y]: x from 0 at the left edge to 1000 at the right edge, y from 0 at the top to \
1000 at the bottom.

The arguments of mobile_use are "action" and what that action needs:
- click: "coordinate", the point to tap
- long_press: "coordinate", the point to hold
- swipe: "coordinate" and "coordinate2", where the finger starts and where it ends
- type: "text", written into the field that has the focus
- answer: "text", told to the user
- open: "text", the name of the app to open
- system_button: "button", one of "Back", "Home", "Menu", "Enter"
- key: "text", the name of another key to press
- wait: nothing, to let the screen change
- terminate: "status", "success" when the task is done or "failure" when it cannot be done

Answer with one call and nothing after it:
<tool_call>
{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [x, y]}}
</tool_call>"""

_BUTTONS = ("back", "home", "menu", "enter")
_THINKING = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_CALL_BEGINS = re.compile(r"\{|<function=")
_FUNCTION = re.compile(r"<function=\s*([^>\s]*)\s*>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=\s*([^>\s]*)\s*>\n?(.*?)\n?</parameter>", re.DOTALL)


class QwenDialect:
    """Prompts for and answers by a `mobile_use` function call."""

    name = "qwen"
    stop_tokens = ("<|im_end|>", "<|endoftext|>")

    def __init__(self) -> None:
        self.chat_template_kwargs: dict[str, Any] = {"enable_thinking": False}

    def render_action(
        self, action: Action, element: Element | None, *, coordinates: bool = True
    ) -> str:
        """The call that makes `action`, after a line that names the element where it is known.

        Without coordinates it is the line alone.
        """
        if not coordinates:
            return describe(action, element, coordinates=False)
        call = {"name": "mobile_use", "arguments": _arguments(action)}
        line = f"{describe(action, element, coordinates=False)}\n" if element is not None else ""
        return f"{line}<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"

    def messages(
        self, step: Step, instruction: str, memory: Sequence[ContentPart]
    ) -> list[Message]:
        """A system message with the action schema; then memory, task, history and screenshot."""
        task = (
            f"Task: {instruction}\n"
            f"Actions so far:\n{describe_history(step.previous_actions)}\n"
            "The screen now:\n"
        )
        return [
            {"role": "system", "content": [{"type": "text", "text": SYSTEM_PROMPT}]},
            {
                "role": "user",
                "content": [
                    *memory,
                    {"type": "text", "text": task},
                    {"type": "image", "image": step.image},
                ],
            },
        ]

    def parse(self, answer: str, step: Step) -> Action:
        """The action of the first `mobile_use` call in `answer`; `step` is not needed."""
        name, arguments = _first_call(_without_thinking(answer))
        if name != "mobile_use":
            raise AnswerError(f"the answer calls the function {name!r}, expected 'mobile_use'")
        return _action(arguments)


def _arguments(action: Action) -> dict[str, Any]:
    match action.kind:
        case "click" | "long_press":
            assert action.point is not None
            return {"action": action.kind, "coordinate": to_thousandths(action.point)}
        case "scroll":
            start, end = scroll_swipe(action)
            return {
                "action": "swipe",
                "coordinate": to_thousandths(start),
                "coordinate2": to_thousandths(end),
            }
        case "type" | "answer":
            return {"action": action.kind, "text": action.text or ""}
        case "open_app":
            return {"action": "open", "text": action.text or ""}
        case "press" if action.key in _BUTTONS:
            return {"action": "system_button", "button": action.key.capitalize()}
        case "press":
            return {"action": "key", "text": action.key}
        case "wait":
            return {"action": "wait"}
        case "complete":
            return {"action": "terminate", "status": "success"}
        case "impossible":
            return {"action": "terminate", "status": "failure"}


def _without_thinking(answer: str) -> str:
    """`answer` after its think block, whose opening tag may have been part of the prompt."""
    if answer.lstrip().startswith("<think>"):
        rest = _THINKING.sub("", answer, count=1)
        if rest == answer:
            raise AnswerError("the answer thinks (<think>) and does not come to an end of it")
        return rest
    thought, tag, rest = answer.partition("</think>")
    return rest if tag and "mobile_use" not in thought else answer


def _first_call(text: str) -> tuple[Any, Mapping[str, Any]]:
    """Name and arguments of the first function call in `text`, in JSON or XML form."""
    _, tag, call = text.partition("<tool_call>")
    call = call if tag else text
    begin = _CALL_BEGINS.search(call)
    if begin is None:
        raise AnswerError(f"the answer holds no function call: {text[:80]!r}")
    if begin[0] != "{":
        return _xml_call(call[begin.start() :])
    return _json_call(call[begin.start() :])


def _json_call(text: str) -> tuple[Any, Mapping[str, Any]]:
    try:
        # What follows the object is of no interest, nor is a missing end tag.
        call, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"the function call is not valid JSON ({error}): {text[:80]!r}") from None
    arguments = call.get("arguments")
    if not isinstance(arguments, dict):
        raise AnswerError(f"the function call has no object called 'arguments': {text[:80]!r}")
    return call.get("name"), arguments


def _xml_call(text: str) -> tuple[Any, Mapping[str, Any]]:
    function = _FUNCTION.match(text)
    if function is None:
        raise AnswerError(f"the function call's opening tag does not end: {text[:80]!r}")
    return function[1], dict(_PARAMETER.findall(function[2]))


def _action(arguments: Mapping[str, Any]) -> Action:
    match arguments.get("action"):
        case "click":
            return Action("click", point=_point(arguments, "coordinate"))
        case "long_press":
            return Action("long_press", point=_point(arguments, "coordinate"))
        case "swipe":
            return _swipe(_point(arguments, "coordinate"), _point(arguments, "coordinate2"))
        case "type":
            return Action("type", text=_text(arguments, "text"))
        case "answer":
            return Action("answer", text=_text(arguments, "text"))
        case "open":
            return Action("open_app", text=_text(arguments, "text"))
        case "system_button":
            return Action("press", key=_one_of(_BUTTONS, arguments, "button"))
        case "key":
            return Action("press", key=_key(arguments))
        case "wait":
            return Action("wait")
        case "terminate":
            status = _one_of(("success", "failure"), arguments, "status")
            return Action("complete" if status == "success" else "impossible")
        case None:
            raise AnswerError("the function call has no argument 'action'")
        case other:
            raise AnswerError(f"the action {str(other)[:80]!r} is not one of mobile_use's")


def _point(arguments: Mapping[str, Any], name: str) -> Point:
    value = arguments.get(name)
    if value is None:
        raise AnswerError(f"the action {arguments['action']!r} needs a {name!r}")
    return read_point(value if isinstance(value, str) else json.dumps(value))


def _swipe(start: Point, end: Point) -> Action:
    if start == end:
        raise AnswerError("the swipe ends where it starts")
    return Action("scroll", point=start, end_point=end, direction=swipe_direction(start, end))


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)  # {"text": 42}, where "42" was meant
    if not isinstance(value, str):
        raise AnswerError(f"the action {arguments['action']!r} needs a text in {name!r}")
    return value


def _one_of(allowed: Sequence[str], arguments: Mapping[str, Any], name: str) -> str:
    value = _text(arguments, name).strip().lower()
    if value not in allowed:
        raise AnswerError(f"{name} {value[:80]!r} is not one of {', '.join(allowed)}")
    return value


def _key(arguments: Mapping[str, Any]) -> str:
    key = _text(arguments, "text").strip().lower()
    if not key:
        raise AnswerError("the action 'key' names no key")
    return key


DIALECT = QwenDialect()
