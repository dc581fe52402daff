"""A store that is killed at any instant and resumed equals one that was never interrupted."""

import multiprocessing
import random
import time

import pytest
from activation_samples import append_block, fill, make_store

from activations import ActivationStore, durable
from activations.durable import remove_partial_files, write_whole


def resume(path):
    """What a run does: open the store or make it, and append what is pending."""
    store = ActivationStore.open(path, "a") if path.exists() else small_store(path)
    for block in store.pending():
        append_block(store, block)


def small_store(path):
    return make_store(path, step_ids=["a", "b"], episode_ids=["e", "e"], block_size=1)


def files_of(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_killed_at_random_instants_and_resumed_equals_uninterrupted(tmp_path):
    resume(tmp_path / "whole.zarr")
    begun = time.monotonic()
    resume(tmp_path / "again.zarr")
    duration = time.monotonic() - begun
    # A server that has imported everything starts a writer in milliseconds.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["activation_samples"])
    draw = random.Random(0)
    killed = 0
    for attempt in range(6):
        path = tmp_path / f"killed-{attempt // 3}.zarr"
        process = context.Process(target=resume, args=(path,))
        process.start()
        time.sleep(draw.uniform(0.2, 1) * duration)
        process.kill()
        process.join()
        killed += process.exitcode == -9
    for attempt in range(2):
        path = tmp_path / f"killed-{attempt}.zarr"
        resume(path)
        assert files_of(path) == files_of(tmp_path / "whole.zarr")
    assert killed


class Killed(BaseException):
    """Stands for the end of the process at one write."""


def test_stopped_at_single_writes_and_resumed_equals_uninterrupted(tmp_path, monkeypatch):
    written = []

    def recorded(target, data):
        written.append(target)
        write_whole(target, data)

    monkeypatch.setattr(durable, "write_whole", recorded)
    resume(tmp_path / "whole.zarr")
    expected = files_of(tmp_path / "whole.zarr")
    creating = sum(".draft" in str(target) for target in written)
    # Each write of the blocks, and some of those that create the store.
    for stop_at in (*range(1, creating, 4), *range(creating, len(written))):
        path = tmp_path / f"stopped-{stop_at}.zarr"
        monkeypatch.setattr(durable, "write_whole", half_written_at(stop_at))
        with pytest.raises(Killed):
            resume(path)
        monkeypatch.setattr(durable, "write_whole", write_whole)
        resume(path)
        assert files_of(path) == expected, f"stopped at {written[stop_at]}"


def half_written_at(stop_at):
    """A `write_whole` that stops half-way through the write of that number."""
    count = 0

    def write(target, data):
        nonlocal count
        if count == stop_at:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = target.with_name(target.name + durable.PARTIAL)
            partial.write_bytes(data[: len(data) // 2])
            raise Killed
        count += 1
        write_whole(target, data)

    return write


def test_half_created_store_is_no_store_and_is_made_again(tmp_path):
    draft = tmp_path / ".activations.zarr.draft"
    (draft / "states").mkdir(parents=True)
    (draft / "states" / "zarr.json.partial").write_text("{")
    store = make_store(tmp_path / "activations.zarr")
    fill(store)
    assert [p.name for p in tmp_path.iterdir()] == ["activations.zarr"]
    assert store.verify() == []


def test_opening_for_reading_touches_nothing(tmp_path):
    path = make_store(tmp_path / "a.zarr").path
    partial = path / "states" / "zarr.json.partial"
    partial.write_text("{")
    ActivationStore.open(path)
    assert partial.exists()
    ActivationStore.open(path, "a")
    assert not partial.exists()


def test_write_whole_replaces_and_leaves_nothing_else(tmp_path):
    write_whole(tmp_path / "a" / "b", b"one")
    write_whole(tmp_path / "a" / "b", b"two")
    assert files_of(tmp_path) == {"a/b": b"two"}
    (tmp_path / "a" / "c.partial").write_bytes(b"")
    remove_partial_files(tmp_path)
    assert files_of(tmp_path) == {"a/b": b"two"}
