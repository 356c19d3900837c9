#!/usr/bin/env python3
"""Oracle values for the bounded minimiser, found with scipy's L-BFGS-B.

    python3 tools/gen_oracles_minimise.py        writes tests/oracle/minimise.h

Two tables: test functions inside boxes, and likelihoods times priors of small data sets.
Both are written from their definitions, not from our code. Gradients are analytic for
the functions and central differences for the likelihoods. Needs numpy and scipy; the
tests only need the committed result.
"""

import math
import pathlib

import numpy as np
from scipy.optimize import minimize

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_N = 12


# ---- functions: value and gradient ---------------------------------------------------


def rosenbrock(x):
    a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    g = np.zeros_like(x)
    g[:-1] += -400 * a * x[:-1] - 2 * b
    g[1:] += 200 * a
    return float(np.sum(100 * a**2 + b**2)), g


def powell(x):
    f, g = 0.0, np.zeros_like(x)
    for i in range(0, len(x), 4):
        a, b, c, d = x[i : i + 4]
        p, q, r, s = a + 10 * b, c - d, b - 2 * c, a - d
        f += p**2 + 5 * q**2 + r**4 + 10 * s**4
        g[i : i + 4] = [
            2 * p + 40 * s**3,
            20 * p + 4 * r**3,
            10 * q - 8 * r**3,
            -10 * q - 40 * s**3,
        ]
    return float(f), g


def quadratic(condition):
    """1/2 (x - m)' A (x - m), A = R diag(1 .. condition) R, R a reflection."""

    def f(x):
        n = len(x)
        i = np.arange(n)
        v, d = 1.0 + i % 3, condition ** (i / (n - 1))
        e = x - np.where(i % 2 == 0, 1.5, -0.7)
        r = e - 2 * v * (v @ e) / (v @ v)
        g = d * r
        return float(0.5 * r @ g), g - 2 * v * (v @ g) / (v @ v)

    return f


def beale(x):
    f, g = 0.0, np.zeros(2)
    for k, c in enumerate([1.5, 2.25, 2.625], 1):
        e = c - x[0] * (1 - x[1] ** k)
        f += e**2
        g += 2 * e * np.array([x[1] ** k - 1, x[0] * k * x[1] ** (k - 1)])
    return float(f), g


def wood(x):
    a, b, c, d = x
    p, q = b - a**2, d - c**2
    f = 100 * p**2 + (1 - a) ** 2 + 90 * q**2 + (1 - c) ** 2
    f += 10.1 * ((b - 1) ** 2 + (d - 1) ** 2) + 19.8 * (b - 1) * (d - 1)
    return float(f), np.array([
        -400 * p * a - 2 * (1 - a),
        200 * p + 20.2 * (b - 1) + 19.8 * (d - 1),
        -360 * q * c - 2 * (1 - c),
        180 * q + 20.2 * (d - 1) + 19.8 * (b - 1),
    ])


def brown(x):
    p, q, r = x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2
    return float(p**2 + q**2 + r**2), np.array([2 * p + 2 * r * x[1], 2 * q + 2 * r * x[0]])


def hs45(x):
    prod = float(np.prod(x)) / 120
    rest = [float(np.prod(np.delete(x, i))) for i in range(len(x))]
    return 2 - prod, -np.array(rest) / 120


# name in C, function, lower, upper, start
PROBLEMS = [
    ("rosenbrock", rosenbrock, [-2] * 2, [2] * 2, [-1.2, 1]),
    ("rosenbrock", rosenbrock, [-2] * 2, [0.5, 2], [7, -9]),
    ("rosenbrock", rosenbrock, [-2] * 10, [2] * 10, [-1.2, 1] * 5),
    ("rosenbrock", rosenbrock, [-2] * 10, [2, 0.4] + [2] * 8, [-0.7, 0.1] * 5),
    ("powell", powell, [-4] * 4, [5] * 4, [3, -1, 0, 1]),
    ("powell", powell, [-4] * 8, [5] * 8, [3, -1, 0, 1] * 2),
    ("powell", powell, [0.3, -4, -4, -4], [5] * 4, [3, -1, 0, 1]),
    ("quadratic_1", quadratic(1.0), [-1] * 12, [1] * 12, [0.25] * 12),
    ("quadratic_1e2", quadratic(1e2), [-1] * 12, [1] * 12, [0.25] * 12),
    ("quadratic_1e4", quadratic(1e4), [-1] * 12, [1] * 12, [0.25] * 12),
    ("quadratic_1e6", quadratic(1e6), [-1] * 12, [1] * 12, [0.25] * 12),
    ("beale", beale, [-4.5] * 2, [4.5] * 2, [1, 1]),
    ("beale", beale, [-4.5] * 2, [2.2, 4.5], [1, 1]),
    ("wood", wood, [-10] * 4, [10] * 4, [-3, -1, -3, -1]),
    ("wood", wood, [-10] * 4, [0.6, 10, 10, 10], [-3, -1, -3, -1]),
    ("brown", brown, [0, 0], [1e7, 1e7], [1, 1]),
    ("hs45", hs45, [0] * 5, [1, 2, 3, 4, 5], [2] * 5),
]


def solve(f, lower, upper, start):
    """The best of runs that go on from where the last one stopped."""
    x, first = np.clip(np.array(start, float), lower, upper), None
    for _ in range(20):
        r = minimize(f, x, jac=True, method="L-BFGS-B", bounds=list(zip(lower, upper)),
                     options=dict(ftol=1e-15, gtol=1e-10, maxfun=5000, maxiter=5000))
        first = first or r.nfev
        x = r.x
    return r.fun, first


# ---- likelihoods ---------------------------------------------------------------------


def matern(x, scales):
    r2 = np.sum(((x[:, None, :] - x[None, :, :]) / scales) ** 2, axis=2)
    s = np.sqrt(5 * r2)
    return (1 + s + s * s / 3) * np.exp(-s)


class Data:
    """d inputs of [-1,1], n points of a Halton sequence; a category where c is 1."""

    def __init__(self, name, d, c, n, f):
        self.name, self.d, self.c, self.n = name, d, c, n
        halton = lambda i, b: 0 if i == 0 else (i % b + halton(i // b, b)) / b
        bases = [2, 3, 5, 7, 11, 13]
        self.x = np.array([[round(2 * halton(i + 1, bases[j]) - 1, 6) for j in range(d)]
                           for i in range(n)])
        self.h = np.array([(i * 7) % 3 for i in range(n)])
        self.y = np.array([round(f(x, h), 6) for x, h in zip(self.x, self.h)])
        # log l_1 .. l_d, [log t], [log w_h], log w_x, [log w_p], log noise
        l, w = 0.5 * math.sqrt(d), (1e-4, 20, 0.5, 0.5, 1.5)
        rows = [(0.01, 20, l, l, 1.0)] * d
        rows += [(1e-3, 10, 1, 1, 1.0), w, w, w] if c else [w]
        rows += [(1e-8, 1e-4, 1e-5, 1e-6, 2.0)]
        self.lower, self.upper, self.start, self.mean = (
            np.log([row[k] for row in rows]) for k in range(4))
        self.sd = np.array([row[4] for row in rows])

    def value(self, theta):
        t = np.exp(theta)
        kx, k = matern(self.x, t[: self.d]), 0
        if self.c:
            kh = np.where(self.h[:, None] == self.h[None, :], 1.0, np.exp(-t[self.d]))
            wh, wx, wp = t[self.d + 1 : self.d + 4]
            k = wh * kh + wx * kx + wp * kh * kx
        else:
            k = t[self.d] * kx
        y = (self.y - self.y.mean()) / self.y.std()
        u = np.linalg.cholesky(k + t[-1] * np.eye(self.n))
        z = np.linalg.solve(u, y)
        prior = 0.5 * np.sum(((theta - self.mean) / self.sd) ** 2)
        return (0.5 * z @ z + np.sum(np.log(np.diag(u)))
                + 0.5 * self.n * math.log(2 * math.pi) + prior)

    def value_and_gradient(self, theta):
        g, step = np.zeros(len(theta)), 1e-5
        for i in range(len(theta)):
            e = step * np.eye(len(theta))[i]
            g[i] = (self.value(theta + e) - self.value(theta - e)) / (2 * step)
        return self.value(theta), g

    def fit(self):
        r = minimize(self.value_and_gradient, self.start, jac=True, method="L-BFGS-B",
                     bounds=list(zip(self.lower, self.upper)),
                     options=dict(ftol=1e-14, gtol=1e-7, maxfun=3000))
        return -r.fun, r.x


DATA = [
    Data("waves", 2, 0, 24, lambda x, h: math.sin(3 * x[0]) + 0.4 * math.cos(5 * x[1])),
    Data("one input of four matters", 4, 0, 28, lambda x, h: math.exp(x[2]) + 0.01 * x[0]),
    Data("a category shifts and bends", 2, 1, 30,
         lambda x, h: (1 + h) * math.sin(2 * x[0]) + 0.7 * h + 0.3 * x[1] ** 2),
]


# ---- the header ----------------------------------------------------------------------

row = lambda values: "{" + ", ".join(repr(float(v)) for v in values) + "}"


def main():
    out = ["/* minimise.h - made by tools/gen_oracles_minimise.py with scipy; do not edit. */",
           "/* clang-format off */",
           "static const struct minimise_oracle {",
           "  const char *name;",
           "  cb_objective f;",
           "  int n;",
           f"  double lower[{MAX_N}], upper[{MAX_N}], start[{MAX_N}];",
           "  double value;    /* at the minimum */",
           "  int evaluations; /* that scipy took */",
           "} minimise_oracles[] = {"]
    for name, f, lower, upper, start in PROBLEMS:
        value, evaluations = solve(f, lower, upper, start)
        print(f"{name:14} {len(start):3} {value:.17g} {evaluations}")
        out += [f'    {{.name = "{name}", .f = {name}, .n = {len(start)},',
                f"     .lower = {row(lower)}, .upper = {row(upper)},",
                f"     .start = {row(start)},",
                f"     .value = {value!r}, .evaluations = {evaluations}}},"]
    out += ["};", "",
            "static const struct fit_oracle {",
            "  const char *name;",
            "  int d, c, n, n_theta;",
            "  double x[128], y[32]; /* d x n, n */",
            "  int32_t h[32];        /* c x n */",
            "  double theta[8], value;",
            "} fit_oracles[] = {"]
    for data in DATA:
        value, theta = data.fit()
        print(f"{data.name:30} {value:.12g} {np.exp(theta)}")
        out += [f'    {{.name = "{data.name}", .d = {data.d}, .c = {data.c}, .n = {data.n},',
                f"     .n_theta = {len(theta)},",
                f"     .x = {row(data.x.ravel())},",
                f"     .y = {row(data.y)},",
                "     .h = {" + ", ".join(str(h) for h in (data.h if data.c else [0])) + "},",
                f"     .theta = {row(theta)}, .value = {float(value)!r}}},"]
    out += ["};", ""]
    (ROOT / "tests/oracle/minimise.h").write_text("\n".join(out))


main()
