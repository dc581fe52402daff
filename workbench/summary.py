"""What a person reads on the terminal: a finished run's summary, a store's description."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from activations import ActivationStore
from probes import POOLED, LayerCurve, Preferences
from workbench.results import Results, read_results
from workbench.run import Run


def print_summary(run: Run, console: Console) -> None:
    """Show the funnel, the AUROC by layer, the peak, and where everything lies."""
    results = read_results(run)
    console.print()
    console.print(funnel_table(results.preferences))
    console.print(curve_table(results.curve, results.across_tasks))
    for name, fact in facts(results).items():
        console.print(f"  {name}: {fact}", markup=False, highlight=False, soft_wrap=True)
    console.print(places_table(run))


def funnel_table(preferences: Preferences) -> Table:
    """Counts from all steps down to the stable ones of each side."""
    table = _table("Label funnel", "", "steps", "share")
    total = max(preferences.funnel["steps"], 1)
    for name, count in preferences.funnel.items():
        table.add_row(name.replace("_", " "), f"{count:,}", f"{count / total:.1%}")
    return table


def curve_table(curve: LayerCurve, across_tasks: LayerCurve | None) -> Table:
    """A row per site; the peak is marked."""
    table = _table(
        f"AUROC by layer, {curve.settings['analysis_set']} steps, folds that keep "
        f"{' + '.join(curve.settings['groups'])} whole",
        "site", "AUROC", "95 % interval", "labels shuffled", "token counts only", "across tasks", "",
    )  # fmt: skip
    others = _auroc_by_site(across_tasks)
    for row in curve.table.to_dict("records"):
        table.add_row(
            escape(row["site"]),
            _number(row["auroc"]),
            f"{_number(row['low'])} … {_number(row['high'])}",
            _number(row["shuffled"]),
            _number(row["nuisance"]),
            _number(others.get(row["site"])),
            "◀ peak" if row["site"] == curve.peak["site"] else "",
        )
    return table


def facts(results: Results) -> dict[str, str]:
    """What a reader should know first."""
    curve, across, config = results.curve, results.across_tasks, results.estimator.config_
    peak = curve.peak
    task = results.within["task"]
    inside = task[(task["site"] == peak["site"]) & (task["task"] == POOLED)].iloc[0]
    out_of_fold = {name: config.metrics[f"out_of_fold_{name}"] for name in ("auroc", "low", "high")}
    found = {
        "Actor": f"{config.model}, {len(results.store.sites)} sites of width {config.width}",
        "Peak": f"{peak['site']}, AUROC {_interval(peak)}",
        "Last block": f"{curve.final['site']}, AUROC {_interval(curve.final)}",
        "Folds across tasks": "too few tasks",
        "Within tasks": f"AUROC {_interval(inside)} at {peak['site']}, comparing steps of one task only",
        "Estimator": f"reads {config.site}, fitted on the {config.analysis_set.replace('_', '-')} "
        f"steps, out-of-fold AUROC {_interval(out_of_fold)}",
    }
    if across is not None:
        found["Folds across tasks"] = f"{across.peak['site']}, AUROC {_interval(across.peak)}"
    if (shared := curve.settings["memory_overlap"]) is not None:
        found["Shared memory"] = (
            f"{shared:.0%} of the held-out steps recall a step that a training step recalls"
        )
    return found


def places_table(run: Run) -> Table:
    """Where the artefacts of a run lie."""
    table = Table(box=box.SIMPLE, show_header=False)
    for what, name in (
        ("report", "report.html"),
        ("figures", "figures"),
        ("activation store", "activations.zarr"),
        ("estimator", "estimator"),
        ("targets", "targets.parquet"),
        ("samples", "samples.parquet"),
        ("preferences", "preferences.parquet"),
    ):
        table.add_row(what, escape(str(run.path(name))))
    return table


def store_tables(path: Path) -> list[Table]:
    """A store's size, progress, axes and fingerprint."""
    store = ActivationStore.open(path)
    facts = Table(title=escape(str(path)), title_justify="left", box=box.SIMPLE, show_header=False)
    for what, value in (
        ("steps", f"{store.n_steps:,} of {len(set(store.episode_ids)):,} episodes"),
        (
            "blocks done",
            f"{int(store.done.sum())} of {store.n_blocks}, {store.block_size} steps each",
        ),
        ("conditions", ", ".join(store.conditions)),
        ("shift", f"{store.positive} - {store.negative}"),
        ("sites", f"{len(store.sites)}: {store.sites[0]} … {store.sites[-1]}"),
        ("width", f"{store.width}, {store.dtype}"),
        ("states when complete", f"{store.bytes_needed / 1e6:,.1f} MB"),
    ):
        facts.add_row(what, escape(value))
    fingerprint = Table(
        title="Fingerprint", title_justify="left", box=box.SIMPLE, show_header=False
    )
    for name, value in store.fingerprint.items():
        fingerprint.add_row(escape(name), escape(value))
    return [facts, fingerprint]


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    return table


def _auroc_by_site(curve: LayerCurve | None) -> dict[str, float]:
    return {} if curve is None else dict(zip(curve.table["site"], curve.table["auroc"]))


def _interval(row: Any) -> str:
    auroc, low, high = (_number(row[name]) for name in ("auroc", "low", "high"))
    return f"{auroc} [{low}, {high}]"


def _number(value: float | None) -> str:
    return "–" if value is None or pd.isna(value) else f"{value:.3f}"
