"""Optuna's GPSampler with its defaults, which is told whether there is noise."""

from __future__ import annotations

from typing import Any

from methods.optuna_study import Study
from optuna.samplers import GPSampler

from space import Space


def gp(space: Space, seed: int, total: int, job: dict[str, Any]) -> Study:
    return Study(space, GPSampler(seed=seed, deterministic_objective=not job["noisy"]))
