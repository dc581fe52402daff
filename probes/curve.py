"""The AUROC-by-layer curve: the result of a sweep over sites."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

TABLE, SCORES, SETTINGS = "curve.parquet", "scores.parquet", "curve.json"


@dataclass(frozen=True)
class LayerCurve:
    """A row per site, the scores behind it, and how it was made.

    Parameters
    ----------
    table
        Columns site; auroc, low, high (out of fold, 95 % interval over clusters); shuffled,
        shuffled_low, shuffled_high (mean and 95 % range over shuffles of the labels); nuisance,
        nuisance_low, nuisance_high (token counts only; equal for all sites); n_positive,
        n_negative, n_steps, n_clusters.
    scores
        Columns step_id, site, fold, score (log odds, comparable within a fold only), label
        (1 = positive condition preferred), cluster.
    settings
        Everything that decided the numbers.
    """

    table: pd.DataFrame
    scores: pd.DataFrame
    settings: dict[str, Any]

    @property
    def peak(self) -> pd.Series:
        """Row of the block with the highest AUROC, the earliest of equals.

        Being the best of several, its AUROC is a little too high as an estimate.
        """
        blocks = self._blocks()
        return blocks.loc[blocks["auroc"].astype(float).idxmax()]

    @property
    def final(self) -> pd.Series:
        """Row of the last block."""
        return self._blocks().iloc[-1]

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve on Matplotlib axes, new ones by default, and return them."""
        from figures import plot_layer_curve

        return plot_layer_curve(self, ax=ax)

    def save(self, folder: str | Path) -> Path:
        """Write curve.json, scores.parquet and curve.parquet; each file is replaced as a whole."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.settings, indent=2, sort_keys=True) + "\n"
        _replace(folder / SETTINGS, lambda path: path.write_text(text, "utf-8"))
        _replace(folder / SCORES, lambda path: self.scores.to_parquet(path, index=False))
        # Last, because the sites named here are taken for finished.
        _replace(folder / TABLE, lambda path: self.table.to_parquet(path, index=False))
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> LayerCurve:
        """Inverse of `save`; `ValueError` names a missing or unreadable file."""
        folder = Path(folder)
        try:
            settings = json.loads((folder / SETTINGS).read_text("utf-8"))
            table = pd.read_parquet(folder / TABLE)
            scores = pd.read_parquet(folder / SCORES)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise ValueError(f"{folder} holds no readable layer curve: {error}") from error
        return cls(table, scores.loc[scores["site"].isin(table["site"])], settings)

    def __repr__(self) -> str:
        return f"{self._headline()}\n{self.table.to_string(index=False, float_format='%.3f')}"

    def _repr_html_(self) -> str:
        table = self.table.to_html(index=False, float_format="%.3f", border=0)
        return f"<p><b>{self._headline()}</b></p>{table}"

    def _headline(self) -> str:
        headline = (
            f"LayerCurve, {self.settings['sign']}, {len(self.table)} sites,"
            f" {self.settings['analysis_set']} steps, groups {'+'.join(self.settings['groups'])}"
        )
        if not self.table["site"].str.startswith("block.").any():
            return headline
        peak = self.peak
        return f"{headline}; peak {peak['site']} {peak['auroc']:.3f} [{peak['low']:.3f}, {peak['high']:.3f}]"

    def _blocks(self) -> pd.DataFrame:
        blocks = self.table.loc[self.table["site"].str.startswith("block.")]
        if blocks.empty:
            raise ValueError(f"no site block.* among {', '.join(self.table['site'])}")
        return blocks


def _replace(path: Path, write: Any) -> None:
    unfinished = path.with_name(path.name + ".partial")
    write(unfinished)
    os.replace(unfinished, path)
