"""Usefulness of each form, and of the router, by factor of the step.

Convention: a group of bars per level, levels of one factor side by side, with 95 % intervals over
episodes. Below each group: its steps, and the share of them that the reference shows the positive
form.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from figures.columns import check_columns
from figures.picture import axes_or_new
from figures.style import GREEN, GREY, INK, NEGATIVE, POSITIVE, SERIES, Look, style

if TYPE_CHECKING:
    from router import Evaluation

GROUP = 0.8  # width of the bars of one level
GAP = 0.6  # between two factors


@style()
def plot_usefulness(evaluation: Evaluation, ax: Axes | None = None) -> Axes:
    """Draw the evaluation's breakdown by factors.

    Parameters
    ----------
    evaluation
        Its tables `usefulness` and `routing`; made with `factors`.
    ax
        Where to draw; a new picture by default.
    """
    table, settings = evaluation.usefulness, evaluation.settings
    columns = ["factor", "level", "series", "n_steps", "mean", "low", "high"]
    check_columns(table, columns, "usefulness")
    groups = table.drop_duplicates(["factor", "level"])
    places = _places(groups["factor"].tolist())
    series = _series(table, settings)
    width = GROUP / len(series)
    ax = axes_or_new(ax, max(7.2, 1.1 * len(groups) + 1), 3.9)
    for i, (name, look) in enumerate(series.items()):
        bars = groups[["factor", "level"]].merge(
            table.loc[table["series"] == name], on=["factor", "level"], how="left"
        )
        x = places + (i - (len(series) - 1) / 2) * width
        ax.bar(
            x,
            bars["mean"],
            width,
            color=look.color,
            hatch=look.hatch,
            edgecolor="white",
            label=name.capitalize() if name != settings["reference"] else name,
        )
        ax.vlines(x, bars["low"], bars["high"], color=INK, linewidth=1.0)
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.set_xticks(places, labels=_level_words(groups, evaluation))
    _write_factors(ax, groups["factor"].tolist(), places)
    baseline = settings["baseline"]
    ax.set_ylabel("mean utility" if baseline is None else f"utility over {baseline.capitalize()}")
    ax.grid(axis="y")
    ax.legend(ncols=4, loc="lower left", bbox_to_anchor=(-0.02, 1.07))
    return ax


def _places(factors: list[str]) -> np.ndarray:
    """A place for each group; a gap where the factor changes."""
    changes = np.cumsum([0, *(a != b for a, b in pairwise(factors))])
    return np.arange(len(factors)) + GAP * changes


def _series(table: pd.DataFrame, settings: dict) -> dict[str, Look]:
    """The two forms, then the reference, then what else was broken down."""
    looks = {
        settings["negative"]: NEGATIVE,
        settings["positive"]: POSITIVE,
        settings["reference"]: SERIES[0],
        "none": Look(GREY, "x"),
        "both": Look(GREEN, "s", hatch="...."),
    }
    present = set(table["series"])
    return {name: look for name, look in looks.items() if name in present}


def _level_words(groups: pd.DataFrame, evaluation: Evaluation) -> list[str]:
    settings, routing = evaluation.settings, evaluation.routing
    rates = routing.loc[routing["policy"] == settings["reference"]]
    rates = rates.set_index(["factor", "level"])["positive_rate"]
    return [
        f"{level}\n{n_steps:,} steps\n{settings['positive'].capitalize()} "
        f"{100 * rates[factor, level]:.0f} %"
        for factor, level, n_steps in zip(groups["factor"], groups["level"], groups["n_steps"])
    ]


def _write_factors(ax: Axes, factors: list[str], places: np.ndarray) -> None:
    for factor in dict.fromkeys(factors):
        middle = places[np.array(factors) == factor].mean()
        ax.text(
            middle, 1.01, factor, transform=ax.get_xaxis_transform(), ha="center", va="bottom",
            fontsize=9, color=GREY,
        )  # fmt: skip
