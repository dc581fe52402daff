import pytest

from episodes import Element
from tests.steps import CANCEL, OK, button_step


def test_centre_and_edges():
    element = Element("button", "", (0.2, 0.4, 0.6, 0.5))
    assert element.centre == pytest.approx((0.4, 0.45))
    assert element.contains((0.2, 0.5))
    assert not element.contains((0.19, 0.45))


@pytest.mark.parametrize(
    "box", [(0.5, 0, 0.4, 1), (0, 0, 1.1, 1), (0, 0, 1), "box", (0, 0, 1, float("nan"))]
)
def test_unsound_boxes_are_refused(box):
    with pytest.raises(ValueError, match="element box"):
        Element("button", "", box)


def test_target_element_is_that_of_the_target_box_then_the_smallest_under_the_point():
    assert button_step("OK").target_element == OK
    outer = Element("text", "all", (0, 0, 1, 1))
    step = button_step("Cancel", elements=(outer, CANCEL, OK), target=None)
    assert step.target_element == CANCEL
