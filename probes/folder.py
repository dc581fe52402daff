"""Folders of config.json, model.safetensors and README.md, which every exported artefact is.

Convention: no pickle is written or read, and equal artefacts give equal bytes. `what` names the
artefact with its article ("an estimator") in messages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

CONFIG, WEIGHTS, CARD = "config.json", "model.safetensors", "README.md"

Tensors = Mapping[str, NDArray[Any]]
Config = TypeVar("Config", bound=BaseModel)


def write_artefact(folder: str | Path, config: BaseModel, tensors: Tensors, card: str) -> Path:
    """Write the three files into `folder`, which is made if need be."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save_file({k: np.ascontiguousarray(v) for k, v in tensors.items()}, folder / WEIGHTS)
    (folder / CONFIG).write_text(config.model_dump_json(indent=2) + "\n", "utf-8")
    (folder / CARD).write_text(card, "utf-8")
    return folder


def find_artefact(
    name_or_path: str | Path, revision: str | None, token: str | None, what: str
) -> Path:
    """A local folder as it is, else the downloaded files of a Hugging Face Hub repository.

    Raises
    ------
    ValueError
        When the name is neither.
    """
    folder = Path(name_or_path)
    if folder.is_dir():
        return folder
    files, repo_id = [CONFIG, WEIGHTS, CARD], str(name_or_path)
    try:
        return Path(
            snapshot_download(repo_id, revision=revision, token=token, allow_patterns=files)
        )
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError) as error:
        raise ValueError(
            f"{repo_id!r} is neither a folder here nor {what} that the Hugging Face Hub gives out: "
            f"{error}"
        ) from error


def read_config(folder: Path, schema: type[Config], what: str) -> Config:
    """config.json, checked against its schema; `ValueError` names the file and the field."""
    path = _existing(folder / CONFIG, what)
    try:
        return schema.model_validate_json(path.read_bytes())
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(map(str, problem["loc"])) or "the file"
        raise ValueError(f"{path}: {field}: {problem['msg']}") from error


def read_tensors(folder: Path, what: str) -> dict[str, NDArray[Any]]:
    """model.safetensors; `ValueError` when it is missing or damaged."""
    path = _existing(folder / WEIGHTS, what)
    try:
        return load_file(path)
    # The latter two: a type that numpy lacks, such as bfloat16.
    except (SafetensorError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no readable safetensors file: {error}") from error


def check_tensors(
    tensors: Tensors,
    shapes: Mapping[str, tuple[int, ...]],
    dtype: type[np.generic],
    path: Path,
    hint: str,
) -> None:
    """Refuse tensors that lack one, hold another, or differ in shape or dtype or are not finite.

    Parameters
    ----------
    shapes
        What is expected, by name.
    dtype
        Of all of them.
    hint
        Where the expected shapes come from, for the message.
    """
    if set(tensors) != set(shapes):
        lacking, unknown = sorted(set(shapes) - set(tensors)), sorted(set(tensors) - set(shapes))
        raise ValueError(f"{path}: lacks the tensors {lacking}, holds the unknown {unknown}")
    for name, shape in shapes.items():
        tensor = tensors[name]
        if tensor.shape != shape or tensor.dtype != dtype:
            raise ValueError(
                f"{path}: {name} is {tensor.dtype} {tensor.shape}, expected {np.dtype(dtype)} {shape}"
                f" ({hint})"
            )
        if not np.isfinite(tensor).all():
            raise ValueError(f"{path}: {name} holds values that are not finite")


def push_artefact(
    repo_id: str,
    write: Callable[[Path], object],
    *,
    private: bool | None,
    token: str | None,
    commit_message: str,
) -> str:
    """Create the Hub repository if need be, upload what `write` writes, return the commit's address."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        api = HfApi(token=token)
        api.create_repo(repo_id, private=private, exist_ok=True)
        commit = api.upload_folder(
            repo_id=repo_id, folder_path=folder, commit_message=commit_message
        )
    return str(commit.commit_url)


def _existing(path: Path, what: str) -> Path:
    if not path.is_file():
        raise ValueError(f"no file {path}: {what} folder holds {CONFIG}, {WEIGHTS}, {CARD}")
    return path
