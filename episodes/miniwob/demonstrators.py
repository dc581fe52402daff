"""Scripted demonstrators: for each task, how one who reads the page would do it.

A demonstrator is a generator. It is given the first screen, yields a move (the action and the element
it lands on) and is sent the screen after it. It sees what an agent sees, the visible elements, and
gives up by returning when what it looks for is not there; such an episode is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator

from episodes.action import Action
from episodes.element import Element
from episodes.miniwob.browser import Node, Screen

Move = tuple[Action, Element | None]
Plan = Generator[Move, Screen, None]
Demonstrator = Callable[[Screen], Plan]

DEMONSTRATORS: dict[str, Demonstrator] = {}


def demonstrates(*tasks: str) -> Callable[[Demonstrator], Demonstrator]:
    """Registers a demonstrator for the named tasks."""

    def register(demonstrator: Demonstrator) -> Demonstrator:
        DEMONSTRATORS.update(dict.fromkeys(tasks, demonstrator))
        return demonstrator

    return register


class _GaveUp(Exception):
    """What the demonstrator looks for is not on the screen."""


def nodes_of(
    screen: Screen, *roles: str, text: str | None = None, appearance: str | None = None,
    group: int | None = None, identity: str | None = None,
) -> Iterator[Node]:  # fmt: skip
    """The visible nodes that have one of the roles and all the given properties."""
    for node in screen.nodes:
        element = node.element
        if (
            (not roles or element.role in roles)
            and (text is None or element.text == text)
            and (appearance is None or element.appearance == appearance)
            and (group is None or node.group == group)
            and (identity is None or node.id == identity)
        ):
            yield node


def find(screen: Screen, *roles: str, **properties: object) -> Element:
    """The first visible element that fits; gives up where there is none."""
    node = next(nodes_of(screen, *roles, **properties), None)  # pyright: ignore[reportArgumentType]
    if node is None:
        raise _GaveUp
    return node.element


def click(element: Element) -> Move:
    """A click in the middle of `element`."""
    return Action("click", point=element.centre), element


def fill(screen: Screen, box: Element, text: str) -> Plan:
    """Clicks into a text field and types."""
    yield click(box)
    yield Action("type", text=text), box


def quoted(screen: Screen) -> list[str]:
    """The parts of the instruction between double quotes."""
    return re.findall(r'"([^"]*)"', screen.instruction)


def played(task: str, screen: Screen) -> Plan:
    """The moves of the task's demonstrator; ends early where it gives up."""
    try:
        yield from DEMONSTRATORS[task](screen)
    except _GaveUp:
        return


# --- one click, told by a word -------------------------------------------------------------------


@demonstrates("click-button")
def _button(screen: Screen) -> Plan:
    yield click(find(screen, "button", text=quoted(screen)[0]))


@demonstrates("click-link")
def _link(screen: Screen) -> Plan:
    yield click(find(screen, "link", text=quoted(screen)[0]))


@demonstrates("click-dialog", "click-dialog-2")
def _dialog(screen: Screen) -> Plan:
    label = quoted(screen)[0]
    yield click(find(screen, "button", text="Close" if label == "x" else label))


@demonstrates("click-test")
def _any_button(screen: Screen) -> Plan:
    yield click(find(screen, "button"))


@demonstrates("click-test-2")
def _button_one(screen: Screen) -> Plan:
    yield click(find(screen, "button", text="ONE"))


@demonstrates("click-tab")
def _tab(screen: Screen) -> Plan:
    yield click(find(screen, "tab", text=_match(screen, r"on (Tab #\d)")))


@demonstrates("click-widget")
def _widget(screen: Screen) -> Plan:
    kind = quoted(screen)[0]
    yield click(find(screen, "textbox" if kind == "text" else kind))


# --- one click, told by looks or place ------------------------------------------------------------


@demonstrates("click-color")
def _colour(screen: Screen) -> Plan:
    yield click(find(screen, "box", appearance=_match(screen, r"on the (\w+) colored")))


@demonstrates("click-shape")
def _shape(screen: Screen) -> Plan:
    wanted = set(_match(screen, r"Click on an? (.+)").split()) - {"item"}
    for node in nodes_of(screen, "shape"):
        looks = node.element.appearance.split()
        kinds = {"shape"} if looks[-1] in ("circle", "rectangle", "triangle") else set()
        if wanted <= set(looks) | kinds:
            yield click(node.element)
            return


@demonstrates("identify-shape")
def _name_shape(screen: Screen) -> Plan:
    looks = find(screen, "shape").appearance.split()
    name = "Number" if "digit" in looks else "Letter" if "letter" in looks else looks[-1].title()
    yield click(find(screen, "button", text=name))


@demonstrates("grid-coordinate")
def _grid(screen: Screen) -> Plan:
    yield click(find(screen, "shape", identity=_match(screen, r"(\(-?\d,-?\d\))")))


@demonstrates("focus-text")
def _only_textbox(screen: Screen) -> Plan:
    yield click(find(screen, "textbox"))


@demonstrates("focus-text-2")
def _nth_textbox(screen: Screen) -> Plan:
    nth = int(_match(screen, r"the (\d)")) - 1
    yield click([node.element for node in nodes_of(screen, "textbox")][nth])


@demonstrates("social-media")
def _social(screen: Screen) -> Plan:
    user, wanted = _match(screen, r"user (@\S+),"), quoted(screen)[0]
    row = _row(screen, user)
    icon = {"Reply": "reply", "Retweet": "retweet", "Like": "like"}.get(wanted)
    if icon:
        yield click(find(screen, "icon", appearance=icon, group=row))
        return
    screen = yield click(find(screen, "icon", appearance="more", group=row))
    for node in nodes_of(screen, "text"):
        if node.element.text.startswith(wanted):
            yield click(node.element)
            return


@demonstrates("email-inbox", "email-inbox-delete", "email-inbox-important")
def _email(screen: Screen) -> Plan:
    sender = _match(screen, r"email by (\S+)")
    row = _row(screen, sender)
    if "trash icon" in screen.instruction or "star icon" in screen.instruction:
        looks = "trash" if "trash icon" in screen.instruction else "star"
        yield click(find(screen, "icon", appearance=looks, group=row))
        return
    screen = yield click(find(screen, "text", text=sender))
    if "reply to them" in screen.instruction:
        screen = yield click(find(screen, "text", text="Reply"))
        yield from fill(screen, find(screen, "textarea"), quoted(screen)[0])
        yield click(find(screen, "icon", identity="send-reply"))
    else:
        screen = yield click(find(screen, "text", text="Forward"))
        yield from fill(screen, find(screen, "textbox"), _match(screen, r"email to (\S+)\.$"))
        yield click(find(screen, "icon", identity="send-forward"))


# --- several moves --------------------------------------------------------------------------------


@demonstrates("click-button-sequence")
def _sequence(screen: Screen) -> Plan:
    screen = yield click(find(screen, "button", text="ONE"))
    yield click(find(screen, "button", text="TWO"))


@demonstrates("click-option", "click-checkboxes")
def _options(screen: Screen) -> Plan:
    wanted = _match(screen, r"Select (.+) and click")
    for label in [] if wanted == "nothing" else wanted.split(", "):
        yield click(find(screen, "radio", "checkbox", text=label))
    yield click(find(screen, "button", text="Submit"))


@demonstrates("click-tab-2")
def _link_under_tabs(screen: Screen) -> Plan:
    yield from _unfold(screen, "tab", quoted(screen)[0])


@demonstrates("click-collapsible-2")
def _link_under_headers(screen: Screen) -> Plan:
    yield from _unfold(screen, "header", quoted(screen)[0])


@demonstrates("click-collapsible")
def _collapsible(screen: Screen) -> Plan:
    screen = yield click(find(screen, "header"))
    yield click(find(screen, "button", text="Submit"))


@demonstrates("navigate-tree")
def _tree(screen: Screen) -> Plan:
    wanted = quoted(screen)[0]
    for _ in range(4):
        node = next(nodes_of(screen, "link", text=wanted), None)
        if node:
            yield click(node.element)
            return
        folded = [n for n in nodes_of(screen, "icon") if "expandable-hitarea" in n.classes]
        if not folded:
            return
        screen = yield click(folded[0].element)


@demonstrates("enter-text", "enter-text-dynamic")
def _text(screen: Screen) -> Plan:
    yield from fill(screen, find(screen, "textbox"), quoted(screen)[0])
    yield click(find(screen, "button", text="Submit"))


@demonstrates("enter-password")
def _password(screen: Screen) -> Plan:
    for box in ("password", "verify"):
        yield from fill(screen, find(screen, "textbox", identity=box), quoted(screen)[0])
    yield click(find(screen, "button", text="Submit"))


@demonstrates("login-user")
def _login(screen: Screen) -> Plan:
    for box, text in zip(("username", "password"), quoted(screen)):
        yield from fill(screen, find(screen, "textbox", identity=box), text)
    yield click(find(screen, "button", text="Login"))


@demonstrates("use-spinner")
def _spinner(screen: Screen) -> Plan:
    number = int(_match(screen, r"Select (-?\d+) with"))
    for _ in range(abs(number)):
        looks = "up" if number > 0 else "down"
        screen = yield click(find(screen, "button", appearance=looks))
    yield click(find(screen, "button", text="Submit"))


@demonstrates("search-engine")
def _search(screen: Screen) -> Plan:
    yield from fill(screen, find(screen, "textbox"), quoted(screen)[0])
    screen = yield click(find(screen, "button", text="Search"))
    nth = int(_match(screen, r"the (\d)")) - 1
    if nth >= 3:
        screen = yield click(find(screen, "link", text=str(nth // 3 + 1)))
    results = [node.element for node in nodes_of(screen, "link") if "search-title" in node.classes]
    if nth % 3 < len(results):
        yield click(results[nth % 3])


def _match(screen: Screen, pattern: str) -> str:
    found = re.search(pattern, screen.instruction)
    if found is None:
        raise _GaveUp
    return found[1]


def _row(screen: Screen, text: str) -> int:
    """Number of the row that shows `text`."""
    node = next((n for n in nodes_of(screen, "text", text=text) if n.group >= 0), None)
    if node is None:
        raise _GaveUp
    return node.group


def _unfold(screen: Screen, role: str, link: str) -> Plan:
    """Opens one tab or section after another until the link is seen, and clicks it."""
    for number in range(4):
        node = next(nodes_of(screen, "link", text=link), None)
        if node:
            yield click(node.element)
            return
        handles = [n.element for n in nodes_of(screen, role)]
        number += role == "tab"  # the first tab is open from the start
        if number >= len(handles):
            return
        screen = yield click(handles[number])
