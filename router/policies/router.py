"""The router as a policy; Utility, Binary and Basic are routers of another making."""

from __future__ import annotations

from router.policies import HIDDEN, Choices, Policy, PolicySteps
from router.router import PairwiseRouter


class RouterPolicy(Policy):
    """A trained router.

    Parameters
    ----------
    router
        Calibrated, or it decides by the sign of its score.
    name
        What the policy is called in tables.
    inputs
        Which of the steps' inputs it sees.
    """

    def __init__(self, router: PairwiseRouter, name: str = "router", inputs: str = HIDDEN) -> None:
        self.router, self.name, self.inputs = router, name, inputs

    def calibrated(self, steps: PolicySteps) -> RouterPolicy:
        """The same policy with the threshold that yields the most utility on these steps."""
        router = self.router.calibrated(
            steps.seen(self.inputs), steps.utility(steps.negative), steps.utility(steps.positive)
        )
        return RouterPolicy(router, self.name, self.inputs)

    def choose(self, steps: PolicySteps) -> Choices:
        """What the router decides."""
        scores = self.router.relative_scores(steps.seen(self.inputs))
        return Choices(self.router.decide(scores), scores)
