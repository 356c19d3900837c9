"""The methods, and which environment each needs; most drivers are those of bench/peers.

A driver is made of (space, seed, total, job) and asked and told in turn; nobody gives it
initial points, so each begins as its users know it.

    ask() -> Point
    tell(point, value)     value: maximised; None: the evaluation failed
    best() -> int          only where a method has a word on it: which evaluation, from 0

`job` has what only some need: `noisy`, and the `options` of cocabo.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from typing import Any

from space import Space


@dataclass(frozen=True)
class Entry:
    environment: str
    module: str
    factory: str
    help: str
    numbers_only: bool = False   # it is not for spaces with choices
    most_combinations: float = math.inf  # of choices; it climbs in each of them


PLAYERS = {
    "random": Entry("", "methods.python_random", "Random", "uniformly random points"),
    "cocabo": Entry("", "players.cocabo_package", "Package",
                    "our package; cocabo@NAME: with --library or --set of that NAME"),
    "optuna-tpe": Entry("base", "methods.optuna_study", "tpe", "Optuna's TPESampler"),
    "optuna-tpe-group": Entry("base", "methods.optuna_study", "group_tpe",
                              "the same, multivariate, for spaces with conditions"),
    "optuna-gp": Entry("torch", "players.optuna_gp", "gp", "Optuna's GPSampler"),
    "hyperopt": Entry("base", "players.hyperopt_tree", "Tree", "hyperopt's TPE"),
    "smac3": Entry("base", "players.smac3_facade", "Facade",
                   "SMAC3, HyperparameterOptimizationFacade"),
    "cma": Entry("base", "players.cma", "Cma", "CMA-ES, and with whole numbers CMA-ES with "
                 "margin; numbers only", numbers_only=True),
    "hebo": Entry("hebo", "players.hebo_suggest", "Suggest", "HEBO; seconds an ask"),
    "botorch": Entry("torch", "players.botorch_loop", "Loop", "BoTorch, a mixed Gaussian "
                     "process with LogEI; at most 200 combinations of choices, and seconds "
                     "an ask", most_combinations=200),
}


def entry(method: str) -> Entry | None:
    name, at, _ = method.partition("@")
    return PLAYERS.get(name) if not at or name == "cocabo" else None


def can_play(method: str, space: Space) -> bool:
    found = entry(method)
    if found.numbers_only and any(p.choices for p in space):
        return False
    return space.combinations <= found.most_combinations


def make(method: str, space: Space, seed: int, total: int, job: dict[str, Any]):
    found = entry(method)
    module = importlib.import_module(found.module)
    factory = getattr(module, found.factory)
    if found.module.startswith("methods."):  # those of bench/peers know no job
        return factory(space, seed, total)
    return factory(space, seed, total, job)
