"""Sites: the named places of a decoder whose output is kept.

Convention: `embed` is what enters the first decoder block, `block.k` the raw output of decoder block k
(0-based, before any final norm), `final_norm` the output of the norm behind the last block. In
`output_hidden_states` these are entries 0, k + 1 for k < L - 1, and L; the raw output of the last
block is not among them, because transformers replaces it by the normalised one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

EMBED = "embed"
FINAL_NORM = "final_norm"
FINAL_NORM_NAMES = ("norm", "final_layernorm", "final_layer_norm", "ln_f", "final_norm", "norm_f")


class SiteError(ValueError):
    """A site is not where its name says, or its module gives something else than a hidden state."""


@dataclass(frozen=True)
class Sites(Mapping[str, str]):
    """Site name → module path, in the order of the forward pass.

    Parameters
    ----------
    paths
        For each site the dotted path of the module whose output is kept, relative to the model.
    """

    paths: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.paths[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def names(self) -> tuple[str, ...]:
        """All site names in forward order."""
        return tuple(self.paths)

    @property
    def blocks(self) -> tuple[str, ...]:
        """The names `block.0` … `block.L-1`."""
        return tuple(name for name in self.paths if name.startswith("block."))

    def modules(self, model: nn.Module) -> dict[str, nn.Module]:
        """Site name → module of `model`."""
        return {name: model.get_submodule(path) for name, path in self.paths.items()}


def resolve_sites(
    model: nn.Module,
    *,
    embed: str | None = None,
    blocks: str | None = None,
    final_norm: str | None = None,
) -> Sites:
    """Find the sites of a Hugging Face model in its module tree.

    Parameters
    ----------
    model
        A transformers model with a text decoder, alone or behind a vision encoder.
    embed, blocks, final_norm
        Module paths that override what would be found: the module whose output enters block 0, the
        `ModuleList` of decoder blocks, and the norm behind them.

    Returns
    -------
    Sites
        `embed`, `block.0` … `block.L-1`, `final_norm`.

    Raises
    ------
    SiteError
        When a part is not found or not unique; the message says which argument to pass.
    """
    paths = {id(module): path for path, module in model.named_modules()}
    decoder = _decoder(model)
    embed = embed or paths[id(_embeddings(decoder))]
    blocks = blocks or paths[id(_blocks(model, decoder))]
    final_norm = final_norm or paths[id(_final_norm(decoder))]
    block_list = _submodule(model, blocks, "blocks")
    if not isinstance(block_list, nn.ModuleList):
        raise SiteError(
            f"blocks={blocks!r} is a {type(block_list).__name__}, expected a ModuleList"
        )
    for name, path in (("embed", embed), ("final_norm", final_norm)):
        _submodule(model, path, name)
    return Sites(
        {EMBED: embed}
        | {f"block.{k}": f"{blocks}.{k}" for k in range(len(block_list))}
        | {FINAL_NORM: final_norm}
    )


def residual(output: Any, name: str) -> Tensor:
    """The hidden state (batch, sequence, d) in a module's output, which is it or begins with it.

    Raises
    ------
    SiteError
        When the output is anything else.
    """
    state: Any = output[0] if isinstance(output, tuple) and output else output
    if isinstance(state, Tensor) and state.ndim == 3:
        return state
    found = f"shape {tuple(state.shape)}" if isinstance(state, Tensor) else type(output).__name__
    raise SiteError(
        f"site {name} gave {found}, expected a tensor (batch, sequence, d) or a tuple beginning with one"
    )


def _decoder(model: nn.Module) -> nn.Module:
    get_decoder = getattr(model, "get_decoder", None)
    return get_decoder() if get_decoder is not None else model


def _blocks(model: nn.Module, decoder: nn.Module) -> nn.Module:
    config: Any = model.config
    count = config.get_text_config().num_hidden_layers
    lists = [m for m in decoder.children() if isinstance(m, nn.ModuleList) and len(m) == count]
    if len(lists) != 1:
        raise SiteError(
            f"{type(decoder).__name__} has {len(lists)} module lists of {count} decoder blocks, "
            "expected one; pass blocks='path.of.the.list' to resolve_sites"
        )
    return lists[0]


def _final_norm(decoder: nn.Module) -> nn.Module:
    found = [m for name, m in decoder.named_children() if name in FINAL_NORM_NAMES]
    if len(found) != 1:
        raise SiteError(
            f"{type(decoder).__name__} has {len(found)} children named like a final norm "
            f"({', '.join(FINAL_NORM_NAMES)}), expected one; pass final_norm= to resolve_sites"
        )
    return found[0]


def _embeddings(decoder: nn.Module) -> nn.Module:
    get_embeddings = getattr(decoder, "get_input_embeddings", None)
    if get_embeddings is None:
        raise SiteError(
            f"{type(decoder).__name__} does not name its input embeddings; pass embed= to resolve_sites"
        )
    return get_embeddings()


def _submodule(model: nn.Module, path: str, argument: str) -> nn.Module:
    try:
        return model.get_submodule(path)
    except AttributeError:
        raise SiteError(f"{argument}={path!r} is not a module of {type(model).__name__}") from None
