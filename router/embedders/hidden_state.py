"""The actor's own hidden state of a prompt: no weights beside the actor's.

Convention: the raw output of the last block at the last prompt token, as for the states of steps.
"""

from __future__ import annotations

from typing import Any, Protocol

from probes.final import final_block
from router.embedders import Embedding, Messages


class StateReader(Protocol):
    """What is needed of an actor (`actor.Actor` is one)."""

    @property
    def sites(self) -> tuple[str, ...]:
        """Names of the sites at which hidden states are read."""
        ...

    @property
    def width(self) -> int:
        """Length of a hidden state."""
        ...

    def respond(self, prompt: Messages, samples: int) -> Any:
        """`states` (n_sites, d) at the last prompt token, and the facts that `Embedding` holds."""
        ...

    def fingerprint(self) -> dict[str, str]:
        """What the states depend on beside the prompts."""
        ...


class HiddenStateEmbedder:
    """An actor as embedder.

    Parameters
    ----------
    reader
        The actor.
    site
        Where its state is read; the last block by default.
    """

    def __init__(self, reader: StateReader, site: str | None = None) -> None:
        self.reader = reader
        self.site = final_block(reader.sites) if site is None else site
        if self.site not in reader.sites:
            raise ValueError(f"site {site!r} is not one of the actor's: {', '.join(reader.sites)}")

    @property
    def width(self) -> int:
        """Length of a hidden state."""
        return self.reader.width

    def fingerprint(self) -> dict[str, str]:
        """The actor's, and the site."""
        return self.reader.fingerprint() | {"embedder": f"hidden state at {self.site}"}

    def embed(self, prompt: Messages) -> Embedding:
        """The hidden state of one prompt."""
        response = self.reader.respond(prompt, 0)
        return Embedding(
            response.states[response.sites.index(self.site)].float(),
            response.prompt_tokens,
            response.image_tokens,
            response.last_token_id,
            response.prompt_sha256,
        )
