"""Kills collecting at random instants, resumes it each time, and compares with an undisturbed run.

    python tests/kill_collect.py demo --kills 20 --set data.n_steps=200

`mnemoscope collect` is ended with SIGKILL: half of the times after a random while, half of the times
a few milliseconds after something in the run folder was written, where a half-written file would
show. When a run ends before all kills are used, the next kills fall on a fresh run. In the end every
run's `samples.parquet` and every file of its `activations.zarr` must equal the undisturbed run's,
byte by byte. Exit code 0 if they do.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

if __name__ == "__main__":
    # Python looks into a script's own folder first, where tests/workbench would hide the package.
    sys.path.pop(0)

from workbench import Run, load_config, run_stage

POLL = 0.002  # seconds
WRITE_WINDOW = 0.03  # seconds after a write within which the kill falls


class Process(Protocol):
    """A running `mnemoscope collect`."""

    def kill(self) -> None:
        """End it with SIGKILL and wait until it is gone."""

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""


class CommandProcess:
    """`mnemoscope collect` in a process of its own."""

    def __init__(self, config: str, runs: Path, overrides: Sequence[str]) -> None:
        arguments = ["collect", config, "--runs", str(runs)]
        for override in overrides:
            arguments += ["--set", override]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workbench.cli", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def poll(self) -> int | None:
        return self.process.poll()


def kill_and_resume(
    folder: Path, start: Callable[[], Process], draw: random.Random, kills: int, longest: float
) -> int:
    """Collect into a run folder, killing up to `kills` times; how many kills there were.

    Parameters
    ----------
    folder
        The run folder that `start`'s process writes to.
    start
        Starts collecting anew.
    draw
        Where the instants come from.
    kills
        Most kills; after them collecting runs to its end.
    longest
        Seconds within which a kill after a random while falls.
    """
    for done in range(kills):
        process = start()
        if draw.random() < 0.5:
            ended = _ended_within(process, draw.uniform(0, longest))
        else:
            ended = _ended_before_write(process, folder) or _ended_within(
                process, draw.uniform(0, WRITE_WINDOW)
            )
        if ended:
            return done
        process.kill()
    process = start()
    while process.poll() is None:
        time.sleep(POLL)
    _check_exit(process)
    return kills


def differing_files(one: Path, other: Path) -> list[str]:
    """Names of the collected files that are not the same in two run folders."""
    names = sorted(set(_collected(one)) | set(_collected(other)))
    return [name for name in names if _bytes(one / name) != _bytes(other / name)]


def _collected(folder: Path) -> Iterator[str]:
    yield "samples.parquet"
    for path in (folder / "activations.zarr").rglob("*"):
        if path.is_file():
            yield str(path.relative_to(folder))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _ended_within(process: Process, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            _check_exit(process)
            return True
        time.sleep(POLL)
    return False


def _ended_before_write(process: Process, folder: Path) -> bool:
    before = _written(folder)
    while _written(folder) == before:
        if process.poll() is not None:
            _check_exit(process)
            return True
        time.sleep(POLL)
    return False


def _written(folder: Path) -> int:
    """Changes when a file below the folder appears; the log, which is no artefact, does not count."""
    return sum(len(files) for _, _, files in os.walk(folder))


def _check_exit(process: Process) -> None:
    if process.poll() != 0:
        raise RuntimeError(f"collecting failed with exit code {process.poll()}")


def main() -> int:
    """Run the experiment that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("config", help="bundled name or TOML file")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the instants")
    parser.add_argument("--set", dest="overrides", action="append", default=[])
    parser.add_argument(
        "--work", type=Path, help="folder for the runs (a temporary one by default)"
    )
    arguments = parser.parse_args()
    work = arguments.work or Path(tempfile.mkdtemp(prefix="kill-collect-"))
    config = load_config(arguments.config, arguments.overrides)
    draw = random.Random(arguments.seed)

    def start(runs: Path) -> CommandProcess:
        return CommandProcess(arguments.config, runs, arguments.overrides)

    def new_run(name: str) -> Run:
        run = Run.open(config, work / name)
        run_stage(run, "pairs")
        return run

    whole = new_run("whole")
    begun = time.monotonic()
    kill_and_resume(whole.folder, lambda: start(work / "whole"), draw, 0, 0)
    seconds = time.monotonic() - begun
    print(f"undisturbed: {seconds:.0f} s, in {whole.folder}", flush=True)
    left, failed, number = arguments.kills, False, 0
    while left:
        number += 1
        run = new_run(f"killed-{number}")
        runs = run.folder.parent
        kills = kill_and_resume(run.folder, lambda runs=runs: start(runs), draw, left, seconds)
        left -= kills
        different = differing_files(whole.folder, run.folder)
        failed |= bool(different)
        verdict = f"DIFFERENT: {', '.join(different)}" if different else "equal bit for bit"
        files = len(set(_collected(run.folder)))
        print(f"{run.folder}: {kills} kills, {files} files: {verdict}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
