"""The threshold curve: what is drawn is the curve."""

import dataclasses

import pytest
from numpy.testing import assert_allclose

from figures import figure_bytes, plot_threshold_curve
from router import threshold_curve


@pytest.fixture
def threshold():
    return threshold_curve([-1.5, -0.5, 0.5, 1.5], [1, 0, 1, 0], [0, 1, 0, 1])


def test_curve_ends_and_chosen_cut_are_drawn(threshold):
    ax = threshold.plot()
    always_image, always_text, curve, chosen = ax.get_lines()
    assert_allclose(curve.get_xydata(), threshold.table[["tau", "utility"]])
    assert_allclose(chosen.get_xydata(), [[-1.0, 0.75]])
    assert_allclose(always_image.get_ydata(), [0.5, 0.5])
    assert always_text.get_color() != always_image.get_color()


def test_legend_tells_numbers_and_rate(threshold):
    words = [text.get_text() for text in plot_threshold_curve(threshold).get_legend().get_texts()]
    assert words == [
        "always Image: 0.500",
        "always Text: 0.500",
        "utility on 4 calibration steps",
        "chosen: -1.000, utility 0.750, Image at 75 % of the steps",
    ]


def test_sides_are_those_of_the_curve():
    curve = threshold_curve([0.1, -0.1], [0, 1], [1, 0], negative="none", positive="both")
    assert plot_threshold_curve(curve).get_xlabel().startswith("threshold: Both")


def test_equal_curves_give_equal_bytes(threshold):
    assert figure_bytes(threshold.plot()) == figure_bytes(threshold.plot())


def test_an_empty_curve_is_refused(threshold):
    empty = dataclasses.replace(threshold, table=threshold.table[:0])
    with pytest.raises(ValueError, match="threshold curve: the table has no rows"):
        plot_threshold_curve(empty)
