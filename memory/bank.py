"""A bank of past steps, and the words by which a step is looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from episodes import Step
from memory.recall import withhold


class MemoryBank(Sequence[Step]):
    """Past steps in a fixed order.

    Parameters
    ----------
    steps
        Any sequence of steps (a `StepTable` decodes a step when it is asked for).

    Raises
    ------
    ValueError
        When the bank is empty.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        if not len(steps):
            raise ValueError("a memory bank needs at least one step")
        self.steps = steps
        self.words: list[list[str]] = []
        self.step_ids: list[str] = []
        self.rows_of_episode: dict[str, list[int]] = {}
        for row, step in enumerate(steps):
            self.words.append(lookup_words(step))
            self.step_ids.append(step.step_id)
            self.rows_of_episode.setdefault(step.episode_id, []).append(row)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, item):  # a Sequence's overloads say no more than this
        return self.steps[item]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        return f"MemoryBank({len(self)} steps of {len(self.rows_of_episode)} episodes)"


def lookup_words(step: Step) -> list[str]:
    """The words a retriever compares: instruction, previous actions, app, and the fact.

    App, stage (the kinds of the previous actions) and fact are single words that count twice, so that
    a step of the same task at the same point about the same thing beats one that shares a name.
    """
    stage = "-".join(action.kind for action in step.previous_actions) or "start"
    marked = [f"app={step.app}", f"stage={stage}"]
    recall = withhold(step)
    if recall:
        marked.append(f"fact={recall.fact.casefold()}")
    typed = [a.text for a in step.previous_actions if a.text]
    words = re.findall(r"\w+", " ".join([step.instruction, *typed]).casefold())
    return words + marked * 2
