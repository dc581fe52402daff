"""What each policy chooses, and what it needs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from router import (
    AlwaysPolicy,
    OraclePolicy,
    PolicySteps,
    RandomPolicy,
    RouterPolicy,
    TrainingOptions,
    train_basic,
    train_binary,
    train_utility,
)

QUICK = TrainingOptions(n_components=8, hidden=16, max_epochs=2)


def steps(**columns):
    n = len(next(iter(columns.values())))
    table = pd.DataFrame(
        {"step_id": [f"s{i}" for i in range(n)], "episode_id": "e", "index": range(n)}
    )
    return PolicySteps(table.assign(**columns))


FEW = steps(
    utility_text=[1.0, 0.0, 0.5], utility_image=[0.0, 1.0, 0.5], utility_none=[0.1, 0.2, 0.3]
)


def test_always_is_always_and_needs_no_utility():
    bare = PolicySteps(FEW.table[["step_id", "episode_id", "index"]])
    assert AlwaysPolicy("both").choose(bare).conditions.tolist() == ["both"] * 3
    assert AlwaysPolicy("none").utilities(FEW).tolist() == [0.1, 0.2, 0.3]
    assert AlwaysPolicy("image").name == "always image"
    with pytest.raises(ValueError, match=r"no utility of 'both' .* only of text, image, none"):
        AlwaysPolicy("both").utilities(FEW)


def test_oracle_takes_the_better_form_and_image_at_equality():
    choices = OraclePolicy().choose(FEW)
    assert choices.conditions.tolist() == ["text", "image", "image"]
    assert choices.scores.tolist() == [-1, 1, 0]


def test_random_has_its_rate_and_depends_on_seed_and_step_alone():
    many = steps(utility_text=np.zeros(4000), utility_image=np.ones(4000))
    chosen = RandomPolicy(0.3).choose(many).conditions == "image"
    assert chosen.mean() == pytest.approx(0.3, abs=0.02)
    backwards = replace(many, table=many.table[::-1].reset_index(drop=True))
    again = RandomPolicy(0.3).choose(backwards).conditions == "image"
    np.testing.assert_array_equal(again[::-1], chosen)
    assert (
        RandomPolicy(0.3, seed=1).choose(many).conditions == "image"
    ).tolist() != chosen.tolist()
    np.testing.assert_allclose(RandomPolicy(0.3).utilities(many), 0.3)


@pytest.mark.parametrize(("rate", "condition"), [(0, "text"), (1, "image")])
def test_random_at_the_ends_is_a_fixed_form(rate, condition):
    assert set(RandomPolicy(rate).choose(FEW).conditions) == {condition}


def test_random_rate_is_a_share():
    with pytest.raises(ValueError, match=r"rate is 1\.2"):
        RandomPolicy(1.2)


def test_router_policy_decides_as_the_router(planted, quick):
    test = planted.steps("test")
    choices = RouterPolicy(quick).choose(test)
    scores = quick.relative_scores(test.inputs["hidden"])
    np.testing.assert_array_equal(choices.scores, scores)
    np.testing.assert_array_equal(choices.conditions, quick.decide(scores))


def test_router_policy_names_the_inputs_it_lacks(quick):
    with pytest.raises(ValueError, match="lack the inputs 'hidden'; they have none"):
        RouterPolicy(quick).choose(FEW)
    with pytest.raises(ValueError, match="lack the inputs 'basic'"):
        train_basic(FEW, [0, 0, 0], QUICK)


def test_baselines_say_what_they_were_trained_for(planted):
    train = planted.steps("train")
    train = replace(train, inputs={**train.inputs, "basic": train.inputs["hidden"]})
    utility = train_utility(train, QUICK, progress=False)
    binary = train_binary(train, QUICK, progress=False)
    basic = train_basic(train, planted.targets("train"), QUICK, progress=False)
    assert [p.name for p in (utility, binary, basic)] == ["utility", "binary", "basic"]
    assert binary.router.config.options.loss == "logistic"
    assert utility.router.config.target == "utility difference"
    assert (binary.inputs, basic.inputs) == ("hidden", "basic")


def test_binary_leaves_ties_out_and_utility_keeps_them(planted):
    train = planted.steps("train")
    table = train.table.copy()
    table.loc[:99, "utility_image"] = table.loc[:99, "utility_text"]
    train = replace(train, table=table)

    def n_steps(policy):
        counts = policy.router.config.counts
        return counts["fitted_steps"] + counts["held_out_steps"]

    assert n_steps(train_binary(train, QUICK, progress=False)) == len(table) - 100
    assert n_steps(train_utility(train, QUICK, progress=False)) == len(table)


def test_calibrated_policy_uses_the_calibration_steps(planted, quick):
    calibration = planted.steps("calibration")
    policy = RouterPolicy(quick, "mine").calibrated(calibration)
    assert (policy.name, policy.router.threshold) == ("mine", quick.threshold)


def test_malformed_steps_are_refused(planted):
    with pytest.raises(ValueError, match="lacks the columns episode_id, index"):
        PolicySteps(pd.DataFrame({"step_id": ["a"]}))
    with pytest.raises(ValueError, match="has 's0' twice"):
        replace(FEW, table=pd.concat([FEW.table, FEW.table[:1]]))
    test = planted.steps("test")
    with pytest.raises(ValueError, match="inputs 'hidden' are not of the table's steps"):
        replace(test, table=test.table[::-1])
    with pytest.raises(ValueError, match="are of the sides"):
        replace(test, negative="none")
    holes = replace(FEW, table=FEW.table.assign(utility_text=[1.0, np.nan, 0.0]))
    with pytest.raises(ValueError, match="utility_text of step 's1' is not a number"):
        holes.utility("text")
