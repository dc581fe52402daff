"""Samples for tests of activations: pictures, pairs of prompts, and stores of random states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from activations import ActivationStore, Pair

IMAGE_MODELS = ("qwen3_vl", "qwen3_5", "qwen2_vl")
MODELS = (*IMAGE_MODELS, "llama")


def image(seed: int, size: tuple[int, int] = (64, 48)) -> Image.Image:
    """A picture of noise."""
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def user(*parts: str | Image.Image) -> list[dict[str, Any]]:
    """Messages of one user turn."""
    content = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image", "image": part}
        for part in parts
    ]
    return [{"role": "user", "content": content}]


def image_pairs(n: int) -> list[Pair]:
    """Pairs of a text and an image memory about the same screen; two steps an episode."""
    return [
        Pair(
            f"step-{i}",
            f"episode-{i // 2}",
            {
                "text": user(f"Past: clicked item {i}.", image(i), "What next?"),
                "image": user(image(100 + i, (40, 40)), image(i), "What next?"),
            },
        )
        for i in range(n)
    ]


def text_pairs(n: int) -> list[Pair]:
    """Pairs of two texts."""
    return [
        Pair(
            f"step-{i}",
            f"episode-{i // 2}",
            {"text": user(f"Number {i}?"), "image": user(f"What is the number {i}?")},
        )
        for i in range(n)
    ]


STEPS, BLOCK, WIDTH = 10, 4, 8
CONDITIONS, SITES = ("text", "image"), ("embed", "block.0", "final_norm")


def make_store(path: Any, **changes: Any) -> ActivationStore:
    """An empty store of 10 steps in blocks of 4."""
    fields: dict[str, Any] = {
        "step_ids": [f"step-{i}" for i in range(STEPS)],
        "episode_ids": [f"episode-{i // 2}" for i in range(STEPS)],
        "conditions": CONDITIONS,
        "sites": SITES,
        "width": WIDTH,
        "dtype": "bfloat16",
        "fingerprint": {"model": "tiny", "revision": "1", "version.torch": "2"},
        "block_size": BLOCK,
    }
    return ActivationStore.create(path, **fields | changes)


def block_states(store: ActivationStore, block: int) -> torch.Tensor:
    """Random states of a block that depend on its number alone, in the store's dtype."""
    rows = store.block_rows(block)
    shape = (rows.stop - rows.start, len(store.conditions), len(store.sites), store.width)
    states = torch.randn(shape, generator=torch.Generator().manual_seed(block))
    return states.bfloat16() if store.dtype == "bfloat16" else states


def append_block(store: ActivationStore, block: int, states: Any = None) -> Any:
    """Append `states` (random by default) with made-up facts about the prompts."""
    states = block_states(store, block) if states is None else states
    shape = states.shape[:2]
    tokens = 100 * block + np.arange(np.prod(shape)).reshape(shape)
    store.append(
        block,
        states,
        prompt_tokens=tokens,
        image_tokens=tokens // 2,
        last_token_id=np.full(shape, 7),
        prompt_sha256=np.array([[f"{n:064x}" for n in row] for row in tokens]),
    )
    return states


def fill(store: ActivationStore, blocks: Sequence[int] | None = None) -> torch.Tensor:
    """Append the given blocks, all pending ones by default; their states one after another."""
    return torch.cat([append_block(store, b) for b in (blocks or store.pending())])
