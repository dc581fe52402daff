"""Bank embeddings: computed once, resumed, reused, refused when made otherwise."""

import numpy as np
import pytest
import torch

from activations import FingerprintError
from router import SITE, Embedding, embed_steps, memory_prompt

STEPS = [f"bank-{i}" for i in range(7)]
EPISODES = [f"episode-{i // 2}" for i in range(7)]


class CountingEmbedder:
    """Vectors from the prompt's hash; counts, and fails after `limit` prompts."""

    width = 4

    def __init__(self, limit=10**9, name="counting"):
        self.calls, self.limit, self.name = 0, limit, name

    def fingerprint(self):
        return {"model": "tiny", "revision": "a", "weights_sha256": "1", "embedder": self.name}

    def embed(self, prompt):
        if self.calls >= self.limit:
            raise KeyboardInterrupt
        self.calls += 1
        words = prompt[0]["content"][0]["text"]
        seed = int.from_bytes(words.encode()[-4:])
        vector = torch.from_numpy(np.random.default_rng(seed).normal(size=4).astype("f4"))
        return Embedding(vector, len(words), 0, 1, "0" * 64)


def prompts(step_id):
    return {
        form: memory_prompt([{"type": "text", "text": form + step_id}])
        for form in ("text", "image")
    }


def embedded(embedder, path, **changes):
    options = {"step_ids": STEPS, "episode_ids": EPISODES, "block_size": 3, "progress": False}
    return embed_steps(embedder, path, prompts, **(options | changes))


def test_every_form_of_every_step_is_kept(tmp_path):
    store = embedded(CountingEmbedder(), tmp_path / "bank")
    assert store.complete
    assert (store.conditions, store.sites) == (("text", "image"), (SITE,))
    assert (store.negative, store.positive) == ("text", "image")
    for form in store.conditions:
        expected = [CountingEmbedder().embed(prompts(step)[form]).vector for step in STEPS]
        np.testing.assert_array_equal(store.layer(SITE, form), torch.stack(expected))
    assert store.verify() == []


def test_a_complete_store_is_reused_without_a_prompt(tmp_path):
    embedded(CountingEmbedder(), tmp_path / "bank")
    again = CountingEmbedder(limit=0)
    assert embed_steps(
        again,
        tmp_path / "bank",
        lambda step_id: pytest.fail(f"asked for {step_id}"),
        step_ids=STEPS,
        episode_ids=EPISODES,
        block_size=3,
        progress=False,
    ).complete


def test_an_interrupted_run_goes_on_and_ends_with_equal_bytes(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        embedded(CountingEmbedder(limit=8), tmp_path / "bank")
    rest = CountingEmbedder()
    embedded(rest, tmp_path / "bank")
    assert rest.calls == 8  # the four steps of the two blocks that were not done
    embedded(CountingEmbedder(), tmp_path / "whole")
    files = [
        p.relative_to(tmp_path / "whole") for p in (tmp_path / "whole").rglob("*") if p.is_file()
    ]
    assert files
    for file in files:
        assert (tmp_path / "bank" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_another_embedder_rendering_or_bank_is_refused_by_name(tmp_path):
    embedded(CountingEmbedder(), tmp_path / "bank", about={"max_elements": "16"})
    with pytest.raises(FingerprintError, match="embedder: store has 'counting'"):
        embedded(CountingEmbedder(name="other"), tmp_path / "bank", about={"max_elements": "16"})
    with pytest.raises(FingerprintError, match="max_elements: store has '16', this run has '8'"):
        embedded(CountingEmbedder(), tmp_path / "bank", about={"max_elements": "8"})
    with pytest.raises(FingerprintError, match="step_ids"):
        embedded(
            CountingEmbedder(),
            tmp_path / "bank",
            about={"max_elements": "16"},
            step_ids=STEPS[::-1],
        )
