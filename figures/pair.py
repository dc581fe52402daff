"""One pair, for people: the screen, the memory in both forms, and what was answered to each.

Convention: plain values only. Points are (x, y) and boxes (left, top, right, bottom), fractions of
the screen in [0, 1], origin top left.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL.Image import Image

from figures.picture import new_picture
from figures.style import GREEN, GREY, INK, NEGATIVE, POSITIVE, Look, style

Point = tuple[float, float]
Box = tuple[float, float, float, float]

PANEL_HEIGHT = 3.6  # inches
WORDS_WIDTH = 3.4
LINE_LENGTH, MEMORY_LINES, ANSWER_LINES = 44, 20, 6


@style()
def show_pair(
    screen: Image,
    memory_image: Image,
    memory_text: str,
    *,
    instruction: str,
    answers: Mapping[str, Sequence[str]],
    scores: Mapping[str, Sequence[float]],
    clicks: Mapping[str, Sequence[Point | None]],
    target: Box | None = None,
    negative: str = "text",
    positive: str = "image",
) -> Figure:
    """Draw the current screen, the memory as picture and as words, and the sampled answers.

    Parameters
    ----------
    screen
        The current screenshot.
    memory_image, memory_text
        The two forms of the retrieved step, as the actor saw them.
    instruction
        What the actor was told to do.
    answers, scores, clicks
        For both conditions, in the order of the samples: the answer in words, its score in [0, 1],
        and the point that it touches (None where it touches none).
    target
        Box of the true target; None where the step has none.
    negative, positive
        Names of the conditions, the keys of `answers`, `scores` and `clicks`.

    Raises
    ------
    ValueError
        When a condition is missing, or its answers, scores and clicks differ in number.
    """
    sides = {negative: NEGATIVE, positive: POSITIVE}
    for name in sides:
        _check_samples(name, answers, scores, clicks)
    widths = [PANEL_HEIGHT * _aspect(screen), PANEL_HEIGHT * _aspect(memory_image), WORDS_WIDTH]
    figure = new_picture(sum(widths) + 0.6, PANEL_HEIGHT + 2.1)
    (upper,), (lower,) = figure.subfigures(
        2, 1, height_ratios=[PANEL_HEIGHT + 0.7, 1.4], hspace=0.05, squeeze=False
    )
    on_screen, on_image, on_text = upper.subplots(1, 3, width_ratios=widths)
    for panel in (on_screen, on_image, on_text):
        panel.set_anchor("NW")

    on_screen.imshow(screen, extent=(0, 1, 1, 0), aspect=screen.height / screen.width)
    on_screen.set_title(_wrapped(f"Screen: {instruction}", int(widths[0] * 11)), loc="left")
    if target is not None:
        _draw_target(on_screen, target)
    for name, look in sides.items():
        _draw_clicks(on_screen, clicks[name], look, name)
    on_screen.legend(
        loc="upper left", bbox_to_anchor=(-0.02, 0.0), ncols=3, fontsize=8,
        handletextpad=0.3, columnspacing=0.8, borderpad=0.2,
    )  # fmt: skip
    _frame(on_screen, GREY)

    on_image.imshow(memory_image)
    size = f"{memory_image.width} × {memory_image.height} px"
    on_image.set_title(f"Memory as picture\n({size})", loc="left")
    _frame(on_image, POSITIVE.color)

    on_text.set_title("Memory as words", loc="left")
    _write(on_text, _cut(_lines(memory_text, LINE_LENGTH), MEMORY_LINES))
    _frame(on_text, NEGATIVE.color)

    length = int((sum(widths) + 0.6) / 2 * 11.5)
    for panel, (name, look) in zip(lower.subplots(1, 2), sides.items()):
        utility = sum(scores[name]) / len(scores[name])
        panel.set_title(
            f"{name.capitalize()}: utility {utility:.2f} over {len(scores[name])} samples",
            loc="left",
        )
        _write(panel, _cut(_answer_lines(answers[name], scores[name], length), ANSWER_LINES))
        _frame(panel, look.color)
    return figure


def _check_samples(
    name: str,
    answers: Mapping[str, Sequence[str]],
    scores: Mapping[str, Sequence[float]],
    clicks: Mapping[str, Sequence[Point | None]],
) -> None:
    given = {"answers": answers, "scores": scores, "clicks": clicks}
    for what, by_condition in given.items():
        if not len(by_condition.get(name, ())):
            raise ValueError(f"{what} has nothing for condition {name!r}; expected its samples")
    counts = {what: len(by_condition[name]) for what, by_condition in given.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"condition {name!r}: numbers of samples differ: {counts}")


def _aspect(image: Image) -> float:
    """Width by height, within what a panel can be."""
    return min(max(image.width / image.height, 0.6), 1.4)


def _draw_target(ax: Axes, box: Box) -> None:
    left, top, right, bottom = box
    ax.add_patch(
        Rectangle(
            (left, top), right - left, bottom - top,
            fill=False, edgecolor=GREEN, linewidth=2.2, label="target",
        )
    )  # fmt: skip


def _draw_clicks(ax: Axes, points: Sequence[Point | None], look: Look, name: str) -> None:
    touched = [point for point in points if point is not None]
    ax.plot(
        [x for x, _ in touched], [y for _, y in touched],
        linestyle="none", marker=look.marker, markersize=8, color=look.color, alpha=0.75,
        markeredgecolor=INK, markeredgewidth=0.8, label=name.capitalize(),
    )  # fmt: skip


def _frame(ax: Axes, color: str) -> None:
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set(visible=True, color=color, linewidth=2)


def _write(ax: Axes, lines: Sequence[str]) -> None:
    ax.text(
        0.02, 0.97, "\n".join(lines),
        transform=ax.transAxes, va="top", family="monospace", fontsize=8, linespacing=1.35,
    )  # fmt: skip


def _answer_lines(answers: Sequence[str], scores: Sequence[float], length: int) -> list[str]:
    """Equal answers once, with their number and score; the most frequent first."""
    counted = Counter(zip(answers, scores)).most_common()
    return [
        textwrap.shorten(f"{count} × score {score:g}: {answer}", length, placeholder=" …")
        for (answer, score), count in counted
    ]


def _lines(text: str, length: int) -> list[str]:
    return [
        part
        for line in text.splitlines()
        for part in (textwrap.wrap(line, length, subsequent_indent="  ") or [""])
    ]


def _wrapped(text: str, length: int) -> str:
    return "\n".join(_cut(textwrap.wrap(text, length), 3))


def _cut(lines: Sequence[str], most: int) -> list[str]:
    """The first lines, saying so where some were left out."""
    if len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], f"… and {len(lines) - most + 1} more lines"]
