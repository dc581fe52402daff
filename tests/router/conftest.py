"""Planted worlds: stores in which the better form is known to depend on the state, or not to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from activations import ActivationStore
from router import PolicySteps, RouterInputs, TrainingOptions, router_inputs, train_router

WIDTH, MEMORY_WIDTH, BANK = 24, 16, 40
QUICK = TrainingOptions(n_components=8, hidden=16, max_epochs=3, batch_size=32)


def store_in(
    path: Path,
    values: np.ndarray,
    step_ids: Sequence[str],
    episode_ids: Sequence[str],
    conditions: Sequence[str],
    site: str,
    fingerprint: dict[str, str],
) -> ActivationStore:
    """A store of values (n_steps, n_conditions, width) at one site."""
    store = ActivationStore.create(
        path,
        step_ids=step_ids,
        episode_ids=episode_ids,
        conditions=conditions,
        sites=(site,),
        width=values.shape[-1],
        dtype="float32",
        fingerprint=fingerprint,
        negative="text",
        positive="image",
    )
    for block in store.pending():
        rows = store.block_rows(block)
        shape = (rows.stop - rows.start, len(conditions))
        ones = np.ones(shape, dtype=int)
        hashes = np.full(shape, "0" * 64)
        states = values[rows, :, None].astype(np.float32)
        store.append(block, states, ones, ones, ones, hashes)
    return store


@dataclass(frozen=True)
class World:
    """A store of hidden states, one of bank embeddings, utilities, and who recalled what."""

    states: ActivationStore
    memories: ActivationStore
    table: pd.DataFrame
    memory_of: dict[str, str]
    target: np.ndarray

    def steps(self, split: str) -> PolicySteps:
        """The steps of a split, with what routers see."""
        table = self.table.loc[self.table["split"] == split].reset_index(drop=True)
        return PolicySteps(table, inputs={"hidden": self.inputs(table["step_id"].tolist())})

    def inputs(self, step_ids: Sequence[str]) -> RouterInputs:
        return router_inputs(self.states, self.memories, {s: self.memory_of[s] for s in step_ids})

    def targets(self, split: str) -> np.ndarray:
        return self.target[(self.table["split"] == split).to_numpy()]


def make_world(folder: Path, dependence: float, seed: int = 0, n_episodes: int = 240) -> World:
    """Episodes of 5 steps: half of them train, a quarter calibration, a quarter test.

    A step's utilities are 0.5 ± 0.4 margin and noise, margin = tanh(2 dependence state · direction):
    with dependence 1 the sign of one direction of the state tells which form is better, with 0 nothing
    does. The target is the margin seen through noise.
    """
    rng = np.random.default_rng(seed)
    n_steps = 5 * n_episodes
    states = rng.normal(size=(n_steps, WIDTH))
    direction = rng.normal(size=WIDTH)
    margin = np.tanh(2 * dependence * states @ (direction / np.linalg.norm(direction)))
    noise = 0.05 * rng.normal(size=(2, n_steps))
    episodes = np.repeat(np.arange(n_episodes), 5)
    episode_ids = [f"episode-{e:03d}" for e in episodes]
    step_ids = [f"step-{i:04d}" for i in range(n_steps)]
    quarter = episodes // (n_episodes // 4)
    table = pd.DataFrame(
        {
            "step_id": step_ids,
            "episode_id": episode_ids,
            "index": np.arange(n_steps) % 5,
            "utility_none": 0.2,
            "utility_text": 0.5 - 0.4 * margin + noise[0],
            "utility_image": 0.5 + 0.4 * margin + noise[1],
            "split": np.array(["train", "train", "calibration", "test"])[quarter],
        }
    )
    shared = rng.normal(size=(BANK, 1, MEMORY_WIDTH))
    forms = shared + rng.normal(size=(1, 2, MEMORY_WIDTH))  # either form has a mark of its own
    bank_ids = [f"bank-{i}" for i in range(BANK)]
    fingerprint = {"model": "tiny", "revision": "abc", "weights_sha256": "0" * 64}
    return World(
        store_in(
            folder / "states",
            np.stack([states, states + 1, states + 2], axis=1),
            step_ids,
            episode_ids,
            ("none", "text", "image"),
            "block.3",
            fingerprint,
        ),
        store_in(
            folder / "memories",
            forms + 0.1 * rng.normal(size=forms.shape),
            bank_ids,
            bank_ids,
            ("text", "image"),
            "embedding",
            fingerprint | {"embedder": "hidden state at block.3"},
        ),
        table,
        dict(zip(step_ids, rng.choice(bank_ids, size=n_steps))),
        np.clip(margin + 0.2 * rng.normal(size=n_steps), -1, 1),
    )


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The better form depends on the state."""
    return make_world(tmp_path_factory.mktemp("planted"), dependence=1.0)


@pytest.fixture(scope="session")
def flat(tmp_path_factory: pytest.TempPathFactory) -> World:
    """It depends on nothing."""
    return make_world(tmp_path_factory.mktemp("flat"), dependence=0.0)


@pytest.fixture(scope="session")
def quick(planted: World):
    """A router trained for three epochs and calibrated: good for nothing but its form."""
    steps, held = planted.steps("train"), planted.steps("calibration")
    router = train_router(steps.inputs["hidden"], planted.targets("train"), QUICK, progress=False)
    return router.calibrated(held.inputs["hidden"], held.utility("text"), held.utility("image"))
