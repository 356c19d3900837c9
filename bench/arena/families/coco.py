"""COCO's suites bbob (d = 2, 3, 5) and bbob-mixint (d = 5, 10), 24 functions each, as
f - f_opt: what is left to the optimum.

An instance shifts and turns the function. Seeds below 100, which are for choosing, have
instances 1 to 5; seeds from 100 on, for reporting, have instances 11 and up, one each.
"""

from __future__ import annotations

import os
import pathlib
import tempfile

from . import Point, Problem, real, whole

ENVIRONMENT = "base"
SUITES = {"bbob": ("bbob", (2, 3, 5)), "mixint": ("bbob-mixint", (5, 10))}
NAMES = [f"{short}-f{f:02}-d{d}" for short, (_, dimensions) in SUITES.items()
         for d in dimensions for f in range(1, 25)]


def instance(seed: int) -> int:
    return seed - 100 + 11 if seed >= 100 else seed % 5 + 1


def optimum_of(problem) -> float:
    """COCO says where the optimum is only by a file in the working folder."""
    import numpy as np
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="cocabo-arena-") as folder:
        os.chdir(folder)
        try:
            problem._best_parameter("print")
            said = pathlib.Path("._bbob_problem_best_parameter.txt").read_text()
        finally:
            os.chdir(before)
    return float(problem(np.array(said.split(), dtype=float)))


def make(name: str, seed: int) -> Problem:
    import cocoex
    import numpy as np
    short, function, dimension = name.split("-")
    suite = cocoex.Suite(SUITES[short][0], f"instances: {instance(seed)}",
                         f"dimensions: {dimension[1:]} function_indices: {int(function[1:])}")
    problem = suite[0]
    best = optimum_of(problem)
    parameters = {}
    for i, (low, high) in enumerate(zip(problem.lower_bounds, problem.upper_bounds)):
        is_whole = i < problem.number_of_integer_variables   # they come first
        parameters[f"x{i + 1}"] = whole(int(low), int(high)) if is_whole else real(low, high)

    def left(point: Point) -> float:
        return problem(np.array(list(point.values()), dtype=float)) - best

    return Problem(parameters, left, optimum=0.0, close=suite.free)
