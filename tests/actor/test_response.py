"""Scoring of answers, those that cannot be read included."""

import pytest
from dialect_cases import step

from actor import get_dialect, score_answer
from episodes import Action
from episodes.scorers import element_score

STEP = step()


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("Action: click(start_box='(500,500)')", 1.0),
        ("Action: click(start_box='(100,100)')", 0.0),
    ],
)
def test_an_answer_becomes_an_action_with_its_score(answer, score):
    scored = score_answer(answer, get_dialect("ui-tars"), element_score, STEP)
    assert scored.action is not None
    assert scored.action.kind == "click"
    assert scored.parse_error is None
    assert scored.score == score


def test_an_answer_that_cannot_be_read_scores_zero_and_says_why():
    scored = score_answer("click(start_box='=')", get_dialect("ui-tars"), element_score, STEP)
    assert scored.action is None
    assert scored.score == 0.0
    assert scored.parse_error is not None
    assert "'=' is not a point" in scored.parse_error


def test_an_error_of_the_scorer_is_not_taken_for_a_bad_answer():
    waiting = step(action=Action("wait"))

    def refuse(action, step):
        raise ValueError(f"step {step.step_id!r} cannot be scored")

    with pytest.raises(ValueError, match="step 's' cannot be scored"):
        score_answer("Action: wait()", get_dialect("ui-tars"), refuse, waiting)
