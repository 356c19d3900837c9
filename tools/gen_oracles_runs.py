#!/usr/bin/env python3
"""Oracles of trials that are run several times: p-values of Wilcoxon's signed-rank test,
by scipy; what the runs of trials come to, from the definition.

    python3 tools/gen_oracles_runs.py        writes tests/oracle/{wilcoxon,weighing}.h

The rows of models: a value is what its trial comes to, plus what its pair adds, plus chance.
Both are found by weighted least squares, and pairs are given the level at which the trial
with most pairs (of equals the one with the best value) has its own average. A trial's y is
the average of its values without what their pairs add. A value that was cut off says
nothing of its pair; it counts in its trial's average if that is the worse for it.

The variance of one run is half that of the differences from the trial with most pairs,
shrunk towards the median of all trials' by a scaled inverse chi-square prior of 4 degrees
of freedom. One over it is the weight of a trial. The variance of an average of n is it over
n, times 1 - n / full where there are `full` pairs in all, times pi / 2 for a median.
Geometric means are means of logarithms; variances go back by the slope. Without pairs
nothing is compared: averages count, variances are pooled by their degrees of freedom.

Needs numpy and scipy; the tests only need the committed result.
"""

import math
import pathlib
import random
import statistics

import numpy as np
import scipy.stats

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST, TRIALS, PAIRS, PRIOR = 80, 6, 8, 4


# ---- the test --------------------------------------------------------------------------

def count(d):
    """Exactly, over all signs; scipy rounds the far tail."""
    ranks = {v: i + 1 for i, v in enumerate(sorted(abs(v) for v in d))}
    ways = [1]
    for rank in ranks.values():
        ways = [a + b for a, b in zip(ways + [0] * rank, [0] * rank + ways)]
    return sum(ways[sum(ranks[v] for v in d if v > 0):]) / 2 ** len(d)


def tests():
    rng = random.Random(1945)
    for n in (1, 2, 4, 5, 6, 9, 14, 25, 37, 50, 60, 61, 80):
        for shift in (-0.3, 0.2, 0.9):
            d = [rng.gauss(shift, 1) for _ in range(n)]
            if n > 60 and shift < 0:
                continue  # the correction for continuity has the other sign there
            method = "exact" if n <= 60 else "asymptotic"
            p = float(scipy.stats.wilcoxon(d, alternative="greater", method=method,
                                           correction=True).pvalue)
            if n <= 60:
                assert abs(p - count(d)) < 1e-14, (p, count(d))
                p = count(d)
            yield d, p


# ---- weighing --------------------------------------------------------------------------

def average(combine, values):
    if combine == "median":
        return statistics.median(values)
    return math.fsum(values) / len(values)


def combined(combine, values, full):
    if combine == "max":
        return max(values)
    if combine == "geomean":
        return math.exp(average(combine, [math.log(v) for v in values]))
    return average(combine, values) * (full if combine == "sum" else 1)


def on_scale(table, combine):
    scale = math.log if combine == "geomean" else float
    return [{k: scale(v) for k, v in enumerate(row) if v is not None} for row in table]


def worse(sign, values, cut, measure):
    """Of all values, or without what is cut off: whichever is the worse for the trial."""
    rest = {k: v for k, v in values.items() if k != cut}
    if len(rest) == len(values) or not rest:
        return measure(values)
    return min(measure(values), measure(rest), key=lambda m: sign * m[0])


def contrast(combine, values, base, level, paired):
    """Average, number and variance of one run."""
    common = values.keys() & base.keys()
    if not (paired and common):
        d, start, half = list(values.values()), 0.0, 1.0
    else:
        d, start, half = [values[k] - base[k] for k in sorted(common)], level, 0.5
    variance = half * statistics.variance(d) if len(d) > 1 else None
    return start + average(combine, d), len(d), variance


def pool(contrasts, first, paired):
    several = [(n - 1, v) for i, (_, n, v) in enumerate(contrasts)
               if n > 1 and not (paired and i == first)]
    if not several:
        return None
    if paired:
        return statistics.median(v for _, v in several)
    return math.fsum(n * v for n, v in several) / sum(n for n, _ in several)


def pair_effects(scaled, cuts, ones):
    """What each pair adds, but for a constant: in closed form, by numpy's least squares."""
    terms = [(i, k, v) for i, values in enumerate(scaled) for k, v in values.items()
             if k != cuts[i]]
    pairs = sorted({k for _, k, _ in terms})
    design, target = np.zeros((len(terms), len(scaled) + len(pairs))), np.zeros(len(terms))
    for row, (i, k, v) in enumerate(terms):
        root = 1.0 / math.sqrt(ones[i])
        design[row, i] = design[row, len(scaled) + pairs.index(k)] = root
        target[row] = root * v
    found = np.linalg.lstsq(design, target, rcond=None)[0]
    return dict(zip(pairs, map(float, found[len(scaled):])))


def balance(scaled, cuts, ones, combine, sign, first, level):
    """What trials come to; None: a trial has no pair in common with anybody."""
    effects = pair_effects(scaled, cuts, ones)
    nets = []
    for i, values in enumerate(scaled):
        net = {k: v - effects[k] for k, v in values.items() if k in effects}
        alone = not any(values.keys() & other.keys()
                        for j, other in enumerate(scaled) if j != i)
        nets.append(None if alone else worse(sign, net, cuts[i], lambda kept: (
            average(combine, list(kept.values())),))[0])
    return [None if net is None or nets[first] is None else level + net - nets[first]
            for net in nets]


def weigh(table, cuts, combine, sign, paired, full):
    """table[trial][pair], None where there is no result; cuts[trial] is the pair that was
    cut off, or None. (y, variance) of each trial, in the direction in which more is better,
    the variance of one run, and what people see."""
    scaled = on_scale(table, combine)
    back = {"geomean": math.exp, "sum": lambda m: m * full}.get(combine, float)
    own = [worse(sign, values, cut, lambda kept: (
        combined(combine, [table[i][k] for k in kept], full),))[0]
        for i, (values, cut) in enumerate(zip(scaled, cuts))]
    first = max(range(len(table)), key=lambda i: (len(scaled[i]), sign * own[i], -i))
    level = average(combine, list(scaled[first].values()))
    contrasts = [worse(sign, values, cut, lambda kept: contrast(
        combine, kept, scaled[first], level, paired)) for values, cut in zip(scaled, cuts)]
    pooled = pool(contrasts, first, paired)
    ones = [pooled if n < 2 or (paired and i == first)
            else (PRIOR * pooled + (n - 1) * variance) / (PRIOR + n - 1)
            for i, (_, n, variance) in enumerate(contrasts)]
    means = [mean for mean, _, _ in contrasts]
    if paired:
        weights = [1.0 if pooled is None else one for one in ones]
        found = balance(scaled, cuts, weights, combine, sign, first, level)
        means = [mean if better is None else better for mean, better in zip(means, found)]
    rows = []
    for i, (_, n, _) in enumerate(contrasts):
        y = back(means[i])
        if combine == "max":
            y = max(v if v is not None else w for v, w in zip(table[i], table[first])
                    if (v is not None or (paired and w is not None)))
        slope = {"geomean": y, "sum": full}.get(combine, 1.0)
        left = max(0.0, 1 - n / full) if paired and full else 1.0
        factor = math.pi / 2 if combine == "median" else 1.0
        rows.append((sign * y, slope ** 2 * factor * left * (ones[i] or 0.0) / n))
    run = pooled or 0.0
    run *= {"geomean": own[first] ** 2, "sum": full ** 2}.get(combine, 1.0)
    return rows, run, own


def tables():
    rng = random.Random(2718)
    for combine in ("mean", "median", "geomean", "sum", "max"):
        for sign, paired, full in ((-1, True, 9), (1, True, 8), (-1, False, 8)):
            pairs = [rng.uniform(1, 9) for _ in range(PAIRS)]
            table = []
            for trial in range(TRIALS):
                has = rng.randrange(1, PAIRS + 1) if trial else PAIRS - 1
                level = rng.uniform(0.5, 3)
                row = [round(p + level + rng.gauss(0, 0.4), 3) if k < has else None
                       for k, p in enumerate(pairs)]
                if trial == 2 and row[1] is not None:
                    row[0] = None  # its first run was lost
                table.append(row)
            yield table, [None] * TRIALS, combine, sign, paired, full
            if combine in ("mean", "geomean"):  # the last value of three is cut off
                cut = [k if k > 1 and i in (1, 3, 4) else None for i, k in enumerate(
                    max(k for k, v in enumerate(row) if v is not None) for row in table)]
                table = [[v if k != at else round(v + (9 if i == 3 else -0.9), 3)
                          for k, v in enumerate(row)]
                         for i, (row, at) in enumerate(zip(table, cut))]
                yield table, cut, combine, sign, paired, full
    # One run each: nothing is known of the noise. And trials without a common pair.
    yield [[1.5] + [None] * 7, [2.25] + [None] * 7], [None] * 2, "mean", -1, True, 8
    yield ([[1.5, 2.5, 4.0] + [None] * 5, [None] * 3 + [7.5, 9.0] + [None] * 3],
           [None] * 2, "mean", 1, True, 8)


# ---- writing ---------------------------------------------------------------------------

def numbers(values):
    return ", ".join("NAN" if v is None else repr(v) for v in values)


def write(name, lines):
    head = f"/* {name} - made by tools/gen_oracles_runs.py with numpy and scipy; do not edit. */"
    text = "\n".join([head, "/* clang-format off */", *lines, "};"]) + "\n"
    (ROOT / "tests/oracle" / name).write_text(text)


def write_tests():
    lines = ["static const struct wilcoxon_oracle {", "  int n;", f"  double d[{MOST}];",
             "  double p; /* of a sum of positive ranks as large as this or larger */",
             "} wilcoxon_oracles[] = {"]
    for d, p in tests():
        lines.append(f"    {{.n = {len(d)}, .d = {{{numbers(d)}}}, .p = {p!r}}},")
    write("wilcoxon.h", lines)


def write_tables():
    lines = ["static const struct weighing_oracle {", "  const char *combine;",
             "  double sign;", "  bool paired;", "  int full, n;",
             f"  double results[{TRIALS}][{PAIRS}]; /* NAN: none */",
             f"  int cut[{TRIALS}]; /* the pair whose value was cut off, -1: none */",
             f"  double value[{TRIALS}], y[{TRIALS}], variance[{TRIALS}], run_variance;",
             "} weighing_oracles[] = {"]
    for table, cuts, combine, sign, paired, full in tables():
        rows, run, own = weigh(table, cuts, combine, sign, paired, full)
        body = ",\n      ".join(f"{{{numbers(row)}}}" for row in table)
        lines.append(
            f'    {{.combine = "{combine}", .sign = {sign}, .paired = {str(paired).lower()}, '
            f".full = {full}, .n = {len(table)},\n     .results = {{\n      {body}}},\n"
            f"     .cut = {{{numbers([-1 if cut is None else cut for cut in cuts])}}},\n"
            f"     .value = {{{numbers(own)}}},\n"
            f"     .y = {{{numbers([y for y, _ in rows])}}},\n"
            f"     .variance = {{{numbers([v for _, v in rows])}}},\n"
            f"     .run_variance = {run!r}}},")
    write("weighing.h", lines)


if __name__ == "__main__":
    write_tests()
    write_tables()
