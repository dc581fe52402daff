"""The horizontal axis of depth: decoder blocks as numbers, `embed` and `final_norm` set apart.

Convention: `block.k` stands at k. `embed` stands left of the blocks and `final_norm` right of them,
with a gap, because neither is the output of a block and no line should lead to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes


def is_block(site: str) -> bool:
    """Whether the site is the output of a decoder block."""
    return site.startswith("block.") and site.removeprefix("block.").isdecimal()


def site_positions(sites: Sequence[str]) -> np.ndarray:
    """Where each site stands on the axis, shape (n_sites,).

    Raises
    ------
    ValueError
        When a site is none of `embed`, `block.k`, `final_norm`.
    """
    blocks = [int(site.removeprefix("block.")) for site in sites if is_block(site)]
    first, last = min(blocks, default=0), max(blocks, default=0)
    gap = 1 + 0.05 * (last - first)
    ends = {"embed": first - gap, "final_norm": last + gap}
    unknown = [site for site in sites if not is_block(site) and site not in ends]
    if unknown:
        raise ValueError(
            f"site {unknown[0]!r} has no place on the layer axis; "
            "expected embed, block.0, block.1, … or final_norm"
        )
    return np.array([ends[s] if s in ends else float(s.removeprefix("block.")) for s in sites])


def draw_layer_axis(ax: Axes, sites: Sequence[str]) -> None:
    """Put ticks and the label of the layer axis on `ax`."""
    place = dict(zip(sites, site_positions(sites)))
    ticks = {float(block): str(block) for block in _ticked_blocks(list(place))}
    ticks |= {place[s]: name for s, name in _END_LABELS.items() if s in place}
    ax.set_xticks(list(ticks), labels=list(ticks.values()))
    margin = 0.3 + 0.03 * (max(place.values()) - min(place.values()))
    ax.set_xlim(min(place.values()) - margin, max(place.values()) + margin)
    ax.set_xlabel("decoder block")


_END_LABELS = {"embed": "embed", "final_norm": "final\nnorm"}


def _ticked_blocks(sites: Sequence[str]) -> list[int]:
    """At most a dozen blocks, evenly spaced, and the last one."""
    blocks = sorted(int(site.removeprefix("block.")) for site in sites if is_block(site))
    if not blocks:
        return []
    stride = math.ceil(len(blocks) / 10)
    ticked = [block for block in blocks[::stride] if blocks[-1] - block > stride / 2]
    return [*ticked, blocks[-1]]
