"""What happened: steps and episodes of GUI agents, their tables, their recording, their scoring."""

from episodes.action import Action, ActionKind, Point
from episodes.element import Box, Element
from episodes.step import Episode, Step

__all__ = ["Action", "ActionKind", "Box", "Element", "Episode", "Point", "Step"]
