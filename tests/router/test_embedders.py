"""Embedders on tiny random checkpoints."""

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_models import tiny_qwen3_vl

from actor import Actor
from memory.retrievers.embedding import EmbeddingRetriever
from router import CheckpointEmbedder, HiddenStateEmbedder, memory_prompt


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_qwen3_vl(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def checkpoint(folder):
    return CheckpointEmbedder.from_pretrained(folder)


@pytest.fixture(scope="module")
def actor(folder):
    return Actor.from_pretrained(folder, dialect="qwen", engine="hooks")


def text_prompt(words):
    return memory_prompt([{"type": "text", "text": words}])


def image_prompt(colour):
    picture = Image.new("RGB", (64, 64), colour)
    return memory_prompt(
        [{"type": "text", "text": "Past screen: "}, {"type": "image", "image": picture}]
    )


def test_checkpoint_gives_unit_vectors_that_tell_prompts_apart(checkpoint):
    embeddings = [
        checkpoint.embed(prompt)
        for prompt in (text_prompt("Click OK"), image_prompt("red"), image_prompt("blue"))
    ]
    vectors = torch.stack([embedding.vector for embedding in embeddings])
    assert vectors.shape == (3, checkpoint.width)
    assert vectors.dtype == torch.float32
    np.testing.assert_allclose(vectors.norm(dim=1), 1, atol=1e-6)
    assert float((vectors[1] - vectors[2]).abs().max()) > 1e-4
    assert [embedding.image_tokens > 0 for embedding in embeddings] == [False, True, True]


def test_checkpoint_and_retriever_give_one_vector_for_a_text(checkpoint, folder):
    words = ["Click OK", "a longer text than the other"]
    expected = EmbeddingRetriever.from_pretrained(str(folder)).embed(words)
    found = [checkpoint.embed(text_prompt(text)).vector.numpy() for text in words]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_checkpoint_takes_the_last_token_after_the_final_norm(checkpoint, folder):
    from transformers import AutoModelForImageTextToText

    from activations import encode

    model = AutoModelForImageTextToText.from_pretrained(folder).eval()
    system = {"role": "system", "content": [{"type": "text", "text": checkpoint.instruction}]}
    encoded = encode(checkpoint.processor, [system, *image_prompt("red")])
    with torch.no_grad():
        states = model(**encoded.inputs, output_hidden_states=True).hidden_states[-1][0, -1]
    expected = states / states.norm()
    found = checkpoint.embed(image_prompt("red"))
    torch.testing.assert_close(found.vector, expected, atol=1e-5, rtol=0)
    assert found.prompt_tokens == encoded.prompt_tokens
    assert found.prompt_sha256 == encoded.prompt_sha256


def test_checkpoint_fingerprint_holds_the_instruction_and_the_weights(checkpoint, folder):
    other = CheckpointEmbedder.from_pretrained(folder, instruction="Find the same screen.")
    first, second = checkpoint.fingerprint(), other.fingerprint()
    assert {key for key in first if first[key] != second[key]} == {"instruction"}
    assert len(first["weights_sha256"]) == 64
    assert first["embedder"] == f"checkpoint {folder.name}"


def test_actor_embeds_by_its_own_last_block(actor):
    embedder = HiddenStateEmbedder(actor)
    assert embedder.site == "block.3"
    assert embedder.width == 32
    embedding = embedder.embed(image_prompt("red"))
    response = actor.respond(image_prompt("red"), 0)
    torch.testing.assert_close(embedding.vector, response.states[response.sites.index("block.3")])
    assert embedding.prompt_sha256 == response.prompt_sha256
    assert embedder.fingerprint()["embedder"] == "hidden state at block.3"


def test_a_site_that_the_actor_lacks_is_refused(actor):
    with pytest.raises(ValueError, match=r"site 'block\.9' is not one of the actor's: embed"):
        HiddenStateEmbedder(actor, "block.9")
