"""The stages of a run, in order.

Convention: a stage is a function of a `Run` that reads what the stages before it left in the run
folder and writes its own artefacts, each whole, the one that is named here last. So a stage whose
artefact is there has nothing to do, and is not even imported, since most import torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from workbench.run import Run


@dataclass(frozen=True)
class Stage:
    """Where a stage's function is, as `module:function`, and the artefact that it writes last."""

    function: str
    artefact: str


STAGES: dict[str, Stage] = {
    "pairs": Stage("workbench.pairs:write_pairs", "pairs.parquet"),
    "collect": Stage("workbench.collect:collect", "samples.parquet"),
    "sweep": Stage("workbench.sweep:sweep", "sweep/within_query.parquet"),
    "export": Stage("workbench.export:export", "estimator"),
    "label": Stage("workbench.export:label", "targets.parquet"),
    "report": Stage("workbench.illustrate:report", "report.html"),
}
"""Every stage by its name, in the order in which they run."""


def run_stage(run: Run, name: str) -> None:
    """Run one stage, unless its artefact is there.

    Raises
    ------
    ValueError
        When there is no such stage, an artefact that it needs is missing (the stage that makes it is
        named), or its input is bad.
    """
    if name not in STAGES:
        raise ValueError(f"stage {name!r} is not one of {', '.join(STAGES)}")
    stage = STAGES[name]
    if run.has(stage.artefact):
        return
    run.note(f"{name}: begins")
    module, function = stage.function.split(":")
    getattr(import_module(module), function)(run)
    run.note(f"{name}: done")


def run_stages(run: Run, names: Sequence[str] = tuple(STAGES)) -> None:
    """Run several stages in order, all of them by default."""
    for name in names:
        run_stage(run, name)
