"""The wheel: what it holds, and that the main job runs from it, away from the checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "episodes", "memory", "actor", "activations", "probes", "router", "figures", "workbench",
)  # fmt: skip
# Tasks that prefer either side, so that forty steps hold both classes.
TASKS = '["grid-coordinate", "click-dialog-2", "click-tab", "enter-text"]'


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    left_out = shutil.ignore_patterns(
        ".*", "runs", "build", "dist", "*.egg-info", "__pycache__", "notebooks", "tests"
    )
    shutil.copytree(ROOT, source, ignore=left_out)
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, source],
        check=True,
        capture_output=True,
    )
    return next(folder.glob("mnemoscope-*.whl"))


@pytest.mark.slow
def test_wheel_holds_packages_data_and_types(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    assert {f"episodes/data/miniwob-{name}.parquet" for name in ("train", "query", "test")} <= names
    assert {
        "actor/pocket/checkpoint/model.safetensors",
        "episodes/miniwob/snapshot.js",
        "workbench/configs/demo.toml",
        "workbench/report.html.jinja",
    } <= names
    assert not [name for name in names if name.startswith(("tests/", "notebooks/", "benchmarks/"))]


@pytest.mark.slow
def test_main_job_runs_from_the_wheel_away_from_the_checkout(wheel, tmp_path):
    # An environment of its own; the dependencies alone are lent from the one that runs the tests
    # (a folder named in a .pth file is searched, but an editable install in it is not followed).
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", wheel], check=True)
    library = sysconfig.get_path(
        "purelib", vars={"base": str(environment), "platbase": str(environment)}
    )
    (Path(library) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    settings = [
        f"data.tasks={TASKS}", "data.n_steps=40", "query.recall_share=1.0", "sweep.folds=2",
        "sweep.analysis_set=non_tied", "sweep.n_bootstrap=50", "sweep.n_shuffles=2",
    ]  # fmt: skip
    command = [environment / "bin" / "mnemoscope", "run", "demo"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    where = subprocess.run(
        [python, "-c", "import workbench; print(workbench.__file__)"],
        cwd=tmp_path, env=clean, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(where.stdout.strip()).is_relative_to(environment)
    made = {path.name for path in (tmp_path / "runs" / "demo").iterdir()}
    assert {
        "config.toml", "pairs.parquet", "samples.parquet", "activations.zarr", "preferences.parquet",
        "sweep", "figures", "estimator", "targets.parquet", "report.html", "log",
    } <= made  # fmt: skip
