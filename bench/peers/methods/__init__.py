"""The peers: which environment each needs, and where it is.

A method is a class: made of (space, seed, total), where total counts the evaluations of
the whole run, it is told the initial points, and then asked and told in turn.

    ask() -> Point
    tell(point, value)     value: maximised; None: the evaluation failed

A method's module is imported only in the environment that has its library.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Protocol

from space import Point, Space


class Method(Protocol):
    def ask(self) -> Point: ...

    def tell(self, point: Point, value: float | None) -> None: ...


@dataclass(frozen=True)
class Entry:
    environment: str             # "": any Python will do
    module: str
    factory: str
    help: str


METHODS = {
    "hyperopt-tpe": Entry("base", "hyperopt_tpe", "Tpe", "hyperopt's TPE"),
    "smac3": Entry("base", "smac3", "Smac", "SMAC3, HyperparameterOptimizationFacade"),
    "optuna-tpe": Entry("base", "optuna_study", "tpe", "Optuna's TPESampler"),
    "optuna-tpe-uv": Entry("base", "optuna_study", "univariate_tpe",
                           "the same, univariate: the default up to Optuna 4"),
    "optuna-tpe-mv": Entry("base", "optuna_study", "multivariate_tpe",
                           "the same, multivariate"),
    "optuna-tpe-group": Entry("base", "optuna_study", "group_tpe",
                              "multivariate, for spaces with conditions"),
    "optuna-cocabo": Entry("base", "optuna_study", "cocabo",
                           "Optuna with our CoCaBOSampler"),
    "optuna-gp": Entry("torch", "optuna_study", "gp", "Optuna's GPSampler"),
    "botorch-mixed": Entry("torch", "botorch_mixed", "Mixed",
                           "BoTorch's MixedSingleTaskGP and optimize_acqf_mixed"),
    "gpyopt": Entry("gpyopt", "gpyopt_onehot", "OneHot",
                    "GPyOpt: a GP over one-hot inputs, EI"),
    "cocabo": Entry("", "cocabo_program", "Conditional", "the program, with its defaults"),
    "cocabo-flat": Entry("", "cocabo_program", "Flat",
                         "the same, which is not told of conditions"),
    "python-random": Entry("", "python_random", "Random", "uniformly random points"),
}


def make(name: str, space: Space, seed: int, total: int) -> Method:
    entry = METHODS[name]
    module = importlib.import_module(f"methods.{entry.module}")
    return getattr(module, entry.factory)(space, seed, total)
