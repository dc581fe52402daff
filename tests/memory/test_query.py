import pytest

from memory import MemoryBank, get_retriever, make_queries, make_query, query_kind
from tests.steps import button_step


@pytest.fixture
def retriever():
    return get_retriever("tfidf").fit(
        MemoryBank([button_step("OK", "a"), button_step("Cancel", "b")])
    )


def test_recall_hides_the_fact_from_query_and_memory_but_not_from_the_retriever(retriever):
    (query,) = make_queries([button_step("Cancel", "now")], retriever, recall_share=1.0)
    assert query.kind == "recall"
    assert query.memory.episode_id == "b"
    assert "Cancel" not in query.instruction
    assert "Cancel" not in query.memory.instruction
    assert query.step.instruction == 'Click on the "Cancel" button.'


def test_full_leaves_both_whole(retriever):
    (query,) = make_queries([button_step("OK", "now")], retriever, recall_share=0.0)
    assert query.kind == "full"
    assert query.instruction == query.memory.instruction == 'Click on the "OK" button.'


def test_share_is_met_by_episode_and_depends_on_the_seed_alone():
    steps = [button_step("OK", f"e{i}", index) for i in range(400) for index in (0, 1)]
    kinds = [query_kind(step, 0.7, seed=3) for step in steps]
    assert kinds[::2] == kinds[1::2]
    assert kinds.count("recall") / len(kinds) == pytest.approx(0.7, abs=0.07)
    assert kinds != [query_kind(step, 0.7, seed=4) for step in steps]


def test_steps_without_a_rule_are_asked_in_full():
    assert (
        query_kind(button_step(app="click-test", instruction="Click the button."), 1.0, 0) == "full"
    )


def test_share_outside_its_range_is_refused():
    with pytest.raises(ValueError, match="recall_share"):
        query_kind(button_step(), 1.5, 0)


def test_a_recall_query_of_a_step_without_a_rule_is_refused():
    step = button_step(app="click-test", instruction="Click the button.")
    with pytest.raises(ValueError, match=r"'e0/0': kind is 'recall'.*'Click the button\.'"):
        make_query(step, button_step("OK", "a"), 0.5, "recall")
