"""The forest plot: pooled first, groups by AUROC, numbers beside them."""

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from figures import plot_auroc_within
from probes.auroc import POOLED, auroc_within


@pytest.fixture
def within():
    rows = [
        ("block.3", "words", 0.55, 0.4, 0.7, 10, 12),
        ("block.3", "icons", 0.8, 0.7, 0.9, 14, 9),
        ("block.3", "tabs", float("nan"), float("nan"), float("nan"), 0, 8),
        ("block.3", POOLED, 0.62, 0.5, 0.75, 31, 29),
        ("block.2", "words", 0.99, 0.9, 1.0, 10, 12),
    ]
    columns = ["site", "task", "auroc", "low", "high", "n_positive", "n_negative"]
    return pd.DataFrame(rows, columns=columns)


def test_rows_are_pooled_then_groups_by_auroc(within, curve):
    ax = plot_auroc_within(within, curve)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names == ["(all, pooled)", POOLED, "icons", "words", "tabs"]
    assert ax.yaxis_inverted()


def test_points_are_of_the_last_block_by_default(within, curve):
    drawn = {line.get_label(): line for line in plot_auroc_within(within, curve).get_lines()}
    assert_allclose(drawn["all steps"].get_xdata(), [curve.final["auroc"], 0.62])
    assert_allclose(drawn["one task"].get_xdata(), [0.8, 0.55, float("nan")])
    assert drawn["all steps"].get_marker() != drawn["one task"].get_marker()


def test_another_site_can_be_chosen(within, curve):
    drawn = {
        line.get_label(): line for line in plot_auroc_within(within, curve, "block.2").get_lines()
    }
    assert_allclose(drawn["one task"].get_xdata(), [0.99])


def test_bars_are_the_intervals(within, curve):
    _, groups = plot_auroc_within(within, curve).collections
    assert_allclose(groups.get_segments()[0][:, 0], [0.7, 0.9])


def test_counts_and_missing_auroc_stand_beside_the_rows(within, curve):
    words = [text.get_text() for text in plot_auroc_within(within, curve).texts]
    assert words[2:5] == ["0.80   9 / 14", "0.55   12 / 10", "–   8 / 0"]
    assert words[-1] == "AUROC, steps\nText / Image"


def test_what_probes_returns_can_be_drawn(curve):
    scores = pd.DataFrame(
        {
            "step_id": [f"s{i}" for i in range(8)],
            "site": "block.3",
            "fold": 0,
            "score": [0.1, 0.9, 0.4, 0.6, 0.3, 0.2, 0.8, 0.7],
            "label": [0, 1, 0, 1, 1, 0, 1, 0],
            "cluster": list("aabbccdd"),
        }
    )
    kind = pd.Series(["x"] * 4 + ["y"] * 4, index=scores["step_id"], name="kind")
    table = auroc_within(scores, kind, n_bootstrap=20)
    drawn = {line.get_label(): line for line in plot_auroc_within(table, curve).get_lines()}
    assert_allclose(drawn["one kind"].get_xdata(), [1.0, 0.75])


def test_missing_site_is_named(within, curve):
    with pytest.raises(ValueError, match=r"no row of site 'block\.9'"):
        plot_auroc_within(within, curve, "block.9")


def test_table_without_a_group_column_is_refused(within, curve):
    with pytest.raises(ValueError, match="one column names the group"):
        plot_auroc_within(within.drop(columns="task"), curve)
