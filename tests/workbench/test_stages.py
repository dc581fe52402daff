"""Stages: what they are called, what they skip, what they need."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from small_runs import small_config

from workbench import STAGES, Run, RunError, run_stage, run_stages


def test_every_stage_is_where_it_is_said_to_be() -> None:
    for stage in STAGES.values():
        module, function = stage.function.split(":")
        assert callable(getattr(import_module(module), function))


def test_an_unknown_stage_lists_the_known_ones(steps_table: Path, tmp_path: Path) -> None:
    run = Run.open(small_config(steps_table), tmp_path)
    with pytest.raises(ValueError, match=r"'colect' is not one of pairs, collect, sweep"):
        run_stage(run, "colect")


@pytest.mark.parametrize(
    ("stage", "needed"),
    [("collect", "pairs"), ("sweep", "pairs"), ("export", "collect"), ("report", "collect")],
)
def test_a_stage_names_the_one_that_must_run_before_it(
    stage: str, needed: str, steps_table: Path, tmp_path: Path
) -> None:
    run = Run.open(small_config(steps_table), tmp_path)
    with pytest.raises(RunError, match=rf"is missing: run `mnemoscope {needed}` first"):
        run_stage(run, stage)


FINISHED = """
import sys, workbench
run = workbench.Run.open(workbench.load_config("demo"), sys.argv[1])
workbench.run_stages(run)
assert not {"torch", "transformers", "pandas"} & set(sys.modules), "imported for nothing"
"""


def test_a_finished_run_imports_nothing_heavy(tmp_path: Path) -> None:
    from workbench import load_config

    run = Run.open(load_config("demo"), tmp_path)
    for stage in STAGES.values():
        run.path(stage.artefact).parent.mkdir(exist_ok=True)
        run.path(stage.artefact).touch()
    run_stages(run)
    subprocess.run(
        [sys.executable, "-c", FINISHED, str(tmp_path)], cwd=Path(__file__).parents[2], check=True
    )
