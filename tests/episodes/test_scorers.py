"""Scorers against hand-made cases and the official AITW rule's golden cases."""

import pytest

from episodes import Action, Element, Step
from episodes.scorers import SCORERS, aitw_score, element_score, get_scorer


def step(action, *, target=None, boxes=()):
    elements = tuple(Element(role="button", text=str(i), box=box) for i, box in enumerate(boxes))
    return Step("s", "e", 0, "do it", elements, action, target=target)


def click(x, y):
    return Action("click", point=(x, y))


def drag(x1, y1, x2, y2):
    return Action("scroll", point=(x1, y1), end_point=(x2, y2))


def test_registry_knows_both_rules_and_lists_them_in_the_error():
    assert get_scorer("element") is element_score
    assert get_scorer("aitw") is aitw_score
    with pytest.raises(ValueError, match=r"'iou' is unknown.*aitw, element"):
        get_scorer("iou")
    assert set(SCORERS) == {"aitw", "element"}


# element


@pytest.mark.parametrize(
    ("predicted", "score"),
    [
        (click(0.25, 0.35), 1.0),
        (click(0.2, 0.3), 1.0),  # the box's corner belongs to it
        (click(0.3, 0.4), 1.0),
        (click(0.31, 0.35), 0.0),
        (click(0.25, 0.41), 0.0),
        (Action("long_press", point=(0.25, 0.35)), 0.0),
        (Action("type", text="a"), 0.0),
        (Action("complete"), 0.0),
    ],
)
def test_element_click_must_land_in_the_target_box(predicted, score):
    assert element_score(predicted, step(click(0.21, 0.31), target=(0.2, 0.3, 0.3, 0.4))) == score


def test_element_falls_back_on_the_smallest_element_under_the_point():
    shown = step(click(0.5, 0.5), boxes=[(0, 0, 1, 1), (0.4, 0.4, 0.6, 0.6)])
    assert element_score(click(0.45, 0.45), shown) == 1.0
    assert element_score(click(0.3, 0.3), shown) == 0.0


def test_element_refuses_a_tap_without_any_target():
    with pytest.raises(ValueError, match=r"step 's'.*click"):
        element_score(click(0.5, 0.5), step(click(0.5, 0.5)))


@pytest.mark.parametrize(
    ("predicted", "shown", "score"),
    [
        (Action("type", text=" lorem\n"), Action("type", text="lorem"), 1.0),
        (Action("type", text="lorem", point=(0.9, 0.9)), Action("type", text="lorem"), 1.0),
        (Action("type", text="Lorem"), Action("type", text="lorem"), 0.0),
        (Action("type", text="lo rem"), Action("type", text="lorem"), 0.0),
        (Action("type", text=""), Action("type", text="  "), 1.0),
        (Action("answer", text="7 "), Action("answer", text="7"), 1.0),
        (Action("answer", text="8"), Action("answer", text="7"), 0.0),
        (Action("answer", text="7"), Action("type", text="7"), 0.0),
        (Action("open_app", text="Clock"), Action("open_app", text="Clock "), 1.0),
        (Action("open_app"), Action("open_app", text="Clock"), 0.0),
        (Action("press", key="back"), Action("press", key="back"), 1.0),
        (Action("press", key="home"), Action("press", key="back"), 0.0),
        (Action("scroll", direction="down"), Action("scroll", direction="down"), 1.0),
        (drag(0.5, 0.8, 0.5, 0.2), Action("scroll", direction="down"), 1.0),
        (drag(0.5, 0.2, 0.5, 0.8), Action("scroll", direction="down"), 0.0),
        (drag(0.8, 0.5, 0.2, 0.5), Action("scroll", direction="right"), 1.0),
        (drag(0.2, 0.5, 0.8, 0.5), Action("scroll", direction="left"), 1.0),
        (drag(0.2, 0.2, 0.5, 0.5), Action("scroll", direction="up"), 1.0),  # tie: vertical
        (Action("scroll"), Action("scroll", direction="down"), 0.0),
        (drag(0.5, 0.5, 0.5, 0.5), Action("scroll", direction="down"), 0.0),
        (Action("wait"), Action("wait"), 1.0),
        (Action("complete", text="done"), Action("complete"), 1.0),
        (Action("impossible"), Action("complete"), 0.0),
    ],
)
def test_element_compares_other_kinds_by_kind_and_argument(predicted, shown, score):
    assert element_score(predicted, step(shown)) == score


# aitw

BOX = (0.4, 0.4, 0.5, 0.5)  # (y, x, h, w) = (.4, .4, .1, .1), augmented to (.33, .33, .24, .24)


@pytest.mark.parametrize(
    ("first", "second", "boxes", "score"),
    [
        (click(0.335, 0.335), click(0.34, 0.56), [BOX], 1.0),  # both in the box, .225 apart
        (click(0.45, 0.32), click(0.45, 0.56), [BOX], 0.0),  # one just outside
        (click(0.335, 0.335), click(0.34, 0.56), [], 0.0),  # no annotations: distance only
        (click(0.5, 0.5), click(0.5, 0.63), [], 1.0),
        (click(0.5, 0.5), click(0.5, 0.65), [], 0.0),
        (click(0.5, 0.5), click(0.63, 0.5), [], 1.0),  # no correction for a tall screen
        (click(0.345, 0.45), click(0.555, 0.45), [(0.4, 0.4, 0.41, 0.41), BOX], 1.0),
        # in two different boxes, but not in a common one
        (click(0.1, 0.5), click(0.5, 0.5), [(0, 0.4, 0.2, 0.6), (0.4, 0.4, 0.6, 0.6)], 0.0),
        (Action("long_press", point=(0.5, 0.5)), click(0.5, 0.55), [], 1.0),
        (drag(0.5, 0.5, 0.5, 0.53), click(0.5, 0.55), [], 1.0),  # a drag of .03 is a tap
        (drag(0.5, 0.5, 0.5, 0.55), click(0.5, 0.5), [], 0.0),  # tap against drag
        (drag(0.5, 0.8, 0.5, 0.2), drag(0.5, 0.2, 0.5, 0.8), [], 1.0),  # up against down
        (drag(0.5, 0.8, 0.5, 0.2), drag(0.2, 0.5, 0.8, 0.5), [], 0.0),
        (drag(0.25, 0.25, 0.5, 0.5), drag(0.5, 0.8, 0.5, 0.2), [], 1.0),  # tie is vertical
        (drag(0.25, 0.25, 0.5, 0.5), drag(0.2, 0.5, 0.8, 0.5), [], 0.0),
        (Action("scroll", direction="down"), drag(0.3, 0.9, 0.3, 0.1), [], 1.0),
        (Action("scroll", direction="left"), drag(0.3, 0.9, 0.3, 0.1), [], 0.0),
        (Action("type", text="a"), Action("type", text="b"), [], 1.0),
        (Action("press", key="back"), Action("press", key="home"), [], 0.0),
        (Action("press", key="enter"), Action("press", key="enter"), [], 1.0),
        (Action("complete"), Action("complete"), [], 1.0),
        (Action("impossible"), Action("complete"), [], 0.0),
        (click(0.5, 0.5), Action("type", text="a"), [], 0.0),
    ],
)  # fmt: skip
def test_aitw_golden_cases_match_either_way_round(first, second, boxes, score):
    assert aitw_score(first, step(second, boxes=boxes)) == score
    assert aitw_score(second, step(first, boxes=boxes)) == score


def test_aitw_box_clipped_at_the_top_moves_its_far_edge_out():
    box = (0.9, 0.02, 1.0, 0.12)  # (y, x, h, w) = (.02, .9, .1, .1) → (0, .83, .24, .24)
    assert aitw_score(click(0.95, 0.23), step(click(0.95, 0.01), boxes=[box])) == 1.0
    assert aitw_score(click(0.95, 0.25), step(click(0.95, 0.01), boxes=[box])) == 0.0


def test_aitw_distance_rounds_as_the_official_float32_does():
    """Of the grid pairs .14 apart, 25 exceed the threshold in float32 (2 would in float64)."""
    scores = [aitw_score(click(0.5, (a + 14) / 100), step(click(0.5, a / 100))) for a in range(87)]
    assert scores.count(0.0) == 25


@pytest.mark.parametrize(
    "predicted",
    [
        Action("wait"),
        Action("open_app", text="Clock"),
        Action("answer", text="7"),
        Action("press", key="menu"),
        Action("scroll"),
        drag(0.5, 0.5, 0.5, 0.5),
    ],
)
def test_aitw_predictions_outside_its_types_score_zero(predicted):
    assert aitw_score(predicted, step(drag(0.5, 0.8, 0.5, 0.2))) == 0.0


def test_aitw_refuses_a_step_outside_its_types():
    with pytest.raises(ValueError, match=r"step 's'.*wait"):
        aitw_score(click(0.5, 0.5), step(Action("wait")))
