"""Hidden states at the last prompt token: capture, the Zarr store that keeps them, and their shifts.

Knows nothing of GUIs: any Hugging Face model and any two prompts per sample will do.
"""

from activations.capture import append_prompts, capture, check_disk
from activations.engines import Engine, HooksEngine, NNsightEngine, make_engine
from activations.fingerprint import model_fingerprint
from activations.layout import FingerprintError, StoreError, bytes_needed
from activations.pairs import Pair, check_final_tokens, encode_pair
from activations.prefill import Prefill, prefill
from activations.prompts import EncodedPrompt, PromptError, encode
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
    "EncodedPrompt",
    "Engine",
    "FingerprintError",
    "HooksEngine",
    "NNsightEngine",
    "Pair",
    "Prefill",
    "PromptError",
    "SiteError",
    "Sites",
    "StoreError",
    "append_prompts",
    "bytes_needed",
    "capture",
    "check_disk",
    "check_final_tokens",
    "check_last_tokens",
    "check_sites",
    "coe_features",
    "cosine_distance",
    "encode",
    "encode_pair",
    "integration_point",
    "l2_distance",
    "last_token_index",
    "make_engine",
    "model_fingerprint",
    "prefill",
    "resolve_sites",
    "signed_shift",
    "total_integration",
    "velocity",
]
