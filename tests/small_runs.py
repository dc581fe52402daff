"""A small table of steps on made-up screens, and configurations that use it."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image, ImageDraw

from episodes import Action, Element, Episode, Step, write_steps
from workbench import RunConfig, parse_config

TASKS = {
    "click-button": 'Click on the "{}" button.',
    "click-link": 'Click on the link "{}".',
    "click-dialog-2": 'Click the button in the dialog box labeled "{}".',
    "click-test": "Click the button.",
}
WORDS = ("Ok", "Cancel", "Yes", "No")
COLOURS = ("red", "green", "blue", "orange")


def make_episode(task: str, number: int, split: str) -> Episode:
    """Two steps on a screen with four buttons, of which the first step's word is clicked."""
    words = [WORDS[(place + number) % 4] for place in range(4)]
    boxes = [(0.1, 0.05 + 0.22 * place, 0.7, 0.22 + 0.22 * place) for place in range(4)]
    elements = tuple(Element("button", word, box) for word, box in zip(words, boxes))
    picture = Image.new("RGB", (64, 64), "white")
    for box, colour in zip(boxes, COLOURS):
        ImageDraw.Draw(picture).rectangle([64 * edge for edge in box], fill=colour)
    encoded = io.BytesIO()
    picture.save(encoded, "PNG")
    chosen = elements[number % 4]
    episode_id = f"{split}/{task}/{number}"
    action = Action("click", point=chosen.centre)
    steps = tuple(
        Step(
            step_id=f"{episode_id}/{index}",
            episode_id=episode_id,
            index=index,
            instruction=TASKS[task].format(chosen.text),
            elements=elements,
            action=action,
            screenshot=encoded.getvalue(),
            target=chosen.box,
            previous_actions=(action,) * index,
            app=task,
        )
        for index in range(2)
    )
    return Episode(episode_id, steps, "test", split, success=True)


def write_small_table(path: Path) -> Path:
    """Four tasks, three of them with a recall rule; 5 query and 4 memory episodes of each."""
    episodes = [
        make_episode(task, number, split)
        for split, count in (("query", 5), ("train", 4))
        for task in TASKS
        for number in range(count)
    ]
    write_steps(path, episodes)
    return path


def small_config(table: Path, name: str = "small", **sections: dict) -> RunConfig:
    """A configuration over the small table; `sections` replace or add keys."""
    values = {
        "run": {"name": name},
        "data": {"table": str(table), "query_split": "query", "memory_split": "train"},
    }
    for section, keys in sections.items():
        values[section] = values.get(section, {}) | keys
    return parse_config(values)
