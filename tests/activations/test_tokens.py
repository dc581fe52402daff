import pytest
import torch

from activations import check_last_tokens, last_token_index


def test_last_token_is_found_under_padding_on_either_side():
    mask = torch.tensor([[1, 1, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0]])
    assert last_token_index(mask).tolist() == [3, 3, 1, 2]


def test_row_without_tokens_is_refused_by_number():
    with pytest.raises(ValueError, match=r"rows \[1\]"):
        last_token_index(torch.tensor([[0, 1], [0, 0]]))


def test_mask_must_have_two_dimensions():
    with pytest.raises(ValueError, match="batch, sequence"):
        last_token_index(torch.ones(3))


def test_token_id_is_checked_against_the_unpadded_prompt():
    ids = torch.tensor([[9, 9, 5, 6], [5, 8, 9, 9]])
    mask = torch.tensor([[0, 0, 1, 1], [1, 1, 0, 0]])
    check_last_tokens(ids, mask, [[5, 6], [5, 8]])
    with pytest.raises(ValueError, match=r"row 1: .* token id 8 .* ends with 6"):
        check_last_tokens(ids, mask, [[5, 6], [5, 6]])
