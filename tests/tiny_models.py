"""Tiny random checkpoints of real architectures, built on the spot and saved like any other.

Each builder writes a model and its processor (or tokenizer) into a folder and returns the folder, so
that `AutoModelForImageTextToText` / `AutoModelForCausalLM` and `AutoProcessor` / `AutoTokenizer` load
it without a network. Weights depend on `seed` alone. Text is tokenised byte by byte.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen2VLImageProcessor,
    Qwen2VLProcessor,
    Qwen3_5Config,
    Qwen3_5ForConditionalGeneration,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
)
from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor
from transformers.models.qwen3_vl.video_processing_qwen3_vl import Qwen3VLVideoProcessor

SPECIAL_TOKENS = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
    "<|box_start|>",
    "<|box_end|>",
)
PLAIN_ADDED_TOKENS = ("<think>", "</think>", "<tool_call>", "</tool_call>")
BLOCKS = 4
WIDTH = 32

CHAT_TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message.role + '\\n' }}
{%- if message.content is string -%}{{ message.content }}
{%- else -%}
{%- for part in message.content -%}
{%- if part.type == 'image' -%}<|vision_start|><|image_pad|><|vision_end|>
{%- elif part.type == 'text' -%}{{ part.text }}
{%- endif -%}
{%- endfor -%}
{%- endif -%}
{{ '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}
{%- endif -%}"""

THINKING_CHAT_TEMPLATE = (
    CHAT_TEMPLATE.removesuffix("{%- endif -%}")
    + """
{%- if enable_thinking is defined and enable_thinking is false -%}{{ '<think>\\n\\n</think>\\n\\n' }}
{%- else -%}{{ '<think>\\n' }}
{%- endif -%}
{%- endif -%}"""
)


def tiny_qwen3_vl(folder: str | Path, seed: int = 0) -> Path:
    """A Qwen3-VL checkpoint: dense attention, DeepStack vision features."""
    tokenizer = _tokenizer(CHAT_TEMPLATE)
    config = Qwen3VLConfig(
        text_config=_text_config(
            tokenizer,
            head_dim=16,
            rope_parameters={
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
            },
        ),
        vision_config=_vision_config(patch_size=16, deepstack_visual_indexes=[0]),
        tie_word_embeddings=True,
        **_vision_token_ids(tokenizer),
    )
    processor = Qwen3VLProcessor(
        image_processor=_image_processor(patch_size=16),
        tokenizer=tokenizer,
        video_processor=Qwen3VLVideoProcessor(patch_size=16),
        chat_template=CHAT_TEMPLATE,
    )
    return _save(folder, Qwen3VLForConditionalGeneration, config, processor, seed)


def tiny_qwen3_5(folder: str | Path, seed: int = 0) -> Path:
    """A Qwen3.5 checkpoint: three gated-delta-net blocks, then one with full attention."""
    tokenizer = _tokenizer(THINKING_CHAT_TEMPLATE)
    config = Qwen3_5Config(
        text_config=_text_config(
            tokenizer,
            head_dim=16,
            linear_key_head_dim=8,
            linear_value_head_dim=8,
            linear_num_key_heads=2,
            linear_num_value_heads=4,
            rope_parameters={
                "rope_type": "default",
                "rope_theta": 10000.0,
                "partial_rotary_factor": 0.5,
                "mrope_section": [2, 1, 1],
                "mrope_interleaved": True,
            },
        ),
        vision_config=_vision_config(patch_size=16),
        tie_word_embeddings=True,
        **_vision_token_ids(tokenizer),
    )
    processor = Qwen3VLProcessor(
        image_processor=_image_processor(patch_size=16),
        tokenizer=tokenizer,
        video_processor=Qwen3VLVideoProcessor(patch_size=16),
        chat_template=THINKING_CHAT_TEMPLATE,
    )
    return _save(folder, Qwen3_5ForConditionalGeneration, config, processor, seed)


def tiny_qwen2_vl(folder: str | Path, seed: int = 0) -> Path:
    """A Qwen2-VL checkpoint, the architecture of UI-TARS-7B-SFT."""
    tokenizer = _tokenizer(CHAT_TEMPLATE)
    vision = _vision_config(patch_size=14, embed_dim=16, mlp_ratio=2) | {"hidden_size": WIDTH}
    config = Qwen2VLConfig(
        text_config=_text_config(
            tokenizer,
            rope_parameters={
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [4, 2, 2],
            },
        ),
        vision_config=vision,
        tie_word_embeddings=True,
        **_vision_token_ids(tokenizer),
    )
    processor = Qwen2VLProcessor(
        image_processor=_image_processor(patch_size=14),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(patch_size=14),
        chat_template=CHAT_TEMPLATE,
    )
    return _save(folder, Qwen2VLForConditionalGeneration, config, processor, seed)


def tiny_llama(folder: str | Path, seed: int = 0) -> Path:
    """A text-only Llama-style checkpoint with a tokenizer."""
    tokenizer = _tokenizer(CHAT_TEMPLATE)
    config = LlamaConfig(**_text_config(tokenizer), tie_word_embeddings=True)
    return _save(folder, LlamaForCausalLM, config, tokenizer, seed)


def _text_config(tokenizer: PreTrainedTokenizerFast, **more: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "num_hidden_layers": BLOCKS,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "max_position_embeddings": 8192,
        # Larger than the usual 0.02, so that what the prompts differ in reaches the last token.
        "initializer_range": 0.2,
        "pad_token_id": tokenizer.convert_tokens_to_ids("<|endoftext|>"),
        "bos_token_id": None,
        "eos_token_id": tokenizer.convert_tokens_to_ids("<|im_end|>"),
    } | more


def _vision_config(patch_size: int, **more: Any) -> dict[str, Any]:
    return {
        "depth": 1,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_heads": 2,
        "patch_size": patch_size,
        "out_hidden_size": WIDTH,
        "num_position_embeddings": 64,
        "initializer_range": 0.2,
    } | more


def _vision_token_ids(tokenizer: PreTrainedTokenizerFast) -> dict[str, int]:
    ids = {
        "image_token_id": "<|image_pad|>",
        "video_token_id": "<|video_pad|>",
        "vision_start_token_id": "<|vision_start|>",
        "vision_end_token_id": "<|vision_end|>",
    }
    return {name: int(tokenizer.convert_tokens_to_ids(token)) for name, token in ids.items()}  # type: ignore[arg-type]


def _image_processor(patch_size: int) -> Qwen2VLImageProcessor:
    factor = 2 * patch_size
    return Qwen2VLImageProcessor(
        patch_size=patch_size,
        size={"shortest_edge": factor**2, "longest_edge": 16 * factor**2},
    )


def _tokenizer(chat_template: str) -> PreTrainedTokenizerFast:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE(vocab={byte: i for i, byte in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(t, normalized=False) for t in SPECIAL_TOKENS])
    backend.add_tokens([AddedToken(t, normalized=False) for t in PLAIN_ADDED_TOKENS])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        chat_template=chat_template,
        clean_up_tokenization_spaces=False,
    )


def _save(
    folder: str | Path, model_class: type[PreTrainedModel], config: Any, processor: Any, seed: int
) -> Path:
    folder = Path(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = model_class(config).eval()
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
