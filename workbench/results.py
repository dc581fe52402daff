"""Everything that a finished run holds, read back from its folder."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from activations import ActivationStore
from probes import LayerCurve, PreferenceEstimator, Preferences
from workbench.run import Run
from workbench.sweep import ACROSS_TASKS, WITHIN


@dataclass(frozen=True)
class Results:
    """The artefacts of a run, loaded.

    Parameters
    ----------
    run
        The run; its configuration and paths.
    samples
        `samples.parquet`.
    preferences
        Labels, with task, kind of query and memory step.
    store
        The activation store, open for reading.
    curve
        AUROC by layer over folds that keep `sweep.groups` whole.
    across_tasks
        The same over folds that keep tasks whole; None where there were too few tasks.
    within
        By column ("task", "query"): AUROC inside each of its values, as `probes.auroc_within`.
    estimator
        The exported estimator.
    targets
        `targets.parquet`.
    """

    run: Run
    samples: pd.DataFrame
    preferences: Preferences
    store: ActivationStore
    curve: LayerCurve
    across_tasks: LayerCurve | None
    within: dict[str, pd.DataFrame]
    estimator: PreferenceEstimator
    targets: pd.DataFrame


def read_results(run: Run) -> Results:
    """Load what the stages up to `label` made; `RunError` names a stage that has not run."""
    return Results(
        run=run,
        samples=pd.read_parquet(run.needs("samples.parquet", "collect")),
        preferences=Preferences.load(run.needs("preferences.parquet", "sweep")),
        store=ActivationStore.open(run.needs("activations.zarr", "collect")),
        curve=LayerCurve.load(run.needs("sweep", "sweep")),
        across_tasks=LayerCurve.load(run.path(ACROSS_TASKS)) if run.has(ACROSS_TASKS) else None,
        within={
            column: pd.read_parquet(run.needs(f"sweep/within_{column}.parquet", "sweep"))
            for column in WITHIN
        },
        estimator=PreferenceEstimator.from_pretrained(run.needs("estimator", "export")),
        targets=pd.read_parquet(run.needs("targets.parquet", "label")),
    )
