r"""The ui-tars dialect: golden answers, malformed ones, and what it writes being read back."""

import contextlib

import pytest
from dialect_cases import (
    clicks,
    long_presses,
    openings,
    points,
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

ui_tars = get_dialect("ui-tars")
STEP = step()
CLICKED = Action("click", point=(0.512, 0.3))


def test_follows_the_protocol():
    assert isinstance(ui_tars, Dialect)
    assert ui_tars.name == "ui-tars"


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("Thought: I tap OK.\nAction: click(start_box='<|box_start|>(512,300)<|box_end|>')", CLICKED),
        ("Thought: I tap OK.\nAction: click(start_box='(512,300)')", CLICKED),
        ("Action: click(start_box='(512, 300)')", CLICKED),
        ('Action: click(start_box="(512,300)")', CLICKED),
        ("Action: click(start_box='[512,300]')", CLICKED),
        ("Action: click(start_box=(512,300))", CLICKED),
        ("action:click( start_box = '( 512 , 300 )' )", CLICKED),
        ("click(start_box='(512,300)')", CLICKED),
        ("Action: click(start_box='(512.0,300.0)')\n\nThought: next", CLICKED),
        ("Thought: x\nAction: click(start_box='(512,300)')\n\nAction: wait()", CLICKED),
        ("Thought: The Action: field is there\nAction: wait()", Action("wait")),
        ("Action: click(start_box='<|box_start|>(500,290),(524,310)<|box_end|>')", CLICKED),
        ("Action: click(start_box='(500,290,524,310)')", CLICKED),
        ("Action: click(start_box='(0,1000)')", Action("click", point=(0.0, 1.0))),
        ("Action: long_press(start_box='(512,300)', time='2')",
         Action("long_press", point=(0.512, 0.3))),
        ("Action: type(content='hello')", Action("type", text="hello")),
        ("Action: type(content='hello\\n')", Action("type", text="hello\n")),
        ("Action: type(content='it\\'s')", Action("type", text="it's")),
        ("Action: type(content='it's here')", Action("type", text="it's here")),
        ('Action: type(content="it\'s")', Action("type", text="it's")),
        ("Action: type(content='f(x), a=b')", Action("type", text="f(x), a=b")),
        ("Action: type(content='')", Action("type", text="")),
        ("Action: type(content='C:\\\\dir')", Action("type", text="C:\\dir")),
        ("Action: type(content='two\nlines')", Action("type", text="two\nlines")),
        ("Action: scroll(start_box='(500,800)', end_box='(500,200)')",
         Action("scroll", (0.5, 0.8), (0.5, 0.2), direction="down")),
        ("Action: scroll(direction='down')", Action("scroll", direction="down")),
        ("Action: scroll(direction=UP)", Action("scroll", direction="up")),
        ("Action: scroll(start_box='(500,800)', direction='left')",
         Action("scroll", point=(0.5, 0.8), direction="left")),
        ("Action: press_home()", Action("press", key="home")),
        ("Action: press_back()", Action("press", key="back")),
        ("Action: hotkey(key='Enter')", Action("press", key="enter")),
        ("Action: open_app(app_name='Clock')", Action("open_app", text="Clock")),
        ("Action: wait()", Action("wait")),
        ("Action: finished()", Action("complete")),
        ("Action: finished(content='')", Action("complete")),
        ("Action: finished(content='7 pm')", Action("complete", text="7 pm")),
        ("Action: call_user()", Action("impossible")),
    ],
)  # fmt: skip
def test_reads_golden_answers(answer, action):
    assert ui_tars.parse(answer, STEP) == action


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "no action call"),
        ("Thought: I tap OK.", "no action call"),
        ("Thought: I tap OK.\nAction:", "no action call"),
        ("Thought: I tap OK.\nAction: tap it", "no action call"),
        ("Action: click(start_box='=')", "'=' is not a point"),
        ("Action: click(start_box='')", "not a point"),
        ("Action: click(start_box='<|box_start|><|box_end|>')", "not a point"),
        ("Action: click(start_box='(512)')", "not a point"),
        ("Action: click(start_box='(512,300')", "not a point"),
        ("Action: click(start_box='(a,b)')", "not a point"),
        ("Action: click(start_box='(1,2,3)')", "not a point"),
        ("Action: click(start_box='(1003,300)')", r"\(1003, 300\) lies outside"),
        ("Action: click(start_box='(-1,300)')", "lies outside"),
        ("Action: click(start_box='(1080,2400)')", "never pixels"),
        ("Action: click(start_box='(512,300)'", "cannot be read"),
        ("Action: click(start_box='<|box_start|>(512,", "cannot be read"),
        ("Action: click('(512,300)')", "cannot be read"),
        ("Action: click(512, 300)", "cannot be read"),
        ("Action: click()", "needs a start_box, found no arguments"),
        ("Action: click(point='<point>512 300</point>')", r"needs a start_box, found \['point'\]"),
        ("Action: double_click(start_box='(1,2)')", "'double_click' is not in"),
        ("Action: __import__('os')", "cannot be read"),
        ("Action: type()", "needs a content"),
        ("Action: type(content='hello", "cannot be read"),
        ("Action: type(hello)", "cannot be read"),
        ("Action: scroll()", "needs a direction"),
        ("Action: scroll(start_box='(500,800)')", "needs a direction"),
        ("Action: scroll(direction='sideways')", "'sideways' is not one of"),
        ("Action: scroll(start_box='(5,8)', end_box='(5,8)')", "ends where it starts"),
        ("Action: scroll(start_box='(5,8)', end_box='=')", "not a point"),
        ("Action: hotkey()", "needs a key"),
        ("Action: hotkey(key='')", "names no key"),
        ("Action: open_app()", "needs a app_name"),
        ("Action: press_home", "no action call"),
        ('<tool_call>\n{"name": "mobile_use"}', "no action call"),
    ],
)
def test_refuses_malformed_answers_saying_why(answer, problem):
    with pytest.raises(AnswerError, match=problem):
        ui_tars.parse(answer, STEP)


@settings(deadline=None)
@given(
    st.one_of(
        clicks,
        long_presses,
        swipes,
        st.builds(
            lambda point, direction: Action("scroll", point=point, direction=direction),
            st.none() | points,
            st.sampled_from(["up", "down", "left", "right"]),
        ),
        typings,
        presses,
        openings,
        texts.map(lambda text: Action("complete", text=text or None)),
        st.sampled_from([Action("wait"), Action("impossible")]),
    ),
    st.sampled_from([None, STEP.elements[0], Element("icon", "", (0, 0, 1, 1))]),
)
def test_reads_back_every_action_it_writes(action, element):
    assert ui_tars.parse(ui_tars.render_action(action, element), STEP) == action


def test_an_answer_to_the_user_is_written_as_finished():
    written = ui_tars.render_action(Action("answer", text="7 pm"), None)
    assert ui_tars.parse(written, STEP) == Action("complete", text="7 pm")


@settings(deadline=None)
@given(
    st.one_of(
        st.text(),
        st.lists(
            st.sampled_from(
                ["Thought: ", "\nAction: ", "click(", "type(", "scroll(", "finished(", "start_box=",
                 "end_box=", "content=", "direction=", "'", '"', "(1,2)", "(1e9,2)", "=", "\\", ")",
                 ", ", "<|box_start|>", "<|box_end|>", "9" * 400, "\n", "\0"]
            )
        ).map("".join),
    )
)  # fmt: skip
def test_any_text_gives_an_action_or_an_answer_error(answer):
    with contextlib.suppress(AnswerError):
        assert isinstance(ui_tars.parse(answer, STEP), Action)


def test_without_coordinates_an_action_is_told_in_words_alone():
    told = ui_tars.render_action(STEP.action, STEP.elements[0], coordinates=False)
    assert told == 'click the button "OK"'


def test_prompt_has_schema_memory_withheld_instruction_history_and_screenshot_in_order():
    memory = [{"type": "text", "text": "REMEMBERED"}]
    (user,) = ui_tars.messages(step(), "same as memory", memory)
    assert [part["type"] for part in user["content"]] == ["text", "text", "text", "image"]
    assert "click(start_box=" in user["content"][0]["text"]
    assert user["content"][1] == memory[0]
    assert "same as memory" in user["content"][2]["text"]
    assert "## Actions so far\nnone" in user["content"][2]["text"]
    assert STEP.instruction not in texts_of([user])
