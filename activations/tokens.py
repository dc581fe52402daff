"""The last prompt token: where it is in a batch padded on either side, and which token it is."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def last_token_index(attention_mask: Tensor) -> Tensor:
    """Index of the last prompt token of each row.

    Parameters
    ----------
    attention_mask
        (batch, sequence), 1 for prompt tokens and 0 for padding on either side.

    Returns
    -------
    Tensor
        int64, (batch,), on the mask's device.

    Raises
    ------
    ValueError
        When the mask is not two-dimensional or a row has no token.
    """
    if attention_mask.ndim != 2:
        raise ValueError(
            f"attention_mask has shape {tuple(attention_mask.shape)}, expected (batch, sequence)"
        )
    present = attention_mask != 0
    empty = torch.nonzero(~present.any(dim=1)).flatten().tolist()
    if empty:
        raise ValueError(f"attention_mask has no token in rows {empty}; every prompt needs one")
    positions = torch.arange(attention_mask.shape[1], device=attention_mask.device)
    return (present * positions).argmax(dim=1)


def check_last_tokens(
    input_ids: Tensor, attention_mask: Tensor, unpadded: Sequence[Sequence[int]]
) -> None:
    """Prove that the token found by the mask is the last one of the unpadded prompt.

    Parameters
    ----------
    input_ids, attention_mask
        (batch, sequence), padded on either side.
    unpadded
        For each row the ids of its prompt without padding.

    Raises
    ------
    ValueError
        Naming the row, the id found and the id expected.
    """
    index = last_token_index(attention_mask)
    for row, ids in enumerate(unpadded):
        found = int(input_ids[row, index[row]])
        if found != ids[-1]:
            raise ValueError(
                f"row {row}: the attention mask points to token id {found} as the last prompt token, "
                f"the unpadded prompt ends with {ids[-1]}; is the mask that of these input_ids?"
            )
