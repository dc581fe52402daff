"""AUROC by layer: what is drawn is what the table says."""

import dataclasses

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from figures import plot_layer_curve, plot_layer_curves


def line(ax, label):
    (found,) = [line for line in ax.get_lines() if line.get_label() == label]
    return found


def with_table(curve, **columns):
    return dataclasses.replace(curve, table=curve.table.assign(**columns))


def test_blocks_are_a_line_of_the_tables_auroc(curve):
    ax = plot_layer_curve(curve)
    blocks = curve.table[curve.table["site"].str.startswith("block.")]
    drawn = line(ax, "AUROC with 95 % interval")
    assert_allclose(drawn.get_xdata(), [0, 1, 2, 3])
    assert_allclose(drawn.get_ydata(), blocks["auroc"])


def test_ends_are_points_apart_from_the_line(curve):
    ends = line(plot_layer_curve(curve), "_AUROC with 95 % interval, ends")
    assert ends.get_linestyle() == "None"
    assert_allclose(ends.get_ydata(), [0.5, 0.7])
    x = ends.get_xdata()
    assert x[0] <= -1
    assert x[1] >= 4


def test_band_and_bars_are_the_interval(curve):
    ax = plot_layer_curve(curve)
    band, bars = ax.collections
    table = curve.table.set_index("site")
    corners = band.get_paths()[0].vertices
    at_2 = corners[np.isclose(corners[:, 0], 2), 1]
    assert_allclose([at_2.min(), at_2.max()], table.loc["block.2", ["low", "high"]].astype(float))
    ends = [segment[:, 1] for segment in bars.get_segments()]
    assert_allclose(ends, table.loc[["embed", "final_norm"], ["low", "high"]])


@pytest.mark.parametrize(
    ("column", "label"), [("shuffled", "labels shuffled"), ("nuisance", "token counts only")]
)
def test_controls_are_drawn(curve, column, label):
    drawn = line(plot_layer_curve(curve), label)
    assert_allclose(drawn.get_ydata(), curve.table[column][1:-1])


def test_control_that_was_not_computed_is_left_out(curve):
    ax = plot_layer_curve(with_table(curve, shuffled=np.nan))
    assert "labels shuffled" not in {line.get_label() for line in ax.get_lines()}


def test_chance_is_marked(curve):
    assert_allclose(line(plot_layer_curve(curve), "chance").get_ydata(), [0.5, 0.5])


def test_peak_is_marked_and_named_in_the_legend(curve):
    ax = plot_layer_curve(curve)
    star = line(ax, "peak block 2: 0.90 [0.85, 0.94]")
    assert (list(star.get_xdata()), list(star.get_ydata())) == ([2], [0.9])
    assert star.get_label() in [text.get_text() for text in ax.get_legend().get_texts()]


def test_legend_tells_sides_counts_and_folds(curve):
    title = plot_layer_curve(curve).get_legend().get_title().get_text()
    assert title == "31 stable Image (positive) and 29 Text steps; folds by episode_id"


def test_order_of_the_rows_does_not_matter(curve):
    mixed = dataclasses.replace(curve, table=curve.table.sample(frac=1, random_state=1))
    label = "AUROC with 95 % interval"
    assert_allclose(
        line(plot_layer_curve(mixed), label).get_ydata(),
        line(plot_layer_curve(curve), label).get_ydata(),
    )


def test_nothing_lies_outside_the_axes(make_curve):
    low = make_curve(top=0.4)
    ax = plot_layer_curve(low)
    assert ax.get_ylim()[0] < low.table["low"].min()
    assert ax.get_ylim()[1] > 1.0


def test_single_block_has_its_interval_as_a_bar(make_curve):
    ax = plot_layer_curve(make_curve(n_blocks=1, ends=False, peak=0))
    (segment,) = ax.collections[-1].get_segments()
    assert_allclose(segment, [[0, 0.85], [0, 0.94]])


def test_missing_auroc_of_one_layer_leaves_a_gap(curve):
    auroc = curve.table["auroc"].to_numpy(copy=True)
    auroc[2] = np.nan
    ax = plot_layer_curve(with_table(curve, auroc=auroc))
    assert np.isnan(line(ax, "AUROC with 95 % interval").get_ydata()[1])


def test_curve_without_any_auroc_is_refused(curve):
    with pytest.raises(ValueError, match="no AUROC is a number"):
        plot_layer_curve(with_table(curve, auroc=np.nan))


def test_empty_curve_is_refused(curve):
    with pytest.raises(ValueError, match="no rows"):
        plot_layer_curve(dataclasses.replace(curve, table=curve.table[:0]))


def test_missing_column_is_named(curve):
    with pytest.raises(ValueError, match="layer curve: no column 'low'"):
        plot_layer_curve(dataclasses.replace(curve, table=curve.table.drop(columns="low")))


def test_unknown_site_is_named(curve):
    sites = curve.table["site"].replace("embed", "vision.3")
    with pytest.raises(ValueError, match=r"'vision\.3' has no place"):
        plot_layer_curve(with_table(curve, site=sites))


def test_given_axes_are_drawn_on_and_returned(curve):
    ax = Figure().add_subplot()
    assert plot_layer_curve(curve, ax=ax) is ax
    assert ax.get_lines()


def test_last_block_of_many_keeps_its_tick(make_curve):
    ax = plot_layer_curve(make_curve(n_blocks=32))
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert names[:2] == ["0", "4"]
    assert "31" in names
    assert len(names) <= 13


def test_compared_curves_differ_in_colour_marker_and_line(make_curve):
    a, b = make_curve(), make_curve(peak=1, top=0.6)
    ax = plot_layer_curves({"by episode": a, "across tasks": b})
    assert isinstance(ax, Axes)
    one = line(ax, "by episode (peak block 2: 0.90 [0.85, 0.94])")
    other = line(ax, "across tasks (peak block 1: 0.60 [0.55, 0.64])")
    assert_allclose(other.get_ydata(), b.table["auroc"][1:-1])
    assert to_rgba(one.get_color()) != to_rgba(other.get_color())
    assert one.get_marker() != other.get_marker()
    assert one.get_linestyle() != other.get_linestyle()


def test_number_of_compared_curves_is_bounded(curve):
    with pytest.raises(ValueError, match="0 curves"):
        plot_layer_curves({})
    with pytest.raises(ValueError, match="4 curves"):
        plot_layer_curves(dict.fromkeys("abcd", curve))
