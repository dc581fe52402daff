"""What the pocket actor is trained on: questions drawn anew from the recorded training steps.

A recorded screen has one demonstrated target, so a model that sees only those learns the screens by
heart. *Hindsight*: any element like the target could have been the target, so a question is drawn as a
pair of (screen, element) and (remembered screen, element) that share the fact. Labels and typed words
are renamed at random, the same in list, instruction and memory, and pictures shift by a few pixels
with their boxes. Smaller questions train the parts: look a label up in a list without a picture, say
where the mark on a picture is and what it marks, find what looks so and so.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from PIL import Image

from actor.dialects.pocket import BINS, DIALECT, label, point_tokens
from episodes import Action, Box, Element, Step
from memory import MemoryOptions, get_representation, withhold, without_fact
from memory.representations.image import marked

OPTIONS = MemoryOptions(
    max_elements=12, max_words=2, coordinates=False, image_width=96, mark=True, image_action="mark"
)
SHIFT = 6
_FORMS = {name: get_representation(name, OPTIONS) for name in ("none", "text", "image", "both")}


@dataclass(frozen=True)
class Question:
    """A prompt as chat messages, and the wanted answer."""

    messages: list[dict]
    answer: str


@dataclass(frozen=True)
class Target:
    """An element of a screen that an instruction could have meant."""

    element: Element
    fact: str
    instruction: str


# --- hindsight: what else could have been meant on a screen --------------------------------------

Teller = Callable[[Step], Iterator[Target]]


def _labelled(role: str, instruction: str) -> Teller:
    def tell(step: Step) -> Iterator[Target]:
        if step.target_element is None or step.target_element.role != role:
            return
        seen = set()
        for element in step.elements:
            if element.role == role and element.text and element.text not in seen:
                seen.add(element.text)
                fact = "x" if (role, element.text) == ("button", "Close") else element.text
                yield Target(element, fact, instruction.format(fact))

    return tell


def _looking(role: str, instruction: str) -> Teller:
    def tell(step: Step) -> Iterator[Target]:
        seen = set()
        for element in step.elements:
            if element.role == role and element.appearance not in seen:
                seen.add(element.appearance)
                yield Target(element, element.appearance, instruction.format(element.appearance))

    return tell


def _widgets(step: Step) -> Iterator[Target]:
    seen = set()
    for element in step.elements:
        if element.role not in seen:
            seen.add(element.role)
            name = "text" if element.role == "textbox" else element.role
            yield Target(element, name, f'Click on a "{name}" widget.')


def _grid(step: Step) -> Iterator[Target]:
    for element in step.elements:
        if element.role == "shape" and "circle" in element.appearance:
            x, y = element.centre
            place = f"({round((x - 0.494) / 0.1875)},{round((0.512 - y) / 0.1875)})"
            yield Target(element, place, f"Click on the grid coordinate {place}.")


def _textboxes(step: Step) -> Iterator[Target]:
    boxes = [e for e in step.elements if e.role == "textbox"]
    for nth, element in zip(("1st", "2nd", "3rd"), boxes):
        yield Target(element, nth, f"Focus into the {nth} input textbox.")


def _messages(step: Step) -> Iterator[Target]:
    if step.index:
        return
    user = None
    for element in step.elements:
        if element.role == "text" and element.text.startswith("@"):
            user = element.text
        elif element.role == "icon" and user:
            behind = _BEHIND_MORE[len(user) % len(_BEHIND_MORE)]
            name = behind if element.appearance == "more" else element.appearance.title()
            text = f'For the user {user}, click on the "{name}" button.'
            yield Target(element, element.appearance, text)


def _mails(step: Step) -> Iterator[Target]:
    if step.index:
        return
    for element in step.elements:
        if element.appearance not in ("trash", "star"):
            continue
        beside = [e for e in step.elements if e.role == "text" and e.box[0] < 0.1]
        sender = min(beside, key=lambda e: abs(e.box[1] - element.box[1]), default=None)
        if sender is not None and abs(sender.box[1] - element.box[1]) < 0.06:
            what = {"trash": "trash icon to delete it", "star": "star icon to mark it as important"}
            yield Target(
                element,
                element.appearance,
                f"Find the email by {sender.text} and click the {what[element.appearance]}.",
            )


_BEHIND_MORE = ("Share via DM", "Copy link to Tweet", "Embed Tweet", "Mute", "Block", "Report")
_LINK = 'find and click on the link "{}".'
TELLERS: dict[str, Teller] = {
    "click-button": _labelled("button", 'Click on the "{}" button.'),
    "click-link": _labelled("link", 'Click on the link "{}".'),
    "click-dialog-2": _labelled("button", 'Click the button in the dialog box labeled "{}".'),
    "click-tab": _labelled("tab", "Click on {}."),
    "click-tab-2": _labelled("link", "Switch between the tabs to " + _LINK),
    "click-collapsible-2": _labelled("link", "Expand the sections below, to " + _LINK),
    "navigate-tree": _labelled(
        "link", 'Navigate through the file tree. Find and click on the folder or file named "{}".'
    ),
    "click-widget": _widgets,
    "click-color": _looking("box", "Click on the {} colored box."),
    "click-shape": _looking("shape", "Click on a {}"),
    "grid-coordinate": _grid,
    "focus-text-2": _textboxes,
    "social-media": _messages,
    "email-inbox": _mails,
    "email-inbox-delete": _mails,
    "email-inbox-important": _mails,
}
RENAMED = ("click-button", "click-link", "click-tab-2", "click-collapsible-2", "navigate-tree")
# How often a task is drawn in hindsight questions: words (Text's), looks and places (Image's).
WORD_TASKS = {
    "click-button": 4, "click-link": 3, "click-dialog-2": 2, "click-tab-2": 2, "click-tab": 1,
    "click-collapsible-2": 1, "navigate-tree": 3, "click-widget": 2,
}  # fmt: skip
LOOK_TASKS = {
    "grid-coordinate": 3, "focus-text-2": 2, "social-media": 3, "email-inbox": 2, "click-color": 3,
    "click-shape": 1, "email-inbox-delete": 1, "email-inbox-important": 1, "click-tab": 1,
}  # fmt: skip
TYPING_TASKS = {
    "enter-text": 4, "login-user": 3, "search-engine": 3, "enter-text-dynamic": 1,
    "enter-password": 1, "email-inbox": 1,
}  # fmt: skip


class Drills:
    """Draws questions from training steps.

    Parameters
    ----------
    steps
        The training steps.
    words
        Words to rename labels to, all of them single tokens.
    """

    def __init__(self, steps: Sequence[Step], words: Sequence[str]) -> None:
        self.steps, self.words = steps, list(words)
        self.by_stage: dict[tuple[str, int], list[Step]] = defaultdict(list)
        self.told: dict[str, list[tuple[Step, list[Target]]]] = defaultdict(list)
        self.holders: dict[tuple[str, str], list[tuple[Step, Target]]] = defaultdict(list)
        self.typed: dict[tuple[str, int], list[Step]] = defaultdict(list)
        self.marked: list[Step] = []
        for step in steps:
            self.by_stage[step.app, step.index].append(step)
            if step.action.kind == "type":
                self.typed[step.app, step.index].append(step)
            if step.target_element is not None and step.action.point is not None:
                self.marked.append(step)
            targets = list(TELLERS[step.app](step)) if step.app in TELLERS else []
            if targets:
                self.told[step.app].append((step, targets))
            for target in targets:
                self.holders[_family(step.app), target.fact].append((step, target))
        self.typing_stages: dict[str, list[int]] = defaultdict(list)
        for app, index in self.typed:
            self.typing_stages[app].append(index)

    # --- whole questions --------------------------------------------------------------------------

    def plain(self, draw: random.Random) -> Question:
        """A recorded step as it is, with a past step of the same task at the same stage."""
        step = draw.choice(self.steps)
        past = draw.choice(self.by_stage[step.app, step.index])
        step, past = _shifted(step, draw), _shifted(past, draw)
        return self._ask(step, past, draw, recall=not _needs_fact(step) and draw.random() < 0.4)

    def typing(self, draw: random.Random) -> Question:
        """A word to be typed, told by the instruction or by the memory."""
        app = _weighted(TYPING_TASKS, draw)
        index = draw.choice(self.typing_stages[app])
        step, past = (draw.choice(self.typed[app, index]) for _ in range(2))
        word = draw.choice(self.words)
        if app == "login-user":
            word = word.lower()
        step, past = _retyped(step, word), _retyped(past, word)
        fact = withhold(step)
        recall = fact is not None and fact.fact == word and draw.random() < 0.8
        return self._ask(
            _shifted(step, draw), _shifted(past, draw), draw, recall, telling=("text", "both")
        )

    def words_told(self, draw: random.Random) -> Question:
        """An element with a label, among elements like it."""
        return self._hindsight(WORD_TASKS, ("text", "both"), draw)

    def looks_told(self, draw: random.Random) -> Question:
        """An element told by its looks or place, among elements like it."""
        return self._hindsight(LOOK_TASKS, ("image", "both"), draw)

    def _hindsight(
        self, tasks: dict[str, int], telling: tuple[str, ...], draw: random.Random
    ) -> Question:
        app = _weighted(tasks, draw)
        step, targets = draw.choice(self.told[app])
        target = draw.choice(targets)
        past, past_target = self._sharing(app, target, draw)
        step, past = _meaning(step, target), _meaning(past, past_target)
        if app in RENAMED and draw.random() < 0.6:
            word = draw.choice(self.words)
            step = _renamed(step, target.element.text, word)
            past = _renamed(past, past_target.element.text, word)
        return self._ask(
            _shifted(step, draw), _shifted(past, draw), draw, draw.random() < 0.75, telling
        )

    def _sharing(self, app: str, target: Target, draw: random.Random) -> tuple[Step, Target]:
        """A remembered screen with an element that shares the target's fact."""
        if app in RENAMED and draw.random() < 0.5:
            past, targets = draw.choice(self.told[app])
            other = draw.choice(targets)
            past = _renamed(past, other.element.text, target.element.text)
            element = replace(other.element, text=target.element.text)
            instruction = target.instruction
            return past, Target(element, target.fact, instruction)
        return draw.choice(self.holders[_family(app), target.fact])

    def _ask(
        self, step: Step, past: Step, draw: random.Random, recall: bool,
        telling: tuple[str, ...] = (),
    ) -> Question:  # fmt: skip
        """The question under a drawn condition; recall questions mostly under one that tells."""
        if telling and recall and draw.random() < 0.75:
            condition = telling[draw.random() < 0.2]
        else:
            condition = draw.choice(("none", "text", "image", "both"))
        shown = withhold(step) if recall else None
        instruction = shown.shown if shown else step.instruction
        parts = _FORMS[condition](without_fact(past) if shown else past, DIALECT)
        return Question(DIALECT.messages(step, instruction, parts), answer_of(step))

    # --- small questions ---------------------------------------------------------------------------

    def lookup(self, draw: random.Random) -> Question:
        """A made-up list of labels, and some of them to be found; without a picture.

        Most ask for several, since every one is a lesson in looking up; the others are worded as the
        real tasks are.
        """
        roles = draw.choices(("button", "link", "textbox", "tab", "radio"), k=draw.randint(3, 14))
        names = draw.sample(self.words, len(roles))
        entries = [f"{name} <x{draw.randrange(BINS)}><y{draw.randrange(BINS)}>" for name in names]
        listed = " ".join(f"{role} {entry}" for role, entry in zip(roles, entries))
        screen = f"Done: \nScreen: \n{listed}"
        if draw.random() < 0.65:
            picks = draw.sample(range(len(roles)), draw.randint(2, min(8, len(roles))))
            wanted = " ".join(names[pick] for pick in picks)
            found = " ".join(entries[pick] for pick in picks)
            return _small(f"Task: find {wanted}\n{screen}", None, found)
        pick = draw.randrange(len(roles))
        role, name = roles[pick], names[pick]
        if draw.random() < 0.5:
            others = "; ".join(draw.sample(self.words, draw.randint(1, 6)))
            task = (
                f"Past screen: {others}\nPast action: click {role} {name}\n"
                f"Task: Click on the same {role} as in memory."
            )
        else:
            task = f'Task: Click on the "{name}" {role}.'
        return _small(f"{task}\n{screen}", None, f"click {role} {entries[pick]}")

    def look(self, draw: random.Random) -> Question:
        """A picture alone: where its mark is, what it marks, or where something is."""
        step = _shifted(draw.choice(self.marked), draw)
        kind = draw.random()
        element = step.target_element
        if kind < 0.75 or element is None:
            pool = [
                e for e in step.elements if e.role in ("shape", "icon", "box", "textbox", "button")
            ]
            element = draw.choice(pool) if pool else draw.choice(step.elements)
            width = OPTIONS.image_width or step.image.width
            small = step.image.resize((width, width), Image.Resampling.BILINEAR)
            picture = marked(small, element.centre)
            if kind < 0.45 or not element.appearance:
                return _small("Task: where mark\nScreen: ", picture, point_tokens(element.centre))
            return _small(
                "Task: read mark\nScreen: ", picture, f"{element.role} {element.appearance}"
            )
        looks = [e for e in step.elements if e.role in ("icon", "box", "shape") and e.appearance]
        if not looks:
            return self.look(draw)
        element = draw.choice(looks)
        same = [e for e in looks if e.appearance == element.appearance][:4]
        points = " ".join(point_tokens(e.centre) for e in same)
        return _small(
            f"Task: find {element.role} {element.appearance}\nScreen: ", step.image, points
        )


def answer_of(step: Step) -> str:
    """The wanted answer: kind, what it lands on by label or looks, and the point or the text."""
    action, element = step.action, step.target_element
    if action.kind == "click" and action.point is not None:
        what = ""
        if element is not None:
            looks = element.appearance if element.role in ("icon", "box", "shape") else ""
            what = " ".join(filter(None, (label(element), looks)))
        return f"click {what} {point_tokens(action.point)}"
    return DIALECT.render_action(action, None)


def _needs_fact(step: Step) -> bool:
    """Whether the step cannot be done without what a recall query withholds."""
    element = step.target_element
    return step.action.kind == "type" or not (
        step.app in ("enter-text", "login-user", "search-engine")
        or (element is not None and element.role in ("tab", "header") and step.app != "click-tab")
    )


def _small(text: str, picture: Image.Image | None, answer: str) -> Question:
    content: list[dict] = [{"type": "text", "text": text}]
    if picture is not None:
        content.append({"type": "image", "image": picture})
    return Question([{"role": "user", "content": content}], answer)


def _family(app: str) -> str:
    return "email" if app.startswith("email") else app


def _weighted(weights: dict[str, int], draw: random.Random) -> str:
    return draw.choices(list(weights), list(weights.values()))[0]


def _meaning(step: Step, target: Target) -> Step:
    """The step as if `target` had been meant."""
    element = target.element
    return _with_image(
        replace(
            step,
            instruction=target.instruction,
            action=Action("click", point=element.centre),
            target=element.box,
        ),
        step,
    )


def _renamed(step: Step, old: str, new: str) -> Step:
    """The step with every label `old` called `new`, in the instruction as well."""
    elements = tuple(replace(e, text=new) if e.text == old else e for e in step.elements)
    instruction = step.instruction.replace(f'"{old}"', f'"{new}"')
    return _with_image(replace(step, elements=elements, instruction=instruction), step)


def _retyped(step: Step, word: str) -> Step:
    """The step with `word` typed instead, here, before and in the instruction."""
    old = step.action.text or ""

    def put(text: str | None) -> str | None:
        return word if text == old else text

    before = tuple(replace(a, text=put(a.text)) for a in step.previous_actions)
    elements = tuple(replace(e, text=word) if e.text == old else e for e in step.elements)
    return _with_image(
        replace(
            step,
            action=replace(step.action, text=word),
            previous_actions=before,
            elements=elements,
            instruction=step.instruction.replace(old, word),
        ),
        step,
    )


def _shifted(step: Step, draw: random.Random) -> Step:
    """The step with its picture and boxes moved by up to `SHIFT` pixels, half of the time."""
    if draw.random() < 0.5:
        return step
    image = step.image
    dx, dy = draw.randint(-SHIFT, SHIFT), draw.randint(-SHIFT, SHIFT)
    moved = Image.new("RGB", image.size, (255, 255, 255))
    moved.paste(image, (dx, dy))
    x, y = dx / image.width, dy / image.height

    def move(box: Box) -> Box:
        left, top, right, bottom = box
        return _clip(left + x), _clip(top + y), _clip(right + x), _clip(bottom + y)

    action = step.action
    if action.point is not None:
        action = replace(action, point=(_clip(action.point[0] + x), _clip(action.point[1] + y)))
    step = replace(
        step,
        elements=tuple(replace(e, box=move(e.box)) for e in step.elements),
        action=action,
        target=move(step.target) if step.target else None,
    )
    step.__dict__["image"] = moved
    return step


def _with_image(step: Step, source: Step) -> Step:
    """Hands the decoded picture on, so that it is not decoded again."""
    step.__dict__["image"] = source.image
    return step


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)
