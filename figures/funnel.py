"""The label funnel: how many steps are left after each filter, and whom they prefer.

Convention: one bar per stage, drawn to one scale; what a filter dropped stays as a pale outline. Of
the bars with a preference, the part of the negative condition comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from figures.columns import check_columns
from figures.picture import axes_or_new
from figures.style import GREY, NEGATIVE, PALE, POSITIVE, style

if TYPE_CHECKING:
    from probes import Preferences


@style()
def plot_funnel(preferences: Preferences, ax: Axes | None = None) -> Axes:
    """Draw steps, non-tied steps and stable steps, the latter two split by preference.

    Non-tied steps are split by the sign of the utility difference, stable ones by their votes.

    Parameters
    ----------
    preferences
        Its `funnel` gives the counts, its table the columns `difference` and `tie`.
    ax
        Where to draw; a new picture by default.

    Raises
    ------
    ValueError
        When there are no steps.
    """
    check_columns(preferences.table, ["difference", "tie"], "preferences")
    negative, positive = preferences.negative, preferences.positive
    funnel = preferences.funnel
    steps, non_tied = funnel["steps"], funnel["non_tied"]
    difference = preferences.table.loc[~preferences.table["tie"].astype(bool), "difference"]
    by_sign = (int((difference < 0).sum()), int((difference > 0).sum()))
    by_votes = (funnel[f"stable_{negative}"], funnel[f"stable_{positive}"])

    ax = axes_or_new(ax, 7.2, 2.9)
    ax.barh(0, steps, color=GREY, height=0.62, label="_steps")
    for row, (before, parts) in enumerate([(steps, by_sign), (non_tied, by_votes)], start=1):
        ax.barh(row, before, color="none", edgecolor=PALE, height=0.62, label="_before")
        _draw_split(ax, row, parts, (negative, positive) if row == 1 else None)
    names = (negative.capitalize(), positive.capitalize())
    stable = sum(by_votes)
    _write(ax, 0, f"{steps:,}")
    _write(ax, 1, f"{non_tied:,} = {_share(non_tied, steps)} of the steps", _words(names, by_sign))
    _write(ax, 2, f"{stable:,} = {_share(stable, non_tied)} of these", _words(names, by_votes))
    ax.set_yticks(range(3), labels=["steps", "not tied", "stable"])
    ax.invert_yaxis()
    ax.set_xlim(0, steps)
    ax.set_xlabel("steps")
    ax.legend(ncols=2, loc="lower left", bbox_to_anchor=(-0.02, 1.0))
    return ax


def _draw_split(ax: Axes, row: int, parts: tuple[int, int], names: tuple[str, str] | None) -> None:
    left = 0
    for part, look, name in zip(parts, (NEGATIVE, POSITIVE), names or ("_", "_")):
        ax.barh(
            row,
            part,
            left=left,
            height=0.62,
            color=look.color,
            hatch=look.hatch,
            edgecolor="white",
            label=name.capitalize(),
        )
        left += part


def _write(ax: Axes, row: int, *lines: str) -> None:
    """Words beside the bars, where they fit however short the bars are."""
    ax.text(
        1.03,
        row,
        "\n".join(lines),
        transform=ax.get_yaxis_transform(),
        va="center",
        fontsize=9,
    )


def _words(names: tuple[str, str], parts: tuple[int, int]) -> str:
    total = sum(parts)
    return ", ".join(f"{n} {part:,} ({_share(part, total)})" for n, part in zip(names, parts))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}".replace("%", " %") if whole else "–"
