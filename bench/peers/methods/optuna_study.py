"""Optuna's samplers with their defaults, and ours, by ask and tell."""

from __future__ import annotations

import os
import sys
import warnings

import optuna
from optuna.distributions import (BaseDistribution, CategoricalDistribution,
                                  FloatDistribution, IntDistribution)
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from optuna.trial import TrialState

from environments import ROOT
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
        self._asked = self._study.ask({} if self._space.has_conditions
                                      else self._distributions)
        point: Point = {}
        for p in self._space:    # parents stand before what depends on them
            if p in self._space.active(point):
                point[p.name] = p.value(self._suggest(p))
        return point

    def _suggest(self, p: Parameter) -> float:
        """Optuna's define-by-run: the value it has in mind, or one for the occasion."""
        low, high = p.bounds
        if p.is_choice:
            return self._asked.suggest_categorical(p.name, range(len(p.choices)))
        if p.is_grid:
            return self._asked.suggest_int(p.name, int(low), int(high), log=p.log)
        return self._asked.suggest_float(p.name, low, high, log=p.log)

    def tell(self, point: Point, value: float | None) -> None:
        state = TrialState.FAIL if value is None else TrialState.COMPLETE
        if self._asked:
            self._study.tell(self._asked, value, state=state)
        else:
            active = self._space.active(point)
            self._study.add_trial(optuna.trial.create_trial(
                state=state, value=value,
                params={p.name: p.number(point[p.name]) for p in active},
                distributions={p.name: self._distributions[p.name] for p in active}))
        self._asked = None


def tpe(space: Space, seed: int, total: int) -> Study:
    return Study(space, TPESampler(seed=seed))


def univariate_tpe(space: Space, seed: int, total: int) -> Study:
    return Study(space, TPESampler(multivariate=False, seed=seed))


def multivariate_tpe(space: Space, seed: int, total: int) -> Study:
    return Study(space, TPESampler(multivariate=True, seed=seed))


def group_tpe(space: Space, seed: int, total: int) -> Study:
    """A density for each set of parameters that are active together."""
    return Study(space, TPESampler(multivariate=True, group=True, seed=seed))


def cocabo(space: Space, seed: int, total: int) -> Study:
    """Our sampler, from this checkout; the library is $COCABO_LIBRARY, or that of build/."""
    sys.path.insert(0, str(ROOT / "python"))
    os.environ.setdefault("COCABO_LIBRARY", str(ROOT / "build/libcocabo.so"))
    from cocabo.optuna import CoCaBOSampler
    return Study(space, CoCaBOSampler(seed=seed))


def gp(space: Space, seed: int, total: int) -> Study:
    import optuna._gp.gp  # noqa: F401: seconds, which shall not count as the first ask's
    import torch  # noqa: F401
    return Study(space, GPSampler(seed=seed, deterministic_objective=True))
