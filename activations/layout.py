"""Layout of an activation store: its axes, its header, and the Zarr arrays that follow from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import zarr
from zarr.abc.store import Store
from zarr.codecs import Crc32cCodec
from zarr.storage import LocalStore

from activations.bfloat16 import NAN_BITS
from activations.durable import DurableStore

ENCODING_TYPE = "mnemoscope-activations"
ENCODING_VERSION = "1.0"

StoreDtype = Literal["float32", "bfloat16"]
STATE_TYPES = {"float32": "float32", "bfloat16": "uint16"}
CRC_BYTES = 4
INDEX_ENTRY_BYTES = 16


class StoreError(ValueError):
    """An activation store cannot be made, read or written as asked."""


class FingerprintError(StoreError):
    """A store was made by a run of another kind; the message names the fields that differ."""


@dataclass(frozen=True)
class ArrayLayout:
    """One Zarr array: its dimensions and how they are cut into chunks.

    No entry of a finished block equals `fill_value`, so that Zarr, which leaves out chunks full of
    it, writes every chunk, and a file that is missing is a fault.
    """

    data_type: str
    fill_value: Any
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None = None


@dataclass(frozen=True)
class StoreLayout:
    """Everything about a store that is fixed when it is created.

    Parameters
    ----------
    step_ids, episode_ids
        (n_steps,), unique steps in their order and the episode of each.
    conditions, sites
        Names along the second and third axis of the states.
    width
        d, the length of a hidden state.
    dtype
        "bfloat16" (kept exactly, as bits) or "float32".
    fingerprint
        What made the states.
    positive, negative
        The two conditions of a shift, positive − negative.
    block_size
        Steps of one shard.

    Raises
    ------
    StoreError
        When a value is not allowed, naming the field.
    """

    step_ids: tuple[str, ...]
    episode_ids: tuple[str, ...]
    conditions: tuple[str, ...]
    sites: tuple[str, ...]
    width: int
    dtype: StoreDtype
    fingerprint: dict[str, str]
    positive: str
    negative: str
    block_size: int

    def __post_init__(self) -> None:
        for name in ("step_ids", "episode_ids", "conditions", "sites"):
            values = tuple(getattr(self, name))
            object.__setattr__(self, name, values)
            _check_names(name, values)
        for name in ("step_ids", "conditions", "sites"):
            _check_unique(name, getattr(self, name))
        if len(self.episode_ids) != len(self.step_ids):
            raise StoreError(
                f"episode_ids has {len(self.episode_ids)} entries, expected one for each of the "
                f"{len(self.step_ids)} step_ids"
            )
        if not isinstance(self.dtype, str) or self.dtype not in STATE_TYPES:
            raise StoreError(f"dtype {self.dtype!r} is not one of {', '.join(STATE_TYPES)}")
        for name in ("width", "block_size"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise StoreError(f"{name} is {value!r}, expected an integer of at least 1")
        _check_sides(self.positive, self.negative, self.conditions)
        _check_fingerprint(self.fingerprint)
        object.__setattr__(self, "fingerprint", dict(sorted(self.fingerprint.items())))
        object.__setattr__(self, "block_size", min(self.block_size, len(self.step_ids)))

    @property
    def n_steps(self) -> int:
        return len(self.step_ids)

    @property
    def n_blocks(self) -> int:
        return math.ceil(self.n_steps / self.block_size)

    @property
    def arrays(self) -> dict[str, ArrayLayout]:
        """Name → layout of every array of the group."""
        steps, block = self.n_steps, self.block_size
        conditions, sites = len(self.conditions), len(self.sites)
        empty_state = NAN_BITS if self.dtype == "bfloat16" else float("nan")
        states = ArrayLayout(
            STATE_TYPES[self.dtype],
            empty_state,
            ("step", "condition", "site", "feature"),
            (steps, conditions, sites, self.width),
            chunks=(block, 1, 1, self.width),
            shards=(block, conditions, sites, self.width),
        )
        labels = {
            name: ArrayLayout("string", "", (dimension,), (length,), chunks=(length,))
            for name, dimension, length in (
                ("step_id", "step", steps),
                ("episode_id", "step", steps),
                ("condition", "condition", conditions),
                ("site", "site", sites),
            )
        }
        prompts = {
            name: ArrayLayout(
                data_type,
                fill_value,
                ("step", "condition"),
                (steps, conditions),
                chunks=(block, conditions),
            )
            for name, (data_type, fill_value) in PROMPT_ARRAYS.items()
        }
        done = ArrayLayout("bool", False, ("block",), (self.n_blocks,), chunks=(self.n_blocks,))
        return {"states": states, **labels, **prompts, "done": done}

    @property
    def attributes(self) -> dict[str, Any]:
        """The group's attributes."""
        return {
            "encoding-type": ENCODING_TYPE,
            "encoding-version": ENCODING_VERSION,
            "dtype": self.dtype,
            "block_size": self.block_size,
            "positive": self.positive,
            "negative": self.negative,
            "fingerprint": self.fingerprint,
        }

    def write(self, folder: Path) -> None:
        """Make the empty store in `folder`: all metadata and labels, no block."""
        group = self.make_arrays(DurableStore(LocalStore(folder)))
        labels = {
            "step_id": self.step_ids,
            "episode_id": self.episode_ids,
            "condition": self.conditions,
            "site": self.sites,
        }
        for name, values in labels.items():
            array_of(group, name)[:] = np.array(values, dtype=object)

    def make_arrays(self, store: Store) -> zarr.Group:
        """A group with every array of this layout and nothing in them."""
        group = zarr.create_group(store, zarr_format=3, attributes=self.attributes)
        for name, array in self.arrays.items():
            group.create_array(
                name,
                shape=array.shape,
                dtype=array.data_type,
                chunks=array.chunks,
                shards=array.shards,
                filters=[],
                compressors=[Crc32cCodec()],
                fill_value=array.fill_value,
                dimension_names=array.dimensions,
                attributes={"dtype": self.dtype} if name == "states" else None,
            )
        return group

    @classmethod
    def read(cls, group: zarr.Group) -> Self:
        """The layout of an existing store.

        Raises
        ------
        StoreError
            When the group is not an activation store of this version, or its header is damaged.
        """
        attributes: dict[str, Any] = dict(group.attrs.asdict())
        for key, expected in (
            ("encoding-type", ENCODING_TYPE),
            ("encoding-version", ENCODING_VERSION),
        ):
            if attributes.get(key) != expected:
                raise StoreError(
                    f"attribute {key} is {attributes.get(key)!r}, expected {expected!r}"
                )
        if missing := {"dtype", "block_size", "positive", "negative", "fingerprint"} - set(
            attributes
        ):
            raise StoreError(f"attributes {sorted(missing)} are missing")
        return cls(
            step_ids=_labels(group, "step_id"),
            episode_ids=_labels(group, "episode_id"),
            conditions=_labels(group, "condition"),
            sites=_labels(group, "site"),
            width=_width(group),
            **{
                name: attributes[name]
                for name in ("dtype", "fingerprint", "positive", "negative", "block_size")
            },
        )

    def differences(self, other: StoreLayout) -> list[str]:
        """What differs between this layout and another, a line for each field."""
        lines = fingerprint_differences(self.fingerprint, other.fingerprint)
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if field.name != "fingerprint" and mine != theirs:
                lines.append(
                    f"{field.name}: store has {_short(mine, theirs)}, this run has {_short(theirs, mine)}"
                )
        return lines


# Array → (data type, fill value) of what is kept for each prompt.
PROMPT_ARRAYS: dict[str, tuple[str, Any]] = {
    "prompt_tokens": ("int64", -1),
    "image_tokens": ("int64", -1),
    "last_token_id": ("int64", -1),
    "prompt_sha256": ("string", ""),
}


def bytes_needed(
    n_steps: int,
    n_conditions: int,
    n_sites: int,
    width: int,
    dtype: StoreDtype,
    block_size: int = 64,
) -> int:
    """Bytes that the states of a full store take on disk, checksums and shard indices included.

    Everything else (labels, token counts, hashes) takes a few hundred bytes a step.
    """
    block_size = min(block_size, n_steps)
    chunk = block_size * width * np.dtype(STATE_TYPES[dtype]).itemsize + CRC_BYTES
    shard = n_conditions * n_sites * (chunk + INDEX_ENTRY_BYTES) + CRC_BYTES
    return math.ceil(n_steps / block_size) * shard


def fingerprint_differences(store: Mapping[str, str], run: Mapping[str, str]) -> list[str]:
    """A line for each field in which two fingerprints differ."""
    return [
        f"{name}: store has {store.get(name)!r}, this run has {run.get(name)!r}"
        for name in sorted(set(store) | set(run))
        if store.get(name) != run.get(name)
    ]


def array_of(group: zarr.Group, name: str) -> zarr.Array[Any]:
    """An array of a group, or a `StoreError` that names it."""
    try:
        array = group.get(name)
    except Exception as error:  # zarr raises what it likes on a zarr.json that is damaged
        raise StoreError(f"the metadata of array {name} cannot be read: {error}") from error
    if not isinstance(array, zarr.Array):
        raise StoreError(f"array {name} is missing")
    return array


def read_array(group: zarr.Group, name: str, selection: Any = slice(None)) -> np.ndarray:
    """Part of an array, or a `StoreError` that names the array when its checksum is wrong."""
    array = array_of(group, name)
    try:
        return np.asarray(array[selection])
    except Exception as error:  # codecs raise what they like on damaged bytes
        raise StoreError(f"array {name} cannot be read: {error}") from error


def _labels(group: zarr.Group, name: str) -> tuple[str, ...]:
    return tuple(str(label) for label in read_array(group, name).flat)


def _width(group: zarr.Group) -> int:
    shape = array_of(group, "states").shape
    if len(shape) != 4:
        raise StoreError(f"array states: shape is {shape}, expected four lengths")
    return shape[-1]


def _check_names(field: str, values: Sequence[Any]) -> None:
    if not values:
        raise StoreError(f"{field} is empty")
    for position, value in enumerate(values):
        if not isinstance(value, str) or not value:
            raise StoreError(f"{field}[{position}] is {value!r}, expected a non-empty string")


def _check_unique(field: str, values: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for position, value in enumerate(values):
        if value in seen:
            raise StoreError(f"{field} has {value!r} twice, at {seen[value]} and {position}")
        seen[value] = position


def _check_fingerprint(fingerprint: Any) -> None:
    if not isinstance(fingerprint, dict):
        raise StoreError(f"fingerprint is {fingerprint!r}, expected an object of strings")
    for name, text in fingerprint.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise StoreError(f"fingerprint[{name!r}] is {text!r}, expected a string")


def _check_sides(positive: str, negative: str, conditions: Sequence[str]) -> None:
    for name, side in (("positive", positive), ("negative", negative)):
        if side not in conditions:
            raise StoreError(f"{name} {side!r} is not among the conditions {', '.join(conditions)}")
    if positive == negative:
        raise StoreError(f"positive and negative are both {positive!r}, expected two conditions")


def _short(value: Any, other: Any) -> str:
    """`value` for a message; of a long list only its length and the first entry that differs."""
    if not isinstance(value, tuple) or not isinstance(other, tuple) or len(value) < 10:
        return repr(value)
    at = next(
        (i for i, (a, b) in enumerate(zip(value, other)) if a != b), min(len(value), len(other))
    )
    return f"{len(value)} entries, at {at}: {value[at] if at < len(value) else 'nothing'!r}"
