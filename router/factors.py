"""Factors of steps by which usefulness is broken down, and the breakdown.

Rules
* *Element density*: terciles of the number of elements on the evaluated screens; a step belongs to
  "sparse" up to the first tercile, "medium" up to the second, "dense" above. Equal numbers are never
  parted, so levels can differ in size.
* *Function vs Spatial*: an action whose effect is decided by where on the screen it lands (click,
  long_press) is "spatial"; every other kind (typing, keys, scrolling in a direction, opening an app,
  waiting, answering, ending) calls a function of the device and is "function".
* *Phase*: the first step of an episode is "initial", every other "later".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from router.statistics import bootstrap_mean

SPATIAL_KINDS = frozenset({"click", "long_press"})
DENSITIES = ("sparse", "medium", "dense")

Levels = NDArray[np.str_]


def density_terciles(n_elements: ArrayLike) -> Levels:
    """Level (n_steps,) of each number of elements."""
    counts = np.asarray(n_elements, dtype=np.float64)
    borders = np.quantile(counts, [1 / 3, 2 / 3])
    return np.array(DENSITIES)[np.searchsorted(borders, counts, side="left")]


def action_groups(kinds: ArrayLike, spatial: Collection[str] = SPATIAL_KINDS) -> Levels:
    """ "spatial" or "function" (n_steps,) for each kind of action."""
    return np.where(np.isin(np.asarray(kinds, dtype=str), list(spatial)), "spatial", "function")


def phases(index: ArrayLike) -> Levels:
    """ "initial" or "later" (n_steps,) for each place in an episode."""
    return np.where(np.asarray(index) == 0, "initial", "later")


def usefulness(
    utilities: pd.DataFrame,
    factors: Mapping[str, ArrayLike],
    *,
    baseline: str | None = None,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Mean utility of every series (condition or policy) within each level of each factor.

    Parameters
    ----------
    utilities
        `episode_id`, and a column of utilities (n_steps,) for every series.
    factors
        Name → level of each step (n_steps,).
    baseline
        Series that is subtracted, such as "none": what a form adds to having no memory.

    Returns
    -------
    Columns factor, level, series, n_steps, n_episodes, mean, low, high (95 %, over episodes).
    Levels are in order of their names but for "sparse", "medium", "dense".
    """
    series = [c for c in utilities.columns if c not in ("episode_id", baseline)]
    rows = []
    for factor, levels in factors.items():
        levels = np.asarray(levels, dtype=str)
        for level in sorted(set(levels), key=_place):
            part = utilities.loc[levels == level]
            subtracted = 0.0 if baseline is None else part[baseline]
            for name in series:
                estimate = bootstrap_mean(
                    part[name] - subtracted, part["episode_id"], n_bootstrap=n_bootstrap, seed=seed
                )
                rows.append(
                    {
                        "factor": factor,
                        "level": level,
                        "series": name,
                        "n_steps": len(part),
                        "n_episodes": part["episode_id"].nunique(),
                        **estimate._asdict(),
                    }
                )
    return pd.DataFrame(rows)


def _place(level: str) -> tuple[int, str]:
    return (DENSITIES.index(level) if level in DENSITIES else 0, level)


def routing_by_factor(
    choices: pd.DataFrame, factors: Mapping[str, ArrayLike], positive: str
) -> pd.DataFrame:
    """Share of steps in the positive form within each level.

    Parameters
    ----------
    choices
        Columns policy, condition; the steps of every policy in the order of the factors.

    Returns
    -------
    Columns factor, level, policy, n_steps, positive_rate.
    """
    rows = []
    for policy, steps in choices.groupby("policy", sort=False):
        chosen = (steps["condition"] == positive).to_numpy()
        for factor, levels in factors.items():
            levels = np.asarray(levels, dtype=str)
            for level in sorted(set(levels), key=_place):
                here = levels == level
                rate = float(chosen[here].mean())
                rows.append((factor, level, policy, int(here.sum()), rate))
    columns = ["factor", "level", "policy", "n_steps", "positive_rate"]
    return pd.DataFrame(rows, columns=columns)
