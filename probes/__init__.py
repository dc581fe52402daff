"""Labels from samples, AUROC by layer, and the estimator that reads a preference from a shift."""

from probes.analysis import ShiftStore
from probes.auroc import POOLED, auroc, auroc_within, bootstrap_auroc
from probes.curve import LayerCurve
from probes.estimator import PreferenceEstimator
from probes.final import fit_final, label_targets
from probes.folds import connected_groups
from probes.preferences import Preferences, score_preferences
from probes.pretrained import EstimatorConfig
from probes.sweep import sweep_layers

__all__ = [
    "POOLED",
    "EstimatorConfig",
    "LayerCurve",
    "PreferenceEstimator",
    "Preferences",
    "ShiftStore",
    "auroc",
    "auroc_within",
    "bootstrap_auroc",
    "connected_groups",
    "fit_final",
    "label_targets",
    "score_preferences",
    "sweep_layers",
]
