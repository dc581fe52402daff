"""What the tests of the dialects share: steps to ask about, actions to write and read back."""

from __future__ import annotations

import io

from hypothesis import strategies as st
from PIL import Image

from episodes import Action, Element, Step
from episodes.swipe import swipe_direction


def step(**changes) -> Step:
    picture = io.BytesIO()
    Image.new("RGB", (160, 210), "white").save(picture, "PNG")
    fields = {
        "step_id": "s",
        "episode_id": "e",
        "index": 0,
        "instruction": "Click OK",
        "elements": (Element("button", "OK", (0.4, 0.4, 0.6, 0.6)),),
        "action": Action("click", point=(0.5, 0.5)),
        "screenshot": picture.getvalue(),
        "target": (0.4, 0.4, 0.6, 0.6),
    }
    return Step(**(fields | changes))


def texts_of(messages) -> str:
    return "".join(
        part["text"] for m in messages for part in m["content"] if part["type"] == "text"
    )


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
# On the grid of thousandths, where writing and reading back is exact.
points = st.tuples(*[st.integers(0, 1000).map(lambda n: n / 1000)] * 2)
swipes = (
    st.tuples(points, points)
    .filter(lambda ends: ends[0] != ends[1])
    .map(lambda ends: Action("scroll", ends[0], ends[1], direction=swipe_direction(*ends)))
)
clicks = points.map(lambda point: Action("click", point=point))
long_presses = points.map(lambda point: Action("long_press", point=point))
typings = texts.map(lambda text: Action("type", text=text))
presses = st.sampled_from(["back", "home", "menu", "enter", "tab", "volume_up"]).map(
    lambda key: Action("press", key=key)
)
openings = texts.map(lambda text: Action("open_app", text=text))
