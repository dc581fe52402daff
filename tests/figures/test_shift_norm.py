"""Norms of the shifts by layer: computed from a store, drawn by side."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from activations import ActivationStore
from figures import plot_shift_norm, shift_norms

SITES = ["embed", "block.0", "block.1", "final_norm"]


@pytest.fixture
def norms(preferences):
    """Row i has norm (i + 1) · site number; `embed` is zero."""
    steps = preferences.table["step_id"]
    values = np.outer(np.arange(1.0, 11.0), np.arange(4.0))
    return pd.DataFrame(values, columns=SITES, index=pd.Index(steps, name="step_id"))


def test_norms_of_a_store_are_euclidean(tmp_path):
    rng = np.random.default_rng(0)
    states = rng.normal(size=(5, 2, 4, 8)).astype(np.float32)
    store = ActivationStore.create(
        tmp_path / "store",
        step_ids=list("abcde"),
        episode_ids=list("xxyyz"),
        conditions=("text", "image"),
        sites=SITES,
        width=8,
        dtype="float32",
        fingerprint={"model": "none"},
        block_size=5,
    )
    tokens = np.ones((5, 2), dtype=np.int64)
    hashes = np.full((5, 2), "0" * 64)
    store.append(0, states, tokens, tokens, tokens, hashes)
    expected = np.sqrt(((states[:, 1] - states[:, 0]) ** 2).sum(axis=-1))
    found = shift_norms(store)
    assert (list(found.index), list(found.columns)) == (list("abcde"), SITES)
    assert_allclose(found, expected, rtol=1e-6)
    part = shift_norms(store, [3, 1])
    assert list(part.index) == ["d", "b"]
    assert_allclose(part, expected[[3, 1]], rtol=1e-6)


def test_lines_are_medians_of_each_side(norms, preferences):
    ax = plot_shift_norm(norms, preferences)
    drawn = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    # Text is preferred at rows 0–3 (factors 1–4), Image at rows 4–7 (factors 5–8).
    assert_allclose(drawn["Text preferred (4)"], [2.5, 5.0])
    assert_allclose(drawn["Image preferred (4)"], [6.5, 13.0])
    assert_allclose(drawn["_Text preferred (4), ends"], [7.5])


def test_bars_at_the_ends_are_quartiles(norms, preferences):
    ax = plot_shift_norm(norms, preferences)
    (segment,) = ax.collections[1].get_segments()
    assert_allclose(segment[:, 1], np.quantile([3, 6, 9, 12], [0.25, 0.75]))


def test_site_without_any_shift_is_named_instead_of_drawn(norms, preferences):
    ax = plot_shift_norm(norms, preferences)
    assert ax.get_legend().get_title().get_text() == "zero at every step: embed"
    assert "embed" in [tick.get_text() for tick in ax.get_xticklabels()]


def test_one_side_alone_is_drawn(norms, preferences):
    ax = plot_shift_norm(norms[:4], preferences)
    assert len(ax.get_legend().get_texts()) == 1


def test_steps_without_labels_are_refused(norms, preferences):
    with pytest.raises(ValueError, match="none of the 2 steps has a preference label"):
        plot_shift_norm(norms[8:], preferences)


def test_zero_norms_everywhere_are_refused(norms, preferences):
    with pytest.raises(ValueError, match="every norm is zero"):
        plot_shift_norm(norms * 0, preferences)
