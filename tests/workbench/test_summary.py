"""What a person reads is what is there, brackets included."""

import io
from pathlib import Path

from rich.console import Console
from small_runs import small_config

from activations import ActivationStore
from workbench import Run
from workbench.summary import places_table, store_tables


def shown(*tables: object) -> str:
    console = Console(width=400, record=True, file=io.StringIO())
    for table in tables:
        console.print(table)
    return console.export_text()


def test_brackets_in_a_path_are_shown(steps_table: Path, tmp_path: Path) -> None:
    run = Run.open(small_config(steps_table), tmp_path / "[red]runs[/red]")
    assert str(run.path("report.html")) in shown(places_table(run))


def test_brackets_in_a_stores_path_and_fingerprint_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "[bold]" / "store[/].zarr"
    path.parent.mkdir(parents=True)
    ActivationStore.create(
        path,
        step_ids=["a/0"],
        episode_ids=["a"],
        conditions=["text", "image"],
        sites=["embed", "block.0", "final_norm"],
        width=4,
        dtype="float32",
        fingerprint={"model": "mine[/bold]"},
    )
    text = shown(*store_tables(path))
    assert str(path) in text.replace("\n", "")  # a title is broken where its table ends
    assert "mine[/bold]" in text
