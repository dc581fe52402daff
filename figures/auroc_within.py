"""AUROC within groups of steps (kinds, tasks) beside the pooled one.

Convention: pooled, the kind of step alone may explain a high AUROC; within a kind it cannot. A
group whose steps all prefer one side has no AUROC: it is listed with its counts, without a point.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from figures.columns import check_columns
from figures.picture import axes_or_new
from figures.style import GREY, INK, NEGATIVE, POSITIVE, style


@style()
def plot_auroc_within(
    table: pd.DataFrame,
    *,
    pooled: str = "pooled",
    negative: str = "text",
    positive: str = "image",
    ax: Axes | None = None,
) -> Axes:
    """Draw a forest plot: a point and its 95 % interval per group, the pooled one on top.

    Parameters
    ----------
    table
        A row per group: `group`, `auroc`, `low`, `high`, `n_negative`, `n_positive`. The groups are
        drawn from the highest AUROC down.
    pooled
        The group that stands for all steps; the table may lack it.
    negative, positive
        Names of the conditions.
    ax
        Where to draw; a new picture, as tall as the groups need, by default.

    Raises
    ------
    ValueError
        When the table has no rows or lacks a column.
    """
    columns = ["group", "auroc", "low", "high", "n_negative", "n_positive"]
    check_columns(table, columns, "AUROC within groups")
    order = table.assign(first=table["group"] == pooled)
    order = order.sort_values(["first", "auroc"], ascending=False, kind="stable")
    is_pooled = order["first"].to_numpy(dtype=bool)
    rows = np.arange(len(order))

    ax = axes_or_new(ax, 7.2, 1.3 + 0.27 * len(order))
    ax.axvline(0.5, color=INK, linewidth=0.8, zorder=1, label="chance")
    for some, look, size, label in (
        (is_pooled, POSITIVE, 8, "all steps"),
        (~is_pooled, NEGATIVE, 6, "within the group"),
    ):
        if not some.any():
            continue
        ax.hlines(
            rows[some], order["low"][some], order["high"][some], color=look.color, linewidth=1.6
        )
        ax.plot(
            order["auroc"][some],
            rows[some],
            linestyle="none",
            marker="D" if look is POSITIVE else look.marker,
            markersize=size,
            color=look.color,
            markeredgecolor=INK if look is POSITIVE else "white",
            markeredgewidth=0.7,
            label=label,
        )
    for row, group in zip(rows, order.itertuples()):
        words = "–" if np.isnan(group.auroc) else f"{group.auroc:.2f}"
        ax.text(
            1.03,
            row,
            f"{words}   {group.n_negative:,} / {group.n_positive:,}",
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=8.5,
        )
    ax.text(
        1.03,
        1.0,
        f"AUROC, steps\n{negative.capitalize()} / {positive.capitalize()}",
        transform=ax.transAxes,
        va="bottom",
        fontsize=8.5,
        color=GREY,
    )
    ax.set_yticks(rows, labels=[str(group) for group in order["group"]])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("AUROC out of fold, 95 % interval")
    ax.grid(axis="x")
    ax.legend(ncols=3, loc="lower left", bbox_to_anchor=(-0.02, 1.0))
    return ax
