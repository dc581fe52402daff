"""The stages of a run, in order.

Convention: a stage is a function of a `Run`. It reads what the stages before it left in the run
folder, does nothing when its own artefacts are there, and writes each of them whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from workbench.run import Run

STAGES: dict[str, str] = {
    "pairs": "workbench.pairs:write_pairs",
    "collect": "workbench.collect:collect",
    "sweep": "workbench.sweep:sweep",
    "export": "workbench.export:export",
    "label": "workbench.export:label",
    "report": "workbench.illustrate:report",
}
"""Name of each stage → where it is. A stage is imported when it runs, since most import torch."""


def run_stage(run: Run, name: str) -> None:
    """Run one stage.

    Raises
    ------
    ValueError
        When there is no such stage, an artefact that it needs is missing (the stage that makes it is
        named), or its input is bad.
    """
    if name not in STAGES:
        raise ValueError(f"stage {name!r} is not one of {', '.join(STAGES)}")
    module, function = STAGES[name].split(":")
    run.note(f"{name}: begins")
    getattr(import_module(module), function)(run)
    run.note(f"{name}: done")


def run_stages(run: Run, names: Sequence[str] = tuple(STAGES)) -> None:
    """Run several stages in order, all of them by default."""
    for name in names:
        run_stage(run, name)
