#!/usr/bin/env python3
"""Oracle values for the problems of the bench that learn from data.

    COCABO_DATA=DIR python3 tools/gen_oracles_learners.py    writes tests/oracle/learners.h

Support vectors are scikit-learn's, boosted trees the Python package's of XGBoost (1.7, as
the library's; its dart is run as such, so it takes minutes), densities mpmath's. The network
with dropout is written here from its definition, for whole batches, with a Philox of its
own. Splits are drawn here too. Needs numpy, mpmath, scikit-learn, xgboost and the data; the
tests only need the committed result, and the data where values are those of the data.
"""

import gzip
import itertools
import math
import os
import pathlib

import mpmath as mp
import numpy as np
import xgboost
from sklearn.svm import NuSVR

mp.mp.dps = 30
ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ["COCABO_DATA"])
BOSTON, MNIST, YACHT, NETWORK = 9, 10, 11, 12  # streams


class Philox:
    """Philox4x32-10 of a seed: the stream (purpose 100, number stream << 32 | low)."""

    def __init__(self, stream, low, seed=0):
        self.counter, self.key, self.words = [0, 100, low, stream], seed, []

    def word(self):
        if not self.words:
            c, k = list(self.counter), [self.key % 2**32, self.key >> 32]
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

    def uniforms(self, n):
        return np.array([self.uniform() for _ in range(n)])

    def below(self, n):
        while True:
            product = self.word() * n
            if product % 2**32 >= 2**32 % n:
                return product >> 32

    def shuffle(self, items):
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


# ---- tables of numbers -------------------------------------------------------------------


def made_up(n, d):
    """Numbers of the minimal standard generator, and a target that they explain."""
    state, X = 20201, np.empty((n, d))
    for i, j in itertools.product(range(n), range(d)):
        state = state * 48271 % 2147483647
        X[i, j] = state / 2147483647
    y = 3 * X[:, 0] - 2 * X[:, 1] * X[:, 2] + X[:, 3] * X[:, 3]
    return X, y


def split(X, y, fraction, stream):
    order, n_test = list(range(len(y))), math.ceil(fraction * len(y))
    Philox(stream, 0).shuffle(order)
    test, train = order[:n_test], order[n_test:]
    return X[train], y[train], X[test], y[test]


def to_unit(X, Xt):
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / (high - low), (Xt - low) / (high - low)


def standardise(X, Xt):
    return (X - X.mean(axis=0)) / X.std(axis=0), (Xt - X.mean(axis=0)) / X.std(axis=0)


def read(path, delimiter):
    table = np.loadtxt(DATA / path, delimiter=delimiter, skiprows=2)
    return table[:, :-1], table[:, -1]


# ---- support vectors ---------------------------------------------------------------------

SHOWN = 12  # predictions of each
KERNELS = ["linear", "poly", "rbf", "sigmoid"]
SVM_SETTINGS = [  # kernel, gamma, shrinking, C, tolerance, nu
    ("linear", "scale", True, 0.731, 1e-6, 0.413),
    ("linear", "auto", False, 3.17, 1e-5, 0.762),
    ("poly", "scale", True, 0.913, 1e-6, 0.347),
    ("poly", "auto", False, 7.93, 1e-6, 0.618),
    ("poly", "scale", False, 2.29, 1e-4, 0.871),
    ("rbf", "scale", True, 8.47, 1e-6, 0.287),
    ("rbf", "auto", False, 5.31, 1e-6, 0.529),
    ("rbf", "scale", False, 0.153, 1e-3, 0.943),
    ("sigmoid", "auto", True, 1.37, 1e-6, 0.451),
    ("sigmoid", "auto", False, 0.239, 1e-5, 0.687),
]


def svm_rows(name, X, y, Xt, yt):
    for kernel, gamma, shrinking, C, tolerance, nu in SVM_SETTINGS:
        if name == "made up":
            tolerance = 1e-11  # so that another path leads to the same predictions
        model = NuSVR(kernel=kernel, gamma=gamma, shrinking=shrinking, C=C, nu=nu,
                      tol=tolerance).fit(X, y)
        said = model.predict(Xt)
        number = 1 / (X.shape[1] * (X.var() if gamma == "scale" else 1))
        yield (name, KERNELS.index(kernel), gamma, number, shrinking, C, tolerance, nu,
               -np.mean((said - yt) ** 2), said[:SHOWN])


# ---- boosted trees -----------------------------------------------------------------------

BOOST_SETTINGS = [  # booster, grow_policy, objective, eta, depth, gamma, subsample, lambda
    ("gbtree", "lossguide", "softmax", 0.213, 7, 0.319, 0.613, 1.37),
    ("gbtree", "depthwise", "softprob", 0.457, 3, 1.21, 0.871, 3.29),
    ("dart", "depthwise", "softmax", 0.337, 4, 0.173, 1.0, 0.719),
]
BOOST_SEED, BOOST_BINS, BOOST_FRACTION = 11, 16, 0.02


def mnist(fraction):
    def part(name):
        images = gzip.decompress((DATA / f"mnist/{name}-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((DATA / f"mnist/{name}-labels-idx1-ubyte.gz").read_bytes())
        return (np.frombuffer(images, np.uint8)[16:].reshape(-1, 784),
                np.frombuffer(labels, np.uint8)[8:])

    X, y = map(np.concatenate, zip(part("train"), part("t10k")))
    train, test = [], []
    for digit in range(10):
        numbers = np.flatnonzero(y == digit).tolist()
        Philox(MNIST, digit).shuffle(numbers)
        taken = math.floor(fraction * len(numbers) + 0.5)
        learnt = math.floor(0.7 * taken + 0.5)
        train += numbers[:learnt]
        test += numbers[learnt:taken]
    return X[train], y[train], X[test], y[test]


def boost_rows():
    X, y, Xt, yt = mnist(BOOST_FRACTION)
    yield len(y), len(yt)
    for booster, policy, objective, eta, depth, gamma, subsample, lam in BOOST_SETTINGS:
        settings = {"booster": booster, "grow_policy": policy, "eta": eta, "gamma": gamma,
                    "objective": f"multi:{objective}", "max_depth": depth, "lambda": lam,
                    "subsample": subsample, "num_class": 10, "tree_method": "hist",
                    "max_bin": BOOST_BINS, "seed": BOOST_SEED, "nthread": 1}
        model = xgboost.train(settings, xgboost.DMatrix(X, y), 100)
        said = model.predict(xgboost.DMatrix(Xt))
        if objective == "softprob":
            said = said.argmax(axis=1)
        yield (booster, policy, objective, eta, depth, gamma, subsample, lam,
               int(np.sum(said == yt)))


# ---- the network with dropout ------------------------------------------------------------

ACTIVATIONS = ["relu", "tanh", "sigmoid"]
OPTIMISERS = ["sgd", "adam", "rmsprop", "adagrad"]
ACT = {"relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0).astype(float)),
       "tanh": (np.tanh, lambda z: 1 / np.cosh(z) ** 2),
       "sigmoid": (lambda z: 1 / (1 + np.exp(-z)),
                   lambda z: np.exp(-z) / (1 + np.exp(-z)) ** 2)}


class Optimiser:
    def __init__(self, kind, rate):
        self.kind, self.rate, self.t, self.m, self.v = kind, rate, 0, 0.0, 0.0

    def step(self, g):
        self.t += 1
        if self.kind == "sgd":
            return -self.rate * g
        if self.kind == "adam":
            self.m = 0.9 * self.m + 0.1 * g
            self.v = 0.999 * self.v + 0.001 * g**2
            m, v = self.m / (1 - 0.9**self.t), self.v / (1 - 0.999**self.t)
            return -self.rate * m / (np.sqrt(v) + 1e-7)
        self.v = (0.9 * self.v + 0.1 * g**2) if self.kind == "rmsprop" else self.v + g**2
        return -self.rate * g / (np.sqrt(self.v) + 1e-7)


def masks(philox, n, d, hidden, p):
    """For each row those of its inputs, then those of its hidden units."""
    drawn = (philox.uniforms(n * (d + hidden)).reshape(n, -1) >= p) / (1 - p)
    return drawn[:, :d], drawn[:, d:]


def log_density(said, y, variance):
    terms = [mp.exp(-(mp.mpf(s) - mp.mpf(y)) ** 2 / (2 * mp.mpf(variance))) for s in said]
    return mp.log(mp.fsum(terms) / len(terms)) - mp.log(2 * mp.pi * mp.mpf(variance)) / 2


def train_and_test(case, X, y, Xt, yt):
    activation, optimiser, p, rate, hidden, variance, seed = case
    act, slope = ACT[activation]
    d = X.shape[1]
    start = Philox(NETWORK, 0, seed)

    def draw(n, fan_in, fan_out):
        fan = fan_in if activation == "relu" else fan_in + fan_out
        return math.sqrt(6 / fan) * (2 * start.uniforms(n) - 1)

    weights = [draw(d * hidden, d, hidden).reshape(d, hidden), np.zeros(hidden),
               draw(hidden, hidden, 1), np.zeros(1)]
    optimisers = [Optimiser(optimiser, rate) for _ in weights]
    order, shuffler = list(range(len(y))), Philox(NETWORK, 1, seed)
    philox = Philox(NETWORK, 2, seed)
    for _ in range(20):
        shuffler.shuffle(order)
        for first in range(0, len(y), 128):
            batch = order[first:first + 128]
            mx, mh = masks(philox, len(batch), d, hidden, p)
            W, b, w, c = weights
            inputs = X[batch] * mx
            Z = inputs @ W + b
            delta = 2 * ((act(Z) * mh) @ w + c - y[batch]) / len(batch)
            back = np.outer(delta, w) * mh * slope(Z)
            gradient = [inputs.T @ back, back.sum(axis=0), (act(Z) * mh).T @ delta,
                        np.array([delta.sum()])]
            weights = [v + o.step(g) for v, o, g in zip(weights, optimisers, gradient)]
    W, b, w, c = weights
    philox, total = Philox(NETWORK, 3, seed), mp.mpf(0)
    for x, target in zip(Xt, yt):
        mx, mh = masks(philox, 100, d, hidden, p)
        said = (act((x * mx) @ W + b) * mh) @ w + c
        total += log_density(said, target, variance)
    return total / len(yt)


NETWORK_CASES = [  # activation, optimiser, dropout, rate, hidden, variance, seed
    (a, o, p, rate, hidden, v, seed)
    for (a, o), (p, rate, hidden, v, seed) in zip(
        itertools.product(ACTIVATIONS, OPTIMISERS),
        itertools.cycle([(0.1, 0.0613, 19, 0.271, 3), (0.05, 0.0117, 16, 0.613, 8),
                         (0.5, 0.00371, 23, 0.437, 2**33 + 5), (0.01, 0.0291, 17, 0.719, 0),
                         (0.005, 0.0837, 18, 0.353, 1)]))]
YACHT_CASES = [("relu", "rmsprop", 0.01, 0.0173, 21, 0.231, 6),
               ("tanh", "adam", 0.1, 0.0419, 33, 0.379, 0)]


def network_rows():
    X, y = made_up(160, 4)
    X, y, Xt, yt = X[6:], y[6:], X[:6], y[:6]
    for case in NETWORK_CASES:
        yield ("made up", *case, train_and_test(case, X, y, Xt, yt))
    X, y, Xt, yt = split(*read("yacht/yacht_hydrodynamics.data", None), 0.1, YACHT)
    (X, Xt), (z, zt) = standardise(X, Xt), standardise(y, yt)
    for case in YACHT_CASES:
        value = train_and_test(case, X, z, Xt, zt) - mp.log(mp.mpf(y.std()))
        yield ("yacht", *case, value)


def step_rows():
    """Three steps of each optimiser from the same weights along the same gradients."""
    gradients = np.array([[0.731, -0.0213, 1.9e-5], [-0.117, 0.391, 2.3e-4],
                          [0.0457, 0.283, -6.1e-6]])
    for kind in OPTIMISERS:
        optimiser, w = Optimiser(kind, 0.0371), np.array([0.217, -1.31, 0.0593])
        for g in gradients:
            w = w + optimiser.step(g)
        yield kind, w


def density_rows():
    for said, y, variance in (([0.31], 0.17, 0.43), ([0.31, -1.7, 0.92], 0.55, 0.213),
                              ([250.0, 251.5, 300.0], -3.7, 0.2), ([1e8, -3e8], 0.3, 0.8),
                              ([0.4, 0.4, 0.4], 0.4, 0.61)):
        yield said, y, variance, log_density(said, y, variance)


# ---- the header --------------------------------------------------------------------------


def number(value):
    return repr(float(value))


def numbers(values):
    return "{" + ", ".join(map(number, values)) + "}"


def svm_lines():
    X, y = made_up(120, 5)
    boston = split(*read("boston/boston_house_prices.csv", ","), 0.3, BOSTON)
    boston = (*to_unit(boston[0], boston[2]), boston[1], boston[3])
    sets = [("made up", X[20:], y[20:], X[:20], y[:20]),
            ("boston", boston[0], boston[2], boston[1], boston[3])]
    yield f"enum {{ ORACLE_SHOWN = {SHOWN} }};"
    yield "/* value: minus the mean squared error; said: the first predictions. */"
    yield ("static const struct { const char *data; int kernel; const char *gamma_rule; "
           "double gamma; int shrinking; double C, tolerance, nu, value, "
           "said[ORACLE_SHOWN]; }")
    yield "oracle_svm[] = {"
    for rows in sets:
        for name, kernel, rule, gamma, shrinking, C, tol, nu, value, said in svm_rows(*rows):
            yield (f'    {{"{name}", {kernel}, "{rule}", {number(gamma)}, {int(shrinking)}, '
                   f"{C}, {tol}, {nu}, {number(value)}, {numbers(said)}}},")
    yield "};"


def boost_lines():
    rows = boost_rows()
    train, test = next(rows)
    yield (f"enum {{ ORACLE_BOOST_TRAIN = {train}, ORACLE_BOOST_TEST = {test}, "
           f"ORACLE_BOOST_BINS = {BOOST_BINS}, ORACLE_BOOST_SEED = {BOOST_SEED} }};")
    yield f"static const double oracle_boost_fraction = {BOOST_FRACTION};"
    yield ("static const struct { const char *booster, *policy, *objective; double eta; "
           "int max_depth; double gamma, subsample, lambda; int right; }")
    yield "oracle_boost[] = {"
    for booster, policy, objective, eta, depth, gamma, subsample, lam, right in rows:
        yield (f'    {{"{booster}", "{policy}", "{objective}", {eta}, {depth}, {gamma}, '
               f"{subsample}, {lam}, {right}}},")
    yield "};"


def network_lines():
    yield ("static const struct { const char *data; int activation, optimiser; "
           "double dropout, rate; int hidden; double variance; unsigned long long seed; "
           "double value; }")
    yield "oracle_network[] = {"
    for data, a, o, p, rate, hidden, variance, seed, value in network_rows():
        yield (f'    {{"{data}", {ACTIVATIONS.index(a)}, {OPTIMISERS.index(o)}, {p}, {rate}, '
               f"{hidden}, {variance}, {seed}ull, {number(value)}}},")
    yield "};"
    yield "static const struct { int optimiser; double weights[3]; } oracle_steps[] = {"
    for kind, weights in step_rows():
        yield f"    {{{OPTIMISERS.index(kind)}, {numbers(weights)}}},"
    yield "};"
    yield ("static const struct { int n; double said[3], y, variance, value; } "
           "oracle_densities[] = {")
    for said, y, variance, value in density_rows():
        yield (f"    {{{len(said)}, {numbers(said)}, {number(y)}, {number(variance)}, "
               f"{number(value)}}},")
    yield "};"


def main():
    lines = ["/* learners.h - what other software learns and predicts.",
             " * Made by tools/gen_oracles_learners.py; do not edit. */",
             "/* clang-format off */", "#ifndef CB_TESTS_ORACLE_LEARNERS_H",
             "#define CB_TESTS_ORACLE_LEARNERS_H", "", *svm_lines(), "", *boost_lines(), "",
             *network_lines(), "", "#endif", ""]
    (ROOT / "tests" / "oracle" / "learners.h").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
