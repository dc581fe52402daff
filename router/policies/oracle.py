"""The step-wise oracle: whichever of the two forms had the higher utility."""

from __future__ import annotations

import numpy as np

from router.policies import Choices, Policy, PolicySteps


class OraclePolicy(Policy):
    """Looks at the utilities; of equal ones it takes the positive form, as routers do.

    It profits from the noise of the measured utilities as well, so that no policy can reach it.
    """

    name = "oracle"

    def choose(self, steps: PolicySteps) -> Choices:
        """The better form of every step; its score is the utility difference."""
        difference = steps.utility(steps.positive) - steps.utility(steps.negative)
        return Choices(np.where(difference >= 0, steps.positive, steps.negative), difference)
