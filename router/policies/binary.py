"""Binary: the router's features and network, classifying the sign of the utility difference."""

from __future__ import annotations

from router.options import TrainingOptions
from router.policies import HIDDEN, PolicySteps
from router.policies.router import RouterPolicy
from router.training import train_router


def train_binary(
    steps: PolicySteps, options: TrainingOptions | None = None, *, progress: bool = True
) -> RouterPolicy:
    """Train on the steps that are not tied; the relative score is the log odds of the positive form."""
    difference = steps.utility(steps.positive) - steps.utility(steps.negative)
    not_tied = steps.table.loc[difference != 0, "step_id"]
    options = (options or TrainingOptions()).model_copy(update={"loss": "logistic"})
    router = train_router(
        steps.seen(HIDDEN).take(not_tied.tolist()),
        difference[difference != 0] > 0,
        options,
        target="sign of the utility difference",
        progress=progress,
    )
    return RouterPolicy(router, "binary")
