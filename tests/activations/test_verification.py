import json
import random

import pytest
from activation_samples import fill, make_store

from activations import ActivationStore, StoreError

FILES = ["states/c/1/0/0/0", "prompt_tokens/c/0/0", "prompt_sha256/c/2/0"]


@pytest.fixture
def path(tmp_path):
    fill(make_store(tmp_path / "activations.zarr"))
    return tmp_path / "activations.zarr"


def problems(path):
    return ActivationStore.open(path).verify()


def flip(file, position):
    data = bytearray(file.read_bytes())
    data[position] ^= 1
    file.write_bytes(bytes(data))


def test_complete_and_incomplete_stores_are_sound(path, tmp_path):
    assert problems(path) == []
    half = make_store(tmp_path / "half.zarr")
    fill(half, [1])
    assert problems(half.path) == []


@pytest.mark.parametrize("name", FILES)
def test_any_flipped_byte_is_found_in_its_block(path, name):
    file = path / name
    draw = random.Random(0)
    size = file.stat().st_size
    for position in {0, size - 1, *draw.sample(range(size), 6)}:
        flip(file, position)
        found = problems(path)
        assert len(found) == 1, position
        assert f"block {name.split('/')[2]}: array {name.split('/')[0]}" in found[0]
        flip(file, position)
    assert problems(path) == []


@pytest.mark.parametrize("name", FILES)
def test_missing_and_truncated_files_are_found(path, name):
    file = path / name
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    assert f"array {name.split('/')[0]}" in problems(path)[0]
    file.unlink()
    assert problems(path)[0].endswith(f"file {name} is missing")


def test_reading_a_damaged_layer_fails_instead_of_giving_numbers(path):
    flip(path / "states/c/1/0/0/0", 0)
    with pytest.raises(StoreError, match="array states cannot be read"):
        ActivationStore.open(path).layer("embed", "text")


@pytest.mark.parametrize("name", ["step_id", "site", "done"])
def test_store_with_damaged_labels_does_not_open(path, name):
    flip(path / name / "c" / "0", 1)
    with pytest.raises(StoreError, match=f"array {name} cannot be read"):
        ActivationStore.open(path)


def test_changed_metadata_are_found(path):
    file = path / "prompt_tokens" / "zarr.json"
    metadata = json.loads(file.read_text())
    metadata["dimension_names"] = ["step", "side"]
    file.write_text(json.dumps(metadata))
    assert "array prompt_tokens: dimension_names is" in problems(path)[0]


def test_missing_array_is_found(path):
    (path / "image_tokens" / "zarr.json").unlink()
    assert "array image_tokens is missing" in problems(path)[0]
