from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from probes import Preferences, score_preferences


def samples_of(scores: dict[str, tuple[list[float], list[float]]]) -> pd.DataFrame:
    """Rows of steps given as (text scores, image scores)."""
    rows = [
        {"step_id": step, "condition": condition, "k": k, "score": score}
        for step, pair in scores.items()
        for condition, values in zip(("text", "image"), pair, strict=True)
        for k, score in enumerate(values)
    ]
    return pd.DataFrame(rows)


SCORES = {
    "stable-image": ([0, 0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1, 1]),
    "stable-text": ([1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0]),
    "unstable": ([0, 0, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]),
    "tied": ([1, 0, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0]),
}
EPISODES = {"unstable": "e1", "stable-image": "e1", "tied": "e2", "stable-text": "e2"}


def test_votes_utilities_and_labels_are_those_counted_by_hand():
    preferences = score_preferences(samples_of(SCORES), EPISODES)
    table = preferences.table.set_index("step_id")
    assert list(table.index) == list(EPISODES), "the order is that of the episodes"
    row = table.loc["stable-image"]
    assert (row["votes_positive"], row["votes_negative"], row["votes_tied"]) == (5, 0, 2)
    assert row["utility_text"] == pytest.approx(2 / 7)
    assert row["utility_image"] == 1
    assert row["difference"] == pytest.approx(5 / 7)
    assert row["label"] == "image"
    assert row["stable"]
    assert table.loc["unstable", "label"] == "image"
    assert not table.loc["unstable", "stable"]
    assert table.loc["tied", "tie"]
    assert pd.isna(table.loc["tied", "label"])
    assert preferences.funnel == {
        "steps": 4,
        "ties": 1,
        "non_tied": 3,
        "unstable": 1,
        "stable_text": 1,
        "stable_image": 1,
    }


def test_analysis_sets_label_by_votes_or_by_difference():
    # Five small wins of image against two large ones of text: votes and utilities disagree.
    scores = {"odd": ([0, 0, 0, 0, 0, 1, 1], [0.1, 0.1, 0.1, 0.1, 0.1, 0, 0])}
    preferences = score_preferences(samples_of(scores), {"odd": "e"})
    assert preferences.labels("non_tied").to_dict() == {"odd": "text"}
    assert preferences.labels("stable").to_dict() == {"odd": "image"}
    with pytest.raises(ValueError, match="analysis set 'all'"):
        preferences.labels("all")  # pyright: ignore[reportArgumentType]


def test_tied_utilities_are_never_stable_even_with_enough_votes():
    scores = {"s": ([0, 0, 0, 0, 0, 0.625, 0.625], [0.25, 0.25, 0.25, 0.25, 0.25, 0, 0])}
    table = score_preferences(samples_of(scores), {"s": "e"}).table
    assert table.loc[0, "votes_positive"] == 5
    assert table.loc[0, "tie"]
    assert not table.loc[0, "stable"]


def test_equal_scores_in_another_order_tie_exactly():
    values, turned = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [0.7, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert np.mean(values) != np.mean(turned), "the case needs rounding"
    scores = {"s": (values, turned)}
    assert score_preferences(samples_of(scores), {"s": "e"}).table.loc[0, "tie"]


def test_row_order_and_other_conditions_change_nothing():
    samples = samples_of(SCORES)
    others = samples.assign(condition="none", score=2.0)
    mixed = pd.concat([samples, others]).sample(frac=1, random_state=0)
    expected = score_preferences(samples, EPISODES).table
    pd.testing.assert_frame_equal(score_preferences(mixed, EPISODES).table, expected)


def test_conditions_k_and_agreement_are_parameters():
    samples = samples_of({"s": ([1, 1, 0], [0, 0, 1])})
    preferences = score_preferences(
        samples, {"s": "e"}, positive="text", negative="image", samples_per_condition=3, agreement=2
    )
    assert preferences.funnel["stable_text"] == 1
    assert preferences.table.loc[0, "difference"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s: s.drop(index=9),
            "step 'stable-image', condition 'image': sample k=2 is missing",
        ),
        (
            lambda s: pd.concat([s, s.iloc[[3]]]),
            "'stable-image', condition 'text', k=3 stands more",
        ),
        (lambda s: s.assign(score=s["score"].where(s.index != 15, 1.5)), "has the score 1.5"),
        (lambda s: s.assign(score=s["score"].where(s.index != 15)), "has the score nan"),
        (
            lambda s: s.assign(score=s["score"] > 0),
            "'stable-image', condition 'text', k=0 has the score np.False_, expected a number",
        ),
        (
            lambda s: s.assign(score=s["score"].astype(object).where(s.index != 15, "high")),
            "k=1 has the score 'high', expected a number",
        ),
        (
            lambda s: s.assign(score=s["score"].astype("Float64").where(s.index != 15)),
            "k=1 has the score <NA>, expected a number",
        ),
        (lambda s: s.assign(k=s["k"] + 1), "k=7 is beyond samples_per_condition=7"),
        (
            lambda s: s[(s["step_id"] != "tied") | (s["condition"] != "image")],
            r"step 'tied', condition 'image': sample k=0 is missing \(0 of 7 found\)",
        ),
        (lambda s: s[s["condition"] == "none"], "no rows of 'image' or 'text'"),
        (lambda s: s.drop(columns="score"), "lacks the columns score"),
        (lambda s: s.replace({"tied": "stranger"}), "step 'stranger' has samples but no episode"),
    ],
)
def test_bad_samples_are_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        score_preferences(change(samples_of(SCORES)), EPISODES)


@pytest.mark.parametrize("agreement", [3, 8])
def test_agreement_must_be_a_majority(agreement):
    with pytest.raises(ValueError, match="more than half"):
        score_preferences(samples_of(SCORES), EPISODES, agreement=agreement)


def test_saved_preferences_come_back_equal(tmp_path):
    preferences = score_preferences(samples_of(SCORES), EPISODES)
    loaded = Preferences.load(preferences.save(tmp_path / "preferences.parquet"))
    pd.testing.assert_frame_equal(loaded.table, preferences.table)
    assert loaded.funnel == preferences.funnel
    assert (loaded.k, loaded.agreement) == (7, 5)
    again = preferences.save(tmp_path / "again.parquet")
    assert again.read_bytes() == (tmp_path / "preferences.parquet").read_bytes()


def test_other_files_are_no_preferences(tmp_path):
    samples_of(SCORES).to_parquet(tmp_path / "samples.parquet")
    with pytest.raises(ValueError, match="no preferences table"):
        Preferences.load(tmp_path / "samples.parquet")
    (tmp_path / "text.parquet").write_text("x")
    with pytest.raises(ValueError, match="not a readable Parquet file"):
        Preferences.load(tmp_path / "text.parquet")


@pytest.mark.parametrize(
    "metadata",
    [
        b"{",
        b"[1]",
        b"{}",
        b'{"positive": "image", "negative": "text", "k": 7, "agreement": 5, "more": 1}',
        b'{"positive": "image", "negative": "text", "k": "7", "agreement": 5}',
        b'{"positive": null, "negative": "text", "k": 7, "agreement": 5}',
    ],
)
def test_edited_metadata_are_refused_by_name(tmp_path, metadata):
    path = score_preferences(samples_of(SCORES), EPISODES).save(tmp_path / "preferences.parquet")
    table = pq.read_table(path)
    key = b"mnemoscope.preferences"
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, key: metadata}), path)
    with pytest.raises(ValueError, match=r"preferences\.parquet: the metadata .*, expected a JSON"):
        Preferences.load(path)


def test_columns_are_joined_by_step():
    preferences = score_preferences(samples_of(SCORES), EPISODES)
    tasks = pd.DataFrame({"step_id": sorted(EPISODES), "task": ["a", "b", "c", "d"]})
    joined = preferences.with_columns(tasks).table.set_index("step_id")
    assert joined["task"].to_dict() == dict(zip(sorted(EPISODES), "abcd"))
    with pytest.raises(ValueError, match="lacks 1 steps, first 'stable-image'"):
        preferences.with_columns(tasks.iloc[1:])
    with pytest.raises(ValueError, match="more than once"):
        preferences.with_columns(pd.concat([tasks, tasks]))
    with pytest.raises(ValueError, match="already in the preferences table: label"):
        preferences.with_columns(tasks.assign(label="x"))
