"""The label funnel: bars as long as the counts."""

import dataclasses

import pytest

from figures import plot_funnel


def bars(ax):
    """(row, left, width) of the filled bars, in drawing order."""
    return [
        (round(bar.get_y() + bar.get_height() / 2), bar.get_x(), bar.get_width())
        for bar in ax.patches
        if bar.get_facecolor()[3] > 0
    ]


def test_bars_are_the_counts_split_by_side(preferences):
    assert bars(plot_funnel(preferences)) == [
        (0, 0, 10),
        (1, 0, 4), (1, 4, 4),
        (2, 0, 2), (2, 2, 2),
    ]  # fmt: skip


def test_counts_and_shares_stand_beside_the_bars(preferences):
    words = [text.get_text() for text in plot_funnel(preferences).texts]
    assert words == [
        "10",
        "8 = 80.0 % of the steps\nText 4 (50.0 %), Image 4 (50.0 %)",
        "4 = 50.0 % of these\nText 2 (50.0 %), Image 2 (50.0 %)",
    ]


def test_sides_differ_in_hatch_too(preferences):
    text, image = plot_funnel(preferences).patches[2:4]
    assert text.get_hatch() != image.get_hatch()


def test_legend_names_each_side_once(preferences):
    legend = plot_funnel(preferences).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["Text", "Image"]


def test_all_ties_give_empty_bars(preferences):
    table = preferences.table.assign(tie=True, difference=0.0, label=None, stable=False)
    ax = plot_funnel(dataclasses.replace(preferences, table=table))
    assert [width for _, _, width in bars(ax)] == [10, 0, 0, 0, 0]
    assert "Text 0 (–), Image 0 (–)" in ax.texts[2].get_text()


def test_no_steps_are_refused(preferences):
    with pytest.raises(ValueError, match="preferences: the table has no rows"):
        plot_funnel(dataclasses.replace(preferences, table=preferences.table[:0]))
