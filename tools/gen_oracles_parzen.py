#!/usr/bin/env python3
"""Oracle values of adaptive Parzen estimators, computed by hyperopt.

    python3 tools/gen_oracles_parzen.py        writes tests/oracle/parzen.h

Needs hyperopt; the tests only need the committed result.
"""

import pathlib
import random

import numpy
from hyperopt import tpe

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST, QUERIES, CELLS, ARMS = 140, 6, 9, 7


def numbers(rng, n, ties):
    low, high = rng.uniform(-2, -0.5), rng.uniform(0.4, 3)
    x = [rng.uniform(low, high) for _ in range(n)]
    if ties:  # values on a grid of 9 cells
        q = (high - low) / CELLS
        x = [low + q * (rng.randrange(CELLS) + 0.5) for _ in range(n)]
    at = [low] + [rng.uniform(low, high) for _ in range(QUERIES - 2)] + [high]
    weights, mus, sigmas = tpe.adaptive_parzen_normal(x, 1.0, 0.5 * (low + high), high - low)
    q = (high - low) / CELLS
    middles = numpy.array([low + q * (k + 0.5) for k in range(CELLS)])
    return (n, low, high, x, at, tpe.GMM1_lpdf(numpy.array(at), weights, mus, sigmas, low, high),
            tpe.GMM1_lpdf(middles, weights, mus, sigmas, low, high, q))


def choices(rng, n):
    h = [min(int(rng.expovariate(0.6)), ARMS - 1) for _ in range(n)]
    weights = tpe.linear_forgetting_weights(n, 25)
    p = numpy.bincount(numpy.array(h, int), minlength=ARMS, weights=weights) + 1.0
    return n, h, numpy.log(p / p.sum())


def listed(values):
    return "{%s}" % ", ".join(repr(v) if isinstance(v, int) else repr(float(v)) for v in values)


def main():
    rng = random.Random(2011)
    lines = [
        "/* parzen.h - densities, masses of cells and chances, by hyperopt.",
        " * Made by tools/gen_oracles_parzen.py; do not edit. */",
        "/* clang-format off */",
        "#ifndef CB_TESTS_ORACLE_PARZEN_H",
        "#define CB_TESTS_ORACLE_PARZEN_H",
        "",
        "#include <stdint.h>",
        "",
        "/* log_mass: of %d equal cells from low to high. */" % CELLS,
        "static const struct { int n; double low, high, x[%d], at[%d], log_density[%d], log_mass[%d]; }"
        % (MOST, QUERIES, QUERIES, CELLS),
        "oracle_numbers[] = {",
    ]
    for n in (0, 1, 2, 3, 7, 24, 25, 26, 27, 60, 97, 98, 140):
        # Of equal values, which fades and which does not is left to numpy's sort.
        for ties in (False, True) if n <= 25 else (False,):
            n, low, high, x, at, density, mass = numbers(rng, n, ties)
            lines.append("    {%d, %r, %r, %s, %s, %s, %s}," % (
                n, low, high, listed(x) if x else "{0}", listed(at), listed(density), listed(mass)))
    lines += ["};", "", "static const struct { int n; int32_t h[%d]; double log_chance[%d]; }"
              % (MOST, ARMS), "oracle_choices[] = {"]
    for n in (0, 1, 5, 24, 25, 26, 27, 60, 140):
        n, h, chance = choices(rng, n)
        lines.append("    {%d, %s, %s}," % (n, listed(h) if h else "{0}", listed(chance)))
    lines += ["};", "", "#endif", ""]
    (ROOT / "tests" / "oracle" / "parzen.h").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
