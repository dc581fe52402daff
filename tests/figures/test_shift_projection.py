"""Projection of shifts: seeded, scaled, checked."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from figures import project_shifts


@pytest.fixture(scope="module")
def shifts():
    """Two groups of 20 steps, apart in one of 8 features."""
    rng = np.random.default_rng(0)
    shifts = rng.normal(size=(40, 8)).astype(np.float32)
    shifts[20:] += 4
    return shifts


def test_pca_equals_singular_vectors_of_standardised_shifts(shifts):
    scaled = (shifts - shifts.mean(0, dtype=float)) / shifts.std(0, dtype=float)
    left, singular, _ = np.linalg.svd(scaled, full_matrices=False)
    found = project_shifts(shifts, "pca")
    assert_allclose(np.abs(found), np.abs(left[:, :2] * singular[:2]), atol=1e-5)


def test_scale_of_a_feature_does_not_matter(shifts):
    scaled = shifts * np.array([1000, 1, 1, 1, 1, 1, 1, 1], dtype=np.float32)
    assert_allclose(project_shifts(scaled, "pca"), project_shifts(shifts, "pca"), atol=1e-4)


@pytest.mark.slow
def test_umap_is_seeded_silent_and_keeps_groups_together(shifts):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*n_jobs.*")
        one = project_shifts(shifts, "umap", seed=3)
    assert one.shape == (40, 2)
    assert_array_equal(one, project_shifts(shifts, "umap", seed=3))
    direction = one[20:].mean(axis=0) - one[:20].mean(axis=0)
    assert roc_auc_score(np.arange(40) >= 20, one @ direction) == 1.0


@pytest.mark.slow
def test_umap_of_a_handful_of_steps_is_finite(shifts):
    assert np.isfinite(project_shifts(shifts[::8], "umap")).all()


@pytest.mark.parametrize(
    ("values", "method", "message"),
    [
        (np.zeros((9, 3)), "tsne", "'tsne' is not one of umap, pca"),
        (np.zeros(9), "pca", r"shape \(9,\)"),
        (np.zeros((9, 1)), "pca", r"shape \(9, 1\)"),
        (np.zeros((1, 3)), "pca", "at least 2 steps; 1 given"),
        (np.zeros((4, 3)), "umap", "at least 5 steps; 4 given"),
        (np.array([[0, 1], [2, np.nan], [1, 1]]), "pca", "row 1 holds"),
    ],
)
def test_bad_input_is_named(values, method, message):
    with pytest.raises(ValueError, match=message):
        project_shifts(values, method)
