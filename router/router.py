"""The router: which form of memory a step is shown.

Convention: the relative score is score(positive) - score(negative), where one network scores either
candidate; swapping the candidates flips its sign exactly. The positive form is chosen where the
relative score is at least the threshold. Everything is computed in float32 on the CPU.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn.functional import gelu

from probes.folder import push_artefact
from router.inputs import Origin, RouterInputs
from router.pretrained import RouterConfig, RouterParts, RouterWeights, load_folder, save_folder
from router.threshold import ThresholdCurve, threshold_curve


class Decision(NamedTuple):
    """What a router chose for one step: a condition, and the relative score behind it."""

    condition: str
    score: float


class PairwiseRouter:
    """Scores both forms of a recalled step and chooses one.

    Made by `train_router` or `from_pretrained`.

    Parameters
    ----------
    config
        How it was made and to what it may be applied.
    weights
        Projections and network.
    history
        A row per epoch: train_loss, held_out_loss.
    curve
        Utility over the threshold on the calibration steps; None until it is calibrated.
    """

    def __init__(
        self,
        config: RouterConfig,
        weights: RouterWeights,
        history: pd.DataFrame,
        curve: ThresholdCurve | None = None,
    ) -> None:
        self.config, self.weights, self.history, self.curve = config, weights, history, curve
        # Projection and first layer are both linear: as one matrix they cost a step half as much.
        n_state = len(weights.state.matrix)
        self._of_state = _product(weights.hidden_weight[:, :n_state], weights.state.matrix)
        self._of_memory = _product(weights.hidden_weight[:, n_state:], weights.memory.matrix)
        self._state_mean, self._memory_mean, self._bias, self._output = (
            torch.from_numpy(np.ascontiguousarray(values))
            for values in (
                weights.state.mean,
                weights.memory.mean,
                weights.hidden_bias,
                weights.output_weight,
            )
        )

    @property
    def origin(self) -> Origin:
        """Where its inputs come from."""
        return self.config.origin

    @property
    def threshold(self) -> float:
        """The positive form is chosen from this relative score on."""
        return self.config.threshold

    def relative_scores(self, inputs: RouterInputs) -> NDArray[np.float64]:
        """score(positive) - score(negative) of every row, (n_steps,).

        Raises
        ------
        ValueError
            When the inputs are of another origin, naming every field that differs.
        """
        self.origin.check(inputs.origin)
        return self._relative(inputs.states, inputs.negative, inputs.positive).numpy()

    def decide(self, scores: ArrayLike) -> NDArray[np.str_]:
        """The condition of every relative score."""
        chosen = np.asarray(scores) >= self.threshold
        return np.where(chosen, self.origin.positive, self.origin.negative)

    def choose(
        self, state: ArrayLike, negative_memory: ArrayLike, positive_memory: ArrayLike
    ) -> Decision:
        """Choose the form for one step.

        Parameters
        ----------
        state
            (state_width,), from the site and conditions of `origin`.
        negative_memory, positive_memory
            (memory_width,), embeddings of the recalled step in either form.

        Raises
        ------
        ValueError
            When a vector has another width than `origin` says or is not finite.
        """
        rows = (
            self._row("state", state, self.origin.state_width),
            self._row("negative_memory", negative_memory, self.origin.memory_width),
            self._row("positive_memory", positive_memory, self.origin.memory_width),
        )
        score = float(self._relative(*rows)[0])
        if not math.isfinite(score):
            raise ValueError(f"the relative score is {score}: a vector holds values not finite")
        positive = score >= self.threshold
        return Decision(self.origin.positive if positive else self.origin.negative, score)

    def calibrated(
        self, inputs: RouterInputs, negative_utility: ArrayLike, positive_utility: ArrayLike
    ) -> PairwiseRouter:
        """The same router with the threshold that yields the most utility on these steps.

        Parameters
        ----------
        inputs
            Of the calibration steps; none of them may be a step of the evaluation.
        negative_utility, positive_utility
            (n_steps,) utility of either form.
        """
        scores = self.relative_scores(inputs)
        curve = threshold_curve(
            scores,
            negative_utility,
            positive_utility,
            negative=self.origin.negative,
            positive=self.origin.positive,
        )
        found = {
            "calibration_utility": curve.best.utility,
            "calibration_positive_rate": curve.best.positive_rate,
        }
        calibrated_on = {
            "calibration_steps": len(inputs),
            "calibration_episodes": len(set(inputs.episode_ids)),
        }
        config = self.config.model_copy(
            update={
                "threshold": curve.tau,
                "counts": {**self.config.counts, **calibrated_on},
                "metrics": {**self.config.metrics, **found},
            }
        )
        return PairwiseRouter(config, self.weights, self.history, curve)

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write config.json, model.safetensors and README.md into `folder`."""
        return save_folder(folder, self._parts())

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path,
        *,
        origin: Origin | None = None,
        revision: str | None = None,
        token: str | None = None,
    ) -> PairwiseRouter:
        """Read a local folder or a Hugging Face Hub repository.

        Parameters
        ----------
        origin
            What it is to be applied to; another actor, site, width or embedder is refused.

        Raises
        ------
        ValueError
            Naming the file that is missing, malformed or inconsistent, or the fields of the origin
            that differ.
        """
        router = cls(*load_folder(name_or_path, revision, token))
        if origin is not None:
            router.origin.check(origin)
        return router

    def push_to_hub(
        self,
        repo_id: str,
        *,
        private: bool | None = None,
        token: str | None = None,
        commit_message: str = "Upload memory router",
    ) -> str:
        """Upload the folder of `save_pretrained` and return the commit's address."""
        return push_artefact(
            repo_id,
            self.save_pretrained,
            private=private,
            token=token,
            commit_message=commit_message,
        )

    def __repr__(self) -> str:
        origin = self.origin
        return (
            f"PairwiseRouter({origin.positive} if score >= {self.threshold:.4g} else "
            f"{origin.negative}, {origin.model} at {origin.site}, memories by {origin.embedder})"
        )

    def _parts(self) -> RouterParts:
        return RouterParts(self.config, self.weights, self.history, self.curve)

    @torch.inference_mode()
    def _relative(self, states: Any, negative: Any, positive: Any) -> Tensor:
        # Each candidate is scored in a call of its own and of equal shape: were both rows of one
        # matrix, rounding could depend on the row, and swapping them would not flip the sign exactly.
        of_state = (torch.as_tensor(states) - self._state_mean) @ self._of_state.T + self._bias
        return self._scores(of_state, positive) - self._scores(of_state, negative)

    def _scores(self, of_state: Tensor, memory: Any) -> Tensor:
        of_memory = (torch.as_tensor(memory) - self._memory_mean) @ self._of_memory.T
        return (gelu(of_state + of_memory) @ self._output).double()

    @staticmethod
    def _row(name: str, vector: ArrayLike, width: int) -> Tensor:
        row = torch.as_tensor(vector, dtype=torch.float32)
        if row.shape != (width,):
            raise ValueError(f"{name} has shape {tuple(row.shape)}, the router takes ({width},)")
        return row[None]


def _product(first: NDArray[np.float32], second: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy((first.astype(np.float64) @ second.astype(np.float64)).astype("f4"))
