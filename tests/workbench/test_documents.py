"""The documents name everything that they promise to name."""

import re
import tomllib
from itertools import chain
from pathlib import Path

from workbench import STAGES

ROOT = Path(__file__).parents[2]


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    required = [*project["dependencies"], *chain.from_iterable(extras)]
    names = {re.split(r"[\[><=]", requirement)[0] for requirement in required} - {"mnemoscope"}
    text = (ROOT / "docs/dependencies.md").read_text()
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", text)) == []


def test_every_stage_and_artefact_is_described() -> None:
    text = (ROOT / "docs/running.md").read_text()
    for name, stage in STAGES.items():
        assert f"| `{name}` |" in text
        assert Path(stage.artefact).name in text
