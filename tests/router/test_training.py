"""What training sees, keeps and refuses."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from router import train_router
from router.training import held_out_steps


@pytest.fixture
def train(planted):
    return planted.steps("train").inputs["hidden"], planted.targets("train")


def trained(inputs, targets, options):
    return train_router(inputs, targets, options, progress=False)


@pytest.fixture
def options(quick):
    return quick.config.options


def test_equal_seeds_give_equal_weights_and_others_do_not(train, options):
    first, again = trained(*train, options), trained(*train, options)
    other = trained(*train, options.model_copy(update={"seed": 1}))
    np.testing.assert_array_equal(first.weights.hidden_weight, again.weights.hidden_weight)
    assert (first.weights.hidden_weight != other.weights.hidden_weight).any()


def test_the_callers_random_numbers_are_left_alone(train, options):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    trained(*train, options)
    assert torch.equal(torch.rand(3), expected)


def test_held_out_episodes_are_whole_and_not_fitted(train, options):
    inputs, targets = train
    held_out = held_out_steps(inputs.episode_ids, options.held_out_share, options.seed)
    episodes = np.array(inputs.episode_ids)
    assert not set(episodes[held_out]) & set(episodes[~held_out])
    assert len(set(episodes[held_out])) == round(0.2 * len(set(episodes)))
    states, other_targets = inputs.states.copy(), targets.copy()
    states[held_out] *= 3
    other_targets[held_out] *= -1
    one_epoch = options.model_copy(update={"max_epochs": 1})
    first = trained(inputs, targets, one_epoch)
    second = trained(replace(inputs, states=states), other_targets, one_epoch)
    np.testing.assert_array_equal(first.weights.state.matrix, second.weights.state.matrix)
    np.testing.assert_array_equal(first.weights.hidden_weight, second.weights.hidden_weight)
    assert first.history["held_out_loss"][0] != second.history["held_out_loss"][0]


def test_the_weights_of_the_best_epoch_are_kept(train, options):
    inputs, targets = train
    stopping = options.model_copy(
        update={"max_epochs": 60, "patience": 4, "learning_rate": 0.02, "hidden": 64}
    )
    router = trained(inputs, targets, stopping)
    losses = router.history["held_out_loss"]
    best = int(losses.idxmin()) + 1
    assert router.config.metrics["best_epoch"] == best
    assert len(losses) == best + stopping.patience < 60
    held_out = held_out_steps(inputs.episode_ids, 0.2, 0)
    scores = torch.from_numpy(router.relative_scores(inputs)[held_out])
    loss = torch.nn.functional.huber_loss(scores, torch.from_numpy(targets[held_out]))
    assert float(loss) == pytest.approx(losses.min(), rel=1e-4)


def test_a_state_that_tells_beats_saying_zero(planted, train, options):
    router = trained(*train, options.model_copy(update={"max_epochs": 30, "n_components": 24}))
    metrics = router.config.metrics
    assert metrics["held_out_loss"] < 0.5 * metrics["held_out_loss_of_zero"]


@pytest.mark.parametrize(("asked", "state", "memory"), [(512, 24, 16), (5, 5, 5)])
def test_components_are_as_many_as_there_are_and_recorded(train, options, asked, state, memory):
    router = trained(*train, options.model_copy(update={"n_components": asked, "max_epochs": 1}))
    assert (router.config.state_components, router.config.memory_components) == (state, memory)
    assert router.weights.state.matrix.shape == (state, 24)
    assert router.weights.hidden_weight.shape == (16, state + memory)


def test_targets_that_cannot_be_fitted_are_refused(train, options):
    inputs, targets = train
    with pytest.raises(ValueError, match="targets have shape"):
        trained(inputs, targets[1:], options)
    spoilt = targets.copy()
    spoilt[3] = np.nan
    with pytest.raises(ValueError, match=f"target of step '{inputs.step_ids[3]}' is nan"):
        trained(inputs, spoilt, options)
    with pytest.raises(ValueError, match="expected 0 or 1"):
        trained(inputs, targets, options.model_copy(update={"loss": "logistic"}))
    with pytest.raises(ValueError, match="1 episodes: a router needs two"):
        trained(inputs.take(inputs.step_ids[:5]), targets[:5], options)
