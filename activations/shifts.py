"""Signed shifts and the unsigned distances beside them, between the two prompts of a step.

Convention: signed differences are positive − negative (image − text by default) in float32;
distances and chain features are float64. Where several layers are needed they are the first axis.
Formulas: D-CoE distances and integration point, arXiv 2509.23050; CoE features, arXiv 2410.13640.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

# Angles below the resolution of float32 states are taken for 0.
SMALLEST_ANGLE = 1e-7


@dataclass(frozen=True)
class ChainFeatures:
    """Chain-of-embedding features of one chain h_0 … h_L, or of many side by side.

    Parameters
    ----------
    magnitude
        (L, …): length of each step h_l → h_{l+1} over the length of h_0 → h_L.
    angle
        (L, …): angle of each step in radians over the angle between h_0 and h_L.
    coe_r
        (…): mean magnitude minus mean angle.
    coe_c
        (…): modulus of the mean of magnitude · exp(i · angle).
    """

    magnitude: Float64
    angle: Float64
    coe_r: Float64
    coe_c: Float64


def signed_shift(positive: ArrayLike, negative: ArrayLike) -> Float32:
    """Hidden states under the positive condition minus those under the negative one.

    Parameters
    ----------
    positive, negative
        (…, d), of one site.

    Returns
    -------
    ndarray
        float32, (…, d).
    """
    one, other = np.asarray(positive, np.float32), np.asarray(negative, np.float32)
    _check_same_shape(one, other)
    return one - other


def velocity(shifts: ArrayLike) -> Float32:
    """Change of the shift from each layer to the next.

    Parameters
    ----------
    shifts
        (n_layers, …, d), layers in forward order.

    Returns
    -------
    ndarray
        float32, (n_layers − 1, …, d): entry l is shift_{l+1} − shift_l.
    """
    values = np.asarray(shifts, np.float32)
    if len(values) < 2:
        raise ValueError(f"velocity needs at least two layers, found {len(values)}")
    return np.diff(values, axis=0)


def cosine_distance(one: ArrayLike, other: ArrayLike) -> Float64:
    """1 − cosine of the angle between vectors, in [0, 2].

    A zero vector has distance 0 to another zero vector and 1 to anything else.

    Parameters
    ----------
    one, other
        (…, d).

    Returns
    -------
    ndarray
        float64, (…).
    """
    return 1.0 - _cosine(one, other)


def l2_distance(one: ArrayLike, other: ArrayLike) -> Float64:
    """Euclidean distance between vectors (…, d); float64, (…)."""
    first, second = np.asarray(one, np.float64), np.asarray(other, np.float64)
    _check_same_shape(first, second)
    return np.linalg.norm(first - second, axis=-1)


def coe_features(chain: ArrayLike) -> ChainFeatures:
    """Magnitude and angle features of a chain of embeddings (arXiv 2410.13640).

    A chain that ends where it began (or in the same direction) has no length (or angle) to be
    measured by: its magnitudes (or angles) are 0. A zero vector is at a right angle to any other.

    Parameters
    ----------
    chain
        (L + 1, …, d): the embedding h_0 and the output of each of L blocks.

    Returns
    -------
    ChainFeatures

    Raises
    ------
    ValueError
        When the chain has fewer than two states.
    """
    states = np.asarray(chain, np.float64)
    if states.ndim < 2 or len(states) < 2:
        raise ValueError(f"a chain has shape (L + 1 >= 2, …, d), found {states.shape}")
    magnitude = _ratio(l2_distance(states[1:], states[:-1]), l2_distance(states[-1], states[0]))
    angle = _ratio(_angle(states[1:], states[:-1]), _angle(states[-1], states[0]))
    mean = (magnitude * np.exp(1j * angle)).mean(axis=0)
    return ChainFeatures(
        magnitude=magnitude,
        angle=angle,
        coe_r=magnitude.mean(axis=0) - angle.mean(axis=0),
        coe_c=np.abs(mean),
    )


def integration_point(
    distances: ArrayLike, dependent: ArrayLike, threshold: float = 0.0
) -> int | None:
    """Layer from which two groups of steps stay apart (arXiv 2509.23050).

    Parameters
    ----------
    distances
        (n_layers, n_steps), a distance between the two conditions at each layer.
    dependent
        (n_steps,), True for the group expected to have the larger distances.
    threshold
        What the difference of the group means must exceed.

    Returns
    -------
    int or None
        Smallest layer index l such that at l and every later layer the mean over the dependent
        steps minus the mean over the others is above `threshold`; None when there is none.

    Raises
    ------
    ValueError
        When shapes disagree or a group is empty.
    """
    values, group = np.asarray(distances, np.float64), np.asarray(dependent, bool)
    if values.ndim != 2 or group.shape != values.shape[1:]:
        raise ValueError(
            f"distances {values.shape} and dependent {group.shape} do not fit (n_layers, n_steps) and (n_steps,)"
        )
    if group.all() or not group.any():
        raise ValueError(f"both groups need steps, found {group.sum()} dependent of {group.size}")
    above = values[:, group].mean(axis=1) - values[:, ~group].mean(axis=1) > threshold
    stays = np.logical_and.accumulate(above[::-1])[::-1]
    return int(stays.argmax()) if stays.any() else None


def total_integration(distances: ArrayLike, start: int) -> Float64:
    """Mean distance from layer `start` to the last (arXiv 2509.23050).

    Parameters
    ----------
    distances
        (n_layers, …).
    start
        The integration point.

    Returns
    -------
    ndarray
        float64, (…).
    """
    values = np.asarray(distances, np.float64)
    if not 0 <= start < len(values):
        raise ValueError(f"start layer {start} is outside of 0 … {len(values) - 1}")
    return values[start:].mean(axis=0)


def _cosine(one: ArrayLike, other: ArrayLike) -> Float64:
    first, second = np.asarray(one, np.float64), np.asarray(other, np.float64)
    _check_same_shape(first, second)
    norms = np.linalg.norm(first, axis=-1), np.linalg.norm(second, axis=-1)
    both_zero = (norms[0] == 0) & (norms[1] == 0)
    cosine = np.where(both_zero, 1.0, _ratio((first * second).sum(axis=-1), norms[0] * norms[1]))
    return np.clip(cosine, -1.0, 1.0)


def _angle(one: ArrayLike, other: ArrayLike) -> Float64:
    first, second = np.asarray(one, np.float64), np.asarray(other, np.float64)
    first, second = _unit(first), _unit(second)
    # Exact for equal directions, where arccos(1 - rounding) is not.
    apart, together = (
        np.linalg.norm(first - second, axis=-1),
        np.linalg.norm(first + second, axis=-1),
    )
    angle = 2.0 * np.arctan2(apart, together)
    return np.where(angle < SMALLEST_ANGLE, 0.0, angle)


def _unit(vectors: Float64) -> Float64:
    return _ratio(vectors, np.linalg.norm(vectors, axis=-1, keepdims=True))


def _ratio(numerator: Float64, denominator: Float64) -> Float64:
    """numerator / denominator, 0 where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    quotient = np.zeros(numerator.shape)
    np.divide(numerator, denominator, out=quotient, where=denominator != 0)
    return quotient


def _check_same_shape(one: np.ndarray, other: np.ndarray) -> None:
    if one.shape != other.shape:
        raise ValueError(f"both sides need one shape, found {one.shape} and {other.shape}")
