"""serving.py - how a problem of this folder speaks: as `cocabo-bench evaluate` does.

    PROBLEM.py --describe --seed S --init N    the space, and N points of it
    PROBLEM.py [--seed S]                      JSON lines in, JSON lines out

Values are kept in the file $COCABO_PEERS_CACHE, if that is set, and not computed again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sqlite3
import sys
import warnings
from typing import Any, Callable

Point = dict[str, Any]
Parameters = dict[str, dict[str, Any]]


def active(parameters: Parameters, point: Point) -> Point:
    """What the point has, in the order of the parameters: those without a condition, and
    those whose parent has one of their values."""
    return {name: point[name] for name, entry in parameters.items()
            if all(point[parent] in values for parent, values in entry.get("if", {}).items())}


# ---- the initial points --------------------------------------------------------------

def draw(entry: dict[str, Any], source: random.Random) -> Any:
    if "choices" in entry:
        return source.choice(entry["choices"])
    low, high, whole = entry["low"], entry["high"], entry["type"] == "int"
    if entry.get("log"):
        value = math.exp(source.uniform(math.log(low), math.log(high)))
        return round(value) if whole else min(max(value, low), high)
    return source.randint(low, high) if whole else source.uniform(low, high)


def describe(parameters: Parameters, seed: int, init: int) -> dict[str, Any]:
    source = random.Random(seed)
    points = [{name: draw(entry, source) for name, entry in parameters.items()}
              for _ in range(init)]
    return {"parameters": parameters, "initial": points}


# ---- the values ----------------------------------------------------------------------

class Values:
    """Those known are read, the others computed and written."""

    def __init__(self, path: str | None, problem: str) -> None:
        self._table = f'"{problem}"'
        self._db = sqlite3.connect(path or ":memory:", timeout=60, isolation_level=None)
        self._db.execute(f"CREATE TABLE IF NOT EXISTS {self._table}"
                         "(point TEXT PRIMARY KEY, value)")

    def __call__(self, point: Point, compute: Callable[[], float]) -> float:
        key = json.dumps(point)
        row = self._db.execute(f"SELECT value FROM {self._table} WHERE point = ?",
                               [key]).fetchone()
        if row:
            return row[0]
        result = compute()
        self._db.execute(f"INSERT OR IGNORE INTO {self._table} VALUES (?, ?)",
                         [key, result])
        return result


def serve(parameters: Parameters, load: Callable[[], Any],
          value: Callable[[Any, Point], float]) -> None:
    """value(data, point) is what is maximised; the data are loaded if it is needed."""
    problem = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    parser = argparse.ArgumentParser()
    parser.add_argument("--describe", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--init", type=int, default=0)
    args = parser.parse_args()
    if args.describe:
        print(json.dumps(describe(parameters, args.seed, args.init)))
        return
    warnings.simplefilter("ignore")  # that something did not converge
    values = Values(os.environ.get("COCABO_PEERS_CACHE"), problem)
    data: list[Any] = []

    def compute(point: Point) -> float:
        if not data:
            data.append(load())
        return value(data[0], point)

    for line in sys.stdin:
        point = active(parameters, json.loads(line))
        print(json.dumps({"value": values(point, lambda: compute(point))}), flush=True)
