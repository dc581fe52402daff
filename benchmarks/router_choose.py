"""Seconds that `PairwiseRouter.choose` adds to a step on the CPU.

    python benchmarks/router_choose.py [--width 4096] [--memory-width 4096] [--repeats 2000]

Random weights of the full size (512 + 512 → 256 → 1), one thread, vectors already in memory, as the
state's forward and the cached embeddings leave them.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
import torch

from router import Origin, PairwiseRouter, RouterConfig, TrainingOptions
from router.pretrained import RouterWeights
from router.projection import Projection


def random_router(width: int, memory_width: int, seed: int = 0) -> PairwiseRouter:
    """A router of the full size that was never trained."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape, scale=shape[-1] ** -0.5).astype(np.float32)

    options = TrainingOptions()
    kept = [min(options.n_components, d) for d in (width, memory_width)]
    origin = Origin(
        model="random", revision="", weights_sha256="", site="block.31", conditions=["none"],
        state_width=width, embedder="random", embedder_model="random", embedder_weights_sha256="",
        memory_width=memory_width, negative="text", positive="image",
    )  # fmt: skip
    config = RouterConfig(
        origin=origin, target="signed", options=options, state_components=kept[0],
        memory_components=kept[1], counts={}, metrics={}, versions={},
    )  # fmt: skip
    weights = RouterWeights(
        Projection(normal(width), normal(kept[0], width)),
        Projection(normal(memory_width), normal(kept[1], memory_width)),
        normal(options.hidden, sum(kept)),
        normal(options.hidden),
        normal(options.hidden),
    )
    return PairwiseRouter(config, weights, pd.DataFrame())


def main() -> None:
    """Print the median and the 95th percentile in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--memory-width", type=int, default=4096)
    parser.add_argument("--repeats", type=int, default=2000)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    router = random_router(arguments.width, arguments.memory_width)
    rng = np.random.default_rng(1)
    steps = [
        tuple(
            rng.normal(size=d).astype(np.float32)
            for d in (arguments.width, arguments.memory_width, arguments.memory_width)
        )
        for _ in range(64)
    ]
    seconds = []
    for i in range(arguments.repeats):
        start = time.perf_counter()
        router.choose(*steps[i % len(steps)])
        seconds.append(time.perf_counter() - start)
    median, high = 1e3 * np.percentile(seconds[arguments.repeats // 10 :], [50, 95])
    print(
        f"choose, state {arguments.width}, memory {arguments.memory_width}: "
        f"median {median:.3f} ms, 95th percentile {high:.3f} ms"
    )


if __name__ == "__main__":
    main()
