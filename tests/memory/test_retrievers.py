import numpy as np
import pytest

from memory import MemoryBank, get_retriever
from memory.retrievers import best_match
from tests.steps import button_step


@pytest.fixture
def bank():
    return MemoryBank(
        [button_step(label, f"past{i}") for i, label in enumerate(["OK", "Cancel", "OK", "Cancel"])]
    )


def test_shares_the_fact_and_keeps_the_score(bank):
    match = get_retriever("tfidf").fit(bank).retrieve(button_step("OK", "now"))
    assert match.step.instruction == 'Click on the "OK" button.'
    assert match.score == pytest.approx(1.0)


def test_never_a_step_of_the_same_episode(bank):
    match = get_retriever("tfidf").fit(bank).retrieve(button_step("OK", "past0"))
    assert match.step.episode_id == "past2"
    alone = MemoryBank([button_step("OK", "e")])
    with pytest.raises(ValueError, match="no step of another episode"):
        get_retriever("tfidf").fit(alone).retrieve(button_step("OK", "e"))


def test_ties_are_broken_by_the_ids_alone_and_spread(bank):
    retriever = get_retriever("tfidf").fit(bank)
    chosen = [retriever.retrieve(button_step("OK", f"now{i}")).step.episode_id for i in range(40)]
    assert set(chosen) == {"past0", "past2"}
    reversed_bank = MemoryBank(list(bank)[::-1])
    again = get_retriever("tfidf").fit(reversed_bank)
    assert chosen == [
        again.retrieve(button_step("OK", f"now{i}")).step.episode_id for i in range(40)
    ]


def test_many_equals_one_by_one(bank):
    retriever = get_retriever("tfidf").fit(bank)
    steps = [button_step(label, f"n{i}") for i, label in enumerate(["OK", "Cancel"] * 3)]
    assert retriever.retrieve_many(steps) == [retriever.retrieve(step) for step in steps]


def test_best_score_wins(bank):
    scores = np.array([0.1, 0.5, 0.9, 0.2])
    assert best_match(bank, button_step("OK", "past2"), scores).step.episode_id == "past1"


def test_unknown_retriever_and_empty_bank_are_refused():
    with pytest.raises(ValueError, match="embedding, tfidf"):
        get_retriever("bm25")
    with pytest.raises(ValueError, match="at least one step"):
        MemoryBank([])


def test_embedding_retriever_on_a_checkpoint(bank, tmp_path):
    from tests.tiny_models import tiny_qwen3_vl

    retriever = get_retriever("embedding", name_or_path=str(tiny_qwen3_vl(tmp_path)), batch_size=3)
    texts = ["Click OK", "a much longer text than the other one", "Click OK"]
    vectors = retriever.embed(texts)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)
    alone = np.concatenate([retriever.embed([text]) for text in texts])
    np.testing.assert_allclose(vectors, alone, atol=1e-5)  # padding leaves no trace
    match = retriever.fit(bank).retrieve(button_step("OK", "now"))
    assert match.step.instruction == 'Click on the "OK" button.'
    assert match.score == pytest.approx(1.0, abs=1e-5)
