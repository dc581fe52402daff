"""Runs: configuration, run folders, the stages of the main job and the command line."""

from workbench.config import ConfigError, RunConfig, bundled_configs, load_config, parse_config
from workbench.run import Run, RunError
from workbench.stages import STAGES, Stage, run_stage, run_stages

__all__ = [
    "STAGES",
    "ConfigError",
    "Run",
    "RunConfig",
    "RunError",
    "Stage",
    "bundled_configs",
    "load_config",
    "parse_config",
    "run_stage",
    "run_stages",
]
