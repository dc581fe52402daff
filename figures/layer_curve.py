"""AUROC by layer: where in the model the preference can be read.

Convention: blocks are joined by a line with its interval as a band; `embed` and `final_norm` are
single points with error bars. The peak is the curve's own (`LayerCurve.peak`), among blocks only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from figures.columns import check_columns
from figures.layer_axis import draw_layer_axis, is_block, site_positions
from figures.picture import axes_or_new
from figures.style import GREEN, GREY, INK, SERIES, Look, style

if TYPE_CHECKING:
    from probes import LayerCurve

CONTROLS = {
    "shuffled": ("labels shuffled", Look(GREY, "x", linestyle=":")),
    "nuisance": ("token counts only", Look(GREEN, "s", linestyle="--")),
}


@style()
def plot_layer_curve(curve: LayerCurve, ax: Axes | None = None) -> Axes:
    """Draw AUROC by layer with its 95 % interval, its controls, chance, and the peak.

    Parameters
    ----------
    curve
        Its table has a row per site with `site`, `auroc`, `low`, `high`; `shuffled` (the control
        with shuffled labels) and `nuisance` (token counts only) are drawn where present. Its
        settings name `sign`, `analysis_set` and `groups`.
    ax
        Where to draw; a new picture by default (`.figure` of the result).

    Raises
    ------
    ValueError
        When the curve has no rows, lacks a column, or no AUROC in it is a number.
    """
    table = _checked(curve, "layer curve")
    ax = axes_or_new(ax, 7.2, 4.4)
    _draw_interval(ax, table, SERIES[0].color)
    _draw_series(ax, table, "auroc", SERIES[0], "AUROC with 95 % interval")
    _mark_peak(ax, table, curve, label=_peak_words(curve))
    _draw_chance(ax)
    for column, (label, look) in CONTROLS.items():
        if column in table and np.isfinite(table[column]).any():
            _draw_series(ax, table, column, look, label, thin=True)
    _finish(ax, table, title=_counts_words(curve), legend_columns=2)
    return ax


@style()
def plot_layer_curves(curves: Mapping[str, LayerCurve], ax: Axes | None = None) -> Axes:
    """Draw several curves into one picture, such as folds by episode and by task.

    Only AUROC, interval and peak of each are drawn; the controls stand in each curve's own picture.

    Raises
    ------
    ValueError
        When there is no curve or more than three, or one of them cannot be drawn.
    """
    if not 0 < len(curves) <= len(SERIES):
        raise ValueError(f"{len(curves)} curves given; from 1 to {len(SERIES)} can be compared")
    tables = {name: _checked(curve, f"layer curve {name!r}") for name, curve in curves.items()}
    ax = axes_or_new(ax, 7.2, 4.4)
    for (name, table), look in zip(tables.items(), SERIES):
        _draw_interval(ax, table, look.color)
        _draw_series(ax, table, "auroc", look, f"{name} ({_peak_words(curves[name])})")
        _mark_peak(ax, table, curves[name], label="_peak")
    _draw_chance(ax)
    title = "AUROC with 95 % interval"
    _finish(ax, pd.concat(tables.values()), title, legend_columns=1)
    return ax


def _checked(curve: LayerCurve, what: str) -> pd.DataFrame:
    """The curve's table from the first site to the last, with their places as column `x`."""
    check_columns(curve.table, ["site", "auroc", "low", "high"], what)
    if not np.isfinite(curve.table["auroc"]).any():
        raise ValueError(f"{what}: no AUROC is a number; were both classes present in the folds?")
    table = curve.table.assign(x=site_positions(curve.table["site"].tolist()))
    return table.sort_values("x", ignore_index=True)


def _draw_chance(ax: Axes) -> None:
    ax.axhline(0.5, color=INK, linewidth=0.8, zorder=1, label="chance")


def _draw_series(
    ax: Axes, table: pd.DataFrame, column: str, look: Look, label: str, thin: bool = False
) -> None:
    """Blocks as a line with markers, the two ends as markers alone."""
    blocks, ends = _split(table)
    size, width = (3, 1.1) if thin else (4.5, 1.8)
    common: dict[str, Any] = {
        "marker": look.marker,
        "color": look.color,
        "markersize": size,
        "linewidth": width,
        "zorder": 2 if thin else 3,
    }
    ax.plot(blocks["x"], blocks[column], linestyle=look.linestyle, label=label, **common)
    ax.plot(ends["x"], ends[column], linestyle="none", label=f"_{label}, ends", **common)


def _draw_interval(ax: Axes, table: pd.DataFrame, color: str) -> None:
    """A band over the blocks; bars at the ends, and at a lone block, where a band has no width."""
    blocks, ends = _split(table)
    ax.fill_between(
        blocks["x"], blocks["low"], blocks["high"], color=color, alpha=0.18, linewidth=0
    )
    bars = ends if len(blocks) > 1 else table
    ax.vlines(bars["x"], bars["low"], bars["high"], color=color, linewidth=1.2)


def _split(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    block = table["site"].map(is_block).to_numpy(dtype=bool)
    return table.loc[block], table.loc[~block]


def _mark_peak(ax: Axes, table: pd.DataFrame, curve: LayerCurve, label: str) -> None:
    x = table.loc[table["site"] == curve.peak["site"], "x"]
    ax.plot(
        x,
        [curve.peak["auroc"]],
        linestyle="none",
        marker="*",
        markersize=13,
        color="white",
        markeredgecolor=INK,
        zorder=5,
        label=label,
    )


def _peak_words(curve: LayerCurve) -> str:
    peak = curve.peak
    site = str(peak["site"]).replace(".", " ")
    return f"peak {site}: {peak['auroc']:.2f} [{peak['low']:.2f}, {peak['high']:.2f}]"


def _counts_words(curve: LayerCurve) -> str:
    positive, negative = curve.settings["sign"].split(" - ")
    analysis_set = curve.settings["analysis_set"].replace("_", "-")
    n_positive, n_negative = curve.peak[["n_positive", "n_negative"]]
    return (
        f"{n_positive:,.0f} {analysis_set} {positive.capitalize()} (positive) and "
        f"{n_negative:,.0f} {negative.capitalize()} steps; "
        f"folds by {' and '.join(curve.settings['groups'])}"
    )


def _finish(ax: Axes, table: pd.DataFrame, title: str, legend_columns: int) -> None:
    draw_layer_axis(ax, table["site"].drop_duplicates().tolist())
    drawn = table[[c for c in ("auroc", "low", *CONTROLS) if c in table]]
    ax.set_ylim(min(0.4, float(np.nanmin(drawn.to_numpy(dtype=float))) - 0.03), 1.02)
    ax.set_ylabel("AUROC out of fold")
    ax.grid(axis="y")
    ax.legend(
        title=title,
        alignment="left",
        ncols=legend_columns,
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
    )
