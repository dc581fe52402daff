"""One pair for people: clicks, target and words where they belong."""

import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from PIL import Image

from figures import show_pair


def pair(**changes):
    given = {
        "screen": Image.new("RGB", (160, 210), "white"),
        "memory_image": Image.new("RGB", (96, 126), "pink"),
        "memory_text": "clicked Cancel",
        "instruction": "same as $memory$",
        "answers": {"text": ["click Cancel"] * 2 + ["click $OK$"], "image": ["click OK"] * 3},
        "scores": {"text": [1, 1, 0], "image": [0, 0, 0.5]},
        "clicks": {"text": [(0.2, 0.6), (0.3, 0.6), None], "image": [(0.7, 0.6)] * 3},
        "target": (0.125, 0.5, 0.5, 0.75),
    }
    return show_pair(**(given | changes))


def axes(figure):
    return [ax for part in figure.subfigs for ax in part.axes]


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_clicks_and_target_are_drawn_on_the_screen():
    screen = axes(pair())[0]
    drawn = {line.get_label(): line for line in screen.get_lines()}
    assert_allclose(drawn["Text"].get_xydata(), [(0.2, 0.6), (0.3, 0.6)])
    assert_allclose(drawn["Image"].get_xydata(), [(0.7, 0.6)] * 3)
    (box,) = screen.patches
    assert_allclose([*box.get_xy(), box.get_width(), box.get_height()], [0.125, 0.5, 0.375, 0.25])
    assert screen.images[0].get_extent() == [0, 1, 1, 0]  # origin top left


def test_equal_answers_are_counted_with_their_scores():
    *_, text, image = axes(pair())
    assert words(text) == ["2 × score 1: click Cancel\n1 × score 0: click $OK$"]
    assert words(image) == ["2 × score 0: click OK\n1 × score 0.5: click OK"]
    assert text.get_title(loc="left") == "Text: utility 0.67 over 3 samples"


def test_long_memory_says_what_was_cut():
    ax = axes(pair(memory_text="\n".join(map(str, range(100)))))[2]
    assert words(ax)[0].endswith("18\n… and 81 more lines")


def test_words_with_dollars_can_be_written(tmp_path):
    assert isinstance(pair(memory_text="a $b$ and $c"), Figure)
    bad = "costs $1_{ and $2"
    pair(memory_text=bad, instruction=bad).savefig(tmp_path / "pair.png", dpi=20)


def test_step_without_a_target_has_no_box():
    assert not axes(pair(target=None))[0].patches


def test_side_that_touches_nothing_is_drawn():
    figure = pair(clicks={"text": [None] * 3, "image": [(0.5, 0.5)] * 3})
    assert len(axes(figure)[0].get_lines()[0].get_xdata()) == 0


def test_other_conditions_can_be_shown():
    one = {"none": ["a"], "both": ["b"]}
    figure = pair(
        answers=one, scores={"none": [0], "both": [1]}, clicks={"none": [None], "both": [None]},
        negative="none", positive="both",
    )  # fmt: skip
    assert axes(figure)[-1].get_title(loc="left").startswith("Both: utility 1.00")


def test_missing_condition_is_named():
    with pytest.raises(ValueError, match="scores has nothing for condition 'image'"):
        pair(scores={"text": [1, 1, 0]})


def test_unequal_numbers_of_samples_are_refused():
    with pytest.raises(ValueError, match="condition 'text': numbers of samples differ"):
        pair(scores={"text": [1], "image": [0, 0, 0]})
