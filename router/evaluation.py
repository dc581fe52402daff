"""Offline evaluation: what each policy would have scored, from the utilities of every condition.

Convention: all policies decide the same steps; a policy's mean is over steps, its interval and every
test over episodes. Gains are reference - other policy.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from router.factors import routing_by_factor, usefulness
from router.policies import Choices, Policy, PolicySteps, utilities_of
from router.policies.random import RandomPolicy
from router.routing import routing_table
from router.statistics import bootstrap_mean, holm, sign_flip_test

RATES = tuple(i / 10 for i in range(11))


@dataclass(frozen=True)
class Evaluation:
    """Tables of one evaluation.

    Parameters
    ----------
    policies
        A row per policy: mean, low, high (95 %), and the columns of `routing_table`.
    comparisons
        The reference against each other policy: gain, low, high (95 %), p (sign flips of episodes),
        p_holm.
    matched_random
        Random routing at positive rates 0, .1 … 1: rate, mean, low, high.
    choices
        A row per policy and step: condition, score (relative; NaN where there is none), utility.
    usefulness
        Mean utility of the conditions and the reference by factor (`factors.usefulness`).
    routing
        Positive rate of each policy by factor.
    settings
        reference, negative, positive, baseline, n_steps, n_episodes, n_bootstrap, n_permutations,
        seed.
    """

    policies: pd.DataFrame
    comparisons: pd.DataFrame
    matched_random: pd.DataFrame
    choices: pd.DataFrame
    usefulness: pd.DataFrame
    routing: pd.DataFrame
    settings: dict[str, Any]

    def save(self, folder: str | Path) -> Path:
        """Write a Parquet file per table, and settings.json."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name in _tables():
            getattr(self, name).to_parquet(folder / f"{name}.parquet", index=False)
        (folder / "settings.json").write_text(json.dumps(self.settings, indent=2) + "\n", "utf-8")
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> Evaluation:
        """Read what `save` wrote; `ValueError` names the folder when a file is missing or damaged."""
        folder = Path(folder)
        try:
            tables = {name: pd.read_parquet(folder / f"{name}.parquet") for name in _tables()}
            settings = json.loads((folder / "settings.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{folder} holds no readable evaluation: {error}") from error
        return cls(**tables, settings=settings)


def evaluate_policies(
    policies: Sequence[Policy],
    steps: PolicySteps,
    *,
    reference: str = "router",
    factors: Mapping[str, ArrayLike] | None = None,
    baseline: str | None = None,
    fitted_on: Collection[str] = (),
    n_bootstrap: int = 1000,
    n_permutations: int = 10_000,
    seed: int = 0,
) -> Evaluation:
    """Let every policy decide the same steps, and compare them.

    Parameters
    ----------
    policies
        With names of their own.
    steps
        Of the evaluation, with the utility of every condition that a policy may choose.
    reference
        The policy that is tested against each other one.
    factors
        Name → level of each step, for the breakdown (`router.factors`).
    baseline
        Condition whose utility is subtracted in the breakdown, such as "none".
    fitted_on
        Episodes used for fitting or calibrating any policy.

    Raises
    ------
    ValueError
        When two policies have one name, the reference is not among them, or an evaluated episode
        was fitted on.
    """
    _check(policies, steps, reference, fitted_on)
    episodes = steps.table["episode_id"].to_numpy(dtype=str)
    choices = pd.concat([_choices(policy, steps) for policy in policies], ignore_index=True)
    # Not the utility of the choices: a random policy is judged by its expectation.
    gained = {policy.name: policy.utilities(steps) for policy in policies}
    estimates = [
        {
            "policy": name,
            **bootstrap_mean(u, episodes, n_bootstrap=n_bootstrap, seed=seed)._asdict(),
        }
        for name, u in gained.items()
    ]
    factors = factors or {}
    breakdown = pd.DataFrame(
        {
            "episode_id": episodes,
            **{condition: steps.utility(condition) for condition in steps.conditions},
            reference: gained[reference],
        }
    )
    return Evaluation(
        policies=pd.DataFrame(estimates).merge(routing_table(choices, steps.positive), on="policy"),
        comparisons=_comparisons(gained, episodes, reference, n_bootstrap, n_permutations, seed),
        matched_random=_matched_random(steps, n_bootstrap, seed),
        choices=choices,
        usefulness=usefulness(
            breakdown, factors, baseline=baseline, n_bootstrap=n_bootstrap, seed=seed
        ),
        routing=routing_by_factor(choices, factors, steps.positive),
        settings={
            "reference": reference,
            "negative": steps.negative,
            "positive": steps.positive,
            "baseline": baseline,
            "n_steps": len(steps),
            "n_episodes": len(set(episodes)),
            "n_bootstrap": n_bootstrap,
            "n_permutations": n_permutations,
            "seed": seed,
        },
    )


def choice_seconds(policy: Policy, steps: PolicySteps) -> float:
    """Seconds per step that a policy's choice takes, deciding all steps at once."""
    start = time.perf_counter()
    policy.choose(steps)
    return (time.perf_counter() - start) / len(steps)


def _comparisons(
    gained: Mapping[str, np.ndarray],
    episodes: NDArray[np.str_],
    reference: str,
    n_bootstrap: int,
    n_permutations: int,
    seed: int,
) -> pd.DataFrame:
    rows = []
    for name, utilities in gained.items():
        if name == reference:
            continue
        difference = gained[reference] - utilities
        gain = bootstrap_mean(difference, episodes, n_bootstrap=n_bootstrap, seed=seed)
        p = sign_flip_test(difference, episodes, n_permutations=n_permutations, seed=seed)
        rows.append({"policy": name, "gain": gain.mean, "low": gain.low, "high": gain.high, "p": p})
    table = pd.DataFrame(rows, columns=["policy", "gain", "low", "high", "p"])
    return table.assign(p_holm=holm(table["p"]))


def _matched_random(steps: PolicySteps, n_bootstrap: int, seed: int) -> pd.DataFrame:
    rows = []
    for rate in RATES:
        utilities = RandomPolicy(rate).utilities(steps)
        estimate = bootstrap_mean(
            utilities, steps.table["episode_id"], n_bootstrap=n_bootstrap, seed=seed
        )
        rows.append({"rate": rate, **estimate._asdict()})
    return pd.DataFrame(rows)


def _choices(policy: Policy, steps: PolicySteps) -> pd.DataFrame:
    chosen: Choices = policy.choose(steps)
    return steps.table[["step_id", "episode_id", "index"]].assign(
        policy=policy.name,
        condition=chosen.conditions,
        score=chosen.scores,
        utility=utilities_of(chosen, steps),
    )


def _check(
    policies: Sequence[Policy], steps: PolicySteps, reference: str, fitted_on: Collection[str]
) -> None:
    names = [policy.name for policy in policies]
    if len(set(names)) < len(names):
        raise ValueError(f"policies need names of their own, found {', '.join(names)}")
    if reference not in names:
        raise ValueError(f"reference {reference!r} is not among the policies {', '.join(names)}")
    if seen := set(steps.table["episode_id"]) & set(fitted_on):
        raise ValueError(
            f"{len(seen)} episodes of the evaluation were fitted or calibrated on, first "
            f"{min(seen)!r}; evaluate on episodes of another split"
        )


def _tables() -> list[str]:
    return [field.name for field in fields(Evaluation) if field.name != "settings"]
