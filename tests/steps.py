"""Small steps and screens for tests."""

from __future__ import annotations

import io

from PIL import Image

from episodes import Action, Element, Episode, Step


def png(
    colour: tuple[int, int, int] = (255, 255, 255), size: tuple[int, int] = (160, 160)
) -> bytes:
    """A picture of one colour as PNG."""
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


CANCEL = Element("button", "Cancel", (0.1, 0.1, 0.4, 0.2))
OK = Element("button", "OK", (0.5, 0.1, 0.8, 0.2))


def button_step(
    label: str = "Cancel", episode_id: str = "e0", index: int = 0, **changes: object
) -> Step:
    """A click on one of two buttons."""
    target = {"Cancel": CANCEL, "OK": OK}[label]
    fields: dict = {
        "step_id": f"{episode_id}/{index}",
        "episode_id": episode_id,
        "index": index,
        "instruction": f'Click on the "{label}" button.',
        "elements": (CANCEL, OK),
        "action": Action("click", point=target.centre),
        "screenshot": png(),
        "target": target.box,
        "app": "click-button",
    }
    return Step(**(fields | changes))


def episode(*steps: Step, split: str = "train") -> Episode:
    """The steps as one episode."""
    return Episode(steps[0].episode_id, steps, "test", split, success=True)
