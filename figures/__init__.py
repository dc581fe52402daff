"""Pictures of results that others computed; nothing here touches pyplot or global settings."""

from figures.auroc_within import plot_auroc_within
from figures.funnel import plot_funnel
from figures.layer_curve import plot_layer_curve, plot_layer_curves
from figures.pair import show_pair
from figures.picture import figure_bytes, save_figure
from figures.projection import plot_projection
from figures.router_budget import plot_matched_random
from figures.router_policies import plot_policies
from figures.router_threshold import plot_threshold_curve
from figures.router_timeline import plot_routing_timeline
from figures.router_usefulness import plot_usefulness
from figures.shift_norm import plot_shift_norm, shift_norms
from figures.shift_projection import project_shifts
from figures.style import style
from figures.utility_by_task import plot_utility_by_task, utility_by_task

__all__ = [
    "figure_bytes",
    "plot_auroc_within",
    "plot_funnel",
    "plot_layer_curve",
    "plot_layer_curves",
    "plot_matched_random",
    "plot_policies",
    "plot_projection",
    "plot_routing_timeline",
    "plot_shift_norm",
    "plot_threshold_curve",
    "plot_usefulness",
    "plot_utility_by_task",
    "project_shifts",
    "save_figure",
    "shift_norms",
    "show_pair",
    "style",
    "utility_by_task",
]
