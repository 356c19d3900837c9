"""SMAC3's HyperparameterOptimizationFacade with its defaults, by ask and tell."""

from __future__ import annotations

import atexit
import shutil
import tempfile

from ConfigSpace import (CategoricalHyperparameter, Configuration, ConfigurationSpace,
                         InCondition, OrdinalHyperparameter, UniformFloatHyperparameter,
                         UniformIntegerHyperparameter)
from smac import HyperparameterOptimizationFacade, Scenario
from smac.runhistory import StatusType, TrialInfo, TrialValue

from space import Parameter, Point, Space


def _hyperparameter(p: Parameter):
    low, high = p.bounds
    if p.is_choice:
        return CategoricalHyperparameter(p.name, list(range(len(p.choices))))
    if p.kind == "ordinal":
        return OrdinalHyperparameter(p.name, list(range(len(p.choices))))
    if p.is_grid:
        return UniformIntegerHyperparameter(p.name, int(low), int(high), log=p.log)
    return UniformFloatHyperparameter(p.name, low, high, log=p.log)


class Smac:
    """The initial points are its initial design, so it asks for them first; they are
    answered with what is known, and the first other configuration is its proposal.

    The cost of a crash is infinite by default, which its log scale does not survive: it
    is the largest cost seen instead."""

    def __init__(self, space: Space, seed: int, total: int) -> None:
        self._space = space
        self._seed, self._total = seed, total
        self._configspace = ConfigurationSpace(seed=seed)
        self._configspace.add([_hyperparameter(p) for p in space])
        self._configspace.add([self._condition(p) for p in space if p.parent])
        self._known: dict[Configuration, float | None] = {}
        self._facade: HyperparameterOptimizationFacade | None = None
        self._asked: TrialInfo | None = None
        self._costs: list[float] = []

    def _condition(self, p: Parameter) -> InCondition:
        [parent] = (other for other in self._space if other.name == p.parent)
        return InCondition(self._configspace[p.name], self._configspace[parent.name],
                           [parent.number(value) for value in p.values])

    def _start(self) -> HyperparameterOptimizationFacade:
        folder = tempfile.mkdtemp(prefix="cocabo-peers-smac3-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        # One more than the run has, so that the last ask is not refused.
        scenario = Scenario(self._configspace, deterministic=True, seed=self._seed,
                            n_trials=self._total + 1, output_directory=folder)
        kind = HyperparameterOptimizationFacade
        design = kind.get_initial_design(scenario, n_configs=0 if self._known else None,
                                         additional_configs=list(self._known))
        return kind(scenario, lambda config, seed: 0.0, initial_design=design,
                    intensifier=kind.get_intensifier(scenario, max_config_calls=1),
                    logging_level=False, overwrite=True)

    def ask(self) -> Point:
        self._facade = self._facade or self._start()
        while (info := self._facade.ask()).config in self._known:
            self._answer(info, self._known[info.config])
        self._asked = info
        config = dict(info.config)
        return {p.name: p.value(config[p.name]) for p in self._space if p.name in config}

    def tell(self, point: Point, value: float | None) -> None:
        if value is not None:
            self._costs.append(-value)
        if self._asked:
            self._answer(self._asked, value)
            self._asked = None
        else:
            config = Configuration(self._configspace,
                                   {p.name: p.number(point[p.name])
                                    for p in self._space.active(point)})
            self._known[config] = value

    def _answer(self, info: TrialInfo, value: float | None) -> None:
        worst = max(self._costs, default=0.0)
        answer = (TrialValue(cost=worst, status=StatusType.CRASHED) if value is None
                  else TrialValue(cost=-value))
        self._facade.tell(info, answer, save=False)
