#!/usr/bin/env python3
"""evaluator.py - a process that evaluates problems, by JSON lines.

    {"problem": "textbook/branin", "seed": 0}  ->  {"parameters": ..., "optimum": ..., "noisy": ...}
    {"point": {"x1": 0.5, ...}}  ->  {"active": {"x1": 0.5, ...}, "value": 3.5}, with a "mean" where there
                                     is noise, with the value null and a "reason" if it failed

A point may hold values of inactive parameters: they are left out before the problem sees
it, and from "active". What was evaluated once is remembered, which no noise is.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import traceback
import warnings
from typing import Any

import places  # noqa: F401  (the path of bench/peers)
from families import Problem, family
from space import Space


class Open:
    """The problem of the run under way."""

    def __init__(self, name: str, seed: int, known: dict[str, Any]) -> None:
        kind, _, short = name.partition("/")
        self.problem: Problem = family(kind).make(short, seed)
        self._space = Space.read(self.problem.parameters)
        self._known = known
        self._random = random.Random(f"{name} {seed}")

    def description(self) -> dict[str, Any]:
        return {"parameters": self.problem.parameters, "optimum": self.problem.optimum,
                "noisy": self.problem.noise is not None}

    def answer(self, point: dict[str, Any]) -> dict[str, Any]:
        active = {p.name: point[p.name] for p in self._space.active(point)}
        key = json.dumps(active)
        if key not in self._known:
            self._known[key] = self._evaluate(active)
        found = {"active": active, **self._known[key]}
        if self.problem.noise is None or found["value"] is None:
            return found
        mean = found["value"]
        return {**found, "value": mean + self.problem.noise(active, self._random),
                "mean": mean}

    def _evaluate(self, active: dict[str, Any]) -> dict[str, Any]:
        try:
            value = float(self.problem.evaluate(active))
        except Exception as error:
            return {"value": None, "reason": f"{type(error).__name__}: {error}"[:200]}
        if not math.isfinite(value):
            return {"value": None, "reason": f"the value is {value}"}
        return {"value": value}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)                # what libraries print is no answer
    warnings.simplefilter("ignore")
    known: dict[tuple, dict[str, Any]] = {}
    under_way: Open | None = None
    for line in sys.stdin:
        said = json.loads(line)
        if "problem" in said:
            if under_way:
                under_way.problem.close()
            key = said["problem"], said["seed"]
            under_way = Open(*key, known.setdefault(key, {}))
            answer = under_way.description()
        else:
            answer = under_way.answer(said["point"])
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    try:
        main()
    except Exception as error:   # the last line is what arena.py shows
        traceback.print_exc()
        sys.exit(f"{type(error).__name__}: {error}".replace("\n", " "))
