"""Usefulness by factor: bars as high as the table says, levels with their counts."""

import dataclasses
from itertools import pairwise

import pytest
from numpy.testing import assert_allclose
from router_results import small_evaluation

from figures import plot_usefulness


@pytest.fixture(scope="module")
def evaluation():
    return small_evaluation()


def test_bars_are_the_tables_means_by_series(evaluation):
    ax = plot_usefulness(evaluation)
    table = evaluation.usefulness
    assert [c.get_label() for c in ax.containers] == ["Text", "Image", "router"]
    for container, name in zip(ax.containers, ("text", "image", "router")):
        heights = [bar.get_height() for bar in container]
        assert_allclose(heights, table.loc[table["series"] == name, "mean"])


def test_levels_tell_steps_and_rate_and_factors_stand_above(evaluation):
    ax = plot_usefulness(evaluation)
    rates = evaluation.routing.set_index(["policy", "level"])["positive_rate"]
    first = ax.get_xticklabels()[0].get_text()
    assert first == f"initial\n5 steps\nImage {100 * rates['router', 'initial']:.0f} %"
    assert [text.get_text() for text in ax.texts] == ["phase", "half"]
    assert ax.get_ylabel() == "utility over None"


def test_factors_are_set_apart_and_bars_do_not_overlap(evaluation):
    ax = plot_usefulness(evaluation)
    ticks = ax.get_xticks()
    assert ticks[2] - ticks[1] > ticks[1] - ticks[0]
    bars = sorted(ax.patches, key=lambda bar: bar.get_x())
    for left, right in pairwise(bars):
        assert left.get_x() + left.get_width() <= right.get_x() + 1e-9


def test_an_evaluation_without_factors_is_refused(evaluation):
    bare = dataclasses.replace(evaluation, usefulness=evaluation.usefulness[:0])
    with pytest.raises(ValueError, match="usefulness: the table has no rows"):
        plot_usefulness(bare)
