"""Optuna's samplers with their defaults, by ask and tell."""

from __future__ import annotations

import warnings

import optuna
from optuna.distributions import (BaseDistribution, CategoricalDistribution,
                                  FloatDistribution, IntDistribution)
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from optuna.trial import TrialState

from space import Parameter, Point, Space

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore")  # that a sampler is experimental


def _distribution(p: Parameter) -> BaseDistribution:
    low, high = p.bounds
    if p.is_choice:
        return CategoricalDistribution(range(len(p.choices)))
    if p.is_grid:
        return IntDistribution(int(low), int(high), log=p.log)
    return FloatDistribution(low, high, log=p.log)


class Study:
    def __init__(self, space: Space, sampler: BaseSampler) -> None:
        self._space = space
        self._distributions = {p.name: _distribution(p) for p in space}
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self._asked: optuna.Trial | None = None

    def ask(self) -> Point:
        self._asked = self._study.ask(self._distributions)
        return self._space.point(self._asked.params[p.name] for p in self._space)

    def tell(self, point: Point, value: float | None) -> None:
        state = TrialState.FAIL if value is None else TrialState.COMPLETE
        if self._asked:
            self._study.tell(self._asked, value, state=state)
        else:
            numbers = zip((p.name for p in self._space), self._space.numbers(point))
            self._study.add_trial(optuna.trial.create_trial(
                state=state, value=value, params=dict(numbers),
                distributions=self._distributions))
        self._asked = None


def tpe(space: Space, seed: int, total: int) -> Study:
    return Study(space, TPESampler(seed=seed))


def multivariate_tpe(space: Space, seed: int, total: int) -> Study:
    return Study(space, TPESampler(multivariate=True, seed=seed))


def gp(space: Space, seed: int, total: int) -> Study:
    return Study(space, GPSampler(seed=seed, deterministic_objective=True))
