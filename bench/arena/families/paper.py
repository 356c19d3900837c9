"""The problems of the paper, by `cocabo-bench evaluate`; maximised there, so times -1.

The synthetic ones list their choices in an order of the seed's (--permute), so that no
method can be lucky with an order. The program is $COCABO_BENCH, or build/cocabo-bench;
svm-boston and nas-cifar10 need the data that `cocabo-bench data` speaks of.
"""

from __future__ import annotations

import os

import problem as peers          # that of bench/peers
from places import ROOT

from . import Point, Problem

ENVIRONMENT = ""
REAL = ("svm-boston", "nas-cifar10")
NAMES = ["func-2c", "func-3c", "ackley-5c", "rosenbrock-10-mixed", "ackley-53-flipped", *REAL]


def make(name: str, seed: int) -> Problem:
    bench = os.environ.get("COCABO_BENCH", str(ROOT / "build/cocabo-bench"))
    peers.check(bench, name)     # a sentence if its data is missing
    described = peers.describe(bench, name, seed, 0, permute=name not in REAL)
    child = peers.Problem(bench, name, seed, 0)

    def value(point: Point) -> float:
        found = child.evaluate(point)
        if found is None:
            raise ValueError("the evaluation failed")
        return -found

    return Problem(described["parameters"], value, -described["optimum"], close=child.close)
