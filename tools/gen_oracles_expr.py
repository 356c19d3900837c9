#!/usr/bin/env python3
"""Oracle truth values of random expressions, computed by Python itself.

    python3 tools/gen_oracles_expr.py        writes tests/oracle/expr.h

The texts are valid in both languages and mean the same, as far as numbers and conditions
go. What Python raises on (division by zero, log of nothing) is left out, and so are
comparisons of logarithms and exponentials that the last bits could decide. Only the
standard library is needed; the tests only need the committed result.
"""

import ast
import math
import pathlib
import random

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 700
NAMES = {"min": min, "max": max, "abs": abs, "log": math.log, "exp": math.exp,
         "sqrt": math.sqrt, "floor": math.floor, "ceil": math.ceil,
         "true": True, "false": False, "__builtins__": {}}
U, K = (1, 2, 4, 8), (0.5, 1.5, -2.0)  # an ordinal and a choice of numbers


class Writer:
    """Expressions by the grammar, with blanks and parentheses at random."""

    def __init__(self, rng):
        self.rng = rng

    def blank(self):
        return self.rng.choice(("", " ", " ", "  "))

    def number(self):
        return self.rng.choice((
            lambda: str(self.rng.randrange(0, 12)),
            lambda: "%.1f" % self.rng.uniform(0, 9),
            lambda: repr(round(self.rng.uniform(0, 3), 3)),
            lambda: "%de-%d" % (self.rng.randrange(1, 9), self.rng.randrange(0, 3))))()

    def factor(self, depth):
        dice = self.rng.random()
        if depth <= 0 or dice < 0.35:
            return self.rng.choice("xyijuk")
        if dice < 0.55:
            return self.number()
        if dice < 0.65:
            return "-" + self.blank() + self.factor(depth - 1)
        if dice < 0.8:
            return "(" + self.sum(depth - 1) + ")"
        if dice < 0.9:
            arguments = [self.sum(depth - 1) for _ in range(self.rng.randrange(2, 4))]
            return self.rng.choice(("min", "max")) + "(" + ",".join(arguments) + ")"
        f = self.rng.choice(("abs", "log", "exp", "sqrt", "floor", "ceil"))
        return f + self.blank() + "(" + self.sum(depth - 1) + ")"

    def chain(self, item, operators, depth, more):
        text = item(depth)
        while self.rng.random() < more:
            text += self.blank() + self.rng.choice(operators) + self.blank()
            text += item(depth)
        return text

    def term(self, depth):
        return self.chain(self.factor, "*/%", depth, 0.3)

    def sum(self, depth):
        return self.chain(self.term, "+-", depth, 0.35)

    def comparison(self, depth):
        dice = self.rng.random()
        if dice < 0.12:
            return self.rng.choice(("p", "q", "true", "false", "(p)"))
        if dice < 0.2 and depth > 0:
            sides = ["(" + self.condition(depth - 1) + ")" for _ in range(2)]
            return self.rng.choice((" == ", "!=")).join(sides)
        if dice < 0.32:
            values = [self.rng.choice(("", "-")) + self.number()
                      for _ in range(self.rng.randrange(2, 6))]
            return (self.sum(depth) + self.rng.choice((" in", " not in")) + self.blank()
                    + "(" + ", ".join(values) + ")")
        if dice < 0.42 and depth > 0:
            return "(" + self.condition(depth - 1) + ")"
        mark = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        return self.sum(depth) + self.blank() + mark + self.blank() + self.sum(depth)

    def negation(self, depth):
        return "not " * (self.rng.random() < 0.25) + self.comparison(depth)

    def conjunction(self, depth):
        return self.chain(self.negation, (" and ",), depth, 0.3)

    def condition(self, depth):
        return self.chain(self.conjunction, (" or ",), depth, 0.3)


def holds_up(tree, values):
    """Is the result certain whatever the last bits of log and exp are, and has no `==`
    a bare choice, which would compare by type?"""
    rough = {"log", "exp"}
    steep = {"floor", "ceil"}

    def names(node):
        return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}

    def value(node):
        return eval(compile(ast.Expression(node), "", "eval"), NAMES, values)

    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                if isinstance(value(side), bool):
                    return False
            if isinstance(node.op, ast.Mod) and names(node) & rough:
                return False
        if isinstance(node, ast.Call) and node.func.id in steep and names(node) & rough:
            return False
        if isinstance(node, ast.Compare):
            left, right = node.left, node.comparators[0]
            if len(node.ops) > 1:
                return False
            if isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
                for side in (left, right):
                    if isinstance(side, ast.Name) and side.id in "uk":
                        return False
            a, b = value(left), value(right)
            for other in b if isinstance(b, tuple) else [b]:
                gap = abs(a - other)
                if gap <= 1e-9 * max(1, abs(a), abs(other)) and names(node) & rough:
                    return False
    return True


def environment(rng):
    return {"x": round(rng.uniform(-10, 10), rng.randrange(0, 4)) + 0.0,
            "y": round(rng.uniform(0.1, 5), rng.randrange(1, 4)),
            "i": rng.randrange(-20, 21), "j": rng.randrange(1, 10),
            "u": rng.choice(U), "k": rng.choice(K),
            "p": rng.random() < 0.5, "q": rng.random() < 0.5}


def cases():
    rng = random.Random(2210)
    writer = Writer(rng)
    count = {False: 0, True: 0}
    while sum(count.values()) < MOST:
        text, values = writer.condition(3), environment(rng)
        if not 8 < len(text) <= 200:
            continue
        try:
            want = eval(text, NAMES, values)
            if not holds_up(ast.parse(text, mode="eval"), values):
                continue
        except (ArithmeticError, ValueError, TypeError):
            continue
        if count[want] >= MOST // 2:
            continue
        count[want] += 1
        yield text, values, want


def main():
    lines = [
        "/* expr.h - truth values of random expressions by Python.",
        " * Made by tools/gen_oracles_expr.py; do not edit. */",
        "/* clang-format off */",
        "#ifndef CB_TESTS_ORACLE_EXPR_H",
        "#define CB_TESTS_ORACLE_EXPR_H",
        "",
        "/* u and k are indices into 1, 2, 4, 8 and 0.5, 1.5, -2.0. */",
        "static const struct {",
        "  const char *text; double x, y; int i, j, u, k, p, q, want;",
        "} oracle_expr[] = {",
    ]
    for text, v, want in cases():
        lines.append('    {"%s", %r, %r, %d, %d, %d, %d, %d, %d, %d},' % (
            text, v["x"], v["y"], v["i"], v["j"], U.index(v["u"]), K.index(v["k"]),
            v["p"], v["q"], want))
    lines += ["};", "", "#endif", ""]
    (ROOT / "tests" / "oracle" / "expr.h").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
