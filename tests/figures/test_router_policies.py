"""The comparison of policies: a row each, with rate and p beside it."""

import pytest
from numpy.testing import assert_allclose
from router_results import small_evaluation

from figures import figure_bytes, plot_policies
from figures.router_policies import p_words


@pytest.fixture(scope="module")
def evaluation():
    return small_evaluation()


def test_points_and_bars_are_the_tables(evaluation):
    ax = plot_policies(evaluation)
    table = evaluation.policies
    points = [line for line in ax.get_lines() if line.get_marker() not in ("None", None)]
    assert_allclose([line.get_xdata()[0] for line in points], table["mean"])
    bars = [c.get_segments()[0][:, 0] for c in ax.collections]
    assert_allclose(bars, table[["low", "high"]])
    assert [label.get_text() for label in ax.get_yticklabels()] == table["policy"].tolist()


def test_rates_and_corrected_p_stand_beside_the_rows(evaluation):
    words = [text.get_text() for text in plot_policies(evaluation).texts]
    p = evaluation.comparisons.set_index("policy")["p_holm"]
    assert words[0] == f"{100 * evaluation.policies['positive_rate'][0]:.0f} %"
    assert words[1:3] == [
        f"{100 * evaluation.policies['positive_rate'][1]:.0f} %",
        p_words(p["oracle"]),
    ]
    assert words[-2:] == ["Image", "p, router against it"]


def test_fixed_forms_look_as_their_side(evaluation):
    lines = plot_policies(evaluation).get_lines()
    colours = dict(zip(evaluation.policies["policy"], [line.get_color() for line in lines]))
    assert len({colours["always text"], colours["always image"], colours["router"]}) == 3
    assert colours["oracle"] == colours["random"] == colours["always none"]


def test_small_p_are_not_written_as_zero():
    assert p_words(0.00012) == "< 0.001"
    assert p_words(0.0342) == "0.034"


def test_equal_evaluations_give_equal_bytes(evaluation):
    assert figure_bytes(plot_policies(evaluation)) == figure_bytes(plot_policies(evaluation))
