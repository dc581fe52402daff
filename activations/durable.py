"""Files that are either whole or absent, whatever instant the process or the machine dies at."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from zarr.core.buffer import Buffer
from zarr.storage import LocalStore, WrapperStore

PARTIAL = ".partial"


class DurableStore(WrapperStore[LocalStore]):
    """A local Zarr store whose every write is on disk, under its final name, when it returns.

    Zarr's own local store renames too, but neither forces data to disk nor names its temporary
    files so that they can be found again.
    """

    async def set(self, key: str, value: Buffer) -> None:
        await asyncio.to_thread(write_whole, self._store.root / key, value.to_bytes())


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` beside `path`, force it to disk, then rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + PARTIAL)
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to disk, so that a rename survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_partial_files(folder: Path) -> None:
    """Delete what interrupted `write_whole` calls left in `folder`."""
    for partial in folder.rglob("*" + PARTIAL):
        partial.unlink()
