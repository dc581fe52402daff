"""The rows of one analysis: labelled steps that a store holds, with their groups and folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probes.folds import connected_groups, grouped_folds, shared_with_training
from probes.preferences import AnalysisSet, Preferences


class ShiftStore(Protocol):
    """What the probes need of an activation store; `activations.ActivationStore` has it.

    `shift(site, rows)` gives h(positive) - h(negative), float32 (n_rows, width); token counts are
    (n_steps, n_conditions), in the order of `conditions`.
    """

    @property
    def step_ids(self) -> Sequence[str]: ...
    @property
    def episode_ids(self) -> Sequence[str]: ...
    @property
    def conditions(self) -> Sequence[str]: ...
    @property
    def sites(self) -> Sequence[str]: ...
    @property
    def positive(self) -> str: ...
    @property
    def negative(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def fingerprint(self) -> Mapping[str, str]: ...
    @property
    def prompt_tokens(self) -> NDArray[Any]: ...
    @property
    def image_tokens(self) -> NDArray[Any]: ...
    def shift(self, site: str, rows: Any = None) -> NDArray[np.float32]: ...


@dataclass(frozen=True)
class Analysis:
    """Labelled rows in the order of the store.

    Parameters
    ----------
    step_ids
        (n_rows,) names.
    rows
        (n_rows,) rows of the store.
    labels
        (n_rows,) 1 where the positive condition is preferred, else 0.
    groups
        (n_rows,) group numbers; a group is never split over folds.
    clusters
        (n_rows,) what the bootstrap resamples.
    folds
        (n_rows,) fold in which a row is held out.
    memory_overlap
        Share of rows whose retrieved memory step also serves a training row; None when the
        preferences have no column memory_step_id.
    """

    step_ids: NDArray[Any]
    rows: NDArray[np.intp]
    labels: NDArray[np.intp]
    groups: NDArray[np.intp]
    clusters: NDArray[Any]
    folds: NDArray[np.intp]
    memory_overlap: float | None


def analysis_rows(
    store: ShiftStore,
    preferences: Preferences,
    *,
    analysis_set: AnalysisSet,
    folds: int,
    groups: str,
    join: Sequence[str],
    clusters: str,
    seed: int,
) -> Analysis:
    """Match preferences with the store and draw the folds.

    Raises
    ------
    ValueError
        When the store has other conditions, lacks a step or gives it another episode, when a column
        is missing, or when the classes do not suffice for the folds.
    """
    for name in ("positive", "negative"):
        found, expected = getattr(preferences, name), getattr(store, name)
        if found != expected:
            raise ValueError(
                f"the {name} condition is {found!r} in the preferences and {expected!r} in the store"
            )
    labels = preferences.labels(analysis_set)
    if labels.nunique() < 2:
        raise ValueError(_one_sided(preferences, analysis_set))
    table = preferences.table.set_index("step_id", drop=False).loc[labels.index]
    places = pd.Series(range(len(store.step_ids)), index=list(store.step_ids))
    lacking = sorted(set(labels.index) - set(places.index))
    if lacking:
        raise ValueError(
            f"{len(lacking)} labelled steps are not in the store, first {lacking[0]!r}"
        )
    order = np.argsort(places.loc[labels.index].to_numpy(), kind="stable")
    table, labels = table.iloc[order], labels.iloc[order]
    rows = places.loc[labels.index].to_numpy(dtype=np.intp)
    _check_episodes(table, np.asarray(store.episode_ids, dtype=object)[rows])
    for column in (groups, clusters):
        if column not in table or table[column].isna().any():
            raise ValueError(
                f"column {column!r} of the preferences is missing or has missing values; join it"
                " with Preferences.with_columns"
            )
    codes = (labels == preferences.positive).to_numpy(dtype=np.intp)
    group_codes = connected_groups(table, [groups, *join])
    fold_of_row = grouped_folds(codes, group_codes, folds, seed)
    memory = table.get("memory_step_id")
    return Analysis(
        step_ids=labels.index.to_numpy(),
        rows=rows,
        labels=codes,
        groups=group_codes,
        clusters=table[clusters].to_numpy(),
        folds=fold_of_row,
        memory_overlap=None if memory is None else shared_with_training(memory, fold_of_row),
    )


def _one_sided(preferences: Preferences, analysis_set: AnalysisSet) -> str:
    counts = ", ".join(f"{name} {count}" for name, count in preferences.funnel.items())
    wider = preferences.labels("non_tied").nunique() == 2
    return (
        f"the analysis set {analysis_set!r} needs steps that prefer {preferences.positive!r} and"
        f" steps that prefer {preferences.negative!r}, one or both are lacking ({counts}); collect"
        " more steps" + (", or use the wider analysis set 'non_tied'" if wider else "")
    )


def _check_episodes(table: pd.DataFrame, expected: NDArray[Any]) -> None:
    other = np.flatnonzero(table["episode_id"].to_numpy() != expected)
    if len(other):
        row = table.iloc[other[0]]
        raise ValueError(
            f"step {row['step_id']!r} is of episode {row['episode_id']!r} in the preferences and of"
            f" {expected[other[0]]!r} in the store"
        )
