import pytest
import torch
from activation_samples import MODELS, image, user

from activations import check_last_tokens, encode, make_engine, prefill, resolve_sites
from activations.engines import ENGINES

PROMPTS = (("Past: clicked OK.", "What next?"), ("A much longer past, with words.", "What next?"))


def inputs_of(name, processor, parts=PROMPTS[0], seed=1):
    first, last = parts
    return encode(processor, user(first, *(() if name == "llama" else (image(seed),)), last)).inputs


def padded(name, processor, side):
    """Both prompts in one batch, padded on `side`, as a processor would make it."""
    prompts = [inputs_of(name, processor, parts, seed) for seed, parts in enumerate(PROMPTS)]
    length = max(p["input_ids"].shape[1] for p in prompts)
    batch = {}
    for key in prompts[0]:
        values = [p[key] for p in prompts]
        if values[0].shape[-1] != length and key in (
            "input_ids",
            "attention_mask",
            "mm_token_type_ids",
        ):
            pads = [length - v.shape[1] for v in values]
            values = [
                torch.nn.functional.pad(v, (n, 0) if side == "left" else (0, n))
                for v, n in zip(values, pads)
            ]
        batch[key] = torch.cat(values)
    return batch, prompts


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MODELS)
def test_states_equal_output_hidden_states_at_the_last_token(load, name, engine):
    model, processor = load(name)
    inputs = inputs_of(name, processor)
    sites = resolve_sites(model)
    result = prefill(model, inputs, sites, engine)
    with torch.no_grad():
        outputs = model(**inputs, output_hidden_states=True)
    hidden = torch.stack([h[:, -1] for h in outputs.hidden_states], dim=1)
    blocks = len(sites.blocks)
    assert result.states.shape == (1, blocks + 2, hidden.shape[-1])
    assert torch.equal(result.states[:, :blocks], hidden[:, :blocks])
    assert torch.equal(result.states[:, -1], hidden[:, -1])
    assert not torch.equal(result.states[:, -2], hidden[:, -1])
    torch.testing.assert_close(result.logits, outputs.logits[:, -1])
    assert result.logits.dtype == torch.float32
    assert result.last_index.tolist() == [inputs["input_ids"].shape[1] - 1]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MODELS)
def test_padding_on_either_side_changes_nothing(load, name, engine, side):
    model, processor = load(name)
    sites = resolve_sites(model)
    batch, prompts = padded(name, processor, side)
    check_last_tokens(
        batch["input_ids"], batch["attention_mask"], [p["input_ids"][0].tolist() for p in prompts]
    )
    together = prefill(model, batch, sites, engine)
    for row, prompt in enumerate(prompts):
        alone = prefill(model, prompt, sites, engine)
        torch.testing.assert_close(together.states[row], alone.states[0], rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(together.logits[row], alone.logits[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_engines_give_equal_tensors(load, name):
    model, processor = load(name)
    sites = resolve_sites(model)
    inputs = inputs_of(name, processor)
    one, other = (prefill(model, inputs, sites, engine) for engine in ("nnsight", "hooks"))
    assert torch.equal(one.states, other.states)
    assert torch.equal(one.logits, other.logits)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MODELS)
def test_cache_continues_the_prompt(load, name, engine):
    model, processor = load(name)
    inputs = inputs_of(name, processor)
    result = prefill(model, inputs, resolve_sites(model), engine)
    assert result.cache.get_seq_length() == inputs["input_ids"].shape[1]
    assert prefill(model, inputs, resolve_sites(model), engine, use_cache=False).cache is None


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_serves_many_prompts_and_leaves_no_hook(load, engine):
    model, processor = load("qwen3_vl")
    sites = resolve_sites(model)
    prefill(model, inputs_of("qwen3_vl", processor), sites, engine)
    before = [len(module._forward_hooks) for module in model.modules()]
    runner = make_engine(model, sites, engine)
    for seed in range(3):
        inputs = inputs_of("qwen3_vl", processor, seed=seed)
        kept = prefill(model, inputs, sites, runner).states
        assert torch.equal(kept, prefill(model, inputs, sites, engine).states)
    assert [len(module._forward_hooks) for module in model.modules()] == before


@pytest.mark.parametrize("engine", ENGINES)
def test_only_the_last_position_meets_the_vocabulary(load, engine):
    model, processor = load("llama")
    lengths = []
    handle = model.lm_head.register_forward_hook(lambda m, a, out: lengths.append(out.shape[1]))
    try:
        prefill(model, inputs_of("llama", processor), resolve_sites(model), engine)
    finally:
        handle.remove()
    assert lengths == [1]


def test_states_keep_the_dtype_of_the_model(load):
    model, processor = load("llama")
    half = type(model)(model.config).bfloat16().eval()
    inputs = inputs_of("llama", processor)
    result = prefill(half, inputs, resolve_sites(half))
    assert result.states.dtype == torch.bfloat16
    assert result.logits.dtype == torch.float32


def test_inputs_may_lack_a_mask(load):
    model, processor = load("llama")
    inputs = inputs_of("llama", processor)
    bare = {"input_ids": inputs["input_ids"]}
    sites = resolve_sites(model)
    assert torch.equal(prefill(model, bare, sites).states, prefill(model, inputs, sites).states)


def test_training_mode_and_unknown_engine_are_refused(load):
    model, processor = load("llama")
    inputs, sites = inputs_of("llama", processor), resolve_sites(model)
    with pytest.raises(ValueError, match="'numpy' is not one of nnsight, hooks"):
        prefill(model, inputs, sites, engine="numpy")
    with pytest.raises(ValueError, match=r"model.eval\(\)"):
        prefill(type(model)(model.config).train(), inputs, sites)
