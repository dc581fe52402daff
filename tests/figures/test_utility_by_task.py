"""Utilities by task: means, clustered errors, order, what is drawn."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from figures import plot_utility_by_task, utility_by_task
from figures.utility_by_task import standard_error


def test_table_holds_means_counts_and_ties(preferences):
    table = utility_by_task(preferences).set_index("task")
    assert list(table.index) == ["words", "both", "icons"]  # by image − text
    assert_allclose(
        table.loc["words", ["text", "image", "difference"]].tolist(), [0.8125, 0.3125, -0.5]
    )
    assert table.loc["both", ["steps", "episodes", "ties"]].tolist() == [2, 1, 2]


def test_error_of_a_single_episode_is_missing(preferences):
    table = utility_by_task(preferences).set_index("task")
    assert np.isnan(table.loc["both", "text_error"])
    assert np.isfinite(table.loc["words", "text_error"])


def test_error_equals_the_ordinary_one_when_each_step_is_its_own_episode():
    values = np.array([0.0, 0.25, 0.5, 1.0])
    expected = values.std(ddof=1) / 2
    assert_allclose(standard_error(values, np.array(list("abcd"))), expected)


def test_error_of_episodes_of_equal_steps_is_that_of_their_means():
    values = np.array([0.0, 0.25, 0.5, 1.0])
    expected = values.std(ddof=1) / 2
    assert_allclose(standard_error(values.repeat(3), np.arange(4).repeat(3)), expected)


def test_points_are_the_tables_means(preferences):
    ax = plot_utility_by_task(preferences)
    table = utility_by_task(preferences)
    drawn = {line.get_label(): line for line in ax.get_lines()}
    assert_allclose(drawn["Text"].get_xdata(), table["text"])
    assert_allclose(drawn["Image"].get_xdata(), table["image"])
    assert drawn["Text"].get_marker() != drawn["Image"].get_marker()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["words", "both", "icons"]


def test_bars_are_the_interval_within_zero_and_one(preferences):
    ax = plot_utility_by_task(preferences)
    row = utility_by_task(preferences).iloc[0]
    _, of_text, _ = ax.collections
    expected = np.clip(row["text"] + np.array([-1.96, 1.96]) * row["text_error"], 0, 1)
    assert_allclose(of_text.get_segments()[0][:, 0], expected)


def test_counts_and_ties_stand_beside_the_rows(preferences):
    words = [text.get_text() for text in plot_utility_by_task(preferences).texts]
    assert words == ["4  (0 % tied)", "2  (100 % tied)", "4  (0 % tied)", "steps"]


def test_any_column_can_be_the_rows(preferences):
    table = preferences.table.rename(columns={"task": "app"})
    ax = plot_utility_by_task(dataclasses.replace(preferences, table=table), column="app")
    assert len(ax.get_yticks()) == 3


def test_missing_column_is_named(preferences):
    with pytest.raises(ValueError, match="preferences: no column 'app'"):
        plot_utility_by_task(preferences, column="app")
