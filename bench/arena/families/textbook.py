"""Functions of the textbooks, with their optima (Surjanovic and Bingham's collection).

Where the optimum is the middle of the usual box, the box is moved, as others do: a method
that begins in the middle would be done before it has begun.
"""

from __future__ import annotations

from math import cos, e, exp, pi, prod, sin, sqrt

from . import Problem, real

ENVIRONMENT = ""


def branin(x):
    a, b = x
    return ((b - 5.1 / (4 * pi**2) * a * a + 5 / pi * a - 6) ** 2
            + 10 * (1 - 1 / (8 * pi)) * cos(a) + 10)


def six_hump(x):
    a, b = x
    return (4 - 2.1 * a * a + a**4 / 3) * a * a + a * b + (4 * b * b - 4) * b * b


HARTMANN_A = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14],
              [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
HARTMANN_P = [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
              [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]


def hartmann(x):
    return -sum(alpha * exp(-sum(a * (v - p / 10000) ** 2 for a, v, p in zip(row, x, at)))
                for alpha, row, at in zip([1, 1.2, 3, 3.2], HARTMANN_A, HARTMANN_P))


def levy(x):
    w = [1 + (v - 1) / 4 for v in x]
    return (sin(pi * w[0]) ** 2 + (w[-1] - 1) ** 2 * (1 + sin(2 * pi * w[-1]) ** 2)
            + sum((v - 1) ** 2 * (1 + 10 * sin(pi * v + 1) ** 2) for v in w[:-1]))


def rastrigin(x):
    return sum(v * v - 10 * cos(2 * pi * v) + 10 for v in x)


def styblinski_tang(x):
    return sum(v**4 - 16 * v * v + 5 * v for v in x) / 2


def schwefel(x):
    return sum(418.9828872724338 - v * sin(sqrt(abs(v))) for v in x)


def ackley(x):
    n = len(x)
    return (20 + e - 20 * exp(-0.2 * sqrt(sum(v * v for v in x) / n))
            - exp(sum(cos(2 * pi * v) for v in x) / n))


def griewank(x):
    return (1 + sum(v * v for v in x) / 4000
            - prod(cos(v / sqrt(i)) for i, v in enumerate(x, 1)))


def michalewicz(x):
    return -sum(sin(v) * sin(i * v * v / pi) ** 20 for i, v in enumerate(x, 1))


# the function, its box, and its least value there
FUNCTIONS = {
    "branin": (branin, [(-5, 10), (0, 15)], 0.39788735772973816),
    "six-hump": (six_hump, [(-3, 3), (-2, 2)], -1.0316284534898774),
    "hartmann-6": (hartmann, [(0, 1)] * 6, -3.3223680114155147),
    "levy-4": (levy, [(-10, 10)] * 4, 0.0),
    "rastrigin-3": (rastrigin, [(-4, 5)] * 3, 0.0),
    "styblinski-tang-4": (styblinski_tang, [(-5, 5)] * 4, -156.66466281508214),
    "schwefel-2": (schwefel, [(-500, 500)] * 2, 0.0),
    "ackley-5": (ackley, [(-5, 10)] * 5, 0.0),
    "griewank-4": (griewank, [(-300, 600)] * 4, 0.0),
    "michalewicz-4": (michalewicz, [(0, pi)] * 4, -3.6988570985),
}
NAMES = list(FUNCTIONS)


def make(name: str, seed: int) -> Problem:
    function, box, optimum = FUNCTIONS[name]
    return Problem({f"x{i}": real(low, high) for i, (low, high) in enumerate(box, 1)},
                   lambda point: function(list(point.values())), optimum)
