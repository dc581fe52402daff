"""The check that a table has what a figure draws."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd


def check_columns(table: pd.DataFrame, columns: Sequence[str], what: str) -> None:
    """Raise a ValueError when `table` has no rows or lacks one of `columns`.

    Parameters
    ----------
    what
        What the table is, for the message ("layer curve", "preferences").
    """
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise ValueError(
            f"{what}: no column {', '.join(map(repr, missing))}; "
            f"the table has {', '.join(map(repr, table.columns)) or 'none'}"
        )
    if table.empty:
        raise ValueError(f"{what}: the table has no rows, so there is nothing to draw")
