import math

import numpy as np
import pytest

from activations import (
    coe_features,
    cosine_distance,
    integration_point,
    l2_distance,
    signed_shift,
    total_integration,
    velocity,
)


def test_signed_shift_is_positive_minus_negative_in_float32():
    shift = signed_shift(np.array([[3, 1]], np.float16), np.array([[1, 4]], np.float16))
    assert shift.dtype == np.float32
    assert shift.tolist() == [[2, -3]]


def test_signed_shift_is_computed_wider_than_half_precision():
    one, other = np.array([2049.0], np.float32), np.array([1.5], np.float16)
    assert signed_shift(one, other)[0] == 2047.5


def test_sides_of_different_shape_are_refused():
    for function in (signed_shift, cosine_distance, l2_distance):
        with pytest.raises(ValueError, match=r"\(2,\) and \(1, 2\)"):
            function(np.zeros(2), np.zeros((1, 2)))


def test_velocity_is_the_change_from_layer_to_layer():
    shifts = np.array([[[1.0, 2.0]], [[4.0, 6.0]], [[4.0, 5.0]]])
    assert velocity(shifts).tolist() == [[[3, 4]], [[0, -1]]]
    with pytest.raises(ValueError, match="two layers"):
        velocity(shifts[:1])


def test_cosine_distance_by_hand():
    one = np.array([[1, 0], [1, 0], [1, 0], [1, 1]])
    other = np.array([[5, 0], [-2, 0], [0, 3], [1, 0]])
    np.testing.assert_allclose(cosine_distance(one, other), [0, 2, 1, 1 - 1 / math.sqrt(2)])


def test_cosine_distance_stays_in_range_and_defines_zero_vectors():
    vectors = np.random.default_rng(0).normal(size=(500, 7)) * 1e3
    assert (cosine_distance(vectors, vectors) >= 0).all()
    assert (cosine_distance(vectors, -vectors) <= 2).all()
    assert cosine_distance([[0, 0], [0, 0]], [[0, 0], [1, 0]]).tolist() == [0, 1]


def test_l2_distance_by_hand():
    assert l2_distance([[0, 0], [1, 1]], [[3, 4], [1, 1]]).tolist() == [5, 0]


def test_chain_features_by_hand():
    # h_0 = (1, 0), h_1 = (1, 1), h_2 = (0, 1): steps of length 1, 45 degrees each; net sqrt(2), 90.
    features = coe_features([[1, 0], [1, 1], [0, 1]])
    half = 1 / math.sqrt(2)
    np.testing.assert_allclose(features.magnitude, [half, half])
    np.testing.assert_allclose(features.angle, [0.5, 0.5])
    np.testing.assert_allclose(features.coe_r, half - 0.5)
    np.testing.assert_allclose(features.coe_c, half)


def test_chain_features_of_unequal_steps_by_hand():
    # Steps of length 2 (no turn) and sqrt(10) (angle arctan(1/3) + ... from (3, 0) to (0, 1)): 90 degrees.
    features = coe_features([[1, 0], [3, 0], [0, 1]])
    magnitude = np.array([2, math.sqrt(10)]) / math.sqrt(2)
    np.testing.assert_allclose(features.magnitude, magnitude)
    np.testing.assert_allclose(features.angle, [0, 1])
    cosine = (magnitude * np.cos([0, 1])).mean()
    sine = (magnitude * np.sin([0, 1])).mean()
    np.testing.assert_allclose(features.coe_r, magnitude.mean() - 0.5)
    np.testing.assert_allclose(features.coe_c, math.hypot(cosine, sine))


def test_chain_that_returns_has_zero_features_not_nan():
    state = np.random.default_rng(0).normal(size=9)
    features = coe_features([state, 2 * state + 1, state])
    assert features.magnitude.tolist() == [0, 0]
    assert features.angle.tolist() == [0, 0]
    assert np.isfinite(coe_features(np.zeros((3, 4))).coe_c)
    assert np.isfinite(coe_features([[0, 0], [1, 0], [0, 0]]).coe_r)


def test_many_chains_side_by_side_equal_each_alone():
    chains = np.random.default_rng(0).normal(size=(5, 3, 4))
    together = coe_features(chains)
    assert together.coe_r.shape == (3,)
    for i in range(3):
        np.testing.assert_allclose(together.coe_c[i], coe_features(chains[:, i]).coe_c)


def test_chain_needs_two_states():
    with pytest.raises(ValueError, match="chain has shape"):
        coe_features([[1, 2]])


def test_integration_point_needs_every_later_layer_above_the_threshold():
    dependent = [True, True, False]
    # Group differences by layer: 0.5, 0.1, 0.3, 0.4.
    distances = np.array([[0.5, 0.5, 0], [0.2, 0, 0], [0.3, 0.3, 0], [0.6, 0.6, 0.2]])
    assert integration_point(distances, dependent, threshold=0.2) == 2
    assert integration_point(distances, dependent, threshold=0.05) == 0
    assert integration_point(distances, dependent, threshold=0.35) == 3
    assert integration_point(distances, dependent, threshold=0.45) is None


def test_integration_point_refuses_an_empty_group_and_wrong_shapes():
    with pytest.raises(ValueError, match="both groups"):
        integration_point(np.ones((2, 3)), [True, True, True])
    with pytest.raises(ValueError, match="do not fit"):
        integration_point(np.ones((2, 3)), [True, False])


def test_total_integration_is_the_mean_from_the_point_on():
    distances = np.array([[9.0, 9], [1, 2], [3, 6]])
    assert total_integration(distances, 1).tolist() == [2, 4]
    with pytest.raises(ValueError, match="outside of 0 … 2"):
        total_integration(distances, 3)
