"""Where in the model the preference can be read: one cross-validated probe per site."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from probes.analysis import Analysis, ShiftStore, analysis_rows
from probes.auroc import auroc, bootstrap_auroc, interval
from probes.curve import TABLE, LayerCurve
from probes.estimator import PreferenceEstimator, fit_logistic
from probes.preferences import AnalysisSet, Preferences
from probes.pretrained import library_versions


def sweep_layers(
    store: ShiftStore,
    preferences: Preferences,
    *,
    analysis_set: AnalysisSet = "stable",
    folds: int = 5,
    groups: str = "episode_id",
    join: Sequence[str] = (),
    clusters: str = "episode_id",
    estimator: PreferenceEstimator | None = None,
    n_bootstrap: int = 1000,
    n_shuffles: int = 10,
    seed: int = 0,
    sites: Sequence[str] | None = None,
    n_jobs: int = 1,
    out: str | Path | None = None,
    progress: bool = True,
) -> LayerCurve:
    """AUROC of the preference at every site.

    All sites share the rows and the folds. Scaler, components and classifier are fitted inside each
    training fold. Out-of-fold scores are compared within their fold only, since each fold has a
    classifier of its own: the AUROC is the share of concordant (positive, negative) pairs among
    all pairs of one fold, that is, the mean over folds weighted by their number of pairs. (Scores
    pooled over folds would give less than 0.5 where a site says nothing.)

    Parameters
    ----------
    store
        Activation store; see `ShiftStore`.
    preferences
        Its labelled steps; columns named below are joined with `Preferences.with_columns`.
    analysis_set
        "stable" or "non_tied", see `Preferences.labels`.
    folds
        Number of folds, stratified by label.
    groups
        Column of the preferences whose values stay on one side of a fold ("episode_id"; a task or
        app column asks whether the direction carries over to others).
    join
        Further columns: groups whose rows share a value in one of them become one
        ("memory_step_id").
    clusters
        Column that the bootstrap resamples.
    estimator
        Classifier to clone; `PreferenceEstimator()` by default. With C="grouped-cv", C is chosen
        inside each training fold; the shuffled control keeps the C of the real labels.
    n_bootstrap
        Resamples behind the 95 % intervals.
    n_shuffles
        Shuffles of the labels, within folds, behind the control curve.
    seed
        Of folds, shuffles and bootstrap.
    sites
        Sites to visit, all by default.
    n_jobs
        Sites at a time, each in a thread that holds one layer; BLAS has one thread throughout. The
        result does not depend on it.
    out
        Folder to which every finished site is written. A later call with equal settings goes on
        from there.
    progress
        Show a progress bar.

    Raises
    ------
    ValueError
        When store and preferences do not belong together, a class does not suffice for the folds,
        or `out` holds a curve with other settings.
    """
    estimator = PreferenceEstimator() if estimator is None else estimator
    sites = list(store.sites if sites is None else sites)
    unknown = [s for s in sites if s not in store.sites]
    if unknown:
        raise ValueError(f"site {unknown[0]!r} is not in the store ({', '.join(store.sites)})")
    analysis = analysis_rows(
        store,
        preferences,
        analysis_set=analysis_set,
        folds=folds,
        groups=groups,
        join=join,
        clusters=clusters,
        seed=seed,
    )
    settings = {
        "sign": f"{store.positive} - {store.negative}",
        "positive": store.positive,
        "negative": store.negative,
        "analysis_set": analysis_set,
        "samples_per_condition": preferences.k,
        "agreement": preferences.agreement,
        "funnel": preferences.funnel,
        "folds": folds,
        "groups": [groups, *join],
        "clusters": clusters,
        "estimator": estimator.get_params(),
        "n_bootstrap": n_bootstrap,
        "n_shuffles": n_shuffles,
        "seed": seed,
        "sites": sites,
        "n_groups": int(analysis.groups.max()) + 1,
        "largest_group_share": float(np.bincount(analysis.groups).max() / len(analysis.groups)),
        "memory_overlap": analysis.memory_overlap,
        "rows_sha256": _digest(analysis),
        "fingerprint": dict(store.fingerprint),
        "versions": library_versions(),
    }
    settings = json.loads(json.dumps(settings))
    curve = _started(out, settings)

    def visit(site: str) -> tuple[dict[str, Any], pd.DataFrame]:
        shifts = np.asarray(store.shift(site, analysis.rows))
        return _site_result(site, shifts, analysis, estimator, n_bootstrap, n_shuffles, seed)

    finished = curve.table["site"].tolist()
    pending = [s for s in sites if s not in finished]
    with threadpool_limits(limits=1):
        nuisance = _nuisance(store, analysis, estimator, n_bootstrap, seed) if pending else {}
        results: Any = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(visit)(site) for site in pending
        )
        for row, scores in tqdm(
            results, total=len(pending), desc="sites", unit="site", disable=not progress
        ):
            row = pd.DataFrame([{**row, **nuisance}], columns=_COLUMNS)
            curve = LayerCurve(
                _appended(curve.table, row), _appended(curve.scores, scores), settings
            )
            if out is not None:
                curve.save(out)
    return curve


_COLUMNS = [
    "site", "auroc", "low", "high", "shuffled", "shuffled_low", "shuffled_high",
    "nuisance", "nuisance_low", "nuisance_high", "n_positive", "n_negative", "n_steps", "n_clusters",
]  # fmt: skip


def out_of_fold(
    features: NDArray[Any],
    analysis: Analysis,
    estimator: PreferenceEstimator,
    other_labels: NDArray[Any] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log odds of every row by the classifier of the folds that do not hold it.

    Parameters
    ----------
    features
        (n_rows, d) rows of the analysis.
    other_labels
        (m, n_rows) further labels to fit on the same components, for the shuffled control.

    Returns
    -------
    (n_rows,) scores for the labels of the analysis, and (m, n_rows) for the others.
    """
    if other_labels is None:
        other_labels = np.empty((0, len(features)), dtype=int)
    scores, others = np.empty(len(features)), np.empty(other_labels.shape)
    for fold in np.unique(analysis.folds):
        train, test = analysis.folds != fold, analysis.folds == fold
        fitted = PreferenceEstimator(**estimator.get_params()).fit(
            features[train], analysis.labels[train], analysis.groups[train]
        )
        scores[test] = fitted.decision_function(features[test])
        seen, held_out = fitted.project(features[train]), fitted.project(features[test])
        for i, labels in enumerate(other_labels):
            coef, intercept = fit_logistic(seen, labels[train], fitted.C_)
            others[i, test] = held_out @ coef + intercept
    return scores, others


def shuffled_labels(analysis: Analysis, n_shuffles: int, seed: int) -> NDArray[np.intp]:
    """Labels (n_shuffles, n_rows) shuffled within folds, so that folds keep their class counts."""
    rng = np.random.default_rng(seed)
    shuffled = np.tile(analysis.labels, (n_shuffles, 1))
    for fold in np.unique(analysis.folds):
        held = np.flatnonzero(analysis.folds == fold)
        shuffled[:, held] = rng.permuted(shuffled[:, held], axis=1)
    return shuffled


def summary(
    scores: NDArray[np.float64], analysis: Analysis, n_bootstrap: int, seed: int
) -> tuple[float, float, float]:
    """Out-of-fold AUROC with the ends of its 95 % interval."""
    point = auroc(scores, analysis.labels, analysis.folds)
    resampled = bootstrap_auroc(
        scores,
        analysis.labels,
        analysis.clusters,
        analysis.folds,
        n_bootstrap=n_bootstrap,
        seed=seed,
    )
    return point, *interval(resampled)


def _site_result(
    site: str,
    shifts: NDArray[Any],
    analysis: Analysis,
    estimator: PreferenceEstimator,
    n_bootstrap: int,
    n_shuffles: int,
    seed: int,
) -> tuple[dict[str, Any], pd.DataFrame]:
    controls = shuffled_labels(analysis, n_shuffles, seed)
    scores, control_scores = out_of_fold(shifts, analysis, estimator, controls)
    point, low, high = summary(scores, analysis, n_bootstrap, seed)
    shuffled = np.array(
        [auroc(s, y, analysis.folds) for s, y in zip(control_scores, controls, strict=True)]
    )
    shuffled_low, shuffled_high = interval(shuffled)
    n_positive = int(analysis.labels.sum())
    row = {
        "site": site,
        "auroc": point,
        "low": low,
        "high": high,
        "shuffled": shuffled.mean() if n_shuffles else float("nan"),
        "shuffled_low": shuffled_low,
        "shuffled_high": shuffled_high,
        "n_positive": n_positive,
        "n_negative": len(analysis.labels) - n_positive,
        "n_steps": len(analysis.labels),
        "n_clusters": len(pd.unique(analysis.clusters)),
    }
    columns = {
        "step_id": analysis.step_ids,
        "site": site,
        "fold": analysis.folds,
        "score": scores,
        "label": analysis.labels,
        "cluster": analysis.clusters,
    }
    return row, pd.DataFrame(columns)


def _nuisance(
    store: ShiftStore,
    analysis: Analysis,
    estimator: PreferenceEstimator,
    n_bootstrap: int,
    seed: int,
) -> dict[str, float]:
    """AUROC of the same classifier on the token counts of the two prompts."""
    pair = [list(store.conditions).index(c) for c in (store.positive, store.negative)]
    counts = [
        np.asarray(c)[analysis.rows][:, pair] for c in (store.prompt_tokens, store.image_tokens)
    ]
    scores, _ = out_of_fold(np.hstack(counts).astype(float), analysis, estimator)
    point, low, high = summary(scores, analysis, n_bootstrap, seed)
    return {"nuisance": point, "nuisance_low": low, "nuisance_high": high}


def _digest(analysis: Analysis) -> str:
    """Of the rows, their labels, groups, clusters and folds."""
    columns = (
        analysis.step_ids,
        analysis.labels,
        analysis.groups,
        analysis.clusters,
        analysis.folds,
    )
    text = json.dumps([[str(v) for v in column] for column in columns])
    return hashlib.sha256(text.encode()).hexdigest()


def _started(out: str | Path | None, settings: dict[str, Any]) -> LayerCurve:
    """The curve that `out` holds, or an empty one."""
    if out is None or not (Path(out) / TABLE).exists():
        return LayerCurve(pd.DataFrame(columns=_COLUMNS), pd.DataFrame(), settings)
    curve = LayerCurve.load(out)
    differing = [k for k in settings if curve.settings.get(k) != settings[k]]
    if differing:
        key = differing[0]
        raise ValueError(
            f"{out} holds a curve with another {key!r} ({curve.settings.get(key)!r}, now"
            f" {settings[key]!r}; {len(differing)} settings differ); choose another folder or"
            " remove that one"
        )
    return curve


def _appended(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    return rows if table.empty else pd.concat([table, rows], ignore_index=True)
