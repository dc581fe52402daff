"""Sampling: settings, seeds, and the draw of one token.

Convention: a token is drawn by inverse CDF in vocabulary order, with one uniform per token from a
generator that belongs to the sample alone. So sample k depends on its seed and on the prompt,
never on how many other samples there are, and the rounding noise of another batch size changes a
token only where a uniform falls within that noise of a boundary.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Sampling:
    """How answers are drawn.

    Parameters
    ----------
    temperature
        Divides the logits; above 0.
    top_p
        The most probable tokens that together reach this mass are kept; 1 keeps all.
    top_k
        So many most probable tokens are kept, before `top_p`; 0 keeps all.
    max_new_tokens
        Length at which an answer is cut.
    greedy
        The most probable token each time instead of a draw; the other settings are then without
        effect and all samples are equal.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    max_new_tokens: int = 128
    greedy: bool = False

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(
                f"temperature must be above 0, found {self.temperature}; for the most probable "
                "tokens set greedy=True"
            )
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must lie in (0, 1], found {self.top_p}")
        if self.top_k < 0:
            raise ValueError(f"top_k must be 0 (all tokens) or more, found {self.top_k}")
        if self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be at least 1, found {self.max_new_tokens}")


def sample_seed(run_seed: int, step_id: str, k: int) -> int:
    """Seed of sample `k` of a step, the same for every condition, so that samples pair up.

    The first 63 bits of a SHA-256 of the three, which fit a signed 64-bit column.
    """
    digest = hashlib.sha256(json.dumps([run_seed, step_id, k]).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def token_uniforms(seeds: Sequence[int], length: int) -> Tensor:
    """One uniform number in [0, 1) per sample and token, float64, (n_samples, length).

    Row k depends on `seeds[k]` alone, and a longer row begins with the shorter one.
    """
    rows = [np.random.Generator(np.random.PCG64(seed)).random(length) for seed in seeds]
    return torch.from_numpy(np.array(rows).reshape(len(seeds), length))


def probabilities(logits: Tensor, sampling: Sampling) -> Tensor:
    """Token probabilities after temperature, top-k and top-p; float64, (n, vocabulary).

    `logits` has the same shape. Of tokens that tie at the top-k limit, all are kept.
    """
    scaled = logits.double() / sampling.temperature
    if 0 < sampling.top_k < scaled.shape[-1]:
        least = scaled.topk(sampling.top_k).values[:, -1:]
        scaled = scaled.masked_fill(scaled < least, -torch.inf)
    kept = scaled.softmax(dim=-1)
    if sampling.top_p == 1.0:
        return kept
    ordered, order = kept.sort(dim=-1, descending=True)
    # A token is dropped when those before it already reach the mass; the first one never is.
    dropped = ordered.cumsum(dim=-1) - ordered >= sampling.top_p
    kept = kept.masked_fill(dropped.scatter(-1, order, dropped), 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


def draw(logits: Tensor, uniforms: Tensor, sampling: Sampling) -> Tensor:
    """One token per row.

    Parameters
    ----------
    logits
        (n, vocabulary).
    uniforms
        (n,), float64 in [0, 1), on the logits' device.
    sampling
        The settings.

    Returns
    -------
    Tensor
        int64, (n,): the smallest token whose cumulative probability exceeds the row's uniform.
    """
    if sampling.greedy:
        return logits.argmax(dim=-1)
    cumulative = probabilities(logits, sampling).cumsum(dim=-1)
    total = cumulative[:, -1]
    # Kept below the total, so that rounding never points behind the last token with a mass.
    target = torch.minimum(uniforms * total, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cumulative, target[:, None], right=True)[:, 0]
