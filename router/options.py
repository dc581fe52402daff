"""What is free in the training of a router; recorded in the artefact."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TrainingOptions(BaseModel):
    """Settings of `train_router`.

    Parameters
    ----------
    loss
        Of the relative score against the target: "huber" (quadratic up to an error of 1), "mse", or
        "logistic" (the target is 0 or 1, the relative score its log odds).
    n_components
        Principal components of the state, and as many of the memory, at most.
    hidden, dropout
        Of the network.
    learning_rate, weight_decay, batch_size
        Of AdamW; steps per batch.
    max_epochs, patience
        Training ends after `max_epochs`, or after `patience` epochs without a lower loss on the
        held-out episodes; the weights of the lowest are kept.
    held_out_share
        Share of the episodes that are held out to tell when to stop.
    seed
        Of the held-out episodes, first weights, order of batches, and dropout.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    loss: Literal["huber", "mse", "logistic"] = "huber"
    n_components: int = Field(default=512, ge=1)
    hidden: int = Field(default=256, ge=1)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    weight_decay: float = Field(default=0.01, ge=0)
    batch_size: int = Field(default=64, ge=1)
    max_epochs: int = Field(default=200, ge=1)
    patience: int = Field(default=20, ge=1)
    held_out_share: float = Field(default=0.2, gt=0, lt=1)
    seed: int = 0
