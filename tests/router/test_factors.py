"""Levels of the factors and the breakdown by them."""

import numpy as np
import pandas as pd

from router import action_groups, density_terciles, phases, routing_by_factor, usefulness


def test_terciles_are_thirds_of_distinct_counts():
    levels = density_terciles([9, 1, 5, 4, 8, 3, 7, 2, 6])
    assert levels.tolist() == [
        "dense", "sparse", "medium", "medium", "dense", "sparse", "dense", "sparse", "medium",
    ]  # fmt: skip


def test_equal_counts_share_a_level():
    assert set(density_terciles([4] * 7)) == {"sparse"}
    assert density_terciles([1, 1, 1, 1, 9, 9]).tolist() == ["sparse"] * 4 + ["dense"] * 2


def test_only_actions_that_land_somewhere_are_spatial():
    kinds = ["click", "long_press", "type", "scroll", "press", "open_app", "wait", "complete"]
    assert action_groups(kinds).tolist() == ["spatial"] * 2 + ["function"] * 6
    assert action_groups(["scroll"], spatial={"scroll"}).tolist() == ["spatial"]


def test_first_steps_are_initial():
    assert phases([0, 1, 0, 7]).tolist() == ["initial", "later", "initial", "later"]


UTILITIES = pd.DataFrame(
    {
        "episode_id": list("aabb"),
        "none": [0.0, 0.5, 0.0, 0.5],
        "text": [1.0, 0.5, 0.0, 0.5],
        "image": [0.5, 1.0, 0.5, 1.0],
    }
)
FACTORS = {"phase": ["initial", "later"] * 2, "density": ["dense", "sparse", "dense", "medium"]}


def test_usefulness_is_the_mean_over_the_baseline_within_levels():
    table = usefulness(UTILITIES, FACTORS, baseline="none").set_index(["level", "series"])
    assert table.loc[("initial", "text"), "mean"] == 0.5
    assert table.loc[("later", "image"), "mean"] == 0.5
    assert table.loc[("later", "text"), ["n_steps", "n_episodes"]].tolist() == [2, 2]
    assert table.loc[("initial", "text"), ["low", "high"]].tolist() == [0, 1]
    assert np.isnan(table.loc[("sparse", "text"), "low"])
    plain = usefulness(UTILITIES, FACTORS).set_index(["level", "series"])
    assert plain.loc[("initial", "none"), "mean"] == 0
    assert plain.loc[("later", "image"), "mean"] == 1


def test_levels_of_density_go_from_sparse_to_dense():
    table = usefulness(UTILITIES, FACTORS)
    density = table.loc[table["factor"] == "density", "level"].unique()
    assert density.tolist() == ["sparse", "medium", "dense"]


def test_positive_rate_within_levels():
    choices = pd.DataFrame({"policy": "router", "condition": ["image", "text", "image", "image"]})
    table = routing_by_factor(choices, FACTORS, "image").set_index("level")
    assert table.loc["initial", "positive_rate"] == 1
    assert table.loc["later", ["positive_rate", "n_steps"]].tolist() == [0.5, 2]
