"""The pocket actor: its dialect, its batches, its drills; the bundled checkpoint on held-out steps."""

import random

import numpy as np
import pytest
import torch

from actor.dialects import AnswerError, get_dialect
from actor.pocket.batches import collate, patches
from actor.pocket.drills import Drills, answer_of
from actor.pocket.vocabulary import build_processor, build_tokenizer, words_of
from episodes import Action, bundled_steps, get_scorer
from tests.steps import OK, button_step

POCKET = get_dialect("pocket")


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("click button OK <x20><y4>", Action("click", point=(20.5 / 32, 4.5 / 32))),
        ("click <x0> <y31>", Action("click", point=(0.5 / 32, 31.5 / 32))),
        ("click icon <x1><y1> <x2><y3>", Action("click", point=(2.5 / 32, 3.5 / 32))),
        ("type Kenda ", Action("type", text="Kenda")),
        ("type", Action("type", text="")),
        ("scroll down", Action("scroll", direction="down")),
        ("press enter", Action("press", key="enter")),
        ("complete", Action("complete")),
    ],
)
def test_answers_are_read(answer, action):
    assert POCKET.parse(answer, button_step()) == action


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "click",
        "click OK",
        "click <x40><y3>",
        "tap <x1><y1>",
        "scroll north",
        "press",
        "complete now",
        "<x1><y2>",
    ],
)
def test_malformed_answers_are_refused(answer):
    with pytest.raises(AnswerError):
        POCKET.parse(answer, button_step())


def test_wanted_answers_score_one_on_recorded_steps():
    score = get_scorer("element")
    steps = bundled_steps("query")[:400]
    values = [score(POCKET.parse(answer_of(step), step), step) for step in steps]
    assert np.mean(values) > 0.99  # a few targets are narrower than a 32nd of the screen


@pytest.fixture(scope="module")
def steps():
    return list(bundled_steps("train")[::20])


@pytest.fixture(scope="module")
def tokenizer(steps):
    return build_tokenizer(words_of([step.instruction for step in steps], least=1))


def test_batches_equal_what_the_processor_makes(steps, tokenizer):
    processor = build_processor(tokenizer)
    drills = Drills(steps, ["lorem", "ipsum", "dolor", "amet", "elit"] * 4)
    question = next(
        q for q in (drills.looks_told(random.Random(i)) for i in range(50))
        if sum(part["type"] == "image" for part in q.messages[0]["content"]) == 2
    )  # fmt: skip
    ours = collate([question], tokenizer, answers=False)
    theirs = processor.apply_chat_template(
        question.messages,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",
        add_generation_prompt=True,
    )
    assert set(ours) == set(theirs)
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name].to(value.dtype), value, atol=1e-5, rtol=0)


def test_labels_cover_the_answer_and_its_end_alone(steps, tokenizer):
    drills = Drills(steps, ["lorem", "ipsum", "dolor", "amet", "elit"] * 4)
    question = drills.lookup(random.Random(0))
    batch = collate([question, drills.lookup(random.Random(1))], tokenizer)
    wanted = batch["labels"][0][batch["labels"][0] != -100]
    assert tokenizer.decode(wanted, skip_special_tokens=True) == tokenizer.decode(
        tokenizer(question.answer)["input_ids"], skip_special_tokens=True
    )
    assert int(wanted[-1]) == tokenizer.eos_token_id


def test_patches_resize_odd_sizes(steps):
    values, grid = patches(steps[0].image.resize((100, 70)))
    assert grid == (1, 4, 6)
    assert values.shape == (24, 3 * 2 * 16 * 16)


@pytest.mark.parametrize("kind", ["plain", "typing", "words_told", "looks_told", "lookup", "look"])
def test_drills_are_seeded_and_answerable(steps, kind):
    drills = Drills(
        list(bundled_steps("train")[::4]), ["lorem", "ipsum", "dolor", "amet", "elit"] * 4
    )
    for seed in range(20):
        question, again = (getattr(drills, kind)(random.Random(seed)) for _ in range(2))
        assert question.answer == again.answer
        if kind not in ("lookup", "look"):  # those ask for points or looks, not for an action
            POCKET.parse(question.answer, button_step())


def test_label_of_a_button_has_role_and_first_words():
    assert (
        POCKET.render_action(Action("click", point=OK.centre), OK, coordinates=False)
        == "click button OK"
    )


@pytest.mark.slow
def test_bundled_actor_reads_words_from_text_and_places_from_pictures():
    from actor import Actor, Sampling, score_answer
    from actor.pocket.drills import OPTIONS
    from memory import MemoryBank, get_representation, get_retriever, make_queries

    actor = Actor.from_pretrained("pocket", engine="hooks")
    retriever = get_retriever("tfidf").fit(MemoryBank(list(bundled_steps("train"))))
    wanted = {"enter-text": "type", "grid-coordinate": "click"}
    held_out = [s for s in bundled_steps("test") if wanted.get(s.app) == s.action.kind]
    held_out = [s for app in wanted for s in [h for h in held_out if h.app == app][:20]]
    scores = {(app, form): [] for app in wanted for form in ("text", "image")}
    for query in make_queries(held_out, retriever, recall_share=1.0):
        for form in ("text", "image"):
            parts = get_representation(form, OPTIONS)(query.memory, actor.dialect)
            prompt = actor.dialect.messages(query.step, query.instruction, parts)
            response = actor.respond(prompt, 1, sampling=Sampling(greedy=True, max_new_tokens=32))
            scored = score_answer(
                response.texts[0], actor.dialect, get_scorer("element"), query.step
            )
            scores[query.step.app, form].append(scored.score)
    means = {key: np.mean(values) for key, values in scores.items()}
    assert means["enter-text", "text"] > means["enter-text", "image"] + 0.4
    assert means["grid-coordinate", "image"] > means["grid-coordinate", "text"] + 0.4
