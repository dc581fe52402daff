"""Scorers: how good a predicted action is for a step, one rule per file.

A scorer is a pure function of (predicted action, step) with a value in [0, 1]. To register one of
your own: ``SCORERS["name"] = function``.
"""

from __future__ import annotations

from collections.abc import Callable

from episodes.action import Action
from episodes.scorers.aitw import aitw_score
from episodes.scorers.element import element_score
from episodes.step import Step

Scorer = Callable[[Action, Step], float]

SCORERS: dict[str, Scorer] = {"aitw": aitw_score, "element": element_score}
"""Scorers by name."""


def get_scorer(name: str) -> Scorer:
    """The scorer called `name`; `ValueError` lists the known names otherwise."""
    if name not in SCORERS:
        raise ValueError(f"scorer {name!r} is unknown; known scorers: {', '.join(sorted(SCORERS))}")
    return SCORERS[name]


__all__ = ["SCORERS", "Scorer", "aitw_score", "element_score", "get_scorer"]
