"""Fingerprint: what made a store's states, as flat text, so that a resumed run can be compared."""

from __future__ import annotations

import hashlib
import json
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import nn

from activations.sites import Sites

TOKEN_RULE = "last prompt token by attention mask"
LIBRARIES = ("torch", "torchvision", "transformers")
VALUES_HASHED = 16


def model_fingerprint(
    model: nn.Module,
    processor: Any,
    sites: Sites,
    engine: str,
    chat_template_kwargs: dict[str, Any] | None = None,
) -> dict[str, str]:
    """What states depend on beside the prompts.

    Parameters
    ----------
    model
        A transformers model.
    processor
        Its processor or tokenizer.
    sites
        Where states are taken.
    engine
        "nnsight" or "hooks".
    chat_template_kwargs
        What is passed to the chat template.

    Returns
    -------
    dict
        Field → text, without paths or times: model, revision, weights_sha256, class, dtype, device,
        attention, processor, processor_sha256, template_sha256, sites, token_rule, engine, version.*.
    """
    config: Any = model.config
    parameter = next(model.parameters())
    name = str(config.name_or_path)
    tokenizer = getattr(processor, "tokenizer", processor)
    template = getattr(processor, "chat_template", None) or tokenizer.chat_template
    image_processor = getattr(processor, "image_processor", None)
    libraries = (*LIBRARIES, "nnsight") if engine == "nnsight" else LIBRARIES
    return {
        # A folder may be moved between two runs; weights_sha256 tells whether it is the same model.
        "model": Path(name).name if Path(name).is_dir() else name,
        "revision": str(getattr(config, "_commit_hash", None)),
        "weights_sha256": weights_hash(model),
        "class": type(model).__name__,
        "dtype": str(parameter.dtype).removeprefix("torch."),
        "device": parameter.device.type,
        "attention": str(config._attn_implementation),
        "processor": type(processor).__name__,
        "processor_sha256": _json_hash(image_processor and image_processor.to_dict()),
        "template_sha256": _json_hash([template, chat_template_kwargs or {}]),
        "sites": ", ".join(f"{site}={path}" for site, path in sites.items()),
        "token_rule": TOKEN_RULE,
        "engine": engine,
        **{f"version.{library}": metadata.version(library) for library in libraries},
    }


def weights_hash(model: nn.Module) -> str:
    """SHA-256 over every parameter's name, shape and a few of its values.

    Enough to tell two trainings apart, cheap for any size: 16 evenly spaced values of each.
    """
    digest = hashlib.sha256()
    for name, parameter in model.named_parameters():
        values = parameter.detach().flatten()
        chosen = torch.linspace(0, len(values) - 1, VALUES_HASHED, dtype=torch.float64).long()
        sample = values[chosen.to(values.device)].float().cpu().numpy()
        digest.update(f"{name} {tuple(parameter.shape)} ".encode() + sample.tobytes())
    return digest.hexdigest()


def _json_hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
