"""hyperopt's TPE with its defaults, driven as fmin drives it."""

from __future__ import annotations

import math

import numpy as np
from hyperopt import JOB_STATE_DONE, STATUS_FAIL, STATUS_OK, Trials, hp, tpe
from hyperopt.base import Domain

from space import Parameter, Point, Space


def _distribution(p: Parameter):
    low, high = p.bounds
    if p.is_choice:
        return hp.choice(p.name, list(range(len(p.choices))))
    if p.log and p.is_grid:
        return hp.qloguniform(p.name, math.log(low - 0.5), math.log(high + 0.5), 1)
    if p.log:
        return hp.loguniform(p.name, math.log(low), math.log(high))
    if p.is_grid:
        return hp.uniformint(p.name, int(low), int(high))
    return hp.uniform(p.name, low, high)


class Tpe:
    def __init__(self, space: Space, seed: int, total: int) -> None:
        self._space = space
        self._random = np.random.default_rng(seed)
        self._domain = Domain(lambda point: None,
                              {p.name: _distribution(p) for p in space})
        self._trials = Trials()
        self._asked = None       # the document of the suggestion under way

    def ask(self) -> Point:
        self._trials.refresh()
        ids = self._trials.new_trial_ids(1)
        seed = int(self._random.integers(2**31 - 1))
        self._asked = tpe.suggest(ids, self._domain, self._trials, seed)[0]
        numbers = self._asked["misc"]["vals"]
        return self._space.point(float(numbers[p.name][0]) for p in self._space)

    def tell(self, point: Point, value: float | None) -> None:
        trial = self._asked or self._document(point)
        self._asked = None
        trial["state"] = JOB_STATE_DONE
        trial["result"] = ({"status": STATUS_FAIL} if value is None
                           else {"status": STATUS_OK, "loss": -value})
        self._trials.insert_trial_docs([trial])

    def _document(self, point: Point):
        """A point of ours as fmin(points_to_evaluate=...) would enter it."""
        number = self._trials.new_trial_ids(1)[0]
        values = zip((p.name for p in self._space), self._space.numbers(point))
        misc = {"tid": number, "cmd": self._domain.cmd, "workdir": None,
                "idxs": {p.name: [number] for p in self._space},
                "vals": {name: [value] for name, value in values}}
        return self._trials.new_trial_docs([number], [None], [None], [misc])[0]
