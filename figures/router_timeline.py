"""What a policy chose along episodes: step by step, with how far it leant.

Convention: a row per episode, a mark per step in the look of the form that was chosen; the larger the
mark, the larger the absolute relative score (all alike for policies without scores).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from figures.columns import check_columns
from figures.picture import axes_or_new
from figures.style import GREEN, GREY, NEGATIVE, PALE, POSITIVE, Look, style

if TYPE_CHECKING:
    from router import Evaluation

SMALLEST, LARGEST = 20.0, 150.0  # areas of the marks, in points²
OTHERS = (Look(GREY, "x"), Look(GREEN, "s"))


@style()
def plot_routing_timeline(
    evaluation: Evaluation,
    policy: str | None = None,
    episodes: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the choices of one policy.

    Parameters
    ----------
    evaluation
        Its table `choices`.
    policy
        The reference by default.
    episodes
        Which, from top to bottom; by default the twelve longest, in the table's order among equals.
    ax
        Where to draw; a new picture, as tall as the episodes need, by default.

    Raises
    ------
    ValueError
        When the policy or an episode is not in the table.
    """
    settings = evaluation.settings
    policy = settings["reference"] if policy is None else policy
    check_columns(
        evaluation.choices, ["policy", "episode_id", "index", "condition", "score"], "choices"
    )
    steps = evaluation.choices.loc[evaluation.choices["policy"] == policy]
    if steps.empty:
        raise ValueError(f"choices: no policy {policy!r}")
    episodes = _longest(steps) if episodes is None else list(episodes)
    if lacking := sorted(set(episodes) - set(steps["episode_id"])):
        raise ValueError(f"choices: no episode {lacking[0]!r} of the policy {policy!r}")
    steps = steps.loc[steps["episode_id"].isin(episodes)]
    steps = steps.assign(row=steps["episode_id"].map(episodes.index), area=_areas(steps["score"]))

    ax = axes_or_new(ax, 7.2, 1.1 + 0.3 * len(episodes))
    spans = steps.groupby("row")["index"].agg(["min", "max"])
    ax.hlines(spans.index, spans["min"], spans["max"], color=PALE, linewidth=1.0, zorder=1)
    for condition, look in _looks(steps["condition"], settings).items():
        chosen = steps.loc[steps["condition"] == condition]
        ax.scatter(
            chosen["index"],
            chosen["row"],
            s=chosen["area"].to_numpy(),
            marker=look.marker,
            color=look.color,
            zorder=2,
            label=condition.capitalize(),
        )
    ax.set_yticks(range(len(episodes)), labels=episodes)
    ax.set_ylim(len(episodes) - 0.4, -0.6)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("step of the episode")
    legend = ax.legend(
        title=f"{policy}: larger marks lean further" if steps["score"].notna().any() else policy,
        alignment="left",
        ncols=4,
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
    )
    for handle in legend.legend_handles:
        handle.set_sizes([60.0])  # type: ignore[union-attr]
    return ax


def _longest(steps: pd.DataFrame, n: int = 12) -> list[str]:
    lengths = Counter(steps["episode_id"].tolist())
    return [episode for episode, _ in lengths.most_common(n)]


def _areas(scores: pd.Series) -> np.ndarray:
    size = scores.abs().to_numpy(dtype=float)
    largest = np.nanmax(size, initial=0.0)
    share = np.nan_to_num(size / largest if largest else np.zeros(len(size)), nan=0.5)
    return SMALLEST + (LARGEST - SMALLEST) * share


def _looks(conditions: pd.Series, settings: dict) -> dict[str, Look]:
    sides = {settings["negative"]: NEGATIVE, settings["positive"]: POSITIVE}
    others = sorted(set(conditions) - set(sides))
    looks = sides | dict(zip(others, OTHERS))
    return {name: look for name, look in looks.items() if (conditions == name).any()}
