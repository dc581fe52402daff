"""Capture: the hidden states of any two prompts per sample, from any Hugging Face model, into a store."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from activations.engines import Engine, make_engine
from activations.fingerprint import model_fingerprint
from activations.layout import StoreError
from activations.pairs import Pair, encode_pair
from activations.prefill import prefill
from activations.prompts import EncodedPrompt
from activations.site_check import check_sites
from activations.sites import Sites, resolve_sites
from activations.store import ActivationStore


def capture(
    model: nn.Module,
    processor: Any,
    pairs: Sequence[Pair],
    store_path: str | Path,
    *,
    conditions: Sequence[str] = ("text", "image"),
    positive: str | None = None,
    negative: str | None = None,
    sites: Sites | None = None,
    engine: str = "nnsight",
    block_size: int = 64,
    chat_template_kwargs: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> ActivationStore:
    """Run every prompt once and keep the hidden states of its last token at every site.

    A run that was interrupted is resumed by the same call; blocks that are done are not run again.

    Parameters
    ----------
    model, processor
        A transformers model and its processor, or its tokenizer if it is text-only.
    pairs
        The samples, in the order of the store.
    store_path
        Folder of the store; made if it does not exist.
    conditions
        Which prompts of a pair are run, and their order in the store.
    positive, negative
        Conditions of the shift positive − negative; the second and the first by default.
    sites
        Where states are taken; all that `resolve_sites` finds by default. Checked by one forward.
    engine
        "nnsight" or "hooks".
    block_size
        Samples of one shard; what an interruption costs at most.
    chat_template_kwargs
        Passed to the chat template, such as {"enable_thinking": False}.
    progress
        Show the disk needed and a progress bar on the standard error stream.

    Returns
    -------
    ActivationStore
        Complete.

    Raises
    ------
    PromptError
        When prompts of a step cannot be compared, naming the step.
    FingerprintError
        When the store exists and was made by another model, processor, setting or list of pairs.
    StoreError
        When the disk is too small or a state is not finite.
    SiteError
        When the sites are not what their names say.
    """
    if not pairs:
        raise StoreError("pairs is empty, nothing to capture")
    template_kwargs = dict(chat_template_kwargs or {})
    first = encode_pair(processor, pairs[0], conditions, **template_kwargs)
    sites = sites or resolve_sites(model)
    check_sites(model, first[0].inputs, sites)
    is_bfloat16 = next(model.parameters()).dtype == torch.bfloat16
    store = ActivationStore.open_or_create(
        store_path,
        step_ids=[pair.step_id for pair in pairs],
        episode_ids=[pair.episode_id for pair in pairs],
        conditions=conditions,
        sites=sites.names,
        width=_width(model),
        dtype="bfloat16" if is_bfloat16 else "float32",
        fingerprint=model_fingerprint(model, processor, sites, engine, template_kwargs),
        positive=positive or conditions[-1],
        negative=negative or conditions[0],
        block_size=block_size,
    )
    check_disk(store, progress=progress)
    runner = make_engine(model, sites, engine)
    n_done = store.n_steps - sum(_length(store.block_rows(block)) for block in store.pending())
    with tqdm(total=store.n_steps, initial=n_done, unit="step", disable=not progress) as bar:
        for block in store.pending():
            encoded, states = [], []
            for pair in pairs[store.block_rows(block)]:
                prompts = encode_pair(processor, pair, conditions, **template_kwargs)
                states.append(_states(model, prompts, sites, runner))
                encoded.append(prompts)
                bar.update()
            append_prompts(store, block, torch.stack(states), encoded)
    return store


def append_prompts(
    store: ActivationStore,
    block: int,
    states: Tensor,
    encoded: Sequence[Sequence[EncodedPrompt]],
) -> None:
    """Append a block given its states and, for each step, the encoded prompt of each condition."""
    store.append(
        block,
        states,
        prompt_tokens=[[prompt.prompt_tokens for prompt in step] for step in encoded],
        image_tokens=[[prompt.image_tokens for prompt in step] for step in encoded],
        last_token_id=[[prompt.last_token_id for prompt in step] for step in encoded],
        prompt_sha256=[[prompt.prompt_sha256 for prompt in step] for step in encoded],
    )


def check_disk(store: ActivationStore, progress: bool = True) -> None:
    """Say what a store will take on disk, and refuse to begin when the disk has less.

    Raises
    ------
    StoreError
        Naming what is needed and what is free.
    """
    needed = store.bytes_needed * len(store.pending()) // store.n_blocks
    free = shutil.disk_usage(store.path).free
    if progress:
        print(
            f"{store.path}: {store.n_steps} steps × {len(store.conditions)} conditions × "
            f"{len(store.sites)} sites × {store.width} {store.dtype} = {_readable(store.bytes_needed)}"
            f" ({_readable(needed)} to be written, {_readable(free)} free)",
            file=sys.stderr,
        )
    if needed > free:
        raise StoreError(
            f"{store.path} needs {_readable(needed)} more, but the disk has {_readable(free)} free; "
            "free some space or choose another path"
        )


def _states(
    model: nn.Module, prompts: Sequence[EncodedPrompt], sites: Sites, engine: Engine
) -> Tensor:
    """(n_conditions, n_sites, d), one prompt at a time: batches need padding, which not every model bears."""
    runs = [prefill(model, prompt.inputs, sites, engine, use_cache=False) for prompt in prompts]
    return torch.cat([run.states for run in runs])


def _width(model: nn.Module) -> int:
    config: Any = model.config
    return config.get_text_config().hidden_size


def _length(rows: slice) -> int:
    return rows.stop - rows.start


def _readable(n_bytes: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.1f} TiB"
