"""bfloat16 kept exactly as its 16 bits, since neither numpy nor Zarr has the type."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

NAN_BITS = 0x7FC0


def to_bits(values: Tensor) -> NDArray[np.uint16]:
    """The bits of a bfloat16 tensor as uint16, same shape.

    Raises
    ------
    ValueError
        When the tensor has another dtype, whose values bfloat16 would not keep exactly.
    """
    if values.dtype != torch.bfloat16:
        raise ValueError(f"expected a bfloat16 tensor, found {values.dtype}")
    return values.contiguous().cpu().view(torch.int16).numpy().view(np.uint16)


def from_bits(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The values of bfloat16 bits, exactly, as float32 of the same shape."""
    return (bits.astype(np.uint32) << 16).view(np.float32)
