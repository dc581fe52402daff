"""Recall queries: the part of an instruction that is withheld from the actor.

With its full instruction a MiniWoB++ step hardly needs a memory. A recall query therefore replaces one
part of the instruction, the *fact*, by a pointer to the memory ("the same button as in memory"); the
retriever sees the whole instruction, the actor must take the fact from what is recalled. This is a
controlled setting on real screens. One rule per task says what the fact is; tasks without a rule have
nothing that a memory of another page could hold (random strings, always the same target).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from episodes import Step


@dataclass(frozen=True)
class Recall:
    """An instruction without its fact, and the fact."""

    shown: str
    fact: str


@dataclass(frozen=True)
class Rule:
    """What is withheld from a task's instruction.

    Parameters
    ----------
    pattern
        Regular expression over the whole instruction; the group `fact` is what is withheld.
    shown
        What the actor reads instead, with `{name}` for the pattern's other groups.
    """

    pattern: str
    shown: str


_LINK = r'.*find and click on the link "(?P<fact>.+)"\.'
_MAIL = r"Find the email by (?P<who>\S+) and click the (?P<fact>trash|star) icon.*"
_MAIL_SHOWN = "Find the email by {who} and click the same icon as in memory."

RULES: Mapping[str, Rule] = {
    "click-button": Rule(
        r'Click on the "(?P<fact>.+)" button\.', "Click on the same button as in memory."
    ),
    "click-link": Rule(
        r'Click on the link "(?P<fact>.+)"\.', "Click on the same link as in memory."
    ),
    "click-dialog-2": Rule(
        r'Click the button in the dialog box labeled "(?P<fact>.+)"\.',
        "Click the same button in the dialog box as in memory.",
    ),
    "click-tab": Rule(r"Click on (?P<fact>Tab #\d)\.", "Click on the same tab as in memory."),
    "click-widget": Rule(
        r'Click on a "(?P<fact>.+)" widget\.', "Click on the same kind of widget as in memory."
    ),
    "click-color": Rule(
        r"Click on the (?P<fact>\w+) colored box\.",
        "Click on the box of the same color as in memory.",
    ),
    "click-shape": Rule(
        r"Click on an? (?P<fact>.+)", "Click on the same kind of item as in memory."
    ),
    "grid-coordinate": Rule(
        r"Click on the grid coordinate (?P<fact>\(.+\))\.",
        "Click on the same grid coordinate as in memory.",
    ),
    "focus-text-2": Rule(
        r"Focus into the (?P<fact>\w+) input textbox\.",
        "Focus into the same input textbox as in memory.",
    ),
    "social-media": Rule(
        r'For the user (?P<who>@\S+), click on the "(?P<fact>.+)" button\.?',
        "For the user {who}, click on the same button as in memory.",
    ),
    "email-inbox": Rule(_MAIL, _MAIL_SHOWN),
    "email-inbox-delete": Rule(_MAIL, _MAIL_SHOWN),
    "email-inbox-important": Rule(_MAIL, _MAIL_SHOWN),
    "click-tab-2": Rule(
        _LINK, "Switch between the tabs to find and click on the same link as in memory."
    ),
    "click-collapsible-2": Rule(
        _LINK, "Expand the sections below, to find and click on the same link as in memory."
    ),
    "navigate-tree": Rule(
        r'Navigate.*named "(?P<fact>.+)"\.',
        "Navigate through the file tree. Find and click on the same folder or file as in memory.",
    ),
    "enter-text": Rule(
        r'Enter "(?P<fact>.+)" into the text field and press Submit\.',
        "Enter the same text as in memory into the text field and press Submit.",
    ),
    "login-user": Rule(
        r'Enter the username "(?P<fact>.+)" and the password "(?P<rest>.+)" into.*',
        'Enter the same username as in memory and the password "{rest}" into the text fields '
        "and press login.",
    ),
    "search-engine": Rule(
        r'Use the textbox to enter "(?P<fact>.+)" and press "Search", then find and click the '
        r"(?P<nth>\w+) search result\.",
        'Use the textbox to enter the same text as in memory and press "Search", then find and '
        "click the {nth} search result.",
    ),
}


def withhold(step: Step) -> Recall | None:
    """The step's instruction without its fact; None for tasks without a rule.

    An instruction that the task's rule does not fit has nothing withheld either (an e-mail that is
    to be forwarded, among those to be starred or binned).
    """
    rule = RULES.get(step.app)
    found = re.fullmatch(rule.pattern, step.instruction) if rule else None
    if rule is None or found is None:
        return None
    parts = found.groupdict()
    return Recall(rule.shown.format(**parts), parts["fact"])


def without_fact(step: Step) -> Step:
    """The step with the instruction that a recall query shows; the step itself without a rule.

    Applied to the remembered step as well: it would otherwise tell the fact in every form.
    """
    recall = withhold(step)
    return replace(step, instruction=recall.shown) if recall else step
