from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from probes import LayerCurve, PreferenceEstimator, sweep_layers

QUICK = {"n_bootstrap": 100, "n_shuffles": 2, "progress": False}


def test_equals_a_plain_scikit_learn_loop(planted):
    curve = sweep_layers(planted.store, planted.preferences, **QUICK)
    labels, episodes = planted.labels, planted.store.episode_ids
    splits = list(
        StratifiedGroupKFold(5, shuffle=True, random_state=0).split(labels, labels, episodes)
    )
    for site in planted.store.sites[1:]:
        image, text = (planted.store.layer(site, c) for c in ("image", "text"))
        shifts = (image - text).astype(float)
        concordant, pairs = 0.0, 0
        for train, test in splits:
            model = make_pipeline(
                StandardScaler(),
                PCA(min(64, shifts.shape[1]), svd_solver="full"),
                LogisticRegression(tol=1e-10, max_iter=10_000),
            ).fit(shifts[train], labels[train])
            n_pairs = labels[test].sum() * (1 - labels[test]).sum()
            scores = model.decision_function(shifts[test])
            concordant += n_pairs * roc_auc_score(labels[test], scores)
            pairs += n_pairs
        row = curve.table.set_index("site").loc[site]
        assert row["auroc"] == pytest.approx(concordant / pairs, abs=1e-12)


def test_planted_signal_is_at_chance_before_and_at_the_optimum_after(planted):
    curve = sweep_layers(planted.store, planted.preferences, progress=False)
    table = curve.table.set_index("site")
    # Two unit normals along the planted direction, their means 2 * SIGNAL apart.
    optimum = norm.cdf(2 * planted.signal / np.sqrt(2))
    for site in ("block.0", "block.1"):
        assert table.loc[site, "low"] < 0.5 < table.loc[site, "high"]
    for site in ("block.2", "block.3", "block.4"):
        assert table.loc[site, "low"] < optimum < table.loc[site, "high"]
    assert table.loc["embed", ["auroc", "low", "high"]].tolist() == [0.5, 0.5, 0.5]
    assert (table["shuffled"].between(0.45, 0.55)).all()
    assert (table["nuisance"] == 0.5).all()
    assert curve.peak["site"] in ("block.2", "block.3", "block.4")
    assert table.loc["block.0", ["n_positive", "n_negative"]].sum() == 600


def test_labels_random_per_episode_are_at_chance_only_with_folds_by_episode(make_world):
    rng = np.random.default_rng(4)
    episodes = np.repeat(np.arange(60), 5)
    labels = rng.integers(0, 2, 60)[episodes]
    shifts = rng.normal(size=(2, 60, 40))[:, episodes] + 0.2 * rng.normal(size=(2, 300, 40))
    world = make_world(shifts, labels, episodes)
    by_episode = sweep_layers(world.store, world.preferences, **QUICK)
    by_step = sweep_layers(world.store, world.preferences, groups="step_id", **QUICK)
    assert ((by_episode.table["low"] < 0.5) & (by_episode.table["high"] > 0.5)).all()
    assert (by_step.table["low"] > 0.6).all()


def test_groups_never_straddle_folds_and_all_sites_share_them(planted):
    tasks = pd.DataFrame({"step_id": planted.store.step_ids})
    tasks["task"] = [f"task-{int(e.split('-')[1]) % 12}" for e in planted.store.episode_ids]
    preferences = planted.preferences.with_columns(tasks)
    curve = sweep_layers(planted.store, preferences, groups="task", **QUICK)
    scores = curve.scores.merge(tasks, on="step_id")
    assert (scores.groupby("task")["fold"].nunique() == 1).all()
    assert (scores.groupby("step_id")["fold"].nunique() == 1).all()
    assert (scores.groupby("site").size() == 600).all()
    assert curve.settings["n_groups"] == 12


def test_shared_memory_is_counted_and_groups_can_join_it(planted):
    rng = np.random.default_rng(0)
    memory = pd.DataFrame({"step_id": planted.store.step_ids})
    # Episodes 2i and 2i + 1 draw from the same three memory steps.
    pair = np.arange(600) // 5 // 2
    memory["memory_step_id"] = [f"m{p}-{r}" for p, r in zip(pair, rng.integers(0, 3, 600))]
    preferences = planted.preferences.with_columns(memory)
    one = {**QUICK, "sites": ["block.2"]}
    apart = sweep_layers(planted.store, preferences, **one)
    joined = sweep_layers(planted.store, preferences, join=["memory_step_id"], **one)
    folds = apart.scores.set_index("step_id")["fold"]
    by_memory = memory.set_index("step_id")["memory_step_id"]
    expected = np.mean(
        [(folds[by_memory == by_memory[s]] != folds[s]).any() for s in planted.store.step_ids]
    )
    assert apart.settings["memory_overlap"] == pytest.approx(expected)
    assert 0.5 < expected < 1
    assert joined.settings["memory_overlap"] == 0
    assert joined.settings["n_groups"] == 60


def test_nuisance_baseline_reads_the_token_counts_alone(make_world):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    tokens = np.column_stack([rng.integers(50, 60, 200), 40 + 10 * labels])
    world = make_world(
        rng.normal(size=(2, 200, 6)), labels, np.arange(200) // 2, prompt_tokens=tokens
    )
    table = sweep_layers(world.store, world.preferences, **QUICK).table
    assert (table["nuisance"] == 1).all()
    assert (table["auroc"] < 0.7).all()


def test_a_second_call_goes_on_where_the_first_was_interrupted(planted, tmp_path, monkeypatch):
    out = tmp_path / "sweep"
    whole = sweep_layers(planted.store, planted.preferences, out=tmp_path / "whole", **QUICK)
    visited = []
    original = type(planted.store).shift

    def shift(self, site, rows=None):
        if site == "block.3" and "block.3" not in visited:
            visited.append(site)
            raise KeyboardInterrupt
        visited.append(site)
        return original(self, site, rows)

    monkeypatch.setattr(type(planted.store), "shift", shift)
    with pytest.raises(KeyboardInterrupt):
        sweep_layers(planted.store, planted.preferences, out=out, **QUICK)
    assert LayerCurve.load(out).table["site"].tolist() == ["embed", "block.0", "block.1", "block.2"]
    visited.clear()
    visited.append("block.3")
    curve = sweep_layers(planted.store, planted.preferences, out=out, **QUICK)
    assert visited == ["block.3", "block.3", "block.4"]
    pd.testing.assert_frame_equal(curve.table, whole.table)
    for name in ("curve.parquet", "curve.json", "scores.parquet"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    visited.clear()
    sweep_layers(planted.store, planted.preferences, out=out, **QUICK)
    assert not visited, "a finished sweep reads no layer"


def test_other_settings_are_refused_by_name(planted, tmp_path):
    one = {**QUICK, "sites": ["block.2"], "out": tmp_path}
    sweep_layers(planted.store, planted.preferences, **one)
    with pytest.raises(ValueError, match="another 'seed' \\(0, now 1"):
        sweep_layers(planted.store, planted.preferences, seed=1, **one)
    with pytest.raises(ValueError, match="another 'estimator'"):
        sweep_layers(
            planted.store, planted.preferences, estimator=PreferenceEstimator(C=0.1), **one
        )


def test_the_result_does_not_depend_on_the_number_of_jobs(planted):
    settings = {**QUICK, "sites": ["block.1", "block.2"]}
    one, two = (
        sweep_layers(planted.store, planted.preferences, n_jobs=n, **settings) for n in (1, 2)
    )
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    pd.testing.assert_frame_equal(one.scores, two.scores, check_exact=True)


def test_the_order_of_the_preferences_changes_nothing(planted):
    one = {**QUICK, "sites": ["block.2"]}
    shuffled = planted.preferences.table.sample(frac=1, random_state=0)
    other = type(planted.preferences)(shuffled, "image", "text", 7, 5)
    expected = sweep_layers(planted.store, planted.preferences, **one)
    pd.testing.assert_frame_equal(sweep_layers(planted.store, other, **one).table, expected.table)


def _replaced(preferences, **columns):
    table = preferences.table.assign(**columns)
    return type(preferences)(table, preferences.positive, preferences.negative, 7, 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: _replaced(p, step_id=["x", *p.table["step_id"][1:]]), "not in the store"),
        (lambda p: _replaced(p, episode_id="e"), "'step-0000' is of episode 'e'"),
        (
            lambda p: _replaced(p, votes_positive=7, votes_negative=0),
            "'stable' needs steps .* or use the wider analysis set 'non_tied'$",
        ),
        (lambda p: _replaced(p, stable=False), "stable_image 0.* wider analysis set 'non_tied'$"),
        (
            lambda p: _replaced(p, stable=False, tie=True),
            r"'image' and steps that prefer 'text', .*\(steps 600, ties 600, .* more steps$",
        ),
        (lambda p: type(p)(p.table, "both", "text", 7, 5), "positive condition is 'both'"),
    ],
)
def test_preferences_of_another_store_are_refused(planted, change, message):
    with pytest.raises(ValueError, match=message):
        sweep_layers(planted.store, change(planted.preferences), **QUICK)


def test_ties_alone_are_refused_in_the_wider_set_too(planted):
    ties = _replaced(planted.preferences, stable=False, tie=True)
    with pytest.raises(ValueError, match=r"'non_tied' needs steps .*; collect more steps$"):
        sweep_layers(planted.store, ties, analysis_set="non_tied", **QUICK)


def test_unknown_columns_and_sites_are_refused(planted):
    with pytest.raises(ValueError, match="column 'task' of the preferences is missing"):
        sweep_layers(planted.store, planted.preferences, groups="task", **QUICK)
    with pytest.raises(ValueError, match=r"site 'block\.9' is not in the store"):
        sweep_layers(planted.store, planted.preferences, sites=["block.9"], **QUICK)
