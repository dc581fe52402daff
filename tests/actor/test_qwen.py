"""The qwen dialect: golden answers, malformed ones, and what it writes being read back."""

import contextlib
import json

import pytest
from dialect_cases import (
    clicks,
    long_presses,
    openings,
    presses,
    step,
    swipes,
    texts,
    texts_of,
    typings,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from actor import AnswerError, Dialect, get_dialect
from episodes import Action, Element

qwen = get_dialect("qwen")
STEP = step()


def call(**arguments):
    return json.dumps({"name": "mobile_use", "arguments": arguments})


def xml(**arguments):
    parameters = "".join(f"<parameter={k}>\n{v}\n</parameter>\n" for k, v in arguments.items())
    return f"<tool_call>\n<function=mobile_use>\n{parameters}</function>\n</tool_call>"


CLICK = call(action="click", coordinate=[512, 300])
CLICKED = Action("click", point=(0.512, 0.3))


def test_follows_the_protocol_and_switches_thinking_off():
    assert isinstance(qwen, Dialect)
    assert qwen.name == "qwen"
    assert qwen.chat_template_kwargs == {"enable_thinking": False}


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (f"<tool_call>\n{CLICK}\n</tool_call>", CLICKED),
        (f"<tool_call>{CLICK}</tool_call>", CLICKED),
        (f"Thought: it is there\nAction: tap it\n<tool_call>\n{CLICK}\n</tool_call>", CLICKED),
        (f"<tool_call>\n{CLICK}", CLICKED),  # the end tag cut off
        (f"<tool_call>\n{CLICK}\n</tool_call><|im_end|>", CLICKED),
        (f"<tool_call>\n{CLICK}\n</tool_call>\n<tool_call>\n{call(action='wait')}\n</tool_call>",
         CLICKED),  # the first of two
        (CLICK, CLICKED),  # no tags
        (f"```json\n{CLICK}\n```", CLICKED),
        (f"<think>\n\n</think>\n\n<tool_call>\n{CLICK}\n</tool_call>", CLICKED),
        (f"<think>Maybe <tool_call>\n{call(action='wait')}\n</tool_call>?</think><tool_call>"
         f"\n{CLICK}\n</tool_call>", CLICKED),
        (f"so I tap.\n</think>\n\n<tool_call>\n{CLICK}\n</tool_call>", CLICKED),
        (call(action="click", coordinate=[0, 1000]), Action("click", point=(0.0, 1.0))),
        (call(action="click", coordinate=[12.5, 7]), Action("click", point=(0.0125, 0.007))),
        (call(action="click", coordinate="[512, 300]"), CLICKED),
        (call(action="click", coordinate="(512,300)"), CLICKED),
        (call(action="long_press", coordinate=[512, 300], time=2),
         Action("long_press", point=(0.512, 0.3))),
        (call(action="swipe", coordinate=[500, 800], coordinate2=[500, 200]),
         Action("scroll", (0.5, 0.8), (0.5, 0.2), direction="down")),
        (call(action="swipe", coordinate=[200, 500], coordinate2=[800, 510]),
         Action("scroll", (0.2, 0.5), (0.8, 0.51), direction="left")),
        (call(action="type", text="it's \"here\"\n{}"), Action("type", text="it's \"here\"\n{}")),
        (call(action="type", text=""), Action("type", text="")),
        (call(action="type", text=42), Action("type", text="42")),
        ("<tool_call>" + call(action="type", text="</think> <tool_call>"),
         Action("type", text="</think> <tool_call>")),
        (call(action="answer", text="7 pm"), Action("answer", text="7 pm")),
        (call(action="open", text="Clock"), Action("open_app", text="Clock")),
        (call(action="system_button", button="Back"), Action("press", key="back")),
        (call(action="system_button", button="HOME"), Action("press", key="home")),
        (call(action="key", text="volume_up"), Action("press", key="volume_up")),
        (call(action="wait", time=2), Action("wait")),
        (call(action="wait"), Action("wait")),
        (call(action="terminate", status="success"), Action("complete")),
        (call(action="terminate", status="failure"), Action("impossible")),
        (xml(action="click", coordinate="[512, 300]"), CLICKED),
        (xml(action="type", text="two\nlines"), Action("type", text="two\nlines")),
        (xml(action="type", text=' {"a": 1} '), Action("type", text=' {"a": 1} ')),
        (xml(action="swipe", coordinate="[500, 800]", coordinate2="[500, 200]"),
         Action("scroll", (0.5, 0.8), (0.5, 0.2), direction="down")),
        (xml(action="terminate", status="success"), Action("complete")),
        (xml(action="click", coordinate="[512, 300]").removesuffix("\n</function>\n</tool_call>"),
         CLICKED),
        ("<think>\n\n</think>\n\n" + xml(action="wait"), Action("wait")),
    ],
)  # fmt: skip
def test_reads_golden_answers(answer, action):
    assert qwen.parse(answer, STEP) == action


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "no function call"),
        ("I would tap the OK button.", "no function call"),
        ("<tool_call></tool_call>", "no function call"),
        ("<tool_call>\nclick(512, 300)\n</tool_call>", "no function call"),
        ("<think>\nThe user wants", "does not come to an end"),
        (f"<think>\n<tool_call>\n{CLICK}\n</tool_call>", "does not come to an end"),
        (CLICK[:-8], "not valid JSON"),
        ("{'name': 'mobile_use'}", "not valid JSON"),
        ("{" * 20, "not valid JSON"),
        ('{"a":' * 100_000, "not valid JSON"),
        ("{}", "no object called 'arguments'"),
        ('{"name": "mobile_use", "arguments": null}', "no object called 'arguments'"),
        ('{"name": "mobile_use", "arguments": "{}"}', "no object called 'arguments'"),
        ('{"name": "computer_use", "arguments": {"action": "wait"}}', "'computer_use'"),
        ('{"arguments": {"action": "wait"}}', "None, expected 'mobile_use'"),
        (call(), "no argument 'action'"),
        (call(action=None), "no argument 'action'"),
        (call(action="tap", coordinate=[1, 2]), "'tap' is not one of"),
        (call(action=["click"]), "is not one of"),
        (call(action={"click": 1}), "is not one of"),
        (call(action="click"), "needs a 'coordinate'"),
        (call(action="click", coordinate=[1003, 500]), r"\(1003, 500\) lies outside"),
        (call(action="click", coordinate=[500, 1000.5]), "lies outside"),
        (call(action="click", coordinate=[-1, 500]), "lies outside"),
        (call(action="click", coordinate=[1080, 2400]), "never pixels"),
        (call(action="click", coordinate=[10**400, 5]), "lies outside"),
        (call(action="click", coordinate=[500]), "not a point"),
        (call(action="click", coordinate=[1, 2, 3, 4]), "not a point"),
        (call(action="click", coordinate=[True, False]), "not a point"),
        (call(action="click", coordinate={"x": 1, "y": 2}), "not a point"),
        (call(action="click", coordinate="here"), "not a point"),
        (call(action="click", coordinate=512), "not a point"),
        ('{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [NaN, 1]}}',
         "not a point"),
        (call(action="swipe", coordinate=[500, 800]), "needs a 'coordinate2'"),
        (call(action="swipe", coordinate=[5, 8], coordinate2=[5, 8]), "ends where it starts"),
        (call(action="type"), "needs a text"),
        (call(action="type", text=None), "needs a text"),
        (call(action="type", text=["a"]), "needs a text"),
        (call(action="system_button", button="Power"), "'power' is not one of back"),
        (call(action="system_button"), "needs a text in 'button'"),
        (call(action="key", text=" "), "names no key"),
        (call(action="terminate"), "needs a text in 'status'"),
        (call(action="terminate", status="done"), "'done' is not one of"),
        ("<tool_call>\n<function=mobile_use", "opening tag does not end"),
        ("<tool_call>\n<function=click>\n</function>", "'click', expected 'mobile_use'"),
        ("<tool_call>\n<function=mobile_use>\n</function>", "no argument 'action'"),
        (xml(action="click", coordinate="[1003, 5]"), "lies outside"),
        # cut off within the coordinate
        (xml(action="click", coordinate="[512, 300]")[:80], "needs a 'coordinate'"),
    ],
)  # fmt: skip
def test_refuses_malformed_answers_saying_why(answer, problem):
    with pytest.raises(AnswerError, match=problem):
        qwen.parse(answer, STEP)


@settings(deadline=None)
@given(
    st.one_of(
        clicks,
        long_presses,
        swipes,
        typings,
        presses,
        openings,
        texts.map(lambda text: Action("answer", text=text)),
        st.sampled_from([Action("wait"), Action("complete"), Action("impossible")]),
    ),
    st.sampled_from([None, STEP.elements[0], Element("icon", "", (0, 0, 1, 1))]),
)
def test_reads_back_every_action_it_writes(action, element):
    assert qwen.parse(qwen.render_action(action, element), STEP) == action


def test_writes_a_scroll_without_points_as_the_canonical_swipe():
    answer = qwen.render_action(Action("scroll", direction="down"), None)
    assert qwen.parse(answer, STEP) == Action("scroll", (0.5, 0.8), (0.5, 0.2), direction="down")


@settings(deadline=None)
@given(
    st.one_of(
        st.text(),
        st.lists(
            st.sampled_from(
                ["<tool_call>", "</tool_call>", "<think>", "</think>", CLICK, '{"name":', "{", "}",
                 "<function=mobile_use>", "<parameter=action>", "click", "</parameter>", "[1,", " ",
                 '"arguments": {', '"action": "swipe"', '"coordinate": [1, 2]', "\n", '"', "</"]
            )
        ).map("".join),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
            lambda value: st.lists(value) | st.dictionaries(st.text(), value),
        ).flatmap(
            lambda value: st.sampled_from(
                ["action", "coordinate", "coordinate2", "text", "button", "status"]
            ).flatmap(
                lambda name: st.sampled_from(
                    ["click", "swipe", "type", "system_button", "key", "terminate", "wait"]
                ).map(lambda action: call(**({"action": action} | {name: value})))
            )
        ),
    )
)  # fmt: skip
def test_any_text_gives_an_action_or_an_answer_error(answer):
    with contextlib.suppress(AnswerError):
        assert isinstance(qwen.parse(answer, STEP), Action)


def test_without_coordinates_an_action_is_told_in_words_alone():
    told = qwen.render_action(STEP.action, STEP.elements[0], coordinates=False)
    assert told == 'click the button "OK"'


def test_prompt_has_schema_memory_withheld_instruction_history_and_screenshot_in_order():
    shown = step(previous_actions=(Action("type", text="lorem"), Action("click", point=(0.1, 0.2))))
    memory = [{"type": "text", "text": "REMEMBERED"}]
    system, user = qwen.messages(shown, "same as memory", memory)
    assert system["role"] == "system"
    assert all(part["type"] == "text" for part in system["content"])
    assert [part["type"] for part in user["content"]] == ["text", "text", "image"]
    assert user["content"][0] == memory[0]
    assert user["content"][2]["image"].size == (160, 210)
    told = texts_of([system, user])
    assert "Task: same as memory" in told
    assert shown.instruction not in told
    assert '1. type "lorem"\n2. click at (100, 200)' in told
