"""What happened: steps and episodes of GUI agents, their tables, their recording, their scoring."""

from episodes.action import Action, ActionKind, Point
from episodes.data import bundled_steps
from episodes.element import Box, Element
from episodes.scorers import SCORERS, Scorer, get_scorer
from episodes.step import Episode, Step
from episodes.table import StepTable, read_episodes_of, read_steps, write_steps

__all__ = [
    "SCORERS",
    "Action",
    "ActionKind",
    "Box",
    "Element",
    "Episode",
    "Point",
    "Scorer",
    "Step",
    "StepTable",
    "bundled_steps",
    "get_scorer",
    "read_episodes_of",
    "read_steps",
    "write_steps",
]
