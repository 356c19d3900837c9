#!/usr/bin/env python3
"""shares.py - where the evaluations went: a choice's share by method, as Markdown.

    python3 bench/peers/shares.py POINTS.jsonl NAME [--init N]

POINTS.jsonl is what bench/peers/run --points wrote, NAME a choice that every point has.
Each cell has the share of the evaluations behind the initial points, and in how many
runs the best value was found there.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from typing import Any


def read(path: str) -> dict[str, dict[int, list[dict[str, Any]]]]:
    """The evaluations in order, by method and seed; of a run done twice the last."""
    runs: dict[str, dict[int, list]] = defaultdict(dict)
    with open(path) as file:
        for row in map(json.loads, file):
            if row["evaluation"] == 1:
                runs[row["method"]][row["seed"]] = []
            runs[row["method"]][row["seed"]].append(row)
    return runs


def best_choice(run: list[dict[str, Any]], name: str) -> Any:
    complete = [row for row in run if row["value"] is not None]
    return max(complete, key=lambda row: row["value"])["point"][name]


def cells(runs: list[list[dict[str, Any]]], name: str, init: int,
          choices: list[Any]) -> list[str]:
    counts = Counter(row["point"][name] for run in runs for row in run[init:])
    best = Counter(best_choice(run, name) for run in runs)
    total = max(1, sum(counts.values()))
    return [f"{100 * counts[c] / total:.0f} % ({best[c]})" for c in choices]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("points", metavar="POINTS.jsonl")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--init", type=int, default=0, metavar="N",
                        help="initial points, which are not counted (0)")
    args = parser.parse_args()
    methods = read(args.points)
    choices = sorted({row["point"][args.name] for runs in methods.values()
                      for run in runs.values() for row in run}, key=str)
    print("| method | runs |" + "".join(f" {c} |" for c in choices))
    print("|---|--:|" + "--:|" * len(choices))
    for method, runs in methods.items():
        row = cells(list(runs.values()), args.name, args.init, choices)
        print(f"| {method} | {len(runs)} | {' | '.join(row)} |")


if __name__ == "__main__":
    main()
