"""Cross-validation folds that keep groups whole.

Steps of one episode are near copies of each other, so a classifier that saw one of them knows the
others: rows of a group never stand on both sides of a fold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import StratifiedGroupKFold


def connected_groups(table: pd.DataFrame, columns: Sequence[str]) -> NDArray[np.intp]:
    """Groups of rows that share a value in any of the columns, directly or through other rows.

    Parameters
    ----------
    table
        One row per step.
    columns
        Columns whose values join rows. A missing value joins nothing.

    Returns
    -------
    (n_rows,) group numbers, from 0 in order of first appearance.
    """
    lacking = [c for c in columns if c not in table]
    if lacking:
        raise ValueError(
            f"no column {lacking[0]!r} to group by; the table has {', '.join(map(str, table))}"
        )
    n_rows = len(table)
    rows, nodes, n_nodes = [], [], n_rows
    for column in columns:
        codes, values = pd.factorize(table[column])
        present = np.flatnonzero(codes >= 0)
        rows.append(present)
        nodes.append(n_nodes + codes[present])
        n_nodes += len(values)
    edges = (np.concatenate(rows), np.concatenate(nodes))
    graph = coo_array((np.ones(len(edges[0])), edges), shape=(n_nodes, n_nodes))
    components = connected_components(graph, directed=False)[1][:n_rows]
    return pd.factorize(components)[0]


def grouped_folds(
    labels: ArrayLike, groups: ArrayLike, n_folds: int, seed: int
) -> NDArray[np.intp]:
    """The fold (n_rows,) of each row, stratified by label, groups kept whole.

    Raises
    ------
    ValueError
        When there is one class only, a class is found in fewer groups than folds, or a fold would
        leave one class to train on.
    """
    labels, groups = np.asarray(labels), np.asarray(groups)
    if n_folds < 2:
        raise ValueError(f"folds is {n_folds}, expected at least 2")
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(
            f"rows of two classes are needed, found {len(labels)} rows"
            + "".join(f", all of class {value}" for value in classes)
        )
    for value in classes:
        n_groups = len(np.unique(groups[labels == value]))
        if n_groups < n_folds:
            raise ValueError(
                f"class {value} has {int((labels == value).sum())} rows in {n_groups} groups, fewer"
                f" than the {n_folds} folds; use fewer folds, finer groups, or more steps"
            )
    splitter = StratifiedGroupKFold(n_splits=n_folds, shuffle=True, random_state=seed)
    folds = np.empty(len(labels), dtype=np.intp)
    for fold, (_, test) in enumerate(splitter.split(labels, labels, groups)):
        folds[test] = fold
    for fold in range(n_folds):
        if len(np.unique(labels[folds != fold])) < 2:
            raise ValueError(
                f"fold {fold} holds every row of one class, because a group is too large; use fewer"
                " folds or finer groups"
            )
    return folds


def shared_with_training(values: pd.Series, folds: NDArray[np.intp]) -> float:
    """Share of rows whose value also stands in another fold, that is, among their training rows.

    Rows without a value count as not shared.
    """
    frame = pd.DataFrame({"value": values.to_numpy(), "fold": folds})
    n_folds = np.asarray(frame.groupby("value")["fold"].transform("nunique"), dtype=float)
    return float((n_folds > 1).mean())
