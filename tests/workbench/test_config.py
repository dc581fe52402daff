"""Configurations: what is read, what is refused, and in which words."""

from pathlib import Path
from typing import get_args

import pytest

from workbench.config import (
    ConfigError,
    GroupColumn,
    RunConfig,
    bundled_configs,
    differing_keys,
    load_config,
    parse_config,
)
from workbench.sweep import JOINED


def test_every_bundled_configuration_is_valid() -> None:
    assert "demo" in bundled_configs()
    for name in bundled_configs():
        assert isinstance(load_config(name), RunConfig)


def test_the_demo_shows_every_key_that_has_a_value() -> None:
    text = Path(__file__).parents[2].joinpath("workbench/configs/demo.toml").read_text()
    shown = {line.split("=")[0].strip() for line in text.splitlines() if "=" in line}
    hidden = {
        key for key, value in load_config("demo").flat().items() if value not in (None, [])
    } - {f"{section}.{key}" for section in RunConfig.model_fields for key in shown}
    assert not hidden


def test_a_resolved_configuration_reads_back_equal(tmp_path: Path) -> None:
    config = load_config("demo", ["actor.revision=abc"])
    path = tmp_path / "config.toml"
    path.write_text(config.to_toml())
    assert load_config(path) == config


def test_the_reference_describes_every_key() -> None:
    reference = Path(__file__).parents[2].joinpath("docs/running.md").read_text()
    missing = [key for key in load_config("demo").flat() if f"`{key}`" not in reference]
    assert not missing


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("sweep.fold=3", ["sweep.fold", "unknown key", "'folds'", "n_bootstrap"]),
        ("swep.folds=3", ["swep", "unknown section", "'sweep'", "export"]),
        ("sweep.folds=1", ["sweep.folds", "found 1", "2"]),
        ("memory.mark=1", ["memory.mark", "found 1", "boolean"]),
        ("capture.dtype=float8", ["capture.dtype", "'float8'", "'float32', 'bfloat16'"]),
        ("capture.conditions=['text', 'sound']", ["capture.conditions", "'sound'", "'none'"]),
        ("capture.positive=none", ["capture.positive", "'none'", "['text', 'image']"]),
        ("capture.conditions=['text', 'text']", ["capture.conditions", "twice"]),
        ("run.seed=4294967296", ["run.seed", "found 4294967296", "4294967295"]),
        ("sweep.n_jobs=0", ["sweep.n_jobs", "found 0", "-1"]),
        ("sweep.groups=episode", ["sweep.groups", "'episode'", "'episode_id', 'task'"]),
        ("sweep.join=['memory']", ["sweep.join", "'memory'", "'memory_step_id'"]),
        ("export.C=little", ["export.C", "'little'", "number", "'grouped-cv'"]),
        ("preferences.agreement=3", ["preferences.agreement", "found 3", "4 to 7"]),
        ("run.name=a/b", ["run.name", "'a/b'"]),
        ("sampling.temperature=nan", ["sampling.temperature", "nan", "finite"]),
        ("run=3", ["--set run=3", "section.key=value"]),
    ],
)
def test_a_bad_value_is_refused_with_key_value_and_choice(override: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config("demo", [override])
    assert [word for word in words if word not in str(refused.value)] == []


def test_groups_are_the_columns_that_sweep_joins() -> None:
    assert set(get_args(GroupColumn)) == {*JOINED, "episode_id"}


def test_every_bad_key_is_named_at_once() -> None:
    with pytest.raises(ConfigError, match=r"(?s)sweep\.folds.*export\.form"):
        load_config("demo", ["sweep.folds=0", "export.form=odd"])


def test_a_missing_name_is_said() -> None:
    with pytest.raises(ConfigError, match="run: missing"):
        parse_config({})


def test_an_unknown_file_names_the_bundled_ones() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml.*bundled: .*demo"):
        load_config("nowhere.toml")


def test_bad_toml_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text("[run\n")
    with pytest.raises(ConfigError, match=r"broken\.toml: not valid TOML.*line 1"):
        load_config(path)


def test_an_override_takes_toml_values_and_bare_words() -> None:
    config = load_config("demo", ["data.tasks=['click-tab']", "run.name=other", "sweep.C=2"])
    assert (config.data.tasks, config.run.name, config.sweep.C) == (["click-tab"], "other", 2.0)


def test_differing_keys_are_found_by_dotted_path() -> None:
    one, other = load_config("demo"), load_config("demo", ["sweep.folds=4", "export.site=block.3"])
    assert differing_keys(one, other) == [
        ("sweep.folds", 5, 4),
        ("export.site", None, "block.3"),
    ]
