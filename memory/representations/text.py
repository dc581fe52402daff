"""Text memory: instruction, the screen as a list of labels, the action in words."""

from __future__ import annotations

from dataclasses import dataclass

from episodes import Element, Step
from memory.representations import ActionRenderer, ContentPart, MemoryOptions


@dataclass(frozen=True)
class TextMemory:
    """The condition `text`."""

    options: MemoryOptions

    def __call__(self, step: Step, renderer: ActionRenderer) -> list[ContentPart]:
        """One text part."""
        return [
            {
                "type": "text",
                "text": f"Past step: {step.instruction}\n"
                f"Past screen: {self.screen(step)}\n"
                f"Past action: {self.action(step, renderer)}\n",
            }
        ]

    def screen(self, step: Step) -> str:
        """The elements as a DOM- or accessibility-based agent gets them: roles and labels.

        What an element looks like is no part of it. A list that is cut says by how much; it is cut
        from its end, whatever the action landed on.
        """
        shown = step.elements[: self.options.max_elements]
        words = "; ".join(self._element(element) for element in shown)
        cut = len(step.elements) - len(shown)
        return f"{words} ({cut} more not shown)" if cut else words

    def action(self, step: Step, renderer: ActionRenderer) -> str:
        """The past action in the dialect's words."""
        return renderer.render_action(
            step.action, step.target_element, coordinates=self.options.coordinates
        )

    def _element(self, element: Element) -> str:
        words = " ".join([element.role, *element.text.split()[: self.options.max_words]])
        if self.options.coordinates:
            x, y = element.centre
            words += f" at ({x:.2f}, {y:.2f})"
        return words
