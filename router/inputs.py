"""What a router sees of each step: a state, and one memory embedding per side.

Convention: the state is the hidden state under the condition `none` at one site; the memory
embeddings are those of the step that was recalled, in the negative and in the positive form. An
`Origin` says where they come from, and a router is applied to inputs of its own origin only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from activations import ActivationStore
from probes.final import final_block
from router.embedding_store import SITE

Array = NDArray[np.float32]


class Origin(BaseModel):
    """Where a router's inputs come from.

    Parameters
    ----------
    model, revision, weights_sha256
        The actor whose hidden states are the states (for Basic the embedder's checkpoint).
    site, conditions
        Where and under which conditions they were read; several are joined in their order.
    state_width
        Features of a state.
    embedder, embedder_model, embedder_weights_sha256, memory_width
        What embedded the memories, and features of an embedding.
    negative, positive
        The two forms to choose from; relative scores are positive - negative.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: str
    revision: str
    weights_sha256: str
    site: str
    conditions: list[str]
    state_width: int
    embedder: str
    embedder_model: str
    embedder_weights_sha256: str
    memory_width: int
    negative: str
    positive: str

    def check(self, other: Origin) -> None:
        """Refuse inputs of another origin; the error names every field that differs."""
        problems = [
            f"{name} is {getattr(other, name)!r}, the router's is {getattr(self, name)!r}"
            for name in type(self).model_fields
            if getattr(other, name) != getattr(self, name)
        ]
        if problems:
            raise ValueError(
                f"this router does not fit these inputs: {'; '.join(problems)}. Train one on them, "
                "or take the actor, site and embedder that it was trained with"
            )


@dataclass(frozen=True)
class RouterInputs:
    """States and memory embeddings of steps, row by row.

    Parameters
    ----------
    step_ids, episode_ids
        (n_steps,).
    states
        float32, (n_steps, state_width).
    negative, positive
        float32, (n_steps, memory_width): the recalled step in either form.
    origin
        Where they come from.

    Raises
    ------
    ValueError
        When lengths or widths disagree, or a value is not finite, naming the field.
    """

    step_ids: tuple[str, ...]
    episode_ids: tuple[str, ...]
    states: Array
    negative: Array
    positive: Array
    origin: Origin

    def __post_init__(self) -> None:
        n_steps = len(self.step_ids)
        if len(self.episode_ids) != n_steps:
            raise ValueError(f"episode_ids has {len(self.episode_ids)} rows, expected {n_steps}")
        widths = {"states": self.origin.state_width}
        widths |= dict.fromkeys(("negative", "positive"), self.origin.memory_width)
        for name, width in widths.items():
            values = np.asarray(getattr(self, name), dtype=np.float32)
            if values.shape != (n_steps, width):
                raise ValueError(f"{name} has shape {values.shape}, expected {(n_steps, width)}")
            bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
            if len(bad):
                raise ValueError(f"{name} of step {self.step_ids[bad[0]]!r} are not finite")
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.step_ids)

    def take(self, step_ids: Sequence[str]) -> RouterInputs:
        """The rows of these steps, in their order; `ValueError` names a step that is not there."""
        place = {step_id: row for row, step_id in enumerate(self.step_ids)}
        if lacking := [step_id for step_id in step_ids if step_id not in place]:
            raise ValueError(f"the inputs lack {len(lacking)} steps, first {lacking[0]!r}")
        rows = [place[step_id] for step_id in step_ids]
        return RouterInputs(
            tuple(step_ids),
            tuple(self.episode_ids[row] for row in rows),
            self.states[rows],
            self.negative[rows],
            self.positive[rows],
            self.origin,
        )


def router_inputs(
    states: ActivationStore,
    memories: ActivationStore,
    memory_of: Mapping[str, str],
    *,
    site: str | None = None,
    conditions: Sequence[str] = ("none",),
) -> RouterInputs:
    """Put states and memory embeddings together.

    Parameters
    ----------
    states
        Hidden states of the steps; for Basic the embeddings of their instructions and screenshots.
    memories
        Embeddings of the bank's steps (`embed_steps`); its two sides are those of the router.
    memory_of
        Step → the step of the bank that was recalled. Says which steps are wanted, and their order.
    site
        Where the states are read; the last block by default ("embedding" for Basic).
    conditions
        Under which they are read; several are joined.

    Raises
    ------
    ValueError
        Naming a step that one of the stores lacks.
    """
    site = final_block(states.sites) if site is None else site
    step_ids = tuple(memory_of)
    rows = _rows(states, step_ids, "store of states")
    recalled = _rows(memories, [memory_of[step_id] for step_id in step_ids], "bank's embeddings")
    state = np.hstack([states.layer(site, condition, rows) for condition in conditions])
    return RouterInputs(
        step_ids,
        tuple(states.episode_ids[row] for row in rows),
        state,
        memories.layer(SITE, memories.negative, recalled),
        memories.layer(SITE, memories.positive, recalled),
        origin_of(
            states.fingerprint,
            memories.fingerprint,
            site=site,
            conditions=conditions,
            state_width=state.shape[1],
            memory_width=memories.width,
            negative=memories.negative,
            positive=memories.positive,
        ),
    )


def origin_of(
    states: Mapping[str, str],
    embedder: Mapping[str, str],
    *,
    site: str,
    conditions: Sequence[str],
    state_width: int,
    memory_width: int,
    negative: str,
    positive: str,
) -> Origin:
    """The origin that two fingerprints name: of what reads the states, and of the embedder."""
    return Origin(
        model=states.get("model", ""),
        revision=states.get("revision", ""),
        weights_sha256=states.get("weights_sha256", ""),
        site=site,
        conditions=list(conditions),
        state_width=state_width,
        embedder=embedder.get("embedder", ""),
        embedder_model=embedder.get("model", ""),
        embedder_weights_sha256=embedder.get("weights_sha256", ""),
        memory_width=memory_width,
        negative=negative,
        positive=positive,
    )


def _rows(store: ActivationStore, step_ids: Sequence[str], what: str) -> list[int]:
    place = {step_id: row for row, step_id in enumerate(store.step_ids)}
    if lacking := [step_id for step_id in step_ids if step_id not in place]:
        raise ValueError(
            f"the {what} ({store.path}) lacks {len(lacking)} steps, first {lacking[0]!r}"
        )
    return [place[step_id] for step_id in step_ids]
