"""How every picture looks: one palette, one look per side, one context.

Convention: the negative condition (Text) is a blue circle with a plain fill, the positive one
(Image) an orange triangle with a hatched fill. The colours are Okabe and Ito's, chosen so that they
also differ in lightness; shape, hatch and line style carry the same difference once more.
Matplotlib's settings are changed only inside `style()`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

import matplotlib

INK = "#222222"
GREY = "#767676"
PALE = "#d9d9d9"
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"


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
SERIES = (
    NEGATIVE,
    POSITIVE,
    Look(GREEN, "s", linestyle="-."),
    Look(PURPLE, "D", linestyle=(0, (5, 1, 1, 1, 1, 1))),  # pyright: ignore[reportArgumentType]
)

SETTINGS = {
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


def style() -> AbstractContextManager[None]:
    """The settings of every picture, as a context (or decorator) that puts the old ones back."""
    return matplotlib.rc_context(SETTINGS)
