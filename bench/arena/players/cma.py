"""CMA-ES by the package cmaes; with whole numbers among the parameters, CMA-ES with margin.

Begun as Optuna's CmaEsSampler does: from the middle of the box, with a sixth of it as the
step. When it has converged it begins again with twice the population.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cmaes import CMA, CMAwM

from space import Parameter, Point, Space


def _ends(p: Parameter) -> tuple[float, float]:
    low, high = p.bounds
    return (math.log(low), math.log(high)) if p.log else (low, high)


class Cma:
    """Continuous inputs are scaled to [0, 1]; grids are so too, in steps."""

    def __init__(self, space: Space, seed: int, total: int, job: dict[str, Any]) -> None:
        self._space, self._seed = space, seed
        self._population = 4 + int(3 * math.log(len(space)))
        self._begin()

    def _begin(self) -> None:
        n = len(self._space)
        words = dict(mean=np.full(n, 0.5), sigma=1 / 6, bounds=np.array([[0.0, 1.0]] * n),
                     seed=self._seed, population_size=self._population)
        # A grid on a log scale has no even steps: it is continuous, and rounded.
        steps = [1 / (p.bounds[1] - p.bounds[0]) if p.is_grid and not p.log else 0.0
                 for p in self._space]
        self._cma = CMAwM(steps=np.array(steps), **words) if any(steps) else CMA(**words)
        self._asked: Any = None
        self._told: list[tuple[Any, float | None]] = []

    def ask(self) -> Point:
        asked = self._cma.ask()
        seen, self._asked = asked if isinstance(asked, tuple) else (asked, asked)
        numbers = []
        for p, unit in zip(self._space, seen):
            low, high = _ends(p)
            number = low + float(unit) * (high - low)
            numbers.append(math.exp(number) if p.log else number)
        return self._space.point(numbers)

    def tell(self, point: Point, value: float | None) -> None:
        """Minimises; a failed one counts as the worst of its generation."""
        self._told.append((self._asked, None if value is None else -value))
        if len(self._told) < self._cma.population_size:
            return
        worst = max((v for _, v in self._told if v is not None), default=0.0)
        self._cma.tell([(x, worst if v is None else v) for x, v in self._told])
        self._told.clear()
        if self._cma.should_stop():
            self._population *= 2
            self._seed += 1000
            self._begin()
