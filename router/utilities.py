"""Utilities of steps by condition, from the scored samples."""

from __future__ import annotations

import math

import pandas as pd


def condition_utilities(samples: pd.DataFrame) -> pd.DataFrame:
    """Mean score of every step under every condition.

    Parameters
    ----------
    samples
        Columns step_id, condition, k, score; as many samples for each step and condition.

    Returns
    -------
    Columns step_id and utility_<condition>, a row per step in the order of the samples.

    Raises
    ------
    ValueError
        When a step has more or fewer samples of a condition than others, naming it.
    """
    grouped = samples.groupby(["step_id", "condition"], sort=False)["score"]
    counts = grouped.size().unstack(fill_value=0)
    expected = int(counts.to_numpy().max())
    wrong = counts.loc[(counts != expected).any(axis=1)]
    if len(wrong):
        found = ", ".join(f"{name} {n}" for name, n in wrong.iloc[0].items())
        raise ValueError(
            f"step {wrong.index[0]!r} has {found} samples, expected {expected} of each condition"
        )
    # fsum rounds once: equal scores in another order give equal utilities, hence exact ties.
    means = grouped.agg(lambda scores: math.fsum(scores) / expected).unstack()
    steps = samples["step_id"].drop_duplicates()
    return means.loc[steps].add_prefix("utility_").rename_axis(columns=None).reset_index()
