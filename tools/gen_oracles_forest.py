#!/usr/bin/env python3
"""Oracle values for the random forest: single trees grown by scikit-learn.

    python3 tools/gen_oracles_forest.py        writes tests/oracle/forest.h

Inputs are multiples of 1/1024, because scikit-learn keeps them in single precision, and
categories have two values, because it does not know others. A case is only kept if the
tree does not depend on the order in which variables are tried, that is, if there are no
ties. Needs scikit-learn; the tests only need the committed result.
"""

import pathlib
import random

import numpy as np
from sklearn.tree import DecisionTreeRegressor

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORDERS = 30


def grow(x, y, min_split, min_leaf, seed):
    tree = DecisionTreeRegressor(min_samples_split=min_split, min_samples_leaf=min_leaf,
                                 random_state=seed).fit(x, y)
    leaves = tree.apply(x)
    return tree.tree_.value[leaves, 0, 0], tree.tree_.impurity[leaves]


def draw(rng, n, d, c, coarse):
    step = 16 if coarse else 1024
    x = [[rng.randint(-step, step) / step for _ in range(d)] for _ in range(n)]
    h = [[rng.randrange(2) for _ in range(c)] for _ in range(n)]
    y = [sum(np.sin(3.1 * v + j) for j, v in enumerate(a))
         + sum((0.7 - 0.4 * j) * v for j, v in enumerate(b))
         + (2.3 * a[0] * b[0] if a and b else 0) + rng.gauss(0, 0.3)
         for a, b in zip(x, h)]
    return x, h, [float(v) for v in y]


def case(rng, n, d, c, coarse, min_split, min_leaf):
    while True:
        x, h, y = draw(rng, n, d, c, coarse)
        both = np.array([a + b for a, b in zip(x, h)])
        mean, variance = grow(both, y, min_split, min_leaf, 0)
        others = [grow(both, y, min_split, min_leaf, s) for s in range(1, ORDERS)]
        if all(np.allclose(m, mean, rtol=0, atol=1e-12) for m, _ in others):
            return dict(n=n, d=d, c=c, min_split=min_split, min_leaf=min_leaf,
                        x=sum(x, []), h=sum(h, []), y=y, mean=list(mean),
                        variance=[max(v, 0.0) for v in variance])


def main():
    rng = random.Random(2011)
    cases = [case(rng, 60, 1, 0, False, 2, 4), case(rng, 50, 3, 0, False, 9, 3),
             case(rng, 70, 2, 0, True, 12, 1), case(rng, 60, 0, 4, False, 2, 3),
             case(rng, 80, 3, 2, False, 14, 5), case(rng, 80, 2, 2, True, 20, 4)]
    lines = [
        "/* forest.h - regression trees by scikit-learn.",
        " * Made by tools/gen_oracles_forest.py; do not edit. */",
        "/* clang-format off */",
        "#ifndef CB_TESTS_ORACLE_FOREST_H",
        "#define CB_TESTS_ORACLE_FOREST_H",
        "",
        "#include <stdint.h>",
        "",
        "/* x is d x n, h is c x n; mean and variance of the leaf of every row. */",
        "static const struct {",
        "  int n, d, c, min_split, min_leaf;",
        "  double x[240];",
        "  int32_t h[240];",
        "  double y[80], mean[80], variance[80];",
        "} oracle_trees[] = {",
    ]
    for k in cases:
        lines.append("    {%d, %d, %d, %d, %d," % (k["n"], k["d"], k["c"],
                                                   k["min_split"], k["min_leaf"]))
        lists = [k[name] or [0] for name in ("x", "h", "y", "mean", "variance")]
        for i, values in enumerate(lists):
            end = "}," if i + 1 < len(lists) else "}},"
            shown = ", ".join(repr(v if isinstance(v, int) else float(v))
                              for v in values)
            lines.append("     {%s%s" % (shown, end))
    lines += ["};", "", "#endif", ""]
    (ROOT / "tests" / "oracle" / "forest.h").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
