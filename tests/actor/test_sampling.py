"""Seeds, uniforms and the draw of a token."""

import hashlib

import pytest
import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from actor import Sampling, sample_seed
from actor.sampling import draw, probabilities, token_uniforms

LOGITS = torch.randn(5, 40, generator=torch.Generator().manual_seed(0)) * 3


def test_sample_seed_is_the_first_63_bits_of_a_sha256():
    digest = hashlib.sha256(b'[3, "step", 2]').digest()
    assert sample_seed(3, "step", 2) == int.from_bytes(digest[:8], "big") // 2
    assert sample_seed(3, "step", 2) < 2**63


def test_sample_seeds_differ_by_run_step_and_k():
    seeds = {sample_seed(r, s, k) for r in range(3) for s in ("a", "b", "a1") for k in range(7)}
    assert len(seeds) == 63


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"temperature": 0.0}, "greedy=True"),
        ({"temperature": -1.0}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": 0.0}, "top_p"),
        ({"top_p": 1.5}, "top_p"),
        ({"top_k": -1}, "top_k"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(settings, field):
    with pytest.raises(ValueError, match=field):
        Sampling(**settings)


def test_uniforms_of_a_sample_depend_on_its_seed_alone_and_longer_rows_begin_with_shorter_ones():
    many = token_uniforms([5, 9, 2**62], 20)
    assert many.dtype == torch.float64
    assert torch.equal(token_uniforms([9], 8)[0], many[1, :8])
    assert 0 <= many.min() < many.max() < 1


@pytest.mark.parametrize(
    ("sampling", "warpers"),
    [
        (Sampling(), []),
        (Sampling(temperature=0.6), [TemperatureLogitsWarper(0.6)]),
        (Sampling(top_k=5), [TopKLogitsWarper(5)]),
        (Sampling(top_k=100), []),
        (Sampling(top_p=0.8), [TopPLogitsWarper(0.8)]),
        (Sampling(top_p=1e-9), [TopPLogitsWarper(1e-9)]),
        (
            Sampling(temperature=1.7, top_k=12, top_p=0.9),
            [TemperatureLogitsWarper(1.7), TopKLogitsWarper(12), TopPLogitsWarper(0.9)],
        ),
    ],
)
def test_probabilities_equal_those_of_transformers_warpers(sampling, warpers):
    scores = LOGITS.double()
    for warper in warpers:
        scores = warper(None, scores)
    torch.testing.assert_close(probabilities(LOGITS, sampling), scores.softmax(dim=-1))


def test_draw_inverts_the_cumulative_distribution():
    logits = torch.tensor([0.2, 0.5, 0.3]).log().expand(6, -1)
    uniforms = torch.tensor([0.0, 0.19, 0.21, 0.69, 0.71, 1 - 2**-53], dtype=torch.float64)
    assert draw(logits, uniforms, Sampling()).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-53])
def test_draw_never_gives_a_token_that_was_cut(uniform):
    sampling = Sampling(top_k=3)
    uniforms = torch.full((5,), uniform, dtype=torch.float64)
    tokens = draw(LOGITS, uniforms, sampling)
    assert (probabilities(LOGITS, sampling)[torch.arange(5), tokens] > 0).all()


def test_draws_follow_the_probabilities():
    logits = torch.tensor([0.2, 0.5, 0.3]).log().expand(20_000, -1)
    tokens = draw(logits, token_uniforms([1], 20_000)[0], Sampling())
    shares = torch.bincount(tokens, minlength=3) / 20_000
    torch.testing.assert_close(shares, torch.tensor([0.2, 0.5, 0.3]), atol=0.015, rtol=0)


def test_greedy_takes_the_most_probable_token_whatever_the_uniform():
    tokens = draw(LOGITS, torch.rand(5, dtype=torch.float64), Sampling(greedy=True, top_k=1))
    assert torch.equal(tokens, LOGITS.argmax(dim=-1))
