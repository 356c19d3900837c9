#!/usr/bin/env python3
"""worker.py - one run: a method on a problem from one seed, as rows on standard output.

    python3 worker.py '{"method": ..., "problem": ..., "seed": ..., ...}'

peers.py starts it with the Python of the method's environment.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from dataclasses import dataclass
from typing import TextIO

import methods
from problem import Problem
from results import Row, Run


@dataclass
class Job:
    run: Run
    bench: str
    permute: bool
    points: str                  # a file for the points; "": they are not kept


def read_job(text: str) -> Job:
    entry = json.loads(text)
    return Job(Run(**entry["run"]), entry["bench"], entry["permute"],
               entry["points"])


def keep_output_to_ourselves() -> TextIO:
    """Libraries print; what they print goes to standard error instead."""
    ours = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return ours


def play(job: Job, problem: Problem, out: TextIO) -> None:
    run = job.run
    method = methods.make(run.method, problem.space, run.seed, run.rows)
    best, points = -float("inf"), []
    for i in range(run.rows):
        start = time.perf_counter()
        point = problem.initial[i] if i < run.init else method.ask()
        seconds = time.perf_counter() - start
        value = problem.evaluate(point)
        method.tell(point, value)
        if value is not None:
            best = max(best, value)
        iteration = max(0, i + 1 - run.init)
        row = Row(iteration, i + 1, float("nan") if value is None else value, best,
                  seconds)
        out.write(row.text(run.key))
        active = {p.name: point[p.name] for p in problem.space.active(point)}
        points.append({"problem": run.problem, "method": run.method, "seed": run.seed,
                       "evaluation": i + 1, "value": value, "point": active})
    if job.points:
        with open(job.points, "a") as file:  # at one stroke, for runs beside this one
            file.write("".join(json.dumps(point) + "\n" for point in points))


def main(text: str) -> None:
    out = keep_output_to_ourselves()
    job = read_job(text)
    problem = Problem(job.bench, job.run.problem, job.run.seed, job.run.init, job.permute)
    try:
        play(job, problem, out)
    finally:
        problem.close()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as error:   # the last line is what peers.py shows
        traceback.print_exc()
        sys.exit(f"{type(error).__name__}: {error}".replace("\n", " "))
