"""Utility over the router's threshold on the calibration steps.

Convention: the utility changes only at scores of steps, so it is drawn as steps; its left end is the
positive form at every step, its right end the negative one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from figures.columns import check_columns
from figures.picture import axes_or_new
from figures.style import INK, NEGATIVE, POSITIVE, SERIES, style

if TYPE_CHECKING:
    from router import ThresholdCurve


@style()
def plot_threshold_curve(curve: ThresholdCurve, ax: Axes | None = None) -> Axes:
    """Draw the curve, the chosen threshold, and both forms given always.

    Parameters
    ----------
    curve
        Its table has tau, utility, positive_rate; `best` is the chosen row.
    ax
        Where to draw; a new picture by default.
    """
    table = curve.table
    check_columns(table, ["tau", "utility", "positive_rate"], "threshold curve")
    ax = axes_or_new(ax, 7.2, 3.8)
    ends = (
        (curve.positive, POSITIVE, table["utility"].iloc[0]),
        (curve.negative, NEGATIVE, table["utility"].iloc[-1]),
    )
    for name, look, utility in ends:
        ax.axhline(
            utility,
            color=look.color,
            linestyle="--",
            linewidth=1.2,
            label=f"always {name.capitalize()}: {utility:.3f}",
        )
    ax.plot(
        table["tau"],
        table["utility"],
        color=SERIES[0].color,
        drawstyle="steps-mid",
        label=f"utility on {curve.n_steps:,} calibration steps",
    )
    best = curve.best
    rate = f"{best.positive_rate:.0%}".replace("%", " %")
    ax.plot(
        [best.tau],
        [best.utility],
        linestyle="none",
        marker="*",
        markersize=13,
        color="white",
        markeredgecolor=INK,
        zorder=5,
        label=f"chosen: {best.tau:.3f}, utility {best.utility:.3f}, "
        f"{curve.positive.capitalize()} at {rate} of the steps",
    )
    ax.set_xlabel(
        f"threshold: {curve.positive.capitalize()} if its relative score is at least this"
    )
    ax.set_ylabel("mean utility")
    ax.grid(axis="y")
    ax.legend(ncols=2, loc="lower left", bbox_to_anchor=(-0.02, 1.0))
    return ax
