from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from probes import auroc, auroc_within, bootstrap_auroc


@pytest.fixture
def scored():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 120)
    scores = np.round(labels + rng.normal(size=120), 1)  # rounded, so that scores tie
    return scores, labels, np.repeat(np.arange(24), 5)


def test_auroc_equals_scikit_learn_with_ties(scored):
    scores, labels, _ = scored
    assert auroc(scores, labels) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_strata_compare_only_pairs_inside_a_stratum(scored):
    scores, labels, _ = scored
    strata = np.arange(120) % 3
    inside = [
        (s > t) + 0.5 * (s == t)
        for i, s in enumerate(scores)
        for j, t in enumerate(scores)
        if labels[i] == 1 and labels[j] == 0 and strata[i] == strata[j]
    ]
    assert auroc(scores, labels, strata) == pytest.approx(np.mean(inside), abs=1e-12)
    shifted = scores + 100 * strata
    assert auroc(shifted, labels, strata) == auroc(scores, labels, strata)


def test_bootstrap_equals_scikit_learn_on_repeated_rows(scored):
    scores, labels, clusters = scored
    values = bootstrap_auroc(scores, labels, clusters, n_bootstrap=5, seed=11)
    counts = np.random.default_rng(11).multinomial(24, np.full(24, 1 / 24), size=5)
    for value, count in zip(values, counts, strict=True):
        rows = np.repeat(np.arange(120), count[clusters])
        assert value == pytest.approx(roc_auc_score(labels[rows], scores[rows]), abs=1e-12)


def test_bootstrap_does_not_depend_on_its_blocks(scored, monkeypatch):
    whole = bootstrap_auroc(*scored, n_bootstrap=50, seed=1)
    module = import_module("probes.auroc")  # the package exports a function of that name
    monkeypatch.setattr(module, "_BLOCK_CELLS", 700)
    np.testing.assert_array_equal(bootstrap_auroc(*scored, n_bootstrap=50, seed=1), whole)


def test_whole_clusters_are_resampled():
    # Copies of a row in one cluster carry no information, so the spread must not shrink with them.
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 40)
    scores = labels + rng.normal(size=40)
    once = bootstrap_auroc(scores, labels, np.arange(40), seed=5)
    repeated = [np.repeat(a, 10) for a in (scores, labels, np.arange(40))]
    np.testing.assert_allclose(bootstrap_auroc(*repeated, seed=5), once)


def test_resamples_of_one_class_are_nan_and_left_out():
    values = bootstrap_auroc([0.0, 1.0, 2.0], [0, 0, 1], [0, 1, 2], n_bootstrap=200)
    assert np.isnan(values).any()
    assert np.nanmin(values) == 1
    assert np.isnan(auroc([1.0, 2.0], [1, 1]))


@pytest.mark.parametrize(("scores", "labels"), [([np.nan, 1], [0, 1]), ([0, 1], [1, 2])])
def test_unrankable_input_is_refused(scores, labels):
    with pytest.raises(ValueError, match="must be"):
        auroc(scores, labels)


def test_within_kinds_a_score_that_only_tells_kinds_apart_is_at_chance():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 400)
    label = (rng.random(400) < np.where(kind, 0.9, 0.1)).astype(int)
    scores = pd.DataFrame(
        {
            "step_id": [f"s{i}" for i in range(400)],
            "site": "block.0",
            "fold": np.arange(400) % 4,
            "score": kind + rng.normal(scale=0.01, size=400),
            "label": label,
            "cluster": np.arange(400) // 2,
        }
    )
    column = pd.Series(np.where(kind, "typing", "icon"), index=scores["step_id"], name="kind")
    table = auroc_within(scores, column, n_bootstrap=200).set_index("kind")
    assert auroc(scores["score"], label) > 0.85
    for value in ("typing", "icon", "(all, within)"):
        assert table.loc[value, "low"] < 0.5 < table.loc[value, "high"]
    assert table.loc["typing", "n_positive"] == label[kind == 1].sum()
    with pytest.raises(ValueError, match="lacks 1 steps of the scores, first 's0'"):
        auroc_within(scores, column.iloc[1:])
