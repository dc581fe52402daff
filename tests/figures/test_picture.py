"""Writing figures: both forms, equal bytes, no trace outside."""

import re
import xml.etree.ElementTree as ElementTree

import matplotlib
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure
from PIL import Image

from figures import (
    figure_bytes,
    plot_funnel,
    plot_layer_curve,
    plot_utility_by_task,
    save_figure,
)


def test_png_and_svg_are_written(curve, tmp_path):
    png, svg = save_figure(plot_layer_curve(curve), tmp_path / "new" / "folder", "curve")
    assert png == tmp_path / "new" / "folder" / "curve.png"
    with Image.open(png) as image:
        assert image.format == "PNG"
        assert image.width > 800
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")


@pytest.mark.parametrize("form", ["png", "svg"])
def test_equal_results_give_equal_bytes(curve, preferences, form):
    for draw in (lambda: plot_layer_curve(curve), lambda: plot_funnel(preferences)):
        assert figure_bytes(draw(), form) == figure_bytes(draw(), form)


@pytest.mark.parametrize("form", ["png", "svg"])
def test_same_figure_written_twice_gives_equal_bytes(preferences, form):
    drawn = plot_funnel(preferences)
    assert figure_bytes(drawn, form) == figure_bytes(drawn, form)


def test_files_hold_no_date_and_no_version(curve):
    drawn = plot_layer_curve(curve)
    assert b"Matplotlib v" not in figure_bytes(drawn, "png")
    svg = figure_bytes(drawn, "svg").decode()
    assert not re.search(r"dc:date|20\d\d-\d\d-\d\d|Matplotlib v", svg)


def test_settings_and_pyplot_are_left_alone(curve, preferences, tmp_path):
    before, numbers = dict(matplotlib.rcParams), plt.get_fignums()
    save_figure(plot_layer_curve(curve), tmp_path, "curve")
    plot_utility_by_task(preferences)
    with pytest.raises(ValueError, match="no column"):
        plot_utility_by_task(preferences, column="missing")
    assert dict(matplotlib.rcParams) == before
    assert plt.get_fignums() == numbers


def test_look_does_not_depend_on_the_users_settings(curve):
    plain = figure_bytes(plot_layer_curve(curve))
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "savefig.dpi": 20}):
        assert figure_bytes(plot_layer_curve(curve)) == plain


def test_notebooks_show_a_figure_by_itself(curve):
    assert plot_layer_curve(curve).figure._repr_png_().startswith(b"\x89PNG")


def test_figure_and_its_axes_give_the_same_file(preferences):
    ax = plot_funnel(preferences)
    assert isinstance(ax.figure, Figure)
    assert figure_bytes(ax) == figure_bytes(ax.figure)


@pytest.mark.parametrize("name", ["", "a/b", "..", "curve.png"])
def test_name_that_is_no_plain_file_name_is_refused(curve, tmp_path, name):
    with pytest.raises(ValueError, match="figure name"):
        save_figure(plot_layer_curve(curve), tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_other_forms_are_refused(curve):
    with pytest.raises(ValueError, match="png or svg, not 'pdf'"):
        figure_bytes(plot_layer_curve(curve), "pdf")
