"""Retrieval by embeddings of Qwen3-VL-Embedding-style checkpoints (or any text encoder like them).

The embedding of a text is the last hidden state (after the final norm) of its last token that is not
padding, scaled to length 1, with the instruction in the system message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from tqdm.auto import tqdm

from episodes import Step
from memory.bank import MemoryBank, lookup_words
from memory.retrievers import Match, best_match

INSTRUCTION = "Represent the user's input."


class EmbeddingRetriever:
    """Cosine of the checkpoint's text embeddings.

    Parameters
    ----------
    model, processor
        A loaded backbone that returns `last_hidden_state`, and its processor or tokenizer.
    batch_size
        Texts per forward; padded on the right.
    """

    def __init__(
        self, model: Any, processor: Any, *, instruction: str = INSTRUCTION, batch_size: int = 16
    ) -> None:
        self.model, self.processor = model.eval(), processor
        self.instruction, self.batch_size = instruction, batch_size
        self.tokenizer = getattr(processor, "tokenizer", processor)
        if self.tokenizer.pad_token is None:
            raise ValueError("the embedding checkpoint's tokenizer has no padding token")

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str = "Qwen/Qwen3-VL-Embedding-2B",
        *,
        revision: str | None = None,
        dtype: str = "auto",
        device_map: str | None = None,
        batch_size: int = 16,
    ) -> EmbeddingRetriever:
        """Loads a checkpoint by Hub name or folder; its weights must be safetensors."""
        from transformers import AutoModel, AutoProcessor

        processor = AutoProcessor.from_pretrained(name_or_path, revision=revision)
        backbone = AutoModel.from_pretrained(
            name_or_path,
            revision=revision,
            dtype=dtype,
            device_map=device_map,
            use_safetensors=True,
        )
        return cls(backbone, processor, batch_size=batch_size)

    @torch.no_grad()
    def embed(self, texts: Sequence[str], *, progress: bool = False) -> np.ndarray:
        """Unit vectors, float32 (n_texts, d), in the order of the texts."""
        vectors = []
        starts = range(0, len(texts), self.batch_size)
        for start in tqdm(starts, desc="embedding", unit="batch", disable=not progress):
            prompts = [self._prompt(text) for text in texts[start : start + self.batch_size]]
            batch = self.tokenizer(
                prompts, padding=True, padding_side="right", add_special_tokens=False,
                return_tensors="pt",
            ).to(self.model.device)  # fmt: skip
            states = self.model(**batch).last_hidden_state
            last = batch["attention_mask"].sum(1) - 1
            vectors.append(states[torch.arange(len(prompts)), last].float().cpu())
        return torch.nn.functional.normalize(torch.cat(vectors), dim=-1).numpy()

    def fit(self, bank: MemoryBank) -> EmbeddingRetriever:
        """Embeds the bank; returns itself."""
        self.bank = bank
        self._vectors = self.embed([" ".join(words) for words in bank.words], progress=True)
        return self

    def retrieve(self, step: Step) -> Match:
        """The bank's most similar step of another episode."""
        return self.retrieve_many([step])[0]

    def retrieve_many(self, steps: Sequence[Step]) -> list[Match]:
        """`retrieve` for each step."""
        queries = self.embed([" ".join(lookup_words(step)) for step in steps])
        return [best_match(self.bank, s, q @ self._vectors.T) for s, q in zip(steps, queries)]

    def _prompt(self, text: str) -> str:
        messages = [
            {"role": "system", "content": [{"type": "text", "text": self.instruction}]},
            {"role": "user", "content": [{"type": "text", "text": text}]},
        ]
        return self.processor.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
