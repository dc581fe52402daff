"""Stages `export` and `label`: the estimator that is handed on, and the targets that it gives."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from activations import ActivationStore
from probes import PreferenceEstimator, Preferences, fit_final, label_targets
from workbench.atomic import write_file, write_folder
from workbench.run import Run, RunError


def export(run: Run) -> None:
    """Fit and save `estimator/`."""
    config, sweep, seed = run.config.export, run.config.sweep, run.config.run.seed
    estimator = fit_final(
        ActivationStore.open(run.needs("activations.zarr", "collect")),
        Preferences.load(run.needs("preferences.parquet", "sweep")),
        site=config.site,
        analysis_set=config.analysis_set,
        estimator=PreferenceEstimator(config.n_components, config.C, seed),
        target_form=config.form,
        folds=sweep.folds,
        groups=sweep.groups,
        join=sweep.join,
        n_bootstrap=sweep.n_bootstrap,
        seed=seed,
    )
    write_folder(run.path("estimator"), estimator.save_pretrained)


def label(run: Run) -> None:
    """Label the run's own steps: `targets.parquet`."""
    label_store(
        run.needs("activations.zarr", "collect"),
        run.needs("estimator", "export"),
        run.path("targets.parquet"),
    )


def label_store(store: Path, estimator: Path, out: Path, form: str | None = None) -> pd.DataFrame:
    """Write the targets of every step of a store to a file that does not exist yet.

    Returns
    -------
    Columns step_id, episode_id, target, form.
    """
    if out.exists():
        raise RunError(f"{out}: exists already; give another --out (nothing is overwritten)")
    targets = label_targets(
        ActivationStore.open(store),
        PreferenceEstimator.from_pretrained(estimator),
        form=form,  # type: ignore[arg-type]
    )
    write_file(out, lambda path: targets.to_parquet(path, index=False))
    return targets
