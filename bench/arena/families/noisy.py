"""Problems with noise whose true means are known; runs are judged by the true mean of what
their method would name as the best.

Three are functions with Gaussian noise. The fourth is what cross-validation gives: the
error of a support vector machine on one of 40 splits, drawn anew each time; the mean of all
40 is the true one.
"""

from __future__ import annotations

import functools

from . import Point, Problem, paper, textbook
from .programs import learners

ENVIRONMENT = "base"


def with_noise(problem: Problem, sd: float) -> Problem:
    return Problem(problem.parameters, problem.evaluate, problem.optimum,
                   lambda point, source: source.gauss(0, sd), problem.close)


@functools.cache                 # the evaluator remembers means, so this must their parts
def svc_splits() -> Problem:
    splits = learners.Splits(40, "wine", 24, 150)
    whole = learners.svc(splits)
    errors: dict[str, list[float]] = {}

    def mean(point: Point) -> float:
        value = whole.evaluate(point)
        errors[str(point)] = list(splits.errors)
        return value

    def noise(point: Point, source) -> float:
        each = errors[str(point)]
        return source.choice(each) - sum(each) / len(each)

    return Problem(whole.parameters, mean, noise=noise)


MAKERS = {
    "branin": lambda seed: with_noise(textbook.make("branin", seed), 3.0),
    "hartmann-6": lambda seed: with_noise(textbook.make("hartmann-6", seed), 0.2),
    "func-2c": lambda seed: with_noise(paper.make("func-2c", seed), 0.03),
    "svc-splits": lambda seed: svc_splits(),
}
NAMES = list(MAKERS)


def make(name: str, seed: int) -> Problem:
    return MAKERS[name](seed)
