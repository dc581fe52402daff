"""The estimator that is handed on: fitted on all labelled steps at one site, and its targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from probes.analysis import ShiftStore, analysis_rows
from probes.auroc import auroc
from probes.estimator import PreferenceEstimator, TargetForm
from probes.preferences import AnalysisSet, Preferences
from probes.pretrained import EstimatorConfig, library_versions
from probes.sweep import out_of_fold, summary

# Fields of a store's fingerprint that say which hidden states it holds. Of the others (library
# versions, engine, attention, device, module paths) states depend up to rounding at most.
STATE_FIELDS = (
    "model",
    "revision",
    "weights_sha256",
    "dtype",
    "dialect",
    "processor_sha256",
    "template_sha256",
    "token_rule",
)


def fit_final(
    store: ShiftStore,
    preferences: Preferences,
    *,
    site: str | None = None,
    analysis_set: AnalysisSet = "non_tied",
    estimator: PreferenceEstimator | None = None,
    target_form: TargetForm = "signed",
    folds: int = 5,
    groups: str = "episode_id",
    join: Sequence[str] = (),
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> PreferenceEstimator:
    """Fit on every step of the analysis set at one site.

    Parameters
    ----------
    site
        The last block by default.
    estimator
        Classifier to clone; `PreferenceEstimator()` by default.
    target_form
        Form that `label_targets` gives by default; recorded.
    folds, groups, join, n_bootstrap, seed
        As in `sweep_layers`; they serve the out-of-fold AUROC that is recorded beside the weights,
        and `groups` and `join` also the choice of C.

    Returns
    -------
    The fitted estimator; its `config_` says where it comes from.
    """
    site = final_block(store.sites) if site is None else site
    if site not in store.sites:
        raise ValueError(f"site {site!r} is not in the store ({', '.join(store.sites)})")
    estimator = PreferenceEstimator() if estimator is None else estimator
    analysis = analysis_rows(
        store,
        preferences,
        analysis_set=analysis_set,
        folds=folds,
        groups=groups,
        join=join,
        clusters="episode_id",
        seed=seed,
    )
    shifts = np.asarray(store.shift(site, analysis.rows))
    with threadpool_limits(limits=1):
        held_out, _ = out_of_fold(shifts, analysis, estimator)
        fitted = PreferenceEstimator(**estimator.get_params())
        fitted.fit(shifts, analysis.labels, analysis.groups)
        in_fold = auroc(fitted.decision_function(shifts), analysis.labels)
    point, low, high = summary(held_out, analysis, n_bootstrap, seed)
    n_positive = int(analysis.labels.sum())
    fitted.config_ = EstimatorConfig(
        positive=store.positive,
        negative=store.negative,
        sign=f"{store.positive} - {store.negative}",
        site=site,
        width=store.width,
        model=store.fingerprint.get("model", ""),
        revision=store.fingerprint.get("revision", ""),
        conditions=list(store.conditions),
        target_form=target_form,
        analysis_set=analysis_set,
        samples_per_condition=preferences.k,
        agreement=preferences.agreement,
        groups=[groups, *join],
        n_components=fitted.n_components,
        C=fitted.C,
        fitted_C=fitted.C_,
        random_state=fitted.random_state,
        counts={
            **preferences.funnel,
            f"fitted_{store.negative}": len(analysis.labels) - n_positive,
            f"fitted_{store.positive}": n_positive,
        },
        metrics={
            "in_fold_auroc": in_fold,
            "out_of_fold_auroc": point,
            "out_of_fold_low": low,
            "out_of_fold_high": high,
        },
        fingerprint=dict(store.fingerprint),
        versions=library_versions(),
    )
    return fitted


def label_targets(
    store: ShiftStore, estimator: PreferenceEstimator, *, form: TargetForm | None = None
) -> pd.DataFrame:
    """Preference target of every step of a store.

    Parameters
    ----------
    store
        Any store of the same actor, conditions and site.
    form
        "signed", "probability" or "logit"; by default what the estimator was exported with.

    Returns
    -------
    Columns step_id, episode_id, target, form.

    Raises
    ------
    ValueError
        When the store has another sign or width, differs in a field of `STATE_FIELDS`, or lacks the
        site; all are named.
    """
    config = estimator.config
    problems = [
        f"{name} is {found!r} in the store, {expected!r} in the estimator"
        for name, found, expected in (
            ("sign", f"{store.positive} - {store.negative}", config.sign),
            ("width", store.width, config.width),
            *(
                (name, store.fingerprint.get(name), config.fingerprint.get(name))
                for name in STATE_FIELDS
            ),
        )
        if found != expected
    ]
    if config.site not in store.sites:
        problems.append(f"site {config.site!r} is not in the store ({', '.join(store.sites)})")
    if problems:
        raise ValueError("this estimator does not fit this store: " + "; ".join(problems))
    form = config.target_form if form is None else form
    return pd.DataFrame(
        {
            "step_id": list(store.step_ids),
            "episode_id": list(store.episode_ids),
            "target": estimator.target(store.shift(config.site), form),
            "form": form,
        }
    )


def final_block(sites: Sequence[str]) -> str:
    """Name of the last block: the highest k of block.k."""
    blocks = [s for s in sites if s.startswith("block.")]
    if not blocks:
        raise ValueError(f"no site block.* among {', '.join(sites)}; name the site")
    return max(blocks, key=lambda site: int(site.removeprefix("block.")))
