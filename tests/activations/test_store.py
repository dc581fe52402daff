import fcntl
import json
import os

import numpy as np
import pytest
import torch
import zarr
from activation_samples import (
    BLOCK,
    CONDITIONS,
    SITES,
    STEPS,
    WIDTH,
    append_block,
    block_states,
    fill,
    make_store,
)

from activations import ActivationStore, FingerprintError, StoreError, bytes_needed


@pytest.fixture
def path(tmp_path):
    return tmp_path / "activations.zarr"


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_layers_and_shifts_come_back_exactly(path, dtype):
    states = fill(make_store(path, dtype=dtype)).float().numpy()
    store = ActivationStore.open(path)
    assert store.complete
    for s, site in enumerate(SITES):
        for c, condition in enumerate(CONDITIONS):
            layer = store.layer(site, condition)
            assert layer.dtype == np.float32
            assert np.array_equal(layer, states[:, c, s])
        assert np.array_equal(store.shift(site), states[:, 1, s] - states[:, 0, s])


def test_sign_of_the_shift_follows_the_sides(path):
    states = fill(make_store(path, positive="text", negative="image")).float().numpy()
    shift = ActivationStore.open(path).shift("embed")
    assert np.array_equal(shift, states[:, 0, 0] - states[:, 1, 0])


def test_rows_select_steps_in_their_order(path):
    states = fill(make_store(path)).float().numpy()
    store = ActivationStore.open(path)
    mask = np.arange(STEPS) % 3 == 0
    for rows in ([8, 1, 1], slice(2, 9, 3), mask, np.array([5]), [-1], []):
        index = np.arange(STEPS)[rows] if len(np.shape(rows)) == 0 or len(rows) else []
        found = store.layer("block.0", "text", rows)
        assert np.array_equal(found, states[np.asarray(index, int), 0, 1])


def test_header_and_prompt_facts_come_back(path):
    fill(make_store(path))
    store = ActivationStore.open(path)
    assert store.step_ids == [f"step-{i}" for i in range(STEPS)]
    assert store.episode_ids[2:4] == ["episode-1", "episode-1"]
    assert (store.conditions, store.sites, store.width) == (CONDITIONS, SITES, WIDTH)
    assert (store.dtype, store.positive, store.negative) == ("bfloat16", "image", "text")
    assert (store.n_steps, store.block_size, store.n_blocks) == (10, 4, 3)
    assert store.fingerprint == {"model": "tiny", "revision": "1", "version.torch": "2"}
    assert store.prompt_tokens.dtype == np.int64
    assert store.prompt_tokens[4:6].tolist() == [[100, 101], [102, 103]]
    assert store.image_tokens[5].tolist() == [51, 51]
    assert store.last_token_id.tolist() == [[7, 7]] * STEPS
    assert store.prompt_sha256[4].tolist() == [f"{100:064x}", f"{101:064x}"]


def test_numpy_states_and_narrower_floats_fit_a_float32_store(path):
    store = make_store(path, dtype="float32")
    append_block(store, 0, block_states(store, 0).numpy())
    half = block_states(store, 1).half()
    append_block(store, 1, half)
    assert np.array_equal(
        store.layer("embed", "text", store.block_rows(1)), half[:, 0, 0].float().numpy()
    )


@pytest.mark.parametrize(
    ("dtype", "states"), [("bfloat16", torch.float32), ("float32", torch.float64)]
)
def test_states_that_would_lose_digits_are_refused(path, dtype, states):
    store = make_store(path, dtype=dtype)
    with pytest.raises(StoreError, match=f"states are {states}, expected"):
        append_block(store, 0, block_states(store, 0).to(states))


def test_blocks_are_whole_shards_and_the_last_has_fewer_rows(path):
    store = make_store(path)
    assert [store.block_rows(b) for b in range(3)] == [slice(0, 4), slice(4, 8), slice(8, 10)]
    fill(store)
    shards = sorted(p.relative_to(path / "states" / "c") for p in path.glob("states/c/*/*/*/*"))
    assert [str(shard) for shard in shards] == ["0/0/0/0", "1/0/0/0", "2/0/0/0"]
    with pytest.raises(StoreError, match=r"block 3 is outside of 0 … 2"):
        store.block_rows(3)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_bytes_needed_are_those_of_the_shards(path, dtype):
    store = make_store(path, dtype=dtype)
    fill(store)
    on_disk = sum(f.stat().st_size for f in (path / "states" / "c").rglob("*") if f.is_file())
    assert store.bytes_needed == on_disk
    assert bytes_needed(STEPS, 2, 3, WIDTH, dtype, BLOCK) == on_disk


def test_incomplete_store_reads_done_rows_and_refuses_others(path):
    store = make_store(path)
    fill(store, [1])
    store = ActivationStore.open(path)
    assert store.done.tolist() == [False, True, False]
    assert store.pending() == [0, 2]
    assert not store.complete
    assert store.layer("embed", "text", [4, 7]).shape == (2, WIDTH)
    assert store.prompt_tokens[0].tolist() == [-1, -1]
    for rows in (None, [4, 8], slice(0, 5)):
        with pytest.raises(StoreError, match=r"is incomplete: step 'step-[08]' lies in block"):
            store.layer("embed", "text", rows)


def test_unknown_site_and_condition_are_named(path):
    fill(store := make_store(path))
    with pytest.raises(StoreError, match=r"site 'block\.9' is not in .* which has embed, block\.0"):
        store.layer("block.9", "text")
    with pytest.raises(StoreError, match="condition 'both' is not in"):
        store.layer("embed", "both")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_non_finite_state_is_refused_naming_step_condition_and_site(path, value):
    store = make_store(path)
    states = block_states(store, 1)
    states[2, 1, 1, 5] = value
    with pytest.raises(
        StoreError, match=r"'step-6', condition 'image', site 'block\.0' are not fin"
    ):
        append_block(store, 1, states)
    assert not (path / "states" / "c").exists()
    assert store.pending() == [0, 1, 2]


def test_wrong_shapes_and_values_are_refused_before_anything_is_written(path):
    store = make_store(path)
    states = block_states(store, 0)
    good = {
        "prompt_tokens": np.ones((4, 2), int),
        "image_tokens": np.ones((4, 2), int),
        "last_token_id": np.ones((4, 2), int),
        "prompt_sha256": np.full((4, 2), "a" * 64),
    }
    wrong = {
        "prompt_tokens": np.ones((4, 3), int),
        "image_tokens": np.full((4, 2), -1),
        "last_token_id": np.ones((4, 2)),
        "prompt_sha256": np.full((4, 2), "A" * 64),
    }
    for name, values in wrong.items():
        with pytest.raises(StoreError, match=name):
            store.append(0, states, **good | {name: values})
    with pytest.raises(StoreError, match=r"shape \(3, 2, 3, 8\), expected \(4, 2, 3, 8\)"):
        store.append(0, states[:3], **good)
    assert not list(path.rglob("c/0/0"))


def test_a_done_block_is_not_written_again(path):
    store = make_store(path)
    append_block(store, 0)
    with pytest.raises(StoreError, match=r"block 0 of .* is done already"):
        append_block(store, 0)


def test_reading_mode_cannot_append(path):
    make_store(path)
    with pytest.raises(StoreError, match="open for reading"):
        append_block(ActivationStore.open(path), 0)


def test_create_refuses_an_existing_path(path):
    path.mkdir()
    (path / "mine.txt").write_text("keep")
    with pytest.raises(StoreError, match="exists"):
        make_store(path)
    assert (path / "mine.txt").read_text() == "keep"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step_ids": ["a"] * 10}, "step_ids has 'a' twice, at 0 and 1"),
        ({"step_ids": [*"abcdefghi", ""]}, r"step_ids\[9\] is ''"),
        ({"step_ids": []}, "step_ids is empty"),
        ({"episode_ids": ["a"]}, "episode_ids has 1 entries, expected one for each of the 10"),
        ({"conditions": ("text", "both")}, "positive 'image' is not among the conditions"),
        ({"negative": "image"}, "positive and negative are both 'image'"),
        ({"dtype": "float16"}, "dtype 'float16' is not one of float32, bfloat16"),
        ({"width": 0}, "width is 0"),
        ({"block_size": 0}, "block_size is 0"),
        ({"fingerprint": {"n": 1}}, r"fingerprint\['n'\] is 1, expected a string"),
    ],
)
def test_values_that_make_no_store_are_named(path, changes, message):
    with pytest.raises(StoreError, match=message):
        make_store(path, **changes)
    assert not path.exists()


def test_another_fingerprint_is_refused_naming_the_fields(path):
    fingerprint = make_store(path).fingerprint
    ActivationStore.open(path, "a", fingerprint)
    other = fingerprint | {"revision": "2", "device": "cuda"}
    with pytest.raises(FingerprintError) as error:
        ActivationStore.open(path, "a", other)
    assert "revision: store has '1', this run has '2'" in str(error.value)
    assert "device: store has None, this run has 'cuda'" in str(error.value)
    assert "model" not in str(error.value).split("another kind of run")[1]


def test_open_or_create_refuses_other_steps_sites_or_blocks(path):
    layout = {
        "step_ids": ["a", "b", "c"],
        "episode_ids": ["e", "e", "f"],
        "conditions": CONDITIONS,
        "sites": SITES,
        "width": WIDTH,
        "dtype": "bfloat16",
        "fingerprint": {"model": "tiny"},
        "block_size": 2,
    }
    ActivationStore.open_or_create(path, **layout)
    assert ActivationStore.open_or_create(path, **layout).n_steps == 3
    for change in (
        {"step_ids": ["a", "b", "d"]},
        {"sites": SITES[:2]},
        {"block_size": 3},
        {"positive": "text", "negative": "image"},
    ):
        with pytest.raises(FingerprintError, match=next(iter(change))):
            ActivationStore.open_or_create(path, **layout | change)
    with pytest.raises(FingerprintError, match="model: store has 'tiny', this run has 'other'"):
        ActivationStore.open_or_create(path, **layout | {"fingerprint": {"model": "other"}})


def test_folder_that_is_no_store_is_refused(tmp_path):
    with pytest.raises(StoreError, match=r"has no zarr\.json"):
        ActivationStore.open(tmp_path)
    zarr.create_group(tmp_path / "other")
    with pytest.raises(
        StoreError, match="encoding-type is None, expected 'mnemoscope-activations'"
    ):
        ActivationStore.open(tmp_path / "other")


def test_store_of_another_version_is_refused(path):
    make_store(path)
    header = json.loads((path / "zarr.json").read_text())
    header["attributes"]["encoding-version"] = "9.0"
    (path / "zarr.json").write_text(json.dumps(header))
    with pytest.raises(StoreError, match=r"encoding-version is '9\.0', expected '1\.0'"):
        ActivationStore.open(path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("block_size", "64", "block_size is '64', expected an integer"),
        ("block_size", None, "block_size is None"),
        ("block_size", 4.0, r"block_size is 4\.0"),
        ("block_size", True, "block_size is True"),
        ("dtype", ["x"], r"dtype \['x'\] is not one of"),
        ("dtype", None, "dtype None is not one of"),
        ("fingerprint", None, "fingerprint is None"),
        ("fingerprint", [1], r"fingerprint is \[1\]"),
        ("fingerprint", {"model": None}, r"fingerprint\['model'\] is None"),
        ("positive", ["image"], r"positive \['image'\] is not among"),
        ("negative", None, "negative None is not among"),
    ],
)
def test_attribute_of_another_type_is_named(path, name, value, message):
    make_store(path)
    header = json.loads((path / "zarr.json").read_text())
    header["attributes"][name] = value
    (path / "zarr.json").write_text(json.dumps(header))
    with pytest.raises(StoreError, match=f"{path} is not a sound activation store: {message}"):
        ActivationStore.open(path)


def test_two_processes_cannot_write_at_once(path):
    store = make_store(path)
    folder = os.open(path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        with pytest.raises(StoreError, match="being written by another process"):
            append_block(store, 0)
    finally:
        os.close(folder)
    append_block(store, 0)


def test_done_is_written_after_the_shard_and_everything_is_forced_to_disk(path, monkeypatch):
    store = make_store(path)
    written, synced = [], []
    replace, fsync = type(path).replace, os.fsync

    def recorded(partial, target):
        assert synced, f"{target} was renamed before its data were forced to disk"
        synced.clear()
        written.append(str(target.relative_to(path)))
        return replace(partial, target)

    monkeypatch.setattr(type(path), "replace", recorded)
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(1), fsync(descriptor)))
    append_block(store, 0)
    assert written[0] == "states/c/0/0/0/0"
    assert written[-1] == "done/c/0"
    assert len(written) == 6
