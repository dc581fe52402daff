import numpy as np
import pytest
import torch

from activations.bfloat16 import NAN_BITS, from_bits, to_bits


def test_every_bfloat16_value_survives_exactly():
    bits = np.arange(2**16, dtype=np.uint16)
    values = torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16)
    assert np.array_equal(to_bits(values), bits)
    assert np.array_equal(from_bits(bits), values.float().numpy(), equal_nan=True)


def test_other_dtypes_are_refused():
    with pytest.raises(ValueError, match=r"a bfloat16 tensor, found torch\.float32"):
        to_bits(torch.zeros(2))


def test_the_fill_value_is_not_a_number():
    assert np.isnan(from_bits(np.array([NAN_BITS], np.uint16)))[0]
