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
        assert f"{path}: block {name.split('/')[2]}: array {name.split('/')[0]}" in found[0]
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


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_reading_a_block_whose_shard_is_missing_fails(tmp_path, dtype):
    states = fill(make_store(tmp_path / "store.zarr", dtype=dtype))
    (tmp_path / "store.zarr/states/c/1/0/0/0").unlink()
    store = ActivationStore.open(tmp_path / "store.zarr")
    with pytest.raises(StoreError, match=r"'text', site 'embed' are missing.*'step-4' of block 1"):
        store.layer("embed", "text")
    with pytest.raises(StoreError, match=r"'image', site 'block\.0' .*'step-5' of block 1"):
        store.shift("block.0", [0, 5])
    others = store.layer("embed", "text", [3, 8])
    assert (others == states[[3, 8], 0, 0].float().numpy()).all()


@pytest.mark.parametrize("name", ["prompt_tokens", "prompt_sha256"])
def test_reading_prompts_of_a_block_whose_file_is_missing_fails(path, name):
    (path / name / "c" / "2" / "0").unlink()
    with pytest.raises(StoreError, match=f"entries of {name} are missing .*'step-8' of block 2"):
        getattr(ActivationStore.open(path), name)


@pytest.mark.parametrize("name", ["step_id", "site", "done"])
def test_store_with_damaged_labels_does_not_open(path, name):
    flip(path / name / "c" / "0", 1)
    with pytest.raises(StoreError, match=f"array {name} cannot be read"):
        ActivationStore.open(path)


def change(file, **fields):
    metadata = json.loads(file.read_text())
    file.write_text(json.dumps(metadata | fields))


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("prompt_tokens", {"dimension_names": ["step", "side"]}, "dimension_names is"),
        ("states", {"data_type": "int16"}, "data_type is"),
        ("states", {"fill_value": 0}, "fill_value is"),
        ("states", {"shape": [9, 2, 3, 8]}, "shape is"),
        ("states", {"shape": [10, 2, 2, 8]}, "shape is"),
        ("states", {"shape": [10, 2, 3]}, ""),
        ("states", {"shape": [10, 2, 3, 16]}, "chunk_grid is"),
        ("states", {"codecs": None}, ""),
        ("step_id", {"shape": [9]}, ""),
        ("step_id", {"shape": []}, ""),
        ("step_id", {"data_type": "int64"}, ""),
        ("done", {"data_type": "int8"}, "data_type is"),
        ("done", {"shape": [2]}, "shape is"),
    ],
)
def test_store_with_changed_metadata_does_not_open(path, name, fields, message):
    store = ActivationStore.open(path)
    change(path / name / "zarr.json", **fields)
    with pytest.raises(StoreError, match=f"{path} is not .*{name}.*{message}"):
        ActivationStore.open(path)
    assert any(line.startswith(f"{path}: ") for line in store.verify())


def test_store_of_inconsistent_block_size_does_not_open(path):
    attributes = json.loads((path / "zarr.json").read_text())["attributes"]
    change(path / "zarr.json", attributes=attributes | {"block_size": 5})
    with pytest.raises(StoreError, match="array states: chunk_grid is"):
        ActivationStore.open(path)


def test_store_that_lacks_an_array_does_not_open(path):
    (path / "image_tokens" / "zarr.json").unlink()
    with pytest.raises(StoreError, match="array image_tokens is missing"):
        ActivationStore.open(path)
