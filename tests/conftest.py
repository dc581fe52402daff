"""Shared test set-up: `tiny_models` and other modules of this folder can be imported by any test."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
