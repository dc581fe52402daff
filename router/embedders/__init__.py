"""Embedders: what turns a rendered memory into one vector, one way per file.

Convention: an embedder takes chat messages that hold nothing but what is to be embedded, one prompt
at a time, and gives a float32 vector together with the facts about the prompt that a store keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor

Messages = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Embedding:
    """The vector of one prompt.

    Parameters
    ----------
    vector
        float32, (d,), on the CPU.
    prompt_tokens, image_tokens
        Length of the prompt, and how much of it are image placeholders.
    last_token_id
        The token at whose position the vector was taken.
    prompt_sha256
        Of the rendered prompt.
    """

    vector: Tensor = field(repr=False)
    prompt_tokens: int
    image_tokens: int
    last_token_id: int
    prompt_sha256: str


class Embedder(Protocol):
    """Turns chat messages into a vector."""

    @property
    def width(self) -> int:
        """Length d of a vector."""
        ...

    def fingerprint(self) -> dict[str, str]:
        """What vectors depend on beside the prompts; holds `model`, `revision`, `weights_sha256`
        and `embedder`, the name of the embedder."""
        ...

    def embed(self, prompt: Messages) -> Embedding:
        """The vector of one prompt."""
        ...


def memory_prompt(parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A rendered memory (content parts) alone, as the one message of a user."""
    return [{"role": "user", "content": list(parts)}]
