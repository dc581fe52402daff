"""Basic: the router's target and network on embeddings alone, without hidden states."""

from __future__ import annotations

from numpy.typing import ArrayLike

from router.options import TrainingOptions
from router.policies import BASIC, PolicySteps
from router.policies.router import RouterPolicy
from router.training import train_router


def train_basic(
    steps: PolicySteps,
    targets: ArrayLike,
    options: TrainingOptions | None = None,
    *,
    target: str = "signed",
    progress: bool = True,
) -> RouterPolicy:
    """Train on the inputs "basic": embeddings of instruction, screenshot and memory."""
    router = train_router(steps.seen(BASIC), targets, options, target=target, progress=progress)
    return RouterPolicy(router, "basic", BASIC)
