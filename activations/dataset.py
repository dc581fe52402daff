"""An activation store as an xarray dataset whose states are decoded when they are indexed."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray
from xarray.backends import BackendArray
from xarray.core import indexing

from activations.layout import PROMPT_ARRAYS, read_array
from activations.store import ActivationStore

DIMENSIONS = ("step", "condition", "site", "feature")


class _States(BackendArray):
    """The states as float32; whatever part is indexed is read then."""

    def __init__(self, store: ActivationStore) -> None:
        self.store = store
        self.shape = (store.n_steps, len(store.conditions), len(store.sites), store.width)
        self.dtype = np.dtype(np.float32)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.BASIC, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        return self.store.decode(read_array(self.store.group, "states", key))


def open_dataset(store: ActivationStore) -> xarray.Dataset:
    """A dataset with the dimensions step, condition, site and feature.

    Variables: `states` and what is kept for each prompt. Coordinates: `step` (step ids),
    `condition`, `site`, and along `step` the `episode_id` and `done`.
    """
    states = xarray.Variable(DIMENSIONS, indexing.LazilyIndexedArray(_States(store)))
    prompts = {name: (DIMENSIONS[:2], getattr(store, name)) for name in PROMPT_ARRAYS}
    return xarray.Dataset(
        {"states": states, **prompts},
        coords={
            "step": store.step_ids,
            "condition": list(store.conditions),
            "site": list(store.sites),
            "episode_id": ("step", store.episode_ids),
            "done": ("step", np.repeat(store.done, store.block_size)[: store.n_steps]),
        },
        attrs={
            "positive": store.positive,
            "negative": store.negative,
            **{f"fingerprint.{name}": text for name, text in store.fingerprint.items()},
        },
    )
