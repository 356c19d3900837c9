#!/usr/bin/env python3
"""Oracles of trials that are run several times: p-values of Wilcoxon's signed-rank test,
by scipy; what the runs of trials come to, from the definition.

    python3 tools/gen_oracles_runs.py        writes tests/oracle/{wilcoxon,weighing}.h

The rows of models: each trial is compared with the one that has most pairs (of equals the
one with the best value) on their common pairs; its y is that one's average plus the
average difference. The variance of one difference is its own, shrunk towards that of all
trials by a scaled inverse chi-square prior of 4 degrees of freedom; that of their average
is it over their number n, times 1 - n / full where there are `full` pairs in all, times
pi / 2 for a median. Geometric means are means of logarithms; variances go back by the
slope. Without pairs in common nothing is compared: averages count.

Needs scipy; the tests only need the committed result.
"""

import math
import pathlib
import random
import statistics

import scipy.stats

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST, TRIALS, PAIRS = 80, 6, 8


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


def weigh(table, combine, sign, paired, full):
    """table[trial][pair], None where there is no result. (y, variance) of each trial, in
    the direction in which more is better, and the variance of one run."""
    scale = math.log if combine == "geomean" else float
    values = [[v for v in row if v is not None] for row in table]
    own = [combined(combine, v, full) for v in values]
    first = max(range(len(table)), key=lambda i: (len(values[i]), sign * own[i], -i))
    base = table[first]
    contrasts = []
    for row in table:
        common = [k for k, v in enumerate(row) if v is not None and base[k] is not None]
        if paired and common:
            d = [scale(row[k]) - scale(base[k]) for k in common]
            level = average(combine, [scale(v) for v in base if v is not None])
        else:
            d = [scale(v) for v in row if v is not None]
            level = 0.0
        contrasts.append((len(d), level + average(combine, d),
                          statistics.variance(d) if len(d) > 1 else None))
    several = [(n - 1, v) for i, (n, _, v) in enumerate(contrasts)
               if n > 1 and not (paired and i == first)]
    freedom = sum(n for n, _ in several)
    pooled = math.fsum(n * v for n, v in several) / freedom if freedom else None
    rows = []
    for i, (n, mean, variance) in enumerate(contrasts):
        y = {"geomean": math.exp, "sum": lambda m: m * full}.get(combine, float)(mean)
        if combine == "max":
            y = max(v if v is not None else w for v, w in zip(table[i], base)
                    if (v is not None or (paired and w is not None)))
        slope = {"geomean": y, "sum": full}.get(combine, 1.0)
        if pooled is None:
            rows.append((sign * y, 0.0))
            continue
        one = pooled
        if n > 1 and not (paired and i == first):
            one = (4 * pooled + (n - 1) * variance) / (4 + n - 1)
        left = max(0.0, 1 - n / full) if paired and full else 1.0
        factor = math.pi / 2 if combine == "median" else 1.0
        rows.append((sign * y, slope ** 2 * factor * left * one / n))
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
            yield table, combine, sign, paired, full
    # One run each: nothing is known of the noise. And trials without a common pair.
    yield [[1.5] + [None] * 7, [2.25] + [None] * 7], "mean", -1, True, 8
    yield ([[1.5, 2.5, 4.0] + [None] * 5, [None] * 3 + [7.5, 9.0] + [None] * 3], "mean", 1,
           True, 8)


# ---- writing ---------------------------------------------------------------------------

def numbers(values):
    return ", ".join("NAN" if v is None else repr(v) for v in values)


def write(name, lines):
    head = f"/* {name} - made by tools/gen_oracles_runs.py with scipy; do not edit. */"
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
             f"  double value[{TRIALS}], y[{TRIALS}], variance[{TRIALS}], run_variance;",
             "} weighing_oracles[] = {"]
    for table, combine, sign, paired, full in tables():
        rows, run, own = weigh(table, combine, sign, paired, full)
        body = ",\n      ".join(f"{{{numbers(row)}}}" for row in table)
        lines.append(
            f'    {{.combine = "{combine}", .sign = {sign}, .paired = {str(paired).lower()}, '
            f".full = {full}, .n = {len(table)},\n     .results = {{\n      {body}}},\n"
            f"     .value = {{{numbers(own)}}},\n"
            f"     .y = {{{numbers([y for y, _ in rows])}}},\n"
            f"     .variance = {{{numbers([v for _, v in rows])}}},\n"
            f"     .run_variance = {run!r}}},")
    write("weighing.h", lines)


if __name__ == "__main__":
    write_tests()
    write_tables()
