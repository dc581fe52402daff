"""The command line: exit codes, messages, help."""

import subprocess
import sys
from pathlib import Path

import pytest
from small_runs import small_config
from typer.testing import CliRunner

import workbench.cli
from workbench import STAGES
from workbench.cli import app

RUNNER = CliRunner()


@pytest.fixture
def config(steps_table: Path, tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(small_config(steps_table).to_toml())
    return path


def test_a_stage_is_a_command(config: Path, tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["pairs", str(config), "--runs", str(tmp_path / "runs")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "runs/small/pairs.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pairs", "nowhere.toml"], "nowhere.toml"),
        (["pairs", "demo", "--set", "sweep.fold=3"], "sweep.fold: unknown key"),
        (["label", "nowhere.zarr", "--estimator", "nowhere"], "nowhere.zarr"),
        (["store", "verify", "nowhere.zarr"], "nowhere.zarr"),
        (["pairs"], "Missing argument"),
        (["record", "miniwob"], "--bundle FOLDER"),
        (["record", "miniwob", "x.parquet", "--seeds", "a-b"], "'a-b'"),
    ],
)
def test_bad_input_exits_with_2_and_one_message(arguments: list[str], message: str) -> None:
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_file_for_the_run_folders_exits_with_2(config: Path) -> None:
    result = RUNNER.invoke(app, ["pairs", str(config), "--runs", str(config)])
    assert result.exit_code == 2
    assert f"{config}: a file, expected a folder" in result.stderr


def test_a_missing_model_folder_exits_with_2(config: Path, tmp_path: Path) -> None:
    arguments = [str(config), "--runs", str(tmp_path), "--set", "actor.model=/nope"]
    assert RUNNER.invoke(app, ["pairs", *arguments]).exit_code == 0
    result = RUNNER.invoke(app, ["collect", *arguments])
    assert result.exit_code == 2
    assert "/nope: found no such folder" in result.stderr


def _raise(error: BaseException) -> None:
    raise error


def test_a_failure_exits_with_1(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        workbench.cli, "run_stage", lambda *_: _raise(RuntimeError("the disk is gone"))
    )
    result = RUNNER.invoke(app, ["pairs", str(config), "--runs", str(tmp_path)])
    assert result.exit_code == 1
    assert result.stderr.startswith("Failed: RuntimeError: the disk is gone")


def test_an_interrupt_exits_with_130_and_says_how_to_go_on(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbench.cli, "run_stage", lambda *_: _raise(KeyboardInterrupt()))
    result = RUNNER.invoke(app, ["pairs", str(config), "--runs", str(tmp_path)])
    assert result.exit_code == 130
    assert "same command resumes" in result.stderr


def test_help_shows_every_stage_and_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom workbench.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit: pass\n"
        "assert not {'torch', 'transformers', 'pandas', 'sklearn'} & set(sys.modules)"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, check=True, capture_output=True, text=True
    )
    assert [
        name for name in ("run", *STAGES, "store", "record", "doctor") if name not in done.stdout
    ] == []


def test_the_version_is_shown() -> None:
    result = RUNNER.invoke(app, ["--version"])
    assert (result.exit_code, result.output.split()[0]) == (0, "mnemoscope")


def test_the_doctor_finds_torch() -> None:
    result = RUNNER.invoke(app, ["doctor"])
    assert result.exit_code == 0
    assert "torch" in result.output
    assert "CPU cores" in result.output
