"""The pocket actor's tokenizer and processor, built from the words of its training steps.

Whole words are single tokens, written the same everywhere; rare words fall apart into characters.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2VLImageProcessor, Qwen3VLProcessor
from transformers.models.qwen3_vl.video_processing_qwen3_vl import Qwen3VLVideoProcessor

from actor.dialects.pocket import BINS

PATCH, MERGE = 16, 2
LARGEST = 160
END, PAD, UNKNOWN = "<|end|>", "<|pad|>", "<|unknown|>"
USER, ASSISTANT = "<|user|>", "<|assistant|>"
IMAGE, VISION_START, VISION_END = "<|image_pad|>", "<|vision_start|>", "<|vision_end|>"
SPECIAL = (PAD, UNKNOWN, END, USER, ASSISTANT, IMAGE, "<|video_pad|>", VISION_START, VISION_END)
# Words of prompts and drills, and what an element can look like, whether or not a step has them.
PROMPT_WORDS = ("Past", "step", "screen", "action", "at", "the", "mark", "more", "not", "shown", "Task", "Done", "Screen", "where", "read", "find", "same", "as", "in", "memory", "click", "type", "press", "scroll", "wait", "answer", "complete", "impossible", "long_press", "open_app", "up", "down", "left", "right", "enter", "back", "home", "button", "link", "tab", "radio", "checkbox", "textbox", "textarea", "header", "icon", "box", "shape", "text")  # fmt: skip
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{{ '<|user|>' if message.role != 'assistant' else '<|assistant|>' }}"
    "{%- if message.content is string -%}{{ message.content }}{%- else -%}"
    "{%- for part in message.content -%}"
    "{%- if part.type == 'image' -%}<|vision_start|><|image_pad|><|vision_end|>"
    "{%- elif part.type == 'text' -%}{{ part.text }}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}"
)


def words_of(texts: Iterable[str], least: int = 2) -> list[str]:
    """Words that occur at least `least` times, most frequent first."""
    counts = Counter(word for text in texts for word in re.findall(r"\w+", text))
    kept = [(word, n) for word, n in counts.items() if n >= least and len(word) > 1]
    return [word for word, _ in sorted(kept, key=lambda pair: (-pair[1], pair[0]))]


def build_tokenizer(words: Iterable[str]) -> PreTrainedTokenizerFast:
    """A word-level tokenizer with characters to fall back on.

    Parameters
    ----------
    words
        Words that get a token of their own, most frequent first.
    """
    characters = [c for c in string.printable if not c.isspace()]
    pieces = [*SPECIAL, *characters, *(f"##{c}" for c in characters), *PROMPT_WORDS, *words]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    backend = Tokenizer(
        models.WordPiece(vocab=vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=100)
    )
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("isolated")]
    )
    backend.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    backend.add_special_tokens([AddedToken(token, normalized=False) for token in SPECIAL])
    places = [f"<{axis}{number}>" for axis in "xy" for number in range(BINS)]
    backend.add_tokens([AddedToken(token, normalized=False) for token in places])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=PAD,
        unk_token=UNKNOWN,
        eos_token=END,
        padding_side="left",
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def build_processor(tokenizer: PreTrainedTokenizerFast) -> Qwen3VLProcessor:
    """A Qwen3-VL processor; pictures keep their size up to 160 x 160 pixels (25 tokens)."""
    factor = PATCH * MERGE
    sizes = {"shortest_edge": factor**2, "longest_edge": LARGEST**2}
    half = [0.5, 0.5, 0.5]
    return Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(
            patch_size=PATCH, merge_size=MERGE, size=sizes, image_mean=half, image_std=half
        ),
        tokenizer=tokenizer,
        video_processor=Qwen3VLVideoProcessor(patch_size=PATCH, merge_size=MERGE),
        chat_template=CHAT_TEMPLATE,
    )
