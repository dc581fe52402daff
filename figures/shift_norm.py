"""Length of the signed shift by layer, for each side of the preference.

Convention: Euclidean norm of `ActivationStore.shift`; lines are medians over steps, bands the
quartiles. The axis is logarithmic, since the residual stream grows with depth; a site at which every
shift is zero (such as `embed`, where both prompts end in the same token) is named, not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from figures.columns import check_columns
from figures.layer_axis import draw_layer_axis, is_block, site_positions
from figures.picture import axes_or_new
from figures.style import NEGATIVE, POSITIVE, Look, style

if TYPE_CHECKING:
    from activations import ActivationStore
    from probes import Preferences


def shift_norms(store: ActivationStore, rows: Sequence[int] | None = None) -> pd.DataFrame:
    """Norms of the signed shifts, one site in memory at a time.

    Parameters
    ----------
    rows
        Positions of steps in the store; all by default.

    Returns
    -------
    pandas.DataFrame
        Shape (n_steps, n_sites): rows named by step_id, columns by site.
    """
    step_ids = np.asarray(store.step_ids)[slice(None) if rows is None else list(rows)]
    norms = {site: np.linalg.norm(store.shift(site, rows), axis=1) for site in store.sites}
    return pd.DataFrame(norms, index=pd.Index(step_ids, name="step_id"))


@style()
def plot_shift_norm(norms: pd.DataFrame, preferences: Preferences, ax: Axes | None = None) -> Axes:
    """Draw median and quartiles of the shift's norm by layer, for each preferred condition.

    Parameters
    ----------
    norms
        What `shift_norms` returns: steps by sites.
    preferences
        Gives the label of each step; steps without one (ties) are left out.
    ax
        Where to draw; a new picture by default.

    Raises
    ------
    ValueError
        When no step of `norms` has a label, or every norm is zero.
    """
    check_columns(norms, [], "shift norms")
    check_columns(preferences.table, ["step_id", "label"], "preferences")
    labels = preferences.table.set_index("step_id")["label"].reindex(norms.index)
    if labels.dropna().empty:
        raise ValueError(f"shift norms: none of the {len(norms)} steps has a preference label")
    drawn = norms.loc[:, (norms > 0).any()]
    if drawn.empty:
        raise ValueError("shift norms: every norm is zero; are both conditions the same prompt?")

    ax = axes_or_new(ax, 7.2, 4.0)
    ax.set_yscale("log", nonpositive="clip")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(NullLocator())
    place = dict(zip(norms.columns, site_positions(list(norms.columns))))
    for name, look in ((preferences.negative, NEGATIVE), (preferences.positive, POSITIVE)):
        side = drawn[labels == name]
        if len(side):
            _draw_side(ax, side, place, look, f"{name.capitalize()} preferred ({len(side):,})")
    draw_layer_axis(ax, list(norms.columns))
    zero = [site for site in norms.columns if site not in drawn.columns]
    ax.set_ylabel("norm of the signed shift\n(median, quartiles)")
    ax.grid(axis="y")
    ax.legend(
        title=f"zero at every step: {', '.join(zero)}" if zero else None,
        alignment="left",
        ncols=2,
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
    )
    return ax


def _draw_side(
    ax: Axes, norms: pd.DataFrame, place: dict[str, float], look: Look, label: str
) -> None:
    low, median, high = np.quantile(norms, [0.25, 0.5, 0.75], axis=0)
    x = np.array([place[site] for site in norms.columns])
    block = np.array([is_block(site) for site in norms.columns])
    common: dict[str, Any] = {"color": look.color, "marker": look.marker}
    ax.plot(x[block], median[block], linestyle=look.linestyle, label=label, **common)
    ax.plot(x[~block], median[~block], linestyle="none", label=f"_{label}, ends", **common)
    ax.fill_between(x[block], low[block], high[block], color=look.color, alpha=0.2, linewidth=0)
    bars = ~block if block.sum() > 1 else np.ones_like(block)
    ax.vlines(x[bars], low[bars], high[bars], color=look.color, linewidth=1.2)
