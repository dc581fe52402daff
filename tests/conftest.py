"""Shared test set-up: `tiny_models` and other modules of this folder can be imported by any test."""

import os
import sys
from pathlib import Path

import torch

# The models of the tests are so small that threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
torch.set_num_threads(1)
sys.path.insert(0, str(Path(__file__).parent))
