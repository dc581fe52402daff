"""Qwen3-VL-Embedding-style checkpoints: text and pictures in one space.

Convention: the last hidden state (after the final norm) of the last token that is not padding,
scaled to length 1, with the instruction in the system message, as the checkpoints were trained.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from activations import Sites, encode, last_token_index, model_fingerprint
from router.embedders import Embedding, Messages

INSTRUCTION = "Represent the user's input."
_LAST_HIDDEN_STATE = Sites({"embedding": "last_hidden_state"})


class CheckpointEmbedder:
    """A backbone that returns `last_hidden_state`, as embedder.

    Parameters
    ----------
    model, processor
        A loaded backbone and its processor.
    instruction
        The system message.
    """

    def __init__(self, model: Any, processor: Any, *, instruction: str = INSTRUCTION) -> None:
        self.model, self.processor = model.eval(), processor
        self.instruction = instruction

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path = "Qwen/Qwen3-VL-Embedding-2B",
        *,
        revision: str | None = None,
        dtype: str | torch.dtype = "auto",
        device_map: str | None = None,
        instruction: str = INSTRUCTION,
    ) -> CheckpointEmbedder:
        """Load a checkpoint by Hub name or folder; its weights must be safetensors."""
        from transformers import AutoModel, AutoProcessor

        processor = AutoProcessor.from_pretrained(name_or_path, revision=revision)
        backbone = AutoModel.from_pretrained(
            name_or_path,
            revision=revision,
            dtype=dtype,
            device_map=device_map,
            use_safetensors=True,
        )
        return cls(backbone, processor, instruction=instruction)

    @property
    def width(self) -> int:
        """Length of a vector."""
        return self.model.config.get_text_config().hidden_size

    def fingerprint(self) -> dict[str, str]:
        """The checkpoint's, and the instruction."""
        return model_fingerprint(self.model, self.processor, _LAST_HIDDEN_STATE, "forward") | {
            "embedder": f"checkpoint {Path(str(self.model.config.name_or_path)).name}",
            "instruction": self.instruction,
        }

    @torch.no_grad()
    def embed(self, prompt: Messages) -> Embedding:
        """The unit vector of one prompt."""
        system = {"role": "system", "content": [{"type": "text", "text": self.instruction}]}
        encoded = encode(self.processor, [system, *prompt])
        inputs = {k: v.to(self.model.device) for k, v in encoded.inputs.items()}
        last = int(last_token_index(inputs["attention_mask"])[0])
        state = self.model(**inputs).last_hidden_state[0, last].float().cpu()
        return Embedding(
            torch.nn.functional.normalize(state, dim=0),
            encoded.prompt_tokens,
            encoded.image_tokens,
            encoded.last_token_id,
            encoded.prompt_sha256,
        )
