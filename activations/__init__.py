"""Hidden states at the last prompt token: capture, the Zarr store that keeps them, and their shifts.

Knows nothing of GUIs: any Hugging Face model and any two prompts per sample will do.
"""

from activations.engines import Engine, HooksEngine, NNsightEngine, make_engine
from activations.layout import FingerprintError, StoreError, bytes_needed
from activations.prefill import Prefill, prefill
from activations.shifts import (
    ChainFeatures,
    coe_features,
    cosine_distance,
    integration_point,
    l2_distance,
    signed_shift,
    total_integration,
    velocity,
)
from activations.site_check import check_sites
from activations.sites import SiteError, Sites, resolve_sites
from activations.store import ActivationStore
from activations.tokens import check_last_tokens, last_token_index

__all__ = [
    "ActivationStore",
    "ChainFeatures",
    "Engine",
    "FingerprintError",
    "HooksEngine",
    "NNsightEngine",
    "Prefill",
    "SiteError",
    "Sites",
    "StoreError",
    "bytes_needed",
    "check_last_tokens",
    "check_sites",
    "coe_features",
    "cosine_distance",
    "integration_point",
    "l2_distance",
    "last_token_index",
    "make_engine",
    "prefill",
    "resolve_sites",
    "signed_shift",
    "total_integration",
    "velocity",
]
