"""Which steps are asked, what is withheld of them, and how their prompts differ."""

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from small_runs import small_config

from actor import get_dialect
from memory.retrievers.embedding import EmbeddingRetriever
from memory.retrievers.tfidf import TfidfRetriever
from workbench import Run, RunError, load_config, run_stage
from workbench.pairs import SCHEMA, pair_steps, pairs_table, prompts, read_pairs, representations

CONDITIONS = ("none", "text", "image", "both")


def test_what_is_read_back_equals_what_was_paired(steps_table: Path, tmp_path: Path) -> None:
    run = Run.open(small_config(steps_table, query={"kind": "mix"}), tmp_path)
    run_stage(run, "pairs")
    assert read_pairs(run) == pair_steps(run.config)
    assert list(pairs_table(run)) == SCHEMA.names


def test_full_queries_withhold_nothing(steps_table: Path) -> None:
    queries = pair_steps(small_config(steps_table))
    assert len(queries) == 40
    assert all(query.instruction == query.step.instruction for query in queries)


def test_recall_queries_leave_out_steps_without_a_rule(steps_table: Path) -> None:
    queries = pair_steps(small_config(steps_table, query={"kind": "recall"}))
    assert {query.step.app for query in queries} == {"click-button", "click-link", "click-dialog-2"}
    assert all("memory" in query.instruction for query in queries)
    assert all(query.memory.instruction == query.instruction for query in queries)


def test_a_recall_query_without_any_rule_is_refused(steps_table: Path) -> None:
    config = small_config(steps_table, query={"kind": "recall"}, data={"tasks": ["click-test"]})
    with pytest.raises(ValueError, match=r"query\.kind.*none of the 10 steps"):
        pair_steps(config)


def test_fewer_steps_are_a_part_of_more(steps_table: Path) -> None:
    few = pair_steps(small_config(steps_table, data={"n_steps": 7}))
    more = pair_steps(small_config(steps_table, data={"n_steps": 20}))
    ids = [query.step.step_id for query in more]
    assert len(few) == 7
    assert [i for i in ids if i in {query.step.step_id for query in few}] == [
        query.step.step_id for query in few
    ]


def test_another_seed_draws_other_steps(steps_table: Path) -> None:
    drawn = [
        {
            query.step.step_id
            for query in pair_steps(
                small_config(steps_table, run={"name": "small", "seed": seed}, data={"n_steps": 10})
            )
        }
        for seed in (0, 1)
    ]
    assert drawn[0] != drawn[1]


def test_the_embedding_model_reaches_the_retriever(
    steps_table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def from_pretrained(name_or_path: str) -> TfidfRetriever:
        asked.append(name_or_path)
        return TfidfRetriever()

    monkeypatch.setattr(EmbeddingRetriever, "from_pretrained", from_pretrained)
    pair_steps(
        small_config(
            steps_table, memory={"retriever": "embedding", "embedding_model": "some/model"}
        )
    )
    assert asked == ["some/model"]


def test_an_unknown_task_lists_the_known_ones(steps_table: Path) -> None:
    config = small_config(steps_table, data={"tasks": ["click-moon"]})
    with pytest.raises(ValueError, match=r"click-moon.*click-button, click-dialog-2"):
        pair_steps(config)


def test_a_step_that_left_the_table_is_named(steps_table: Path, tmp_path: Path) -> None:
    run = Run.open(small_config(steps_table), tmp_path)
    run_stage(run, "pairs")
    # Another split, as if another table had been put in its place.
    other = Run(run.folder, small_config(steps_table, data={"query_split": "train"}))
    with pytest.raises(RunError, match="no longer holds the step 'query/"):
        read_pairs(other)


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ('the "Ok" button', 'the "Okay" button', "instruction"),
        ("click-button", "click-knob", "task"),
    ],
)
def test_a_step_that_changed_in_the_table_is_named_with_the_field(
    old: str, new: str, name: str, steps_table: Path, tmp_path: Path
) -> None:
    run = Run.open(small_config(steps_table), tmp_path)
    run_stage(run, "pairs")
    other = Run(run.folder, small_config(_changed(steps_table, old, new, tmp_path)))
    with pytest.raises(RunError, match=rf"step 'query/click-button/0/0': its {name} is '.*{new}"):
        read_pairs(other)


def test_a_recall_query_that_lost_its_rule_is_named(steps_table: Path, tmp_path: Path) -> None:
    run = Run.open(small_config(steps_table, query={"kind": "recall"}), tmp_path)
    run_stage(run, "pairs")
    changed = _changed(steps_table, 'Click on the "Ok" button', "Press Ok", tmp_path)
    with pytest.raises(RunError, match=r"field 'query': step 'query/click-button/0/0'"):
        read_pairs(Run(run.folder, small_config(changed)))


@pytest.mark.parametrize("dialect", ["qwen", "ui-tars"])
def test_the_prompts_of_a_step_differ_in_the_memory_only(steps_table: Path, dialect: str) -> None:
    config = small_config(steps_table, memory={"image_width": 32, "mark": True})
    query = pair_steps(config)[0]
    shown = representations(config.memory, CONDITIONS)
    of_step = prompts(query, shown, get_dialect(dialect))
    pictures = {name: _parts(prompt, "image") for name, prompt in of_step.items()}
    assert {name: len(found) for name, found in pictures.items()} == {
        "none": 1,
        "text": 1,
        "image": 2,
        "both": 2,
    }
    texts = {name: "".join(_parts(prompt, "text")) for name, prompt in of_step.items()}
    assert "button Cancel" in texts["text"]
    assert "button Cancel" not in texts["image"]


def test_a_picture_in_the_text_memory_is_refused_naming_the_memory(steps_table: Path) -> None:
    config = small_config(steps_table)
    query = pair_steps(config)[0]
    image = representations(config.memory, ["image"])["image"]
    with pytest.raises(ValueError, match=f"{query.memory.step_id}.*1 pictures under 'text'.*0"):
        prompts(query, {"text": image}, get_dialect("qwen"))


def _changed(table: Path, old: str, new: str, folder: Path) -> Path:
    """The table of steps with another text in its instructions and tasks; the ids stay."""
    steps = pq.read_table(table)
    for column in ("instruction", "app"):
        place = steps.schema.get_field_index(column)
        texts = pc.replace_substring(steps[column], old, new)
        steps = steps.set_column(place, steps.schema.field(place), texts)
    pq.write_table(steps, folder / "changed.parquet")
    return folder / "changed.parquet"


def _parts(prompt: list[dict], kind: str) -> list:
    return [
        part[kind]
        for message in prompt
        for part in ([] if isinstance(message["content"], str) else message["content"])
        if part["type"] == kind
    ]


def test_the_mix_holds_both_kinds_when_only_some_steps_are_drawn():
    # Drawing steps and choosing the kind of query must not go by the same numbers.
    config = load_config("demo", ["data.n_steps=150"])
    kinds = [query.kind for query in pair_steps(config)]
    assert 0.7 < kinds.count("recall") / len(kinds) < 0.95
