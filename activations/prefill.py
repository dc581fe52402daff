"""One forward over a prompt that keeps the hidden states of its last token at every site.

Convention: inside the hook only the wanted position is kept, and all sites go to the CPU in one
copy. The engines that place the hooks are in `engines`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from activations.engines import Engine, at_positions, make_engine, on_device
from activations.sites import Sites
from activations.tokens import last_token_index


@dataclass(frozen=True)
class Prefill:
    """What one forward over a batch of prompts gives.

    Parameters
    ----------
    states
        (batch, n_sites, d), on the CPU, in the model's dtype.
    logits
        (batch, vocabulary), float32, on the model's device, at the last prompt token.
    cache
        The model's key-value cache, or None when `use_cache=False`.
    last_index
        (batch,), position of the last prompt token.
    """

    states: Tensor
    logits: Tensor
    cache: Any
    last_index: Tensor


def prefill(
    model: nn.Module,
    inputs: Mapping[str, Any],
    sites: Sites,
    engine: str | Engine = "nnsight",
    use_cache: bool = True,
) -> Prefill:
    """Run one forward over a batch of prompts.

    Parameters
    ----------
    model
        A transformers model in eval mode.
    inputs
        The processor's whole output (`input_ids`, `attention_mask`, and for images `pixel_values`,
        `image_grid_thw`, `mm_token_type_ids`), padded on either side.
    sites
        Where to keep hidden states.
    engine
        "nnsight", "hooks", or an engine from `make_engine`, which spares wrapping the model anew.
    use_cache
        Whether the key-value cache is made, for sampling from this prompt.

    Returns
    -------
    Prefill

    Raises
    ------
    ValueError
        When the model is in training mode, where dropout would change the states.
    """
    if model.training:
        raise ValueError("the model is in training mode; call model.eval() before a prefill")
    if isinstance(engine, str):
        engine = make_engine(model, sites, engine)
    inputs = on_device(model, inputs)
    last = last_token_index(inputs["attention_mask"])
    # Positions whose logits are wanted: with right padding the last position is not the last token.
    kept, row_of = torch.unique(last, return_inverse=True)
    options: dict[str, Any] = {"use_cache": use_cache}
    if "logits_to_keep" in inspect.signature(model.forward).parameters:
        options["logits_to_keep"] = kept
    else:
        row_of = last
    states, outputs = engine.forward(inputs | options)
    return Prefill(
        states=_to_cpu(states),
        logits=at_positions(outputs.logits, row_of).float(),
        cache=_cache(outputs) if use_cache else None,
        last_index=last.cpu(),
    )


def _to_cpu(states: Mapping[str, Tensor]) -> Tensor:
    values = list(states.values())
    return torch.stack([value.to(values[0].device) for value in values], dim=1).cpu()


def _cache(outputs: Any) -> Any:
    # transformers has renamed the field from past_key_values to cache.
    cache = getattr(outputs, "cache", None)
    return cache if cache is not None else getattr(outputs, "past_key_values", None)
