"""The configuration of a run: TOML in, checked models out.

Convention: a key is named by its dotted path (`sweep.folds`). Unknown keys are refused. A value that
is left out takes its default; a value that may be absent (`actor.dialect`) is absent when it is left
out, since TOML has no null.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

ConditionName = Literal["none", "text", "image", "both"]
GroupColumn = Literal[
    "episode_id", "task", "query", "memory_step_id", "memory_episode_id", "step_id", "index"
]
"""Columns of `preferences.parquet` that say where a step is from."""


class ConfigError(ValueError):
    """A configuration that cannot be used; the message names the key, the value and what is allowed."""


class Section(BaseModel):
    """Base of every section: strict, frozen, unknown keys refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True, allow_inf_nan=False
    )


class RunSection(Section):
    """The run itself."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Name of the run folder: letters, digits, dot, dash, underscore."""
    seed: int = Field(default=0, ge=0, le=2**32 - 1)
    """Everything random is derived from it: the choice of steps, the mix of queries, the samples,
    folds, shuffles and bootstraps. At most 2³² − 1."""


class DataSection(Section):
    """Which steps are asked about, and which can be remembered."""

    table: str = "miniwob"
    """`miniwob`, the recording that comes with the package (sets train, query, test), or the path of
    a Parquet table of steps or a folder of them."""
    query_split: str | None = None
    """Split whose steps are the queries. Left out: the whole table."""
    memory_split: str | None = None
    """Split whose steps fill the memory bank. Left out: the whole table. A step's memory is never of
    its own episode."""
    tasks: list[str] = []
    """Only steps of these tasks (the column `app`), in queries and memory alike. Empty: every task."""
    n_steps: int | None = Field(default=None, ge=1)
    """At most this many query steps, drawn by whole episodes with the run's seed. Left out: all."""
    n_memory_steps: int | None = Field(default=None, ge=1)
    """At most this many memory steps, drawn likewise. Left out: all."""


class QuerySection(Section):
    """How much of the instruction the actor is shown. The retriever always sees all of it."""

    kind: Literal["full", "recall", "mix"] = "full"
    """`full`: the whole instruction. `recall`: the task's fact is withheld and must come from the
    memory; steps without a rule are left out. `mix`: some episodes so, the others full."""
    recall_share: float = Field(default=0.5, ge=0, le=1)
    """With `mix`: share of the episodes that are recall queries where there is a rule; drawn with
    the run's seed."""


class MemorySection(Section):
    """How a step is found again and how it is shown."""

    retriever: Literal["tfidf", "embedding"] = "tfidf"
    """Which step is found; one retriever, working on words, serves all conditions."""
    embedding_model: str | None = None
    """With `embedding`: the model id or folder of a Qwen3-VL-Embedding checkpoint."""
    max_elements: int = Field(default=16, ge=0)
    """Text: most elements that are listed; the prompt says when the list was cut."""
    max_words: int | None = Field(default=None, ge=1)
    """Text: most words of a label that are shown. Left out: all."""
    coordinates: bool = True
    """Text: whether elements and the past action are given with coordinates."""
    image_width: int | None = Field(default=None, ge=8)
    """Image: width in pixels to which the past screenshot is reduced. Left out: as it is."""
    mark: bool = False
    """Image: whether a mark is drawn where the past action landed."""
    image_action: Literal["words", "mark"] = "words"
    """Image: the past action in words, as in the text, or left to the mark, which must then be on."""


class ActorSection(Section):
    """The model that acts."""

    model: str = "pocket"
    """`pocket`, a Hugging Face model id, or the folder of a checkpoint."""
    dialect: str | None = None
    """Action schema and answer format. Left out: found from the model."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Number format of the weights."""
    device_map: str | None = None
    """Where the weights go (`auto`, `cuda:0`, `cpu`). Left out: one device, chosen by the actor."""
    threads: int | None = Field(default=None, ge=1)
    """CPU threads of the model. Left out: one per core; for a small model 1 is faster."""
    engine: Literal["nnsight", "hooks"] = "nnsight"
    """What reads the hidden states."""
    revision: str | None = None
    """Commit, tag or branch of the model on the Hub. Left out: the newest."""


class SamplingSection(Section):
    """How actions are drawn; the same in every condition."""

    samples: int = Field(default=7, ge=1)
    """K, the number of actions drawn per step and condition."""
    temperature: float = Field(default=1.0, gt=0)
    """Divides the logits."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Smallest set of tokens with this probability; 1 keeps all."""
    top_k: int = Field(default=0, ge=0)
    """Only the k likeliest tokens; 0 keeps all."""
    max_new_tokens: int = Field(default=128, ge=1)
    """Most tokens of an answer."""


class PreferencesSection(Section):
    """How scores become labels."""

    scorer: str = "element"
    """Registered scorer: (action, step) to a score in [0, 1]."""
    agreement: int = Field(default=5, ge=1)
    """Votes of the K that must name the same condition for a stable label; more than half of K."""


class CaptureSection(Section):
    """Which conditions are shown and how their hidden states are kept."""

    conditions: list[ConditionName] = ["text", "image"]
    """Conditions that are prompted and stored; `positive` and `negative` must be among them."""
    positive: ConditionName = "image"
    """The positive class. Every shift is positive − negative."""
    negative: ConditionName = "text"
    """The negative class."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Number format of the stored states; bfloat16 is exact for a model in bfloat16."""
    block_size: int = Field(default=64, ge=1)
    """Steps per block: what is written at once, and the most that an interrupt costs."""


class SweepSection(Section):
    """The AUROC-by-layer curve."""

    analysis_set: Literal["stable", "non_tied"] = "stable"
    """Steps that enter: those with a stable label, or all that are not tied."""
    folds: int = Field(default=5, ge=2)
    """Stratified folds, no group in two of them."""
    groups: GroupColumn = "episode_id"
    """Column whose values stay together in a fold. A second curve is always grouped by task."""
    join: list[GroupColumn] = []
    """Further columns: groups that share a value in one of them become one (`memory_step_id`)."""
    n_components: int = Field(default=64, ge=1)
    """Principal components; fewer where there are fewer rows or features."""
    C: Annotated[float, Field(gt=0)] | Literal["grouped-cv"] = 1.0
    """Inverse strength of the logistic regression's penalty, or `grouped-cv` to choose it inside each
    training fold."""
    n_bootstrap: int = Field(default=1000, ge=1)
    """Resamples of whole episodes behind the 95 % intervals."""
    n_shuffles: int = Field(default=20, ge=1)
    """Shuffles of the labels behind the control curve."""
    n_jobs: int = -1
    """Layers fitted at the same time; −1 for as many as there are cores. Changes no number."""


class ExportSection(Section):
    """The estimator that is handed on, and its targets. Folds, groups and resamples are [sweep]'s."""

    site: str | None = None
    """Site that the estimator reads (`block.12`). Left out: the last block, before the final norm."""
    analysis_set: Literal["non_tied", "stable"] = "non_tied"
    """Steps on which it is fitted."""
    n_components: int = Field(default=64, ge=1)
    """Principal components; fewer where there are fewer rows or features."""
    C: Annotated[float, Field(gt=0)] | Literal["grouped-cv"] = 1.0
    """Inverse strength of the penalty, or `grouped-cv` to choose it on folds grouped by episode."""
    form: Literal["signed", "probability", "logit"] = "signed"
    """Form of the targets: 2p − 1, p, or the log odds."""


class RunConfig(Section):
    """A whole run. Build it with `load_config`, or from keyword arguments."""

    run: RunSection
    data: DataSection = DataSection()
    query: QuerySection = QuerySection()
    memory: MemorySection = MemorySection()
    actor: ActorSection = ActorSection()
    sampling: SamplingSection = SamplingSection()
    preferences: PreferencesSection = PreferencesSection()
    capture: CaptureSection = CaptureSection()
    sweep: SweepSection = SweepSection()
    export: ExportSection = ExportSection()

    @model_validator(mode="after")
    def _keys_agree(self) -> RunConfig:
        conditions, samples = self.capture.conditions, self.sampling.samples
        if len(set(conditions)) != len(conditions):
            raise ValueError(f"capture.conditions: found {conditions}, expected no condition twice")
        if self.capture.positive == self.capture.negative:
            raise ValueError(
                f"capture.positive: found {self.capture.positive!r}, expected another condition than "
                "capture.negative"
            )
        for key in ("positive", "negative"):
            if (name := getattr(self.capture, key)) not in conditions:
                raise ValueError(
                    f"capture.{key}: found {name!r}, expected one of capture.conditions {conditions}"
                )
        if self.memory.image_action == "mark" and not self.memory.mark:
            raise ValueError(
                "memory.image_action: found 'mark' with memory.mark = false, expected 'words' or "
                "memory.mark = true (else nothing would tell the past action)"
            )
        if (self.memory.retriever == "embedding") == (self.memory.embedding_model is None):
            raise ValueError(
                f"memory.embedding_model: found {self.memory.embedding_model!r} with memory.retriever "
                f"= {self.memory.retriever!r}, expected a model with 'embedding' and none otherwise"
            )
        if self.sweep.n_jobs == 0:
            raise ValueError("sweep.n_jobs: found 0, expected 1 or more, or -1 for all cores")
        if not samples // 2 < self.preferences.agreement <= samples:
            raise ValueError(
                f"preferences.agreement: found {self.preferences.agreement}, expected "
                f"{samples // 2 + 1} to {samples} (more than half of sampling.samples, at most all)"
            )
        return self

    def to_toml(self) -> str:
        """The whole configuration, defaults included; absent values are left out."""
        return tomli_w.dumps(self.model_dump(exclude_none=True))

    def flat(self) -> dict[str, Any]:
        """Every key by its dotted path, absent values as None."""
        return {
            f"{section}.{key}": value
            for section, values in self.model_dump().items()
            for key, value in values.items()
        }


def load_config(source: str | Path, overrides: Sequence[str] = ()) -> RunConfig:
    """Read and check a configuration.

    Parameters
    ----------
    source
        Path of a TOML file, or the name of a bundled configuration (see `bundled_configs`).
    overrides
        `section.key=value` each, with the value written as in TOML; a bare word is a string.

    Raises
    ------
    ConfigError
        Naming the file, every bad key, what was found and what is allowed.
    """
    name, text = _read(source)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML: {error}") from None
    for override in overrides:
        _override(values, override)
    return parse_config(values, name)


def parse_config(values: Mapping[str, Any], name: str = "configuration") -> RunConfig:
    """`values` (sections of keys) as a checked configuration; errors begin with `name`."""
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        problems = list(_problems(error))
    if len(problems) == 1:
        raise ConfigError(f"{name}: {problems[0]}")
    raise ConfigError("\n  ".join([f"{name}:", *problems]))


def bundled_configs() -> list[str]:
    """Names of the configurations that come with the package."""
    folder = resources.files("workbench") / "configs"
    return sorted(
        Path(entry.name).stem for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def differing_keys(one: RunConfig, other: RunConfig) -> list[tuple[str, Any, Any]]:
    """Keys in which two configurations differ, as (dotted key, value in `one`, value in `other`)."""
    first, second = one.flat(), other.flat()
    return [(key, first[key], second[key]) for key in first if first[key] != second[key]]


def _read(source: str | Path) -> tuple[str, str]:
    if str(source) in (bundled := bundled_configs()):
        file = resources.files("workbench") / "configs" / f"{source}.toml"
        return f"configuration {source!r}", file.read_text(encoding="utf-8")
    path = Path(source)
    if not path.is_file():
        raise ConfigError(
            f"{source}: found no such file, and no bundled configuration of that name "
            f"(bundled: {', '.join(bundled)})"
        )
    try:
        return str(path), path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source}: not UTF-8 text: {error}") from None


def _override(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    section, dot, name = key.strip().partition(".")
    if not (equals and dot and section and name):
        raise ConfigError(f"--set {override}: expected section.key=value, as in sweep.folds=3")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    target = values.setdefault(section, {})
    if not isinstance(target, dict):
        raise ConfigError(f"--set {override}: {section!r} is not a section of the configuration")
    target[name] = value


def _problems(error: ValidationError) -> Iterator[str]:
    seen: set[str] = set()
    for problem in error.errors():
        path = [str(part) for part in problem["loc"]]
        key = ".".join(path[:2])
        if problem["type"] == "extra_forbidden":
            yield _unknown_key(path)
        elif problem["type"] == "missing":
            yield f"{key}: missing, and it has no default"
        elif not path:  # keys that do not agree with each other
            yield problem["msg"].removeprefix("Value error, ")
        elif key not in seen:  # a union reports a key once per member
            seen.add(key)
            yield f"{key}: found {problem['input']!r}, expected {_expected(key, problem)}"


def _unknown_key(path: list[str]) -> str:
    allowed = _fields(path[:-1])
    close = difflib.get_close_matches(path[-1], allowed, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    what = "section" if len(path) == 1 else "key"
    return f"{'.'.join(path)}: unknown {what}{hint}; allowed: {', '.join(allowed)}"


def _fields(path: list[str]) -> list[str]:
    model: Any = RunConfig
    for part in path:
        model = model.model_fields[part].annotation
    return list(model.model_fields)


def _expected(key: str, problem: Any) -> str:
    section, _, name = key.partition(".")
    if not name:
        return f"a section [{section}] of keys"
    annotation = RunConfig.model_fields[section].annotation.model_fields[name].annotation  # type: ignore[union-attr]
    listed = ", ".join(repr(choice) for choice in _choices(annotation))
    if problem["type"] == "literal_error":
        return f"one of {listed}"
    if problem["type"] == "float_type" and listed:
        return f"a number or {listed}"
    message = problem["msg"].removeprefix("Input should be ")
    return message.replace("String should match", "text that matches")


def _choices(annotation: Any) -> list[Any]:
    if getattr(annotation, "__origin__", None) is Literal:
        return list(get_args(annotation))
    return [choice for part in get_args(annotation) for choice in _choices(part)]
