"""What makes the conditions of a step comparable."""

import pytest
import torch

from actor import Response
from workbench.collect import check_pair


def response(image_tokens: int, last_token_id: int = 7) -> Response:
    return Response(torch.zeros(2, 4), ("a", "b"), (), 10, image_tokens, last_token_id, "0" * 64)


def test_a_comparable_pair_passes() -> None:
    check_pair(
        "s", {"none": response(4), "text": response(4), "image": response(9), "both": response(9)}
    )


def test_other_last_tokens_are_refused_naming_the_step() -> None:
    with pytest.raises(ValueError, match=r"step 'e/3'.*different tokens.*'text': 7.*'image': 8"):
        check_pair("e/3", {"text": response(4), "image": response(9, last_token_id=8)})


@pytest.mark.parametrize(
    "pair",
    [
        {"text": response(9), "image": response(9)},
        {"text": response(9), "image": response(4)},
        {"none": response(4), "text": response(5)},
        {"image": response(9), "both": response(10)},
    ],
    ids=["text sees a picture", "swapped", "none and text differ", "image and both differ"],
)
def test_image_tokens_that_do_not_fit_are_refused_naming_the_step(
    pair: dict[str, Response],
) -> None:
    with pytest.raises(ValueError, match=r"step 'e/3': image tokens by condition are"):
        check_pair("e/3", pair)
