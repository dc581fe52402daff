"""The network that scores one candidate; both candidates of a step go through the same one."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class CandidateScorer(nn.Module):
    """Score of a memory at a state: n_state + n_memory → hidden → 1, GELU, dropout.

    The last layer has no bias, because it would cancel in every difference of two scores.
    """

    def __init__(self, n_state: int, n_memory: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.hidden = nn.Linear(n_state + n_memory, hidden)
        self.activation = nn.GELU()
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden, 1, bias=False)

    def forward(self, state: Tensor, memory: Tensor) -> Tensor:
        """Scores (n_rows,) of states (n_rows, n_state) with memories (n_rows, n_memory)."""
        hidden = self.activation(self.hidden(torch.cat([state, memory], dim=1)))
        return self.output(self.dropout(hidden))[:, 0]

    def relative(self, state: Tensor, negative: Tensor, positive: Tensor) -> Tensor:
        """score(positive) - score(negative), (n_rows,)."""
        return self(state, positive) - self(state, negative)
