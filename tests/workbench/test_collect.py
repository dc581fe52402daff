"""What makes the conditions of a step comparable."""

from pathlib import Path

import pytest
import torch
from PIL import Image
from small_runs import small_config
from tiny_models import tiny_qwen3_vl

from actor import Actor, Response
from memory import Query
from workbench import Run, run_stage
from workbench.collect import _respond, check_pair
from workbench.config import SamplingSection
from workbench.pairs import pair_steps


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


@pytest.fixture(scope="module")
def actor(tmp_path_factory: pytest.TempPathFactory) -> Actor:
    return Actor.from_pretrained(tiny_qwen3_vl(tmp_path_factory.mktemp("model")), engine="hooks")


@pytest.fixture(scope="module")
def query(steps_table: Path) -> Query:
    return pair_steps(small_config(steps_table))[0]


@pytest.mark.parametrize(
    ("part", "new_tokens", "words"),
    [
        ({"type": "text", "text": "<|image_pad|>"}, 1, "image"),
        ({"type": "image", "image": Image.new("RGB", (2000, 2))}, 1, "aspect ratio"),
        ({"type": "text", "text": "long"}, 10_000, r"answer up to 10000 .* takes 8192 in all"),
    ],
    ids=["placeholder in a text", "aspect ratio", "too long"],
)
def test_a_prompt_that_is_refused_names_the_step_and_the_condition(
    part: dict, new_tokens: int, words: str, actor: Actor, query: Query
) -> None:
    # The number of pictures must be right, or it would be refused before the actor sees it.
    condition = "image" if part["type"] == "image" else "text"
    shown = {condition: lambda step, dialect: [part]}
    sampling = SamplingSection(samples=1, max_new_tokens=new_tokens)
    with pytest.raises(
        ValueError, match=rf"^step '{query.step.step_id}', condition '{condition}': .*{words}"
    ):
        _respond(actor, query, shown, sampling, 0)


@pytest.mark.parametrize(
    ("section", "key", "name", "known"),
    [
        ("preferences", "scorer", "elment", "aitw, element"),
        ("actor", "dialect", "qwem", "pocket, qwen, ui-tars"),
        ("export", "site", "block.99", "embed, block.0"),
    ],
)
def test_an_unknown_name_is_refused_before_a_block_is_collected(
    section: str, key: str, name: str, known: str, actor: Actor, steps_table: Path, tmp_path: Path
) -> None:
    model = {"actor": {"model": actor.model.config.name_or_path, "engine": "hooks"}}
    sections = {**model, section: {**model.get(section, {}), key: name}}
    run = Run.open(small_config(steps_table, **sections), tmp_path)
    run_stage(run, "pairs")
    with pytest.raises(ValueError, match=rf"^{section}\.{key}: found '{name}'.*{known}"):
        run_stage(run, "collect")
    assert not run.path("samples").exists()
