import pytest

from episodes import bundled_steps
from memory import RULES, withhold, without_fact
from tests.steps import button_step


@pytest.mark.parametrize(
    ("app", "instruction", "shown", "fact"),
    [
        (
            "click-button",
            'Click on the "OK" button.',
            "Click on the same button as in memory.",
            "OK",
        ),
        ("click-tab", "Click on Tab #2.", "Click on the same tab as in memory.", "Tab #2"),
        (
            "social-media",
            'For the user @morbi, click on the "Like" button.',
            "For the user @morbi, click on the same button as in memory.",
            "Like",
        ),
        (
            "email-inbox",
            "Find the email by Bettine and click the trash icon to delete it.",
            "Find the email by Bettine and click the same icon as in memory.",
            "trash",
        ),
        (
            "login-user",
            'Enter the username "keli" and the password "1b" into the text fields and press login.',
            'Enter the same username as in memory and the password "1b" into the text fields and press login.',
            "keli",
        ),
    ],
)
def test_rules_withhold_the_fact_and_nothing_else(app, instruction, shown, fact):
    recall = withhold(button_step(app=app, instruction=instruction))
    assert recall is not None
    assert (recall.shown, recall.fact) == (shown, fact)


@pytest.mark.parametrize(
    ("app", "instruction"),
    [
        ("click-test", "Click the button."),
        ("email-inbox", "Find the email by Ann and forward that email to Bo."),
    ],
)
def test_nothing_is_withheld_without_a_fitting_rule(app, instruction):
    step = button_step(app=app, instruction=instruction)
    assert withhold(step) is None
    assert without_fact(step) is step


def test_every_rule_fits_recorded_steps_and_hides_the_fact():
    seen = {}
    for step in bundled_steps("query"):
        recall = withhold(step)
        if recall is not None:
            seen[step.app] = recall
            if (
                step.app != "click-shape" and len(recall.fact) > 3
            ):  # "item" and such are common words
                assert f'"{recall.fact}"' not in recall.shown
    assert set(seen) == set(RULES)
