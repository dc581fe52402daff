"""Stage `pairs`: the query steps, what is withheld of them, and the memory step of each.

Convention: this file alone knows how steps, memory and dialects are put together. `pairs.parquet` has
a row per query in the order in which they are collected; steps themselves stay in their table and are
found again by `step_id`. Whole episodes are drawn, by the run's seed and their ids only, so that fewer
steps are always a part of more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from actor.dialects import Dialect, Message
from episodes import Step, StepTable, bundled_steps, read_steps
from memory import (
    MemoryBank,
    MemoryOptions,
    Query,
    Representation,
    Retriever,
    get_representation,
    get_retriever,
    make_queries,
    make_query,
)
from workbench.atomic import write_file
from workbench.config import MemorySection, RunConfig
from workbench.run import Run, RunError

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


def write_pairs(run: Run) -> None:
    """Make `pairs.parquet`."""
    rows = [_row(query) for query in pair_steps(run.config)]
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    write_file(run.path("pairs.parquet"), lambda path: pq.write_table(table, path))
    recalls = sum(row["query"] == "recall" for row in rows)
    run.note(f"pairs: {len(rows)} steps, {recalls} of them recall queries")


def pair_steps(config: RunConfig) -> list[Query]:
    """Choose the query steps and find the memory of each.

    Raises
    ------
    ValueError
        When a split or task has no steps, or no step can be a query of the wanted kind.
    """
    data, seed = config.data, config.run.seed
    steps = _chosen(steps_of(config, data.query_split), config, data.n_steps)
    bank = MemoryBank(_chosen(steps_of(config, data.memory_split), config, data.n_memory_steps))
    share = {"full": 0.0, "recall": 1.0, "mix": config.query.recall_share}[config.query.kind]
    queries = make_queries(
        steps, _retriever(config.memory).fit(bank), recall_share=share, seed=seed
    )
    if config.query.kind == "recall":
        queries = [query for query in queries if query.kind == "recall"]
    if not queries:
        raise ValueError(
            f"query.kind: found 'recall', but none of the {len(steps)} steps has a rule of what to "
            "withhold; choose other data.tasks, or 'full' or 'mix'"
        )
    return queries


def read_pairs(run: Run) -> list[Query]:
    """The queries of `pairs.parquet`, with their steps.

    Raises
    ------
    RunError
        When the table of steps no longer holds what was paired, naming the step and what differs.
    """
    rows, data = pairs_table(run), run.config.data
    steps = _by_id(steps_of(run.config, data.query_split), list(rows["step_id"]))
    memories = _by_id(steps_of(run.config, data.memory_split), list(rows["memory_step_id"]))
    return [
        _reread(row, steps[row["step_id"]], memories[row["memory_step_id"]])
        for row in rows.to_dict("records")
    ]


def pairs_table(run: Run) -> pd.DataFrame:
    """`pairs.parquet` as it is."""
    return pd.read_parquet(run.needs("pairs.parquet", "pairs"))


def representations(config: MemorySection, conditions: Sequence[str]) -> dict[str, Representation]:
    """How each condition shows a past step, with the configured options."""
    options = MemoryOptions(**config.model_dump(exclude={"retriever", "embedding_model"}))
    return {name: get_representation(name, options) for name in conditions}


def prompts(
    query: Query, representations: Mapping[str, Representation], dialect: Dialect
) -> dict[str, list[Message]]:
    """One prompt per condition; they differ in the memory only.

    Raises
    ------
    ValueError
        When a condition without pictures shows one of the memory, or one with pictures shows none,
        naming the step of the memory.
    """
    result = {}
    for condition, represent in representations.items():
        parts = represent(query.memory, dialect)
        pictures = sum(part["type"] == "image" for part in parts)
        if pictures != (expected := int(condition in ("image", "both"))):
            raise ValueError(
                f"the memory {query.memory.step_id!r} has {pictures} pictures under {condition!r}, "
                f"expected {expected}"
            )
        result[condition] = dialect.messages(query.step, query.instruction, parts)
    return result


def steps_of(config: RunConfig, split: str | None) -> StepTable:
    """The steps of a split of the configured table."""
    if config.data.table != "miniwob":
        return read_steps(config.data.table, split=split)
    if split is None:
        raise ValueError(
            "data: the table 'miniwob' needs data.query_split and data.memory_split, each one of "
            "train, query, test"
        )
    return bundled_steps(split)


def _row(query: Query) -> dict[str, Any]:
    return {
        "step_id": query.step.step_id,
        "episode_id": query.step.episode_id,
        "task": query.step.app,
        "index": query.step.index,
        "query": query.kind,
        "instruction": query.instruction,
        "memory_step_id": query.memory.step_id,
        "memory_episode_id": query.memory.episode_id,
        "memory_score": query.score,
    }


def _reread(row: Mapping[Any, Any], step: Step, memory: Step) -> Query:
    """The query of a row of `pairs.parquet`, whose steps must still be as they were paired."""
    advice = "the table of steps was changed since; put it back, or start another run"
    try:
        query = make_query(step, memory, row["memory_score"], row["query"])
    except ValueError as error:
        raise RunError(f"pairs.parquet, field 'query': {error}; {advice}") from None
    for name, value in _row(query).items():
        if value != row[name]:
            raise RunError(
                f"step {step.step_id!r}: its {name} is {value!r}, expected {row[name]!r} as in "
                f"pairs.parquet; {advice}"
            )
    return query


def _retriever(config: MemorySection) -> Retriever:
    options = {} if config.embedding_model is None else {"name_or_path": config.embedding_model}
    return get_retriever(config.retriever, **options)


def _chosen(table: StepTable, config: RunConfig, limit: int | None) -> StepTable:
    """The steps of the configured tasks, at most `limit` of them, in table order."""
    frame, tasks = table.frame, config.data.tasks
    if unknown := sorted(set(tasks) - set(frame["app"])):
        raise ValueError(
            f"data.tasks: found {', '.join(unknown)}, expected tasks of {table.name}: "
            f"{', '.join(sorted(set(frame['app'])))}"
        )
    episodes, places = list(frame["episode_id"]), list(frame["index"])
    rows = [row for row, app in enumerate(frame["app"]) if not tasks or app in tasks]
    drawn = sorted(rows, key=lambda row: (_draw(config.run.seed, episodes[row]), places[row]))
    return table.take(sorted(drawn[:limit]))


def _draw(seed: int, episode_id: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{episode_id}".encode()).digest()


def _by_id(table: StepTable, step_ids: Sequence[str]) -> dict[str, Step]:
    places = {step_id: row for row, step_id in enumerate(table.frame["step_id"])}
    if lacking := [step_id for step_id in step_ids if step_id not in places]:
        raise RunError(
            f"{table.name} no longer holds the step {lacking[0]!r} of pairs.parquet; put the table "
            "back, or start another run"
        )
    unique = list(dict.fromkeys(step_ids))
    return dict(zip(unique, table.take(places[step_id] for step_id in unique)))
