import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodes import Action

fractions = st.floats(0, 1)


@given(
    st.builds(Action, st.just("click"), point=st.tuples(fractions, fractions))
    | st.builds(Action, st.just("type"), text=st.text())
    | st.builds(
        Action, st.just("scroll"), direction=st.sampled_from(["up", "down", "left", "right"])
    )
    | st.builds(Action, st.just("press"), key=st.text(min_size=1))
)
def test_json_round_trip(action):
    assert Action.from_json(action.to_json()) == action


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"kind": "tap"}, "kind 'tap'"),
        ({"kind": "click"}, "needs a point"),
        ({"kind": "click", "point": (0.5, 1.2)}, "action point"),
        ({"kind": "click", "point": (0.5,)}, "action point"),
        ({"kind": "click", "point": (float("nan"), 0.5)}, "action point"),
        ({"kind": "type"}, "needs a text"),
        ({"kind": "press"}, "needs a key"),
        ({"kind": "type", "text": 5}, "action text"),
        ({"kind": "press", "key": ["a"]}, "action key"),
        ({"kind": "scroll", "direction": "north"}, "direction 'north'"),
    ],
)
def test_unsound_actions_are_refused_by_field(fields, named):
    with pytest.raises(ValueError, match=named):
        Action(**fields)


@pytest.mark.parametrize("text", ["[]", '{"point": [0, 0]}', '{"kind": "wait", "x": 1}', "{"])
def test_unsound_json_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        Action.from_json(text)
