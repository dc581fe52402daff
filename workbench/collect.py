"""Stage `collect`: the actor's hidden states and sampled actions for every step and condition.

Convention: work goes block by block of the activation store. A block's samples are written first
(`samples/block-00012.parquet`), then its shard of the store, which marks it done; a block that is not
done is computed again, whole. Since nothing in a block depends on another, a run killed at any
instant ends, when resumed, with the same bytes as an uninterrupted one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from tqdm import tqdm

from activations import ActivationStore, check_disk
from actor import Actor, Dialect, Response, Sampling, sample_seed, score_answer
from actor.dialects import DIALECTS
from episodes import Step
from episodes.scorers import SCORERS, Scorer, get_scorer
from memory import Query, Representation
from workbench.atomic import write_file
from workbench.config import ConfigError, SamplingSection
from workbench.pairs import prompts, read_pairs, representations
from workbench.run import Run, RunError

SCHEMA = pa.schema(
    [
        ("step_id", pa.string()),
        ("condition", pa.string()),
        ("k", pa.int64()),
        ("seed", pa.int64()),
        ("text", pa.string()),
        ("action", pa.string()),
        ("parse_error", pa.string()),
        ("score", pa.float64()),
    ]
)
"""`action` is `Action.to_json`; it is missing where `parse_error` says why, and then the score is 0."""

STORE = "activations.zarr"


def collect(run: Run) -> None:
    """Make `activations.zarr` and `samples.parquet`; goes on with the blocks that are not done.

    Raises
    ------
    ValueError
        When a pair of prompts is not comparable, naming the step; when the store was begun by
        another model or other versions, naming them; when the disk is too small; when the scorer,
        the dialect or the site of the export is unknown, naming the key.
    """
    config = run.config
    _check_known("preferences.scorer", config.preferences.scorer, SCORERS)
    if config.actor.dialect is not None:
        _check_known("actor.dialect", config.actor.dialect, DIALECTS)
    scorer = get_scorer(config.preferences.scorer)
    queries = read_pairs(run)
    store = ActivationStore.open(run.path(STORE)) if run.has(STORE) else None
    if store is None or not store.complete:
        store = _collect_blocks(run, queries, scorer)
    _join_samples(run, store)


def _check_known(key: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise ConfigError(f"{key}: found {name!r}, expected one of {', '.join(known)}")


def _collect_blocks(run: Run, queries: Sequence[Query], scorer: Scorer) -> ActivationStore:
    config = run.config
    if config.actor.threads is not None:
        torch.set_num_threads(config.actor.threads)
    loading = config.actor.model_dump(exclude={"model", "threads"})
    actor = Actor.from_pretrained(config.actor.model, **loading)
    if config.export.site is not None:  # else found out only when all is collected
        _check_known("export.site", config.export.site, actor.sites)
    shown = representations(config.memory, config.capture.conditions)
    store = _open_store(run, queries, actor)
    pending = store.pending()
    steps_pending = sum(len(_rows(store, block)) for block in pending)
    with tqdm(
        total=len(queries),
        initial=len(queries) - steps_pending,
        desc="collect",
        unit="step",
        dynamic_ncols=True,
    ) as progress:
        for block in pending:
            samples: list[dict[str, Any]] = []
            responses: list[list[Response]] = []
            for row in _rows(store, block):
                query = queries[row]
                answered = _respond(actor, query, shown, config.sampling, config.run.seed)
                check_pair(query.step.step_id, answered)
                samples += _sample_rows(
                    query.step, answered, actor.dialect, scorer, config.run.seed
                )
                responses.append(list(answered.values()))
                progress.update()
            _write_block(run, store, block, samples, responses)
    return store


def _respond(
    actor: Actor,
    query: Query,
    shown: dict[str, Representation],
    sampling: SamplingSection,
    seed: int,
) -> dict[str, Response]:
    """The actor's response under each condition; sample k has the same seed in all of them.

    Raises
    ------
    ValueError
        When a prompt cannot be made or is refused by the actor, naming the step and the condition.
    """
    settings = sampling.model_dump()
    samples = settings.pop("samples")
    seeds = [sample_seed(seed, query.step.step_id, k) for k in range(samples)]
    responses = {}
    for condition, represent in shown.items():
        try:
            prompt = prompts(query, {condition: represent}, actor.dialect)[condition]
            responses[condition] = actor.respond(
                prompt, samples, seeds=seeds, sampling=Sampling(**settings)
            )
        except ValueError as error:
            raise ValueError(
                f"step {query.step.step_id!r}, condition {condition!r}: {error}"
            ) from error
    return responses


def check_pair(step_id: str, responses: dict[str, Response]) -> None:
    """Whether the conditions of a step can be compared.

    Raises
    ------
    ValueError
        When prompts end in different tokens, or a condition with a picture of the memory has no more
        image tokens than one without, or conditions of one kind differ in them; naming the step.
    """
    ends = {condition: response.last_token_id for condition, response in responses.items()}
    if len(set(ends.values())) > 1:
        raise ValueError(
            f"step {step_id!r}: the prompts end in different tokens {ends}; expected the same last "
            "token in every condition, since that is where the hidden states are read"
        )
    tokens = {condition: response.image_tokens for condition, response in responses.items()}
    bare = {n for condition, n in tokens.items() if condition in ("none", "text")}
    pictured = {n for condition, n in tokens.items() if condition in ("image", "both")}
    if len(bare) > 1 or len(pictured) > 1 or (bare and pictured and max(bare) >= min(pictured)):
        raise ValueError(
            f"step {step_id!r}: image tokens by condition are {tokens}; expected equal counts "
            "without a picture of the memory, and equal, larger ones with it"
        )


def _sample_rows(
    step: Step, responses: dict[str, Response], dialect: Dialect, scorer: Scorer, seed: int
) -> list[dict[str, Any]]:
    return [
        {
            "step_id": step.step_id,
            "condition": condition,
            "k": k,
            "seed": sample_seed(seed, step.step_id, k),
            "text": text,
            "action": None if scored.action is None else scored.action.to_json(),
            "parse_error": scored.parse_error,
            "score": scored.score,
        }
        for condition, response in responses.items()
        for k, text in enumerate(response.texts)
        for scored in [score_answer(text, dialect, scorer, step)]
    ]


def _write_block(
    run: Run,
    store: ActivationStore,
    block: int,
    samples: list[dict[str, Any]],
    responses: list[list[Response]],
) -> None:
    """The samples first: a block whose shard is there always has its samples too."""
    table = pa.Table.from_pylist(samples, schema=SCHEMA)
    write_file(_part(run, block), lambda path: pq.write_table(table, path))
    store.append(
        block,
        torch.stack([torch.stack([response.states for response in step]) for step in responses]),
        **{
            name: np.array([[getattr(response, name) for response in step] for step in responses])
            for name in ("prompt_tokens", "image_tokens", "last_token_id", "prompt_sha256")
        },
    )
    run.note(f"collect: block {block + 1} of {store.n_blocks} is done")


def _open_store(run: Run, queries: Sequence[Query], actor: Actor) -> ActivationStore:
    capture = run.config.capture
    store = ActivationStore.open_or_create(
        run.path(STORE),
        step_ids=[query.step.step_id for query in queries],
        episode_ids=[query.step.episode_id for query in queries],
        conditions=capture.conditions,
        sites=actor.sites,
        width=actor.width,
        dtype=capture.dtype,
        fingerprint=actor.fingerprint(),
        positive=capture.positive,
        negative=capture.negative,
        block_size=capture.block_size,
    )
    check_disk(store)
    return store


def _join_samples(run: Run, store: ActivationStore) -> None:
    parts = []
    for block in range(store.n_blocks):
        path = run.needs(f"samples/{_part(run, block).name}", "collect")
        parts.append(pq.read_table(path, schema=SCHEMA))
    table = pa.concat_tables(parts).combine_chunks()
    found = list(dict.fromkeys(table["step_id"].to_pylist()))
    if found != list(store.step_ids):
        raise RunError(f"{run.path('samples')}: its steps are not those of {STORE}")
    write_file(run.path("samples.parquet"), lambda path: pq.write_table(table, path))


def _part(run: Run, block: int) -> Path:
    return run.path("samples") / f"block-{block:05d}.parquet"


def _rows(store: ActivationStore, block: int) -> range:
    rows = store.block_rows(block)
    return range(rows.start, rows.stop)
