"""Files and folders that are there whole or not at all.

Convention: what is being written is called `.partial-NAME` beside its place and is moved there when
it is on disk. A partial one that a killed process left behind is replaced by the next attempt.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file, then move it to `path`, replacing what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = _partial(path)
    write(partial)
    _sync(partial)
    os.replace(partial, path)
    _sync(path.parent)


def write_folder(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary folder, then move it to `path`, which must not exist yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = _partial(path)
    if partial.exists():
        shutil.rmtree(partial)
    write(partial)
    for entry in sorted(partial.rglob("*")):
        _sync(entry)
    _sync(partial)
    partial.rename(path)
    _sync(path.parent)


def _partial(path: Path) -> Path:
    return path.with_name(f".partial-{path.name}")


def _sync(path: Path) -> None:
    """Flush a file or a folder's entries to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
