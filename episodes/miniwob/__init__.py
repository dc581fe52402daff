"""MiniWoB++ in a real Chromium: pages, scripted demonstrators, recording."""

from episodes.miniwob.browser import Browser, BrowserError, Screen, find_chromium
from episodes.miniwob.bundle import record_bundle
from episodes.miniwob.demonstrators import DEMONSTRATORS
from episodes.miniwob.record import parse_seeds, record, record_episode

__all__ = [
    "DEMONSTRATORS",
    "Browser",
    "BrowserError",
    "Screen",
    "find_chromium",
    "parse_seeds",
    "record",
    "record_bundle",
    "record_episode",
]
