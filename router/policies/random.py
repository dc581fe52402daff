"""Random routing, matched to a rate of positive steps."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from router.policies import Choices, Policy, PolicySteps, without_scores


class RandomPolicy(Policy):
    """The positive form with probability `rate`, whatever the step.

    A choice depends on the seed and the step's id alone, so that it is the same in any order.
    """

    def __init__(self, rate: float, seed: int = 0, name: str = "random") -> None:
        if not 0 <= rate <= 1:
            raise ValueError(f"rate is {rate}, expected a share in [0, 1]")
        self.rate, self.seed, self.name = rate, seed, name

    def choose(self, steps: PolicySteps) -> Choices:
        """One draw for every step."""
        draws = np.array([self._draw(step_id) for step_id in steps.table["step_id"]])
        return without_scores(np.where(draws < self.rate, steps.positive, steps.negative))

    def utilities(self, steps: PolicySteps) -> NDArray[np.float64]:
        """Expected utility over all draws, so that no comparison hangs on one of them."""
        negative, positive = steps.utility(steps.negative), steps.utility(steps.positive)
        return (1 - self.rate) * negative + self.rate * positive

    def _draw(self, step_id: str) -> float:
        digest = hashlib.sha256(f"{self.seed}\0{step_id}".encode()).digest()
        return int.from_bytes(digest[:6]) / 2**48
