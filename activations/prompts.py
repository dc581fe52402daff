"""Prompts made into model inputs, with the facts about them that a store keeps.

A prompt is a chat `messages` list in transformers' multimodal format, images given as PIL images in
{"type": "image", "image": …} parts; or a string, which is taken as it is, without chat template.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image
from torch import Tensor
from transformers import PreTrainedTokenizerBase

Messages = Sequence[dict[str, Any]]
Prompt = Messages | str


class PromptError(ValueError):
    """A prompt, or a pair of prompts, that states cannot be taken from as asked."""


@dataclass(frozen=True)
class EncodedPrompt:
    """One prompt as a model takes it.

    Parameters
    ----------
    inputs
        The processor's whole output: tensors with a batch axis of one.
    prompt_tokens
        Number of tokens.
    image_tokens
        Number of image placeholders among them.
    last_token_id
        Id of the last token, from which the answer is generated.
    final_token_ids
        Ids of the generation prompt that the chat template ends with, the last token included; of a
        plain string the last token alone.
    prompt_sha256
        Hash of the text after the chat template and of the images' pixels.
    """

    inputs: dict[str, Any]
    prompt_tokens: int
    image_tokens: int
    last_token_id: int
    final_token_ids: tuple[int, ...]
    prompt_sha256: str


def encode(processor: Any, prompt: Prompt, **chat_template_kwargs: Any) -> EncodedPrompt:
    """Turn a prompt into model inputs.

    Parameters
    ----------
    processor
        A transformers processor, or a tokenizer for text-only models.
    prompt
        Chat messages, or a string.
    **chat_template_kwargs
        Passed to the chat template, such as `enable_thinking=False`.

    Returns
    -------
    EncodedPrompt

    Raises
    ------
    PromptError
        When an image is not a PIL image, the processor refuses the prompt or takes no images, or
        the number of image placeholders is not what the images call for.
    """
    if isinstance(prompt, str):
        text, generation_prompt, images = prompt, "", []
    else:
        images = images_of(prompt)
        if images and _takes_text_only(processor):
            raise PromptError(
                f"the prompt holds {len(images)} images, but {type(processor).__name__} takes text "
                "only; load the model's AutoProcessor"
            )
        text, generation_prompt = _render(processor, prompt, chat_template_kwargs)
    inputs = _tokenise(processor, text, images, is_chat=not isinstance(prompt, str))
    ids = inputs["input_ids"][0].tolist()
    if not ids:
        raise PromptError("the prompt has no token")
    image_tokens = _image_tokens(processor, ids)
    _check_placeholders(processor, inputs, len(images), image_tokens)
    n_final = len(_token_ids(processor, generation_prompt)) if generation_prompt else 1
    return EncodedPrompt(
        inputs=inputs,
        prompt_tokens=len(ids),
        image_tokens=image_tokens,
        last_token_id=ids[-1],
        final_token_ids=tuple(ids[-n_final:]),
        prompt_sha256=prompt_hash(text, images),
    )


def images_of(messages: Messages) -> list[Image.Image]:
    """The images of a prompt in order.

    Raises
    ------
    PromptError
        When an image part holds something else than a PIL image.
    """
    images = []
    for part in _parts(messages):
        if part.get("type") == "image":
            image = part.get("image")
            if not isinstance(image, Image.Image):
                raise PromptError(
                    f"an image part holds {type(image).__name__}, expected a PIL image under 'image'"
                )
            images.append(image)
    return images


def prompt_hash(text: str, images: Iterable[Image.Image]) -> str:
    """SHA-256 over the text and, for each image, its mode, size and pixels, as hexadecimal digits."""
    digest = hashlib.sha256()
    for piece in (text.encode(), *(_image_bytes(image) for image in images)):
        # Lengths keep two different lists of pieces from running into the same bytes.
        digest.update(len(piece).to_bytes(8, "little"))
        digest.update(piece)
    return digest.hexdigest()


def _image_bytes(image: Image.Image) -> bytes:
    return f"{image.mode} {image.width} {image.height} ".encode() + image.tobytes()


def _parts(messages: Messages) -> Iterable[dict[str, Any]]:
    for message in messages:
        if not isinstance(message["content"], str):
            yield from message["content"]


def _render(processor: Any, messages: Messages, kwargs: dict[str, Any]) -> tuple[str, str]:
    """The text after the chat template, and the generation prompt that it ends with."""
    if _takes_text_only(processor):
        messages = [_with_plain_text(message) for message in messages]
    text = processor.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True, **kwargs
    )
    context = processor.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=False, **kwargs
    )
    return text, text.removeprefix(context) if text.startswith(context) else ""


def _with_plain_text(message: dict[str, Any]) -> dict[str, Any]:
    """Templates of text-only models expect a string where multimodal ones have parts."""
    if isinstance(message["content"], str):
        return message
    return message | {"content": "".join(part["text"] for part in message["content"])}


def _tokenise(
    processor: Any, text: str, images: Sequence[Image.Image], is_chat: bool
) -> dict[str, Any]:
    options: dict[str, Any] = {"return_tensors": "pt"}
    # As apply_chat_template does: a template that writes the beginning-of-text token is not given another.
    bos = _tokenizer(processor).bos_token
    if is_chat and (_takes_text_only(processor) or (bos and text.startswith(bos))):
        options["add_special_tokens"] = False
    if _takes_text_only(processor):
        return dict(processor([text], **options))
    try:
        return dict(processor(text=[text], images=list(images) or None, **options))
    except ValueError as error:  # such as placeholders and images that differ in number
        raise PromptError(str(error)) from error


def _token_ids(processor: Any, text: str) -> list[int]:
    return _tokenizer(processor)(text, add_special_tokens=False)["input_ids"]


def _image_tokens(processor: Any, ids: Sequence[int]) -> int:
    image_token_id = getattr(processor, "image_token_id", None)
    return 0 if image_token_id is None else ids.count(image_token_id)


def _check_placeholders(
    processor: Any, inputs: dict[str, Any], n_images: int, image_tokens: int
) -> None:
    grid = inputs.get("image_grid_thw")
    if isinstance(grid, Tensor):
        if len(grid) != n_images:
            raise PromptError(f"the processor made {len(grid)} images of {n_images}")
        expected = int(grid.prod(dim=1).sum()) // processor.image_processor.merge_size**2
    elif n_images:
        return  # a processor without grids: nothing to count by
    else:
        expected = 0
    if image_tokens != expected:
        raise PromptError(
            f"the prompt has {image_tokens} image placeholders, expected {expected} for its "
            f"{n_images} images; does its text contain the placeholder itself, or was it cut?"
        )


def _takes_text_only(processor: Any) -> bool:
    return isinstance(processor, PreTrainedTokenizerBase)


def _tokenizer(processor: Any) -> Any:
    return processor if _takes_text_only(processor) else processor.tokenizer
