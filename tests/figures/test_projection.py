"""Projected shifts: every point once, marked by its preference."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from figures import plot_projection
from figures.style import NEGATIVE, POSITIVE, TIE

POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0]])
LABELS = ["text", "image", None, "image", "text"]


def test_points_are_drawn_in_the_colour_of_their_side():
    (drawn,) = plot_projection(POINTS, LABELS).collections
    looks = {"text": NEGATIVE, "image": POSITIVE, None: TIE}
    expected = {(*point, *to_rgb(looks[label].color)) for point, label in zip(POINTS, LABELS)}
    found = {
        (*offset, *color[:3]) for offset, color in zip(drawn.get_offsets(), drawn.get_facecolors())
    }
    assert found == expected


def test_sides_differ_in_shape_too():
    (drawn,) = plot_projection(POINTS, LABELS).collections
    shapes = {tuple(map(tuple, path.vertices)) for path in drawn.get_paths()}
    assert len(shapes) == 3


def test_legend_counts_each_side():
    legend = plot_projection(POINTS, LABELS).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["Text (2)", "Image (2)", "Tie (1)"]


def test_axes_are_named_by_the_method():
    assert plot_projection(POINTS, LABELS, method="pca").get_xlabel() == "PCA 1"


def test_labels_may_be_a_series_with_any_index():
    labels = pd.Series(LABELS, index=list("vwxyz"), dtype=object)
    legend = plot_projection(POINTS, labels).get_legend()
    assert len(legend.get_texts()) == 3


def test_one_side_alone_is_drawn():
    ax = plot_projection(POINTS[:1], ["text"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Text (1)"]


@pytest.mark.parametrize(
    ("points", "labels", "message"),
    [
        (POINTS, LABELS[:4], "5 points but 4 labels"),
        (POINTS, ["text", "both", None, None, None], "'both' is neither 'text' nor 'image'"),
        (POINTS[:, :1], LABELS, r"shape \(5, 1\)"),
        (POINTS[:0], [], r"shape \(0, 2\)"),
    ],
)
def test_bad_input_is_named(points, labels, message):
    with pytest.raises(ValueError, match=message):
        plot_projection(points, labels)
