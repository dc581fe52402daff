"""Small results to draw, with values that the tests can find again in the picture."""

import numpy as np
import pandas as pd
import pytest

from probes import LayerCurve, Preferences


def curve_of(n_blocks=4, ends=True, peak=2, top=0.9):
    sites = [f"block.{k}" for k in range(n_blocks)]
    auroc = [top - 0.05 * abs(k - peak) for k in range(n_blocks)]
    if ends:
        sites, auroc = ["embed", *sites, "final_norm"], [0.5, *auroc, 0.7]
    table = pd.DataFrame({"site": sites, "auroc": auroc})
    table = table.assign(
        low=table["auroc"] - 0.05,
        high=table["auroc"] + 0.04,
        shuffled=np.linspace(0.48, 0.52, len(table)),
        nuisance=0.55,
        n_positive=31,
        n_negative=29,
    )
    settings = {"sign": "image - text", "analysis_set": "stable", "groups": ["episode_id"]}
    return LayerCurve(table, pd.DataFrame(), settings)


@pytest.fixture
def make_curve():
    return curve_of


@pytest.fixture
def curve():
    return curve_of()


@pytest.fixture
def preferences():
    """Three tasks: `words` prefers text, `icons` image, `both` ties; two steps an episode."""
    text = [1.0, 1.0, 0.75, 0.5, 0.0, 0.25, 0.0, 0.5, 0.5, 0.5]
    image = [0.0, 0.5, 0.5, 0.25, 1.0, 1.0, 0.25, 0.75, 0.5, 0.5]
    difference = np.subtract(image, text)
    label = np.where(difference > 0, "image", "text").astype(object)
    label[difference == 0] = None
    table = pd.DataFrame(
        {
            "step_id": [f"s{i}" for i in range(10)],
            "episode_id": [f"e{i // 2}" for i in range(10)],
            "task": ["words"] * 4 + ["icons"] * 4 + ["both"] * 2,
            "utility_text": text,
            "utility_image": image,
            "votes_positive": [0, 0, 1, 1, 4, 3, 1, 1, 0, 0],
            "votes_negative": [4, 3, 2, 2, 0, 0, 0, 0, 0, 0],
            "difference": difference,
            "tie": difference == 0,
            "label": label,
            "stable": [True, True, False, False, True, True, False, False, False, False],
        }
    )
    return Preferences(table, positive="image", negative="text", k=4, agreement=3)
