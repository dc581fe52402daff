"""Image memory: instruction, the screenshot instead of the list of labels, the action."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageDraw

from episodes import Point, Step
from memory.representations import ActionRenderer, ContentPart, MemoryOptions
from memory.representations.text import TextMemory

MARK_COLOUR = (255, 0, 160)


@dataclass(frozen=True)
class ImageMemory:
    """The condition `image`."""

    options: MemoryOptions

    def __call__(self, step: Step, renderer: ActionRenderer) -> list[ContentPart]:
        """A text, the screenshot, a text."""
        return [
            {"type": "text", "text": f"Past step: {step.instruction}\nPast screen: "},
            {"type": "image", "image": self.picture(step)},
            {"type": "text", "text": f"\nPast action: {self.action(step, renderer)}\n"},
        ]

    def picture(self, step: Step) -> Image.Image:
        """The screenshot, reduced and marked as the options say."""
        image = step.image
        if self.options.image_width is not None and self.options.image_width < image.width:
            height = max(1, round(image.height * self.options.image_width / image.width))
            image = image.resize((self.options.image_width, height), Image.Resampling.BILINEAR)
        if self.options.mark and step.action.point is not None:
            image = marked(image, step.action.point)
        return image

    def action(self, step: Step, renderer: ActionRenderer) -> str:
        """The past action: in words, or only its kind where the mark is to tell the rest."""
        if self.options.image_action == "words":
            return TextMemory(self.options).action(step, renderer)
        return f"{step.action.kind} at the mark" if step.action.point else step.action.kind


def marked(image: Image.Image, point: Point) -> Image.Image:
    """A copy with a ring around `point` (fractions), a sixth of the width across."""
    image = image.copy()
    x, y = point[0] * image.width, point[1] * image.height
    radius, thickness = image.width / 12, max(2, image.width // 32)
    ImageDraw.Draw(image).ellipse(
        (x - radius, y - radius, x + radius, y + radius), outline=MARK_COLOUR, width=thickness
    )
    return image
