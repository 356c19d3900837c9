#!/usr/bin/env python3
"""peers.py - other libraries on the problems of cocabo-bench, into the same CSV.

Needs no package itself: each run is a child process (worker.py) with the Python of the
environment that has its library; bench/peers/setup makes the environments.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import problem
from environments import HERE, ROOT, python_of, sentence_if_missing
from methods import METHODS
from results import Refused, Results, Run


# ---- the command line ----------------------------------------------------------------

def parse_seeds(text: str) -> list[int]:
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise Refused(f'--seeds is "{text}", want whole numbers like 0-19 or 0,3,5-7')
        seeds += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(seeds))


def parse_methods(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in METHODS:
            raise Refused(f'unknown method "{name}", want {", ".join(METHODS)}')
    return list(dict.fromkeys(names))


def parse_args(words: list[str]) -> argparse.Namespace:
    width = max(map(len, METHODS))
    listing = "\n".join(f"  {name:{width}}  {entry.help}"
                        for name, entry in METHODS.items())
    parser = argparse.ArgumentParser(
        prog="bench/peers/run", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs other libraries on the problems of cocabo-bench. The same line "
                    "again resumes.",
        epilog=f"methods:\n{listing}\n\nexample:\n  bench/peers/run --problem func-2c "
               "--method hyperopt-tpe,smac3 --seeds 0-4 -o peers.csv\n"
               "  cocabo-bench table peers.csv")
    parser.add_argument("--problem", required=True, metavar="LIST",
                        help="problems, e.g. func-2c,ackley-3c")
    parser.add_argument("--method", required=True, metavar="LIST", help="see below")
    parser.add_argument("--seeds", default="0-19", metavar="LIST",
                        help="one run each (0-19)")
    parser.add_argument("--init", type=int, default=24, metavar="N",
                        help="initial points, those of cocabo-bench run (24)")
    parser.add_argument("--iterations", type=int, default=200, metavar="T",
                        help="suggestions after them (200)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="runs at a time (1)")
    parser.add_argument("--permute", action="store_true",
                        help="list the choices as cocabo-bench run --permute does")
    parser.add_argument("--bench", default=str(ROOT / "build/cocabo-bench"),
                        metavar="PATH", help="the program (build/cocabo-bench)")
    parser.add_argument("--points", metavar="FILE", default="",
                        help="add every point and its value to FILE, as JSON lines")
    parser.add_argument("-q", dest="quiet", action="store_true", help="no progress")
    parser.add_argument("-o", dest="output", required=True, metavar="FILE",
                        help="the file of results (CSV)")
    return parser.parse_args(words)


def list_runs(args: argparse.Namespace) -> list[Run]:
    if args.init < 1 or args.iterations < 0 or args.jobs < 1:
        raise Refused(f"--init {args.init} --iterations {args.iterations} --jobs "
                      f"{args.jobs}, want at least 1, 0 and 1")
    seeds, names = parse_seeds(args.seeds), parse_methods(args.method)
    problems = list(dict.fromkeys(args.problem.split(",")))
    return [Run(p, m, s, args.init, args.iterations)
            for p in problems for m in names for s in seeds]


def check_setup(args: argparse.Namespace, runs: list[Run]) -> None:
    if not os.access(args.bench, os.X_OK):
        raise Refused(f"there is no {args.bench}, want cocabo-bench: run make, or say "
                      "--bench PATH")
    for name in dict.fromkeys(run.problem for run in runs):
        try:
            problem.check(args.bench, name)
        except RuntimeError as error:
            raise Refused(str(error)) from None
    for name in dict.fromkeys(run.method for run in runs):
        if sentence := sentence_if_missing(name, METHODS[name].environment):
            raise Refused(sentence)


# ---- progress ------------------------------------------------------------------------

class Progress:
    """A bar on a terminal, a line now and then elsewhere, nothing when quiet."""

    WIDTH = 24

    def __init__(self, quiet: bool, runs: list[Run]) -> None:
        self._quiet, self._terminal = quiet, sys.stderr.isatty()
        self._runs, self._rows = len(runs), sum(run.rows for run in runs)
        self._runs_done = self._rows_done = 0
        self._start = self._shown = time.monotonic()
        self._lock = threading.Lock()

    def row(self) -> None:
        with self._lock:
            self._rows_done += 1
            self._show(0.1 if self._terminal else 10.0)

    def run(self) -> None:
        with self._lock:
            self._runs_done += 1

    def end(self) -> None:
        if self._terminal and not self._quiet:
            self._show(0.0)
            print(file=sys.stderr)

    def _show(self, pause: float) -> None:
        now = time.monotonic()
        if self._quiet or now - self._shown < pause:
            return
        self._shown = now
        rate = self._rows_done / max(now - self._start, 1e-9)
        left = int((self._rows - self._rows_done) / rate + 0.5) if rate > 0 else 0
        eta = f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}" if rate > 0 else "?"
        full = self.WIDTH * self._rows_done // self._rows
        bar = f"\r[{'#' * full:.<{self.WIDTH}}] " if self._terminal else ""
        print(f"{bar}{self._runs_done}/{self._runs} runs, {self._rows_done}/{self._rows} "
              f"evaluations, {rate:.3g}/s, ETA {eta}",
              end="\033[K" if self._terminal else "\n", file=sys.stderr, flush=True)


# ---- the runs ------------------------------------------------------------------------

class Workers:
    """Child processes, one a run; those under way end with us."""

    def __init__(self, args: argparse.Namespace, progress: Progress) -> None:
        self._args, self._progress = args, progress
        self._children: set[subprocess.Popen] = set()
        self._stopped = False
        # One thread each, so that jobs do not take each other's processors.
        self._environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0",
                             "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

    def perform(self, run: Run) -> str:
        """All rows of the run."""
        if self._stopped:
            raise Refused(f"{run} was not begun")
        child = self._start(run)
        self._children.add(child)
        rows, errors = self._collect(child)
        self._children.discard(child)
        if child.returncode != 0 or len(rows) != run.rows:
            reason = errors[-1].strip() if errors else f"status {child.returncode}"
            raise Refused(f"{run} failed: {reason}")
        self._progress.run()
        return "".join(rows)

    def _start(self, run: Run) -> subprocess.Popen:
        job = {"run": dataclasses.asdict(run), "bench": os.path.abspath(self._args.bench),
               "permute": self._args.permute, "points": self._args.points}
        return subprocess.Popen(
            [python_of(METHODS[run.method].environment), "-W", "ignore", str(HERE / "worker.py"),
             json.dumps(job)], text=True, env=self._environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def _collect(self, child: subprocess.Popen) -> tuple[list[str], list[str]]:
        """Its rows and its complaints; both pipes are read, so that neither is full."""
        assert child.stdout and child.stderr
        errors: list[str] = []
        reader = threading.Thread(target=errors.extend, args=[child.stderr])
        reader.start()
        rows = []
        for line in child.stdout:
            rows.append(line)
            self._progress.row()
        reader.join()
        child.wait()
        return rows, errors

    def stop(self) -> None:
        self._stopped = True
        for child in list(self._children):
            child.terminate()


def do_runs(args: argparse.Namespace, runs: list[Run], results: Results) -> list[str]:
    """Appends what succeeds; returns the sentences of what does not."""
    progress = Progress(args.quiet, runs)
    workers = Workers(args, progress)
    failures = []
    with ThreadPoolExecutor(args.jobs) as pool:
        futures = [pool.submit(workers.perform, run) for run in runs]
        try:
            for future in as_completed(futures):
                try:
                    results.append(future.result())
                except Refused as failure:
                    failures.append(str(failure))
        except BaseException:    # Ctrl-C, or a full disk
            workers.stop()
            pool.shutdown(cancel_futures=True)
            raise
    progress.end()
    return failures


def main(words: list[str]) -> int:
    args = parse_args(words)
    runs = list_runs(args)
    check_setup(args, runs)
    results = Results(args.output)
    missing = results.missing(runs)
    failures = do_runs(args, missing, results) if missing else []
    for failure in failures:
        print(f"bench/peers/run: {failure}", file=sys.stderr)
    if not args.quiet:
        print(f"{args.output}: {len(missing) - len(failures)} of {len(runs)} runs done, "
              f"{len(runs) - len(missing)} were there", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Refused as refusal:
        print(f"bench/peers/run: {refusal}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("bench/peers/run: interrupted; the same line again goes on",
              file=sys.stderr)
        sys.exit(130)
