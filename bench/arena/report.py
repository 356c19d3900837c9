#!/usr/bin/env python3
"""report.py - what came of the runs of bench/arena/run, as Markdown or JSON.

Words used here, for a problem and a number t of evaluations:

    score    of a run: the least value of its first t evaluations; where there is noise the
             true mean of what the method would name then; if all failed, the worst value
             that anybody was told on the problem
    best     known of the problem: its optimum, or the best of all runs of the file and of
             best.json
    regret   normalised: (score - best) / (median of random's scores in the end - best)
    stuck    a run whose score is worse than the median of random's at the same t
    tie      two regrets that differ by less than TIE
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import os
import sys
from collections import defaultdict
from statistics import mean, median
from typing import Any

from places import HERE          # first: the path of bench/peers
import figure
import record
from peers import parse_seeds
from results import Refused

TIE = 1e-6
BEST = HERE / "best.json"
Entry = dict[str, Any]


# ---- scores --------------------------------------------------------------------------

def score(entry: Entry, t: int) -> float | None:
    """None: the run did not get that far; infinite: all failed."""
    if entry["total"] < t:
        return None
    if "named" in entry:
        if str(t) not in entry["named"]:
            return None
        named = entry["named"][str(t)]
        return math.inf if named is None else named
    return min((v for v in entry["values"][:t] if v is not None), default=math.inf)


class Standing:
    """The runs on one problem, and what their scores mean."""

    def __init__(self, runs: list[Entry], known: float | None) -> None:
        self.runs = {(run["method"], run["seed"]): run for run in runs}
        values = [v for run in runs for v in run.get("means", run["values"])
                  if v is not None]
        self.optimum = runs[0]["optimum"]
        self.best = min([*values, *([] if known is None else [known])], default=0.0)
        if self.optimum is not None:
            self.best = self.optimum
        self._worst = max(values, default=0.0)
        self.scale = self._scale()

    def _scale(self) -> float:
        """0: there is none, because random is not there or finds the best at once."""
        ends = {run["total"] for (method, _), run in self.runs.items() if method == "random"}
        for t in (max(ends, default=0), 25):
            level = self.random_median(t)
            if level is not None and level > self.best:
                return level - self.best
        return 0.0

    def score(self, method: str, seed: int, t: int) -> float | None:
        found = score(self.runs[method, seed], t)
        return self._worst if found == math.inf else found

    def seeds(self, method: str) -> list[int]:
        return [seed for name, seed in self.runs if name == method]

    def scores(self, method: str, t: int) -> dict[int, float]:
        found = {seed: self.score(method, seed, t) for seed in self.seeds(method)}
        return {seed: value for seed, value in found.items() if value is not None}

    def random_median(self, t: int) -> float | None:
        found = self.scores("random", t)
        return median(found.values()) if found else None

    def regrets(self, method: str, t: int) -> dict[int, float]:
        if self.scale == 0:
            return {}
        return {seed: (value - self.best) / self.scale
                for seed, value in self.scores(method, t).items()}

    def stuck(self, method: str, t: int) -> list[bool]:
        level = self.random_median(t)
        if level is None:
            return []
        return [value > level for value in self.scores(method, t).values()]


# ---- over problems -------------------------------------------------------------------

def ranks(values: list[float]) -> list[float]:
    """From 1, ties share."""
    return [1 + sum(v < u - TIE for v in values)
            + (sum(abs(v - u) <= TIE for v in values) - 1) / 2 for u in values]


def mean_ranks(standings: list[Standing], methods: list[str], t: int) -> dict[str, float]:
    """Of the methods that have runs on every problem, over the seeds that all of them have."""
    counted = [standing for standing in standings if standing.scale > 0]
    methods = [m for m in methods if all(standing.regrets(m, t) for standing in counted)]
    collected: dict[str, list[float]] = defaultdict(list)
    for standing in counted if methods else ():
        by_method = [standing.regrets(method, t) for method in methods]
        for seed in set.intersection(*map(set, by_method)):
            row = ranks([found[seed] for found in by_method])
            for method, rank in zip(methods, row):
                collected[method].append(rank)
    return {method: mean(found) for method, found in collected.items()}


def wilcoxon(differences: list[float]) -> float | None:
    """The two-sided p of the signed-rank test, by its normal approximation; ties of size are
    shared and differences of 0 left out. None: fewer than 6 are left."""
    sizes = sorted(abs(d) for d in differences if abs(d) > TIE)
    n = len(sizes)
    if n < 6:
        return None
    place: dict[float, float] = {}
    shared, i = 0.0, 0
    while i < n:
        j = i
        while j < n and sizes[j] == sizes[i]:
            j += 1
        place[sizes[i]] = (i + 1 + j) / 2
        shared += (j - i) ** 3 - (j - i)
        i = j
    plus = sum(place[d] for d in differences if d > TIE)
    variance = n * (n + 1) * (2 * n + 1) / 24 - shared / 48
    z = max(0.0, abs(plus - n * (n + 1) / 4) - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def paired(standings: list[Standing], ours: str, other: str, t: int) -> dict[str, Any]:
    differences = []
    for standing in standings:
        mine, theirs = standing.regrets(ours, t), standing.regrets(other, t)
        differences += [mine[seed] - theirs[seed] for seed in mine if seed in theirs]
    wins = sum(d < -TIE for d in differences)
    losses = sum(d > TIE for d in differences)
    return {"wins": wins, "ties": len(differences) - wins - losses, "losses": losses,
            "p": wilcoxon(differences)}


def average(found: list[float]) -> float | None:
    return mean(found) if found else None


def summary(standings: list[Standing], method: str, times: list[int],
            rank: dict[int, dict[str, float]]) -> dict[str, Any]:
    """Problems have the same weight in a mean of regrets, runs in a share of stuck ones."""
    runs = [run for standing in standings for (name, _), run in standing.runs.items()
            if name == method]
    regret = {t: average([mean(found.values()) for standing in standings
                          if (found := standing.regrets(method, t))]) for t in times}
    stuck = {t: average([s for standing in standings for s in standing.stuck(method, t)])
             for t in times}
    return {"runs": len(runs), "rank": {t: rank[t].get(method) for t in times},
            "regret": regret, "stuck": stuck,
            "cpu_per_ask": average([c for run in runs for c in run["cpu"]])}


def of_family(standings: dict[str, Standing], methods: list[str], ours: str,
              times: list[int]) -> dict[str, Any]:
    some = list(standings.values())
    rank = {t: mean_ranks(some, methods, t) for t in times}
    worst = sorted(((regret, problem, seed) for problem, standing in standings.items()
                    for seed, regret in standing.regrets(ours, times[-1]).items()),
                   reverse=True)
    return {
        "methods": {m: summary(some, m, times, rank) for m in methods},
        "against": {m: {t: paired(some, ours, m, t) for t in times}
                    for m in methods if m != ours},
        "problems": {name: {m: {t: average(list(standing.regrets(m, t).values()))
                                for t in times} for m in methods}
                     for name, standing in standings.items()},
        "best": {name: standing.best for name, standing in standings.items()},
        "worst": [{"problem": p, "seed": s, "regret": r} for r, p, s in worst[:10]],
        "without_regret": [name for name, s in standings.items() if s.scale == 0],
    }


Families = dict[str, dict[str, Standing]]


def families_of(runs: list[Entry], known: dict[str, float]) -> Families:
    by_problem: dict[str, list[Entry]] = defaultdict(list)
    for run in runs:
        by_problem[run["problem"]].append(run)
    families: Families = defaultdict(dict)
    for problem, some in by_problem.items():
        families[problem.split("/")[0]][problem] = Standing(some, known.get(problem))
    return families


def build(families: Families, ours: str, times: list[int]) -> dict[str, Any]:
    made = {}
    for name, standings in families.items():
        runs = [run for standing in standings.values() for run in standing.runs.values()]
        longest = max(run["total"] for run in runs)
        within = [t for t in times if t <= longest] or [longest]
        made[name] = of_family(standings, sorted({run["method"] for run in runs}), ours,
                               within)
    return {"for": ours, "families": made}


# ---- Markdown ------------------------------------------------------------------------

def shown(value: float | None, form: str = ".3g") -> str:
    return "" if value is None else format(value, form)


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def markdown(report: dict[str, Any], each: bool) -> str:
    parts = []
    for name, found in report["families"].items():
        methods = found["methods"]
        times = list(next(iter(methods.values()))["regret"])
        parts.append(f"## {name}: {len(found['problems'])} problems\n")
        order = sorted(methods, key=lambda m: (methods[m]["rank"][times[-1]] or math.inf, m))
        parts.append(table(
            ["method", "runs", f"mean rank at {times[-1]}",
             *(f"regret at {t}" for t in times), *(f"stuck at {t}" for t in times),
             "CPU ms an ask"],
            [[m, str(methods[m]["runs"]), shown(methods[m]["rank"][times[-1]], ".2f"),
              *(shown(methods[m]["regret"][t]) for t in times),
              *(shown(methods[m]["stuck"][t], ".0%") for t in times),
              shown((methods[m]["cpu_per_ask"] or 0) * 1000)] for m in order]))
        if found["against"] and report["for"] in methods:
            parts.append(f"{report['for']} against each, wins-ties-losses (p):\n")
            parts.append(table(["method", *(f"at {t}" for t in times)],
                               [[m, *(versus(found["against"][m][t]) for t in times)]
                                for m in order if m != report["for"]]))
            parts.append("Its worst runs: " + ", ".join(
                f"{w['problem']} {w['seed']} ({w['regret']:.2f})"
                for w in found["worst"]) + "\n")
        if each:
            t = times[-1]
            parts.append(table([f"mean regret at {t}", "best known", *order], [
                [problem, shown(found["best"][problem], ".6g"),
                 *(shown(row[m][t]) for m in order)]
                for problem, row in found["problems"].items()]))
        if found["without_regret"]:
            parts.append("Without regrets, because random is not there or finds the best at "
                         f"once: {', '.join(found['without_regret'])}\n")
    return "\n".join(parts)


def versus(pair: dict[str, Any]) -> str:
    p = "" if pair["p"] is None else f" ({pair['p']:.2g})"
    return f"{pair['wins']}-{pair['ties']}-{pair['losses']}{p}"


def trace(runs: list[Entry], said: str) -> str:
    """One run, evaluation by evaluation."""
    problem, method, seed = (said.split(":") + ["", ""])[:3]
    found = [run for run in runs
             if (run["problem"], run["method"], str(run["seed"])) == (problem, method, seed)]
    if not found:
        raise Refused(f'--show is "{said}", want PROBLEM:METHOD:SEED of a run that is there')
    run, best, rows = found[0], math.inf, []
    for i, (value, point) in enumerate(zip(run["values"], run["points"]), 1):
        better = value is not None and value < best
        best = value if better else best
        rows.append([str(i), "failed" if value is None else f"{value:.6g}",
                     "*" if better else "", *("" if v is None else str(v) for v in point)])
    return table(["", "value", "better", *run["names"]], rows)


# ---- the command line ----------------------------------------------------------------

def parse_args(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/arena/report", description="What came of runs of bench/arena/run.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=__doc__.split("\n", 2)[2])
    parser.add_argument("files", nargs="+", metavar="FILE", help="of results")
    parser.add_argument("--for", default="cocabo", dest="ours", metavar="METHOD",
                        help="whose wins are counted (cocabo)")
    parser.add_argument("--at", default="25,50,100,200", metavar="LIST",
                        help="numbers of evaluations (25,50,100,200)")
    parser.add_argument("--problem", default="*", metavar="LIST",
                        help="only these, e.g. textbook,programs/svc-*")
    parser.add_argument("--method", default="", metavar="LIST", help="only these")
    parser.add_argument("--seeds", default="", metavar="LIST", help="only these")
    parser.add_argument("--each", action="store_true", help="every problem by itself too")
    parser.add_argument("--json", action="store_true", help="JSON instead of Markdown")
    parser.add_argument("--show", default="", metavar="PROBLEM:METHOD:SEED",
                        help="instead: one run, evaluation by evaluation")
    parser.add_argument("--figure", default="", metavar="FILE.svg",
                        help="draw the regrets over evaluations too")
    parser.add_argument("--keep-best", action="store_true",
                        help="add what is better than known to best.json")
    return parser.parse_args(words)


def wanted(args: argparse.Namespace, runs: list[Entry]) -> list[Entry]:
    patterns = [p if "/" in p or p == "*" else p + "/*" for p in args.problem.split(",")]
    methods = args.method.split(",") if args.method else None
    seeds = set(parse_seeds(args.seeds)) if args.seeds else None
    return [run for run in runs
            if any(fnmatch.fnmatch(run["problem"], p) for p in patterns)
            and (methods is None or run["method"] in methods)
            and (seeds is None or run["seed"] in seeds)]


def longest(runs: list[Entry]) -> list[Entry]:
    """Of several lengths of one run the longest."""
    found: dict[tuple, Entry] = {}
    for run in sorted(runs, key=lambda run: run["total"]):
        found[run["problem"], run["method"], run["seed"]] = run
    return list(found.values())


def best_of(runs: list[Entry], known: dict[str, float]) -> dict[str, float]:
    """The best known value of every problem whose optimum is not."""
    best = dict(known)
    for run in runs:
        values = [v for v in run.get("means", run["values"]) if v is not None]
        if run["optimum"] is None and values:
            best[run["problem"]] = min(values + [best.get(run["problem"], math.inf)])
    return best


def write_figure(path: str, families: Families) -> None:
    drawn = figure.draw({name: list(found.values()) for name, found in families.items()})
    if not drawn:
        raise Refused("there is nothing to draw: regrets need runs of random")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(drawn)
    except OSError as error:
        raise Refused(f"cannot write {path}: {error.strerror}") from None


def main(words: list[str]) -> int:
    args = parse_args(words)
    try:
        times = sorted({int(t) for t in args.at.split(",")})
    except ValueError:
        times = []
    if not times or times[0] < 1:
        raise Refused(f'--at is "{args.at}", want numbers of evaluations like 25,100')
    every = [run for path in args.files for run in record.read(path)]
    # The best known is that of all runs, whichever are shown.
    known = best_of(every, json.loads(BEST.read_text()) if BEST.exists() else {})
    if args.keep_best:
        BEST.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    if args.show:
        print(trace(longest(every), args.show))
        return 0
    runs = wanted(args, longest(every))
    if not runs:
        raise Refused(f"{', '.join(args.files)}: there are no runs to report")
    families = families_of(runs, known)
    if args.figure:
        write_figure(args.figure, families)
    report = build(families, args.ours, times)
    print(json.dumps(report, indent=1) if args.json else markdown(report, args.each))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Refused as refusal:
        print(f"bench/arena/report: {refusal}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
