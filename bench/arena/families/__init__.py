"""The families of problems. Each is a module of this folder:

    ENVIRONMENT            the Python that it needs, as places.py names them
    NAMES                  its problems
    make(name, seed)       one of them; the seed chooses the instance where there are some

A module imports nothing heavy before make is called, so that everybody can read NAMES.
Every problem is minimised.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FAMILIES = ["coco", "textbook", "programs", "paper", "noisy"]

Point = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """What there is to minimise.

    `parameters` are in the words of study.yaml, which bench/peers/space.py reads;
    `evaluate` gets those that are active. An exception of its own is a failed evaluation.
    """

    parameters: dict[str, dict[str, Any]]
    evaluate: Callable[[Point], float]
    optimum: float | None = None          # None: not known
    noise: Callable[[Point, Any], float] | None = None  # of a point, by a random.Random
    close: Callable[[], object] = lambda: None


def family(name: str):
    return importlib.import_module(f"families.{name}")


# ---- how problems write their parameters ---------------------------------------------

def real(low: float, high: float, log: bool = False, **when: Any) -> dict[str, Any]:
    return _entry(when, type="float", low=float(low), high=float(high), log=log)


def whole(low: int, high: int, log: bool = False, **when: Any) -> dict[str, Any]:
    return _entry(when, type="int", low=low, high=high, log=log)


def choice(*choices: Any, **when: Any) -> dict[str, Any]:
    return _entry(when, type="choice", choices=list(choices))


def ordinal(*choices: Any, **when: Any) -> dict[str, Any]:
    return _entry(when, type="ordinal", choices=list(choices))


def switch(**when: Any) -> dict[str, Any]:
    return choice(False, True, **when)


def _entry(when: dict[str, Any], **words: Any) -> dict[str, Any]:
    """when: nothing, or the one parameter it depends on and the value or values."""
    if when:
        [(parent, values)] = when.items()
        words["if"] = {parent: list(values) if isinstance(values, tuple) else [values]}
    return words
