"""The bundled recording of MiniWoB++ steps (see `episodes.miniwob.bundle`)."""

from __future__ import annotations

from pathlib import Path

from episodes.table import StepTable, read_steps


def bundled_steps(split: str) -> StepTable:
    """The bundled MiniWoB++ steps of one set.

    Parameters
    ----------
    split
        "train" (the pocket actor's training steps and the memory bank), "query" (preferences) or
        "test" (kept for later).
    """
    path = Path(__file__).with_name(f"miniwob-{split}.parquet")
    if not path.is_file():
        raise ValueError(f"no bundled set {split!r}; there are train, query and test")
    return read_steps(path)
