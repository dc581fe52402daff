"""Standardise, keep principal components, scale them all by one number: what the network is fed.

The one number makes the mean variance of the kept components 1 on the rows fitted on, so that the
network's first layer sees values of ordinary size; the components keep their proportions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from probes.projection import fit_projection

Array = NDArray[np.float32]


class Projection(NamedTuple):
    """Maps rows X to (X - mean) @ matrix.T, in float32.

    Parameters
    ----------
    mean
        (n_features,).
    matrix
        (n_kept, n_features).
    """

    mean: Array
    matrix: Array

    def apply(self, X: Array) -> Array:
        """(n_rows, n_kept)."""
        return np.matmul(X - self.mean, self.matrix.T, dtype=np.float32)


def fit_components(X: Array, n_components: int) -> Projection:
    """Fit on rows (n_rows, n_features); keeps min(n_components, n_rows - 1, n_features)."""
    rows = X.astype(np.float64)
    fitted = fit_projection(rows, n_components)
    variance = float(fitted.apply(rows).var(axis=0).mean())
    matrix = fitted.components / fitted.scale / np.sqrt(variance or 1.0)
    mean = fitted.mean + fitted.scale * fitted.offset
    return Projection(mean.astype(np.float32), matrix.astype(np.float32))
