"""The routing timeline: a mark per step, its look the form, its size the score."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from router_results import small_evaluation

from figures import plot_routing_timeline
from figures.router_timeline import LARGEST, SMALLEST


@pytest.fixture(scope="module")
def evaluation():
    return small_evaluation()


def marks(ax):
    return {c.get_label(): c for c in ax.collections if c.get_label() in ("Text", "Image", "None")}


def test_marks_lie_at_episode_and_step_in_the_look_of_the_form(evaluation):
    drawn = marks(plot_routing_timeline(evaluation, episodes=["e3", "e0"]))
    assert_allclose(drawn["Image"].get_offsets(), [[0, 1], [0, 0], [2, 0], [4, 0]])
    assert_allclose(drawn["Text"].get_offsets(), [[1, 1], [1, 0], [3, 0]])


def test_larger_marks_have_larger_scores(evaluation):
    drawn = marks(plot_routing_timeline(evaluation, episodes=["e3"]))
    assert_allclose(
        drawn["Image"].get_sizes(), SMALLEST + (LARGEST - SMALLEST) * np.array([0, 0.5, 1])
    )


def test_policies_without_scores_have_equal_marks(evaluation):
    ax = plot_routing_timeline(evaluation, policy="always none")
    assert len(set(marks(ax)["None"].get_sizes())) == 1
    assert ax.get_legend().get_title().get_text() == "always none"


def test_longest_episodes_are_drawn_by_default():
    ax = plot_routing_timeline(small_evaluation(16))
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(labels) == 12
    assert labels[:5] == ["e3", "e7", "e11", "e15", "e2"]


def test_unknown_policies_and_episodes_are_named(evaluation):
    with pytest.raises(ValueError, match="choices: no policy 'basic'"):
        plot_routing_timeline(evaluation, policy="basic")
    with pytest.raises(ValueError, match="no episode 'e9'"):
        plot_routing_timeline(evaluation, episodes=["e9"])
