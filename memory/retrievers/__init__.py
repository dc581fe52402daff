"""Retrievers: which past step is recalled for a step, one way per file.

A retriever works on words alone and picks one step for every condition, so that the forms of memory
differ in nothing but the form. It never returns a step of the same episode; ties are broken by a hash
of the two ids, the same on every machine, so that equal candidates are used about equally often.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from episodes import Step
from memory.bank import MemoryBank


@dataclass(frozen=True)
class Match:
    """A recalled step and its similarity to the query, in [-1, 1]."""

    step: Step
    score: float


class Retriever(Protocol):
    """Finds the most similar past step."""

    def fit(self, bank: MemoryBank) -> Retriever:
        """Prepares the bank; returns itself."""
        ...

    def retrieve(self, step: Step) -> Match:
        """The bank's best step for `step`, never one of the same episode."""
        ...

    def retrieve_many(self, steps: Sequence[Step]) -> list[Match]:
        """`retrieve` for each step."""
        ...


RESOLUTION = 2
"""Decimals to which similarities are compared: nearer ones count as equal."""


def best_match(bank: MemoryBank, step: Step, scores: np.ndarray) -> Match:
    """The best-scored bank step of another episode.

    Parameters
    ----------
    scores
        Similarity of every bank step, shape (n_bank,); compared to `RESOLUTION` decimals.

    Raises
    ------
    ValueError
        When the bank holds nothing but the step's own episode.
    """
    rounded = np.round(scores.astype(np.float64), RESOLUTION)
    rounded[bank.rows_of_episode.get(step.episode_id, [])] = -np.inf
    best = rounded.max()
    if best == -np.inf:
        raise ValueError(f"step {step.step_id!r}: the bank holds no step of another episode")
    tied = np.flatnonzero(rounded == best)
    row = int(min(tied, key=lambda r: _hash(step.step_id, bank.step_ids[r])))
    return Match(bank[row], round(float(scores[row]), 6))


def _hash(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode()).digest()


def get_retriever(name: str, **options: object) -> Retriever:
    """The retriever called `name` ("tfidf", "embedding"), with its options.

    Raises
    ------
    ValueError
        For another name, listing the known ones.
    """
    if name == "tfidf":
        from memory.retrievers.tfidf import TfidfRetriever

        return TfidfRetriever()
    if name == "embedding":
        from memory.retrievers.embedding import EmbeddingRetriever

        return EmbeddingRetriever.from_pretrained(**options)  # type: ignore[arg-type]
    raise ValueError(f"retriever {name!r} is unknown; known retrievers: embedding, tfidf")
