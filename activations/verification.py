"""Verification of an activation store: its metadata against the format, its blocks against checksums."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
from zarr.storage import MemoryStore

from activations.layout import PROMPT_ARRAYS, StoreError, StoreLayout, array_of, read_array

if TYPE_CHECKING:
    from activations.store import ActivationStore


def problems(store: ActivationStore) -> list[str]:
    """A line for each problem of a store; empty if it is sound.

    Blocks that are not done are no problem: that is what resuming is for.
    """
    found = list(metadata_problems(store.group, store.layout))
    for block in np.flatnonzero(store.done).tolist():
        found.extend(_block_problems(store, block))
    return [f"{store.path}: {line}" for line in found]


def metadata_problems(group: zarr.Group, layout: StoreLayout) -> Iterator[str]:
    """A line for each field in which the arrays' metadata differ from those of the layout."""
    expected = layout.make_arrays(MemoryStore())
    for name in layout.arrays:
        try:
            found = _metadata(array_of(group, name))
        except StoreError as error:
            yield str(error)
            continue
        for key, value in _metadata(array_of(expected, name)).items():
            if found.get(key) != value:
                yield f"array {name}: {key} is {found.get(key)}, expected {value}"


def _metadata(array: zarr.Array[Any]) -> dict[str, str]:
    return {key: json.dumps(value, default=str) for key, value in array.metadata.to_dict().items()}


def _block_problems(store: ActivationStore, block: int) -> Iterator[str]:
    rows = store.block_rows(block)
    for name in ("states", *PROMPT_ARRAYS):
        try:
            _check_file(store, name, block)
            values = read_array(store.group, name, rows)
        except StoreError as error:
            yield f"block {block}: {error}"
            continue
        if name == "states":
            yield from _states_problems(store, block, values)
        elif (values == store.layout.arrays[name].fill_value).any():
            yield f"block {block}: array {name} has entries that were never written"


def _check_file(store: ActivationStore, name: str, block: int) -> None:
    array = array_of(store.group, name)
    key = array.metadata.encode_chunk_key((block,) + (0,) * (array.ndim - 1))
    if not (store.path / name / key).is_file():
        raise StoreError(f"file {name}/{key} is missing")


def _states_problems(store: ActivationStore, block: int, stored: np.ndarray) -> Iterator[str]:
    finite = np.isfinite(store.decode(stored)).all(axis=-1)
    start = store.block_rows(block).start
    for step, condition, site in np.argwhere(~finite).tolist():
        yield (
            f"block {block}: states of step {store.step_ids[start + step]!r}, condition "
            f"{store.conditions[condition]!r}, site {store.sites[site]!r} are not finite"
        )
