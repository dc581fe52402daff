"""The whole way on worlds with a known answer: train, calibrate, evaluate on unseen episodes."""

import numpy as np
import pytest

from router import (
    AlwaysPolicy,
    OraclePolicy,
    RandomPolicy,
    RouterPolicy,
    TrainingOptions,
    evaluate_policies,
    train_binary,
    train_router,
    train_utility,
)

OPTIONS = TrainingOptions(max_epochs=60)


def evaluated(world):
    train, calibration, test = (world.steps(s) for s in ("train", "calibration", "test"))
    router = train_router(train.inputs["hidden"], world.targets("train"), OPTIONS, progress=False)
    policies = [
        RouterPolicy(router),
        train_utility(train, OPTIONS, progress=False),
        train_binary(train, OPTIONS, progress=False),
    ]
    learned = [policy.calibrated(calibration) for policy in policies]
    rate = float((learned[0].choose(test).conditions == "image").mean())
    fixed = [AlwaysPolicy(c) for c in ("none", "text", "image")]
    return evaluate_policies(
        [*learned, OraclePolicy(), RandomPolicy(rate), *fixed],
        test,
        fitted_on={*train.table["episode_id"], *calibration.table["episode_id"]},
    )


@pytest.fixture(scope="module")
def dependent(planted):
    return evaluated(planted)


@pytest.fixture(scope="module")
def independent(flat):
    return evaluated(flat)


def shares_of_oracle(evaluation):
    mean = evaluation.policies.set_index("policy")["mean"]
    fixed = mean[["always text", "always image"]].max()
    return (mean - fixed) / (mean["oracle"] - fixed)


def test_router_reaches_nine_tenths_of_the_oracles_gain(dependent):
    assert shares_of_oracle(dependent)["router"] >= 0.9


def test_utility_and_binary_reach_it_too(dependent):
    assert (shares_of_oracle(dependent)[["utility", "binary"]] >= 0.9).all()


def test_matched_random_reaches_nothing_of_it(dependent):
    assert shares_of_oracle(dependent)["random"] < 0.1
    assert shares_of_oracle(dependent)["random"] <= shares_of_oracle(dependent)["router"] - 0.8


def test_gain_over_every_fixed_form_and_random_is_significant(dependent):
    rows = dependent.comparisons.set_index("policy")
    beaten = rows.loc[["always none", "always text", "always image", "random"]]
    assert (beaten["p_holm"] < 0.01).all()
    assert (beaten["low"] > 0).all()


def test_without_dependence_the_interval_of_the_gain_covers_zero(independent):
    rows = independent.comparisons.set_index("policy")
    for name in ("always text", "always image", "random"):
        assert rows.loc[name, "low"] <= 0 <= rows.loc[name, "high"]
        assert rows.loc[name, "p_holm"] > 0.05


def test_router_sends_both_forms_to_use_within_episodes(dependent):
    routing = dependent.policies.set_index("policy")
    assert routing.loc["router", "episodes_with_both"] > 0.5
    assert routing.loc["always text", "switches"] == 0
    assert np.isclose(routing.loc["router", "positive_rate"], 0.5, atol=0.1)
