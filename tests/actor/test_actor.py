"""The actor on tiny random checkpoints of three architectures."""

import json
import shutil

import pytest
import torch
from dialect_cases import step
from PIL import Image
from safetensors.torch import load_file
from tiny_models import BLOCKS, WIDTH, tiny_llama, tiny_qwen2_vl, tiny_qwen3_5, tiny_qwen3_vl

from activations import encode, prefill
from actor import Actor, Sampling, get_dialect, sample_seed
from memory.retrievers.embedding import EmbeddingRetriever
from router.embedders.checkpoint import CheckpointEmbedder

DIALECTS = {"qwen3_5": "qwen", "qwen3_vl": "qwen", "qwen2_vl": "ui-tars"}
BUILDERS = {"qwen3_5": tiny_qwen3_5, "qwen3_vl": tiny_qwen3_vl, "qwen2_vl": tiny_qwen2_vl}
SHORT = Sampling(max_new_tokens=10)
SEEDS = [sample_seed(0, "s", k) for k in range(7)]

PICTURE = Image.effect_noise((160, 210), 80).convert("RGB")
TEXT_ONLY = [{"role": "user", "content": [{"type": "text", "text": "Where is the button?"}]}]
TWO_PICTURES = [
    {
        "role": "user",
        "content": [
            {"type": "image", "image": PICTURE.resize((96, 126))},
            {"type": "text", "text": "was then."},
            {"type": "image", "image": PICTURE},
            {"type": "text", "text": "is now."},
        ],
    }
]


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints")
    return {name: build(folder / name) for name, build in BUILDERS.items()}


@pytest.fixture(scope="module", params=BUILDERS)
def actor(request, checkpoints):
    return Actor.from_pretrained(
        checkpoints[request.param], DIALECTS[request.param], engine="hooks"
    )


@pytest.fixture(scope="module")
def qwen3_vl(checkpoints):
    return Actor.from_pretrained(checkpoints["qwen3_vl"], engine="hooks")


def generated(actor, prompt, **settings):
    inputs = encode(actor.processor, prompt, **actor.dialect.chat_template_kwargs).inputs
    # No end tokens: random models would stop anywhere.
    ids = actor.model.generate(
        **inputs, max_new_tokens=10, min_new_tokens=10, do_sample=False, **settings
    )
    return actor.processor.tokenizer.decode(
        ids[0, inputs["input_ids"].shape[1] :], skip_special_tokens=False
    )


@pytest.mark.parametrize("prompt", [TWO_PICTURES, TEXT_ONLY], ids=["pictures", "text"])
def test_greedy_answer_equals_that_of_generate(actor, prompt, monkeypatch):
    # After another prompt, whose rope delta a text-only one must not inherit.
    actor.respond(TWO_PICTURES, 0)
    monkeypatch.setattr(actor, "_stop_ids", frozenset())
    answer = actor.respond(prompt, 1, sampling=Sampling(max_new_tokens=10, greedy=True)).texts[0]
    monkeypatch.setattr(actor.model.generation_config, "eos_token_id", None)
    actor.model.model.rope_deltas = None
    assert answer == generated(actor, prompt)


def test_states_are_those_of_a_plain_forward_at_the_last_prompt_token(actor):
    response = actor.respond(TWO_PICTURES, 2, sampling=SHORT)
    inputs = encode(actor.processor, TWO_PICTURES, **actor.dialect.chat_template_kwargs).inputs
    with torch.no_grad():
        hidden = actor.model(**inputs, output_hidden_states=True).hidden_states
    assert response.sites == ("embed", *(f"block.{k}" for k in range(BLOCKS)), "final_norm")
    assert response.sites == actor.sites
    assert response.states.shape == (BLOCKS + 2, WIDTH)
    assert actor.width == WIDTH
    for site, k in (("embed", 0), ("block.0", 1), ("block.2", 3), ("final_norm", -1)):
        torch.testing.assert_close(response.states[actor.sites.index(site)], hidden[k][0, -1])


def test_one_prefill_serves_states_and_all_samples(actor, monkeypatch):
    passes = []
    forward = type(actor.model).forward

    def counted(self, *args, **kwargs):
        passes.append(tuple(kwargs["input_ids"].shape))
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(actor.model, "forward", counted.__get__(actor.model))
    monkeypatch.setattr(actor, "_stop_ids", frozenset())
    response = actor.respond(TWO_PICTURES, 7, seeds=SEEDS, sampling=Sampling(max_new_tokens=4))
    # The fourth token needs no forward of its own.
    assert passes == [(1, response.prompt_tokens), (7, 1), (7, 1), (7, 1)]


def test_sample_k_is_the_same_alone_in_another_order_and_after_other_prompts(actor):
    seven = actor.respond(TWO_PICTURES, 7, seeds=SEEDS, sampling=SHORT).texts
    assert len(set(seven)) > 1
    actor.respond(TEXT_ONLY, 3, sampling=SHORT)
    assert actor.respond(TWO_PICTURES, 1, seeds=SEEDS[4:5], sampling=SHORT).texts == seven[4:5]
    backwards = actor.respond(TWO_PICTURES, 7, seeds=SEEDS[::-1], sampling=SHORT).texts
    assert backwards == seven[::-1]


def test_a_lower_token_limit_cuts_the_same_answer(actor, monkeypatch):
    monkeypatch.setattr(actor, "_stop_ids", frozenset())
    tokenizer = actor.processor.tokenizer
    long = actor.respond(TWO_PICTURES, 1, seeds=[7], sampling=Sampling(max_new_tokens=9)).texts[0]
    short = actor.respond(TWO_PICTURES, 1, seeds=[7], sampling=Sampling(max_new_tokens=3)).texts[0]
    assert long.startswith(short.rstrip("�"))
    assert len(tokenizer.encode(short)) < len(tokenizer.encode(long))


def test_a_sample_that_ends_early_leaves_the_others_as_they_are(actor, monkeypatch):
    monkeypatch.setattr(actor, "_stop_ids", frozenset())
    whole = actor.respond(TWO_PICTURES, 7, seeds=SEEDS, sampling=SHORT).texts
    # A byte that some answers hold ends them; every answer must be cut there and only there.
    vocabulary = actor.processor.tokenizer.get_vocab()
    ends = [c for c in map(chr, range(33, 127)) if 0 < sum(c in text for text in whole) < 7]
    monkeypatch.setattr(actor, "_stop_ids", frozenset({vocabulary[ends[0]]}))
    cut = actor.respond(TWO_PICTURES, 7, seeds=SEEDS, sampling=SHORT).texts
    for text, beginning in zip(whole, cut):
        kept = text.split(ends[0])[0]
        assert beginning.rstrip("�") == kept.rstrip("�")


def test_the_prefills_cache_is_left_as_it_was(actor):
    from actor.decoding import decode

    inputs = encode(actor.processor, TWO_PICTURES, **actor.dialect.chat_template_kwargs).inputs
    first = prefill(actor.model, inputs, actor._sites, "hooks")
    position = inputs["input_ids"].shape[1] + int(actor.model.model.rope_deltas[0, 0])
    runs = [
        decode(
            actor.model,
            first.logits,
            first.cache,
            position=position,
            seeds=SEEDS,
            sampling=SHORT,
            stop_ids=(),
        )
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert first.cache.get_seq_length(BLOCKS - 1) == inputs["input_ids"].shape[1]


def test_a_prompt_longer_than_the_models_context_is_refused(qwen3_vl, monkeypatch):
    tokens = qwen3_vl.respond(TEXT_ONLY, 0).prompt_tokens
    text_config = qwen3_vl.model.config.get_text_config()
    monkeypatch.setattr(text_config, "max_position_embeddings", tokens + 9)
    qwen3_vl.respond(TEXT_ONLY, 0)
    qwen3_vl.respond(TEXT_ONLY, 1, sampling=Sampling(max_new_tokens=9))
    message = rf"{tokens} tokens and its answer up to 10 .* takes {tokens + 9} in all"
    with pytest.raises(ValueError, match=message):
        qwen3_vl.respond(TEXT_ONLY, 1, sampling=SHORT)


@pytest.mark.parametrize("stop", ["generation_config", "dialect"])
def test_answers_end_at_the_stop_tokens_of_checkpoint_and_dialect(checkpoints, stop):
    class Stopping(type(get_dialect("qwen"))):
        stop_tokens = ("a",) if stop == "dialect" else ()

    actor = Actor.from_pretrained(checkpoints["qwen3_vl"], Stopping())
    vocabulary = actor.processor.tokenizer.get_vocab()
    expected = {actor.model.generation_config.eos_token_id}
    if stop == "dialect":
        expected.add(vocabulary["a"])
    assert actor._stop_ids == expected


def test_a_stop_token_that_the_vocabulary_lacks_is_refused(checkpoints):
    class Stopping(type(get_dialect("qwen"))):
        stop_tokens = ("<eot>",)

    with pytest.raises(ValueError, match=r"no token '<eot>'.*dialect 'qwen'"):
        Actor.from_pretrained(checkpoints["qwen3_vl"], Stopping())


def test_both_engines_give_the_same_response(checkpoints):
    responses = [
        Actor.from_pretrained(checkpoints["qwen3_5"], engine=engine).respond(
            TWO_PICTURES, 3, sampling=SHORT
        )
        for engine in ("hooks", "nnsight")
    ]
    assert torch.equal(responses[0].states, responses[1].states)
    assert responses[0].texts == responses[1].texts


@pytest.mark.parametrize("name", BUILDERS)
def test_prompts_of_its_own_dialect_are_answered_and_scored_without_an_exception(checkpoints, name):
    from actor import score_answer
    from episodes.scorers import element_score

    actor = Actor.from_pretrained(checkpoints[name], DIALECTS[name], engine="hooks")
    shown = step()
    response = actor.respond(actor.dialect.messages(shown, "Click OK", []), 3, sampling=SHORT)
    assert response.image_tokens > 0
    assert len(response.prompt_sha256) == 64
    for text in response.texts:
        scored = score_answer(text, actor.dialect, element_score, shown)
        assert (scored.action is None) == (scored.parse_error is not None)
        assert scored.score in (0.0, 1.0)


def test_no_samples_gives_the_states_alone(qwen3_vl):
    response = qwen3_vl.respond(TEXT_ONLY, 0)
    assert response.texts == ()
    assert torch.equal(response.states, qwen3_vl.respond(TEXT_ONLY, 1, sampling=SHORT).states)


def test_as_many_seeds_as_samples_are_asked_for(qwen3_vl):
    with pytest.raises(ValueError, match="7 samples need as many seeds, found 2"):
        qwen3_vl.respond(TEXT_ONLY, 7, seeds=[1, 2])


def test_greedy_samples_are_equal(qwen3_vl):
    sampling = Sampling(max_new_tokens=6, greedy=True)
    texts = qwen3_vl.respond(TEXT_ONLY, 3, sampling=sampling).texts
    assert len(texts) == 3
    assert len(set(texts)) == 1


def test_the_rendered_prompt_ends_in_the_empty_think_block(checkpoints):
    actor = Actor.from_pretrained(checkpoints["qwen3_5"], engine="hooks")
    newline = actor.processor.tokenizer("\n\n")["input_ids"][-1]
    assert actor.respond(TEXT_ONLY, 0).last_token_id == newline


def test_a_prompt_that_leaves_the_model_thinking_is_refused(checkpoints):
    with pytest.raises(ValueError, match=r"knows enable_thinking, but the prompt ends in.*<think>"):
        Actor.from_pretrained(checkpoints["qwen3_5"], "ui-tars")


def test_a_template_that_always_thinks_is_refused(checkpoints, tmp_path):
    folder = shutil.copytree(checkpoints["qwen3_vl"], tmp_path / "thinks")
    template = folder / "chat_template.jinja"
    template.write_text(template.read_text().replace("assistant\\n'", "assistant\\n<think>\\n'"))
    with pytest.raises(ValueError, match="open think block"):
        Actor.from_pretrained(folder)


def test_fingerprint_is_flat_text_that_names_model_and_dialect_but_no_path(qwen3_vl, tmp_path):
    fingerprint = qwen3_vl.fingerprint()
    assert all(isinstance(v, str) for v in fingerprint.values())
    assert fingerprint["dialect"] == "qwen"
    assert fingerprint["model"] == "qwen3_vl"
    assert fingerprint["class"] == "Qwen3VLForConditionalGeneration"
    assert {"dtype", "attention", "template_sha256", "engine", "version.torch"} <= set(fingerprint)
    assert "/" not in json.dumps(fingerprint)
    fingerprint["model"] = "changed"
    assert qwen3_vl.fingerprint()["model"] == "qwen3_vl"


def test_repr_says_what_acts(qwen3_vl):
    assert repr(qwen3_vl) == (
        "Actor('qwen3_vl', Qwen3VLForConditionalGeneration, 4 blocks of width 32, float32 on cpu, "
        "dialect 'qwen', engine 'hooks')"
    )


def test_the_dialect_is_found_from_the_name_or_the_family(checkpoints, tmp_path):
    named = shutil.copytree(checkpoints["qwen2_vl"], tmp_path / "UI-TARS-tiny")
    assert Actor.from_pretrained(named).dialect.name == "ui-tars"
    assert Actor.from_pretrained(checkpoints["qwen2_vl"]).dialect.name == "qwen"


def test_a_family_without_dialect_is_refused_with_a_hint():
    from actor.actor import _dialect_of

    with pytest.raises(ValueError, match=r"type 'llava' have no dialect.*dialect=\.\.\."):
        _dialect_of("some/llava", "llava")


def test_a_checkpoint_without_chat_template_is_refused(checkpoints, tmp_path):
    folder = shutil.copytree(checkpoints["qwen3_vl"], tmp_path / "plain")
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(ValueError, match="plain: its processor has no chat template"):
        Actor.from_pretrained(folder)


def test_a_text_only_checkpoint_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"llama: its processor is a .* takes no pictures"):
        Actor.from_pretrained(tiny_llama(tmp_path / "llama"))


@pytest.mark.parametrize("name", ["/nope", "./nope", "~/nope", "a/b/c", "nope/"])
def test_a_folder_that_is_not_there_is_named(name):
    with pytest.raises(ValueError, match=f"^{name}: found no such folder"):
        Actor.from_pretrained(name)


@pytest.mark.parametrize("loader", [Actor, EmbeddingRetriever, CheckpointEmbedder])
def test_pickled_weights_are_never_read(loader, checkpoints, tmp_path):
    folder = shutil.copytree(checkpoints["qwen3_vl"], tmp_path / "pickled")
    weights = load_file(folder / "model.safetensors")
    torch.save(weights, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises((ValueError, OSError), match=r"no file named model\.safetensors"):
        loader.from_pretrained(folder)


def test_the_actor_says_that_weights_must_be_safetensors(checkpoints, tmp_path):
    folder = shutil.copytree(checkpoints["qwen3_vl"], tmp_path / "bare")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ValueError, match=r"bare: weights are read from safetensors files only"):
        Actor.from_pretrained(folder)
