import numpy as np
import pytest

from actor.dialects import get_dialect
from episodes import Action, Element
from memory import MemoryOptions, get_representation
from memory.representations.image import MARK_COLOUR
from tests.steps import button_step

POCKET = get_dialect("pocket")


def shown(name, step, **options):
    return get_representation(name, MemoryOptions(**options))(step, POCKET)


def words(parts):
    return "".join(part.get("text", "<image>") for part in parts)


def test_none_shows_nothing():
    assert shown("none", button_step()) == []


def test_text_shows_instruction_screen_and_action():
    assert words(shown("text", button_step("OK"), coordinates=False)) == (
        'Past step: Click on the "OK" button.\n'
        "Past screen: button Cancel; button OK\n"
        "Past action: click button OK\n"
    )


def test_image_puts_the_screenshot_in_place_of_the_list():
    text = words(shown("image", button_step("OK")))
    assert "button Cancel" not in text
    assert text.count("<image>") == 1
    assert "click button OK" in text


def test_both_shows_all():
    text = words(shown("both", button_step("OK")))
    assert "button Cancel" in text
    assert "<image>" in text


def test_a_cut_list_says_so_and_is_cut_without_regard_to_the_target():
    elements = tuple(Element("link", f"l{i}", (0, i / 10, 1, i / 10 + 0.1)) for i in range(9))
    step = button_step(
        elements=elements, target=elements[8].box, action=Action("click", point=elements[8].centre)
    )
    text = words(shown("text", step, max_elements=3, coordinates=False))
    assert "Past screen: link l0; link l1; link l2 (6 more not shown)\n" in text


def test_appearance_is_never_told_in_words():
    box = Element("box", "", (0, 0, 1, 1), appearance="magenta")
    step = button_step(elements=(box,), target=box.box)
    assert "magenta" not in words(shown("text", step))


def test_coordinates_can_be_told():
    text = words(shown("text", button_step("OK"), coordinates=True))
    assert "button OK at (0.65, 0.15)" in text
    assert "<x20><y4>" in text


def test_picture_is_reduced_and_marked_where_the_action_landed():
    step = button_step("OK")
    plain = shown("image", step)[1]["image"]
    assert plain.size == (160, 160)
    marked = shown("image", step, image_width=96, mark=True)[1]["image"]
    assert marked.size == (96, 96)
    ys, xs = np.nonzero((np.asarray(marked) == MARK_COLOUR).all(axis=2))
    assert (xs.mean() / 96, ys.mean() / 96) == pytest.approx(step.action.point, abs=0.01)
    assert (np.asarray(step.image) == 255).all()  # the step's own picture stays clean


def test_the_mark_can_tell_the_action_alone():
    options = {"mark": True, "image_action": "mark"}
    assert words(shown("image", button_step(), **options)).endswith(
        "Past action: click at the mark\n"
    )
    typed = button_step(action=Action("type", text="secret"))
    assert "secret" not in words(shown("image", typed, **options))


@pytest.mark.parametrize(
    "options",
    [{"image_action": "mark"}, {"max_elements": -1}, {"image_width": 2}, {"max_words": 0}],
)
def test_unsound_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        MemoryOptions(**options)


def test_unknown_form_is_refused():
    with pytest.raises(ValueError, match="none, text, image, both"):
        get_representation("audio")
