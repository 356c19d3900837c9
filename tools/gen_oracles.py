#!/usr/bin/env python3
"""Writes the oracle tables of the tests, tests/oracle/*.h, which are committed.

    tools/gen_oracles.py [TABLE ...]     all tables, or the named ones

Needs mpmath. One function makes one table, from the definitions, in many digits and by
other formulas than the library's where there are any. A table is a list of rows;
`write` turns it into an array of structs. To add a table, write a function, decorate it
with @table, and include tests/oracle/<its name>.h in the test.
"""

import math
import os
import random
import sys

import mpmath as mp

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "oracle")
TABLES = {}


def table(make):
    """Registers a function that writes tests/oracle/<its name>.h."""
    TABLES[make.__name__] = make
    return make


def literal(value):
    """A C literal: 20 significant digits, 0 for what a double cannot hold; text as it is."""
    if isinstance(value, str):
        return value
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


def near(*centres):
    """The numbers, both neighbours of each, and some at growing distance."""
    points = []
    for c in centres:
        points += [math.nextafter(c, -math.inf), c, math.nextafter(c, math.inf)]
        points += [c * (1 + sign * 2.0**-k) for k in (40, 25, 9) for sign in (-1, 1)]
    return points


def maths_rows(f, points):
    """Arguments in hexadecimal, the value rounded, and what rounding took off."""
    rows = []
    for p in points:
        p = p if isinstance(p, tuple) else (p,)
        value = f(*[mp.mpf(x) for x in p])
        high = float(value)
        rows.append([x.hex() for x in p] + [high.hex(), float(value - mp.mpf(high)).hex()])
    return rows


@table
def maths():
    """Elementary functions where they are hard, where their formulas change, and all over."""
    draw = random.Random(13).uniform
    tiny = [sign * 2.0**-k for k in (1074, 1030, 70, 54, 53, 52, 30, 12) for sign in (1, -1)]
    with mp.workdps(60):
        ln2 = mp.log(2)
        exp_at = [0.0] + tiny + near(*[float((k + mp.mpf(1) / 2) * ln2) for k in
                                       (-1073, -1022, -512, -17, -1, 0, 1, 22, 511, 1020)])
        exp_at += [709.782712893383, 709.1, -708.3964185322641, -708.4, -720.5]
        exp_at += [-744.4400719213812, -745.13321910194110, 96.69472848106591, 572.8973303990026]
        exp_at += [draw(-1, 1) for _ in range(60)] + [draw(-745, 709) for _ in range(60)]
        roots = near(math.sqrt(0.5), math.sqrt(2.0))
        log_at = near(1.0, 0.5, 2.0, 4.0) + roots + [5e-324, 3.3e-320, 2.2250738585072014e-308]
        log_at += [1.7976931348623157e308, 1e-4, 3.0, 0.2, 10.0, 1.4110012218646646]
        log_at += [0.7060889990495539] + [draw(0.5, 1.5) for _ in range(80)]
        log_at += [math.ldexp(draw(1, 2), int(draw(-1074, 1024))) for _ in range(60)]
        log1p_at = tiny + [x - 1 for x in roots] + near(1.0, 3.0, -0.5, -0.25, 2.0**53)
        log1p_at += [-1 + 2.0**-53, -1 + 2.0**-30, 1e300, -0.29471747403489623]
        log1p_at += [draw(-1, 0.5) for _ in range(80)] + [2 ** draw(-50, 80) for _ in range(60)]
        erfc_at = [0.0] + tiny + near(0.46875, -0.46875, 0.5, 1.0, 4.0, 26.5)
        erfc_at += [26.54, 26.7, 27.2, 27.226, -5.9, -6.5, 13.917739369355626, 0.5499755389602388]
        erfc_at += [draw(-1, 1) for _ in range(60)] + [draw(0.4, 3) for _ in range(60)]
        erfc_at += [draw(-6, 27) for _ in range(60)]
        turns_at = tiny + [k / 8 for k in range(-9, 10) if k % 4 != 2]
        turns_at += near(*[k / 8 for k in range(1, 9) if k % 4 != 2]) + [0.25 + 2.0**-54]
        turns_at += [0.25 - 2.0**-54, 0.75 + 2.0**-53, 0.5 - 2.0**-53, 1 - 2.0**-53, 1e15 + 0.375]
        turns_at += [724666.3301262483, 0.6667047500387254, 0.3807790355075517, -3.1, 2.0**60]
        turns_at += [draw(0, 1) for _ in range(120)]
        hypot_at = [(0.0, 3.3), (3.0, 4.0), (-5.0, 12.0), (1e-320, 1e-321), (5e-324, 0.0)]
        hypot_at += [(1.2e308, 1.1e308), (1e200, 1e-200), (1.0, 2.0**-27), (1.0, 2.0**-26)]
        hypot_at += [(draw(0, 1), draw(0, 1)) for _ in range(60)]
        hypot_at += [(2 ** draw(-900, 900) * 1.5, 2 ** draw(-9, 9)) for _ in range(20)]
        fields = "double x, high, low;"
        write(
            "maths",
            "elementary functions: arguments, value rounded, and the rest of it.",
            [
                ("oracle_exp_all", fields, maths_rows(mp.exp, exp_at)),
                ("oracle_log", fields, maths_rows(mp.log, log_at)),
                ("oracle_log1p", fields, maths_rows(mp.log1p, log1p_at)),
                ("oracle_erfc", fields, maths_rows(mp.erfc, erfc_at)),
                ("oracle_cos_turns", fields, maths_rows(lambda u: mp.cospi(2 * u), turns_at)),
                ("oracle_hypot", "double x, y, high, low;", maths_rows(mp.hypot, hypot_at)),
            ],
        )


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


def exp3m_gamma(n, b, rounds):
    if b >= n:  # b steps of EXP3 a round
        return exp3_gamma(n, b * rounds)
    return min(mp.mpf(1), mp.sqrt(n * mp.log(mp.mpf(n) / b) / ((mp.e - 1) * b * rounds)))


def cap_by_bisection(weights, share):
    """The alpha where alpha / sum(min(w, alpha)) is `share`; None where no w exceeds it."""
    if max(weights) < share * sum(weights):
        return None
    low, high = mp.log(min(weights)) - 10, mp.log(max(weights))
    for _ in range(400):
        middle = (low + high) / 2
        alpha = mp.exp(middle)
        if alpha < share * sum(min(w, alpha) for w in weights):
            low = middle
        else:
            high = middle
    return mp.exp(high)


def exp3m_probabilities(weights, b, gamma):
    """p and the capped set, from plain weights and the alpha of Uchiya et al."""
    n = len(weights)
    alpha = None
    if gamma < 1:
        alpha = cap_by_bisection(weights, (mp.mpf(1) / b - gamma / n) / (1 - gamma))
    tiny = mp.mpf(10) ** -50
    capped = [alpha is not None and w >= alpha * (1 - tiny) for w in weights]
    level = [alpha if c else w for w, c in zip(weights, capped)]
    p = [b * ((1 - gamma) * w / sum(level) + gamma / n) for w in level]
    return p, [int(c) for c in capped]


def exp3m_cases():
    """Nothing, something and all but one to cap; ties; weights that no double holds."""
    log_weights = [
        [0.0] * 7,
        [0.31, -0.72, 1.13, 0.05, -1.4, 0.66, 0.2],
        [2.9, 2.7, -0.3, 0.4, -1.1, 0.0, -2.2],
        [5.5, -0.25, 5.5, 0.125, 5.5, -0.75, 0.5],
        [-3.1, 7.7, 15.2, 22.4, 31.9, 1.3, -0.6],
        [900.25, 0.5, -1250.5, 0.75, 1800.0, -0.5, 0.125],
        [-5000.0, -5001.5, -5000.25, -5003.0, -4100.0, -5002.0, -5000.75],
    ]
    rows = []
    for logs in log_weights:
        for b in (2, 5, 6):
            for gamma in (0.03125, 0.375, 1.0):
                weights = [mp.exp(mp.mpf(v)) for v in logs]
                p, capped = exp3m_probabilities(weights, b, mp.mpf(gamma))
                rows.append([b, mp.mpf(gamma), [mp.mpf(v) for v in logs], p, capped])
    return rows


def exp3m_game():
    """6 arms, 3 a round, horizon 12: weights and probabilities after each round."""
    n, b = 6, 3
    gamma = exp3m_gamma(n, b, mp.mpf(2 * 12) / 3)
    plays = [[0, 3, 4], [5, 3, 1], [3, 2, 0], [4, 3, 5], [3, 1, 2], [0, 3, 5], [2, 4, 3]]
    rewards = [[0.113, 0.971, 0.42], [0.25, 1.0, 0.0], [0.93, 0.31, 0.575]]
    rewards += [[0.718, 0.99, 0.125], [0.87, 0.05, 0.443], [0.61, 0.75, 0.29]]
    rewards += [[0.3, 0.82, 0.97]]
    logs = [0.3, -0.2, 0.0, 1.45, 0.5, -0.7]
    weights, rows = [mp.exp(mp.mpf(v)) for v in logs], []
    for arms, paid in zip(plays, rewards):
        p, capped = exp3m_probabilities(weights, b, gamma)
        for arm, reward in zip(arms, paid):
            if not capped[arm]:
                weights[arm] *= mp.exp(b * gamma * mp.mpf(reward) / p[arm] / n)
        logs = [mp.log(w) for w in weights]
        after, capped_after = exp3m_probabilities(weights, b, gamma)
        rows.append([arms, [mp.mpf(r) for r in paid], logs, after, capped_after])
    return rows


@table
def exp3m():
    """EXP3.M with plain weights, capped at an alpha that bisection finds."""
    with mp.workdps(80):
        gammas = []
        for n in (1, 2, 3, 5, 17, 1000):
            for b in (2, 3, 4, 16):
                for horizon in (1, 80, 977):
                    gammas.append([n, b, horizon, 0, exp3m_gamma(n, b, mp.mpf(2 * horizon) / 3)])
                gammas.append([n, b, 0, 61, exp3m_gamma(n, b, mp.mpf(61))])
        write(
            "exp3m",
            "gamma of batches, probabilities of 7 arms, a game of 6 arms with b = 3.",
            [
                ("oracle_gamma_of_b", "int arms, b, horizon, round; double gamma;", gammas),
                (
                    "oracle_exp3m",
                    "int b; double gamma, log_w[7], p[7]; int capped[7];",
                    exp3m_cases(),
                ),
                (
                    "oracle_exp3m_game",
                    "int arms[3]; double rewards[3], log_w[6], p[6]; int capped[6];",
                    exp3m_game(),
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
