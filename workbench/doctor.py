"""What is installed here, which devices there are, and what is missing for what.

Convention: a finding is a line of a table: what was looked for, what was found, whether it is enough,
and, where it is not, what to do. Nothing is changed and nothing is fetched.
"""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement
from rich import box
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for; `missing` is empty where nothing is."""

    subject: str
    found: str
    missing: str = ""


def diagnose() -> dict[str, list[Finding]]:
    """All findings, by heading."""
    return {
        "This machine": [*_machine(), *_devices()],
        "Packages": _packages(),
        "What works": [*_extras(), _browser()],
    }


def print_diagnosis(console: Console) -> None:
    """Show all findings as tables."""
    for heading, findings in diagnose().items():
        table = Table(title=heading, title_justify="left", box=box.SIMPLE, show_header=False)
        for finding in findings:
            mark = "[red]missing[/red]" if finding.missing else "[green]ok[/green]"
            table.add_row(finding.subject, finding.found, mark, finding.missing)
        console.print(table)


def _machine() -> list[Finding]:
    free = shutil.disk_usage(Path.cwd()).free
    return [
        Finding("mnemoscope", metadata.version("mnemoscope")),
        Finding("Python", f"{platform.python_version()} on {platform.platform()}"),
        Finding("CPU cores", str(os.cpu_count())),
        Finding(
            "free disk here",
            f"{free / 1e9:,.1f} GB",
            "" if free > 1e9 else "the demo's run folder and figures want about 1 GB",
        ),
    ]


def _devices() -> list[Finding]:
    try:
        import torch
    except ImportError as error:
        return [Finding("torch", "cannot be imported", f"pip install torch ({error})")]
    if torch.cuda.is_available():
        return [
            Finding(
                f"cuda:{i}",
                f"{torch.cuda.get_device_name(i)}, "
                f"{torch.cuda.get_device_properties(i).total_memory / 2**30:.0f} GiB",
            )
            for i in range(torch.cuda.device_count())
        ]
    if torch.backends.mps.is_available():
        return [Finding("mps", "Apple GPU")]
    return [Finding("GPU", "none: enough for the demo; a model of billions of weights wants one")]


def _packages() -> list[Finding]:
    return [_package(requirement) for requirement in _requirements() if not requirement.marker]


def _package(requirement: Requirement) -> Finding:
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return Finding(requirement.name, "not installed", f'pip install "{requirement}"')
    enough = requirement.specifier.contains(version, prereleases=True)
    return Finding(
        requirement.name, version, "" if enough else f'too old: pip install "{requirement}"'
    )


def _requirements() -> list[Requirement]:
    return [Requirement(line) for line in metadata.requires("mnemoscope") or []]


def _extras() -> list[Finding]:
    wanted = {
        "miniwob": ("miniwob", "recording MiniWoB++ steps"),
        "lab": ("jupyterlab", "the notebooks"),
        "datasets": ("datasets", "opening tables of steps with Hugging Face datasets"),
        "xarray": ("xarray", "opening activation stores with xarray"),
    }
    return [
        Finding(purpose, f"{module} is installed")
        if find_spec(module)
        else Finding(purpose, f"{module} is not installed", f'pip install "mnemoscope[{extra}]"')
        for extra, (module, purpose) in wanted.items()
    ]


def _browser() -> Finding:
    from episodes.miniwob.browser import find_chromium

    try:
        return Finding("a browser for MiniWoB++", ", ".join(find_chromium()))
    except Exception as error:  # whatever it is, its message says what to do
        return Finding("a browser for MiniWoB++", "not found", str(error))
