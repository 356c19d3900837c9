#!/usr/bin/env python3
"""Writes the oracle tables of the tests, tests/oracle/*.h, which are committed.

    tools/gen_oracles.py [TABLE ...]     all tables, or the named ones

Needs mpmath. One function makes one table, from the definitions, in many digits and by
other formulas than the library's where there are any. A table is a list of rows;
`write` turns it into an array of structs. To add a table, write a function, decorate it
with @table, and include tests/oracle/<its name>.h in the test.
"""

import os
import sys

import mpmath as mp

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "oracle")
TABLES = {}


def table(make):
    """Registers a function that writes tests/oracle/<its name>.h."""
    TABLES[make.__name__] = make
    return make


def literal(value):
    """A C literal: 20 significant digits, 0 for what a double cannot hold."""
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(literal(v) for v in value) + "}"
    if isinstance(value, int):
        return str(value)
    value = mp.mpf(value)
    if abs(value) < mp.mpf("2.3e-308"):
        return "0.0"
    text = mp.nstr(value, 20, min_fixed=-4, max_fixed=8)
    return text if "." in text or "e" in text else text + ".0"


def write(name, about, arrays):
    """arrays: (array name, fields of its struct, rows of values in their order)."""
    guard = f"CB_TESTS_ORACLE_{name.upper()}_H"
    lines = [f"/* {name}.h - {about}", " * Made by tools/gen_oracles.py; do not edit. */"]
    lines += ["/* clang-format off */", f"#ifndef {guard}", f"#define {guard}"]
    for array, fields, rows in arrays:
        lines += ["", f"static const struct {{ {fields} }} {array}[] = {{"]
        lines += ["    " + literal(row) + "," for row in rows]
        lines += ["};"]
    lines += ["", "#endif"]
    with open(os.path.join(FOLDER, name + ".h"), "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


# ---- special functions ------------------------------------------------------------------


def mills_and_gap(t):
    """M(t) = Phi(-t) / phi(t) and 1 - t M(t), for t > 0."""
    if t < 60:
        with mp.workdps(150):  # the gap loses 2 log10(t) digits
            m = mp.sqrt(mp.pi / 2) * mp.exp(t * t / 2) * mp.erfc(t / mp.sqrt(2))
            gap = 1 - t * m
        return +m, +gap
    u, gap, term, k = 1 / (t * t), mp.mpf(0), mp.mpf(1) / (t * t), 1
    while abs(term) > mp.mpf(10) ** -45 * u:  # asymptotic: terms fall until k = t^2/2
        gap += term
        term *= -(2 * k + 1) * u
        k += 1
    return (1 - gap) / t, gap


def special_row(z):
    z = mp.mpf(z)
    log_pdf = -z * z / 2 - mp.log(2 * mp.pi) / 2
    if z < 0:
        m, gap = mills_and_gap(-z)
        log_h, slope, log_cdf = log_pdf + mp.log(gap), m / gap, log_pdf + mp.log(m)
    else:
        h = mp.exp(log_pdf) + z * mp.ncdf(z)
        upper = mp.erfc(z / mp.sqrt(2)) / 2
        log_h, slope, log_cdf = mp.log(h), mp.ncdf(z) / h, mp.log1p(-upper)
    tiny = z < -40  # exp would take long, and the result is 0
    linear = [0, 0, 0] if tiny else [mp.exp(v) for v in (log_h, log_pdf, log_cdf)]
    return [z, log_h, slope, log_cdf] + [mp.mpf(v) for v in linear]


@table
def special():
    """The normal distribution and log h, at awkward numbers."""
    with mp.workdps(50):
        root = float(mp.findroot(lambda z: mp.npdf(z) + z * mp.ncdf(z) - 1, 0.9))
        eps = 2.0**-52
        points = [9.71, 8.0, 6.283, 5.017, 3.1415, 2.203, 1.618, 1.0, 0.9621, 0.9619]
        points += [0.94, 0.9, root + eps, root, root - eps, 0.8994, 0.87, 0.8369, 0.8367]
        points += [0.71, 0.333, 0.1237, 1e-8, 0.0, -1e-8, -0.0517, -0.27, -0.5, -0.7183]
        points += [-0.96, -1 + eps, -1.0, -1 - eps, -1.0371, -1.19, -1.4142, -1.731, -2.0]
        points += [-2.47, -2.9999, -3.69, -4.44, -5.0, -6.03, -7.7, -9.87, -9.9999, -10.0]
        points += [-12.34, -17.17, -24.9, -31.4, -36.6, -38.3, -43.21, -59.99, -60.01]
        points += [-99.9, -100.0, -101.3, -317.0, -1234.5, -1e4, -31622.7, -1.2345e5]
        points += [-7.7e6, -6.7e7, -1e8, -3.3e15, -1e150]
        write(
            "special",
            "phi, Phi, h = phi + z Phi, and log h with its derivative.",
            [
                (
                    "oracle_special",
                    "double z, log_h, log_h_slope, log_cdf, h, pdf, cdf;",
                    [special_row(z) for z in points],
                )
            ],
        )


@table
def exp():
    """exp at tiny arguments, at borders of the range reduction and at the far end."""
    with mp.workdps(50):
        borders = [float(-(k + mp.mpf("0.5")) * mp.log(2)) for k in (0, 1, 2, 3, 17, 511, 1020)]
        eps = 2.0**-52
        points = [0.0, -5e-324, -1e-300, -1e-17, -eps / 4, -eps, -3.1e-9, -0.0123, -0.1]
        points += [-0.25, -0.3141, -0.5, -float(mp.log(2)), -0.7183, -1.0, -1.7321, -2.5]
        for b in borders:
            points += [b * (1 - eps), b, b * (1 + eps)]
        points += [-5.5, -9.87, -13.7, -21.9, -36.7, -36.9, -77.7, -123.4, -333.3]
        points += [-500.0, -691.39306647494482, -700.1, -707.9, -708 + 2.0**-43, -708.0]
        rows = [[mp.mpf(x), mp.exp(mp.mpf(x))] for x in points]
        write("exp", "exp(x) for x in [-708, 0].", [("oracle_exp", "double x, exp;", rows)])


# ---- the bandit -------------------------------------------------------------------------


def exp3_gamma(n, rounds):
    return min(mp.mpf(1), mp.sqrt(n * mp.log(n) / ((mp.e - 1) * rounds)))


@table
def exp3():
    """EXP3 as in the paper's appendix B, with plain weights that are multiplied."""
    with mp.workdps(40):
        gammas = []
        for n in (1, 2, 3, 5, 17, 100, 1000):
            for horizon in (1, 7, 42, 43, 200, 100000):
                gammas.append([n, horizon, 0, exp3_gamma(n, mp.mpf(2 * horizon) / 3)])
            for played in (1, 2, 28, 29, 977):
                gammas.append([n, 0, played, exp3_gamma(n, played)])

        n, horizon = 5, 61
        gamma = exp3_gamma(n, mp.mpf(2 * horizon) / 3)
        arms = [3, 0, 3, 1, 4, 3, 3, 2, 0, 3, 1, 3]
        rewards = [0.731, -0.418, 0.977, 0.1234, -1.0, 0.55, 1.0, 0.313, 0.0, -0.271]
        rewards += [0.89, 0.643]
        weights, steps = [mp.mpf(1)] * n, []

        def probabilities():
            return [(1 - gamma) * w / sum(weights) + gamma / n for w in weights]

        for arm, reward in zip(arms, rewards):
            drawn = probabilities()[arm]
            weights[arm] *= mp.exp(gamma * mp.mpf(reward) / drawn / n)
            logs = [mp.log(w) for w in weights]
            steps.append([arm, mp.mpf(reward), drawn, logs, probabilities()])
        write(
            "exp3",
            "gamma, and a game of 5 arms with horizon 61: state after each step.",
            [
                ("oracle_gamma", "int arms, horizon, round; double gamma;", gammas),
                (
                    "oracle_exp3",
                    "int arm; double reward, drawn_p, log_w[5], p[5];",
                    steps,
                ),
            ],
        )


def main():
    names = sys.argv[1:] or list(TABLES)
    for name in names:
        if name not in TABLES:
            sys.exit(f"no table {name}; there are: {', '.join(TABLES)}")
        TABLES[name]()


if __name__ == "__main__":
    main()
