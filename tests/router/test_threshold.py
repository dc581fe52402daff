"""The threshold against every cut tried one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from router import threshold_curve

STEPS = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=12
)


def utility_at(tau, scores, negative, positive):
    return np.where(scores >= tau, positive, negative).mean()


@given(STEPS)
def test_curve_holds_the_utility_of_every_cut_and_the_best(steps):
    scores, negative, positive = np.array(steps, dtype=float).T / [[2], [7], [7]]
    curve = threshold_curve(scores, negative, positive)
    for row in curve.table.itertuples():
        assert row.utility == pytest.approx(utility_at(row.tau, scores, negative, positive))
        assert row.positive_rate == pytest.approx((scores >= row.tau).mean())
    cuts = [-np.inf, *scores, np.inf]
    best = max(utility_at(cut, scores, negative, positive) for cut in cuts)
    assert utility_at(curve.tau, scores, negative, positive) == pytest.approx(best)
    equal = [row.tau for row in curve.table.itertuples() if np.isclose(row.utility, best)]
    assert abs(curve.tau) == min(abs(tau) for tau in equal)
    assert curve.table["tau"].is_monotonic_increasing


def test_score_equal_to_tau_is_positive():
    curve = threshold_curve([0.0, 0.0], [0, 0], [1, 1])
    assert curve.tau == 0
    assert curve.best.positive_rate == 1


def test_nothing_to_choose_leaves_the_sign():
    assert threshold_curve([-0.4, 0.7, 0.2], [0.5] * 3, [0.5] * 3).tau == 0


def test_of_two_equally_near_cuts_the_lower_is_taken():
    curve = threshold_curve([-1.5, -0.5, 0.5, 1.5], [1, 0, 1, 0], [0, 1, 0, 1])
    assert curve.table["utility"].tolist() == [0.5, 0.75, 0.5, 0.75, 0.5]
    assert curve.tau == -1


def test_always_one_side_when_it_is_better_everywhere():
    assert threshold_curve([1.0, 2.0], [1, 1], [0, 0]).tau == 3
    assert threshold_curve([-2.0, -1.0], [0, 0], [1, 1]).tau == -3


def test_bad_columns_are_refused():
    with pytest.raises(ValueError, match="positive_utility has shape"):
        threshold_curve([0.0, 1.0], [0, 0], [1])
    with pytest.raises(ValueError, match="negative_utility holds values that are not finite"):
        threshold_curve([0.0], [np.nan], [1])
    with pytest.raises(ValueError, match="at least one step"):
        threshold_curve([], [], [])
