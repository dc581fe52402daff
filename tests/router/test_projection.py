"""Components against scikit-learn's."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from router.projection import fit_components


def rows(n=50, d=8, seed=0):
    return (np.random.default_rng(seed).normal(3, 2, (n, d)) * np.arange(1, d + 1)).astype("f4")


def test_components_are_those_of_a_scaled_pca():
    X = rows()
    standard = StandardScaler().fit_transform(X.astype(float))
    expected = PCA(4).fit_transform(standard)
    found = fit_components(X, 4).apply(X)
    ratio = found / (expected / np.sqrt(expected.var(axis=0).mean()))
    np.testing.assert_allclose(np.abs(ratio), 1, atol=1e-3)


def test_mean_variance_of_the_kept_components_is_one():
    found = fit_components(rows(), 5).apply(rows())
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(found.var(axis=0).mean(), 1, rtol=1e-4)


def test_rows_and_features_limit_the_components():
    assert fit_components(rows(4, 8), 512).matrix.shape == (3, 8)
    assert fit_components(rows(50, 8), 512).matrix.shape == (8, 8)


def test_equal_rows_project_to_zero():
    constant = np.full((5, 3), 7, dtype="f4")
    assert not fit_components(constant, 2).apply(constant).any()
