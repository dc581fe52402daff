"""Embeddings of steps on disk, computed once: an activation store with the one site `embedding`.

Convention: conditions are the forms that were embedded (text, image; or instruction, screenshot).
What holds of activation stores holds here: whole blocks, bit for bit the same after an interruption,
refused when the fingerprint differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from tqdm.auto import tqdm

from activations import ActivationStore
from router.embedders import Embedder, Messages

SITE = "embedding"


def embed_steps(
    embedder: Embedder,
    path: str | Path,
    prompts: Callable[[str], Mapping[str, Messages]],
    *,
    step_ids: Sequence[str],
    episode_ids: Sequence[str],
    conditions: Sequence[str] = ("text", "image"),
    about: Mapping[str, str] | None = None,
    block_size: int = 64,
    progress: bool = True,
) -> ActivationStore:
    """Embed every form of every step, or go on where an earlier call was interrupted.

    Parameters
    ----------
    embedder
        What makes the vectors.
    path
        Folder of the store; made if it does not exist. A complete store is opened and returned.
    prompts
        Step → the chat messages of each condition; asked only for steps that are not yet embedded.
    step_ids, episode_ids
        (n_steps,), the steps in the order of the store.
    conditions
        The forms; the first is the store's negative side, the last its positive one.
    about
        What the prompts depend on (options of the rendering); joins the fingerprint, so that
        embeddings of memories rendered otherwise are not taken for these.
    block_size
        Steps of one shard; what an interruption costs at most.

    Raises
    ------
    FingerprintError
        When the store at `path` was made by another embedder, rendering or list of steps.
    """
    store = ActivationStore.open_or_create(
        path,
        step_ids=step_ids,
        episode_ids=episode_ids,
        conditions=conditions,
        sites=(SITE,),
        width=embedder.width,
        dtype="float32",
        fingerprint={**embedder.fingerprint(), **(about or {})},
        positive=conditions[-1],
        negative=conditions[0],
        block_size=block_size,
    )
    with tqdm(total=store.n_steps, desc="embedding", unit="step", disable=not progress) as bar:
        bar.update(store.n_steps - sum(len(_steps(store, block)) for block in store.pending()))
        for block in store.pending():
            _embed_block(embedder, store, block, prompts, bar)
    return store


def _embed_block(
    embedder: Embedder,
    store: ActivationStore,
    block: int,
    prompts: Callable[[str], Mapping[str, Messages]],
    bar: tqdm,
) -> None:
    rows = []
    for step_id in _steps(store, block):
        of_step = prompts(step_id)
        rows.append([embedder.embed(of_step[condition]) for condition in store.conditions])
        bar.update()
    store.append(
        block,
        torch.stack([torch.stack([form.vector for form in row]) for row in rows])[:, :, None],
        prompt_tokens=[[form.prompt_tokens for form in row] for row in rows],
        image_tokens=[[form.image_tokens for form in row] for row in rows],
        last_token_id=[[form.last_token_id for form in row] for row in rows],
        prompt_sha256=[[form.prompt_sha256 for form in row] for row in rows],
    )


def _steps(store: ActivationStore, block: int) -> list[str]:
    return store.step_ids[store.block_rows(block)]
