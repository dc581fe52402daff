"""Both: instruction, the list of labels and the screenshot, the action."""

from __future__ import annotations

from dataclasses import dataclass

from episodes import Step
from memory.representations import ActionRenderer, ContentPart, MemoryOptions
from memory.representations.image import ImageMemory
from memory.representations.text import TextMemory


@dataclass(frozen=True)
class BothMemory:
    """The condition `both`: all that `text` and `image` show."""

    options: MemoryOptions

    def __call__(self, step: Step, renderer: ActionRenderer) -> list[ContentPart]:
        """A text, the screenshot, a text."""
        text, image = TextMemory(self.options), ImageMemory(self.options)
        head = f"Past step: {step.instruction}\nPast screen: {text.screen(step)}\n"
        return [
            {"type": "text", "text": head},
            {"type": "image", "image": image.picture(step)},
            {"type": "text", "text": f"\nPast action: {text.action(step, renderer)}\n"},
        ]
