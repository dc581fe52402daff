import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from episodes import Action, bundled_steps, read_episodes_of, read_steps, write_steps
from episodes.table import SCHEMA
from tests.steps import button_step, episode


@pytest.fixture
def table(tmp_path):
    first = button_step("OK")
    second = button_step("Cancel", index=1, previous_actions=(first.action,))
    typed = button_step(
        episode_id="e1", action=Action("type", text="naïve 🙂"), screenshot=None, target=None
    )
    write_steps(tmp_path / "t.parquet", [episode(first, second), episode(typed, split="query")])
    return tmp_path / "t.parquet", [first, second, typed]


def test_round_trip_keeps_every_field(table):
    path, steps = table
    assert list(read_steps(path)) == steps
    assert read_steps(path)[1] == steps[1]
    assert list(read_steps(path, split="query")) == steps[2:]
    assert [len(e.steps) for e in read_episodes_of(read_steps(path))] == [2, 1]


def test_equal_episodes_give_equal_bytes(tmp_path):
    for name in ("a", "b"):
        write_steps(tmp_path / name, [episode(button_step())])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_datasets_opens_it_with_pictures(table):
    datasets = pytest.importorskip("datasets")
    path, _ = table
    loaded = datasets.Dataset.from_parquet(str(path))
    assert loaded[0]["screenshot"].size == (160, 160)
    assert loaded[2]["screenshot"] is None
    assert loaded[0]["elements"][1]["text"] == "OK"


@pytest.mark.parametrize(
    ("column", "value", "named"),
    [
        ("action", '{"kind": "tap"}', "row 1: field action"),
        ("target", [0.5, 0.5, 0.4, 0.6], "row 1: field target"),
        ("screenshot", {"bytes": b"GIF89a", "path": None}, "row 1: field screenshot"),
        (
            "elements",
            [{"role": "b", "text": "", "box": [0, 0, 2, 1], "appearance": ""}],
            "row 1: field elements",
        ),
        (
            "elements",
            [{"role": "b", "text": None, "box": [0, 0, 1, 1], "appearance": ""}],
            "row 1: field elements",
        ),
        ("screenshot", {"bytes": b"RIFF\0\0\0\0WAVE", "path": None}, "row 1: field screenshot"),
        ("previous_actions", ["nope"], "row 1: field previous_actions"),
        ("index", -1, "row 1: field index"),
        ("step_id", "", "row 1: field step_id"),
    ],
)
def test_reader_names_the_bad_row_and_field(table, column, value, named):
    path, _ = table
    rows = pq.read_table(path).to_pylist()
    rows[1][column] = value
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
    steps = read_steps(path)
    assert steps[0].step_id == "e0/0"
    with pytest.raises(ValueError, match=named):
        list(steps)


def test_missing_column_and_foreign_files_are_named(table, tmp_path):
    path, _ = table
    pq.write_table(pq.read_table(path).drop_columns(["target"]), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="column 'target' is missing"):
        read_steps(tmp_path / "x.parquet")
    (tmp_path / "y.parquet").write_text("no parquet")
    with pytest.raises(ValueError, match=r"y\.parquet: not a readable"):
        read_steps(tmp_path / "y.parquet")
    with pytest.raises(ValueError, match="no such file"):
        read_steps(tmp_path / "z.parquet")
    with pytest.raises(ValueError, match="it has query, train"):
        read_steps(path, split="test")


@pytest.mark.parametrize(
    ("steps", "named"),
    [
        ([button_step(index=1)], "field index"),
        ([button_step(), button_step()], "field step_id: doubled"),
        ([button_step(screenshot=b"text")], "field screenshot"),
    ],
)
def test_writer_refuses_unsound_steps_and_leaves_nothing(tmp_path, steps, named):
    with pytest.raises(ValueError, match=named):
        write_steps(tmp_path / "t.parquet", [episode(*steps)])
    assert not list(tmp_path.iterdir())


def test_bundle_is_sound_and_its_sets_are_disjoint():
    sets = {name: bundled_steps(name) for name in ("train", "query", "test")}
    assert sum(len(steps) for steps in sets.values()) >= 6000
    seeds = [set(steps.frame["episode_id"]) for steps in sets.values()]
    assert len(set.union(*seeds)) == sum(len(found) for found in seeds)
    assert sets["train"].frame["app"].nunique() >= 24
    for step in sets["test"][:200]:
        assert step.image.size == (160, 160)
        if step.action.kind == "click":
            assert step.target_element is not None
            assert step.target_element.contains(step.action.point)


def test_unknown_bundled_set_is_refused():
    with pytest.raises(ValueError, match="train, query and test"):
        bundled_steps("valid")


def test_doubled_step_ids_are_named_on_reading(table, tmp_path):
    path, _ = table
    (tmp_path / "copies").mkdir()
    for name in ("a.parquet", "b.parquet"):
        (tmp_path / "copies" / name).write_bytes(path.read_bytes())
    with pytest.raises(
        ValueError, match=r"b\.parquet, row 0: field step_id: 'e0/0' is also in .*a\.parquet"
    ):
        read_steps(tmp_path / "copies")


def test_broken_screenshots_are_named():
    step = button_step()
    broken = button_step(screenshot=step.screenshot[:60])
    with pytest.raises(ValueError, match="step 'e0/0': its screenshot is broken"):
        _ = broken.image
