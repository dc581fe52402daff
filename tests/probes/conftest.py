"""Stores and preferences with a known answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from activations import ActivationStore
from probes import Preferences

SIGNAL = 1.0
MakeWorld = Callable[..., "World"]
FINGERPRINT = {
    "model": "tiny",
    "revision": "abc",
    "weights_sha256": "0f",
    "dtype": "bfloat16",
    "dialect": "pocket",
    "template_sha256": "1e",
    "token_rule": "last prompt token",
    "engine": "nnsight",
    "version.torch": "2",
}


@dataclass
class World:
    """A store on disk with the preferences of its steps."""

    store: ActivationStore
    preferences: Preferences
    signal: float = SIGNAL

    @property
    def labels(self) -> np.ndarray:
        """(n_steps,) 1 where image is preferred."""
        return (self.preferences.table["label"] == "image").to_numpy().astype(int)


def preferences_of(labels: np.ndarray, step_ids: list[str], episode_ids: list[str]) -> Preferences:
    """Stable preferences, 7 votes to 0, for labels 1 (image) and 0 (text)."""
    image = labels.astype(bool)
    table = pd.DataFrame(
        {
            "step_id": step_ids,
            "episode_id": episode_ids,
            "utility_text": np.where(image, 0.0, 1.0),
            "utility_image": np.where(image, 1.0, 0.0),
            "votes_positive": np.where(image, 7, 0),
            "votes_negative": np.where(image, 0, 7),
            "votes_tied": 0,
            "difference": np.where(image, 1.0, -1.0),
            "tie": False,
            "label": np.where(image, "image", "text"),
            "stable": True,
        }
    )
    return Preferences(table, "image", "text", 7, 5)


@pytest.fixture
def make_world(tmp_path: Path) -> MakeWorld:
    """`world_in` for the test's own folder."""
    return partial(world_in, tmp_path)


def world_in(
    folder: Path,
    shifts: np.ndarray,
    labels: np.ndarray,
    episodes: np.ndarray,
    *,
    sites: list[str] | None = None,
    prompt_tokens: np.ndarray | None = None,
    name: str = "store",
    **layout: object,
) -> World:
    """Write shifts (n_sites, n_steps, width) as a real store: image = base + shift, text = base."""
    n_sites, n_steps, width = shifts.shape
    step_ids = [f"step-{i:04d}" for i in range(n_steps)]
    episode_ids = [f"episode-{e:03d}" for e in episodes]
    options = {"fingerprint": FINGERPRINT, "positive": "image", "negative": "text", **layout}
    store = ActivationStore.create(
        folder / name,
        step_ids=step_ids,
        episode_ids=episode_ids,
        conditions=("text", "image"),
        sites=sites or ["embed", *(f"block.{i}" for i in range(n_sites - 1))],
        width=width,
        dtype="float32",
        **options,
    )
    base = np.random.default_rng(99).normal(size=shifts.shape)
    states = np.stack([base, base + shifts]).transpose(2, 0, 1, 3).astype(np.float32)
    tokens = np.full((n_steps, 2), 40) if prompt_tokens is None else prompt_tokens
    for block in store.pending():
        rows = store.block_rows(block)
        n = rows.stop - rows.start
        store.append(
            block,
            states[rows],
            tokens[rows],
            np.tile([0, 9], (n, 1)),
            np.zeros((n, 2), dtype=int),
            [["0" * 64] * 2] * n,
        )
    return World(store, preferences_of(labels, step_ids, episode_ids))


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> World:
    """120 episodes of 5 steps; the shift tells the label from block.2 on, along one direction.

    Labels are drawn per step. At the embedding nothing differs; at block.0 and block.1 the shift is
    unit noise; from block.2 on it is unit noise plus `SIGNAL` times the label (-1 or 1) along one
    unit vector, so that the best AUROC any reader can reach is known.
    """
    rng = np.random.default_rng(0)
    n_steps, width = 600, 12
    labels = rng.integers(0, 2, n_steps)
    shifts = rng.normal(size=(6, n_steps, width))
    shifts[0] = 0
    shifts[3:] += SIGNAL * np.outer(2 * labels - 1, np.ones(width) / np.sqrt(width))
    folder = tmp_path_factory.mktemp("planted")
    return world_in(folder, shifts, labels, np.repeat(np.arange(120), 5))
