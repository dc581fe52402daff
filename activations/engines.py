"""Engines: two ways to run a model and keep the last prompt token's hidden state at each site.

`nnsight` (one trace) and `hooks` (plain PyTorch forward hooks) give the same tensors; only the wanted
position leaves the hook.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import nnsight
import torch
from torch import Tensor, nn

from activations.sites import Sites, residual
from activations.tokens import last_token_index


class Engine(Protocol):
    """Runs a model and keeps the last prompt token's hidden state at each site."""

    def forward(self, inputs: Mapping[str, Any]) -> tuple[dict[str, Tensor], Any]:
        """States by site name, each (batch, d) on its module's device, and the model's output."""
        ...


class HooksEngine:
    """Engine made of plain PyTorch forward hooks."""

    def __init__(self, model: nn.Module, sites: Sites) -> None:
        self.model = model
        self.modules = sites.modules(model)

    def forward(self, inputs: Mapping[str, Any]) -> tuple[dict[str, Tensor], Any]:
        last = last_token_index(inputs["attention_mask"])
        states: dict[str, Tensor] = {}

        def keep(name: str) -> Any:
            def hook(module: nn.Module, args: Any, output: Any) -> None:
                states[name] = at_positions(residual(output, name), last)

            return hook

        handles = [m.register_forward_hook(keep(name)) for name, m in self.modules.items()]
        try:
            with torch.no_grad():
                outputs = self.model(**inputs)
        finally:
            for handle in handles:
                handle.remove()
        return states, outputs


class NNsightEngine:
    """Engine made of one nnsight trace. Wrapping a model takes milliseconds: keep the engine."""

    def __init__(self, model: nn.Module, sites: Sites) -> None:
        self.model = nnsight.NNsight(model)
        self.sites = sites

    def forward(self, inputs: Mapping[str, Any]) -> tuple[dict[str, Tensor], Any]:
        model, sites = self.model, self.sites
        last = last_token_index(inputs["attention_mask"])
        with torch.no_grad(), model.trace(**inputs):
            # nnsight wants modules in forward order, which is the order of the sites.
            states = nnsight.save(
                {
                    name: at_positions(residual(model.get(path).output, name), last)
                    for name, path in sites.items()
                }
            )
            outputs = nnsight.save(model.output)
        return states, outputs


ENGINES: dict[str, type[HooksEngine] | type[NNsightEngine]] = {
    "nnsight": NNsightEngine,
    "hooks": HooksEngine,
}


def make_engine(model: nn.Module, sites: Sites, name: str = "nnsight") -> Engine:
    """The engine called `name` ("nnsight" or "hooks") for `model`, to be used for many prefills."""
    if name not in ENGINES:
        raise ValueError(f"engine {name!r} is not one of {', '.join(ENGINES)}")
    return ENGINES[name](model, sites)


def on_device(model: nn.Module, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """`inputs` with every tensor on the model's device, and an attention mask in any case."""
    device = next(model.parameters()).device
    moved = {k: v.to(device) if isinstance(v, Tensor) else v for k, v in inputs.items()}
    moved.setdefault("attention_mask", torch.ones_like(moved["input_ids"]))
    return moved


def at_positions(values: Tensor, index: Tensor) -> Tensor:
    """(batch, sequence, x) → (batch, x): row i at position `index[i]`."""
    index = index.to(values.device)
    return values[torch.arange(len(index), device=values.device), index]
