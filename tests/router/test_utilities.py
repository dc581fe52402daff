"""Utilities by condition from samples."""

import numpy as np
import pandas as pd
import pytest

from router import condition_utilities


def samples_of(scores):
    rows = [
        {"step_id": step, "condition": condition, "k": k, "score": score}
        for (step, condition), of_step in scores.items()
        for k, score in enumerate(of_step)
    ]
    return pd.DataFrame(rows)


SCORES = {
    ("s2", "none"): [0.0, 0.5], ("s2", "image"): [1.0, 1.0],
    ("s1", "none"): [1.0, 0.0], ("s1", "image"): [0.0, 0.0],
}  # fmt: skip


def test_utilities_are_means_in_the_order_of_the_samples():
    table = condition_utilities(samples_of(SCORES))
    assert table["step_id"].tolist() == ["s2", "s1"]
    assert table["utility_none"].tolist() == [0.25, 0.5]
    assert table["utility_image"].tolist() == [1.0, 0.0]


def test_equal_scores_in_another_order_are_an_exact_tie():
    scores = np.random.default_rng(0).random(7).tolist()
    table = condition_utilities(
        samples_of({("s", "text"): scores, ("s", "image"): sorted(scores)})
    ).iloc[0]
    assert table["utility_text"] == table["utility_image"]


def test_a_step_with_a_sample_too_few_is_named():
    with pytest.raises(ValueError, match=r"step 's1' has .*image 1.* samples, expected 2"):
        condition_utilities(samples_of(SCORES | {("s1", "image"): [0.0]}))
    lacking = {key: value for key, value in SCORES.items() if key != ("s1", "image")}
    with pytest.raises(ValueError, match=r"step 's1' has .*image 0"):
        condition_utilities(samples_of(lacking))
