"""hyperopt's TPE with its defaults; conditions are nested choices, as its users write them."""

from __future__ import annotations

from typing import Any

from hyperopt import hp, tpe
from hyperopt.base import Domain
from methods.hyperopt_tpe import Tpe, _distribution

from space import Parameter, Point, Space


def _tree(space: Space) -> dict[str, Any]:
    made: dict[str, Any] = {}    # a parameter of several branches is one and the same node

    def node(p: Parameter) -> Any:
        if p.name not in made:
            below = [child for child in space if child.parent == p.name]
            made[p.name] = _distribution(p) if not below else hp.choice(p.name, [
                {child.name: node(child) for child in below if value in child.values}
                for value in p.choices])
        return made[p.name]

    return {p.name: node(p) for p in space if not p.parent}


class Tree(Tpe):
    def __init__(self, space: Space, seed: int, total: int, job: dict[str, Any]) -> None:
        super().__init__(space, seed, total)
        self._domain = Domain(lambda point: None, _tree(space))

    def ask(self) -> Point:
        self._trials.refresh()
        ids = self._trials.new_trial_ids(1)
        seed = int(self._random.integers(2**31 - 1))
        self._asked = tpe.suggest(ids, self._domain, self._trials, seed)[0]
        numbers = self._asked["misc"]["vals"]
        return {p.name: p.value(float(numbers[p.name][0])) for p in self._space
                if numbers[p.name]}
