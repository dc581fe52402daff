"""Tables of steps: Parquet that Hugging Face `datasets` opens, a row per step.

Every row is validated on the way in and on the way out; an error names the row, the field, what was
found and what was expected. The picture is an image feature (`{"bytes", "path"}`), actions are JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from episodes.action import Action
from episodes.element import Element, checked_box
from episodes.step import Episode, Step

_ELEMENT = pa.struct(
    [
        ("role", pa.string()),
        ("text", pa.string()),
        ("box", pa.list_(pa.float32(), 4)),
        ("appearance", pa.string()),
    ]
)
SCHEMA = pa.schema(
    [
        pa.field("step_id", pa.string(), nullable=False),
        pa.field("episode_id", pa.string(), nullable=False),
        pa.field("index", pa.int32(), nullable=False),
        pa.field("split", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("app", pa.string(), nullable=False),
        pa.field("instruction", pa.string(), nullable=False),
        pa.field("screenshot", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
        pa.field("elements", pa.list_(_ELEMENT), nullable=False),
        pa.field("action", pa.string(), nullable=False),
        pa.field("target", pa.list_(pa.float32(), 4)),
        pa.field("previous_actions", pa.list_(pa.string()), nullable=False),
    ],
    metadata={
        "mnemoscope": json.dumps({"encoding-type": "mnemoscope-steps", "encoding-version": "1"}),
        "huggingface": json.dumps(
            {
                "info": {
                    "features": {
                        "step_id": {"dtype": "string", "_type": "Value"},
                        "episode_id": {"dtype": "string", "_type": "Value"},
                        "index": {"dtype": "int32", "_type": "Value"},
                        "split": {"dtype": "string", "_type": "Value"},
                        "source": {"dtype": "string", "_type": "Value"},
                        "app": {"dtype": "string", "_type": "Value"},
                        "instruction": {"dtype": "string", "_type": "Value"},
                        "screenshot": {"_type": "Image"},
                        "elements": {
                            "_type": "List",
                            "feature": {
                                "role": {"dtype": "string", "_type": "Value"},
                                "text": {"dtype": "string", "_type": "Value"},
                                "box": {
                                    "_type": "List",
                                    "length": 4,
                                    "feature": {"dtype": "float32", "_type": "Value"},
                                },
                                "appearance": {"dtype": "string", "_type": "Value"},
                            },
                        },
                        "action": {"dtype": "string", "_type": "Value"},
                        "target": {
                            "_type": "List",
                            "length": 4,
                            "feature": {"dtype": "float32", "_type": "Value"},
                        },
                        "previous_actions": {
                            "_type": "List",
                            "feature": {"dtype": "string", "_type": "Value"},
                        },
                    }
                }
            }
        ),
    },
)
_IMAGE_STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")


class StepTable(Sequence[Step]):
    """Steps of a table, decoded when asked for.

    Parameters
    ----------
    table
        Rows in the columns of `SCHEMA`.
    name
        What errors call the table: usually its path.
    """

    def __init__(self, table: pa.Table, name: str = "table") -> None:
        self.table, self.name = table, name

    @property
    def frame(self) -> pd.DataFrame:
        """Names and instructions, a row per step: what a query or a join needs, without pictures."""
        columns = ["step_id", "episode_id", "index", "split", "source", "app", "instruction"]
        return self.table.select(columns).to_pandas()

    def __len__(self) -> int:
        return self.table.num_rows

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, slice):
            return self.take(range(*item.indices(len(self))))
        if not -len(self) <= item < len(self):
            raise IndexError(f"{self.name} has {len(self)} steps, asked for {item}")
        row = item % len(self)
        return step_from_row(self.table.slice(row, 1).to_pylist()[0], f"{self.name}, row {row}")

    def __iter__(self) -> Iterator[Step]:
        start = 0
        for batch in self.table.to_batches(max_chunksize=256):
            for offset, row in enumerate(batch.to_pylist()):
                yield step_from_row(row, f"{self.name}, row {start + offset}")
            start += batch.num_rows

    def take(self, rows: Iterable[int]) -> StepTable:
        """The named rows, in the order given."""
        return StepTable(self.table.take(pa.array(list(rows), pa.int64())), self.name)

    def split(self, name: str) -> StepTable:
        """The steps of one split.

        Raises
        ------
        ValueError
            When no step belongs to it, naming the splits there are.
        """
        found = self.table["split"].to_pylist()
        if name not in found:
            raise ValueError(
                f"{self.name} has no split {name!r}; it has {', '.join(sorted(set(found)))}"
            )
        return self.take(row for row, split in enumerate(found) if split == name)

    def __repr__(self) -> str:
        frame = self.frame
        counts = ", ".join(f"{n} {name}" for name, n in frame["split"].value_counts().items())
        return (
            f"StepTable({len(self)} steps of {frame['episode_id'].nunique()} episodes, "
            f"{frame['app'].nunique()} apps: {counts})"
        )


def read_steps(path: str | os.PathLike[str], split: str | None = None) -> StepTable:
    """Opens a table of steps.

    Parameters
    ----------
    path
        A Parquet file that `write_steps` wrote, or a folder of such files (read in name order).
    split
        Keep only the steps of this split.

    Raises
    ------
    ValueError
        When a file is no table of steps (names the file and the missing or mistyped column), or a
        step id is doubled. Rows are validated as they are decoded, naming row and field.
    """
    path = Path(path)
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"{path}: holds no .parquet file")
    tables = [_read_file(file) for file in files]
    _check_unique(files, tables)
    table = StepTable(pa.concat_tables(tables), str(path))
    return table.split(split) if split else table


def _check_unique(files: Sequence[Path], tables: Sequence[pa.Table]) -> None:
    seen: dict[str, str] = {}
    for file, table in zip(files, tables):
        for row, step_id in enumerate(table["step_id"].to_pylist()):
            where = f"{file}, row {row}"
            if step_id in seen:
                raise ValueError(
                    f"{where}: field step_id: {step_id!r} is also in {seen[step_id]}; step ids "
                    "must be unique"
                )
            seen[step_id] = where


def _read_file(path: Path) -> pa.Table:
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not a readable Parquet file ({error})") from None
    for field in SCHEMA:
        if field.name not in table.column_names:
            raise ValueError(
                f"{path}: column {field.name!r} is missing; a table of steps has the columns "
                f"{', '.join(SCHEMA.names)}"
            )
    try:
        return table.select(SCHEMA.names).cast(SCHEMA)
    except (pa.ArrowException, ValueError) as error:
        raise ValueError(
            f"{path}: columns do not have the types of a table of steps ({error})"
        ) from None


def write_steps(path: str | os.PathLike[str], episodes: Iterable[Episode]) -> int:
    """Writes episodes as a table of steps, whole or not at all; returns the number of steps.

    Equal episodes give equal bytes.

    Raises
    ------
    ValueError
        When a step is not sound: a doubled id, a hole in an episode, an undecodable picture; names
        the step and the field.
    """
    path = Path(path)
    seen: set[str] = set()
    rows: list[dict[str, Any]] = []
    for episode in episodes:
        for place, step in enumerate(episode.steps):
            where = f"step {step.step_id!r}"
            if step.step_id in seen:
                raise ValueError(f"{where}: field step_id: doubled; step ids must be unique")
            if step.index != place:
                raise ValueError(
                    f"{where}: field index: found {step.index}, expected {place} (episodes have no holes)"
                )
            if step.episode_id != episode.episode_id:
                raise ValueError(
                    f"{where}: field episode_id: found {step.episode_id!r}, expected {episode.episode_id!r}"
                )
            _check_image(step.screenshot, where)
            seen.add(step.step_id)
            rows.append(_row(step, episode))
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    pq.write_table(table, temporary, compression="zstd", row_group_size=1024)
    os.replace(temporary, path)
    return len(rows)


def read_episodes_of(table: StepTable) -> Iterator[Episode]:
    """The table's steps as episodes, in order; `ValueError` names an episode with a hole."""
    frame = table.frame
    for episode_id, rows in frame.groupby("episode_id", sort=False):
        rows = rows.sort_values("index")
        if list(rows["index"]) != list(range(len(rows))):
            raise ValueError(
                f"{table.name}: episode {episode_id!r} has the steps {list(rows['index'])}, "
                f"expected 0 to {len(rows) - 1}"
            )
        steps = tuple(table.take(rows.index))
        first = rows.iloc[0]
        yield Episode(str(episode_id), steps, first["source"], first["split"], success=True)


def step_from_row(row: dict[str, Any], where: str) -> Step:
    """A validated `Step` from a row of the table; `ValueError` names `where` and the field."""

    def field(name: str, build: Any) -> Any:
        try:
            return build(row[name])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{where}: field {name}: {error}") from None

    screenshot = (row["screenshot"] or {}).get("bytes")
    _check_image(screenshot, where)
    if row["index"] < 0:
        raise ValueError(f"{where}: field index: found {row['index']}, expected 0 or more")
    return Step(
        step_id=field("step_id", _filled),
        episode_id=field("episode_id", _filled),
        index=row["index"],
        instruction=row["instruction"],
        elements=field("elements", lambda found: tuple(_element(e) for e in found)),
        action=field("action", Action.from_json),
        screenshot=screenshot,
        target=field("target", lambda box: None if box is None else _rounded_box(box, "target")),
        previous_actions=field(
            "previous_actions", lambda found: tuple(Action.from_json(a) for a in found)
        ),
        app=row["app"],
    )


def _row(step: Step, episode: Episode) -> dict[str, Any]:
    return {
        "step_id": step.step_id,
        "episode_id": step.episode_id,
        "index": step.index,
        "split": episode.split,
        "source": episode.source,
        "app": step.app,
        "instruction": step.instruction,
        "screenshot": step.screenshot and {"bytes": step.screenshot, "path": None},
        "elements": [
            {"role": e.role, "text": e.text, "box": e.box, "appearance": e.appearance}
            for e in step.elements
        ],
        "action": step.action.to_json(),
        "target": step.target,
        "previous_actions": [action.to_json() for action in step.previous_actions],
    }


def _element(raw: dict[str, Any]) -> Element:
    return Element(
        raw["role"], raw["text"], _rounded_box(raw["box"], "box"), raw["appearance"] or ""
    )


def _rounded_box(box: Any, what: str) -> tuple[float, float, float, float]:
    # float32 in the file; four decimals are finer than a pixel of any screen and compare equal
    left, top, right, bottom = checked_box(box, what)
    return round(left, 4), round(top, 4), round(right, 4), round(bottom, 4)


def _filled(text: str) -> str:
    if not text:
        raise ValueError("found an empty text, expected a name")
    return text


def _check_image(data: bytes | None, where: str) -> None:
    webp = data is not None and data[:4] == b"RIFF" and data[8:12] == b"WEBP"
    if data is not None and not webp and not data.startswith(_IMAGE_STARTS):
        raise ValueError(
            f"{where}: field screenshot: found bytes that begin {data[:8]!r}, expected a PNG, JPEG or WebP"
        )


def with_split(episode: Episode, split: str) -> Episode:
    """The same episode in another split."""
    return replace(episode, split=split)
