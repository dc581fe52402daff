"""A fitted estimator as a folder: config.json, model.safetensors, README.md. No pickle.

`docs/probes.md` describes the folder. Equal estimators give equal bytes.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from probes.folder import (
    CONFIG,
    WEIGHTS,
    check_tensors,
    find_artefact,
    push_artefact,
    read_config,
    read_tensors,
    write_artefact,
)
from probes.projection import Projection

FOLDED_TOLERANCE = 1e-5
WHAT = "an estimator"

Array = NDArray[np.float64]


class EstimatorConfig(BaseModel):
    """What config.json holds: how the estimator was made and to what it may be applied.

    Parameters
    ----------
    sign
        "<positive> - <negative>": how the shifts were taken, and whose preference is positive.
    site, width
        Where the shifts were read, and their number of features.
    model, revision
        The actor whose hidden states they are.
    conditions
        Conditions of the activation store.
    target_form
        Form of the target that `label_targets` gives by default.
    analysis_set, samples_per_condition, agreement, groups
        Which steps it was fitted on, and what the folds behind the metrics kept whole.
    n_components, C, fitted_C, random_state
        Parameters of the estimator; `fitted_C` is the number used.
    counts
        The funnel of the preferences, and the rows of each class fitted on.
    metrics
        AUROC on the rows fitted on (in_fold_auroc) and out of fold, with its 95 % interval.
    fingerprint
        Of the activation store.
    versions
        Of the libraries that fitted it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal["mnemoscope-estimator"] = "mnemoscope-estimator"
    format_version: Literal[1] = 1
    positive: str
    negative: str
    sign: str
    site: str
    width: int
    model: str
    revision: str
    conditions: list[str]
    target_form: Literal["signed", "probability", "logit"]
    analysis_set: Literal["stable", "non_tied"]
    samples_per_condition: int
    agreement: int
    groups: list[str]
    n_components: int
    C: float | Literal["grouped-cv"]
    fitted_C: float
    random_state: int
    counts: dict[str, int]
    metrics: dict[str, float | None]
    fingerprint: dict[str, str]
    versions: dict[str, str]

    @field_validator("sign")
    @classmethod
    def _sign_of_the_sides(cls, sign: str, info: ValidationInfo) -> str:
        expected = f"{info.data.get('positive')} - {info.data.get('negative')}"
        if sign != expected:
            raise ValueError(f"{sign!r}, expected {expected!r} after positive and negative")
        return sign


class Weights(NamedTuple):
    """The numbers of a fitted estimator: logit = projection.apply(X) @ coef + intercept."""

    projection: Projection
    coef: Array
    intercept: float

    def folded(self) -> tuple[Array, float]:
        """One vector w (n_features,) and a bias b that do the same: logit = X @ w + b."""
        of_standard = self.coef @ self.projection.components
        vector = of_standard / self.projection.scale
        bias = self.intercept - of_standard @ self.projection.offset - vector @ self.projection.mean
        return vector, float(bias)


def save_folder(folder: str | Path, config: EstimatorConfig, weights: Weights) -> Path:
    """Write the three files into `folder`, which is made if need be."""
    return write_artefact(folder, config, _tensors(weights), model_card(config))


def load_folder(
    name_or_path: str | Path, revision: str | None = None, token: str | None = None
) -> tuple[EstimatorConfig, Weights]:
    """Read and check a local folder, or one from the Hugging Face Hub.

    Raises
    ------
    ValueError
        Naming the file and what is wrong with it: missing, malformed, of another shape, not finite,
        or a folded vector that disagrees with the weights it is folded from.
    """
    folder = find_artefact(name_or_path, revision, token, WHAT)
    config = read_config(folder, EstimatorConfig, WHAT)
    return config, _read_weights(folder, config)


def push_folder(
    repo_id: str,
    config: EstimatorConfig,
    weights: Weights,
    *,
    private: bool | None,
    token: str | None,
    commit_message: str,
) -> str:
    """Create the Hub repository if need be, upload the folder, return the commit's address."""
    return push_artefact(
        repo_id,
        lambda folder: save_folder(folder, config, weights),
        private=private,
        token=token,
        commit_message=commit_message,
    )


def library_versions() -> dict[str, str]:
    """Versions of what a fit depends on."""
    return {name: version(name) for name in ("mnemoscope", "numpy", "scikit-learn", "scipy")}


def model_card(config: EstimatorConfig) -> str:
    """The README.md of the folder."""
    metrics = "\n".join(
        f"| {name} | {'' if value is None else f'{value:.4f}'} |"
        for name, value in config.metrics.items()
    )
    counts = "\n".join(f"| {name} | {value} |" for name, value in config.counts.items())
    return f"""---
library_name: mnemoscope
tags:
- mnemoscope
- probing
- preference-estimator
---
# Preference estimator: {config.positive} or {config.negative} memory

Reads from the hidden states of `{config.model}` (revision `{config.revision}`) whether a step is
better served by **{config.positive}** or by **{config.negative}** memory.

| | |
|---|---|
| input | signed shift, `{config.sign}`, at `{config.site}`, last prompt token; {config.width} features |
| output | target in the form `{config.target_form}`; larger means {config.positive} |
| pipeline | standardise, {config.n_components} principal components at most, logistic regression with C = {config.fitted_C:g} |
| fitted on | the `{config.analysis_set}` steps; {config.samples_per_condition} samples per condition; stable means {config.agreement} votes or more |

| metric | value |
|---|---|
{metrics}

`in_fold_auroc` is measured on the rows that were fitted; only `out_of_fold_auroc` (folds that keep
{", ".join(config.groups)} whole) says how well other steps are read.

| count | value |
|---|---|
{counts}

```python
from activations import ActivationStore
from probes import PreferenceEstimator, label_targets

estimator = PreferenceEstimator.from_pretrained("path/or/repository")
targets = label_targets(ActivationStore.open("activations.zarr"), estimator)
```
"""


def _tensors(weights: Weights) -> dict[str, Array]:
    projection = weights.projection
    vector, bias = weights.folded()
    tensors = {
        "scaler.mean": projection.mean,
        "scaler.scale": projection.scale,
        "pca.mean": projection.offset,
        "pca.components": projection.components,
        "logistic.coef": weights.coef,
        "logistic.intercept": np.array([weights.intercept]),
        "folded.vector": vector,
        "folded.bias": np.array([bias]),
    }
    return {name: np.asarray(value, dtype=np.float64) for name, value in tensors.items()}


def _read_weights(folder: Path, config: EstimatorConfig) -> Weights:
    path, tensors = folder / WEIGHTS, read_tensors(folder, WHAT)
    _check_tensors(tensors, path, config)
    weights = Weights(
        Projection(
            tensors["scaler.mean"],
            tensors["scaler.scale"],
            tensors["pca.mean"],
            tensors["pca.components"],
        ),
        tensors["logistic.coef"],
        float(tensors["logistic.intercept"][0]),
    )
    vector, bias = weights.folded()
    folded = np.append(vector, bias)
    stored = np.append(tensors["folded.vector"], tensors["folded.bias"])
    if not np.allclose(folded, stored, rtol=FOLDED_TOLERANCE, atol=FOLDED_TOLERANCE):
        raise ValueError(
            f"{path}: folded.vector and folded.bias disagree with the scaler, the components and"
            " the logistic weights; the file was changed after it was saved"
        )
    return weights


def _check_tensors(tensors: dict[str, Array], path: Path, config: EstimatorConfig) -> None:
    width, kept = config.width, np.size(tensors.get("logistic.coef", ()))
    shapes = {
        "logistic.coef": (kept,),
        "scaler.mean": (width,),
        "scaler.scale": (width,),
        "pca.mean": (width,),
        "pca.components": (kept, width),
        "logistic.intercept": (1,),
        "folded.vector": (width,),
        "folded.bias": (1,),
    }
    check_tensors(tensors, shapes, np.float64, path, hint=f"width {width} in {CONFIG}")
    if not (tensors["scaler.scale"] > 0).all():
        raise ValueError(f"{path}: scaler.scale holds values that are not above 0")
