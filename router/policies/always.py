"""The same form at every step: none, text, image, both."""

from __future__ import annotations

import numpy as np

from router.policies import Choices, Policy, PolicySteps, without_scores


class AlwaysPolicy(Policy):
    """Always `condition`."""

    def __init__(self, condition: str) -> None:
        self.condition = condition
        self.name = f"always {condition}"

    def choose(self, steps: PolicySteps) -> Choices:
        """`condition` for every step."""
        return without_scores(np.full(len(steps), self.condition))
