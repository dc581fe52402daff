"""The report page: complete, escaped, and without anything outside itself."""

import base64
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from workbench.report import PNG_SIGNATURE, render_report, shown

EVIL = "<script>alert('x')</script>&\"quoted\""
PNG = PNG_SIGNATURE + b"rest"


def page(**changes):
    given = {
        "title": "demo",
        "summary": {"peak": "block.3", "steps": 1200},
        "funnel": {"steps": 1200, "ties": 300, "non_tied": 900},
        "figures": {"AUROC by layer": PNG},
        "tables": {"utilities": pd.DataFrame({"task": ["click"], "text": [0.25], "n": [1234]})},
        "configuration": 'name = "demo"',
        "versions": {"torch": "2.6"},
    }
    return render_report(**(given | changes))


class Elements(HTMLParser):
    """Tags with attributes, and every text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def test_every_given_text_is_shown_as_text_and_never_as_markup():
    html = page(
        title=EVIL,
        summary={EVIL: EVIL},
        funnel={EVIL: 1},
        figures={EVIL: PNG},
        tables={EVIL + "t": pd.DataFrame({EVIL: [EVIL]})},
        configuration=EVIL,
        versions={EVIL: EVIL},
        captions={EVIL: EVIL},
    )
    elements = Elements(html)
    assert "script" not in {tag for tag, _ in elements.tags}
    assert sum(text.startswith("<script>") for text in elements.texts) >= 11
    assert ("img", EVIL) in [(tag, attrs.get("alt")) for tag, attrs in elements.tags]


def test_page_asks_for_nothing_outside_itself():
    html = page()
    targets = [
        attrs[name]
        for _, attrs in Elements(html).tags
        for name in ("src", "href", "srcset", "action", "data")
        if name in attrs
    ]
    assert targets
    assert all(target.startswith(("data:image/png;base64,", "#")) for target in targets)
    assert not re.search(r"https?:|url\(|@import|<link|<script|<iframe", html)


def test_links_within_the_page_lead_somewhere():
    tags = Elements(page()).tags
    places = {attrs["id"] for _, attrs in tags if "id" in attrs}
    assert {attrs["href"] for tag, attrs in tags if tag == "a"} == {f"#{p}" for p in places}


def test_figures_are_embedded_whole():
    (source,) = [attrs["src"] for tag, attrs in Elements(page()).tags if tag == "img"]
    assert base64.b64decode(source.removeprefix("data:image/png;base64,")) == PNG


def test_funnel_gives_counts_and_shares_of_all_steps():
    texts = Elements(page()).texts
    assert {"non tied", "900", "75.0%", "1,200", "100.0%"} <= set(texts)


def test_table_cells_are_rounded_and_numbers_stand_right():
    elements = Elements(page())
    assert {"0.250", "1,234", "click"} <= set(elements.texts)
    cells = [attrs.get("class") for tag, attrs in elements.tags if tag == "td"]
    assert cells[-3:] == [None, "number", "number"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (pd.NA, "–"),
        (np.float32(0.5), "0.500"),
        (np.int64(12000), "12,000"),
        (True, "True"),
        (np.bool_(False), "False"),
        ("a_b", "a_b"),
    ],
)
def test_values_in_words(value, words):
    assert shown(value) == words


def test_equal_data_give_an_equal_page():
    assert page() == page()


def test_empty_run_still_makes_a_page():
    html = page(summary={}, funnel={"steps": 0}, figures={}, tables={"none": pd.DataFrame()})
    assert "–" in html


def test_figure_that_is_no_png_is_refused_by_name():
    with pytest.raises(ValueError, match="'curve' is not a PNG"):
        page(figures={"curve": b"<svg/>"})


def test_caption_of_nothing_is_refused():
    with pytest.raises(ValueError, match="'curve' belongs to no figure"):
        page(captions={"curve": "words"})
