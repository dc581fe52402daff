from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from probes import PreferenceEstimator
from probes.estimator import C_GRID
from probes.projection import fit_projection, principal_components


@parametrize_with_checks([PreferenceEstimator()])
def test_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


def rows(n_rows: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * rng.uniform(0.1, 10, n_features) + 3
    y = X[:, 0] / X[:, 0].std() + rng.normal(size=n_rows) > X[:, 0].mean() / X[:, 0].std()
    return X, y.astype(int)


@pytest.mark.parametrize(("n_rows", "n_features"), [(200, 30), (40, 120), (90, 90)])
def test_equals_the_scikit_learn_pipeline(n_rows, n_features):
    X, y = rows(n_rows, n_features)
    kept = min(64, n_rows - 1, n_features)
    pipeline = make_pipeline(
        StandardScaler(),
        PCA(kept, svd_solver="full"),
        LogisticRegression(tol=1e-10, max_iter=10_000),
    ).fit(X, y)
    fitted = PreferenceEstimator().fit(X, y)
    assert fitted.projection_.components.shape == (kept, n_features)
    np.testing.assert_allclose(
        fitted.decision_function(X), pipeline.decision_function(X), atol=1e-4
    )


def test_folded_vector_equals_the_pipeline():
    X, y = rows(150, 40)
    fitted = PreferenceEstimator().fit(X, y)
    vector, bias = fitted.folded()
    np.testing.assert_allclose(X @ vector + bias, fitted.decision_function(X), atol=1e-9)


def test_constant_features_and_constant_rows_do_no_harm():
    X, y = rows(80, 10)
    plain = PreferenceEstimator().fit(X, y).decision_function(X)
    widened = np.column_stack([X, np.full(80, 7.3)])
    fitted = PreferenceEstimator().fit(widened, y)
    np.testing.assert_allclose(fitted.decision_function(widened), plain, atol=1e-8)
    nothing = PreferenceEstimator().fit(np.zeros((80, 10)), y)
    log_odds = np.log(y.mean() / (1 - y.mean()))
    np.testing.assert_allclose(nothing.decision_function(np.ones((3, 10))), log_odds)


def test_repeated_rows_leave_directions_without_variance_out():
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 8)), 4, axis=0)
    components = principal_components(X - X.mean(axis=0), 6)
    lengths = np.linalg.norm(components, axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 0, 0, 0, 0], atol=1e-12)


def test_components_are_orthonormal_and_ordered_by_variance():
    X, _ = rows(50, 200)
    projection = fit_projection(X, 20)
    np.testing.assert_allclose(
        projection.components @ projection.components.T, np.eye(20), atol=1e-10
    )
    variances = projection.apply(X).var(axis=0)
    assert (np.diff(variances) < 0).all()


def test_target_forms_are_one_preference():
    X, y = rows(100, 6)
    fitted = PreferenceEstimator().fit(X, y)
    logit = fitted.target(X, "logit")
    np.testing.assert_allclose(fitted.target(X, "probability"), expit(logit))
    np.testing.assert_allclose(fitted.target(X), 2 * expit(logit) - 1, atol=1e-12)
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], expit(logit))
    with pytest.raises(ValueError, match="target form 'odds'"):
        fitted.target(X, "odds")  # pyright: ignore[reportArgumentType]


def test_inner_folds_choose_a_strong_penalty_for_noise_and_a_weak_one_for_signal():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 4)
    y = rng.integers(0, 2, 120)
    noise = rng.normal(size=(120, 40))
    signal = np.column_stack([noise[:, :3], 4 * (2 * y - 1) + rng.normal(size=120)])
    chosen = [
        PreferenceEstimator(C="grouped-cv").fit(X, y, groups=groups).C_ for X in (noise, signal)
    ]
    assert chosen[0] <= 0.001
    assert chosen[1] >= 0.1
    assert set(chosen) <= set(C_GRID)


def test_inner_folds_keep_groups_whole():
    # Labels random per group and copies within it: split by rows, weak penalties look best.
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 6)
    y = rng.integers(0, 2, 40)[groups]
    X = rng.normal(size=(40, 30))[groups] + 0.01 * rng.normal(size=(240, 30))
    grouped = PreferenceEstimator(C="grouped-cv").fit(X, y, groups=groups)
    by_rows = PreferenceEstimator(C="grouped-cv").fit(X, y, groups=np.arange(240))
    assert grouped.C_ < by_rows.C_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": "grouped-cv"}, "needs the groups"),
        ({"C": "cv"}, "C is 'cv'"),
        ({"C": 0.0}, "C is 0.0"),
        ({"n_components": 0}, "n_components is 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, y = rows(30, 4)
    with pytest.raises(ValueError, match=message):
        PreferenceEstimator(**parameters).fit(X, y)
