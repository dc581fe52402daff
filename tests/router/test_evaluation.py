"""The tables of an evaluation, and what it must not see."""

import numpy as np
import pandas as pd
import pytest

from router import (
    AlwaysPolicy,
    Evaluation,
    OraclePolicy,
    PolicySteps,
    RandomPolicy,
    RouterPolicy,
    bootstrap_mean,
    choice_seconds,
    evaluate_policies,
    phases,
    train_router,
)


@pytest.fixture(scope="module")
def steps():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "step_id": [f"s{i}" for i in range(60)],
            "episode_id": [f"e{i // 4}" for i in range(60)],
            "index": np.arange(60) % 4,
            "utility_none": rng.integers(0, 8, 60) / 7,
            "utility_text": rng.integers(0, 8, 60) / 7,
            "utility_image": rng.integers(0, 8, 60) / 7,
        }
    )
    return PolicySteps(table)


@pytest.fixture(scope="module")
def evaluation(steps):
    policies = [OraclePolicy(), AlwaysPolicy("text"), AlwaysPolicy("none"), RandomPolicy(0.4)]
    return evaluate_policies(
        policies,
        steps,
        reference="oracle",
        factors={"phase": phases(steps.table["index"])},
        baseline="none",
        n_permutations=500,
    )


def test_means_are_those_of_what_was_chosen(steps, evaluation):
    mean = evaluation.policies.set_index("policy")["mean"]
    text, image = steps.utility("text"), steps.utility("image")
    assert mean["oracle"] == pytest.approx(np.maximum(text, image).mean())
    assert mean["always none"] == pytest.approx(steps.utility("none").mean())
    assert mean["random"] == pytest.approx(0.6 * text.mean() + 0.4 * image.mean())


def test_comparisons_are_paired_and_corrected(steps, evaluation):
    rows = evaluation.comparisons.set_index("policy")
    assert "oracle" not in rows.index
    gain = np.maximum(steps.utility("text"), steps.utility("image")) - steps.utility("text")
    expected = bootstrap_mean(gain, steps.table["episode_id"])
    assert rows.loc["always text", ["gain", "low", "high"]].tolist() == pytest.approx(
        list(expected)
    )
    assert (rows["p_holm"] >= rows["p"]).all()


def test_matched_random_runs_from_one_fixed_form_to_the_other(steps, evaluation):
    curve = evaluation.matched_random
    assert curve["rate"].tolist() == [i / 10 for i in range(11)]
    assert curve["mean"].iloc[0] == pytest.approx(steps.utility("text").mean())
    assert curve["mean"].iloc[-1] == pytest.approx(steps.utility("image").mean())
    assert (curve["low"] < curve["mean"]).all()


def test_choices_have_a_row_for_every_policy_and_step(steps, evaluation):
    choices = evaluation.choices
    assert len(choices) == 4 * 60
    oracle = choices.loc[choices["policy"] == "oracle"]
    assert oracle["utility"].mean() == pytest.approx(evaluation.policies["mean"][0])
    assert oracle["score"].notna().all()
    assert choices.loc[choices["policy"] == "random", "score"].isna().all()


def test_breakdown_holds_conditions_and_reference_over_the_baseline(evaluation):
    assert set(evaluation.usefulness["series"]) == {"text", "image", "oracle"}
    assert set(evaluation.routing["policy"]) == set(evaluation.policies["policy"])


def test_saved_evaluation_is_loaded_equal(evaluation, tmp_path):
    loaded = Evaluation.load(evaluation.save(tmp_path / "evaluation"))
    assert loaded.settings == evaluation.settings
    for name in ("policies", "comparisons", "matched_random", "choices", "usefulness", "routing"):
        pd.testing.assert_frame_equal(
            getattr(loaded, name), getattr(evaluation, name), check_dtype=False
        )
    (tmp_path / "evaluation" / "choices.parquet").unlink()
    with pytest.raises(ValueError, match="holds no readable evaluation"):
        Evaluation.load(tmp_path / "evaluation")


def test_episodes_that_were_fitted_on_are_refused(steps):
    with pytest.raises(ValueError, match=r"2 episodes of the evaluation .* first 'e1'"):
        evaluate_policies([OraclePolicy()], steps, reference="oracle", fitted_on=["e1", "e3", "x"])


def test_names_must_tell_policies_apart_and_hold_the_reference(steps):
    with pytest.raises(ValueError, match="names of their own"):
        evaluate_policies([OraclePolicy()] * 2, steps, reference="oracle")
    with pytest.raises(ValueError, match="reference 'router' is not among the policies oracle"):
        evaluate_policies([OraclePolicy()], steps)


def test_test_steps_touch_neither_weights_nor_threshold(planted, quick, tmp_path):
    """Utilities and targets of the test split are spoilt; training and calibration do not notice."""
    test = (planted.table["split"] == "test").to_numpy()
    spoilt = planted.table.copy()
    spoilt.loc[test, ["utility_text", "utility_image"]] = (
        1 - spoilt.loc[test, ["utility_image", "utility_text"]].to_numpy()
    )
    world = type(planted)(
        planted.states,
        planted.memories,
        spoilt,
        planted.memory_of,
        np.where(test, -planted.target, planted.target),
    )
    train = world.steps("train")
    router = train_router(
        train.inputs["hidden"], world.targets("train"), quick.config.options, progress=False
    )
    again = RouterPolicy(router).calibrated(world.steps("calibration")).router
    first, second = quick.save_pretrained(tmp_path / "a"), again.save_pretrained(tmp_path / "b")
    for name in ("config.json", "model.safetensors"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_seconds_of_a_choice_are_per_step(steps):
    assert 0 < choice_seconds(OraclePolicy(), steps) < 1
