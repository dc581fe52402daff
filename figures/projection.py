"""Projected shifts, marked by what each step prefers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from figures.picture import axes_or_new
from figures.style import NEGATIVE, POSITIVE, TIE, style


@style()
def plot_projection(
    points: np.ndarray,
    labels: Sequence[str | None] | pd.Series,
    *,
    negative: str = "text",
    positive: str = "image",
    method: str = "umap",
    ax: Axes | None = None,
) -> Axes:
    """Draw projected shifts coloured and shaped by preference.

    Parameters
    ----------
    points
        Shape (n_steps, 2), as `project_shifts` returns them.
    labels
        Of each step the preferred condition, or None for a tie.
    negative, positive
        Names of the conditions.
    method
        How the points were made, for the names of the axes.
    ax
        Where to draw; a new picture by default.

    Raises
    ------
    ValueError
        When points and labels do not fit together or a label is neither condition.
    """
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise ValueError(f"points have shape {points.shape}; expected (n_steps, 2), n_steps ≥ 1")
    if len(labels) != len(points):
        raise ValueError(f"{len(points)} points but {len(labels)} labels")
    found = pd.Series(labels, dtype=object).reset_index(drop=True)
    unknown = set(found.dropna()) - {negative, positive}
    if unknown:
        raise ValueError(
            f"label {sorted(map(str, unknown))[0]!r} is neither {negative!r} nor {positive!r}"
        )
    counts = {name: int((found == name).sum()) for name in (negative, positive)}
    counts["tie"] = int(found.isna().sum())
    shown = {name: f"{name.capitalize()} ({n:,})" for name, n in counts.items() if n}
    looks = {negative: NEGATIVE, positive: POSITIVE, "tie": TIE}
    table = pd.DataFrame(points, columns=["x", "y"])
    table["preferred"] = found.fillna("tie").map(shown)

    ax = axes_or_new(ax, 5.6, 4.8)
    sns.scatterplot(
        table.sample(frac=1, random_state=0),  # so that neither side lies on top of the other
        x="x",
        y="y",
        hue="preferred",
        style="preferred",
        hue_order=list(shown.values()),
        style_order=list(shown.values()),
        palette={words: looks[name].color for name, words in shown.items()},
        markers={words: looks[name].marker for name, words in shown.items()},
        s=34,
        alpha=0.8,
        ax=ax,
    )
    ax.set(xlabel=f"{method.upper()} 1", ylabel=f"{method.upper()} 2", xticks=[], yticks=[])
    ax.legend(ncols=3, loc="lower left", bbox_to_anchor=(-0.02, 1.0))
    return ax
