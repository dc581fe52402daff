"""What is written is there whole or not at all."""

from pathlib import Path

import pytest

from workbench.atomic import write_file, write_folder


def _half(path: Path) -> None:
    path.write_text("half")
    raise RuntimeError("killed")


def _half_folder(path: Path) -> None:
    path.mkdir()
    _half(path / "part")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    write_file(path, lambda partial: partial.write_text("old"))
    with pytest.raises(RuntimeError):
        write_file(path, _half)
    assert path.read_text() == "old"


def test_the_next_attempt_replaces_the_partial_one(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        write_folder(tmp_path / "store", _half_folder)
    assert not (tmp_path / "store").exists()

    def write(path: Path) -> None:
        path.mkdir()
        (path / "whole").write_text("whole")

    write_folder(tmp_path / "store", write)
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["whole"]
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_folder_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "data").write_text("kept")
    with pytest.raises(OSError, match="not empty"):
        write_folder(tmp_path / "store", lambda path: path.mkdir())
    assert (tmp_path / "store" / "data").read_text() == "kept"


def test_the_suffix_of_a_partial_file_is_the_files(tmp_path: Path) -> None:
    suffixes = []

    def write(path: Path) -> None:
        suffixes.append(path.suffix)
        path.touch()

    write_file(tmp_path / "figure.svg", write)
    assert suffixes == [".svg"]
