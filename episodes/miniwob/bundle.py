"""The recording that comes with the project: three sets of MiniWoB++ steps with disjoint seeds.

Rebuilt with `mnemoscope record miniwob --bundle FOLDER` (two browsers, about ten minutes).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from episodes.miniwob.record import record
from episodes.table import StepTable, read_steps

# Episodes of the training set by task: more where a fact has many values or few pages show it.
EPISODES: Mapping[str, int] = {
    "click-button": 220, "click-link": 220, "click-dialog": 30, "click-dialog-2": 150,
    "click-test": 20, "click-test-2": 50, "click-tab": 120, "click-widget": 120,
    "click-color": 200, "click-shape": 150, "identify-shape": 60, "grid-coordinate": 200,
    "focus-text": 20, "focus-text-2": 120, "social-media": 700, "email-inbox": 500,
    "email-inbox-delete": 100, "email-inbox-important": 100, "click-button-sequence": 30,
    "click-option": 60, "click-checkboxes": 50, "click-tab-2": 120, "click-collapsible": 30,
    "click-collapsible-2": 80, "navigate-tree": 220, "enter-text": 180, "enter-text-dynamic": 30,
    "enter-password": 30, "login-user": 120, "use-spinner": 25, "search-engine": 50,
}  # fmt: skip
# Tasks of one step in which the form of memory matters; played twice as often in `query` and `test`,
# where longer tasks would otherwise leave them few of the steps.
DOUBLED = (
    "grid-coordinate", "social-media", "email-inbox-delete", "email-inbox-important",
    "click-dialog-2",
)  # fmt: skip
# (first seed, share of EPISODES) of each set; the first seeds lie far apart, so no page is in two sets.
SETS: Mapping[str, tuple[int, float]] = {
    "train": (0, 1.0),
    "query": (10_000, 0.6),
    "test": (20_000, 0.3),
}


def record_bundle(
    folder: str | os.PathLike[str], *, processes: int = 2, progress: bool = True
) -> dict[str, StepTable]:
    """Records the three sets into `folder` as `miniwob-<set>.parquet`; sets that exist are kept."""
    tables = {}
    for split in SETS:
        out = Path(folder) / f"miniwob-{split}.parquet"
        if not out.exists():
            record(out, _plan(split), split=split, processes=processes, progress=progress)
        tables[split] = read_steps(out)
    return tables


def _plan(split: str) -> dict[str, range]:
    """The seeds of each task of a set."""
    first, share = SETS[split]
    times = {task: 2 if task in DOUBLED and split != "train" else 1 for task in EPISODES}
    return {
        task: range(first, first + round(n * share) * times[task]) for task, n in EPISODES.items()
    }
