"""The activation store: hidden states of every step, condition and site in one Zarr v3 group.

Convention: blocks of steps are written whole, one Zarr shard each, and `done` marks a block only when
everything of it is on disk. A run killed at any instant is resumed by appending the blocks that are
not done, and ends with the same files, byte for byte, as a run that was never interrupted. The format
is specified in docs/activation-store.md.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch
import zarr
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from zarr.storage import LocalStore

from activations import bfloat16
from activations.durable import DurableStore, remove_partial_files, sync_folder
from activations.layout import (
    FingerprintError,
    StoreDtype,
    StoreError,
    StoreLayout,
    array_of,
    bytes_needed,
    fingerprint_differences,
    read_array,
)
from activations.verification import metadata_problems, problems

if TYPE_CHECKING:
    import xarray

Rows = slice | Sequence[int] | NDArray[Any] | None
SHA256 = re.compile(r"[0-9a-f]{64}")


class ActivationStore:
    """Hidden states (n_steps, n_conditions, n_sites, width) with what is known of each prompt.

    Made by `create`, `open` or `open_or_create`. Steps lie in blocks of `block_size`; `done` says
    which are on disk.
    """

    def __init__(self, path: Path, group: zarr.Group, layout: StoreLayout, writable: bool) -> None:
        self.path = path
        self.layout = layout
        self.step_ids = list(layout.step_ids)
        self.episode_ids = list(layout.episode_ids)
        self.conditions = layout.conditions
        self.sites = layout.sites
        self.width = layout.width
        self.dtype: StoreDtype = layout.dtype
        self.fingerprint = dict(layout.fingerprint)
        self.positive = layout.positive
        self.negative = layout.negative
        self.block_size = layout.block_size
        self.n_steps = layout.n_steps
        self.n_blocks = layout.n_blocks
        self.group = group
        self._writable = writable
        self.done: NDArray[np.bool_] = read_array(group, "done")

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        step_ids: Sequence[str],
        episode_ids: Sequence[str],
        conditions: Sequence[str],
        sites: Sequence[str],
        width: int,
        dtype: StoreDtype,
        fingerprint: Mapping[str, str],
        positive: str = "image",
        negative: str = "text",
        block_size: int = 64,
    ) -> Self:
        """Make an empty store, open for appending; its steps and their order are fixed from now on.

        Parameters
        ----------
        path
            A folder that does not exist yet.
        step_ids, episode_ids
            (n_steps,), unique steps and the episode of each.
        conditions, sites
            Names along the second and third axis.
        width
            d, the length of a hidden state.
        dtype
            "bfloat16" keeps bfloat16 states exactly in half the space; "float32" any narrower float.
        fingerprint
            What makes the states (model, revision, versions, …); compared on resuming.
        positive, negative
            The two conditions of a shift, positive − negative.
        block_size
            Steps of one shard, written at once; lowered to n_steps if there are fewer.

        Raises
        ------
        StoreError
            When the path exists or a value is not allowed, naming it.
        """
        layout = StoreLayout(
            step_ids=tuple(step_ids),
            episode_ids=tuple(episode_ids),
            conditions=tuple(conditions),
            sites=tuple(sites),
            width=width,
            dtype=dtype,
            fingerprint=dict(fingerprint),
            positive=positive,
            negative=negative,
            block_size=block_size,
        )
        return cls._create(Path(path), layout)

    @classmethod
    def _create(cls, path: Path, layout: StoreLayout) -> Self:
        if path.exists():
            raise StoreError(f"{path} exists; open it to resume, or choose another path")
        # Built under another name, so that a store exists whole or not at all. A draft holds no
        # block, hence nothing is lost with one that an interrupted run left behind.
        draft = path.with_name(f".{path.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        layout.write(draft)
        draft.rename(path)
        sync_folder(path.parent)
        return cls.open(path, mode="a")

    @classmethod
    def open(
        cls,
        path: str | Path,
        mode: Literal["r", "a"] = "r",
        fingerprint: Mapping[str, str] | None = None,
    ) -> Self:
        """Open a store for reading ("r") or for appending its missing blocks ("a").

        Parameters
        ----------
        path
            The store's folder.
        mode
            "r" or "a".
        fingerprint
            When given, the store's own must equal it.

        Raises
        ------
        FingerprintError
            When the fingerprints differ, naming the fields.
        StoreError
            When there is no sound store at `path`.
        """
        path = Path(path)
        if mode not in ("r", "a"):
            raise StoreError(f"mode {mode!r} is not 'r' or 'a'")
        if not (path / "zarr.json").is_file():
            raise StoreError(f"{path} is not an activation store: it has no zarr.json")
        try:
            group = _open_group(path, mode)
            layout = StoreLayout.read(group)
            # Zarr reads on with a changed fill value, data type or shape, and gives other numbers.
            for problem in metadata_problems(group, layout):
                raise StoreError(problem)
            store = cls(path, group, layout, writable=mode == "a")
        except StoreError as error:
            raise StoreError(f"{path} is not a sound activation store: {error}") from error
        if fingerprint is not None:
            _refuse(path, fingerprint_differences(store.fingerprint, fingerprint))
        if mode == "a":
            with store._writing():
                remove_partial_files(path)
        return store

    @classmethod
    def open_or_create(cls, path: str | Path, **layout: Any) -> Self:
        """Open the store at `path` for appending if it is there, else create it.

        Takes what `create` takes. An existing store must agree in all of it.

        Raises
        ------
        FingerprintError
            When the existing store differs, naming the fields.
        """
        path = Path(path)
        if not path.exists():
            return cls.create(path, **layout)
        store = cls.open(path, mode="a")
        wanted = StoreLayout(**{"positive": "image", "negative": "text", "block_size": 64} | layout)
        _refuse(path, store.layout.differences(wanted))
        return store

    @property
    def complete(self) -> bool:
        """Whether every block is on disk."""
        return bool(self.done.all())

    @property
    def bytes_needed(self) -> int:
        """Bytes that the states of the complete store take on disk."""
        return bytes_needed(
            self.n_steps,
            len(self.conditions),
            len(self.sites),
            self.width,
            self.dtype,
            self.block_size,
        )

    @property
    def prompt_tokens(self) -> NDArray[np.int64]:
        """int64, (n_steps, n_conditions): tokens of each prompt; −1 where not yet written."""
        return self._prompts("prompt_tokens")

    @property
    def image_tokens(self) -> NDArray[np.int64]:
        """int64, (n_steps, n_conditions): image placeholders among them; −1 where not yet written."""
        return self._prompts("image_tokens")

    @property
    def last_token_id(self) -> NDArray[np.int64]:
        """int64, (n_steps, n_conditions): id of the last prompt token; −1 where not yet written."""
        return self._prompts("last_token_id")

    @property
    def prompt_sha256(self) -> NDArray[np.str_]:
        """str, (n_steps, n_conditions): hash of text and pixels; empty where not yet written."""
        return self._prompts("prompt_sha256").astype("U64")

    def block_rows(self, block: int) -> slice:
        """The steps of a block; the last block may have fewer."""
        if not 0 <= block < self.n_blocks:
            raise StoreError(f"block {block} is outside of 0 … {self.n_blocks - 1}")
        start = block * self.block_size
        return slice(start, min(start + self.block_size, self.n_steps))

    def pending(self) -> list[int]:
        """The blocks that are not done, in order."""
        return np.flatnonzero(~self.done).tolist()

    def append(
        self,
        block: int,
        states: Tensor | NDArray[Any],
        prompt_tokens: ArrayLike,
        image_tokens: ArrayLike,
        last_token_id: ArrayLike,
        prompt_sha256: ArrayLike,
    ) -> None:
        """Write one whole block and mark it done once it is on disk.

        Parameters
        ----------
        block
            One of `pending()`.
        states
            (n_block_steps, n_conditions, n_sites, width). A bfloat16 tensor if the store's dtype is
            bfloat16, else float32, or float16 or bfloat16, which float32 holds exactly.
        prompt_tokens, image_tokens, last_token_id, prompt_sha256
            (n_block_steps, n_conditions) each; the hashes as 64 hexadecimal digits.

        Raises
        ------
        StoreError
            When the store is not open for appending, the block is done, a shape, dtype or value is
            not allowed, or a state is not finite (naming step, condition and site). Nothing is
            written then.
        """
        rows = self.block_rows(block)
        encoded = self._encoded_states(torch.as_tensor(states), rows)
        prompts = {
            "prompt_tokens": self._counts("prompt_tokens", prompt_tokens, rows),
            "image_tokens": self._counts("image_tokens", image_tokens, rows),
            "last_token_id": self._counts("last_token_id", last_token_id, rows),
            "prompt_sha256": self._hashes(prompt_sha256, rows),
        }
        with self._writing():
            done = read_array(self.group, "done")
            if done[block]:
                raise StoreError(f"block {block} of {self.path} is done already")
            array_of(self.group, "states")[rows] = encoded
            for name, values in prompts.items():
                array_of(self.group, name)[rows] = values
            done[block] = True
            array_of(self.group, "done")[:] = done
        self.done = done

    def layer(self, site: str, condition: str, rows: Rows = None) -> NDArray[np.float32]:
        """Hidden states of one site under one condition.

        Parameters
        ----------
        site, condition
            Names of the store.
        rows
            Steps as a slice, indices or a mask; all by default.

        Returns
        -------
        ndarray
            float32, (n_rows, width).

        Raises
        ------
        StoreError
            When a name is unknown, a row lies in a block that is not done, or the states of a done
            block are missing or not finite.
        """
        index = np.arange(self.n_steps)[_selection(rows)]
        self._check_done(index)
        if not len(index):
            return np.empty((0, self.width), np.float32)
        start, stop = int(index.min()), int(index.max()) + 1
        selection = (
            slice(start, stop),
            self._position("condition", condition, self.conditions),
            self._position("site", site, self.sites),
        )
        states = self.decode(read_array(self.group, "states", selection)[index - start])
        # Zarr reads a shard that is missing as its fill value, NaN.
        self._refuse_damaged(
            f"states of condition {condition!r}, site {site!r}",
            index[~np.isfinite(states).all(axis=1)],
        )
        return states

    def shift(self, site: str, rows: Rows = None) -> NDArray[np.float32]:
        """Signed shift positive − negative of one site: float32, (n_rows, width)."""
        return self.layer(site, self.positive, rows) - self.layer(site, self.negative, rows)

    def decode(self, stored: NDArray[Any]) -> NDArray[np.float32]:
        """Entries of the array `states` as float32 values."""
        return bfloat16.from_bits(stored) if self.dtype == "bfloat16" else stored

    def to_xarray(self) -> xarray.Dataset:
        """The store as a labelled dataset; states are read and decoded to float32 when indexed."""
        from activations.dataset import open_dataset

        return open_dataset(self)

    def verify(self) -> list[str]:
        """Read everything that is done; a line for each problem, empty if the store is sound."""
        return problems(self)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the store against other writers; the lock dies with the process."""
        if not self._writable:
            raise StoreError(f"{self.path} is open for reading; open it with mode='a' to append")
        folder = os.open(self.path, os.O_RDONLY)
        try:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreError(f"{self.path} is being written by another process") from None
            yield
        finally:
            os.close(folder)

    def _encoded_states(self, states: Tensor, rows: slice) -> NDArray[Any]:
        expected = (rows.stop - rows.start, len(self.conditions), len(self.sites), self.width)
        if tuple(states.shape) != expected:
            raise StoreError(f"states have shape {tuple(states.shape)}, expected {expected}")
        allowed = (
            (torch.bfloat16,)
            if self.dtype == "bfloat16"
            else (torch.float32, torch.float16, torch.bfloat16)
        )
        if states.dtype not in allowed:
            raise StoreError(
                f"states are {states.dtype}, expected {' or '.join(map(str, allowed))} for a store "
                f"of dtype {self.dtype}"
            )
        finite = torch.isfinite(states).all(dim=-1)
        if not finite.all():
            step, condition, site = torch.nonzero(~finite)[0].tolist()
            raise StoreError(
                f"states of step {self.step_ids[rows.start + step]!r}, condition "
                f"{self.conditions[condition]!r}, site {self.sites[site]!r} are not finite"
            )
        if self.dtype == "bfloat16":
            return bfloat16.to_bits(states)
        return states.float().cpu().numpy()

    def _counts(self, name: str, values: ArrayLike, rows: slice) -> NDArray[np.int64]:
        counts = np.asarray(values)
        self._check_prompt_shape(name, counts, rows)
        if counts.dtype.kind not in "iu" or (counts < 0).any():
            raise StoreError(f"{name} must hold integers >= 0, found {counts.tolist()}")
        return counts.astype(np.int64)

    def _hashes(self, values: ArrayLike, rows: slice) -> NDArray[Any]:
        hashes = np.asarray(values, dtype=object)
        self._check_prompt_shape("prompt_sha256", hashes, rows)
        for value in hashes.flat:
            if not SHA256.fullmatch(str(value)):
                raise StoreError(f"prompt_sha256 holds {value!r}, expected 64 hexadecimal digits")
        return hashes

    def _check_prompt_shape(self, name: str, values: NDArray[Any], rows: slice) -> None:
        expected = (rows.stop - rows.start, len(self.conditions))
        if values.shape != expected:
            raise StoreError(f"{name} has shape {values.shape}, expected {expected}")

    def _position(self, kind: str, name: str, names: Sequence[str]) -> int:
        if name not in names:
            raise StoreError(f"{kind} {name!r} is not in {self.path}, which has {', '.join(names)}")
        return names.index(name)

    def _prompts(self, name: str) -> NDArray[Any]:
        values = read_array(self.group, name)
        empty = (values == self.layout.arrays[name].fill_value).any(axis=1)
        done = np.repeat(self.done, self.block_size)[: self.n_steps]
        self._refuse_damaged(f"entries of {name}", np.flatnonzero(empty & done))
        return values

    def _refuse_damaged(self, what: str, rows: NDArray[Any]) -> None:
        if len(rows):
            raise StoreError(
                f"{self.path} is damaged: {what} are missing or not finite at step "
                f"{self.step_ids[rows[0]]!r} of block {rows[0] // self.block_size}, which is done "
                f"({len(rows)} rows); `mnemoscope store verify` lists the files at fault"
            )

    def _check_done(self, index: NDArray[Any]) -> None:
        missing = index[~self.done[index // self.block_size]]
        if len(missing):
            raise StoreError(
                f"{self.path} is incomplete: step {self.step_ids[missing[0]]!r} lies in block "
                f"{missing[0] // self.block_size}, which is not done ({len(self.pending())} of "
                f"{self.n_blocks} blocks are missing); resume the run or pass rows of done blocks"
            )


def _selection(rows: Rows) -> slice | NDArray[Any]:
    if rows is None:
        return slice(None)
    if isinstance(rows, slice):
        return rows
    selection = np.asarray(rows)
    # An empty list would become float64, which cannot index.
    return selection if selection.size else selection.astype(np.int64)


def _open_group(path: Path, mode: str) -> zarr.Group:
    try:
        if mode == "r":
            return zarr.open_group(LocalStore(path, read_only=True), mode="r")
        return zarr.open_group(DurableStore(LocalStore(path)), mode="r+")
    except Exception as error:  # zarr raises what it likes on a zarr.json that is damaged
        raise StoreError(f"its zarr.json cannot be read: {error}") from error


def _refuse(path: Path, differences: Sequence[str]) -> None:
    if differences:
        raise FingerprintError(
            f"{path} was made by another kind of run: {'; '.join(differences)}. Repeat the run as "
            "the store says, or choose another path"
        )
