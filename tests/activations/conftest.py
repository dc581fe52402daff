"""Tiny random models, loaded once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tiny_models
from transformers import (
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
)

Loaded = tuple[Any, Any]


@pytest.fixture(scope="session")
def load(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Loaded]:
    """Model and processor (or tokenizer) by name; do not change them."""
    cache: dict[str, Loaded] = {}

    def load(name: str) -> Loaded:
        if name not in cache:
            folder = getattr(tiny_models, f"tiny_{name}")(tmp_path_factory.mktemp(name))
            if name == "llama":
                model, processor = AutoModelForCausalLM, AutoTokenizer
            else:
                model, processor = AutoModelForImageTextToText, AutoProcessor
            cache[name] = (
                model.from_pretrained(folder).eval(),
                processor.from_pretrained(folder),
            )
        return cache[name]

    return load
