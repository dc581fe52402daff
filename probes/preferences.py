"""Which of two conditions a step prefers, from the scored samples of both.

Conventions: the *utility* of a condition is the mean score of its K samples; the *difference* is
utility(positive) - utility(negative); *vote* k compares the k-th sample of one condition with the
k-th of the other, which share their seed. Two layers are kept apart: a step is *tied* when the
utilities are equal, and *stable* when it is not tied and at least `agreement` of its K votes name
the same condition. Tied steps are never used.
"""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

AnalysisSet = Literal["stable", "non_tied"]
ANALYSIS_SETS: tuple[str, ...] = get_args(AnalysisSet)

_SAMPLE_COLUMNS = ("step_id", "condition", "k", "score")
_METADATA_KEY = b"mnemoscope.preferences"
_METADATA_TYPES = {"positive": str, "negative": str, "k": int, "agreement": int}


@dataclass(frozen=True)
class Preferences:
    """A row per step: utilities, votes, label.

    Parameters
    ----------
    table
        Columns step_id, episode_id, utility_<negative>, utility_<positive>, votes_positive,
        votes_negative, votes_tied, difference, tie, label (the condition with the higher utility,
        missing for ties), stable; and any joined by `with_columns`.
    positive, negative
        Names of the two conditions; every difference is positive - negative.
    k
        Samples per condition.
    agreement
        Votes for one condition that make a step stable.
    """

    table: pd.DataFrame
    positive: str
    negative: str
    k: int
    agreement: int

    @property
    def funnel(self) -> dict[str, int]:
        """Counts from all steps down to the stable ones of each side."""
        tie = self.table["tie"].to_numpy(dtype=bool)
        stable = self.labels("stable")
        return {
            "steps": len(self.table),
            "ties": int(tie.sum()),
            "non_tied": int((~tie).sum()),
            "unstable": int((~tie).sum()) - len(stable),
            f"stable_{self.negative}": int((stable == self.negative).sum()),
            f"stable_{self.positive}": int((stable == self.positive).sum()),
        }

    def labels(self, analysis_set: AnalysisSet) -> pd.Series:
        """Names of the preferred conditions, indexed by step_id.

        Parameters
        ----------
        analysis_set
            "stable": the stable steps, labelled by their votes; "non_tied": every step with unequal
            utilities, labelled by the sign of the difference.
        """
        if analysis_set not in ANALYSIS_SETS:
            raise ValueError(
                f"analysis set {analysis_set!r} is not one of {', '.join(ANALYSIS_SETS)}"
            )
        if analysis_set == "non_tied":
            rows = self.table[~self.table["tie"].astype(bool)]
            positive = rows["difference"] > 0
        else:
            rows = self.table[self.table["stable"].astype(bool)]
            positive = rows["votes_positive"] > rows["votes_negative"]
        names = np.where(positive, self.positive, self.negative)
        return pd.Series(names, index=pd.Index(rows["step_id"]), name="label", dtype=object)

    def with_columns(self, columns: pd.DataFrame) -> Preferences:
        """The same preferences with columns joined on step_id (task, memory_step_id, ...).

        Raises
        ------
        ValueError
            When `columns` names a step twice, lacks one, or has a column that is already there.
        """
        if "step_id" not in columns:
            raise ValueError("the table to join has no column 'step_id'")
        clash = sorted((set(columns) & set(self.table)) - {"step_id"})
        if clash:
            raise ValueError(f"columns already in the preferences table: {', '.join(clash)}")
        twice = columns.loc[columns["step_id"].duplicated(), "step_id"].tolist()
        if twice:
            raise ValueError(f"step {twice[0]!r} stands more than once in the table to join")
        lacking = set(self.table["step_id"]) - set(columns["step_id"])
        if lacking:
            raise ValueError(
                f"the table to join lacks {len(lacking)} steps, first {min(lacking)!r}"
            )
        return replace(self, table=self.table.merge(columns, on="step_id", how="left"))

    def save(self, path: str | Path) -> Path:
        """Write one Parquet file; conditions, K and agreement go into its metadata."""
        fields = {name: getattr(self, name) for name in _METADATA_TYPES}
        table = pa.Table.from_pandas(self.table, preserve_index=False)
        metadata = {**(table.schema.metadata or {}), _METADATA_KEY: json.dumps(fields).encode()}
        pq.write_table(table.replace_schema_metadata(metadata), path)
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> Preferences:
        """Inverse of `save`; `ValueError` when the file is no preferences table."""
        try:
            table = pq.read_table(path)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path} is not a readable Parquet file: {error}") from error
        metadata = (table.schema.metadata or {}).get(_METADATA_KEY)
        if metadata is None:
            raise ValueError(
                f"{path} is no preferences table: it lacks the metadata {_METADATA_KEY.decode()!r}"
                " that Preferences.save writes"
            )
        try:
            fields = json.loads(metadata)
        except ValueError:
            fields = None
        if (
            not isinstance(fields, dict)
            or {name: type(value) for name, value in fields.items()} != _METADATA_TYPES
        ):
            raise ValueError(
                f"{path}: the metadata {_METADATA_KEY.decode()!r} are {metadata!r}, expected a JSON"
                " object of the strings positive and negative and the integers k and agreement"
            )
        return cls(table=table.to_pandas(), **fields)


def score_preferences(
    samples: pd.DataFrame,
    episode_ids: Mapping[str, str],
    positive: str = "image",
    negative: str = "text",
    samples_per_condition: int = 7,
    agreement: int = 5,
) -> Preferences:
    """Utilities, votes and labels of every sampled step.

    Parameters
    ----------
    samples
        A row per (step_id, condition, k) with a `score` in [0, 1]; k runs from 0 to
        `samples_per_condition` - 1. Rows of other conditions are left out.
    episode_ids
        The episode of each step; its order is the order of the result.
    positive, negative
        The two conditions that are compared.
    samples_per_condition
        K.
    agreement
        Votes for the same condition that make a step stable; more than half of K.

    Raises
    ------
    ValueError
        Naming step and condition, when a sample is missing, doubled or beyond K, a condition is
        missing, a score is no number in [0, 1], or a step has no episode.
    """
    if positive == negative:
        raise ValueError(f"positive and negative are both {positive!r}: two conditions are needed")
    if not samples_per_condition / 2 < agreement <= samples_per_condition:
        raise ValueError(
            f"agreement is {agreement}, expected more than half of samples_per_condition"
            f" ({samples_per_condition}) and at most all of them"
        )
    scores = _score_matrices(samples, (positive, negative), samples_per_condition)
    without = sorted(set(scores[positive].index) - set(episode_ids))
    if without:
        raise ValueError(
            f"step {without[0]!r} has samples but no episode in episode_ids ({len(without)} such)"
        )
    steps = [s for s in episode_ids if s in scores[positive].index]
    first, second = (scores[c].loc[steps].to_numpy() for c in (positive, negative))

    # fsum rounds once, so equal scores in another order give exactly 0.
    sums = [math.fsum((*p, *-n)) for p, n in zip(first, second, strict=True)]
    difference = np.array(sums, dtype=float) / samples_per_condition
    votes_positive = (first > second).sum(axis=1)
    votes_negative = (first < second).sum(axis=1)
    tie = difference == 0
    label = np.where(difference > 0, positive, negative).astype(object)
    label[tie] = None
    table = pd.DataFrame(
        {
            "step_id": steps,
            "episode_id": [episode_ids[s] for s in steps],
            f"utility_{negative}": second.mean(axis=1),
            f"utility_{positive}": first.mean(axis=1),
            "votes_positive": votes_positive,
            "votes_negative": votes_negative,
            "votes_tied": samples_per_condition - votes_positive - votes_negative,
            "difference": difference,
            "tie": tie,
            "label": label,
            "stable": ~tie & (np.maximum(votes_positive, votes_negative) >= agreement),
        }
    )
    return Preferences(table, positive, negative, samples_per_condition, agreement)


def _score_matrices(
    samples: pd.DataFrame, conditions: tuple[str, str], k: int
) -> dict[str, pd.DataFrame]:
    """Scores by condition: a row per step, a column per sample 0 ... k-1."""
    missing = [c for c in _SAMPLE_COLUMNS if c not in samples]
    if missing:
        raise ValueError(f"the samples table lacks the columns {', '.join(missing)}")
    rows = samples.loc[samples["condition"].isin(conditions), list(_SAMPLE_COLUMNS)]
    if rows.empty:
        raise ValueError(
            f"the samples table has no rows of {' or '.join(map(repr, conditions))}; it has "
            + (", ".join(sorted(map(repr, samples["condition"].unique()))) or "no rows at all")
        )
    number = [isinstance(s, numbers.Real) and not isinstance(s, bool) for s in rows["score"]]
    _refuse_first(
        rows, ~pd.Series(number, rows.index), "has the score {score!r}, expected a number in [0, 1]"
    )
    rows = rows.astype({"score": float})
    _refuse_first(rows, ~rows["score"].between(0, 1), "has the score {score}, expected [0, 1]")
    _refuse_first(
        rows,
        rows.duplicated(["step_id", "condition", "k"], keep="first"),
        "stands more than once in the samples table",
    )
    _refuse_first(
        rows,
        ~rows["k"].isin(range(k)),
        f"is beyond samples_per_condition={k} (k runs from 0 to {k - 1})",
    )
    wide = rows.pivot(index="step_id", columns=["condition", "k"], values="score")
    wide = wide.reindex(columns=pd.MultiIndex.from_product([conditions, range(k)]))
    absent = wide.isna().to_numpy()
    if absent.any():
        row, column = np.argwhere(absent)[0]
        condition, first = wide.columns[column]
        found = k - int(wide.iloc[row][condition].isna().sum())
        raise ValueError(
            f"step {wide.index[row]!r}, condition {condition!r}: sample k={first} is missing"
            f" ({found} of {k} found); collect it or lower samples_per_condition"
        )
    return {c: wide[c] for c in conditions}


def _refuse_first(rows: pd.DataFrame, bad: pd.Series, what: str) -> None:
    if bad.any():
        row = rows[bad].iloc[0]
        raise ValueError(
            f"step {row['step_id']!r}, condition {row['condition']!r}, k={row['k']} "
            + what.format(score=row["score"])
        )
