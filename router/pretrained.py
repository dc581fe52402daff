"""A trained router as a folder: config.json, model.safetensors, README.md. No pickle.

`docs/router-method.md` describes the folder. Equal routers give equal bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from probes.folder import (
    CONFIG,
    WEIGHTS,
    check_tensors,
    find_artefact,
    read_config,
    read_tensors,
    write_artefact,
)
from router.inputs import Origin
from router.options import TrainingOptions
from router.projection import Projection
from router.threshold import ThresholdCurve

WHAT = "a router"
CURVE = ("tau", "utility", "positive_rate")
HISTORY = ("train_loss", "held_out_loss")

Array = NDArray[np.float32]


class RouterConfig(BaseModel):
    """What config.json holds: how the router was made and to what it may be applied.

    Parameters
    ----------
    origin
        Where its inputs come from.
    target
        What the relative score was trained to say ("signed", "utility difference", ...).
    options
        Of the training.
    state_components, memory_components
        Principal components kept; fewer than asked for where rows or features were fewer.
    threshold
        The positive form is chosen from this relative score on; 0 until it is calibrated.
    counts
        Steps and episodes: fitted on, held out to stop, calibrated on.
    metrics
        best_epoch, and the loss at that epoch on fitted and held-out episodes, beside that of a
        router that always says 0; after calibration its utility and positive rate there.
    versions
        Of the libraries that trained it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal["mnemoscope-router"] = "mnemoscope-router"
    format_version: Literal[1] = 1
    origin: Origin
    target: str
    options: TrainingOptions
    state_components: int
    memory_components: int
    threshold: float = 0.0
    counts: dict[str, int]
    metrics: dict[str, float]
    versions: dict[str, str]


class RouterWeights(NamedTuple):
    """The numbers of a trained router, float32.

    Parameters
    ----------
    state, memory
        The projections.
    hidden_weight, hidden_bias
        (hidden, n_state + n_memory) and (hidden,).
    output_weight
        (hidden,).
    """

    state: Projection
    memory: Projection
    hidden_weight: Array
    hidden_bias: Array
    output_weight: Array


class RouterParts(NamedTuple):
    """Everything that a folder holds; the curve is None until the router is calibrated."""

    config: RouterConfig
    weights: RouterWeights
    history: pd.DataFrame
    curve: ThresholdCurve | None


def save_folder(folder: str | Path, parts: RouterParts) -> Path:
    """Write the three files into `folder`, which is made if need be."""
    return write_artefact(folder, parts.config, _tensors(parts), model_card(parts.config))


def load_folder(
    name_or_path: str | Path, revision: str | None = None, token: str | None = None
) -> RouterParts:
    """Read and check a local folder, or one from the Hugging Face Hub.

    Raises
    ------
    ValueError
        Naming the file and what is wrong with it: missing, malformed, of another shape, not finite,
        or a threshold that its own curve does not give.
    """
    folder = find_artefact(name_or_path, revision, token, WHAT)
    config = read_config(folder, RouterConfig, WHAT)
    tensors, path = read_tensors(folder, WHAT), folder / WEIGHTS
    numbers = {k: v for k, v in tensors.items() if not k.startswith(("curve.", "history."))}
    check_tensors(numbers, _shapes(config), np.float32, path, hint=f"widths in {CONFIG}")
    history = _read_table(tensors, "history", HISTORY, path)
    curve = _read_curve(tensors, config, path)
    return RouterParts(config, _weights(numbers), history, curve)


def library_versions() -> dict[str, str]:
    """Versions of what a training depends on."""
    return {name: version(name) for name in ("mnemoscope", "numpy", "scipy", "torch")}


def model_card(config: RouterConfig) -> str:
    """The README.md of the folder."""
    origin, options = config.origin, config.options
    metrics = "\n".join(f"| {name} | {value:.4f} |" for name, value in config.metrics.items())
    counts = "\n".join(f"| {name} | {value} |" for name, value in config.counts.items())
    return f"""---
library_name: mnemoscope
tags:
- mnemoscope
- memory-router
---
# Memory router: {origin.positive} or {origin.negative} memory

Decides at each step of `{origin.model}` (revision `{origin.revision}`) whether the recalled step is
shown as **{origin.positive}** or as **{origin.negative}**.

| | |
|---|---|
| state | `{origin.site}` under `{" + ".join(origin.conditions)}`, {origin.state_width} features → {config.state_components} components |
| memory | {origin.embedder} of `{origin.embedder_model}`, {origin.memory_width} features → {config.memory_components} components |
| network | {config.state_components} + {config.memory_components} → {options.hidden} → 1, GELU, dropout {options.dropout:g}, one for both candidates |
| trained on | target `{config.target}`, loss `{options.loss}`, AdamW with learning rate {options.learning_rate:g}, seed {options.seed} |
| decision | {origin.positive} if score({origin.positive}) - score({origin.negative}) >= {config.threshold:.6g}, else {origin.negative} |

| metric | value |
|---|---|
{metrics}

| count | value |
|---|---|
{counts}

```python
from router import PairwiseRouter

router = PairwiseRouter.from_pretrained("path/or/repository")
condition, score = router.choose(state, {origin.negative}_memory, {origin.positive}_memory)
```
"""


def _tensors(parts: RouterParts) -> dict[str, NDArray[Any]]:
    weights = parts.weights
    tensors: dict[str, NDArray[Any]] = {
        "state.mean": weights.state.mean,
        "state.matrix": weights.state.matrix,
        "memory.mean": weights.memory.mean,
        "memory.matrix": weights.memory.matrix,
        "hidden.weight": weights.hidden_weight,
        "hidden.bias": weights.hidden_bias,
        "output.weight": weights.output_weight,
    }
    tables: dict[str, tuple[pd.DataFrame, Sequence[str]]] = {"history": (parts.history, HISTORY)}
    if parts.curve is not None:
        tables["curve"] = (parts.curve.table, CURVE)
    for prefix, (table, columns) in tables.items():
        for column in columns:
            tensors[f"{prefix}.{column}"] = table[column].to_numpy(dtype=np.float64)
    return tensors


def _shapes(config: RouterConfig) -> dict[str, tuple[int, ...]]:
    origin, hidden = config.origin, config.options.hidden
    n_state, n_memory = config.state_components, config.memory_components
    return {
        "state.mean": (origin.state_width,),
        "state.matrix": (n_state, origin.state_width),
        "memory.mean": (origin.memory_width,),
        "memory.matrix": (n_memory, origin.memory_width),
        "hidden.weight": (hidden, n_state + n_memory),
        "hidden.bias": (hidden,),
        "output.weight": (hidden,),
    }


def _weights(tensors: dict[str, Array]) -> RouterWeights:
    return RouterWeights(
        Projection(tensors["state.mean"], tensors["state.matrix"]),
        Projection(tensors["memory.mean"], tensors["memory.matrix"]),
        tensors["hidden.weight"],
        tensors["hidden.bias"],
        tensors["output.weight"],
    )


def _read_table(
    tensors: dict[str, NDArray[Any]], prefix: str, columns: tuple[str, ...], path: Path
) -> pd.DataFrame:
    of_table = {k: v for k, v in tensors.items() if k.startswith(f"{prefix}.")}
    length = np.size(of_table.get(f"{prefix}.{columns[0]}", ()))
    shapes: dict[str, tuple[int, ...]] = {f"{prefix}.{column}": (length,) for column in columns}
    check_tensors(of_table, shapes, np.float64, path, hint=f"as long as {prefix}.{columns[0]}")
    return pd.DataFrame({column: of_table[f"{prefix}.{column}"] for column in columns})


def _read_curve(
    tensors: dict[str, NDArray[Any]], config: RouterConfig, path: Path
) -> ThresholdCurve | None:
    if not any(name.startswith("curve.") for name in tensors):
        if config.threshold != 0.0:
            raise ValueError(
                f"{path}: no calibration curve, but {CONFIG} has the threshold {config.threshold};"
                " a router without calibration decides by the sign (threshold 0)"
            )
        return None
    table = _read_table(tensors, "curve", CURVE, path)
    n_steps = config.counts.get("calibration_steps", 0)
    curve = ThresholdCurve(table, n_steps, config.origin.negative, config.origin.positive)
    if table.empty or curve.tau != config.threshold:
        raise ValueError(
            f"{path}: the calibration curve does not give the threshold {config.threshold} of"
            f" {CONFIG}; one of the two was changed after it was saved"
        )
    return curve
