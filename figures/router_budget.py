"""Random routing at every positive rate, and what the policies reach at theirs.

Convention: a policy above the line tells steps apart; one on it gains no more than its rate does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from figures.columns import check_columns
from figures.picture import axes_or_new
from figures.style import GREEN, GREY, PURPLE, SERIES, SKY, Look, style

if TYPE_CHECKING:
    from router import Evaluation

LOOKS = (Look(PURPLE, "D"), Look(SKY, "v"), Look(GREEN, "s"), Look(GREY, "P"), Look(GREY, "X"))


@style()
def plot_matched_random(evaluation: Evaluation, ax: Axes | None = None) -> Axes:
    """Draw the curve of matched random routing with its interval, and each policy that routes.

    Policies that use one form at every step are left out: the ends of the curve are two of them,
    and the others (none, both) have no place on it.

    Parameters
    ----------
    evaluation
        Its tables `matched_random` and `policies`.
    ax
        Where to draw; a new picture by default.

    Raises
    ------
    ValueError
        When more policies route than can be told apart.
    """
    random, settings = evaluation.matched_random, evaluation.settings
    check_columns(random, ["rate", "mean", "low", "high"], "matched random")
    named = evaluation.policies["policy"]
    fixed = named.str.startswith("always ") | (named == "random")
    policies = evaluation.policies.loc[~fixed]
    others = policies.loc[policies["policy"] != settings["reference"], "policy"].tolist()
    if len(others) > len(LOOKS):
        raise ValueError(f"{len(others)} policies beside the reference; {len(LOOKS)} can be drawn")
    ax = axes_or_new(ax, 7.2, 4.0)
    ax.fill_between(
        100 * random["rate"], random["low"], random["high"], color=GREY, alpha=0.18, linewidth=0
    )
    ax.plot(100 * random["rate"], random["mean"], color=GREY, label="random at this rate")
    for policy in policies.itertuples():
        is_reference = policy.policy == settings["reference"]
        look = SERIES[0] if is_reference else LOOKS[others.index(str(policy.policy))]
        x = 100 * float(policy.positive_rate)
        ax.vlines(x, policy.low, policy.high, color=look.color, linewidth=1.2)
        ax.plot(
            [x],
            [policy.mean],
            linestyle="none",
            marker=look.marker,
            markersize=9 if is_reference else 7,
            color=look.color,
            label=str(policy.policy),
        )
    ax.set_xlim(-2, 102)
    ax.set_xlabel(f"share of steps shown the {settings['positive'].capitalize()} memory, %")
    ax.set_ylabel("mean utility, 95 % interval")
    ax.grid(axis="y")
    ax.legend(ncols=4, loc="lower left", bbox_to_anchor=(-0.02, 1.0))
    return ax
