"""Decoding: the K answers to one prompt, from the cache of its one prefill."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from actor.sampling import Sampling, draw, token_uniforms


def decode(
    model: PreTrainedModel,
    logits: Tensor,
    cache: Any,
    *,
    position: int,
    seeds: Sequence[int],
    sampling: Sampling,
    stop_ids: Collection[int],
) -> list[list[int]]:
    """Continue one prompt once per seed, all samples in one batch.

    Parameters
    ----------
    model
        A transformers model in eval mode.
    logits
        (1, vocabulary), at the last prompt token.
    cache
        The prompt's cache; it is copied, so that it can be used again.
    position
        Rotary position of the first new token: the prompt's length, plus the model's rope delta
        where the prompt holds images.
    seeds
        One per sample.
    sampling
        The settings.
    stop_ids
        Tokens that end an answer; not part of it.

    Returns
    -------
    list of list of int
        The new tokens of each sample. One that ends early leaves the batch.
    """
    drawn = seeds[:1] if sampling.greedy else seeds  # greedy samples are equal, one is enough
    device = _drawing_device(logits)
    uniforms = token_uniforms(drawn, sampling.max_new_tokens).to(device)
    step = _Step(model, cache, rows=len(drawn))
    answers: list[list[int]] = [[] for _ in drawn]
    alive = list(range(len(drawn)))
    logits = logits.expand(len(alive), -1)
    for length in range(sampling.max_new_tokens):
        tokens = draw(logits.to(device), uniforms[alive, length], sampling)
        going = []
        for row, token in enumerate(tokens.tolist()):
            if token not in stop_ids:
                answers[alive[row]].append(token)
                going.append(row)
        if not going or length + 1 == sampling.max_new_tokens:
            break
        if len(going) < len(alive):
            tokens = tokens[going]
            alive = [alive[row] for row in going]
            step.keep(going)
        logits = step(tokens, position + length)
    return answers * len(seeds) if sampling.greedy else answers


class _Step:
    """One forward for one new token per row, on a copy of the prompt's cache."""

    def __init__(self, model: PreTrainedModel, cache: Any, rows: int) -> None:
        self.model = model
        self.device = model.device
        parameters = inspect.signature(model.forward).parameters
        # transformers has renamed the argument from past_key_values to cache.
        self.cache_name = "cache" if "cache" in parameters else "past_key_values"
        self.takes_positions = "position_ids" in parameters
        self.cache = _unshared(cache)
        self.keep([0] * rows)

    def keep(self, rows: Sequence[int]) -> None:
        """Make the batch of these rows of it; reordering works for every kind of cache."""
        self.cache.reorder_cache(torch.tensor(rows, device=self.device))

    def __call__(self, tokens: Tensor, position: int) -> Tensor:
        inputs: dict[str, Any] = {self.cache_name: self.cache, "use_cache": True}
        ids = tokens.to(self.device)[:, None]
        if self.takes_positions:
            # Told and not left to the model, which would use the rope delta of the last prompt
            # with an image even if this one has none.
            inputs["position_ids"] = torch.full_like(ids, position)
        with torch.no_grad():
            return self.model(input_ids=ids, **inputs).logits[:, -1].float()


def _unshared(cache: Any) -> Any:
    """A cache that shares tensors with `cache`, but no container of them.

    Reordering puts new tensors into the containers, so that what is then written into them leaves
    `cache` as it was; much cheaper than a deep copy.
    """
    fork = copy.copy(cache)
    fork.layers = [copy.copy(layer) for layer in cache.layers]
    for layer in fork.layers:
        for name, value in vars(layer).items():
            if isinstance(value, dict):  # the states of linear attention
                setattr(layer, name, dict(value))
    return fork


def _drawing_device(logits: Tensor) -> torch.device:
    """Where tokens are drawn: with the logits, but for devices that lack float64."""
    return torch.device("cpu") if logits.device.type == "mps" else logits.device
