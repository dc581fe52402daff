"""How a policy routes: share of positive steps, trajectories that use both, switches, run lengths.

Convention: a run is an unbroken row of steps of one episode with one condition, in the order of
`index`; a switch is the border between two runs.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

_KEYS = ["policy", "episode_id"]


def run_lengths(choices: pd.DataFrame) -> pd.DataFrame:
    """The runs of every policy and episode.

    Parameters
    ----------
    choices
        Columns policy, episode_id, index, condition.

    Returns
    -------
    Columns policy, episode_id, run (0, 1, …), condition, start (index of its first step), length.
    """
    ordered = choices.sort_values([*_KEYS, "index"], kind="stable")
    previous = ordered.groupby(_KEYS, sort=False)["condition"].shift()
    begins = (ordered["condition"] != previous).astype(int)
    run = begins.groupby([ordered[key] for key in _KEYS], sort=False).cumsum() - 1
    return (
        ordered.assign(run=run)
        .groupby([*_KEYS, "run"], sort=False)
        .agg(condition=("condition", "first"), start=("index", "first"), length=("index", "size"))
        .reset_index()
    )


def routing_table(choices: pd.DataFrame, positive: str) -> pd.DataFrame:
    """What each policy does, a row per policy in the order of the choices.

    Returns
    -------
    Columns policy; positive_rate (share of steps in the positive form); episodes_with_both (share of
    the episodes of two steps or more that use more than one form); switches (per episode);
    switch_rate (share of the pairs of neighbouring steps that differ); mean_run, longest_run (steps).
    """
    runs = run_lengths(choices)
    rows = []
    for policy, steps in choices.groupby("policy", sort=False):
        of_policy = runs.loc[runs["policy"] == policy]
        by_episode = of_policy.groupby("episode_id").agg(
            runs=("run", "size"), forms=("condition", "nunique"), steps=("length", "sum")
        )
        longer = by_episode.loc[by_episode["steps"] > 1]
        switches = int((by_episode["runs"] - 1).sum())
        pairs = int((by_episode["steps"] - 1).sum())
        rows.append(
            {
                "policy": policy,
                "positive_rate": float(np.mean(steps["condition"].to_numpy() == positive)),
                "episodes_with_both": _share(int((longer["forms"] > 1).sum()), len(longer)),
                "switches": switches / len(by_episode),
                "switch_rate": _share(switches, pairs),
                "mean_run": float(np.mean(of_policy["length"].to_numpy())),
                "longest_run": int(of_policy["length"].max()),
            }
        )
    return pd.DataFrame(rows)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
