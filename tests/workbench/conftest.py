"""Fixtures of the workbench's tests."""

from pathlib import Path

import pytest
from small_runs import write_small_table


@pytest.fixture(scope="session")
def steps_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_table(tmp_path_factory.mktemp("steps") / "steps.parquet")
