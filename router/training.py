"""Training a router: the relative score regresses a target, stopped by held-out episodes.

Convention: projections and network see the fitted episodes only; the held-out ones say when to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn import functional
from tqdm.auto import tqdm

from router.inputs import RouterInputs
from router.network import CandidateScorer
from router.options import TrainingOptions
from router.pretrained import HISTORY, RouterConfig, RouterWeights, library_versions
from router.projection import Projection, fit_components
from router.router import PairwiseRouter

Loss = Callable[[Tensor, Tensor], Tensor]
LOSSES: dict[str, Loss] = {
    "huber": functional.huber_loss,
    "mse": functional.mse_loss,
    "logistic": functional.binary_cross_entropy_with_logits,
}


def train_router(
    inputs: RouterInputs,
    targets: ArrayLike,
    options: TrainingOptions | None = None,
    *,
    target: str = "signed",
    progress: bool = True,
) -> PairwiseRouter:
    """Train on steps and their targets.

    Parameters
    ----------
    inputs
        Of the training steps.
    targets
        (n_steps,), what the relative score is to say, such as the `target` of
        `probes.label_targets`; larger means the positive form.
    options
        `TrainingOptions()` by default.
    target
        Name of the target, for the record.
    progress
        Show a bar with the held-out loss.

    Returns
    -------
    PairwiseRouter
        Not yet calibrated: it decides by the sign of the relative score.

    Raises
    ------
    ValueError
        When a target is missing, not finite, or not 0 or 1 for the logistic loss; or when there are
        fewer than two episodes.
    """
    options = TrainingOptions() if options is None else options
    values = _checked_targets(inputs, targets, options.loss)
    held_out = held_out_steps(inputs.episode_ids, options.held_out_share, options.seed)
    fitted = ~held_out
    state = fit_components(inputs.states[fitted], options.n_components)
    sides = np.concatenate([inputs.negative[fitted], inputs.positive[fitted]])
    memory = fit_components(sides, options.n_components)
    features = _features(inputs, state, memory)
    network, history = _optimise(features, values, held_out, options, progress)
    best = history.loc[history["held_out_loss"].idxmin()]
    stopping = values[torch.from_numpy(held_out)]
    of_zero = LOSSES[options.loss](torch.zeros(len(stopping)), stopping)
    config = RouterConfig(
        origin=inputs.origin,
        target=target,
        options=options,
        state_components=len(state.matrix),
        memory_components=len(memory.matrix),
        counts=_counts(inputs.episode_ids, held_out),
        metrics={
            "best_epoch": float(best["epoch"]),
            "train_loss": float(best["train_loss"]),
            "held_out_loss": float(best["held_out_loss"]),
            "held_out_loss_of_zero": float(of_zero),
        },
        versions=library_versions(),
    )
    return PairwiseRouter(config, _weights(network, state, memory), history.loc[:, list(HISTORY)])


def held_out_steps(episode_ids: Sequence[str], share: float, seed: int) -> NDArray[np.bool_]:
    """(n_steps,) mask of the steps of the held-out episodes: a share of them, one at least.

    Raises
    ------
    ValueError
        When fewer than two episodes are there.
    """
    episodes = np.unique(np.asarray(episode_ids))
    if len(episodes) < 2:
        raise ValueError(
            f"{len(episodes)} episodes: a router needs two at least, one of them to be held out"
        )
    n_held_out = min(max(1, round(share * len(episodes))), len(episodes) - 1)
    chosen = np.random.default_rng(seed).permutation(episodes)[:n_held_out]
    return np.isin(np.asarray(episode_ids), chosen)


def _optimise(
    features: tuple[Tensor, Tensor, Tensor],
    targets: Tensor,
    held_out: NDArray[np.bool_],
    options: TrainingOptions,
    progress: bool,
) -> tuple[CandidateScorer, pd.DataFrame]:
    """The network at its lowest held-out loss, and a row per epoch: epoch and both losses."""
    loss = LOSSES[options.loss]
    fitted, stopping = torch.from_numpy(~held_out), torch.from_numpy(held_out)
    train = (*(part[fitted] for part in features), targets[fitted])
    held = (*(part[stopping] for part in features), targets[stopping])
    history: list[dict[str, float]] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        widths = (features[0].shape[1], features[1].shape[1])
        network = CandidateScorer(*widths, options.hidden, options.dropout)
        optimiser = torch.optim.AdamW(
            network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay
        )
        best, best_loss, best_epoch = _copy(network), float("inf"), 0
        bar = tqdm(
            range(1, options.max_epochs + 1), desc="router", unit="epoch", disable=not progress
        )
        for epoch in bar:
            train_loss = _epoch(network, optimiser, loss, train, options.batch_size)
            held_loss = _evaluate(network, loss, held)
            history.append({"epoch": epoch, "train_loss": train_loss, "held_out_loss": held_loss})
            bar.set_postfix(held_out_loss=f"{held_loss:.4f}")
            if held_loss < best_loss:
                best, best_loss, best_epoch = _copy(network), held_loss, epoch
            if epoch - best_epoch >= options.patience:
                break
    network.load_state_dict(best)
    return network.eval(), pd.DataFrame(history)


def _epoch(
    network: CandidateScorer,
    optimiser: torch.optim.Optimizer,
    loss: Loss,
    rows: tuple[Tensor, ...],
    batch_size: int,
) -> float:
    """One pass in random order; mean loss over the rows, with dropout."""
    network.train()
    total, n_rows = 0.0, len(rows[-1])
    for batch in torch.randperm(n_rows).split(batch_size):
        *features, targets = (part[batch] for part in rows)
        value = loss(network.relative(*features), targets)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        total += float(value.detach()) * len(batch)
    return total / n_rows


@torch.no_grad()
def _evaluate(network: CandidateScorer, loss: Loss, rows: tuple[Tensor, ...]) -> float:
    network.eval()
    *features, targets = rows
    return float(loss(network.relative(*features), targets))


def _copy(network: CandidateScorer) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


def _features(
    inputs: RouterInputs, state: Projection, memory: Projection
) -> tuple[Tensor, Tensor, Tensor]:
    """Projected state, negative and positive memory."""
    return (
        torch.from_numpy(state.apply(inputs.states)),
        torch.from_numpy(memory.apply(inputs.negative)),
        torch.from_numpy(memory.apply(inputs.positive)),
    )


def _weights(network: CandidateScorer, state: Projection, memory: Projection) -> RouterWeights:
    parts = network.state_dict()
    return RouterWeights(
        state,
        memory,
        parts["hidden.weight"].numpy(),
        parts["hidden.bias"].numpy(),
        parts["output.weight"][0].numpy(),
    )


def _checked_targets(inputs: RouterInputs, targets: ArrayLike, loss: str) -> Tensor:
    values = np.asarray(targets, dtype=np.float32)
    if values.shape != (len(inputs),):
        raise ValueError(f"targets have shape {values.shape}, expected ({len(inputs)},)")
    wrong = ~np.isfinite(values) if loss != "logistic" else ~np.isin(values, (0, 1))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        expected = "a finite number" if loss != "logistic" else "0 or 1"
        raise ValueError(
            f"target of step {inputs.step_ids[row]!r} is {values[row]}, expected {expected}"
        )
    return torch.from_numpy(values)


def _counts(episode_ids: Sequence[str], held_out: NDArray[np.bool_]) -> dict[str, int]:
    episodes = np.asarray(episode_ids)
    return {
        "fitted_steps": int((~held_out).sum()),
        "fitted_episodes": len(set(episodes[~held_out])),
        "held_out_steps": int(held_out.sum()),
        "held_out_episodes": len(set(episodes[held_out])),
    }
