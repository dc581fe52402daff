"""Tiny random checkpoints of real architectures go through pairs, collect, sweep and export.

A random model's answers can be read by no dialect, so they all score 0 and every step ties. After
collecting, the tests therefore put scores drawn by hash in the place of the zeros.
"""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from kill_collect import differing_files
from rich.console import Console
from small_runs import small_config
from tiny_models import tiny_qwen2_vl, tiny_qwen3_5, tiny_qwen3_vl

import workbench.collect
import workbench.illustrate
from activations import ActivationStore, FingerprintError
from probes import LayerCurve, PreferenceEstimator
from workbench import Run, RunConfig, run_stage, run_stages
from workbench.summary import print_summary

AFTER_COLLECT = ("sweep", "export", "label")


def tiny_config(table: Path, model: Path, dialect: str, name: str = "tiny") -> RunConfig:
    return small_config(
        table,
        name,
        data={"n_steps": 12},
        query={"kind": "mix"},
        memory={"image_width": 32},
        actor={"model": str(model), "dialect": dialect},
        sampling={"max_new_tokens": 3},
        preferences={"agreement": 4},
        capture={"block_size": 5},
        sweep={"folds": 2, "n_bootstrap": 20, "n_shuffles": 2, "n_jobs": 1},
    )


def substitute_scores(run: Run) -> None:
    path = run.path("samples.parquet")
    samples = pd.read_parquet(path)
    names = samples["step_id"] + samples["condition"] + samples["k"].astype(str)
    samples["score"] = [hashlib.sha256(name.encode()).digest()[0] / 255 for name in names]
    samples.to_parquet(path, index=False)


@pytest.fixture(scope="module")
def qwen3_vl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_qwen3_vl(tmp_path_factory.mktemp("models") / "tiny-[bold]qwen3-vl")


@pytest.fixture(scope="module")
def finished(steps_table: Path, qwen3_vl: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of the tiny Qwen3-VL checkpoint through all stages but the report."""
    config = tiny_config(steps_table, qwen3_vl, "qwen")
    run = Run.open(config, tmp_path_factory.mktemp("runs"))
    run_stages(run, ("pairs", "collect"))
    substitute_scores(run)
    run_stages(run, AFTER_COLLECT)
    return run


def check_artefacts(run: Run) -> None:
    samples = pd.read_parquet(run.path("samples.parquet"))
    assert len(samples) == 12 * 2 * 7
    assert samples.groupby(["step_id", "k"])["seed"].nunique().eq(1).all()
    store = ActivationStore.open(run.path("activations.zarr"))
    assert store.verify() == []
    assert store.sites == ("embed", "block.0", "block.1", "block.2", "block.3", "final_norm")
    assert (store.image_tokens[:, 1] > store.image_tokens[:, 0]).all()
    assert np.abs(store.shift("block.3")).max(axis=1).min() > 0
    assert len(LayerCurve.load(run.path("sweep")).table) == len(store.sites)
    assert PreferenceEstimator.from_pretrained(run.path("estimator")).config_.site == "block.3"
    assert pd.read_parquet(run.path("targets.parquet"))["target"].between(-1, 1).all()


def test_qwen3_vl_goes_through_the_stages(finished: Run) -> None:
    check_artefacts(finished)


@pytest.mark.parametrize(
    ("build", "dialect"),
    [(tiny_qwen3_5, "qwen"), (tiny_qwen2_vl, "ui-tars")],
    ids=["qwen3.5", "qwen2-vl"],
)
def test_other_architectures_go_through_the_stages(
    build: Callable[[Path], Path], dialect: str, steps_table: Path, tmp_path: Path
) -> None:
    run = Run.open(tiny_config(steps_table, build(tmp_path / "model"), dialect), tmp_path)
    run_stages(run, ("pairs", "collect"))
    substitute_scores(run)
    run_stages(run, AFTER_COLLECT)
    check_artefacts(run)


def test_two_runs_of_one_configuration_are_equal(finished: Run, tmp_path: Path) -> None:
    second = Run.open(finished.config, tmp_path)
    run_stages(second, ("pairs", "collect"))
    substitute_scores(second)
    run_stages(second, AFTER_COLLECT)
    assert differing_files(finished.folder, second.folder) == []
    for name in (
        "preferences.parquet",
        "sweep/curve.parquet",
        "sweep/scores.parquet",
        "sweep/within_task.parquet",
        "estimator/config.json",
        "estimator/model.safetensors",
        "targets.parquet",
    ):
        assert finished.path(name).read_bytes() == second.path(name).read_bytes(), name


def test_a_finished_run_is_left_as_it_is(finished: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _times(finished.folder)
    monkeypatch.setattr(workbench.collect.Actor, "from_pretrained", None)  # not even loaded
    run_stages(finished, ("pairs", "collect", *AFTER_COLLECT))
    assert _times(finished.folder) == before


def test_a_store_of_another_model_is_refused_naming_the_field(
    finished: Run, tmp_path: Path
) -> None:
    run = Run.open(finished.config, tmp_path)
    run_stage(run, "pairs")
    store = ActivationStore.open(finished.path("activations.zarr"))
    ActivationStore.create(
        run.path("activations.zarr"),
        step_ids=store.step_ids,
        episode_ids=store.episode_ids,
        conditions=store.conditions,
        sites=store.sites,
        width=store.width,
        dtype=store.dtype,
        fingerprint=store.fingerprint | {"version.torch": "0.1"},
        block_size=5,
    )
    with pytest.raises(FingerprintError, match=r"version\.torch"):
        run_stage(run, "collect")


def test_an_answer_that_cannot_be_read_is_kept_and_scores_0(finished: Run) -> None:
    parts = [pd.read_parquet(path) for path in sorted(finished.path("samples").iterdir())]
    assert [len(part) for part in parts] == [70, 70, 28]
    samples = pd.concat(parts)
    unread = samples["parse_error"].notna()
    assert unread.any()
    assert samples.loc[unread, "score"].eq(0).all()
    assert samples.loc[unread, "action"].isna().all()


def test_the_summary_says_what_was_found_and_where_it_lies(finished: Run) -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    print_summary(finished, console)
    text = console.export_text()
    for words in (
        "stable image",
        "block.3",
        "peak",
        "estimator",
        "activations.zarr",
        "Peak: block.",
        "Actor: tiny-[bold]qwen3-vl",
    ):
        assert words in text


def test_the_report_holds_figures_funnel_tables_and_configuration(
    finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The map of shifts takes long to compile and has its own tests.
    monkeypatch.setattr(workbench.illustrate, "_projections", lambda results: {})
    run_stage(finished, "report")
    drawn = {path.stem for path in finished.path("figures").glob("*.svg")}
    assert {"layer_curve", "layer_curves", "funnel", "auroc_within_task", "example_image"} <= drawn
    page = finished.path("report.html").read_text()
    assert page.count("data:image/png;base64,") == len(drawn)
    for words in ("stable text", "A step that prefers Text", "block.3", "max_new_tokens = 3"):
        assert words in page


def _times(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and path.name != "log"
    }
