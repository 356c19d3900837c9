#!/usr/bin/env python3
"""The polynomials of src/base/maths.c.

    python3 tools/gen_maths.py      writes src/base/maths_numbers.h

Every polynomial is minimax: the exchange algorithm of Remez, in 50 digits, with the
weight that makes its error relative to the function it serves. Then the coefficients are
rounded to double, and the error that remains is measured and written beside them. Needs
mpmath; building and testing only need the committed result.
"""

import pathlib

import mpmath as mp

OUT = pathlib.Path(__file__).resolve().parent.parent / "src" / "base" / "maths_numbers.h"
mp.mp.dps = 50


def extrema(error, low, high, count):
    """The points where the error is largest between its changes of sign."""
    grid = [low + (high - low) * (1 - mp.cos(mp.pi * i / (16 * count))) / 2
            for i in range(16 * count + 1)]
    values = [error(x) for x in grid]
    tops, best = [], 0
    for i in range(1, len(grid)):
        if (values[i] > 0) != (values[best] > 0):
            tops.append(best)
            best = i
        elif abs(values[i]) > abs(values[best]):
            best = i
    tops.append(best)
    while len(tops) > count:
        tops.pop(0 if abs(values[tops[0]]) < abs(values[tops[-1]]) else -1)
    return [grid[i] for i in tops]


def remez(f, weight, low, high, powers):
    """Coefficients c of sum c_i x^powers[i] with the least maximum of weight |f - sum|."""
    low, high, n = mp.mpf(low), mp.mpf(high), len(powers) + 1
    points = [low + (high - low) * (1 - mp.cos(mp.pi * (i + mp.mpf(1) / 2) / n)) / 2
              for i in range(n)]
    for _ in range(8):
        system = mp.matrix(n, n)
        for i, x in enumerate(points):
            for j, power in enumerate(powers):
                system[i, j] = x**power
            system[i, n - 1] = (-1) ** i / weight(x)
        solved = mp.lu_solve(system, mp.matrix([f(x) for x in points]))
        c = [solved[j] for j in range(n - 1)]

        def error(x):
            return weight(x) * (f(x) - mp.fsum(a * x**p for a, p in zip(c, powers)))

        points = extrema(error, low, high, n)
        if len(points) < n:
            raise RuntimeError("the error does not alternate")
    return c


def largest(f, weight, low, high, powers, c):
    points = [low + (high - low) * mp.mpf(i) / 4000 for i in range(4001)]
    return max(abs(weight(x) * (f(x) - mp.fsum(a * x**p for a, p in zip(c, powers))))
               for x in points)


def polynomial(name, about, f, weight, low, high, powers):
    low, high = mp.mpf(low), mp.mpf(high)
    c = [mp.mpf(float(a)) for a in remez(f, weight, low, high, powers)]
    error = largest(f, weight, low, high, powers, c)
    lines = [f"/* {about}; error {mp.nstr(error, 2)}. */"]
    lines += [f"static const double {name}[{len(c)}] = {{"]
    lines += [f"    {float(a).hex()}," for a in c]
    return lines + ["};", ""]


def log():
    def tail(z):  # 2 atanh(s) / s - 2, z = s^2
        return 2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2

    top = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
    return polynomial("log_tail", "2 atanh(s) / s - 2 = z (c_0 + c_1 z + ...), z = s^2",
                      tail, lambda z: mp.mpf(1) / 2, mp.mpf(10) ** -12, top * mp.mpf("1.001"),
                      list(range(1, 8)))


def turns():
    tiny, top = mp.mpf(10) ** -12, mp.mpf(1) / 64
    cos = polynomial("cos_turn", "cos(2 pi f) - 1 = z (c_0 + c_1 z + ...), z = f^2 <= 1/64",
                     lambda z: mp.cos(2 * mp.pi * mp.sqrt(z)) - 1, lambda z: 1, tiny, top,
                     list(range(1, 9)))
    sin = polynomial("sin_turn", "sin(2 pi f) / f - 2 pi = z (c_0 + c_1 z + ...), z = f^2",
                     lambda z: mp.sin(2 * mp.pi * mp.sqrt(z)) / mp.sqrt(z) - 2 * mp.pi,
                     lambda z: 1 / (2 * mp.pi), tiny, top, list(range(1, 9)))
    return cos + sin


NEAR = mp.mpf(15) / 32  # erf is just below 1/2 there


def erf():
    return polynomial("erf_tail", "erf(x) / x - 1 = c_0 + c_1 z + ..., |x| <= 15/32, z = x^2",
                      lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, lambda z: 1,
                      mp.mpf(10) ** -12, NEAR**2, list(range(0, 11)))


FAR = 28  # erfc is 0 beyond
CENTRE = 4


def scaled(w):
    """(1 + 2 x) exp(x^2) erfc(x) - 9/8 at w = (x - CENTRE) / (x + CENTRE)."""
    x = CENTRE * (1 + w) / (1 - w)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x) - mp.mpf(9) / 8


def erfc():
    low, high = [(mp.mpf(x) - CENTRE) / (x + CENTRE) for x in (NEAR, FAR)]
    return polynomial("erfc_scaled",
                      "(1 + 2 x) exp(x^2) erfc(x) - 9/8 = c_0 + c_1 w + ...,\n"
                      f" * w = (x - {CENTRE}) / (x + {CENTRE}), 15/32 <= x <= {FAR}",
                      scaled, lambda w: mp.mpf(8) / 9, low, high, list(range(0, 22)))


def main():
    lines = ["/* maths_numbers.h - minimax polynomials of maths.c, lowest coefficient first.",
             " * Made by tools/gen_maths.py; do not edit. */", "/* clang-format off */",
             "#ifndef CB_BASE_MATHS_NUMBERS_H", "#define CB_BASE_MATHS_NUMBERS_H", ""]
    for section in (log, turns, erf, erfc):
        lines += section()
    OUT.write_text("\n".join(lines + ["#endif"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
