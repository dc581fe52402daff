"""Stage `pairs`: the query steps, what is withheld of them, and the memory step of each.

Convention: this file alone knows how steps, memory and dialects are put together. `pairs.parquet` has
a row per query step in the order in which they are collected; steps themselves stay in their table
and are found again by `step_id`. What is drawn for a step depends on the run's seed and its id only,
so that fewer steps are always a part of more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from actor.dialects import ContentPart, Dialect, Message
from episodes import Step, StepTable, bundled, read_steps
from memory import MemoryBank, get_representation, get_retriever, withhold
from memory.representation import Representation
from workbench.atomic import write_file
from workbench.config import DataSection, MemorySection, RunConfig
from workbench.run import Run

SCHEMA = pa.schema(
    [
        ("step_id", pa.string()),
        ("episode_id", pa.string()),
        ("task", pa.string()),
        ("index", pa.int64()),
        ("query", pa.string()),
        ("instruction", pa.string()),
        ("memory_step_id", pa.string()),
        ("memory_episode_id", pa.string()),
        ("memory_score", pa.float64()),
    ]
)
"""`query` is "full" or "recall"; `instruction` is what the actor is shown."""


@dataclass(frozen=True)
class PairedStep:
    """A query step with what the actor is told of it and what is recalled for it.

    Parameters
    ----------
    step
        The step that is asked about.
    query
        "full" or "recall".
    instruction
        What the actor is shown: the step's instruction, or that with its fact withheld.
    memory
        The retrieved step.
    memory_score
        The retriever's score of it.
    """

    step: Step
    query: str
    instruction: str
    memory: Step
    memory_score: float

    def row(self) -> dict[str, object]:
        """Its row of `pairs.parquet`."""
        return {
            "step_id": self.step.step_id,
            "episode_id": self.step.episode_id,
            "task": self.step.app,
            "index": self.step.index,
            "query": self.query,
            "instruction": self.instruction,
            "memory_step_id": self.memory.step_id,
            "memory_episode_id": self.memory.episode_id,
            "memory_score": self.memory_score,
        }


def write_pairs(run: Run) -> None:
    """Make `pairs.parquet`, unless it is there."""
    if run.has("pairs.parquet"):
        return
    rows = [paired.row() for paired in pair_steps(run.config)]
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    write_file(run.path("pairs.parquet"), lambda path: pq.write_table(table, path))
    counts = pd.Series([row["query"] for row in rows]).value_counts().to_dict()
    run.note(f"pairs: {len(rows)} steps, {counts}")


def pair_steps(config: RunConfig) -> list[PairedStep]:
    """Choose the query steps and find the memory of each.

    Raises
    ------
    ValueError
        When a split or task has no steps, or no step can be a query of the wanted kind.
    """
    queries = _steps(config, config.data.query_split, config.data.n_steps)
    retriever = get_retriever(config.memory.retriever).fit(
        MemoryBank(_steps(config, config.data.memory_split, config.data.n_memory_steps))
    )
    pairs = []
    for step in queries:
        asked = _asked(step, config)
        if asked is not None:
            query, instruction = asked
            match = retriever.retrieve(step)
            pairs.append(PairedStep(step, query, instruction, match.step, float(match.score)))
    if not pairs:
        raise ValueError(
            f"data: none of the {len(queries)} query steps belongs to a task with a recall rule; "
            "choose other data.tasks, or query.kind = 'full'"
        )
    return pairs


def read_pairs(run: Run) -> list[PairedStep]:
    """The pairs of `pairs.parquet`, with their steps."""
    rows = pairs_table(run)
    queries = _by_id(_table(run.config.data, run.config.data.query_split), rows["step_id"])
    memories = _by_id(_table(run.config.data, run.config.data.memory_split), rows["memory_step_id"])
    return [
        PairedStep(
            queries[row.step_id],
            row.query,
            row.instruction,
            memories[row.memory_step_id],
            row.memory_score,
        )
        for row in rows.itertuples()
    ]


def pairs_table(run: Run) -> pd.DataFrame:
    """`pairs.parquet` as it is."""
    return pd.read_parquet(run.needs("pairs.parquet", "pairs"))


def representations(config: MemorySection, conditions: Sequence[str]) -> dict[str, Representation]:
    """How each condition shows a past step, with the configured options."""
    return {name: get_representation(name, **_options(config, name)) for name in conditions}


def prompts(
    paired: PairedStep, representations: Mapping[str, Representation], dialect: Dialect
) -> dict[str, list[Message]]:
    """One prompt per condition; they differ in the memory only.

    Raises
    ------
    ValueError
        When a condition without pictures shows one of the memory, or one with pictures shows none,
        naming the step.
    """
    result = {}
    for condition, represent in representations.items():
        parts = represent(paired.memory, dialect)
        _check_pictures(parts, condition, paired)
        result[condition] = dialect.messages(paired.step, paired.instruction, parts)
    return result


def _check_pictures(parts: Sequence[ContentPart], condition: str, paired: PairedStep) -> None:
    pictures = sum(part["type"] == "image" for part in parts)
    expected = 1 if condition in ("image", "both") else 0
    if pictures != expected:
        raise ValueError(
            f"step {paired.step.step_id!r}: its memory {paired.memory.step_id!r} shows {pictures} "
            f"pictures under {condition!r}, expected {expected}"
        )


def _asked(step: Step, config: RunConfig) -> tuple[str, str] | None:
    """Kind of query and the shown instruction; None for a step that cannot be asked so."""
    kind, withheld = config.query.kind, withhold(step)
    if kind == "mix":
        drawn = _fraction(config.run.seed, "recall", step.step_id) < config.query.recall_share
        kind = "recall" if drawn and withheld is not None else "full"
    if kind == "full":
        return "full", step.instruction
    return None if withheld is None else ("recall", withheld)


def _steps(config: RunConfig, split: str | None, limit: int | None) -> list[Step]:
    """The steps of a split and the configured tasks, at most `limit` of them, in table order."""
    data = config.data
    table = _table(data, split)
    frame = table.frame
    rows = [i for i, app in enumerate(frame["app"]) if not data.tasks or app in data.tasks]
    if unknown := sorted(set(data.tasks) - set(frame["app"])):
        raise ValueError(
            f"data.tasks: found {', '.join(unknown)}, expected tasks of {data.table!r}, split "
            f"{split!r}: {', '.join(sorted(set(frame['app'])))}"
        )
    if not rows:
        raise ValueError(f"data: {data.table!r} has no steps in the split {split!r}")
    if limit is not None:
        ids = list(frame["step_id"])
        drawn = sorted(rows, key=lambda row: _fraction(config.run.seed, "step", ids[row]))
        rows = sorted(drawn[:limit])
    return [table[row] for row in rows]


def _table(data: DataSection, split: str | None) -> StepTable:
    path = Path(data.table)
    known = path.suffix == ".parquet" or path.exists()
    return read_steps(path if known else bundled(data.table), split=split)


def _by_id(table: StepTable, step_ids: pd.Series) -> dict[str, Step]:
    rows = {step_id: row for row, step_id in enumerate(table.frame["step_id"])}
    return {step_id: table[rows[step_id]] for step_id in step_ids.unique()}


def _options(config: MemorySection, condition: str) -> dict[str, object]:
    text = {"max_elements": config.max_elements, "coordinates": config.coordinates}
    image = {"image_width": config.image_width, "mark": config.mark}
    of_condition = {"none": {}, "text": text, "image": image, "both": text | image}
    return of_condition[condition]


def _fraction(seed: int, purpose: str, step_id: str) -> float:
    """A number in [0, 1), drawn by hashing."""
    digest = hashlib.sha256(f"{seed}:{purpose}:{step_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
