"""GPyOpt with its defaults: a GP over one-hot inputs, EI, external evaluations."""

from __future__ import annotations

import numpy as np
from GPyOpt.methods import BayesianOptimization

from space import Parameter, Point, Space


def _domain(p: Parameter) -> dict:
    low, high = p.bounds
    if p.is_choice:
        return {"name": p.name, "type": "categorical",
                "domain": tuple(range(len(p.choices)))}
    if p.is_grid:
        return {"name": p.name, "type": "discrete",
                "domain": tuple(range(int(low), int(high) + 1))}
    return {"name": p.name, "type": "continuous", "domain": (low, high)}


class OneHot:
    """GPyOpt has no logarithmic scale. A failed evaluation counts as the worst value
    seen."""

    def __init__(self, space: Space, seed: int, total: int) -> None:
        self._space = space
        self._domains = [_domain(p) for p in space]
        self._points: list[list[float]] = []
        self._values: list[float | None] = []
        np.random.seed(seed)     # GPyOpt draws from numpy's global generator

    def ask(self) -> Point:
        worst = min((v for v in self._values if v is not None), default=0.0)
        losses = [[-(worst if v is None else v)] for v in self._values]
        optimiser = BayesianOptimization(f=None, domain=self._domains,
                                         X=np.array(self._points, dtype=float),
                                         Y=np.array(losses))
        return self._space.point(optimiser.suggest_next_locations()[0].tolist())

    def tell(self, point: Point, value: float | None) -> None:
        self._points.append(self._space.numbers(point))
        self._values.append(value)
