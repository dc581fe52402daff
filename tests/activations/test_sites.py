import dataclasses

import pytest
import torch
from activation_samples import MODELS, image, user
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from activations import SiteError, Sites, check_sites, encode, resolve_sites
from activations.sites import residual


def prompt_of(name, processor):
    parts = ("Number?",) if name == "llama" else ("Past.", image(1), "What next?")
    return encode(processor, user(*parts)).inputs


@pytest.mark.parametrize("name", MODELS)
def test_sites_are_found_and_proved_by_one_forward(load, name):
    model, processor = load(name)
    sites = resolve_sites(model)
    assert sites.names == ("embed", "block.0", "block.1", "block.2", "block.3", "final_norm")
    assert sites.blocks == ("block.0", "block.1", "block.2", "block.3")
    check_sites(model, prompt_of(name, processor), sites)


def test_sites_of_the_language_model_not_of_the_vision_tower(load):
    model, _ = load("qwen3_vl")
    assert resolve_sites(model)["block.3"] == "model.language_model.layers.3"


@pytest.mark.parametrize(
    ("site", "path"),
    [
        ("embed", "model.layers.0"),
        ("block.1", "model.layers.2"),
        ("block.3", "model.layers.2"),
        ("final_norm", "model.layers.0.input_layernorm"),
    ],
)
def test_a_site_at_the_wrong_module_is_named(load, site, path):
    model, processor = load("llama")
    sites = resolve_sites(model)
    wrong = dataclasses.replace(sites, paths=sites.paths | {site: path})
    with pytest.raises(SiteError, match=site):
        check_sites(model, prompt_of("llama", processor), wrong)


def test_too_few_blocks_are_refused(load):
    model, processor = load("llama")
    paths = {k: v for k, v in resolve_sites(model).items() if k != "block.3"}
    with pytest.raises(SiteError, match="5 hidden states, expected 4"):
        check_sites(model, prompt_of("llama", processor), Sites(paths))


def test_sites_can_be_overridden():
    config = GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=2, n_head=2)
    model = GPT2LMHeadModel(config).eval()
    inputs = {"input_ids": torch.arange(6)[None]}
    with pytest.raises(SiteError, match="embed"):
        check_sites(model, inputs, resolve_sites(model))
    check_sites(model, inputs, resolve_sites(model, embed="transformer.drop"))


def test_unknown_module_of_an_override_is_named(load):
    model, _ = load("llama")
    with pytest.raises(SiteError, match=r"final_norm='model\.nothing'"):
        resolve_sites(model, final_norm="model.nothing")
    with pytest.raises(SiteError, match="expected a ModuleList"):
        resolve_sites(model, blocks="model.norm")


def test_what_the_tree_does_not_tell_is_asked_for(load):
    class Renamed(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.config, self.layers = model.config, model.model.layers

            self.embed, self.last = model.model.embed_tokens, model.model.norm

    model = Renamed(load("llama")[0])
    with pytest.raises(SiteError, match="pass embed="):
        resolve_sites(model)
    with pytest.raises(SiteError, match="pass final_norm="):
        resolve_sites(model, embed="embed")
    sites = resolve_sites(model, embed="embed", final_norm="last")
    assert sites["block.2"] == "layers.2"
    model.more_layers = nn.ModuleList(nn.Identity() for _ in range(4))
    with pytest.raises(SiteError, match=r"2 module lists of 4 .* pass blocks="):
        resolve_sites(model, embed="embed", final_norm="last")


def test_hidden_state_is_unwrapped_from_a_tuple_or_refused():
    state = torch.zeros(2, 3, 4)
    assert residual(state, "embed") is state
    assert residual((state, None), "embed") is state
    for wrong in (torch.zeros(3, 4), (torch.zeros(3, 4),), None, (), {"x": state}):
        with pytest.raises(SiteError, match=r"block\.7"):
            residual(wrong, "block.7")
