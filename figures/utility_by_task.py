"""Utility of the two conditions by task (or app, or any other column of the preferences).

Convention: a utility is the mean over the task's steps, ties included. Its 95 % interval is 1.96
standard errors to each side, with episodes as clusters, since steps of one episode are alike.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from figures.columns import check_columns
from figures.picture import axes_or_new
from figures.style import GREY, NEGATIVE, POSITIVE, style

if TYPE_CHECKING:
    from probes import Preferences


@style()
def plot_utility_by_task(
    preferences: Preferences, column: str = "task", ax: Axes | None = None
) -> Axes:
    """Draw both utilities of every task, joined by a line, sorted by their difference.

    Parameters
    ----------
    preferences
        Its table holds `column` beside its own columns (`Preferences.with_columns`).
    column
        What the rows are: "task", "app", ….
    ax
        Where to draw; a new picture, as tall as the tasks need, by default.

    Raises
    ------
    ValueError
        When there are no steps or `column` is missing.
    """
    table = utility_by_task(preferences, column)
    negative, positive = preferences.negative, preferences.positive
    ax = axes_or_new(ax, 7.2, 1.3 + 0.27 * len(table))
    rows = np.arange(len(table))
    ax.hlines(rows, table[negative], table[positive], color=GREY, linewidth=1.0, zorder=1)
    for name, look in ((negative, NEGATIVE), (positive, POSITIVE)):
        error = table[f"{name}_error"]
        ax.hlines(
            rows,
            (table[name] - 1.96 * error).clip(0, 1),
            (table[name] + 1.96 * error).clip(0, 1),
            color=look.color,
            alpha=0.35,
            linewidth=6,
            zorder=2,
        )
        ax.plot(
            table[name],
            rows,
            linestyle="none",
            marker=look.marker,
            markersize=7,
            color=look.color,
            markeredgecolor="white",
            markeredgewidth=0.6,
            label=name.capitalize(),
        )
    for row, steps, ties in zip(table.index, table["steps"], table["ties"]):
        ax.text(
            1.03,
            row,
            f"{steps:,}  ({100 * ties / steps:.0f} % tied)",
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=8.5,
        )
    ax.set_yticks(rows, labels=[str(name) for name in table[column]])
    ax.set_ylim(-0.7, len(table) - 0.3)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("utility: mean score of the sampled actions, 95 % interval")
    ax.text(1.03, 1.0, "steps", transform=ax.transAxes, va="bottom", fontsize=8.5, color=GREY)
    ax.grid(axis="y")
    ax.legend(ncols=2, loc="lower left", bbox_to_anchor=(-0.02, 1.0))
    return ax


def utility_by_task(preferences: Preferences, column: str = "task") -> pd.DataFrame:
    """The table behind `plot_utility_by_task`, sorted by `difference`.

    Returns
    -------
    pandas.DataFrame
        A row per task: `column`, `steps`, `episodes`, `ties`, for both conditions the mean utility
        (named as the condition) and its standard error (`<condition>_error`, missing with a single
        episode), and `difference` (positive − negative).
    """
    sides = (preferences.negative, preferences.positive)
    utilities = [f"utility_{side}" for side in sides]
    check_columns(preferences.table, [column, "episode_id", "tie", *utilities], "preferences")
    rows = []
    for name, steps in preferences.table.groupby(column, sort=True):
        row = {
            column: name,
            "steps": len(steps),
            "episodes": steps["episode_id"].nunique(),
            "ties": np.count_nonzero(steps["tie"]),
        }
        for side, utility in zip(sides, utilities):
            values = steps[utility].to_numpy()
            row[side] = values.mean()
            row[f"{side}_error"] = standard_error(values, steps["episode_id"].to_numpy())
        rows.append(row | {"difference": row[sides[1]] - row[sides[0]]})
    return pd.DataFrame(rows).sort_values("difference", kind="stable", ignore_index=True)


def standard_error(values: np.ndarray, clusters: np.ndarray) -> float:
    """Standard error of the mean of values that come in clusters; NaN for a single cluster.

    sqrt(G / (G − 1) · Σ_g (Σ_{i in g} (x_i − mean))²) / n: the sandwich estimator of a regression
    on a constant. With one value per cluster it is the ordinary standard error.
    """
    sums = np.bincount(pd.factorize(clusters)[0], weights=values - values.mean())
    if len(sums) < 2:
        return math.nan
    return float(np.sqrt(len(sums) / (len(sums) - 1) * np.sum(sums**2)) / len(values))
