"""A small evaluation for the tests of its pictures."""

from __future__ import annotations

import numpy as np
import pandas as pd

from router import (
    AlwaysPolicy,
    Choices,
    Evaluation,
    OraclePolicy,
    Policy,
    PolicySteps,
    RandomPolicy,
    evaluate_policies,
    phases,
)


class LeaningPolicy(Policy):
    """Positive at even places, with scores that grow along the episode."""

    name = "router"

    def choose(self, steps: PolicySteps) -> Choices:
        index = steps.table["index"].to_numpy()
        positive = index % 2 == 0
        conditions = np.where(positive, steps.positive, steps.negative)
        return Choices(conditions, np.where(positive, 1.0, -1.0) * index)


def small_evaluation(n_episodes: int = 5) -> Evaluation:
    """Episodes of 2 to 5 steps under six policies, broken down by phase and half."""
    lengths = [2 + i % 4 for i in range(n_episodes)]
    index = np.concatenate([np.arange(n) for n in lengths])
    rng = np.random.default_rng(0)
    utilities = {c: rng.integers(0, 8, len(index)) / 7 for c in ("none", "text", "image")}
    table = pd.DataFrame(
        {
            "step_id": [f"s{i}" for i in range(len(index))],
            "episode_id": np.repeat([f"e{i}" for i in range(n_episodes)], lengths),
            "index": index,
            **{f"utility_{name}": values for name, values in utilities.items()},
        }
    )
    fixed = [AlwaysPolicy(c) for c in ("none", "text", "image")]
    return evaluate_policies(
        [LeaningPolicy(), OraclePolicy(), RandomPolicy(0.5), *fixed],
        PolicySteps(table),
        factors={"phase": phases(index), "half": np.where(index < 2, "first", "second")},
        baseline="none",
        n_bootstrap=100,
        n_permutations=99,
    )
