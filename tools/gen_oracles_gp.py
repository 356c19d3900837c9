#!/usr/bin/env python3
"""Oracle values for the Gaussian process, computed with mpmath at 40 digits.

    python3 tools/gen_oracles_gp.py        writes tests/oracle/gp.h and knowledge.h

Everything is written from the formulas of the paper, not from our code: covariances
entry by entry, K^-1 by LU, the gradient by numerical differentiation at 40 digits.
Needs mpmath; the tests only need the committed result.
"""

import pathlib
import random

import mpmath as mp

mp.mp.dps = 40
ROOT = pathlib.Path(__file__).resolve().parent.parent


def matern52(x, y, scales):
    r2 = mp.fsum(((a - b) / l) ** 2 for a, b, l in zip(x, y, scales))
    s = mp.sqrt(5 * r2)
    return (1 + s + s * s / 3) * mp.exp(-s)


def overlap(h, g):
    return mp.mpf(sum(a == b for a, b in zip(h, g))) / len(h)


def free(case, theta, p, q, scales):
    """Everything learnt: rates of the Hamming kernel, and a weight for each term."""
    d, c, at = case["d"], case["c"], case["at_rates"]
    rates = [mp.exp(t) for t in theta[at:at + c]]
    weights = iter([mp.exp(t) for t in theta[at + c:-1]])
    kh = mp.exp(-mp.fsum(t for t, a, b in zip(rates, p[1], q[1]) if a != b))
    total = next(weights) * kh if c else mp.mpf(0)
    ka = overlap(p[1], q[1]) if c else 0
    if c > 1:
        total += next(weights) * ka
    if d:
        kx = matern52(p[0], q[0], scales)
        total += next(weights) * kx
    if c and d:
        total += next(weights) * kh * kx
    if c > 1 and d:
        total += next(weights) * ka * kx
    if case["sums"]:
        ones = [1 / (1 + mp.mpf(5) / 6 * ((a - b) / l) ** 2)
                for a, b, l in zip(p[0], q[0], scales)]
        total += next(weights) * mp.fsum(ones) / d
    return total


def blocks(case, h):
    """One-hot: each category written out as a block of inputs, one of them 1."""
    return [mp.mpf(k == a) for a, n in zip(h, case["arms"]) for k in range(n)]


def onehot(case, theta, p, q):
    """One length scale for the numbers and the blocks, and a variance."""
    x, y = p[0] + blocks(case, p[1]), q[0] + blocks(case, q[1])
    return mp.exp(theta[1]) * matern52(x, y, [mp.exp(theta[0])] * len(x))


def covariance(case, theta, p, q):
    """k_z between points p = (x, h) and q."""
    d, c = case["d"], case["c"]
    if case["form"] == "CB_ONEHOT":
        return onehot(case, theta, p, q)
    scales = [mp.exp(theta[j if case["ard"] else 0]) for j in range(d)]
    if case["form"] == "CB_FREE":
        return free(case, theta, p, q, scales)
    if d == 0:
        return overlap(p[1], q[1])
    if c == 0:
        return matern52(p[0], q[0], scales)
    lam = theta[case["at_lambda"]] if case["learn"] else mp.mpf(case["lambda"])
    kx, kh = matern52(p[0], q[0], scales), overlap(p[1], q[1])
    half = mp.mpf(1) / 2 if case["half"] else 1
    return (1 - lam) * half * (kh + kx) + lam * kh * kx


def noisy_matrix(case, theta):
    pts = case["points"]
    k = mp.matrix(len(pts))
    for i, p in enumerate(pts):
        for j, q in enumerate(pts):
            k[i, j] = covariance(case, theta, p, q)
        k[i, i] += mp.exp(theta[-1]) + case["variance"][i] / deviation(case["y"]) ** 2
    return k


def deviation(y):
    m = mp.fsum(y) / len(y)
    return mp.sqrt(mp.fsum((v - m) ** 2 for v in y) / len(y))


def standardised(y):
    m = mp.fsum(y) / len(y)
    return mp.matrix([(v - m) / deviation(y) for v in y])


def likelihood(case, theta):
    k = noisy_matrix(case, theta)
    y = standardised(case["y"])
    fit = (y.T * mp.lu_solve(k, y))[0]
    return -fit / 2 - mp.log(mp.det(k)) / 2 - len(y) * mp.log(2 * mp.pi) / 2


def gradient(case, theta):
    def along(i):
        return lambda t: likelihood(case, [t if j == i else v for j, v in enumerate(theta)])

    return [mp.diff(along(i), theta[i]) for i in range(len(theta))]


def posterior(case, theta, q):
    k = noisy_matrix(case, theta)
    y = standardised(case["y"])
    row = mp.matrix([covariance(case, theta, p, q) for p in case["points"]])
    mean = (row.T * mp.lu_solve(k, y))[0]
    var = covariance(case, theta, q, q) - (row.T * mp.lu_solve(k, row))[0]
    return mean, mp.sqrt(var)


def joint(case, theta):
    """Posterior covariances of all queries."""
    k = noisy_matrix(case, theta)
    rows = [mp.matrix([covariance(case, theta, p, q) for p in case["points"]])
            for q in case["queries"]]
    return [covariance(case, theta, p, q) - (u.T * mp.lu_solve(k, v))[0]
            for q, v in zip(case["queries"], rows) for p, u in zip(case["queries"], rows)]


def gain(a, b):
    """E max(a_i + b_i Z) - max a_i, by quadrature between all crossings of the lines."""
    pairs = [(i, k) for i in range(len(a)) for k in range(i) if b[i] != b[k]]
    knots = {(a[k] - a[i]) / (b[i] - b[k]) for i, k in pairs}
    knots = sorted({z for z in knots if abs(z) < 30} | {mp.mpf(z) for z in (-30, -9, 0, 9, 30)})
    best = max(a)
    integrand = lambda z: (max(u + v * z for u, v in zip(a, b)) - best) * mp.npdf(z)
    return mp.quad(integrand, knots)


def make_case(rng, name, d, c, ard, half, learn, lam, form="CB_PAPER", noisy=False, sums=False):
    n, m = 7, 3
    arms = [3 + j for j in range(c)]
    num = lambda lo, hi: mp.mpf(rng.randrange(int(lo * 1000), int(hi * 1000))) / 1000
    point = lambda: ([num(-1, 1) for _ in range(d)], [rng.randrange(a) for a in arms])
    case = dict(name=name, d=d, c=c, ard=ard, half=half, learn=learn, form=form, sums=sums)
    case["lambda"], case["arms"] = lam, arms
    case["points"] = [point() for _ in range(n)]
    case["queries"] = [point() for _ in range(m - 1)] + [case["points"][2]]
    case["y"] = [num(-7, 9) for _ in range(n)]
    case["variance"] = [num(0, 4) if noisy and i != 3 else mp.mpf(0) for i in range(n)]
    scales = d if ard else min(d, 1)
    case["at_lambda"] = case["at_rates"] = scales
    theta = [mp.log(num(0.2, 1.4)) for _ in range(scales)]
    if form == "CB_ONEHOT":
        theta = [mp.log(num(0.7, 2.9)), mp.log(num(0.3, 3))]
    elif form == "CB_FREE":
        both, many = bool(d and c), c > 1
        weights = bool(c) + many + bool(d) + both + (many and both) + sums
        theta += [mp.log(num(0.1, 2)) for _ in range(c + weights)]
    elif learn and d and c:
        theta += [mp.mpf("0.374")]
    theta += [mp.log(mp.mpf("0.0137"))]
    case["theta"] = [mp.mpf(mp.nstr(t, 17)) for t in theta]
    return case


def cell(v):
    return mp.nstr(v, 20)


def emit(case):
    theta, n, m = case["theta"], len(case["points"]), len(case["queries"])
    flat = lambda pts, which: [v for p in pts for v in p[which]]
    post = [posterior(case, theta, q) for q in case["queries"]]
    kz = [covariance(case, theta, p, q) for q in case["queries"] for p in case["points"]]
    b = lambda v: "true" if v else "false"
    row = lambda vs: "{" + ", ".join(cell(v) for v in vs or [0]) + "}"
    ints = lambda vs: "{" + ", ".join(str(v) for v in vs or [0]) + "}"
    return f"""    {{.name = "{case['name']}",
     .spec = {{.d = {case['d']}, .c = {case['c']}, .form = {case['form']}, .ard = {b(case['ard'])},
              .sums = {b(case['sums'])},
              .half = {b(case['half'])}, .learn_lambda = {b(case['learn'])},
              .lambda = {case['lambda']}}},
     .n = {n}, .m = {m}, .n_theta = {len(theta)},
     .theta = {row(theta)},
     .x = {row(flat(case['points'], 0))},
     .h = {ints(flat(case['points'], 1))},
     .y = {row(case['y'])},
     .variance = {row(case['variance'])},
     .qx = {row(flat(case['queries'], 0))},
     .qh = {ints(flat(case['queries'], 1))},
     .kz = {row(kz)},
     .mu = {row([p[0] for p in post])},
     .sd = {row([p[1] for p in post])},
     .joint = {row(joint(case, theta))},
     .likelihood = {cell(likelihood(case, theta))},
     .gradient = {row(gradient(case, theta))}}},
"""


HEAD = """/* gp.h - made by tools/gen_oracles_gp.py with mpmath; do not edit. */
/* clang-format off */
static const struct gp_oracle {
  const char *name;
  cb_kernel_spec spec;
  int n, m, n_theta;
  double theta[16];
  double x[32];   /* d x n */
  int32_t h[32];  /* c x n */
  double y[8];
  double variance[8]; /* of y, in its units */
  double qx[16];  /* d x m */
  int32_t qh[16]; /* c x m */
  double kz[24];  /* n x m: covariance of points and queries */
  double mu[4], sd[4];
  double joint[16]; /* m x m: covariances of the queries */
  double likelihood, gradient[16];
} gp_oracles[] = {
"""


KNOWLEDGE = """/* knowledge.h - made by tools/gen_oracles_gp.py with mpmath; do not edit. */
/* clang-format off */
static const struct knowledge_oracle {
  int n;
  double a[8], b[8];
  double gain; /* E max(a_i + b_i Z) - max a_i */
} knowledge_oracles[] = {
"""


def knowledge(rng):
    """Lines of all kinds: alone, parallel, equal, far below, close together."""
    num = lambda lo, hi: mp.mpf(rng.randrange(int(lo * 1000), int(hi * 1000))) / 1000
    lines = [([num(-2, 2) for _ in range(n)], [num(-1, 1) for _ in range(n)])
             for n in (1, 2, 2, 3, 4, 5, 6, 8, 8)]
    near = [mp.mpf("0.731") + mp.mpf(i) / 1000 for i in range(5)]
    lines += [(near, [num(-0.1, 0.3) for _ in range(5)]),
              (near, [mp.mpf("0.217")] * 5),
              ([num(-2, 2) for _ in range(4)], [mp.mpf(0)] * 3 + [mp.mpf("0.613")]),
              ([mp.mpf("1.37"), mp.mpf("-4.2")], [mp.mpf("0.017"), mp.mpf("0.731")]),
              ([mp.mpf("0.37")] * 3, [mp.mpf("0.41"), mp.mpf("-0.29"), mp.mpf("0.41")])]
    row = lambda vs: "{" + ", ".join(cell(v) for v in vs) + "}"
    text = "".join(f"    {{.n = {len(a)}, .a = {row(a)},\n     .b = {row(b)},\n"
                   f"     .gain = {cell(gain(a, b))}}},\n" for a, b in lines)
    return KNOWLEDGE + text + "};\n"


def main():
    rng = random.Random(20)
    cases = [
        make_case(rng, "lambda 0", 2, 2, False, True, False, 0.0),
        make_case(rng, "lambda 0.5", 2, 2, False, True, False, 0.5),
        make_case(rng, "lambda 1", 2, 3, False, True, False, 1.0),
        make_case(rng, "lambda learnt", 2, 2, False, True, True, 0.5),
        make_case(rng, "literal sum, lambda learnt, ard", 3, 2, True, False, True, 0.5),
        make_case(rng, "ard", 4, 1, True, True, False, 0.3),
        make_case(rng, "numbers only", 3, 0, True, True, True, 0.5),
        make_case(rng, "categories only", 0, 3, False, True, True, 0.5),
        make_case(rng, "free", 2, 3, True, False, False, 0.0, form="CB_FREE"),
        make_case(rng, "free, one scale", 3, 1, False, False, False, 0.0, form="CB_FREE"),
        make_case(rng, "free, numbers only", 3, 0, True, False, False, 0.0, form="CB_FREE"),
        make_case(rng, "free, categories only", 0, 3, True, False, False, 0.0, form="CB_FREE"),
        make_case(rng, "one-hot", 2, 3, False, False, False, 0.0, form="CB_ONEHOT"),
        make_case(rng, "one-hot, numbers only", 3, 0, False, False, False, 0.0, form="CB_ONEHOT"),
        make_case(rng, "one-hot, categories only", 0, 4, False, False, False, 0.0, form="CB_ONEHOT"),
    ]
    noisy = dict(half=False, learn=False, lam=0.0, form="CB_FREE", noisy=True)
    cases += [
        make_case(rng, "noisy rows", 2, 2, False, True, True, 0.5, noisy=True),
        make_case(rng, "free, noisy rows", 2, 3, True, **noisy),
        make_case(rng, "free, noisy rows, numbers only", 3, 0, True, **noisy),
        make_case(rng, "one-hot, noisy rows", 2, 2, False, **{**noisy, "form": "CB_ONEHOT"}),
    ]
    free_sums = dict(half=False, learn=False, lam=0.0, form="CB_FREE", sums=True)
    cases += [
        make_case(rng, "free, sums", 2, 3, True, **free_sums),
        make_case(rng, "free, sums, numbers only", 4, 0, True, **free_sums),
        make_case(rng, "free, sums, one scale", 3, 1, False, **free_sums),
    ]
    text = HEAD + "".join(emit(c) for c in cases) + "};\n"
    (ROOT / "tests/oracle/gp.h").write_text(text)
    (ROOT / "tests/oracle/knowledge.h").write_text(knowledge(random.Random(21)))


if __name__ == "__main__":
    main()
