#!/usr/bin/env python3
"""arena.py - methods against each other on problems of other people, into JSON lines.

Needs no package itself. A run is played by two processes that know nothing of each other:
evaluator.py has the problem, player.py the method, each with the Python of the environment
that it needs; the loop between them (Referee) is all that a run is.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from places import HERE, ROOT, python_of, sentence_if_missing  # first: the path of bench/peers
import players
from families import FAMILIES, family
from peers import Progress, parse_seeds
from record import Record, Run, key_of
from results import Refused
from space import Space

NAMED_AT = (25, 50, 100, 200)    # when a method is asked what it would name, if there is noise


# ---- the command line ----------------------------------------------------------------

def parse_args(words: list[str]) -> argparse.Namespace:
    width = max(map(len, players.PLAYERS))
    listing = "\n".join(f"  {name:{width}}  {entry.help}"
                        for name, entry in players.PLAYERS.items())
    families = "\n".join(f"  {name}: {' '.join(family(name).NAMES)}" for name in FAMILIES)
    parser = argparse.ArgumentParser(
        prog="bench/arena/run", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Plays methods on problems. The same line again resumes.",
        epilog=f"methods:\n{listing}\n\nproblems:\n{families}\n\nexample:\n"
               "  bench/arena/run --problem textbook,programs/svc-* --method "
               "random,cocabo,optuna-tpe \\\n      --seeds 0-9 --jobs 2 -o results.jsonl\n"
               "  bench/arena/report results.jsonl")
    parser.add_argument("--problem", required=True, metavar="LIST",
                        help="families, or patterns like programs/svc-*")
    parser.add_argument("--method", required=True, metavar="LIST", help="see below")
    parser.add_argument("--seeds", default="0-4", metavar="LIST",
                        help="one run each (0-4); 0-9 are for choosing, 100 and up for "
                             "reporting")
    parser.add_argument("-n", type=int, default=100, metavar="N", dest="total",
                        help="evaluations a run (100)")
    parser.add_argument("--library", action="append", default=[], metavar="[NAME=]PATH",
                        help="libcocabo.so of cocabo, or of cocabo@NAME "
                             "($COCABO_LIBRARY, or build/libcocabo.so)")
    parser.add_argument("--set", action="append", default=[],
                        metavar="[NAME:]OPTION=VALUE",
                        help="an option of cocabo's studies, or of those of cocabo@NAME")
    parser.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="runs at a time (1)")
    parser.add_argument("-q", dest="quiet", action="store_true", help="no progress")
    parser.add_argument("-o", dest="output", required=True, metavar="FILE",
                        help="the file of results")
    return parser.parse_args(words)


def parse_problems(text: str) -> list[str]:
    every = [f"{name}/{short}" for name in FAMILIES for short in family(name).NAMES]
    found: list[str] = []
    for part in text.split(","):
        pattern = part if "/" in part else part + "/*"
        matching = fnmatch.filter(every, pattern)
        if not matching:
            raise Refused(f'there is no problem "{part}": see bench/arena/run --help')
        found += matching
    return list(dict.fromkeys(found))


def parse_methods(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if not players.entry(name):
            raise Refused(f'unknown method "{name}", want {", ".join(players.PLAYERS)}')
    return list(dict.fromkeys(names))


@dataclass
class Build:
    """Which cocabo a method is: a library, and the options of its studies."""

    library: str
    options: dict[str, str] = field(default_factory=dict)

    def recorded(self) -> dict[str, Any]:
        try:
            with open(self.library, "rb") as file:
                checksum = hashlib.sha256(file.read()).hexdigest()[:12]
        except OSError as error:
            raise Refused(f"cannot read the library {self.library}: {error.strerror}; run "
                          "make, or say --library PATH") from None
        return {"library": checksum, "options": self.options}


def parse_builds(args: argparse.Namespace, methods: list[str]) -> dict[str, Build]:
    usual = os.environ.get("COCABO_LIBRARY") or str(ROOT / "build/libcocabo.so")
    builds = {name: Build(usual) for name in methods if name.split("@")[0] == "cocabo"}

    def meant(name: str) -> list[Build]:
        if name and f"cocabo@{name}" not in builds:
            raise Refused(f"there is no method cocabo@{name} in --method {args.method}")
        return [builds[f"cocabo@{name}"]] if name else list(builds.values())

    for said in sorted(args.library, key=lambda text: "=" in text):
        name, _, path = said.rpartition("=")
        for build in meant(name):
            build.library = os.path.abspath(path)
    for said in sorted(getattr(args, "set"), key=lambda text: ":" in text.split("=")[0]):
        option, equals, value = said.partition("=")
        name, _, option = option.rpartition(":")
        if not equals or not option:
            raise Refused(f'--set is "{said}", want [NAME:]OPTION=VALUE')
        for build in meant(name):
            build.options[option] = value
    return builds


# ---- a run ---------------------------------------------------------------------------

class Child:
    """A process that answers a JSON line with a JSON line."""

    def __init__(self, environment: str, program: str, **variables: str) -> None:
        self._errors = tempfile.TemporaryFile("w+")
        # One thread each, so that jobs do not take each other's processors; SMAC3 repeats
        # itself only with a fixed hash seed.
        fixed = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                 "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        self.process = subprocess.Popen(
            [python_of(environment), "-W", "ignore", str(HERE / program)], text=True,
            bufsize=1, env={**os.environ, **fixed, **variables}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors)

    def __call__(self, said: dict[str, Any]) -> dict[str, Any]:
        try:
            self.process.stdin.write(json.dumps(said) + "\n")
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Refused(self._last_words())
        return json.loads(line)

    def _last_words(self) -> str:
        status = self.process.wait()
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1] if lines else f"status {status}"

    def close(self) -> None:
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()
        self.process.wait()
        self._errors.close()


class Referee:
    """Plays runs, one after the other; one for each job. Evaluators stay for the next run,
    because what they import takes its time; a player plays once."""

    def __init__(self, builds: dict[str, Build], progress: Progress) -> None:
        self._builds, self._progress = builds, progress
        self._evaluators: dict[str, Child] = {}
        self._player: Child | None = None

    def play(self, run: Run) -> dict[str, Any] | None:
        """None: the method is not for such problems."""
        evaluator = self._evaluator(run.problem)
        problem = evaluator({"problem": run.problem, "seed": run.seed})
        if not players.can_play(run.method, Space.read(problem["parameters"])):
            return None
        self._player = player = self._start(run, problem)
        try:
            played = self._moves(run, problem, evaluator, player)
        finally:
            player.close()
            self._player = None
        return {**run._asdict(), "optimum": problem["optimum"], **self._build(run), **played}

    def _evaluator(self, problem: str) -> Child:
        name = problem.split("/")[0]
        child = self._evaluators.get(name)
        if child is None or child.process.poll() is not None:
            child = Child(family(name).ENVIRONMENT, "evaluator.py")
            self._evaluators[name] = child
        return child

    def _start(self, run: Run, problem: dict[str, Any]) -> Child:
        build = self._builds.get(run.method)
        variables = {"PYTHONPATH": str(ROOT / "python"), "COCABO_LIBRARY": build.library
                     } if build else {}
        player = Child(players.entry(run.method).environment, "player.py", **variables)
        player({"method": run.method, "parameters": problem["parameters"],
                "seed": run.seed, "total": run.total, "noisy": problem["noisy"],
                "options": build.options if build else {}})
        return player

    def _build(self, run: Run) -> dict[str, Any]:
        build = self._builds.get(run.method)
        return {"build": build.recorded()} if build else {}

    def _moves(self, run: Run, problem: dict[str, Any], evaluator: Child,
               player: Child) -> dict[str, Any]:
        names = list(problem["parameters"])
        played: dict[str, Any] = {"values": [], "cpu": [], "names": names, "points": []}
        if problem["noisy"]:
            played |= {"means": [], "named": {}}
        for i in range(1, run.total + 1):
            asked = player({"ask": True})
            if asked["point"] is None:
                break            # every point of the space was tried
            found = evaluator({"point": asked["point"]})
            player({"tell": found["value"]})
            played["values"].append(found["value"])
            played["cpu"].append(float(f"{asked['cpu']:.3g}"))
            played["points"].append([_short(found["active"].get(name)) for name in names])
            if problem["noisy"]:
                played["means"].append(found.get("mean"))
                if i in NAMED_AT or i == run.total:
                    played["named"][i] = self._named(played, player)
            self._progress.row()
        return played

    @staticmethod
    def _named(played: dict[str, Any], player: Child) -> float | None:
        """The true mean of what the method would name; without a word of its own, of the
        least value told."""
        known = [(v, k) for k, v in enumerate(played["values"]) if v is not None]
        if not known:
            return None
        k = player({"best": True})["best"]
        return played["means"][min(known)[1] if k is None else k]

    def close(self) -> None:
        for child in self._evaluators.values():
            child.close()

    def stop(self) -> None:
        for child in [*self._evaluators.values(), self._player]:
            if child:
                child.process.terminate()


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


# ---- all of them ---------------------------------------------------------------------

def list_runs(args: argparse.Namespace, methods: list[str]) -> list[Run]:
    """Seeds outside, so that whenever it is stopped the methods have about the same runs."""
    if args.total < 1 or args.jobs < 1:
        raise Refused(f"-n {args.total} --jobs {args.jobs}, want at least 1 of each")
    problems = parse_problems(args.problem)
    return [Run(problem, method, seed, args.total) for seed in parse_seeds(args.seeds)
            for problem in problems for method in methods]


def check_setup(runs: list[Run], builds: dict[str, Build], record: Record) -> None:
    for name in dict.fromkeys(run.method for run in runs):
        if sentence := sentence_if_missing(name, players.entry(name).environment):
            raise Refused(sentence)
    for name in dict.fromkeys(run.problem.split("/")[0] for run in runs):
        if sentence := sentence_if_missing(name, family(name).ENVIRONMENT):
            raise Refused(sentence)
    now = {method: build.recorded() for method, build in builds.items()}
    for entry in record.runs:
        if entry["method"] in now and entry.get("build") != now[entry["method"]]:
            raise Refused(f"the file has runs of another {entry['method']}, {entry['build']} "
                          f"and not {now[entry['method']]}: name this one cocabo@NAME, or "
                          "write to another file")


def do_runs(runs: list[Run], jobs: int, builds: dict[str, Build], record: Record,
            progress: Progress) -> list[str]:
    """Appends what succeeds; returns the sentences of what does not."""
    local, referees, failures, stopped = threading.local(), [], [], threading.Event()

    def play(run: Run) -> dict[str, Any] | None:
        if stopped.is_set():
            raise Refused("not begun")
        if not hasattr(local, "referee"):
            local.referee = Referee(builds, progress)
            referees.append(local.referee)
        try:
            return local.referee.play(run)
        except Refused as refusal:
            raise Refused(f"{run} failed: {refusal}") from None

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(play, run) for run in runs]
        try:
            for future in as_completed(futures):
                try:
                    if entry := future.result():
                        record.append(entry)
                    progress.run()
                except Refused as failure:
                    failures.append(str(failure))
        except BaseException:    # Ctrl-C, or a full disk
            stopped.set()
            for referee in referees:
                referee.stop()
            pool.shutdown(cancel_futures=True)
            raise
    for referee in referees:
        referee.close()
    return failures


def main(words: list[str]) -> int:
    args = parse_args(words)
    methods = parse_methods(args.method)
    builds = parse_builds(args, methods)
    runs = list_runs(args, methods)
    record = Record(args.output)
    check_setup(runs, builds, record)
    there = set(map(key_of, record.runs))
    missing = [run for run in runs if run not in there]
    progress = Progress(args.quiet, missing)
    failures = do_runs(missing, args.jobs, builds, record, progress) if missing else []
    progress.end()
    for failure in failures:
        print(f"bench/arena/run: {failure}", file=sys.stderr)
    if not args.quiet:
        print(f"{args.output}: {len(missing) - len(failures)} of {len(runs)} runs done, "
              f"{len(runs) - len(missing)} were there", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Refused as refusal:
        print(f"bench/arena/run: {refusal}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("bench/arena/run: interrupted; the same line again goes on", file=sys.stderr)
        sys.exit(130)
