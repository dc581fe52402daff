"""Queries: which instruction the actor reads at a step, and which past step goes with it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from episodes import Step
from memory.recall import withhold, without_fact
from memory.retrievers import Retriever

QueryKind = Literal["recall", "full"]


@dataclass(frozen=True)
class Query:
    """A step as it is put to the actor.

    Parameters
    ----------
    step
        The current step, with its whole instruction.
    kind
        "recall" where part of the instruction is withheld, "full" otherwise.
    instruction
        What the actor reads.
    memory
        The past step; in a recall query its instruction is without its fact too.
    score
        The retriever's similarity.
    """

    step: Step
    kind: QueryKind
    instruction: str
    memory: Step
    score: float


def query_kind(step: Step, recall_share: float, seed: int) -> QueryKind:
    """Whether the step's episode is asked as a recall query.

    All steps of an episode are asked alike; the choice depends on the seed and the episode alone.
    Steps without a rule of what to withhold are always "full".

    Parameters
    ----------
    recall_share
        Share of episodes that are asked as recall queries, in [0, 1].
    """
    if not 0 <= recall_share <= 1:
        raise ValueError(f"recall_share must lie in [0, 1], found {recall_share}")
    digest = hashlib.sha256(f"kind of query\0{seed}\0{step.episode_id}".encode()).digest()
    chosen = int.from_bytes(digest[:8], "big") / 2**64 < recall_share
    return "recall" if chosen and withhold(step) else "full"


def make_query(step: Step, memory: Step, score: float, kind: QueryKind) -> Query:
    """The query of `kind` for a step and a recalled step.

    Raises
    ------
    ValueError
        When a recall query is asked of a step from which nothing can be withheld.
    """
    if kind == "full":
        return Query(step, "full", step.instruction, memory, score)
    recall = withhold(step)
    if recall is None:
        raise ValueError(
            f"step {step.step_id!r}: kind is 'recall', but no rule says what to withhold of "
            f"{step.instruction!r} (task {step.app!r}); ask it as 'full', as query_kind does"
        )
    return Query(step, "recall", recall.shown, without_fact(memory), score)


def make_queries(
    steps: Sequence[Step], retriever: Retriever, *, recall_share: float = 1.0, seed: int = 0
) -> list[Query]:
    """A query for each step, with the past step that the fitted retriever picks."""
    return [
        make_query(step, match.step, match.score, query_kind(step, recall_share, seed))
        for step, match in zip(steps, retriever.retrieve_many(steps))
    ]
