"""HEBO with its defaults: its own Sobol points, then its Gaussian process and MACE.

It knows no conditions, so it searches all parameters always; what it is told that is not
finite, as a failed evaluation is, it passes over.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

from space import Parameter, Point, Space


def _entry(p: Parameter) -> dict[str, Any]:
    """The number that stands for the value, in the words of HEBO's spaces."""
    if p.is_choice:
        return {"name": p.name, "type": "cat", "categories": list(range(len(p.choices)))}
    low, high = p.bounds
    if p.log:
        kind = {"type": "pow_int" if p.is_grid else "pow", "base": 10}
    else:
        kind = {"type": "int" if p.is_grid else "num"}
    return {"name": p.name, "lb": low, "ub": high, **kind}


class Suggest:
    def __init__(self, space: Space, seed: int, total: int, job: dict[str, Any]) -> None:
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        self._space = space
        self._hebo = HEBO(DesignSpace().parse([_entry(p) for p in space]),
                          scramble_seed=seed)
        self._asked: Any = None

    def ask(self) -> Point:
        self._asked = self._hebo.suggest(n_suggestions=1)
        return self._space.point(self._asked[p.name].iloc[0].item() for p in self._space)

    def tell(self, point: Point, value: float | None) -> None:
        cost = np.inf if value is None else -value
        self._hebo.observe(self._asked, np.array([[cost]]))
