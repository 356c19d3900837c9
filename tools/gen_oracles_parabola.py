#!/usr/bin/env python3
"""Oracle values of parabolas, computed with numpy.

    python3 tools/gen_oracles_parabola.py        writes tests/oracle/parabola.h

Fits are by lstsq on weighted rows. The lowest point in a box is the best stationary
point of all its faces, of which there are 3^d. Needs numpy; the tests only need the
committed result.
"""

import itertools
import pathlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent


def terms(z):
    d = len(z)
    return np.array([1.0, *z, *(z[i] * z[j] for i in range(d) for j in range(i, d))])


def fits():
    """Values that no parabola has, so that the weights matter."""
    rng = np.random.default_rng(1687)
    for d, n in ((1, 6), (2, 9), (2, 26), (3, 14), (5, 40)):
        z = rng.uniform(-1, 1, (n, d)) * 0.97
        y = np.exp(z @ rng.uniform(-1, 1, d)) + np.abs(z[:, 0]) + 0.1 * rng.normal(size=n)
        weight = (np.abs(y - y.min()) + 0.1) ** -2.0
        root = np.sqrt(weight)
        rows = np.array([terms(p) for p in z]) * root[:, None]
        yield d, z, weight, y, np.linalg.lstsq(rows, y * root, rcond=None)[0]


def lowest(g, H, lower, upper):
    d, best = len(g), (np.inf, None)
    for sides in itertools.product((0, 1, 2), repeat=d):
        z = np.where(np.array(sides) == 1, lower, upper)
        free = [j for j in range(d) if sides[j] == 0]
        if free:
            fixed = [j for j in range(d) if sides[j] != 0]
            right = -g[free] - H[np.ix_(free, fixed)] @ z[fixed]
            z[free] = np.linalg.solve(H[np.ix_(free, free)], right)
            if np.any(z < lower) or np.any(z > upper):
                continue
        value = g @ z + 0.5 * z @ H @ z
        if value < best[0]:
            best = value, z
    return best


def boxes():
    rng = np.random.default_rng(1642)
    for d, condition, bent in ((1, 1, False), (2, 1e2, False), (2, 1e6, False), (3, 1e4, False),
                               (5, 1e6, False), (6, 1e3, False), (2, 10, True), (3, 10, True)):
        for reach in (0.3, 3.0):
            turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
            curves = condition ** np.linspace(0, 1, d) * 0.1
            if bent:
                curves[0] = -0.3
            H = turn @ np.diag(curves) @ turn.T
            H = 0.5 * (H + H.T)
            g = -H @ rng.uniform(-1, 1, d)
            lower, upper = -reach * rng.uniform(0.1, 1, d), reach * rng.uniform(0.1, 1, d)
            b = np.array([0.375, *g, *(H[i, j] * (0.5 if i == j else 1.0)
                                       for i in range(d) for j in range(i, d))])
            value, z = lowest(g, H, lower, upper)
            yield d, b, lower, upper, value + 0.375, z


def numbers(values):
    return "{" + ", ".join(repr(float(v)) for v in np.ravel(values)) + "}"


def main():
    lines = [
        "/* parabola.h - weighted fits, and the lowest points of parabolas in boxes.",
        " * Made by tools/gen_oracles_parabola.py; do not edit. */",
        "/* clang-format off */",
        "#ifndef CB_TESTS_ORACLE_PARABOLA_H",
        "#define CB_TESTS_ORACLE_PARABOLA_H",
        "",
        "static const struct { int d, n; double z[200], weight[40], y[40], coefficients[21]; }",
        "oracle_fits[] = {",
    ]
    lines += [f"    {{{d}, {len(y)}, {numbers(z)}, {numbers(w)}, {numbers(y)}, {numbers(b)}}},"
              for d, z, w, y, b in fits()]
    lines += [
        "};",
        "",
        "static const struct { int d; double coefficients[28], lower[6], upper[6], value, z[6]; }",
        "oracle_boxes[] = {",
    ]
    lines += [f"    {{{d}, {numbers(b)}, {numbers(lo)}, {numbers(up)}, {float(v)!r}, {numbers(z)}}},"
              for d, b, lo, up, v, z in boxes()]
    lines += ["};", "", "#endif"]
    (ROOT / "tests/oracle/parabola.h").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
