"""Shifts in two dimensions.

Convention: features are standardised first, as the probes do. PCA keeps distances roughly and its
axes mean something; UMAP keeps neighbours only, and its axes, sizes and gaps mean nothing.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

ProjectionMethod = Literal["umap", "pca"]
NEIGHBOURS = 15


def project_shifts(
    shifts: np.ndarray, method: ProjectionMethod = "umap", seed: int = 0
) -> np.ndarray:
    """Bring shifts to the plane; equal input and seed give equal points.

    Parameters
    ----------
    shifts
        Shape (n_steps, d).
    method
        "umap" (15 neighbours, or all the others where there are fewer) or "pca".
    seed
        Seed of UMAP's, and of a randomised PCA's, random steps.

    Returns
    -------
    numpy.ndarray
        Shape (n_steps, 2), float64.

    Raises
    ------
    ValueError
        When the method is unknown, a shift is not finite, or there are too few steps for it.
    """
    if method not in ("umap", "pca"):
        raise ValueError(f"projection method {method!r} is not one of umap, pca")
    if shifts.ndim != 2 or shifts.shape[1] < 2:
        raise ValueError(f"shifts have shape {shifts.shape}; expected (n_steps, d) with d ≥ 2")
    needed = 5 if method == "umap" else 2
    if len(shifts) < needed:
        raise ValueError(f"{method} needs at least {needed} steps; {len(shifts)} given")
    if not np.isfinite(shifts).all():
        row = int(np.flatnonzero(~np.isfinite(shifts).all(axis=1))[0])
        raise ValueError(f"shift of row {row} holds values that are not finite")
    scaled = StandardScaler().fit_transform(shifts.astype(np.float64))
    if method == "pca":
        return PCA(n_components=2, random_state=seed).fit_transform(scaled)
    return _umap(scaled, seed)


def _umap(scaled: np.ndarray, seed: int) -> np.ndarray:
    from umap import UMAP  # compiles for seconds when imported

    neighbours = min(NEIGHBOURS, len(scaled) - 1)
    # One job: a seeded layout runs in one thread anyway, and asking for more is warned about.
    mapper = UMAP(n_neighbors=neighbours, random_state=seed, n_jobs=1, init=_start(scaled))
    return np.asarray(mapper.fit_transform(scaled), dtype=np.float64)


def _start(scaled: np.ndarray) -> str:
    """UMAP's spectral start needs clearly more points than dimensions; PCA does for a handful."""
    return "spectral" if len(scaled) > NEIGHBOURS else "pca"
