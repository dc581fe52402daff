import importlib

import numpy as np
import pytest
from activation_samples import IMAGE_MODELS, image_pairs, text_pairs

from activations import (
    ActivationStore,
    FingerprintError,
    Pair,
    PromptError,
    StoreError,
    capture,
    encode,
    model_fingerprint,
    prefill,
    resolve_sites,
)

TEMPLATE = {"enable_thinking": False}


@pytest.mark.parametrize("name", IMAGE_MODELS)
def test_states_and_facts_of_image_models_are_those_of_each_prompt(load, tmp_path, name):
    model, processor = load(name)
    pairs = image_pairs(2)
    store = capture(
        model,
        processor,
        pairs,
        tmp_path / "a.zarr",
        block_size=1,
        chat_template_kwargs=TEMPLATE if name == "qwen3_5" else None,
        progress=False,
    )
    assert store.complete
    assert store.verify() == []
    sites = resolve_sites(model)
    for i, pair in enumerate(pairs):
        for c, condition in enumerate(("text", "image")):
            kwargs = TEMPLATE if name == "qwen3_5" else {}
            prompt = encode(processor, pair.prompts[condition], **kwargs)
            states = prefill(model, prompt.inputs, sites, "hooks").states[0].numpy()
            for s, site in enumerate(sites):
                assert np.array_equal(store.layer(site, condition, [i])[0], states[s])
            assert store.prompt_tokens[i, c] == prompt.prompt_tokens
            assert store.image_tokens[i, c] == prompt.image_tokens
            assert store.prompt_sha256[i, c] == prompt.prompt_sha256
    assert (store.image_tokens[:, 1] > store.image_tokens[:, 0]).all()
    # The last token is the same on both sides: what differs there begins behind the embedding.
    assert not store.shift("embed").any()
    assert (np.linalg.norm(store.shift("block.3"), axis=1) > 1e-3).all()


def test_text_only_model_takes_any_two_prompts(load, tmp_path):
    model, tokenizer = load("llama")
    pairs = [Pair(f"s{i}", "e", {"plain": f"{i} is", "odd": f"truly {i} is"}) for i in range(3)]
    store = capture(
        model, tokenizer, pairs, tmp_path / "a", conditions=("plain", "odd"), progress=False
    )
    assert (store.negative, store.positive) == ("plain", "odd")
    assert store.image_tokens.tolist() == [[0, 0]] * 3
    last = model(**tokenizer("2 is", return_tensors="pt"), output_hidden_states=True)
    expected = last.hidden_states[-1][0, -1].detach().numpy()
    assert np.array_equal(store.layer("final_norm", "plain", [2])[0], expected)


def test_bfloat16_model_makes_an_exact_bfloat16_store(load, tmp_path):
    model, tokenizer = load("llama")
    half = type(model)(model.config).bfloat16().eval()
    pairs = text_pairs(2)
    store = capture(half, tokenizer, pairs, tmp_path / "a", progress=False)
    assert store.dtype == "bfloat16"
    inputs = encode(tokenizer, pairs[1].prompts["image"]).inputs
    states = prefill(half, inputs, resolve_sites(half)).states[0]
    assert np.array_equal(store.layer("block.2", "image", [1])[0], states[3].float().numpy())


def test_both_engines_fill_equal_stores(load, tmp_path):
    model, processor = load("qwen3_5")
    one, other = (
        capture(model, processor, image_pairs(2), tmp_path / engine, engine=engine, progress=False)
        for engine in ("nnsight", "hooks")
    )
    for site in one.sites:
        assert np.array_equal(one.shift(site), other.shift(site))
    assert one.fingerprint["engine"] == "nnsight"
    assert "version.nnsight" not in other.fingerprint


def test_interrupted_capture_resumes_without_running_done_blocks_again(load, tmp_path, monkeypatch):
    model, tokenizer = load("llama")
    pairs = text_pairs(5)
    options = {"block_size": 2, "progress": False}
    whole = capture(model, tokenizer, pairs, tmp_path / "whole", **options)
    module = importlib.import_module("activations.capture")
    run = []

    def stopping(*args, **kwargs):
        run.append(1)
        if len(run) == 7:
            raise KeyboardInterrupt
        return prefill(*args, **kwargs)

    monkeypatch.setattr(module, "prefill", stopping)
    with pytest.raises(KeyboardInterrupt):
        capture(model, tokenizer, pairs, tmp_path / "stopped", **options)
    assert ActivationStore.open(tmp_path / "stopped").pending() == [1, 2]
    capture(model, tokenizer, pairs, tmp_path / "stopped", **options)
    # Seven of which the last failed; then the three steps of blocks 1 and 2 under two conditions.
    assert len(run) == 7 + 6
    capture(model, tokenizer, pairs, tmp_path / "stopped", **options)
    assert len(run) == 13
    for file in whole.path.rglob("*"):
        twin = tmp_path / "stopped" / file.relative_to(whole.path)
        assert file.is_dir() or file.read_bytes() == twin.read_bytes()


def test_incomparable_pair_stops_the_run_naming_the_step(load, tmp_path):
    model, processor = load("qwen3_vl")
    pairs = image_pairs(3)
    pairs[2].prompts["text"][0]["content"][0]["text"] = "a label <|image_pad|>"
    with pytest.raises(PromptError, match="step 'step-2', condition 'text'"):
        capture(model, processor, pairs, tmp_path / "a", block_size=1, progress=False)
    assert ActivationStore.open(tmp_path / "a").pending() == [2]


def test_another_model_template_or_list_of_pairs_is_refused(load, tmp_path):
    model, tokenizer = load("llama")
    pairs = text_pairs(3)
    capture(model, tokenizer, pairs, tmp_path / "a", progress=False)
    other = type(model)(model.config).eval()
    with pytest.raises(FingerprintError, match="weights_sha256: store has"):
        capture(other, tokenizer, pairs, tmp_path / "a", progress=False)
    with pytest.raises(FingerprintError, match="template_sha256: store has"):
        capture(
            model,
            tokenizer,
            pairs,
            tmp_path / "a",
            chat_template_kwargs={"enable_thinking": False},
            progress=False,
        )
    with pytest.raises(FingerprintError, match="step_ids: store has"):
        capture(model, tokenizer, pairs[::-1], tmp_path / "a", progress=False)


def test_disk_needed_is_said_first_and_too_small_a_disk_is_refused(
    load, tmp_path, capsys, monkeypatch
):
    model, tokenizer = load("llama")
    capture(model, tokenizer, text_pairs(2), tmp_path / "a")
    # 2 steps × 2 conditions × 6 sites × 32 values × 4 bytes, checksums and index: 3,316 bytes.
    assert "2 steps × 2 conditions × 6 sites × 32 float32 = 3.2 KiB" in capsys.readouterr().err
    module = importlib.import_module("activations.capture")
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(StoreError, match=r"needs 3\.2 KiB more, but the disk has 1000 B free"):
        capture(model, tokenizer, text_pairs(2), tmp_path / "b", progress=False)


def test_no_pairs_are_refused(load, tmp_path):
    with pytest.raises(StoreError, match="pairs is empty"):
        capture(*load("llama"), [], tmp_path / "a")


def test_fingerprint_is_flat_text_without_paths(load):
    model, processor = load("qwen3_vl")
    fingerprint = model_fingerprint(model, processor, resolve_sites(model), "hooks")
    assert all(type(text) is str for pair in fingerprint.items() for text in pair)
    assert not any(text.startswith("/") for text in fingerprint.values())
    assert fingerprint["class"] == "Qwen3VLForConditionalGeneration"
    assert fingerprint["dtype"] == "float32"
    assert fingerprint["processor"] == "Qwen3VLProcessor"
    assert fingerprint["sites"].startswith("embed=model.language_model.embed_tokens, block.0=")


def test_fingerprint_tells_image_sizes_apart(load):
    model, processor = load("qwen3_vl")
    sites = resolve_sites(model)
    before = model_fingerprint(model, processor, sites, "hooks")
    assert model_fingerprint(model, processor, sites, "hooks") == before
    size = processor.image_processor.size
    try:
        processor.image_processor.size = type(size)(shortest_edge=1024, longest_edge=9999)
        after = model_fingerprint(model, processor, sites, "hooks")
    finally:
        processor.image_processor.size = size
    assert {k for k in before if before[k] != after[k]} == {"processor_sha256"}
