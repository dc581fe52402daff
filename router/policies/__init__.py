"""Policies: what decides the form of memory at each step, one way per file.

Convention: a policy sees `PolicySteps` and names a condition for each. The oracle alone looks at the
utilities; every other policy works on steps without them, such as the one step of a live episode.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from router.inputs import RouterInputs

HIDDEN, BASIC = "hidden", "basic"
"""Names of inputs: hidden states with memory embeddings; instruction, screenshot and memory
embeddings."""


@dataclass(frozen=True)
class PolicySteps:
    """Steps to decide.

    Parameters
    ----------
    table
        A row per step: step_id, episode_id, index (place in the episode), and, where it is known,
        utility_<condition>.
    negative, positive
        The two forms that routers choose from.
    inputs
        What routers see, by name ("hidden", "basic"); rows as in the table.

    Raises
    ------
    ValueError
        When a column is missing, a step occurs twice, or inputs are of other steps or sides.
    """

    table: pd.DataFrame
    negative: str = "text"
    positive: str = "image"
    inputs: Mapping[str, RouterInputs] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lacking = {"step_id", "episode_id", "index"} - set(self.table.columns)
        if lacking:
            raise ValueError(f"the table of steps lacks the columns {', '.join(sorted(lacking))}")
        twice = self.table.loc[self.table["step_id"].duplicated(), "step_id"]
        if len(twice):
            raise ValueError(f"the table of steps has {twice.iloc[0]!r} twice")
        for name, inputs in self.inputs.items():
            if list(inputs.step_ids) != self.table["step_id"].tolist():
                raise ValueError(f"inputs {name!r} are not of the table's steps in their order")
            sides = (inputs.origin.negative, inputs.origin.positive)
            if sides != (self.negative, self.positive):
                raise ValueError(
                    f"inputs {name!r} are of the sides {sides}, the steps of "
                    f"{(self.negative, self.positive)}"
                )

    def __len__(self) -> int:
        return len(self.table)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions whose utility is known."""
        columns = [str(c) for c in self.table.columns if str(c).startswith("utility_")]
        return tuple(column.removeprefix("utility_") for column in columns)

    def seen(self, name: str) -> RouterInputs:
        """The inputs called `name`; `ValueError` where these steps have none."""
        if name not in self.inputs:
            raise ValueError(
                f"these steps lack the inputs {name!r}; they have "
                f"{', '.join(map(repr, self.inputs)) or 'none'}"
            )
        return self.inputs[name]

    def utility(self, condition: str) -> NDArray[np.float64]:
        """(n_steps,) utility of a condition; `ValueError` where it is not known."""
        if condition not in self.conditions:
            raise ValueError(
                f"no utility of {condition!r} is known for these steps, only of "
                f"{', '.join(self.conditions) or 'none'}; collect that condition too"
            )
        values = self.table[f"utility_{condition}"].to_numpy(dtype=np.float64)
        if not np.isfinite(values).all():
            step = self.table["step_id"].iloc[int(np.flatnonzero(~np.isfinite(values))[0])]
            raise ValueError(f"utility_{condition} of step {step!r} is not a number")
        return values


@dataclass(frozen=True)
class Choices:
    """What a policy chose.

    Parameters
    ----------
    conditions
        (n_steps,) names.
    scores
        (n_steps,) relative scores, positive - negative; NaN for policies that compute none.
    """

    conditions: NDArray[np.str_]
    scores: NDArray[np.float64]


class Policy(ABC):
    """Decides the form of memory of steps."""

    name: str

    @abstractmethod
    def choose(self, steps: PolicySteps) -> Choices:
        """The condition of every step."""

    def utilities(self, steps: PolicySteps) -> NDArray[np.float64]:
        """(n_steps,) utility under what is chosen (its expectation for a random policy)."""
        return utilities_of(self.choose(steps), steps)


def utilities_of(choices: Choices, steps: PolicySteps) -> NDArray[np.float64]:
    """(n_steps,) utility under the chosen conditions."""
    result = np.empty(len(steps))
    for condition in np.unique(choices.conditions):
        rows = choices.conditions == condition
        result[rows] = steps.utility(str(condition))[rows]
    return result


def without_scores(conditions: NDArray[np.str_]) -> Choices:
    """Choices of a policy that computes no relative score."""
    return Choices(conditions, np.full(len(conditions), np.nan))
