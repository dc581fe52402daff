"""How every picture looks: one palette, one look per side, one context.

Convention: the negative condition (Text) is a blue circle with a plain fill, the positive one
(Image) an orange triangle with a hatched fill. The colours are Okabe and Ito's, chosen so that they
also differ in lightness; shape, hatch and line style carry the same difference once more.
Matplotlib's settings are changed only inside `style()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib

INK = "#222222"
GREY = "#767676"
PALE = "#d9d9d9"
SLATE = "#33415C"
BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"


@dataclass(frozen=True)
class Look:
    """Colour and, for whoever sees no colours, the shape, hatch and line style of one thing."""

    color: str
    marker: str
    hatch: str = ""
    linestyle: str = "-"


NEGATIVE = Look(BLUE, "o")
POSITIVE = Look(ORANGE, "^", hatch="////", linestyle="--")
TIE = Look(GREY, "X")
SERIES = (  # what is about both sides takes the colour of neither
    Look(SLATE, "o"),
    Look(PURPLE, "D", linestyle="--"),
    Look(SKY, "v", linestyle="-."),
)

SETTINGS: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so it is the same everywhere
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.title_fontsize": 9,
    "legend.frameon": False,
    "text.color": INK,
    "text.parse_math": False,  # instructions and answers may hold dollar signs
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.facecolor": "white",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#ebebeb",
    "grid.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "svg.hashsalt": "mnemoscope",
    "svg.fonttype": "path",
}


@contextmanager
def style() -> Iterator[None]:
    """The settings of every picture, as a context (or decorator) that puts the old ones back."""
    with matplotlib.rc_context(SETTINGS):
        yield
