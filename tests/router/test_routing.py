"""Runs, switches and shares, counted by hand."""

import numpy as np
import pandas as pd

from router import routing_table, run_lengths

T, I = "text", "image"  # noqa: E741
CHOICES = pd.DataFrame(
    {
        "policy": "router",
        "episode_id": list("aaaaabbbc"),
        "index": [0, 1, 2, 3, 4, 0, 1, 2, 0],
        "condition": [T, T, I, I, T, I, I, I, T],
    }
)


def test_runs_are_unbroken_within_episodes():
    runs = run_lengths(CHOICES.sample(frac=1, random_state=0))
    assert runs[["episode_id", "run", "condition", "start", "length"]].to_numpy().tolist() == [
        ["a", 0, T, 0, 2],
        ["a", 1, I, 2, 2],
        ["a", 2, T, 4, 1],
        ["b", 0, I, 0, 3],
        ["c", 0, T, 0, 1],
    ]


def test_shares_switches_and_run_lengths():
    row = routing_table(CHOICES, "image").iloc[0]
    assert np.isclose(row["positive_rate"], 5 / 9)
    assert row["episodes_with_both"] == 0.5  # of a and b; c has one step only
    assert np.isclose(row["switches"], 2 / 3)
    assert np.isclose(row["switch_rate"], 2 / 6)
    assert np.isclose(row["mean_run"], 9 / 5)
    assert row["longest_run"] == 3


def test_policies_are_kept_apart_in_their_order():
    other = CHOICES.assign(policy="always text", condition=T)
    table = routing_table(pd.concat([CHOICES, other]), "image").set_index("policy")
    assert table.index.tolist() == ["router", "always text"]
    assert table.loc["always text", ["positive_rate", "switches"]].tolist() == [0, 0]


def test_episodes_of_one_step_have_no_switch_rate():
    table = routing_table(CHOICES[CHOICES["episode_id"] == "c"], "image")
    assert np.isnan(table.loc[0, "switch_rate"])
    assert np.isnan(table.loc[0, "episodes_with_both"])
