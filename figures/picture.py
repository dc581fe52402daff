"""Figures outside pyplot, and the one way in which they are written.

Convention: nothing is registered with pyplot, so there is nothing to close or to leak. The same
figure gives the same bytes whenever it is written: no dates, no versions, a fixed hash salt.
"""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures.style import style

DPI = 160
METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}


class Picture(Figure):
    """A figure that notebooks show by itself, whatever the plotting backend."""

    def _repr_png_(self) -> bytes:
        return figure_bytes(self, "png")


def new_picture(width: float, height: float) -> Picture:
    """An empty picture, in inches, whose layout keeps labels from being cut."""
    return Picture(figsize=(width, height), layout="constrained")


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """`ax` itself, or the axes of a new picture of this size in inches."""
    return new_picture(width, height).add_subplot() if ax is None else ax


def figure_bytes(drawn: Figure | Axes, form: str = "png") -> bytes:
    """The picture as a file's content; its layout is computed now and kept from then on.

    Parameters
    ----------
    drawn
        A figure, or axes whose whole figure is meant.
    form
        "png" (160 dots per inch) or "svg".

    Raises
    ------
    ValueError
        When `form` is neither.
    """
    if form not in METADATA:
        raise ValueError(f"figures are written as png or svg, not {form!r}")
    figure = drawn.get_figure(root=True)
    assert figure is not None
    content = BytesIO()
    with style():
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # or every drawing would move the axes a little further
        figure.savefig(content, format=form, dpi=DPI, bbox_inches="tight", metadata=METADATA[form])
    return content.getvalue()


def save_figure(drawn: Figure | Axes, folder: str | Path, name: str) -> tuple[Path, Path]:
    """Write `folder/name.png` and `folder/name.svg`; the folder is made where it is missing.

    Returns
    -------
    tuple of Path
        The PNG and the SVG file.

    Raises
    ------
    ValueError
        When `name` has other characters than letters, digits, - and _ (a folder, a suffix).
    """
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(
            f"figure name {name!r} is not made of letters, digits, - and _ alone; "
            "give it without folder and suffix"
        )
    folder = Path(folder)
    contents = {form: figure_bytes(drawn, form) for form in METADATA}
    folder.mkdir(parents=True, exist_ok=True)
    for form, content in contents.items():
        (folder / f"{name}.{form}").write_bytes(content)
    return folder / f"{name}.png", folder / f"{name}.svg"
