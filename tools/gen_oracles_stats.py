#!/usr/bin/env python3
"""Oracle p-values of Wilcoxon's signed-rank test, computed with scipy.

    python3 tools/gen_oracles_stats.py        writes tests/oracle/stats.h

Differences are multiples of 1/8 where sizes are to be equal, so that they are exactly.
Needs scipy; the tests only need the committed result.
"""

import pathlib
import random

import scipy.stats

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXACT = 25  # the largest number of differences whose distribution is exact
MOST = 60


def p_value(d):
    sizes = [abs(v) for v in d]
    plain = 0.0 not in sizes and len(set(sizes)) == len(sizes)
    method = "exact" if plain and len(d) <= EXACT else "asymptotic"
    return scipy.stats.wilcoxon(d, zero_method="wilcox", correction=True,
                                method=method).pvalue


def cases():
    rng = random.Random(1945)
    for n in (1, 2, 3, 6, 10, 20, 24, 25, 26, 40, 60):
        for shift in (0.0, 0.4):
            yield f"{n} without ties", [rng.gauss(shift, 1) for _ in range(n)]
    for n in (2, 5, 12, 25, 26, 60):
        coarse = [rng.choice((-1, 1)) * rng.randrange(1, 6) / 8 for _ in range(n)]
        yield f"{n} with ties", coarse
        zeros = [rng.gauss(0.3, 1) * (i % 4 != 1) for i in range(n)]
        yield f"{n} with zeros", zeros
        yield f"{n} with both", [rng.randrange(-3, 6) / 8 for _ in range(n)]
    yield "equal sizes", [0.5] * 7 + [-0.5] * 2
    yield "one pair equal of 25", [0.125] + [(i + 1) / 8 for i in range(24)]
    yield "balanced", [1.0, -1.0]
    yield "balanced to the half", [1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, 8.0, -8.0]


def main():
    lines = [
        "/* stats.h - p-values of Wilcoxon's signed-rank test.",
        " * Made by tools/gen_oracles_stats.py; do not edit. */",
        "/* clang-format off */",
        "#ifndef CB_TESTS_ORACLE_STATS_H",
        "#define CB_TESTS_ORACLE_STATS_H",
        "",
        "static const struct { const char *what; int n; double d[%d], p; }" % MOST,
        "oracle_wilcoxon[] = {",
    ]
    for what, d in cases():
        lines.append('    {"%s", %d, {%s}, %r},' % (
            what, len(d), ", ".join(repr(v + 0.0) for v in d), float(p_value(d))))
    lines += ["};", "", "#endif", ""]
    (ROOT / "tests" / "oracle" / "stats.h").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
