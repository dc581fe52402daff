"""What a person reads on the terminal: a finished run's summary, a store's description."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table

from activations import ActivationStore
from probes import LayerCurve, Preferences
from probes.auroc import POOLED
from workbench.results import Results, read_results
from workbench.run import Run


def print_summary(run: Run, console: Console) -> None:
    """Show the funnel, the AUROC by layer, the peak, and where everything lies."""
    results = read_results(run)
    console.print()
    console.print(funnel_table(results.preferences))
    console.print(curve_table(results.curve, results.across_tasks))
    for line in headlines(results):
        console.print(line, highlight=False)
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
            row["site"],
            _number(row["auroc"]),
            f"{_number(row['low'])} … {_number(row['high'])}",
            _number(row["shuffled"]),
            _number(row["nuisance"]),
            _number(others.get(row["site"])),
            "◀ peak" if row["site"] == curve.peak["site"] else "",
        )
    return table


def headlines(results: Results) -> list[str]:
    """The few sentences that matter most."""
    peak, final = results.curve.peak, results.curve.final
    metrics = results.estimator.config_.metrics
    task = results.within["task"]
    pooled = task[(task["site"] == peak["site"]) & (task["task"] == POOLED)].iloc[0]
    lines = [
        f"Peak: {peak['site']} with AUROC {_interval(peak)}; last block: {final['site']} with "
        f"{_interval(final)}.",
        f"Within tasks (pairs of steps of one task only), at {peak['site']}: {_interval(pooled)}.",
        f"Estimator: reads {results.estimator.config_.site}, out-of-fold AUROC "
        f"{_number(metrics['out_of_fold_auroc'])} on the "
        f"{results.estimator.config_.analysis_set.replace('_', '-')} steps.",
    ]
    if results.across_tasks is not None:
        other = results.across_tasks.peak
        lines.insert(1, f"Across tasks: peak at {other['site']} with AUROC {_interval(other)}.")
    return lines


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
        table.add_row(what, str(run.path(name)))
    return table


def store_tables(path: Path) -> list[Table]:
    """A store's size, progress, axes and fingerprint."""
    store = ActivationStore.open(path)
    facts = Table(title=str(path), title_justify="left", box=box.SIMPLE, show_header=False)
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
        facts.add_row(what, value)
    fingerprint = Table(
        title="Fingerprint", title_justify="left", box=box.SIMPLE, show_header=False
    )
    for name, value in store.fingerprint.items():
        fingerprint.add_row(name, value)
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
