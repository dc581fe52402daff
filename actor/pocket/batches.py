"""Batches of questions as tensors, the same as the processor makes, only faster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from PIL import Image
from transformers import PreTrainedTokenizerFast

from actor.pocket.drills import Question
from actor.pocket.vocabulary import (
    ASSISTANT,
    END,
    IMAGE,
    MERGE,
    PAD,
    PATCH,
    USER,
    VISION_END,
    VISION_START,
)

FACTOR = PATCH * MERGE


def patches(image: Image.Image) -> tuple[np.ndarray, tuple[int, int, int]]:
    """The picture as the Qwen2-VL image processor cuts it.

    Returns
    -------
    tuple
        Patches, float32 (n, 3 * 2 * PATCH * PATCH), and the grid (1, rows, columns). Sides must be
        multiples of `PATCH * MERGE`.
    """
    width, height = image.size
    if width % FACTOR or height % FACTOR:
        width, height = (max(1, round(side / FACTOR)) * FACTOR for side in image.size)
        image = image.resize((width, height))
    rows, columns = height // PATCH, width // PATCH
    pixels = np.asarray(image, dtype=np.float32) / 127.5 - 1
    tiled = pixels.reshape(rows // MERGE, MERGE, PATCH, columns // MERGE, MERGE, PATCH, 3)
    tiled = tiled.transpose(0, 3, 1, 4, 6, 2, 5).reshape(rows * columns, 3, 1, PATCH, PATCH)
    return np.repeat(tiled, 2, axis=2).reshape(rows * columns, -1), (1, rows, columns)


def collate(
    questions: Sequence[Question], tokenizer: PreTrainedTokenizerFast, *, answers: bool = True
) -> dict[str, torch.Tensor]:
    """Inputs of the model for several questions.

    With `answers` rows are padded on the right and `labels` are the answer's tokens (−100 elsewhere);
    without, rows are padded on the left, ready to generate from.
    """
    texts, pixel_values, grids = [], [], []
    for question in questions:
        text = USER
        for part in question.messages[0]["content"]:
            if part["type"] == "text":
                text += part["text"]
                continue
            values, grid = patches(part["image"])
            pixel_values.append(values)
            grids.append(grid)
            text += VISION_START + IMAGE * (grid[1] * grid[2] // MERGE**2) + VISION_END
        texts.append(text + ASSISTANT)
    prompts = tokenizer(texts, add_special_tokens=False)["input_ids"]
    wanted = [[] for _ in questions]
    if answers:
        wanted = tokenizer([q.answer + END for q in questions], add_special_tokens=False)[
            "input_ids"
        ]
    length = max(len(p) + len(w) for p, w in zip(prompts, wanted))
    ids = torch.full((len(questions), length), tokenizer.get_vocab()[PAD])
    mask = torch.zeros_like(ids)
    labels = torch.full_like(ids, -100)
    for row, (prompt, answer) in enumerate(zip(prompts, wanted)):
        tokens = torch.tensor(prompt + answer)
        place = slice(0, len(tokens)) if answers else slice(length - len(tokens), length)
        ids[row, place], mask[row, place] = tokens, 1
        labels[row, len(prompt) : len(prompt) + len(answer)] = torch.tensor(
            answer, dtype=torch.long
        )
    image_id = tokenizer.get_vocab()[IMAGE]
    batch = {
        "input_ids": ids,
        "attention_mask": mask,
        "mm_token_type_ids": torch.eq(ids, image_id).long(),
    }
    if pixel_values:
        batch["pixel_values"] = torch.from_numpy(np.concatenate(pixel_values))
        batch["image_grid_thw"] = torch.tensor(grids)
    if answers:
        batch["labels"] = labels
    return batch
