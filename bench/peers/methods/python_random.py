"""Uniformly random points: a baseline that needs nothing."""

from __future__ import annotations

import math
import random

from space import Parameter, Point, Space


class Random:
    def __init__(self, space: Space, seed: int, total: int) -> None:
        self._space = space
        # A stream of its own: a problem in Python may draw its points from the seed itself.
        self._random = random.Random(f"python-random {seed}")

    def _draw(self, parameter: Parameter) -> float:
        if parameter.choices:
            return self._random.randrange(len(parameter.choices))
        low, high = parameter.bounds
        if parameter.log:
            return math.exp(self._random.uniform(math.log(low), math.log(high)))
        if parameter.is_grid:
            return self._random.randint(int(low), int(high))
        return self._random.uniform(low, high)

    def ask(self) -> Point:
        return self._space.point(self._draw(p) for p in self._space)

    def tell(self, point: Point, value: float | None) -> None:
        pass
