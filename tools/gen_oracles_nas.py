#!/usr/bin/env python3
"""Oracle values for NAS-CIFAR10: hashes of cells, and accuracies of inputs.

    COCABO_DATA=... python3 tools/gen_oracles_nas.py        writes tests/oracle/nas.h

The hash is NAS-Bench-101's, written from its publication with hashlib; pruning is by
searching paths. Hashes that come with their cells are named here and must come out. The
accuracies are looked up in the table of the data folder. The tests need the committed
result, those of accuracies also the table.
"""

import hashlib
import os
import pathlib
import random
import struct

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERTICES = 7

# Cells of the benchmark: hash, adjacency matrix row by row, operations: 0 conv3x3, 1 conv1x1,
# 2 maxpool3x3.
KNOWN = [
    ("00005c142e6f48ac74fdcf73e3439874", "0100110001000000010010000010000001000000010000000", "02001"),
    ("1566d10dcc40efe9cca5bf052f4e9768", "0111000000000100010000000101000001000000010000000", "20122"),
    ("2ad8cbe973963e34d63e4f6d54829731", "0100000001100000001010000110000001000000010000000", "11110"),
    ("4005aa99a90b0773bbd5722e2ef2cc80", "0110000001011000010000000100000001000000010000000", "20121"),
    ("5567a637ed2e4191832e129ca7169f40", "0110000000101000010000000100000001100000010000000", "00222"),
    ("6ae0d48330d0e01cbc80bbf591057ac8", "0110000001100000001010000100000001000000010000000", "20011"),
    ("804b6e245096a36d54a544c8cd3b1ab9", "0100000001010000010010000110000001000000010000000", "20202"),
    ("9594c985c20fd9c72e56659d5f0c7cec", "0111010001000000010000000100000001000000010000000", "12010"),
    ("aae68891c70de5cd263ca32e179543e1", "0100100001001000010010000001000001000000010000000", "12201"),
    ("c03b1b3072f7001a6d1b14dba7f93e0a", "0101100001100000010000000100000001000000010000000", "20122"),
    ("d567b3941b77b012142eebd42b15dcc3", "0100001001001000010000000110000001000000010000000", "01122"),
    ("eab7d5fcec3cdfbde2b7fadb23637856", "0100001001010000010100000100000001000000010000000", "10100"),
]
# The cell of the largest accuracy in the table.
BEST = ("0101101001000000010000000010000001000000010000000", "00001")


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


def graph_hash(edges, labels):
    """edges: set of (from, to); labels: -1, the operations, -2."""
    n = len(labels)
    into = [[a for a in range(n) if (a, v) in edges] for v in range(n)]
    out = [[b for b in range(n) if (v, b) in edges] for v in range(n)]
    hashes = [md5(str((len(out[v]), len(into[v]), labels[v]))) for v in range(n)]
    for _ in range(n):
        hashes = [md5("".join(sorted(hashes[w] for w in into[v])) + "|"
                      + "".join(sorted(hashes[w] for w in out[v])) + "|" + hashes[v])
                  for v in range(n)]
    return md5(str(sorted(hashes)))


def paths(edges, v, goal):
    """All paths from v to the goal, as tuples of vertices."""
    if v == goal:
        return [(v,)]
    return [(v,) + rest for a, b in edges if a == v for rest in paths(edges, b, goal)]


def cell_hash(edges, operations):
    """The hash of the cell without what lies on no path; None if there is no path."""
    last = len(operations) + 1
    used = sorted({v for path in paths(edges, 0, last) for v in path})
    if not used:
        return None
    place = {v: i for i, v in enumerate(used)}
    kept = {(place[a], place[b]) for a, b in edges if a in place and b in place}
    labels = [-1] + [operations[v - 1] for v in used[1:-1]] + [-2]
    return graph_hash(kept, labels)


PAIRS = [(i, j) for i in range(VERTICES) for j in range(i + 1, VERTICES)]


def active(weights, count):
    order = sorted(range(len(PAIRS)), key=lambda k: (-weights[k], k))
    return {PAIRS[k] for k in order[:count]}


def from_matrix(text, n):
    return {(k // n, k % n) for k, bit in enumerate(text) if bit == "1"}


def to_matrix(edges, n):
    return "".join("1" if (i, j) in edges else "0" for i in range(n) for j in range(n))


def random_cell(rng, n):
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    edges = set(rng.sample(pairs, rng.randint(0, min(9, len(pairs)))))
    return edges, [rng.randrange(3) for _ in range(n - 2)]


def cells(rng):
    """(hash or "", n, matrix, operations)"""
    rows = []
    for known, matrix, digits in KNOWN:
        edges, operations = from_matrix(matrix, VERTICES), [int(d) for d in digits]
        assert cell_hash(edges, operations) == known, known
        rows.append((known, VERTICES, matrix, digits))
    for n in [2, 2, 3, 3, 4, 4, 5, 5, 5] + [6] * 6 + [7] * 30:
        edges, operations = random_cell(rng, n)
        rows.append((cell_hash(edges, operations) or "", n, to_matrix(edges, n),
                     "".join(map(str, operations))))
    return rows


def read_table():
    path = pathlib.Path(os.environ["COCABO_DATA"]) / "nasbench101/nb101_test108_run0.bin"
    data = path.read_bytes()
    (n,) = struct.unpack_from("<I", data, 8)
    return {data[k:k + 16].hex(): struct.unpack_from("<H", data, k + 16)[0]
            for k in range(16, 16 + 24 * n, 24)}


def best_point(table):
    matrix, digits = BEST
    edges = from_matrix(matrix, VERTICES)
    assert table[cell_hash(edges, [int(d) for d in digits])] == max(table.values())
    weights = [1.0 if pair in edges else 0.0 for pair in PAIRS]
    return digits, weights, len(edges)


def points(rng, table):
    """(operations, weights, edges, right images)"""
    inputs = [best_point(table)]
    for k in range(60):
        # Every third point has ties among its weights.
        weights = [rng.randrange(4) / 4 if k % 3 == 0 else rng.random() for _ in PAIRS]
        inputs.append(("".join(str(rng.randrange(3)) for _ in range(5)), weights,
                       rng.randint(0, 9) if k < 30 else rng.randint(7, 9)))
    rows = []
    for digits, weights, count in inputs:
        known = cell_hash(active(weights, count), [int(d) for d in digits])
        rows.append((digits, weights, count, table[known] if known else 0))
    return rows


def main():
    rng = random.Random(101)
    lines = ["/* nas.h - cells of NAS-Bench-101 with their hashes, inputs with their values.",
             " * Made by tools/gen_oracles_nas.py; do not edit. */",
             "/* clang-format off */",
             "#ifndef CB_TESTS_ORACLE_NAS_H", "#define CB_TESTS_ORACLE_NAS_H", "",
             "/* An empty hash: no path leads from input to output. */",
             "static const struct { const char *hash; int n; const char *matrix, *operations; }",
             "oracle_cells[] = {"]
    lines += [f'    {{"{h}", {n}, "{matrix}", "{digits}"}},' for h, n, matrix, digits in cells(rng)]
    lines += ["};", "", "/* right: of the 9984 test images; 0 for invalid cells. */",
              "static const struct { const char *operations; int edges, right; double weights[21]; }",
              "oracle_nas_points[] = {"]
    for digits, weights, count, right in points(rng, read_table()):
        text = ", ".join(repr(w) for w in weights)
        lines.append(f'    {{"{digits}", {count}, {right}, {{{text}}}}},')
    lines += ["};", "", "#endif", ""]
    (ROOT / "tests/oracle/nas.h").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
