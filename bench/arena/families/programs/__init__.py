"""Real programs: what is minimised is what they report. All are deterministic, take 5 to 200
ms, and have the spaces that their users would write: with conditions, and with combinations
that fail, because the program says so.

    learners.py      scikit-learn on the data sets that it ships: errors and losses
    compressors.py   xz, zstd and others on the same data: bytes
    solvers.py       CaDiCaL, HiGHS, SQLite: conflicts, iterations, reads and steps
    compilers.py     gcc: bytes of code
"""

from __future__ import annotations

from collections.abc import Callable

from .. import Problem
from . import compilers, compressors, learners, solvers

ENVIRONMENT = "base"
MAKERS: dict[str, Callable[[], Problem]] = {
    **learners.MAKERS, **compressors.MAKERS, **solvers.MAKERS, **compilers.MAKERS}
NAMES = list(MAKERS)


def make(name: str, seed: int) -> Problem:
    return MAKERS[name]()
