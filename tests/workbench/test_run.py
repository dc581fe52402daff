"""Run folders: made once, refused under another configuration, held by one process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import workbench.run
from workbench.config import load_config
from workbench.run import Run, RunError


def test_a_new_run_keeps_its_configuration_and_versions(tmp_path: Path) -> None:
    run = Run.open(load_config("demo"), tmp_path / "runs")
    assert load_config(run.path("config.toml")) == run.config
    assert json.loads(run.path("versions.json").read_text())["torch"]


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    run = Run.open(load_config("demo"), tmp_path)
    before = {path: path.stat().st_mtime_ns for path in run.folder.iterdir()}
    assert Run.open(load_config("demo"), tmp_path) == run
    assert {path: path.stat().st_mtime_ns for path in run.folder.iterdir()} == before


def test_another_configuration_is_refused_naming_each_key(tmp_path: Path) -> None:
    Run.open(load_config("demo"), tmp_path).path("pairs.parquet").touch()
    with pytest.raises(RunError) as refused:
        Run.open(load_config("demo", ["sweep.folds=3", "data.n_steps=7"]), tmp_path)
    assert "sweep.folds: the run has 5, this configuration 3" in str(refused.value)
    assert "data.n_steps: the run has" in str(refused.value)


def test_a_run_in_which_nothing_was_made_takes_another_configuration(tmp_path: Path) -> None:
    Run.open(load_config("demo"), tmp_path).note("begun")
    run = Run.open(load_config("demo", ["sweep.folds=3"]), tmp_path)
    assert load_config(run.path("config.toml")).sweep.folds == 3


def test_of_two_runs_begun_at_once_the_later_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder = workbench.run._make_folder

    def overtaken(folder: Path) -> None:
        monkeypatch.setattr(workbench.run, "_make_folder", make_folder)
        Run.open(load_config("demo", ["sweep.folds=3"]), tmp_path).path("pairs.parquet").touch()

    monkeypatch.setattr(workbench.run, "_make_folder", overtaken)
    with pytest.raises(RunError, match=r"sweep\.folds: the run has 3, this configuration 5"):
        Run.open(load_config("demo"), tmp_path)
    assert load_config(tmp_path / "demo" / "config.toml").sweep.folds == 3


def test_a_run_that_is_held_is_not_begun_anew(tmp_path: Path) -> None:
    run = Run.open(load_config("demo"), tmp_path)
    with run.locked(), pytest.raises(RunError, match="another process"):
        Run.open(load_config("demo", ["sweep.folds=3"]), tmp_path)


def test_the_configuration_is_checked_again_under_the_lock(tmp_path: Path) -> None:
    first = Run.open(load_config("demo"), tmp_path)
    Run.open(load_config("demo", ["sweep.folds=3"]), tmp_path)
    with pytest.raises(RunError, match=r"sweep\.folds: the run has 3"), first.locked():
        pass


@pytest.mark.parametrize("file", ["runs", "runs/demo"])
def test_a_file_in_the_place_of_a_folder_is_named(file: str, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()
    with pytest.raises(RunError, match=f"{file}: a file, expected a folder"):
        Run.open(load_config("demo"), tmp_path / "runs")


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "thesis.tex").write_text("mine")
    with pytest.raises(RunError, match=r"not a run folder.*thesis\.tex"):
        Run.open(load_config("demo"), tmp_path)
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["thesis.tex"]


def test_a_run_killed_while_it_was_made_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "versions.json").write_text("{}")
    (tmp_path / "demo" / ".partial-config.toml").write_text("[ru")
    run = Run.open(load_config("demo"), tmp_path)
    assert load_config(run.path("config.toml")) == run.config


def test_a_missing_artefact_names_the_stage_that_makes_it(tmp_path: Path) -> None:
    run = Run.open(load_config("demo"), tmp_path)
    with pytest.raises(RunError, match=r"pairs\.parquet is missing: run `mnemoscope pairs`"):
        run.needs("pairs.parquet", "pairs")


HOLD = """
import sys, workbench
run = workbench.Run.open(workbench.load_config("demo"), sys.argv[1])
with run.locked():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_process_at_a_time_and_a_killed_one_lets_go(tmp_path: Path) -> None:
    run = Run.open(load_config("demo"), tmp_path)
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    with pytest.raises(RunError, match="another process"), run.locked():
        pass
    other.kill()
    other.communicate()
    with run.locked():
        pass


def test_a_parent_folder_is_made(tmp_path: Path) -> None:
    run = Run.open(load_config("demo"), tmp_path / "deep" / "runs")
    run.note("begun")
    assert run.path("log").read_text().endswith(" begun\n")
