"""Proof by one forward that the sites of a model are what their names say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from activations.engines import HooksEngine, at_positions, on_device
from activations.sites import EMBED, FINAL_NORM, SiteError, Sites
from activations.tokens import last_token_index


def check_sites(model: nn.Module, inputs: Mapping[str, Any], sites: Sites) -> None:
    """Prove the naming by one forward with `output_hidden_states`.

    Compared at the last prompt token: `embed` and `block.k` (k < L - 1) with the entries of
    `hidden_states` that they are named after, `final_norm` with the last entry, and the model's
    final norm applied to `block.L-1` with the last entry.

    Parameters
    ----------
    model
        The model, in eval mode.
    inputs
        One processor output, tensors with a batch axis.
    sites
        What `resolve_sites` gave.

    Raises
    ------
    SiteError
        Naming the first site that disagrees.
    """
    inputs = on_device(model, inputs) | {"output_hidden_states": True, "use_cache": False}
    states, outputs = HooksEngine(model, sites).forward(inputs)
    last = last_token_index(inputs["attention_mask"])
    hidden = [at_positions(state, last) for state in outputs.hidden_states]
    blocks = sites.blocks
    if len(hidden) != len(blocks) + 1:
        raise SiteError(
            f"the model returns {len(hidden)} hidden states, expected {len(blocks) + 1} for "
            f"{len(blocks)} blocks; pass blocks= to resolve_sites"
        )
    for k, name in enumerate((EMBED, *blocks[:-1], FINAL_NORM)):
        if not torch.equal(states[name].cpu(), hidden[k].cpu()):
            raise SiteError(
                f"the output of {sites[name]!r} is not {name}: it differs from entry {k} of the "
                "model's hidden states; pass the right module path to resolve_sites"
            )
    norm = model.get_submodule(sites[FINAL_NORM])
    with torch.no_grad():
        normed = norm(states[blocks[-1]].to(next(norm.parameters()).device))
    if not _close(normed, hidden[-1]):
        raise SiteError(
            f"{sites[FINAL_NORM]!r} applied to {blocks[-1]} is not the last hidden state of the "
            "model; pass final_norm= or blocks= to resolve_sites"
        )


def _close(one: Tensor, other: Tensor) -> bool:
    tolerance = 16 * torch.finfo(other.dtype).eps
    one, other = one.float().cpu(), other.float().cpu()
    return torch.allclose(one, other, rtol=tolerance, atol=tolerance * float(other.abs().max()))
