"""A run: one configuration and the folder that holds everything made from it.

Convention: an artefact that is there is finished, since each is moved into place whole; so a stage
whose artefact exists has nothing to do. No artefact is ever deleted.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from workbench.atomic import write_file
from workbench.config import RunConfig, differing_keys, load_config

RECORDED_PACKAGES = (
    "mnemoscope", "torch", "transformers", "nnsight", "numpy", "pandas", "pyarrow", "pillow",
    "scikit-learn", "scipy", "zarr",
)  # fmt: skip


class RunError(ValueError):
    """A run folder that cannot be used, or a stage whose predecessor has not run."""


@dataclass(frozen=True)
class Run:
    """A run folder and its configuration.

    Parameters
    ----------
    folder
        Where the artefacts lie.
    config
        The whole configuration, equal to `config.toml` in the folder.
    """

    folder: Path
    config: RunConfig

    @classmethod
    def open(cls, config: RunConfig, runs: str | Path = "runs") -> Run:
        """The run `runs/NAME`, made if it does not exist yet.

        A run folder in which no stage has made anything yet takes another configuration.

        Raises
        ------
        RunError
            When the folder holds a run of another configuration (each differing key is named), or
            something that is not a run; when a file is in its place, or another process holds it.
        """
        run = cls(Path(runs) / config.run.name, config)
        if not run._is_new():
            return run
        _make_folder(run.folder)
        with run._held():
            if run._is_new():  # else another process has made it meanwhile
                versions = json.dumps(recorded_versions(), indent=2) + "\n"
                write_file(run.path("versions.json"), lambda path: path.write_text(versions))
                write_file(run.path("config.toml"), lambda path: path.write_text(config.to_toml()))
        return run

    def path(self, name: str) -> Path:
        """Path of an artefact by its name in the folder (`samples.parquet`, `activations.zarr`)."""
        return self.folder / name

    def has(self, name: str) -> bool:
        """Whether the artefact is there, and so finished."""
        return self.path(name).exists()

    def needs(self, name: str, stage: str) -> Path:
        """Path of an artefact that `stage` makes; `RunError` names the stage when it is missing."""
        if not self.has(name):
            raise RunError(
                f"{self.path(name)} is missing: run `mnemoscope {stage}` first, "
                "with the same configuration"
            )
        return self.path(name)

    def note(self, message: str) -> None:
        """Add a line with the time to the run's log."""
        with self.path("log").open("a", encoding="utf-8") as log:
            log.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {message}\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for one process at a time; a killed process lets go of it.

        Raises
        ------
        RunError
            When another process holds it, or has begun it anew with another configuration.
        """
        with self._held():
            self._refuse_other_configuration()
            yield

    @contextmanager
    def _held(self) -> Iterator[None]:
        import fcntl  # POSIX only, like the lock that ends with its process

        with self.path(".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RunError(
                    f"{self.folder}: another process works on this run; wait for it or end it"
                ) from None
            yield

    def _is_new(self) -> bool:
        """Whether the configuration is still to be written; refuses a folder that is not for it."""
        own = {"config.toml", "versions.json", "log"}
        made = sorted({path.name for path in self.folder.glob("[!.]*")} - own)
        if self.path("config.toml").is_file():
            if not made and differing_keys(load_config(self.path("config.toml")), self.config):
                return True
            self._refuse_other_configuration()
            return False
        if made:
            raise RunError(
                f"{self.folder}: not a run folder (no config.toml, but {', '.join(made[:3])}); "
                "choose another run.name or move it away"
            )
        return True

    def _refuse_other_configuration(self) -> None:
        there = load_config(self.path("config.toml"))
        if differences := differing_keys(there, self.config):
            listed = "\n".join(
                f"  {key}: the run has {_shown(old)}, this configuration {_shown(new)}"
                for key, old, new in differences
            )
            raise RunError(
                f"{self.folder}: the run folder holds a run with another configuration\n{listed}\n"
                "Give the new configuration another name (run.name, or --set run.name=…), or move "
                "the folder away."
            )


def recorded_versions() -> dict[str, str]:
    """Python's, the platform's and the main packages' versions; absent packages are left out."""
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for package in RECORDED_PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        file = next(path for path in (folder, *folder.parents) if path.exists())
        raise RunError(
            f"{file}: a file, expected a folder, since the run is kept in {folder}; choose another "
            "--runs or run.name"
        ) from None


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(value)
