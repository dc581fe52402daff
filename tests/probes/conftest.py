"""Stores and preferences with a known answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from activations import ActivationStore
from probes import Preferences

FINGERPRINT = {"model": "tiny", "revision": "abc", "token_rule": "last prompt token"}


@dataclass
class World:
    """A store on disk with the preferences of its steps."""

    store: ActivationStore
    preferences: Preferences

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
def make_world(tmp_path: Path):
    """Write shifts (n_sites, n_steps, width) as a real store: image = base + shift, text = base."""

    def make(
        shifts: np.ndarray,
        labels: np.ndarray,
        episodes: np.ndarray,
        *,
        sites: list[str] | None = None,
        prompt_tokens: np.ndarray | None = None,
        name: str = "store",
        **layout: object,
    ) -> World:
        n_sites, n_steps, width = shifts.shape
        step_ids = [f"step-{i:04d}" for i in range(n_steps)]
        episode_ids = [f"episode-{e:03d}" for e in episodes]
        options = {"fingerprint": FINGERPRINT, "positive": "image", "negative": "text", **layout}
        store = ActivationStore.create(
            tmp_path / name,
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

    return make


@pytest.fixture
def planted(make_world) -> World:
    """60 episodes of 5 steps; the shift tells the label from block.2 on, along one direction.

    Labels are drawn per step; from block.2 on the shift is noise plus `SIGNAL` times the label
    along a unit vector, so the best AUROC that any reader can reach is known.
    """
    rng = np.random.default_rng(0)
    n_steps, width = 300, 24
    labels = rng.integers(0, 2, n_steps)
    shifts = rng.normal(size=(6, n_steps, width))
    direction = np.ones(width) / np.sqrt(width)
    shifts[3:] += SIGNAL * np.outer(2 * labels - 1, direction)
    shifts[0] = 0.25  # as at the embedding of a last token that both prompts share
    return make_world(shifts, labels, np.repeat(np.arange(60), 5))


SIGNAL = 1.0
