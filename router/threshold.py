"""The threshold: from which relative score on the positive form is chosen.

Convention: positive if score(positive) - score(negative) >= tau, so equality goes to the positive
side. Candidates are 0, the midpoints between neighbouring scores, and one value 1 below the lowest
score (always positive) and one 1 above the highest (always negative). Of candidates with equal
utility the one nearest to 0 is taken (the calibration steps say nothing against the sign of the
score), of two equally near ones the lower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

_EQUAL = 1e-12  # differences of mean utility below this are rounding


class Cut(NamedTuple):
    """A threshold, and what it yields on the calibration steps."""

    tau: float
    utility: float
    positive_rate: float


@dataclass(frozen=True)
class ThresholdCurve:
    """Utility over tau on the calibration steps.

    Parameters
    ----------
    table
        Columns tau (ascending), utility (mean over the steps), positive_rate (share of steps that
        take the positive form).
    n_steps
        Calibration steps.
    negative, positive
        The two forms.
    """

    table: pd.DataFrame
    n_steps: int
    negative: str = "text"
    positive: str = "image"

    @property
    def best(self) -> Cut:
        """The chosen threshold."""
        rows = self.table[["tau", "utility", "positive_rate"]].to_numpy(dtype=np.float64)
        equal = rows[rows[:, 1] >= rows[:, 1].max() - _EQUAL]
        return Cut(*min(equal.tolist(), key=lambda row: (abs(row[0]), row[0])))

    @property
    def tau(self) -> float:
        """The threshold of `best`."""
        return self.best.tau

    def plot(self, ax: Any = None) -> Any:
        """Draw it with `figures.plot_threshold_curve`."""
        from figures import plot_threshold_curve

        return plot_threshold_curve(self, ax)


def threshold_curve(
    scores: ArrayLike,
    negative_utility: ArrayLike,
    positive_utility: ArrayLike,
    *,
    negative: str = "text",
    positive: str = "image",
) -> ThresholdCurve:
    """Utility of every distinct way to cut the calibration steps.

    Parameters
    ----------
    scores
        (n_steps,) relative scores.
    negative_utility, positive_utility
        (n_steps,) utility of either form.
    negative, positive
        Their names.

    Raises
    ------
    ValueError
        When there are no steps, lengths differ, or a value is not finite.
    """
    scores, of_negative, of_positive = _checked(scores, negative_utility, positive_utility)
    taus = _candidates(scores)
    order = np.argsort(scores)
    # Entry i: what is lost when the i lowest scores take the negative form instead.
    lost = np.concatenate([[0.0], np.cumsum((of_positive - of_negative)[order])])
    below = np.searchsorted(scores[order], taus, side="left")
    table = pd.DataFrame(
        {
            "tau": taus,
            "utility": of_positive.mean() - lost[below] / len(scores),
            "positive_rate": 1 - below / len(scores),
        }
    )
    return ThresholdCurve(table, len(scores), negative, positive)


def _candidates(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    distinct = np.unique(scores)
    midpoints = (distinct[1:] + distinct[:-1]) / 2
    return np.unique([distinct[0] - 1, *midpoints, distinct[-1] + 1, 0.0])


def _checked(*columns: ArrayLike) -> list[NDArray[np.float64]]:
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    for name, values in zip(("scores", "negative_utility", "positive_utility"), arrays):
        if values.shape != arrays[0].shape or values.ndim != 1 or not len(values):
            raise ValueError(
                f"{name} has shape {values.shape}; scores and both utilities must be equally long "
                "and hold at least one step"
            )
        if not np.isfinite(values).all():
            raise ValueError(f"{name} holds values that are not finite")
    return arrays
