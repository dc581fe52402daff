"""Stage `sweep`: labels from the samples, and how well each layer tells them.

`preferences.parquet` has the labels. `sweep/` has the curve over folds that keep episodes whole
(`sweep.groups`); `sweep/across_tasks/` the same over folds that keep tasks whole, which asks whether
the direction carries over to tasks that were not seen; `sweep/within_task.parquet` and
`sweep/within_query.parquet` the AUROC inside each task and each kind of query, at the peak and at the
last block, since pooled over kinds the kind alone may explain a high one.
"""

from __future__ import annotations

import pandas as pd

from activations import ActivationStore
from probes import (
    LayerCurve,
    PreferenceEstimator,
    Preferences,
    auroc_within,
    score_preferences,
    sweep_layers,
)
from workbench.atomic import write_file
from workbench.pairs import pairs_table
from workbench.run import Run

ACROSS_TASKS = "sweep/across_tasks"
WITHIN = ("task", "query")
JOINED = ["step_id", "task", "index", "query", "memory_step_id", "memory_episode_id"]


def sweep(run: Run) -> None:
    """Make `preferences.parquet` and `sweep/`; goes on with the sites that are not done.

    Raises
    ------
    ValueError
        When samples are missing, or a class has too few steps for the folds.
    """
    preferences = label_preferences(run)
    store = ActivationStore.open(run.needs("activations.zarr", "collect"))
    curve = sweep_curve(run, store, preferences, "sweep", run.config.sweep.groups)
    _sweep_across_tasks(run, store, preferences)
    for column in WITHIN:
        table = within(run, curve, preferences, column)
        path = run.path(f"sweep/within_{column}.parquet")
        write_file(path, lambda partial, table=table: table.to_parquet(partial, index=False))


def label_preferences(run: Run) -> Preferences:
    """The preferences of `preferences.parquet`, which is made if it is not there."""
    path = run.path("preferences.parquet")
    if not path.exists():
        config, pairs = run.config, pairs_table(run)
        preferences = score_preferences(
            pd.read_parquet(run.needs("samples.parquet", "collect")),
            dict(zip(pairs["step_id"], pairs["episode_id"])),
            positive=config.capture.positive,
            negative=config.capture.negative,
            samples_per_condition=config.sampling.samples,
            agreement=config.preferences.agreement,
        ).with_columns(pairs.loc[:, JOINED])
        write_file(path, preferences.save)
        run.note(f"sweep: {preferences.funnel}")
    return Preferences.load(path)


def sweep_curve(
    run: Run, store: ActivationStore, preferences: Preferences, folder: str, groups: str
) -> LayerCurve:
    """The curve of a folder of the run, with folds that keep `groups` whole."""
    config = run.config.sweep
    return sweep_layers(
        store,
        preferences,
        analysis_set=config.analysis_set,
        folds=config.folds,
        groups=groups,
        join=config.join,
        estimator=PreferenceEstimator(config.n_components, config.C, run.config.run.seed),
        n_bootstrap=config.n_bootstrap,
        n_shuffles=config.n_shuffles,
        seed=run.config.run.seed,
        n_jobs=config.n_jobs,
        out=run.path(folder),
    )


def within(run: Run, curve: LayerCurve, preferences: Preferences, column: str) -> pd.DataFrame:
    """AUROC inside each value of a column, at the curve's peak and at its last block."""
    sites = [str(curve.peak["site"]), str(curve.final["site"])]
    return auroc_within(
        curve.scores.loc[curve.scores["site"].isin(sites)],
        pd.Series(dict(zip(preferences.table["step_id"], preferences.table[column])), name=column),
        n_bootstrap=run.config.sweep.n_bootstrap,
        seed=run.config.run.seed,
    )


def _sweep_across_tasks(run: Run, store: ActivationStore, preferences: Preferences) -> None:
    """The second curve. Where too few tasks prefer a side there can be none, which is said."""
    labels = preferences.labels(run.config.sweep.analysis_set)
    tasks = preferences.table.set_index("step_id").loc[labels.index, "task"]
    fewest = min(tasks[labels == side].nunique() for side in (store.positive, store.negative))
    if fewest >= run.config.sweep.folds:
        sweep_curve(run, store, preferences, ACROSS_TASKS, "task")
    else:
        message = (
            f"sweep: no curve across tasks: one side is preferred in {fewest} tasks only, "
            f"fewer than the {run.config.sweep.folds} folds"
        )
        run.note(message)
        print(message)
