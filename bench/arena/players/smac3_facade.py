"""SMAC3's HyperparameterOptimizationFacade with its defaults and its own initial design.

What users do about its rough edges is done here: costs of 0 and less, which its logarithm
would all make one, are not put on a log scale; a crash costs as much as the worst that was
seen, and is told when there is something seen.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from typing import Any

import numpy as np
from methods.smac3 import Smac
from smac import HyperparameterOptimizationFacade, Scenario
from smac.runhistory import TrialInfo
from smac.runhistory.encoder import RunHistoryLogEncoder

from space import Point, Space


class LogIfPositive(RunHistoryLogEncoder):
    def transform_response_values(self, values: np.ndarray) -> np.ndarray:
        return super().transform_response_values(values) if (values > 0).all() else values


class Facade(Smac):
    def __init__(self, space: Space, seed: int, total: int, job: dict[str, Any]) -> None:
        super().__init__(space, seed, total)
        self._noisy = job["noisy"]
        self._crashed: list[TrialInfo] = []
        self._evaluations: dict[Any, int] = {}   # the first of every configuration
        self._told = 0

    def _start(self) -> HyperparameterOptimizationFacade:
        folder = tempfile.mkdtemp(prefix="cocabo-arena-smac3-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        # One more than the run has, so that the last ask is not refused.
        scenario = Scenario(self._configspace, deterministic=not self._noisy,
                            seed=self._seed, n_trials=self._total + 1,
                            output_directory=folder)
        return HyperparameterOptimizationFacade(
            scenario, lambda config, seed: 0.0, logging_level=False, overwrite=True,
            runhistory_encoder=LogIfPositive(scenario))

    def tell(self, point: Point, value: float | None) -> None:
        self._evaluations.setdefault(self._asked.config, self._told)
        self._told += 1
        super().tell(point, value)

    def _answer(self, info: TrialInfo, value: float | None) -> None:
        if not self._costs:
            self._crashed.append(info)
            return
        for crashed in self._crashed:
            super()._answer(crashed, None)
        self._crashed.clear()
        super()._answer(info, value)

    def best(self) -> int | None:
        incumbents = self._facade.intensifier.get_incumbents()
        return self._evaluations[incumbents[0]] if incumbents else None
