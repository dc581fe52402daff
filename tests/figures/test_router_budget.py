"""Matched random routing: the curve, and only policies that route upon it."""

import dataclasses

import pandas as pd
import pytest
from numpy.testing import assert_allclose
from router_results import small_evaluation

from figures import plot_matched_random


@pytest.fixture(scope="module")
def evaluation():
    return small_evaluation()


def test_curve_is_the_table_and_policies_stand_at_their_rate(evaluation):
    lines = {line.get_label(): line for line in plot_matched_random(evaluation).get_lines()}
    assert set(lines) == {"random at this rate", "router", "oracle"}
    random = evaluation.matched_random
    assert_allclose(lines["random at this rate"].get_xdata(), 100 * random["rate"])
    assert_allclose(lines["random at this rate"].get_ydata(), random["mean"])
    row = evaluation.policies.set_index("policy").loc["oracle"]
    assert_allclose(lines["oracle"].get_xydata(), [[100 * row["positive_rate"], row["mean"]]])


def test_policies_differ_in_shape_too(evaluation):
    lines = {line.get_label(): line for line in plot_matched_random(evaluation).get_lines()}
    assert lines["router"].get_marker() != lines["oracle"].get_marker()


def test_more_policies_than_can_be_told_apart_are_refused(evaluation):
    oracle = evaluation.policies.iloc[[1]]
    many = [oracle.assign(policy=f"p{i}") for i in range(6)]
    policies = pd.concat([evaluation.policies, *many], ignore_index=True)
    with pytest.raises(ValueError, match="7 policies beside the reference; 5 can be drawn"):
        plot_matched_random(dataclasses.replace(evaluation, policies=policies))
