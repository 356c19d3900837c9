#!/usr/bin/env python3
"""Oracle values for the fit and the predictive density of the one-hot model.

    python3 tools/gen_oracles_onehot.py        writes tests/oracle/onehot.h

Computed with scikit-learn: categories are written out as blocks of 0/1 inputs, the
hyper-parameters maximise the likelihood inside the bounds of ours (length scale in
[1e-4, 3], variance in [0.01, 100], noise in [1e-6, 1]) from 40 starts, and the density is
that of the test points with the noise. Needs numpy and scikit-learn; the tests only need
the committed result.
"""

import pathlib
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

ROOT = pathlib.Path(__file__).resolve().parent.parent
D, ARMS, TRAIN, TEST = 2, (3, 4), 40, 12


def values(x, h):
    """Smooth in x, with an effect of the categories and one of both together."""
    return (np.sin(2.3 * x[:, 0] + 0.7 * h[:, 0]) + 0.6 * x[:, 1] * (h[:, 1] - 1.4)
            + 0.35 * np.cos(1.9 * h[:, 0] * h[:, 1]))


def inputs(x, h):
    return np.hstack([x] + [np.eye(n)[h[:, j]] for j, n in enumerate(ARMS)])


def density(model, X, y):
    mean, sd = model.predict(X, return_std=True)  # with the noise
    return float(np.sum(-0.5 * np.log(2 * np.pi) - np.log(sd) - 0.5 * ((y - mean) / sd) ** 2))


def row(vs, form="%.17g"):
    return "{" + ", ".join(form % v for v in vs) + "}"


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)  # the noise may be at its bound
    rng = np.random.default_rng(7)
    n = TRAIN + TEST
    x = rng.integers(-1000, 1001, (n, D)) / 1000
    h = np.column_stack([rng.integers(0, k, n) for k in ARMS])
    y = np.round(values(x, h) + 0.05 * rng.standard_normal(n), 6)
    mean, sd = y[:TRAIN].mean(), y[:TRAIN].std()
    t = (y - mean) / sd
    kernel = (ConstantKernel(1.0, (1e-2, 1e2)) * Matern(0.2, (1e-4, 3.0), nu=2.5)
              + WhiteKernel(0.1, (1e-6, 1.0)))
    model = GaussianProcessRegressor(kernel, alpha=0.0, n_restarts_optimizer=40,
                                     random_state=1)
    model.fit(inputs(x, h)[:TRAIN], t[:TRAIN])
    k = model.kernel_
    found = (k.k1.k2.length_scale, k.k1.k1.constant_value, k.k2.noise_level)
    (ROOT / "tests/oracle/onehot.h").write_text(
        f"""/* onehot.h - made by tools/gen_oracles_onehot.py with scikit-learn; do not edit. */
/* clang-format off */
enum {{ ONEHOT_D = {D}, ONEHOT_C = {len(ARMS)}, ONEHOT_TRAIN = {TRAIN}, ONEHOT_TEST = {TEST} }};
static const double onehot_x[] = {row(x.ravel(), "%.3f")}; /* d x (train + test) */
static const int32_t onehot_h[] = {row(h.ravel(), "%d")}; /* c x (train + test) */
static const double onehot_y[] = {row(y, "%.6f")};
static const double onehot_found[] = {row(found)}; /* length scale, variance, noise */
static const double onehot_likelihood = {model.log_marginal_likelihood_value_:.17g};
static const double onehot_density = {density(model, inputs(x, h)[TRAIN:], t[TRAIN:]):.17g};
""")


if __name__ == "__main__":
    main()
