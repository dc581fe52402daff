"""Intervals and tests over episodes: steps of one episode are alike, so episodes are what is drawn.

The mean is over steps. The bootstrap draws episodes with replacement; the permutation test flips the
sign of whole episodes of paired differences; Holm's correction covers several tests.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from probes.auroc import interval

Array = NDArray[np.float64]
_CELLS = 4_000_000  # cells of a (resamples, episodes) block that are held at once


class Estimate(NamedTuple):
    """A mean over steps and its 95 % percentile interval."""

    mean: float
    low: float
    high: float


def bootstrap_mean(
    values: ArrayLike, episodes: ArrayLike, *, n_bootstrap: int = 1000, seed: int = 0
) -> Estimate:
    """Mean of values (n_steps,) with its interval; that of a single episode is NaN.

    Equal episodes and seed draw the same resamples, so that differences of two means are those of
    the mean of differences, resample for resample.
    """
    values = np.asarray(values, dtype=np.float64)
    sums, counts = _by_episode(values, episodes)
    if len(sums) < 2:
        return Estimate(float(values.mean()), float("nan"), float("nan"))
    rng = np.random.default_rng(seed)
    chances = np.full(len(sums), 1 / len(sums))
    means = []
    for size in _blocks(n_bootstrap, len(sums)):
        drawn = rng.multinomial(len(sums), chances, size=size).astype(np.float64)
        means.append((drawn @ sums) / (drawn @ counts))
    low, high = interval(np.concatenate(means))
    return Estimate(float(values.mean()), low, high)


def sign_flip_test(
    differences: ArrayLike, episodes: ArrayLike, *, n_permutations: int = 10_000, seed: int = 0
) -> float:
    """Two-sided p of a mean paired difference (n_steps,) of 0.

    The share of sign flips of whole episodes whose mean is at least as far from 0 as the one
    observed, the observed one counted among them: (1 + hits) / (1 + n_permutations).
    """
    sums, _ = _by_episode(np.asarray(differences, dtype=np.float64), episodes)
    observed = abs(sums.sum()) * (1 - 1e-12)  # so that rounding breaks no tie
    rng = np.random.default_rng(seed)
    hits = 0
    for size in _blocks(n_permutations, len(sums)):
        signs = rng.integers(0, 2, size=(size, len(sums))) * 2.0 - 1.0
        hits += int((np.abs(signs @ sums) >= observed).sum())
    return (1 + hits) / (1 + n_permutations)


def holm(p_values: ArrayLike) -> Array:
    """Holm's step-down corrected p values (n,): max over the smaller ones of (n - rank) p, at most 1."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def _by_episode(values: Array, episodes: ArrayLike) -> tuple[Array, Array]:
    """Sum of the values and number of the steps of each episode."""
    episodes = np.asarray(episodes)
    if values.ndim != 1 or len(values) != len(episodes) or not len(values):
        raise ValueError(
            f"{values.shape} values of {len(episodes)} steps: expected one of each, and one at least"
        )
    codes, _ = pd.factorize(episodes)
    counts = np.bincount(codes).astype(np.float64)
    return np.bincount(codes, weights=values).astype(np.float64), counts


def _blocks(total: int, n_episodes: int) -> list[int]:
    block = max(1, _CELLS // n_episodes)
    return [min(block, total - start) for start in range(0, total, block)]
