"""BoTorch as its tutorials begin: Sobol points, twice as many as parameters, then a Gaussian
process and LogEI for every point (bench/peers has the model and its maximiser).

It knows no conditions, so it searches all parameters always; a failed evaluation counts as
the worst value seen.
"""

from __future__ import annotations

from typing import Any

from methods.botorch_mixed import Mixed
from torch.quasirandom import SobolEngine

from space import Parameter, Point, Space


class Loop(Mixed):
    def __init__(self, space: Space, seed: int, total: int, job: dict[str, Any]) -> None:
        super().__init__(space, seed, total)
        sobol = SobolEngine(len(space), scramble=True, seed=seed)
        self._design = [self._drawn(row) for row in sobol.draw(2 * len(space)).tolist()]

    def _drawn(self, row: list[float]) -> Point:
        return self._space.point(self._number(p, u) for p, u in zip(self._space, row))

    def _number(self, p: Parameter, unit: float) -> float:
        if p.is_choice:
            return min(int(unit * len(p.choices)), len(p.choices) - 1)
        return self._from_unit(p, unit)

    def ask(self) -> Point:
        if len(self._points) < len(self._design):
            return self._design[len(self._points)]
        return super().ask()
