"""Utility: the router's features and network, regressing the utility difference itself."""

from __future__ import annotations

from router.options import TrainingOptions
from router.policies import HIDDEN, PolicySteps
from router.policies.router import RouterPolicy
from router.training import train_router


def train_utility(
    steps: PolicySteps, options: TrainingOptions | None = None, *, progress: bool = True
) -> RouterPolicy:
    """Train on all steps, ties included (their target is 0)."""
    difference = steps.utility(steps.positive) - steps.utility(steps.negative)
    router = train_router(
        steps.seen(HIDDEN), difference, options, target="utility difference", progress=progress
    )
    return RouterPolicy(router, "utility")
