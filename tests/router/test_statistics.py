"""Bootstrap, sign flips and Holm against independent computations."""

from itertools import product

import numpy as np
import pytest

from router import bootstrap_mean, holm, sign_flip_test


def test_interval_of_steps_that_are_their_own_episode_is_the_ordinary_one():
    values = np.random.default_rng(0).normal(size=400)
    found = bootstrap_mean(values, np.arange(400), n_bootstrap=4000)
    error = values.std() / 20
    assert found.mean == values.mean()
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.06)


def test_equal_steps_of_an_episode_count_once():
    means = np.random.default_rng(1).normal(size=50)
    episodes = np.arange(50)
    once = bootstrap_mean(means, episodes)
    ten_times = bootstrap_mean(means.repeat(10), episodes.repeat(10))
    np.testing.assert_allclose(ten_times, once)


def test_mean_is_over_steps_of_unequal_episodes():
    values, episodes = [1.0, 1, 1, 0], ["a", "a", "a", "b"]
    found = bootstrap_mean(values, episodes, n_bootstrap=200)
    assert (found.mean, found.low, found.high) == (0.75, 0, 1)


def test_one_episode_has_no_interval():
    found = bootstrap_mean([0.0, 1.0], ["a", "a"])
    assert found.mean == 0.5
    assert np.isnan(found.low)


def test_differences_are_resampled_as_their_sides():
    a, b = np.random.default_rng(2).normal(size=(2, 60))
    episodes = np.arange(60) // 3
    shifted = bootstrap_mean(a - b + 5, episodes)
    np.testing.assert_allclose(np.array(bootstrap_mean(a - b, episodes)) + 5, shifted)


def test_p_value_is_that_of_all_sign_flips():
    differences = np.array([0.9, 0.4, -0.2, 0.5, 0.3, 0.8, -0.1, 0.2, 0.6, 0.7])
    episodes = np.array(list("aabbccddee"))
    sums = [differences[episodes == e].sum() for e in "abcde"]
    flips = [abs(np.dot(signs, sums)) for signs in product((-1, 1), repeat=5)]
    exact = np.mean(np.array(flips) >= abs(sum(sums)) - 1e-9)
    assert sign_flip_test(differences, episodes, n_permutations=20_000) == pytest.approx(
        exact, abs=0.01
    )


def test_no_difference_has_p_one_and_p_is_never_zero():
    assert sign_flip_test(np.zeros(6), np.arange(6)) == 1
    assert sign_flip_test(np.ones(40), np.arange(40), n_permutations=99) == 0.01


def test_p_values_are_uniform_when_nothing_differs():
    rng = np.random.default_rng(3)
    p = [sign_flip_test(rng.normal(size=30), np.arange(30), n_permutations=199) for _ in range(200)]
    assert np.mean(np.array(p) < 0.1) == pytest.approx(0.1, abs=0.06)


def test_holm_by_hand():
    # Sorted: 0.005·4, 0.01·3, 0.03·2, 0.04·1 → running maxima 0.02, 0.03, 0.06, 0.06.
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.9, 0.8]), [1, 1])
    assert len(holm([])) == 0


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="expected one of each"):
        bootstrap_mean([1.0], ["a", "b"])
