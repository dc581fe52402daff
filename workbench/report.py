"""The HTML report of a run: one file that needs no other.

Convention: plain data in, a page out. Figures are embedded as PNG, there is no script and no link
outside the page, and every text is escaped. Equal data give an equal page.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from functools import cache
from importlib import resources
from numbers import Integral, Real
from typing import Any

import pandas as pd
from jinja2 import Environment, StrictUndefined, Template

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def render_report(
    title: str,
    *,
    summary: Mapping[str, object],
    funnel: Mapping[str, int],
    figures: Mapping[str, bytes],
    tables: Mapping[str, pd.DataFrame],
    configuration: str,
    versions: Mapping[str, str],
    captions: Mapping[str, str] | None = None,
) -> str:
    """The report as an HTML page.

    Parameters
    ----------
    title
        Name of the run.
    summary
        What a reader should know first: name → value.
    funnel
        Label counts in their order, all steps first (`Preferences.funnel`).
    figures, tables
        Title → PNG file content; title → table. Shown in their order; an index is not shown.
    configuration
        The resolved configuration, as text.
    versions
        Package → version.
    captions
        A sentence or two for some figures and tables, by title.

    Raises
    ------
    ValueError
        When a figure is no PNG file, or a caption belongs to no figure or table.
    """
    captions = captions or {}
    strangers = [name for name in captions if name not in figures and name not in tables]
    if strangers:
        raise ValueError(f"caption {strangers[0]!r} belongs to no figure or table of the report")
    total = next(iter(funnel.values()), 0)
    return _template().render(
        title=title,
        summary={name: shown(value) for name, value in summary.items()},
        funnel=[
            (name.replace("_", " "), shown(count), f"{count / total:.1%}" if total else "–")
            for name, count in funnel.items()
        ],
        figures={name: _data_uri(name, png) for name, png in figures.items()},
        tables={name: _rows(table) for name, table in tables.items()},
        captions=captions,
        configuration=configuration,
        versions=versions,
    )


def shown(value: Any) -> str:
    """A value as the report writes it: three decimals, thousands apart, a dash for nothing."""
    if value is None or value is pd.NA or value is pd.NaT:
        return "–"
    if isinstance(value, Integral) and not isinstance(value, bool):
        return f"{int(value):,}"
    if isinstance(value, Real) and not isinstance(value, bool):
        return f"{float(value):.3f}" if math.isfinite(value) else "–"
    return str(value)


def _rows(table: pd.DataFrame) -> dict[str, Any]:
    """Column names, which of them hold numbers, and the cells in words."""
    return {
        "columns": [
            (str(name), pd.api.types.is_numeric_dtype(dtype))
            for name, dtype in table.dtypes.items()
        ],
        "rows": [
            [shown(value) for value in row] for row in table.itertuples(index=False, name=None)
        ],
    }


def _data_uri(title: str, png: bytes) -> str:
    if not png.startswith(PNG_SIGNATURE):
        raise ValueError(f"figure {title!r} is not a PNG file: it begins with {png[:8]!r}")
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


@cache
def _template() -> Template:
    source = resources.files("workbench").joinpath("report.html.jinja").read_text("utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(source)
