"""cocabo by our own package, python/cocabo, with the library $COCABO_LIBRARY."""

from __future__ import annotations

import json
from typing import Any

import cocabo

from space import Parameter, Point, Space


def _domain(p: Parameter) -> cocabo.Domain:
    when = None
    if p.parent:
        when = f"`{p.parent}` in ({', '.join(map(json.dumps, p.values))})"
    if p.kind == "float":
        return cocabo.Float(p.low, p.high, log=p.log, step=p.step or None, when=when)
    if p.kind == "int":
        return cocabo.Int(int(p.low), int(p.high), log=p.log, when=when)
    made = cocabo.Ordinal if p.kind == "ordinal" else cocabo.Choice
    return made(p.choices, when=when)


class Package:
    def __init__(self, space: Space, seed: int, total: int, job: dict[str, Any]) -> None:
        noise = {"deterministic": False} if job["noisy"] else {}
        self._study = cocabo.create_study({p.name: _domain(p) for p in space}, seed=seed,
                                          direction="maximize", **{**noise, **job["options"]})
        self._trial: cocabo.Trial | None = None

    def ask(self) -> Point | None:
        try:
            self._trial = self._study.ask()
        except cocabo.ExhaustedError:
            return None
        return self._trial.params

    def tell(self, point: Point, value: float | None) -> None:
        if value is None:
            self._study.tell(self._trial, state="fail")
        else:
            self._study.tell(self._trial, value)

    def best(self) -> int:
        return self._study.best_trial.number
