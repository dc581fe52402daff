"""No memory: nothing of the past step is shown."""

from __future__ import annotations

from dataclasses import dataclass

from episodes import Step
from memory.representations import ActionRenderer, ContentPart, MemoryOptions


@dataclass(frozen=True)
class NoMemory:
    """The condition `none`."""

    options: MemoryOptions

    def __call__(self, step: Step, renderer: ActionRenderer) -> list[ContentPart]:
        """No content parts."""
        return []
