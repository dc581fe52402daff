"""The router: which form of memory each step is shown, trained on preference targets and evaluated."""

from router.embedders import Embedder, Embedding, memory_prompt
from router.embedders.checkpoint import CheckpointEmbedder
from router.embedders.hidden_state import HiddenStateEmbedder, StateReader
from router.embedding_store import SITE, embed_steps
from router.evaluation import Evaluation, choice_seconds, evaluate_policies
from router.factors import (
    action_groups,
    density_terciles,
    phases,
    routing_by_factor,
    usefulness,
)
from router.inputs import Origin, RouterInputs, origin_of, router_inputs
from router.options import TrainingOptions
from router.policies import BASIC, HIDDEN, Choices, Policy, PolicySteps
from router.policies.always import AlwaysPolicy
from router.policies.basic import train_basic
from router.policies.binary import train_binary
from router.policies.oracle import OraclePolicy
from router.policies.random import RandomPolicy
from router.policies.router import RouterPolicy
from router.policies.utility import train_utility
from router.pretrained import RouterConfig
from router.router import Decision, PairwiseRouter
from router.routing import routing_table, run_lengths
from router.statistics import Estimate, bootstrap_mean, holm, sign_flip_test
from router.threshold import ThresholdCurve, threshold_curve
from router.training import train_router
from router.utilities import condition_utilities

__all__ = [
    "BASIC",
    "HIDDEN",
    "SITE",
    "AlwaysPolicy",
    "CheckpointEmbedder",
    "Choices",
    "Decision",
    "Embedder",
    "Embedding",
    "Estimate",
    "Evaluation",
    "HiddenStateEmbedder",
    "OraclePolicy",
    "Origin",
    "PairwiseRouter",
    "Policy",
    "PolicySteps",
    "RandomPolicy",
    "RouterConfig",
    "RouterInputs",
    "RouterPolicy",
    "StateReader",
    "ThresholdCurve",
    "TrainingOptions",
    "action_groups",
    "bootstrap_mean",
    "choice_seconds",
    "condition_utilities",
    "density_terciles",
    "embed_steps",
    "evaluate_policies",
    "holm",
    "memory_prompt",
    "origin_of",
    "phases",
    "router_inputs",
    "routing_by_factor",
    "routing_table",
    "run_lengths",
    "sign_flip_test",
    "threshold_curve",
    "train_basic",
    "train_binary",
    "train_router",
    "train_utility",
    "usefulness",
]
