#!/usr/bin/env python3
"""Oracle values for the bench's problems, computed with mpmath at 40 digits.

    python3 tools/gen_oracles_problems.py        writes tests/oracle/problems.h

Everything is written from the definitions of the functions, Ackley in
its textbook form; optima are found numerically from the same definitions, or are points
named here that a longer search has found. Random numbers that are part of a problem come
from a Philox of its own. Needs mpmath, numpy and scipy; the tests only need the committed
result.
"""

import itertools
import pathlib
import random

import mpmath as mp
import numpy as np
import scipy.optimize

mp.mp.dps = 40
ROOT = pathlib.Path(__file__).resolve().parent.parent
LEVELS = 17


def ros(z1, z2):
    return (100 * (z2 - z1**2) ** 2 + (z1 - 1) ** 2) / 300


def cam(z1, z2):
    return ((4 - mp.mpf("2.1") * z1**2 + z1**4 / 3) * z1**2 + z1 * z2
            + (-4 + 4 * z2**2) * z2**2) / 10


def bea(z1, z2):
    return ((mp.mpf("1.5") - z1 + z1 * z2) ** 2
            + (mp.mpf("2.25") - z1 + z1 * z2**2) ** 2
            + (mp.mpf("2.625") - z1 + z1 * z2**3) ** 2) / 50


CHOICES = [[(1, ros), (1, cam), (1, bea)],
           [(1, ros), (1, cam), (1, bea), (1, bea), (1, bea)],
           [(5, cam), (2, ros), (2, bea), (3, bea)]]


def func(x, h):
    z = [2 * mp.mpf(v) for v in x]
    return -mp.fsum(CHOICES[j][i][0] * CHOICES[j][i][1](*z) for j, i in enumerate(h))


def ackley(x, h):
    z = [mp.mpf(-1) + mp.mpf(j) / 8 for j in h] + [mp.mpf(x[0])]
    n = len(z)
    square = mp.fsum(v * v for v in z) / n
    wave = mp.fsum(mp.cos(2 * mp.pi * v) for v in z) / n
    return -(-20 * mp.exp(-mp.sqrt(square) / 5) - mp.exp(wave) + 20 + mp.e)


def best_of(h, tries, rng):
    """The largest value along one category vector, by Newton from the best of many."""
    starts = [[rng.uniform(-1, 1), rng.uniform(-1, 1)] for _ in range(tries)]
    start = max(starts, key=lambda x: func(x, h))
    gradient = [lambda a, b, o=o: mp.diff(lambda s, t: func((s, t), h), (a, b), o)
                for o in ((1, 0), (0, 1))]
    try:
        x = mp.findroot(gradient, start, tol=1e-50)
        inside = all(abs(v) <= 1 for v in x)
        return func(x, h) if inside and func(x, h) >= func(start, h) else func(start, h)
    except (ValueError, ZeroDivisionError):
        return func(start, h)


def optimum(c):
    """Over all category vectors: those on the boundary of x are only sampled, which is
    enough to see that they lose."""
    rng = random.Random(20)
    vectors = itertools.product(*(range(len(CHOICES[j])) for j in range(c)))
    return max((best_of(h, 200, rng), h) for h in vectors)


def rows():
    rng = random.Random(2020)
    for c in (2, 3):
        for h in itertools.product(*(range(len(CHOICES[j])) for j in range(c))):
            x = [rng.uniform(-1, 1), rng.uniform(-1, 1)]
            yield f"func-{c}c", c, h, x, func(x, h)
        for x in itertools.product((-1.0, 1.0), repeat=2):
            h = [rng.randrange(len(CHOICES[j])) for j in range(c)]
            yield f"func-{c}c", c, h, x, func(x, h)
    for c in (2, 3, 4, 5):
        for _ in range(12):
            h = [rng.randrange(LEVELS) for _ in range(c)]
            x = [rng.uniform(-1, 1)]
            yield f"ackley-{c}c", c, h, x, ackley(x, h)
        for x in (-1.0, 1.0, 1e-3, -1e-6, 3e-9, 1e-12):
            h = [LEVELS // 2] * c  # z = 0
            yield f"ackley-{c}c", c, h, [x], ackley([x], h)
        h = [0, LEVELS - 1, 0, LEVELS - 1, 0][:c]
        yield f"ackley-{c}c", c, h, [1.0], ackley([1.0], h)


# ---- many discrete inputs: a point is the list of its values, labels of choices included


class Philox:
    """Philox4x32-10 with the key 0: the stream (purpose 100, number stream << 32 | low)."""

    def __init__(self, stream, low):
        self.counter, self.words = [0, 100, low, stream], []

    def word(self):
        if not self.words:
            c, k = list(self.counter), [0, 0]
            for _ in range(10):
                a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
                c = [(b >> 32) ^ c[1] ^ k[0], b % 2**32, (a >> 32) ^ c[3] ^ k[1], a % 2**32]
                k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
            self.counter[0] += 1
            self.words = c
        return self.words.pop(0)

    def uniform(self):
        low, high = self.word(), self.word()
        return ((high << 32 | low) >> 11) * 2.0**-53


FLIP, CONTAMINATION, PEST = 4, 5, 6  # streams
STAGES, SIMULATIONS = 25, 100


def binary_ackley(x):
    z = [mp.mpf(v) for v in x]
    square = mp.fsum(v * v for v in z) / len(z)
    wave = mp.fsum(mp.cos(2 * mp.pi * v) for v in z) / len(z)
    return -(-20 * mp.exp(-mp.sqrt(square) / 5) - mp.exp(wave) + 20 + mp.e)


def flips():
    philox = Philox(FLIP, 0)
    return [philox.word() >> 31 for _ in range(50)]


def flipped_ackley(x):
    return binary_ackley([abs(b - h) for b, h in zip(flips(), x)] + list(x[50:]))


ROSENBROCK_LEVELS = [-2.1 + 4.4 * k / 3 for k in range(4)]


def rosenbrock_sum(x):
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))


def rosenbrock(x):
    return -rosenbrock_sum([mp.mpf(v) for v in x])


def rosenbrock_tail(level, rng):
    """The best four numbers behind an ordinal, from many starts."""
    runs = [scipy.optimize.minimize(lambda y: rosenbrock_sum([level, *y]),
                                    [rng.uniform(-2, 2) for _ in range(4)],
                                    bounds=[(-2, 2)] * 4, method="L-BFGS-B",
                                    options=dict(ftol=1e-16, gtol=1e-11, maxiter=5000))
            for _ in range(60)]
    best = min(runs, key=lambda run: run.fun)
    return best.fun, list(map(float, best.x))


def rosenbrock_best():
    """The sum splits at the last ordinal: a best tail for each of its levels."""
    rng = random.Random(6)
    tails = {level: rosenbrock_tail(level, rng) for level in ROSENBROCK_LEVELS}
    head = min(itertools.product(ROSENBROCK_LEVELS, repeat=6),
               key=lambda h: rosenbrock_sum(h) + tails[h[5]][0])
    return list(head) + tails[head[5]][1]


def labs(s):
    energy = sum(sum(a * b for a, b in zip(s, s[lag:])) ** 2 for lag in range(1, len(s)))
    return mp.mpf(len(s) ** 2) / (2 * energy)


# E = 153, found by tabu search; the least by the exhaustive search of Packebusch and
# Mertens (2016).
LABS_BEST = [1 if sign == "+" else -1
             for sign in "+--+-++++-+----+-++--++++-+--++----+---+---+-+---+"]


def vessel_cost(x1, x2, x3, x4, number):
    a, b, c, d = map(number, ("0.6224", "1.7781", "3.1661", "19.84"))
    return a * x1 * x3 * x4 + b * x2 * x3**2 + c * x1**2 * x4 + d * x1**2 * x3


def vessel(x):
    x1, x2, x3, x4 = map(mp.mpf, x)
    volume = mp.pi * x3**2 * x4 + mp.mpf(4) / 3 * mp.pi * x3**3
    limits = [(x1, mp.mpf("0.0193") * x3), (x2, mp.mpf("0.00954") * x3),
              (volume, mp.mpf(1296000))]
    violation = mp.fsum(max(mp.mpf(0), (want - have) / want) for have, want in limits)
    return -(vessel_cost(x1, x2, x3, x4, mp.mpf) + 100000 * violation)


def vessel_best():
    """For each pair of thicknesses the length that the volume asks for, over a fine grid
    of radii and the radii at which a thickness just suffices."""
    best = (np.inf,)
    for i, j in itertools.product(range(1, 100), repeat=2):
        x1, x2 = i / 16, j / 16
        widest = min(x1 / 0.0193, x2 / 0.00954, 200)
        x3 = np.append(np.arange(10, widest, 0.05), widest)
        x4 = np.maximum((1296000 / np.pi - 4 / 3 * x3**3) / x3**2, 10)
        cost = np.where(x4 <= 200, vessel_cost(x1, x2, x3, x4, float), np.inf)
        k = cost.argmin()
        best = min(best, (cost[k], x1, x2, float(x3[k]), float(x4[k])))
    return list(best[1:])


def beta(stream, low, b):
    """Beta(1, b) by its inverse distribution function."""
    philox = Philox(stream, low)
    u = np.array([philox.uniform() for _ in range(SIMULATIONS)])
    return 1 - (1 - u) ** (1 / b)


def contamination(h):
    z, cost = beta(CONTAMINATION, 0, 30), mp.mpf(0)
    for i in range(STAGES):
        rate = beta(CONTAMINATION, 2 * i + 1, 17 / 3)  # L
        back = beta(CONTAMINATION, 2 * i + 2, 3 / 7)  # G
        z = rate * (1 - h[i]) * (1 - z) + (1 - back * h[i]) * z
        clean = mp.mpf(int(np.sum(z < 0.1))) / SIMULATIONS
        cost += h[i] - (clean - mp.mpf("0.95"))
    return -(cost + sum(h) / mp.mpf(100))


# The best of all 2^25, by depth-first search over the stages.
CONTAMINATION_BEST = list(map(int, "1101101101101101011011100"))

PRICE = [None, "1", "0.8", "0.7", "0.5"]
DISCOUNT = [None, "0.2", "0.3", "0.3", "0"]
TOLERANCE = [None, 1 / 7, 2.5 / 7, 2 / 7, 0.5 / 7]


def pest(actions):
    p, cost = beta(PEST, 0, 30), mp.mpf(0)
    b = [None, 2 / 7, 3 / 7, 3 / 7, 5 / 7]
    for i, t in enumerate(actions):
        cost += mp.mpf(int(np.sum(p > 0.1))) / SIMULATIONS
        if t == 0:
            p = beta(PEST, 2 * i + 1, 17 / 3) * (1 - p) + p
        else:
            p = (1 - beta(PEST, 2 * i + 2, b[t])) * p
            b[t] += TOLERANCE[t] / STAGES
            cost += mp.mpf(PRICE[t]) * (
                1 - mp.mpf(DISCOUNT[t]) * actions.count(t) / STAGES)
    return -cost


# What 42 annealings of one to three million steps agree on.
PEST_BEST = [3] * 24 + [0]


def point_rows():
    """(problem, point, value), random points and those at the ends of the ranges."""
    rng = random.Random(53)

    def reals(n, low, high):
        return [rng.uniform(low, high) for _ in range(n)]

    for name, n, function in (("ackley-13", 10, binary_ackley),
                              ("ackley-53", 50, binary_ackley),
                              ("ackley-53-flipped", 50, flipped_ackley)):
        for _ in range(6):
            share = rng.random()
            x = [int(rng.random() < share) for _ in range(n)] + reals(3, -1, 1)
            yield name, x, function(x)
        for bit in (0, 1):
            x = [bit] * n + [1e-3, -1.0, 1.0]
            yield name, x, function(x)
    for _ in range(8):
        x = [rng.choice(ROSENBROCK_LEVELS) for _ in range(6)] + reals(4, -2, 2)
        yield "rosenbrock-10-mixed", x, rosenbrock(x)
    for level, end in ((0, -2.0), (3, 2.0)):
        x = [ROSENBROCK_LEVELS[level]] * 6 + [end] * 4
        yield "rosenbrock-10-mixed", x, rosenbrock(x)
    for _ in range(8):
        x = [rng.choice((-1, 1)) for _ in range(50)]
        yield "labs-50", x, labs(x)
    yield "labs-50", [1] * 50, labs([1] * 50)
    for _ in range(8):
        x = [rng.randrange(1, 100) / 16, rng.randrange(1, 100) / 16] + reals(2, 10, 200)
        yield "pressure-vessel", x, vessel(x)
    for x in ([0.0625, 0.0625, 10.0, 10.0], [6.1875, 6.1875, 200.0, 200.0],
              [1.0, 0.4375, 48.0, 150.0], [0.8125, 0.5, 48.0, 150.0],
              [1.0, 0.5, 48.0, 50.0], [1.0, 0.5, 48.0, 150.0]):  # each bound alone
        yield "pressure-vessel", x, vessel(x)
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        x = [int(rng.random() < share) for _ in range(STAGES)]
        yield "contamination", x, contamination(x)
    for _ in range(8):
        x = [rng.randrange(5) for _ in range(STAGES)]
        yield "pest-control", x, pest(x)
    for t in range(5):
        yield "pest-control", [t] * STAGES, pest([t] * STAGES)


def best_rows():
    for name, n, function, h in (("ackley-13", 10, binary_ackley, [0] * 10),
                                 ("ackley-53", 50, binary_ackley, [0] * 50),
                                 ("ackley-53-flipped", 50, flipped_ackley, flips())):
        x = h + [0.0, 0.0, 0.0]
        yield name, x, mp.chop(function(x), 1e-30)
    for name, x, function in (("rosenbrock-10-mixed", rosenbrock_best(), rosenbrock),
                              ("labs-50", LABS_BEST, labs),
                              ("pressure-vessel", vessel_best(), vessel),
                              ("contamination", CONTAMINATION_BEST, contamination),
                              ("pest-control", PEST_BEST, pest)):
        yield name, x, function(x)


# ---- the header --------------------------------------------------------------------------


def literal(value):
    text = mp.nstr(mp.mpf(value), 20, min_fixed=-4, max_fixed=8)
    return text if "." in text or "e" in text else text + ".0"


def point_lines(table, points):
    yield f"static const oracle_point {table}[] = {{"
    for name, x, value in points:
        yield '    {"%s", %d, {%s}, %s},' % (name, len(x), ", ".join(map(repr, x)),
                                             literal(value))
    yield "};"


def main():
    lines = [
        "/* problems.h - values of the bench's problems, and their optima.",
        " * Made by tools/gen_oracles_problems.py; do not edit. */",
        "/* clang-format off */",
        "#ifndef CB_TESTS_ORACLE_PROBLEMS_H",
        "#define CB_TESTS_ORACLE_PROBLEMS_H",
        "",
        "/* x has 2 numbers for func, 1 for ackley; h has c category numbers. */",
        "static const struct { const char *problem; int c; int h[5]; double x[2], value; }",
        "oracle_values[] = {",
    ]
    for name, c, h, x, value in rows():
        padded = list(h) + [0] * (5 - len(h)), list(x) + [0.0] * (2 - len(x))
        lines.append('    {"%s", %d, {%s}, {%s}, %s},' % (
            name, c, ", ".join(map(str, padded[0])), ", ".join(map(repr, padded[1])),
            literal(value)))
    lines += ["};", "",
              "static const struct { const char *problem; int c; int h[3]; double value; }",
              "oracle_optima[] = {"]
    for c in (2, 3):
        value, h = optimum(c)
        padded = list(h) + [0] * (3 - c)
        lines.append('    {"func-%dc", %d, {%s}, %s},' % (
            c, c, ", ".join(map(str, padded)), literal(value)))
    lines += ["};", "",
              "/* x has the values of the problem's inputs, labels of choices included. */",
              "typedef struct oracle_point {",
              "  const char *problem;", "  int n;", "  double x[53], value;",
              "} oracle_point;", ""]
    lines += point_lines("oracle_points", point_rows())
    lines += ["", "/* The best points there are, or are known. */"]
    lines += point_lines("oracle_bests", best_rows())
    lines += ["", "#endif", ""]
    (ROOT / "tests" / "oracle" / "problems.h").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
