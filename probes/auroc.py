"""Area under the ROC curve by ranks, within strata, with a bootstrap over clusters.

The AUROC is the share of (positive, negative) pairs of rows in which the positive row has the
higher score, a tie counting one half. With *strata*, only pairs inside one stratum are compared.
Out-of-fold scores use the folds as strata: each fold has a classifier of its own, whose bias and
scale differ from the others', so scores of two folds must not be compared (pooled over folds, a
feature that says nothing gives less than 0.5, because the bias falls as the held-out share rises).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

INTERVAL = (2.5, 97.5)  # percentiles of the 95 % interval
POOLED = "(all, within)"
_BLOCK_CELLS = 2_000_000  # cells of a (resamples, rows) block that are held at once


def auroc(scores: ArrayLike, labels: ArrayLike, strata: ArrayLike | None = None) -> float:
    """AUROC of scores (n,) for labels (n,) of 0 and 1; NaN when no pair can be compared."""
    scores, labels, codes = _checked(scores, labels, strata)
    concordant, pairs = _concordance(scores, labels, codes, np.ones((1, len(scores))))
    return float(concordant[0] / pairs[0]) if pairs[0] else float("nan")


def bootstrap_auroc(
    scores: ArrayLike,
    labels: ArrayLike,
    clusters: ArrayLike,
    strata: ArrayLike | None = None,
    *,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> NDArray[np.float64]:
    """AUROC of `n_bootstrap` resamples of the clusters, drawn with replacement.

    The scores stay as they are: the interval says how far the AUROC depends on which clusters
    (episodes) were scored, not on refitting, and so is somewhat narrow. Where features said
    nothing, it held 0.5 in 81 to 90 of 100 simulated data sets rather than in 95; beside chance
    look at the range of the shuffled control, which is refitted, as well.

    Returns
    -------
    (n_bootstrap,) array; NaN where a resample holds one class only.
    """
    scores, labels, codes = _checked(scores, labels, strata)
    members, names = pd.factorize(np.asarray(clusters))
    results = []
    for counts in _cluster_counts(len(names), n_bootstrap, seed, len(scores)):
        concordant, pairs = _concordance(scores, labels, codes, counts[:, members])
        results.append(
            np.divide(concordant, pairs, where=pairs > 0, out=np.full(len(pairs), np.nan))
        )
    return np.concatenate(results)


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """95 % percentile interval of resampled values, NaN left out; NaN twice if nothing is left."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return float("nan"), float("nan")
    low, high = np.percentile(finite, INTERVAL)
    return float(low), float(high)


def auroc_within(
    scores: pd.DataFrame, column: pd.Series, *, n_bootstrap: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """AUROC of every site within each value of a column (task, kind of step, ...).

    Tells a preference that is read within a kind from one that only tells kinds apart.

    Parameters
    ----------
    scores
        Out-of-fold scores as in `LayerCurve.scores`.
    column
        The value of each step, indexed by step_id.

    Returns
    -------
    A row per (site, value) with auroc, low, high (95 % interval over the clusters of the sweep),
    n_positive, n_negative. The value "(all, within)" compares, over all steps, only pairs of equal
    value. AUROC is NaN where one of the labels does not occur.
    """
    lacking = set(scores["step_id"]) - set(column.index)
    if lacking:
        raise ValueError(
            f"the column lacks {len(lacking)} steps of the scores, first {min(lacking)!r}"
        )
    name = str(column.name or "value")
    rows = []
    for site, of_site in scores.groupby("site", sort=False):
        kinds = column.loc[of_site["step_id"]].astype(str).to_numpy()
        for value in [*sorted(set(kinds)), POOLED]:
            chosen = (kinds == value) | (value == POOLED)
            part = of_site.loc[chosen]
            strata = part["fold"].astype(str).to_numpy() + "/" + kinds[chosen]
            rows.append({"site": site, name: value, **_summary(part, strata, n_bootstrap, seed)})
    return pd.DataFrame(rows)


def _summary(part: pd.DataFrame, strata: NDArray, n_bootstrap: int, seed: int) -> dict[str, float]:
    scores, labels, clusters = (part[c].to_numpy() for c in ("score", "label", "cluster"))
    resampled = bootstrap_auroc(
        scores, labels, clusters, strata, n_bootstrap=n_bootstrap, seed=seed
    )
    low, high = interval(resampled)
    positive = int(labels.sum())
    return {
        "auroc": auroc(scores, labels, strata),
        "low": low,
        "high": high,
        "n_positive": positive,
        "n_negative": len(part) - positive,
    }


def _checked(
    scores: ArrayLike, labels: ArrayLike, strata: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.intp]]:
    scores, labels = np.asarray(scores, dtype=float), np.asarray(labels)
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite to be ranked")
    if not np.isin(labels, (0, 1)).all():
        raise ValueError("labels must be 0 or 1")
    codes = np.zeros(len(scores), dtype=np.intp) if strata is None else pd.factorize(strata)[0]
    return scores, labels.astype(bool), codes


def _cluster_counts(
    n_clusters: int, n_bootstrap: int, seed: int, n_rows: int
) -> Iterator[NDArray[np.float64]]:
    """How often each cluster is drawn, in blocks (resamples, n_clusters)."""
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK_CELLS // max(1, n_rows))
    chances = np.full(n_clusters, 1 / n_clusters)
    for start in range(0, n_bootstrap, block):
        size = min(block, n_bootstrap - start)
        yield rng.multinomial(n_clusters, chances, size=size).astype(float)


def _concordance(
    scores: NDArray[np.float64],
    labels: NDArray[np.bool_],
    strata: NDArray[np.intp],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted counts (resamples,) of concordant pairs and of all pairs, over the strata."""
    concordant, pairs = np.zeros(len(weights)), np.zeros(len(weights))
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        rows = rows[np.argsort(scores[rows], kind="stable")]
        starts = np.flatnonzero(np.diff(scores[rows], prepend=-np.inf))
        weight = weights[:, rows]
        positive = np.add.reduceat(weight * labels[rows], starts, axis=1)
        negative = np.add.reduceat(weight * ~labels[rows], starts, axis=1)
        below = np.cumsum(negative, axis=1) - negative
        concordant += (positive * (below + negative / 2)).sum(axis=1)
        pairs += positive.sum(axis=1) * negative.sum(axis=1)
    return concordant, pairs
