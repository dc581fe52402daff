"""A short form of `tests/kill_collect.py`: collecting is killed a few times and resumed.

The processes are forked from a server that has imported torch once, so that a kill costs a second.
"""

import multiprocessing
import os
import random
import time
from pathlib import Path

from kill_collect import Process, differing_files, kill_and_resume
from small_runs import small_config
from tiny_models import tiny_qwen3_vl

from workbench import Run, RunConfig, run_stage

KILLS = 3


def _collect(config: RunConfig, runs: Path) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # no progress bars
    run = Run.open(config, runs)
    with run.locked():
        run_stage(run, "collect")


CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["workbench.collect"])


class ForkedProcess:
    """Collecting in a process that is forked from the server."""

    def __init__(self, config: RunConfig, runs: Path) -> None:
        self.process = CONTEXT.Process(target=_collect, args=(config, runs))
        self.process.start()

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def poll(self) -> int | None:
        return self.process.exitcode


def test_a_killed_and_resumed_run_equals_an_undisturbed_one(
    steps_table: Path, tmp_path: Path
) -> None:
    config = small_config(
        steps_table,
        data={"n_steps": 8},
        actor={"model": str(tiny_qwen3_vl(tmp_path / "model")), "dialect": "qwen"},
        sampling={"max_new_tokens": 3, "samples": 3},
        preferences={"agreement": 2},
        capture={"block_size": 2},
    )
    whole, killed = (Run.open(config, tmp_path / name) for name in ("whole", "killed"))
    for run in (whole, killed):
        run_stage(run, "pairs")

    def start(run: Run) -> Process:
        return ForkedProcess(config, run.folder.parent)

    server = CONTEXT.Process(target=os.getpid)  # so that its imports are not measured
    server.start()
    server.join()
    draw = random.Random(0)
    begun = time.monotonic()
    kill_and_resume(whole.folder, lambda: start(whole), draw, 0, 0)
    seconds = time.monotonic() - begun
    kills = kill_and_resume(killed.folder, lambda: start(killed), draw, KILLS, seconds / KILLS)
    assert kills > 0
    assert differing_files(whole.folder, killed.folder) == []
