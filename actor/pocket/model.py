"""The pocket actor's network: the Qwen3-VL architecture at one ten-thousandth of its size."""

from __future__ import annotations

from typing import Any

import torch
from transformers import PreTrainedTokenizerFast, Qwen3VLConfig, Qwen3VLForConditionalGeneration

from actor.pocket.vocabulary import END, IMAGE, LARGEST, MERGE, PAD, PATCH, VISION_END, VISION_START

WIDTH, BLOCKS, HEADS = 96, 6, 3


def build_model(
    tokenizer: PreTrainedTokenizerFast, seed: int = 0
) -> Qwen3VLForConditionalGeneration:
    """A fresh network for the tokenizer's vocabulary, weights drawn from `seed`.

    It begins with what looking a word up in a list is made of. Queries and keys start as the same
    rotation, so that heads look at tokens like the one they stand on; values and outputs start as a
    rotation and half of its inverse, so that heads pass on what they look at; and embeddings start
    large enough for a token passed on to be the likely next one. Places in a picture start as large
    as what is seen there, or the tower would take long to tell where something is.
    """
    ids = {token: int(tokenizer.convert_tokens_to_ids(token)) for token in  # type: ignore[arg-type]
           (END, PAD, IMAGE, "<|video_pad|>", VISION_START, VISION_END)}  # fmt: skip
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": WIDTH,
            "intermediate_size": 2 * WIDTH,
            "num_hidden_layers": BLOCKS,
            "num_attention_heads": HEADS,
            "num_key_value_heads": HEADS,
            "head_dim": WIDTH // HEADS,
            "max_position_embeddings": 1024,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [6, 5, 5],
                "mrope_interleaved": True,
            },
            "pad_token_id": ids[PAD],
            "bos_token_id": None,
            "eos_token_id": ids[END],
        },
        vision_config={
            "depth": 2,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 2,
            "patch_size": PATCH,
            "spatial_merge_size": MERGE,
            "out_hidden_size": WIDTH,
            "num_position_embeddings": (LARGEST // PATCH) ** 2,
            "deepstack_visual_indexes": [0],
        },
        tie_word_embeddings=True,
        image_token_id=ids[IMAGE],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids[VISION_START],
        vision_end_token_id=ids[VISION_END],
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Qwen3VLForConditionalGeneration(config)
        with torch.no_grad():
            for block in model.model.language_model.layers:
                _look_alike_and_copy(block.self_attn)
            model.model.language_model.embed_tokens.weight.mul_(4)
            model.model.visual.pos_embed.weight.mul_(25)
    model.generation_config.eos_token_id = ids[END]
    model.generation_config.pad_token_id = ids[PAD]
    return model


def _look_alike_and_copy(attention: Any) -> None:
    look, copy = (torch.linalg.qr(torch.randn(WIDTH, WIDTH))[0] for _ in range(2))
    attention.q_proj.weight.copy_(look)
    attention.k_proj.weight.copy_(look)
    attention.v_proj.weight.copy_(copy)
    attention.o_proj.weight.copy_(copy.T / 2)
