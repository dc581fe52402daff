"""Scores, decisions, and what a router refuses."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from router import PairwiseRouter
from router.network import CandidateScorer

FLOATS = st.floats(-100, 100, width=32)


@pytest.fixture
def inputs(planted):
    return planted.steps("test").inputs["hidden"]


def swapped(inputs):
    return replace(inputs, negative=inputs.positive, positive=inputs.negative)


def test_swapping_the_candidates_flips_every_sign_exactly(quick, inputs):
    scores = quick.relative_scores(inputs)
    np.testing.assert_array_equal(quick.relative_scores(swapped(inputs)), -scores)
    assert np.abs(scores).max() > 0


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    arrays(np.float32, 24, elements=FLOATS),
    arrays(np.float32, 16, elements=FLOATS),
    arrays(np.float32, 16, elements=FLOATS),
)
def test_swapping_flips_the_sign_for_any_vectors(quick, state, first, second):
    assert quick.choose(state, first, second).score == -quick.choose(state, second, first).score
    assert quick.choose(state, first, first).score == 0


def test_scores_are_those_of_projection_and_network(quick, inputs):
    weights = quick.weights
    network = CandidateScorer(len(weights.state.matrix), len(weights.memory.matrix), 16, 0.1)
    network.load_state_dict(
        {
            "hidden.weight": torch.from_numpy(weights.hidden_weight),
            "hidden.bias": torch.from_numpy(weights.hidden_bias),
            "output.weight": torch.from_numpy(weights.output_weight)[None],
        }
    )
    with torch.no_grad():
        expected = network.eval().relative(
            torch.from_numpy(weights.state.apply(inputs.states)),
            torch.from_numpy(weights.memory.apply(inputs.negative)),
            torch.from_numpy(weights.memory.apply(inputs.positive)),
        )
    np.testing.assert_allclose(quick.relative_scores(inputs), expected.numpy(), atol=1e-5)


def test_one_step_is_decided_as_in_the_table(quick, inputs):
    scores = quick.relative_scores(inputs)
    decided = quick.decide(scores)
    for row in range(20):
        condition, score = quick.choose(
            inputs.states[row], torch.from_numpy(inputs.negative[row]), inputs.positive[row]
        )
        assert condition == decided[row]
        assert score == pytest.approx(scores[row], abs=1e-6)


def test_equality_goes_to_the_positive_side(quick):
    below = np.nextafter(quick.threshold, -np.inf)
    assert quick.decide([quick.threshold, below]).tolist() == ["image", "text"]


def test_calibration_changes_the_threshold_alone(planted, quick):
    steps = planted.steps("calibration")
    inputs, scores = steps.inputs["hidden"], quick.relative_scores(steps.inputs["hidden"])
    always = quick.calibrated(inputs, np.zeros(len(steps)), np.ones(len(steps)))
    assert always.threshold <= scores.min()
    assert set(always.decide(scores)) == {"image"}
    np.testing.assert_array_equal(always.relative_scores(inputs), scores)
    assert always.config.counts["calibration_steps"] == len(steps)
    assert always.config.metrics["calibration_utility"] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "other"}, "model is 'other', the router's is 'tiny'"),
        ({"weights_sha256": "1"}, "weights_sha256 is '1'"),
        ({"site": "block.2"}, "site is 'block.2', the router's is 'block.3'"),
        ({"conditions": ["text"]}, r"conditions is \['text'\]"),
        ({"embedder": "checkpoint X"}, "embedder is 'checkpoint X'"),
        ({"negative": "none"}, "negative is 'none'"),
        ({"state_width": 7}, "state_width is 7"),
        ({"model": "other", "site": "block.2"}, "model is .*; site is"),
    ],
)
def test_inputs_of_another_origin_are_refused_by_name(quick, inputs, change, message, tmp_path):
    origin = inputs.origin.model_copy(update=change)
    with pytest.raises(ValueError, match=message):
        quick.origin.check(origin)
    folder = quick.save_pretrained(tmp_path)
    assert PairwiseRouter.from_pretrained(folder, origin=inputs.origin).origin == inputs.origin
    with pytest.raises(ValueError, match=message):
        PairwiseRouter.from_pretrained(folder, origin=origin)


def test_foreign_inputs_are_not_scored(quick, inputs):
    foreign = replace(inputs, origin=inputs.origin.model_copy(update={"revision": "def"}))
    with pytest.raises(ValueError, match="revision is 'def'"):
        quick.relative_scores(foreign)


def test_vectors_of_another_width_or_not_finite_are_refused(quick):
    state, memory = np.zeros(24), np.zeros(16)
    with pytest.raises(ValueError, match=r"state has shape \(23,\), the router takes \(24,\)"):
        quick.choose(state[1:], memory, memory)
    with pytest.raises(ValueError, match="positive_memory has shape"):
        quick.choose(state, memory, memory[1:])
    with pytest.raises(ValueError, match="not finite"):
        quick.choose(state * np.nan, memory, memory)
