from __future__ import annotations

import pandas as pd
import pytest

from probes import LayerCurve


@pytest.fixture
def curve():
    table = pd.DataFrame(
        {
            "site": ["embed", "block.0", "block.1", "block.2", "final_norm"],
            "auroc": [0.5, 0.7, 0.8, 0.8, 0.9],
            "low": [0.4, 0.6, 0.7, 0.7, 0.8],
            "high": [0.6, 0.8, 0.9, 0.9, 1.0],
            "n_positive": 20,
            "n_negative": 30,
        }
    )
    scores = pd.DataFrame({"step_id": "s", "site": table["site"], "score": 0.0})
    settings = {"sign": "image - text", "analysis_set": "stable", "groups": ["episode_id"]}
    return LayerCurve(table, scores, settings)


def test_peak_is_the_earliest_best_block_and_final_the_last_block(curve):
    assert curve.peak["site"] == "block.1"
    assert curve.final["site"] == "block.2"


def test_saved_curve_comes_back_equal(curve, tmp_path):
    loaded = LayerCurve.load(curve.save(tmp_path / "sweep"))
    pd.testing.assert_frame_equal(loaded.table, curve.table)
    pd.testing.assert_frame_equal(loaded.scores, curve.scores)
    assert loaded.settings == curve.settings
    assert sorted(p.name for p in (tmp_path / "sweep").iterdir()) == [
        "curve.json",
        "curve.parquet",
        "scores.parquet",
    ]


@pytest.mark.parametrize("name", ["curve.json", "curve.parquet", "scores.parquet"])
def test_missing_and_broken_files_are_refused(curve, tmp_path, name):
    folder = curve.save(tmp_path / "sweep")
    (folder / name).write_text("{")
    with pytest.raises(ValueError, match="no readable layer curve"):
        LayerCurve.load(folder)
    (folder / name).unlink()
    with pytest.raises(ValueError, match="no readable layer curve"):
        LayerCurve.load(folder)


def test_shows_its_peak_in_a_notebook_and_a_terminal(curve):
    for text in (repr(curve), curve._repr_html_()):
        assert "peak block.1 0.800 [0.700, 0.900]" in text
        assert "image - text" in text


def test_without_blocks_there_is_no_peak(curve):
    ends = LayerCurve(curve.table.iloc[[0]], curve.scores, curve.settings)
    with pytest.raises(ValueError, match=r"no site block\.\* among embed"):
        _ = ends.peak
    assert "LayerCurve" in repr(ends)


def test_plot_draws_the_curve_on_the_given_axes(curve):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, ax = pyplot.subplots()
    assert curve.plot(ax=ax) is ax
    assert ax.lines
    pyplot.close(figure)
