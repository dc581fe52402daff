"""AUROC within groups of steps (kinds, tasks) beside the pooled one.

Convention: pooled, the kind of step alone may explain a high AUROC; within a kind it cannot. A
group whose steps all prefer one side has no AUROC: it is listed with its counts, without a point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from figures.columns import check_columns
from figures.picture import axes_or_new
from figures.style import GREY, INK, SERIES, Look, style

if TYPE_CHECKING:
    from probes import LayerCurve

MEASURES = ["auroc", "low", "high", "n_positive", "n_negative"]


@style()
def plot_auroc_within(
    within: pd.DataFrame, curve: LayerCurve, site: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a forest plot of one site: a point and its 95 % interval per group, pooled on top.

    Parameters
    ----------
    within
        What `probes.auroc_within` returns: `site`, a column that names the group, and AUROC,
        interval and counts. Groups are drawn from the highest AUROC down, those in parentheses
        ("(all, within)") first.
    curve
        The curve of the same sweep; its row of the site is the pooled AUROC.
    site
        The last block by default.
    ax
        Where to draw; a new picture, as tall as the groups need, by default.

    Raises
    ------
    ValueError
        When a table lacks a column, or the site.
    """
    check_columns(within, ["site", *MEASURES], "AUROC within groups")
    names = [column for column in within.columns if column not in ("site", *MEASURES)]
    if len(names) != 1:
        raise ValueError(f"AUROC within groups: one column names the group, not {names}")
    site = str(curve.final["site"]) if site is None else site
    groups = _of_site(within, site, "AUROC within groups").rename(columns={names[0]: "group"})
    pooled = _of_site(curve.table, site, "layer curve").assign(group="(all, pooled)")
    groups = groups.assign(overall=groups["group"].astype(str).str.startswith("("))
    groups = groups.sort_values(["overall", "auroc"], ascending=False, kind="stable")
    table = pd.concat([pooled.assign(overall=True), groups], ignore_index=True)
    ax = axes_or_new(ax, 7.2, 1.3 + 0.27 * len(table))
    ax.axvline(0.5, color=INK, linewidth=0.8, zorder=1, label="chance")
    _draw_points(ax, table.query("overall"), SERIES[1], "all steps")
    _draw_points(ax, table.query("not overall"), SERIES[0], f"one {names[0]}")
    _write_numbers(ax, table, curve.settings["sign"])
    ax.set_yticks(table.index, labels=table["group"].tolist())
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel(f"AUROC out of fold at {site.replace('.', ' ')}, 95 % interval")
    ax.grid(axis="x")
    ax.legend(ncols=3, loc="lower left", bbox_to_anchor=(-0.02, 1.0))
    return ax


def _of_site(table: pd.DataFrame, site: str, what: str) -> pd.DataFrame:
    rows = table.loc[table["site"] == site]
    if rows.empty:
        sites = ", ".join(table["site"].unique())
        raise ValueError(f"{what}: no row of site {site!r}; the sites are {sites}")
    return rows


def _draw_points(ax: Axes, rows: pd.DataFrame, look: Look, label: str) -> None:
    ax.hlines(rows.index, rows["low"], rows["high"], color=look.color, linewidth=1.6)
    ax.plot(
        rows["auroc"],
        rows.index,
        linestyle="none",
        marker=look.marker,
        markersize=7,
        color=look.color,
        markeredgecolor="white",
        markeredgewidth=0.7,
        label=label,
    )


def _write_numbers(ax: Axes, table: pd.DataFrame, sign: str) -> None:
    """AUROC and counts beside the rows, with a heading that says which count is whose."""
    measures = zip(table.index, table["auroc"], table["n_negative"], table["n_positive"])
    for row, auroc, n_negative, n_positive in measures:
        words = "–" if np.isnan(auroc) else f"{auroc:.2f}"
        ax.text(
            1.03,
            row,
            f"{words}   {int(n_negative):,} / {int(n_positive):,}",
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=8.5,
        )
    positive, negative = (name.capitalize() for name in sign.split(" - "))
    ax.text(
        1.03,
        1.0,
        f"AUROC, steps\n{negative} / {positive}",
        transform=ax.transAxes,
        va="bottom",
        fontsize=8.5,
        color=GREY,
    )
