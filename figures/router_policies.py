"""Mean utility of every policy, and how the reference compares with each.

Convention: a row per policy in the order of the evaluation; bars are 95 % intervals over episodes.
The p value is that of the paired test of the reference against the policy, after Holm's correction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from figures.columns import check_columns
from figures.picture import axes_or_new
from figures.style import GREY, NEGATIVE, POSITIVE, SERIES, Look, style

if TYPE_CHECKING:
    from router import Evaluation


@style()
def plot_policies(evaluation: Evaluation, ax: Axes | None = None) -> Axes:
    """Draw each policy's mean with its interval, its positive rate, and p against the reference.

    Parameters
    ----------
    evaluation
        Its tables `policies` and `comparisons`.
    ax
        Where to draw; a new picture, as tall as the policies need, by default.
    """
    table, settings = evaluation.policies, evaluation.settings
    check_columns(table, ["policy", "mean", "low", "high", "positive_rate"], "policies")
    comparisons = evaluation.comparisons
    p = dict(zip(comparisons["policy"], comparisons["p_holm"]))
    ax = axes_or_new(ax, 7.2, 1.2 + 0.32 * len(table))
    for row, policy in enumerate(table.to_dict("records")):
        look = policy_look(policy["policy"], settings)
        ax.hlines(row, policy["low"], policy["high"], color=look.color, linewidth=1.8)
        ax.plot([policy["mean"]], [row], marker=look.marker, markersize=7, color=look.color)
        words = f"{100 * policy['positive_rate']:.0f} %"
        ax.text(1.03, row, words, transform=ax.get_yaxis_transform(), va="center", fontsize=9)
        if policy["policy"] in p:
            words = p_words(p[policy["policy"]])
            ax.text(1.17, row, words, transform=ax.get_yaxis_transform(), va="center", fontsize=9)
    reference = table.loc[table["policy"] == settings["reference"], "mean"].iloc[0]
    ax.axvline(reference, color=SERIES[0].color, linewidth=0.8, linestyle=":", zorder=0)
    heads = (
        (1.03, settings["positive"].capitalize()),
        (1.17, f"p, {settings['reference']} against it"),
    )
    for x, words in heads:
        ax.text(x, 1.0, words, transform=ax.transAxes, va="bottom", fontsize=8.5, color=GREY)
    ax.set_yticks(np.arange(len(table)), labels=table["policy"].tolist())
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.set_xlabel(
        f"mean utility, 95 % interval; {settings['n_steps']:,} steps of "
        f"{settings['n_episodes']:,} episodes"
    )
    ax.grid(axis="x")
    return ax


def policy_look(name: str, settings: dict) -> Look:
    """Fixed forms look as their side, the reference as itself, the others grey."""
    looks = {
        f"always {settings['negative']}": NEGATIVE,
        f"always {settings['positive']}": POSITIVE,
        settings["reference"]: SERIES[0],
    }
    return looks.get(name, Look(GREY, "s"))


def p_words(p: float) -> str:
    """A p value as it is written beside a row."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
