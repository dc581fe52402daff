"""Recording of MiniWoB++ episodes: seeded resets, scripted demonstrators, several browsers at once.

A recording is restartable: each (task, seed) that is done is a small file in a work folder beside the
table, and a second call records only what is missing. Episodes without positive reward are dropped.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from tqdm.auto import tqdm

from episodes.action import Action
from episodes.miniwob.browser import Browser, BrowserError, find_chromium
from episodes.miniwob.demonstrators import DEMONSTRATORS, played
from episodes.step import Episode, Step
from episodes.table import StepTable, read_episodes_of, read_steps, with_split, write_steps

SOURCE = "miniwob"
MAX_STEPS = 14


def parse_seeds(text: str) -> list[int]:
    """Seeds from text such as "0-99" or "3,7,10-12".

    Raises
    ------
    ValueError
        When a part is neither a number nor a range, or a seed is named twice.
    """
    seeds: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if not found or int(found[2] or found[1]) < int(found[1]):
            raise ValueError(f"seeds {text!r}: {part!r} is neither a number nor a range like 0-99")
        seeds += range(int(found[1]), int(found[2] or found[1]) + 1)
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds {text!r}: a seed is named twice")
    return seeds


def record_episode(browser: Browser, task: str, seed: int, split: str) -> Episode | None:
    """Plays the task's demonstrator on one seeded page; None where it earns no positive reward."""
    browser.reset(task, seed)
    episode_id = f"{SOURCE}/{task}/{seed}"
    steps: list[Step] = []
    done: list[Action] = []
    screen = browser.look()
    plan = played(task, screen)
    move = next(plan, None)
    while move is not None and len(steps) < MAX_STEPS:
        action, element = move
        steps.append(
            Step(
                step_id=f"{episode_id}/{len(steps)}",
                episode_id=episode_id,
                index=len(steps),
                instruction=screen.instruction,
                elements=screen.elements,
                action=action,
                screenshot=screen.screenshot,
                target=element.box if element else None,
                previous_actions=tuple(done),
                app=task,
            )
        )
        browser.perform(action)
        done.append(action)
        if browser.done:
            break
        screen = browser.look()
        try:
            move = plan.send(screen)
        except StopIteration:
            break
    if browser.reward <= 0:
        return None
    return Episode(episode_id, tuple(steps), SOURCE, split, success=True)


def record(
    out: str | os.PathLike[str],
    plan: Mapping[str, Sequence[int]],
    *,
    split: str = "train",
    processes: int = 1,
    progress: bool = True,
) -> StepTable:
    """Records the planned episodes and writes one table of steps.

    Parameters
    ----------
    out
        The Parquet table to write. An existing table is never overwritten.
    plan
        For each task the seeds to play; the same task and seed give the same page.
    split
        Name of the set that the steps belong to.
    processes
        Number of browsers.

    Raises
    ------
    ValueError
        When a task has no demonstrator, the table exists already, or nothing earned reward.
    BrowserError
        When Chromium or its driver is missing.
    """
    out = Path(out)
    if out.exists():
        raise ValueError(f"{out}: exists already; choose another name (nothing is overwritten)")
    if unknown := sorted(plan.keys() - DEMONSTRATORS.keys()):
        raise ValueError(
            f"no demonstrator for {', '.join(unknown)}; there is one for {', '.join(sorted(DEMONSTRATORS))}"
        )
    find_chromium()
    work = out.with_name(f"{out.stem}.parts")
    work.mkdir(parents=True, exist_ok=True)
    jobs = [(task, seed) for task, seeds in plan.items() for seed in seeds]
    missing = [job for job in jobs if not _part(work, *job).exists()]
    bar = tqdm(total=len(jobs), initial=len(jobs) - len(missing), unit="episode",
               desc=f"recording {split}", disable=not progress)  # fmt: skip
    with bar:
        if processes == 1:
            _work(missing, work, split, bar.update)
        else:
            _spread(missing, work, split, processes, bar)
    episodes = [with_split(episode, split) for episode in _episodes(work, jobs)]
    if not episodes:
        raise ValueError(f"none of the {len(jobs)} episodes earned reward; try more seeds")
    write_steps(out, episodes)
    return read_steps(out)


def _spread(jobs: list[tuple[str, int]], work: Path, split: str, processes: int, bar: tqdm) -> None:
    """Gives each of several processes, with a browser of its own, every n-th job."""
    context = multiprocessing.get_context("spawn")
    news = context.Queue()
    workers = [
        context.Process(
            target=_work, args=(jobs[number::processes], work, split, news.put), daemon=True
        )
        for number in range(processes)
    ]
    for worker in workers:
        worker.start()
    for _ in jobs:
        while news.empty():
            if not any(worker.is_alive() for worker in workers):
                raise BrowserError("the recording processes ended early; the same command goes on")
            workers[0].join(timeout=0.05)
        bar.update(news.get())
    for worker in workers:
        worker.join()


def _work(
    jobs: Iterable[tuple[str, int]], work: Path, split: str, tell: Callable[[int], object]
) -> None:
    with Browser() as browser:
        for task, seed in jobs:
            episode = record_episode(browser, task, seed, split)
            part = _part(work, task, seed)
            if episode is None:
                part.write_text(json.dumps({"reward": "not positive"}), encoding="utf-8")
            else:
                write_steps(part, [episode])
            tell(1)


def _part(work: Path, task: str, seed: int) -> Path:
    return work / f"{task}.{seed}.parquet"


def _episodes(work: Path, jobs: Iterable[tuple[str, int]]) -> Iterable[Episode]:
    for job in jobs:
        part = _part(work, *job)
        if part.read_bytes()[:4] == b"PAR1":
            yield from read_episodes_of(read_steps(part))
