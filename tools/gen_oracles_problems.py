#!/usr/bin/env python3
"""Oracle values for the bench's synthetic problems, computed with mpmath at 40 digits.

    python3 tools/gen_oracles_problems.py        writes tests/oracle/problems.h

Everything is written from the definitions of the functions (METHOD section 6), Ackley in
its textbook form; optima are found numerically from the same definitions. Needs mpmath;
the tests only need the committed result.
"""

import itertools
import pathlib
import random

import mpmath as mp

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


def literal(value):
    text = mp.nstr(mp.mpf(value), 20, min_fixed=-4, max_fixed=8)
    return text if "." in text or "e" in text else text + ".0"


def main():
    lines = [
        "/* problems.h - values of the bench's synthetic problems, and their optima.",
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
    lines += ["};", "", "#endif", ""]
    (ROOT / "tests" / "oracle" / "problems.h").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
