from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probes.folds import connected_groups, grouped_folds, shared_with_training


def test_groups_join_through_shared_values_and_missing_values_join_nothing():
    table = pd.DataFrame(
        {
            "episode_id": ["a", "a", "b", "c", "d", "e"],
            "memory_step_id": ["m1", "m2", "m2", "m3", None, None],
        }
    )
    assert connected_groups(table, ["episode_id"]).tolist() == [0, 0, 1, 2, 3, 4]
    assert connected_groups(table, ["episode_id", "memory_step_id"]).tolist() == [0, 0, 0, 1, 2, 3]
    with pytest.raises(ValueError, match="no column 'task'"):
        connected_groups(table, ["task"])


def test_chains_of_shared_values_join_into_one_group():
    links = pd.DataFrame({"left": [0, 1, 2, 3], "right": [1, 2, 3, 9]}).astype(str)
    chained = pd.DataFrame({"a": links["left"], "b": links["right"].replace({"9": "x"})})
    # Values join within their column only: "1" of a is not "1" of b.
    assert connected_groups(chained, ["a", "b"]).tolist() == [0, 1, 2, 3]
    ladder = pd.DataFrame({"a": [1, 1, 2, 2, 3], "b": [7, 8, 8, 9, 9]})
    assert connected_groups(ladder, ["a", "b"]).tolist() == [0] * 5


def test_no_group_straddles_folds_and_both_classes_are_spread():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 4)
    labels = rng.integers(0, 2, 200)
    folds = grouped_folds(labels, groups, 5, seed=0)
    assert all(len(set(folds[groups == g])) == 1 for g in range(50))
    shares = [labels[folds == f].mean() for f in range(5)]
    assert np.ptp(shares) < 0.15
    assert (grouped_folds(labels, groups, 5, seed=0) == folds).all()


@pytest.mark.parametrize(
    ("labels", "groups", "message"),
    [
        ([1] * 10, range(10), "two classes are needed, found 10 rows, all of class 1$"),
        ([], [], "two classes are needed, found 0 rows$"),
        ([0] * 6 + [1] * 4, range(10), "class 1 has 4 rows in 4 groups, fewer than the 5 folds"),
        ([0, 1] * 10, [0, 0, 1, 1, 2, 2, 3, 3] + [3] * 12, "class 0 has 10 rows in 4 groups"),
    ],
)
def test_too_few_of_a_class_is_refused_with_a_hint(labels, groups, message):
    with pytest.raises(ValueError, match=message):
        grouped_folds(labels, list(groups), 5, seed=0)


def test_share_of_rows_that_meet_their_memory_in_training():
    memory = pd.Series(["m1", "m1", "m2", "m2", None, None])
    assert shared_with_training(memory, np.array([0, 1, 0, 0, 0, 1])) == pytest.approx(2 / 6)
