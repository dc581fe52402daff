"""The quickstart runs from top to bottom, and what is committed of it was run."""

from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture
def notebook():
    nbformat = pytest.importorskip("nbformat")
    return nbformat.read(NOTEBOOKS / "01_quickstart.ipynb", as_version=4)


def test_committed_outputs_hold_pictures_and_no_error(notebook):
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 4
    assert not [output for output in outputs if output.output_type == "error"]
    numbers = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.slow
def test_runs_from_top_to_bottom(notebook, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    # Fewer steps than the committed copy: what is tested is that every cell does its work.
    for cell in notebook.cells:
        cell.source = cell.source.replace("data.n_steps=500", "data.n_steps=240")
    nbclient.NotebookClient(
        notebook, timeout=900, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert (tmp_path / "runs" / "quickstart" / "my-estimator" / "model.safetensors").is_file()
