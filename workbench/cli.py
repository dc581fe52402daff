"""The command line `mnemoscope`.

Convention: exit code 0 when all is done, 1 for a failure, 2 for bad usage or input, 130 for Ctrl-C.
Whatever needs torch is imported inside the command that uses it, so that help comes at once.
"""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from workbench.config import bundled_configs, load_config
from workbench.run import Run
from workbench.stages import run_stage, run_stages


class PlainErrors(TyperGroup):
    """Turns what a command raises into one message on standard error and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("\nInterrupted. The same command resumes where it stopped.", err=True)
            raise typer.Exit(130) from None
        except ValueError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(2) from None
        except Exception as error:
            # Typer's own exceptions carry their exit code.
            if hasattr(error, "exit_code") or os.environ.get("MNEMOSCOPE_TRACEBACK"):
                raise
            typer.echo(f"Failed: {type(error).__name__}: {error}", err=True)
            typer.echo("MNEMOSCOPE_TRACEBACK=1 shows where.", err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    name="mnemoscope",
    cls=PlainErrors,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="First run: [bold]mnemoscope run demo[/bold]. What is missing here: "
    "[bold]mnemoscope doctor[/bold].",
)
store_app = typer.Typer(no_args_is_help=True, help="Look at an activation store.")
record_app = typer.Typer(no_args_is_help=True, help="Record steps of an environment.")
app.add_typer(store_app, name="store", rich_help_panel="Other")
app.add_typer(record_app, name="record", rich_help_panel="Other")

Config = Annotated[
    str,
    typer.Argument(
        help="A TOML file, or the name of a bundled configuration "
        f"({', '.join(bundled_configs())}).",
        show_default=False,
    ),
]
Runs = Annotated[Path, typer.Option("--runs", help="Folder that holds the run folders.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="Replace a key, as in --set sweep.folds=3. May be given again.", metavar="KEY=VALUE"
    ),
]  # fmt: skip


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mnemoscope {metadata.version('mnemoscope')}")
        raise typer.Exit


@app.callback(
    help="Which form of memory does a GUI agent want at this step, and where in the model can that "
    "be read?\n\nOne command goes through the whole job; each stage is also a command of its own. "
    "What is done is skipped, so the same command resumes after an interrupt."
)
def mnemoscope(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Holds the options that come before a command."""


@app.command("run", rich_help_panel="The main job")
def run_command(config: Config, runs: Runs = Path("runs"), set: Set = None) -> None:
    """Go through all stages: pairs, collect, sweep, export, label, report.

    \b
    Examples:
      mnemoscope run demo
      mnemoscope run my.toml --runs /data/runs
      mnemoscope run demo --set run.name=small --set data.n_steps=200
    """
    from workbench.summary import print_summary

    run = Run.open(load_config(config, set or ()), runs)
    with run.locked():
        run_stages(run)
    print_summary(run, Console())


def _add_stage(name: str, help: str) -> None:
    def command(config: Config, runs: Runs = Path("runs"), set: Set = None) -> None:
        run = Run.open(load_config(config, set or ()), runs)
        with run.locked():
            run_stage(run, name)
        typer.echo(f"{name}: done, in {run.folder}")

    app.command(name, help=help, rich_help_panel="Stages")(command)


_add_stage("pairs", "Pick the query steps, what is withheld of them, and the memory of each.")
_add_stage(
    "collect",
    "Run the actor: per step and condition the hidden states and the K scored actions. Resumes.",
)
_add_stage("sweep", "Label the preferences and fit a probe at every layer.")
_add_stage("export", "Fit and save the estimator that is handed on.")


@app.command("label", rich_help_panel="Stages")
def label_command(
    store: Annotated[Path, typer.Argument(help="An activation store (activations.zarr).")],
    estimator: Annotated[Path, typer.Option(help="Folder of an exported estimator.")],
    out: Annotated[Path, typer.Option(help="Parquet file to write.")] = Path("targets.parquet"),
    form: Annotated[
        str | None,
        typer.Option(help="signed, probability or logit; the estimator's own if left out."),
    ] = None,
) -> None:
    """Label the steps of any store with an estimator's preference targets.

    \b
    Example:
      mnemoscope label runs/demo/activations.zarr --estimator runs/demo/estimator
    """
    from workbench.export import label_store

    targets = label_store(store, estimator, out, form)
    typer.echo(f"{len(targets)} targets in {out}")


_add_stage("report", "Draw the figures and write report.html.")


@store_app.command("info")
def store_info(path: Annotated[Path, typer.Argument(help="An activation store.")]) -> None:
    """Size, conditions, sites, progress and fingerprint of a store.

    \b
    Example:
      mnemoscope store info runs/demo/activations.zarr
    """
    from workbench.summary import store_tables

    console = Console()
    for table in store_tables(path):
        console.print(table)


@store_app.command("verify")
def store_verify(path: Annotated[Path, typer.Argument(help="An activation store.")]) -> None:
    """Read every value of a store and check it. Exit code 1 if something is wrong.

    \b
    Example:
      mnemoscope store verify runs/demo/activations.zarr
    """
    from activations import ActivationStore

    problems = ActivationStore.open(path).verify()
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(1)
    typer.echo(f"{path}: sound")


@record_app.command("miniwob")
def record_miniwob(
    out: Annotated[
        Path | None,
        typer.Argument(help="Parquet table to write; never overwritten.", show_default=False),
    ] = None,
    tasks: Annotated[
        str,
        typer.Option(help="Tasks with commas between them; all that can be played if left out."),
    ] = "",
    seeds: Annotated[
        str, typer.Option(help="Seeds of the pages, as in 0-99 or 3,7,10-12.")
    ] = "0-9",
    split: Annotated[str, typer.Option(help="Name of the set that the steps belong to.")] = "train",
    processes: Annotated[int, typer.Option(help="Browsers at the same time.", min=1)] = 1,
    bundle: Annotated[
        Path | None,
        typer.Option(
            help="Instead of OUT: a folder for the three sets that come with the package, recorded "
            "anew with their own tasks and seeds."
        ),
    ] = None,
) -> None:
    """Record MiniWoB++ episodes that earn reward, in a real Chromium. The same command resumes.

    \b
    Examples:
      mnemoscope record miniwob steps.parquet --tasks click-button,click-tab --seeds 0-99
      mnemoscope record miniwob query.parquet --seeds 5000-5049 --split query --processes 2
      mnemoscope record miniwob --bundle recorded --processes 2
    """
    from episodes.miniwob import DEMONSTRATORS, parse_seeds, record, record_bundle

    if bundle is not None and out is None:
        tables = record_bundle(bundle, processes=processes)
    elif out is None or bundle is not None:
        raise typer.BadParameter("give either OUT, the table to write, or --bundle FOLDER")
    else:
        names = [name.strip() for name in tasks.split(",")] if tasks else sorted(DEMONSTRATORS)
        plan = dict.fromkeys(names, parse_seeds(seeds))
        tables = {str(out): record(out, plan, split=split, processes=processes)}
    for name, steps in tables.items():
        typer.echo(f"{name}: {steps!r}")


@app.command(rich_help_panel="Other")
def doctor() -> None:
    """Say what is installed, which devices there are, and what is missing for what."""
    from workbench.doctor import print_diagnosis

    print_diagnosis(Console())


def main() -> None:
    """Entry point of the command `mnemoscope`."""
    app(prog_name="mnemoscope")


if __name__ == "__main__":
    main()
