"""States and memory embeddings put together."""

from dataclasses import replace

import numpy as np
import pytest

from router import router_inputs


def test_rows_are_the_steps_asked_for_with_what_each_recalled(planted):
    wanted = planted.table["step_id"].tolist()[7:2:-1]
    inputs = planted.inputs(wanted)
    assert list(inputs.step_ids) == wanted
    np.testing.assert_array_equal(inputs.states, planted.states.layer("block.3", "none")[7:2:-1])
    bank = [planted.memories.step_ids.index(planted.memory_of[s]) for s in wanted]
    for side, condition in ((inputs.negative, "text"), (inputs.positive, "image")):
        np.testing.assert_array_equal(side, planted.memories.layer("embedding", condition, bank))


def test_origin_says_where_they_come_from(planted):
    origin = planted.inputs(planted.table["step_id"].tolist()[:1]).origin
    assert (origin.model, origin.revision, origin.site) == ("tiny", "abc", "block.3")
    assert (origin.state_width, origin.memory_width) == (24, 16)
    assert (origin.negative, origin.positive, origin.conditions) == ("text", "image", ["none"])
    assert origin.embedder == "hidden state at block.3"


def test_several_conditions_are_joined(planted):
    memory_of = dict(list(planted.memory_of.items())[:3])
    inputs = router_inputs(
        planted.states, planted.memories, memory_of, conditions=("text", "image")
    )
    assert inputs.states.shape == (3, 48)
    np.testing.assert_array_equal(
        inputs.states[:, 24:], planted.states.layer("block.3", "image")[:3]
    )


def test_steps_that_a_store_lacks_are_named(planted):
    first = planted.table["step_id"].iloc[0]
    with pytest.raises(ValueError, match=r"bank's embeddings .* lacks 1 steps, first 'elsewhere'"):
        router_inputs(planted.states, planted.memories, {first: "elsewhere"})
    with pytest.raises(ValueError, match=r"store of states .* first 'nobody'"):
        router_inputs(planted.states, planted.memories, {"nobody": "bank-0"})
    with pytest.raises(ValueError, match="inputs lack 1 steps, first 'nobody'"):
        planted.inputs([first]).take(["nobody"])


def test_malformed_inputs_are_refused(planted):
    inputs = planted.inputs(planted.table["step_id"].tolist()[:4])
    with pytest.raises(ValueError, match=r"negative has shape \(4, 15\), expected \(4, 16\)"):
        replace(inputs, negative=inputs.negative[:, 1:])
    with pytest.raises(ValueError, match="episode_ids has 3 rows, expected 4"):
        replace(inputs, episode_ids=inputs.episode_ids[1:])
    spoilt = inputs.states.copy()
    spoilt[2, 0] = np.inf
    with pytest.raises(ValueError, match=f"states of step '{inputs.step_ids[2]}' are not finite"):
        replace(inputs, states=spoilt)
