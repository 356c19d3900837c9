#!/usr/bin/env python3
"""Runners and workers of one racing study, under fire: no run that was acknowledged is
lost, none counts twice, and the budget of runs is kept.

    python3 tests/workers/chaos_runs.py PATH/TO/cocabo [--kills 20] [--postgres]
        [--restarts 0] [--seed N] [--keep]     in full: --kills 200, with and without
                                               --postgres --restarts 5

Trials are run on pairs of an instance and a seed, several of each trial at once. Who got
SIGKILL, with his runs under way, is replaced; so is a server, all of whose processes get
it. The budget of runs is raised whenever it is
reached, so that its edge is crossed many times. With -v a process says "trial N run K on
INSTANCE: VALUE" after the store has said that it has it. A run of a dead process is run
again under another number, so what is found under that one was recorded then.

At the end, with the faults over and a budget of some more runs:
  - runs that are not discarded are exactly as many as the budget; none is under way
  - every acknowledged run is there, with its value
  - every value of a run is the one of its point and pair
  - the value of a trial is the mean over its pairs, each counted once
  - all trials took the pairs in one order
  - who fails, fails; no point is there twice
  - cocabo verify finds nothing
"""

import argparse
import collections
import contextlib
import json
import math
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from herd import Herd, expect
from server import Server, die_with_parent, missing_in

LEASE = 2  # seconds
SKIP = 77
INSTANCES, SEEDS = 6, 2
SPACE = ["-p", "a=int(1,99)", "-p", "b=int(1,99)", "-p", "c=choice(0,1,2,3,4)"]
STUDY = ["--instances", "list.txt", "--seeds", str(SEEDS)]
COMMAND = ["--", "./program", "{a}", "{b}", "{c}", "{instance}", "{seed}"]
PROGRAM = """#!/bin/sh
echo "$COCABO_TRIAL $4 $5" >>evaluations
sleep 0.0$((($1 + $2 * $4 + $5) % 8))
[ $(($1 % 13)) != 0 ] || [ "$4" != 3 ] || exit 1
echo $(($1 * 1000 + ($2 * $4 * 7 + $5 * 13) % 900 + $3))
"""


def fails(params):
    """On instance 3."""
    return params["a"] % 13 == 0


def value_at(params, run):
    a, b, c = params["a"], params["b"], params["c"]
    return a * 1000 + (b * int(run["instance"]) * 7 + run["seed"] * 13) % 900 + c


def pair_of(run):
    return run["instance"], run["seed"]


def pairs_of(runs):
    """In the order in which they were first started."""
    return list(dict.fromkeys(pair_of(run) for run in runs))


def counted(trials):
    return sum(run["state"] != "discarded" for t in trials for run in t.get("runs", []))


class Chaos(Herd):
    STEP, CALM = 60, 120

    def __init__(self, args, storage, server):
        super().__init__(args.cocabo, args.folder, storage, PROGRAM, args.processes)
        (self.folder / "list.txt").write_text(
            "".join(f"{i}\n" for i in range(1, INSTANCES + 1)))
        self.server = server
        self.sampler = args.sampler
        self.begun = [0] * args.processes  # bytes of its report when one started
        self.acknowledged = {}  # (trial, run): instance and value
        self.failed = set()  # trials that were said to have failed

    # ---- processes -------------------------------------------------------------------

    def study_line(self):
        return [*SPACE, "--sampler", self.sampler, *STUDY, "--runs", str(self.budget),
                *COMMAND]

    def set_budget(self, trials):
        super().set_budget(trials)
        self.output("create", *self.study_line())

    def start_one(self, i):
        """Even ones are runs, odd ones workers; all report to a file of their own."""
        line = ["-v", "--lease", str(LEASE), "-j", str(1 + i % 3)]
        line = ["worker", *line] if i % 2 else ["run", *line, *self.study_line()]
        with open(self.folder / f"report-{i}", "ab") as report:
            self.begun[i] = report.tell()
            self.processes[i] = subprocess.Popen(
                [self.cocabo, *line], cwd=self.folder, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=report,
                preexec_fn=die_with_parent(signal.SIGKILL))

    def hear_end(self, i, process):
        """One that starts while there is no server may say so and end."""
        status = process.returncode
        said = (self.folder / f"report-{i}").read_bytes()[self.begun[i]:].decode()
        away = status == 1 and "\n" not in said.strip() and "cannot connect to" in said
        self.ends["no server" if away else status] += 1
        expect(away or status in (0, -signal.SIGKILL), "everybody goes on until the budget",
               f"one ended with status {status} and said: {said[-600:]}")

    def read_reports(self):
        for line in self.new_lines():
            found = re.match(r"trial (\d+) run (\d+) on (\S+): (\S+)", line)
            if found:
                key = int(found[1]), int(found[2])
                expect(key not in self.acknowledged, "a run is told once", line)
                self.acknowledged[key] = found[3], float(found[4])
            found = re.match(r"trial (\d+) failed", line)
            if found:
                self.failed.add(int(found[1]))

    def look_after(self):
        """Looking at the study takes long: once for all who found the budget reached."""
        self.read_reports()
        reached = any(p is not None and p.poll() == 0 for p in self.processes)
        if reached and counted(self.trials()) >= self.budget:
            self.set_budget(self.budget + self.STEP)
        self.replace_the_dead()

    # ---- faults ----------------------------------------------------------------------

    def kill(self):
        alive = [p for p in self.processes if p.poll() is None]
        if alive:
            random.choice(alive).kill()
        return bool(alive)

    def restart(self):
        """What is acknowledged now must survive."""
        self.read_reports()
        self.server.kill9()
        self.server.start()
        return True

    def rage(self, faults, pause):
        """Every fault finds processes that had the time to do something."""
        mark, seen, since = 0, 0, time.monotonic()
        while faults:
            self.look_after()
            if len(self.acknowledged) > seen:
                seen, since = len(self.acknowledged), time.monotonic()
            expect(time.monotonic() - since < self.CALM, "the work goes on after a fault")
            time.sleep(min(random.expovariate(1 / pause), 0.5))
            if seen <= mark or not getattr(self, faults[-1])():
                continue
            self.faults[faults.pop()] += 1
            mark = seen
            if len(faults) % 50 == 0:
                print(f"{dict(self.faults)}, {len(self.acknowledged)} runs", flush=True)

    # ---- the end ---------------------------------------------------------------------

    def finish(self):
        """With a budget for all runs there are and some more."""
        self.bury()
        self.set_budget(counted(self.trials()) + 20)
        for i in range(len(self.processes)):
            self.start_one(i)
        for process in self.processes:
            expect(process.wait(timeout=self.CALM) == 0, "everybody finishes",
                   process.returncode)
        self.read_reports()

    def check(self):
        trials = self.trials()
        expect(counted(trials) == self.budget, "the budget is reached exactly",
               (counted(trials), self.budget))
        points = collections.Counter(json.dumps(t["params"]) for t in trials)
        expect(max(points.values()) == 1, "no point is there twice")
        order = max((pairs_of(t.get("runs", [])) for t in trials), key=len)
        for number, trial in enumerate(trials):
            expect(trial["number"] == number, "numbers are without gaps")
            self.check_trial(trial, order)
        self.check_acknowledged(trials)
        self.output("verify", "--proposals", "all")
        return trials

    def check_trial(self, trial, order):
        runs = trial["runs"]
        done = {pair_of(run): run["value"] for run in runs if run["state"] == "ok"}
        expect(all(run["state"] in ("ok", "failed", "discarded") for run in runs),
               "no run is under way", trial)
        expect(all(run["value"] == value_at(trial["params"], run)
                   for run in runs if run["state"] == "ok"),
               "every value is that of its point and pair", trial)
        taken = pairs_of(runs)
        expect(taken == order[:len(taken)], "all take the pairs in one order",
               (taken, order))
        failed = any(run["state"] == "failed" for run in runs)
        expect(failed <= fails(trial["params"]) and (trial["state"] == "failed") == failed,
               "who fails, fails", trial)
        expect(trial["state"] in ("complete", "failed", "running"), "states", trial)
        if trial["state"] == "complete":
            mean = math.fsum(done.values()) / len(done)
            expect(math.isclose(trial["value"], mean, rel_tol=1e-12),
                   "every pair counts once", trial)

    def check_acknowledged(self, trials):
        expect(len(self.acknowledged) > 20, "the processes reported something")
        for (number, k), (instance, value) in self.acknowledged.items():
            run = trials[number]["runs"][k]
            expect((run["state"], run["instance"]) == ("ok", instance) and
                   math.isclose(run["value"], value, rel_tol=1e-5),
                   "no acknowledged run is lost", (number, k, run, value))
        for number in self.failed:
            expect(trials[number]["state"] == "failed", "no failure is lost", number)


@contextlib.contextmanager
def storage_of(args):
    if not args.postgres:
        yield f"sqlite:///{args.folder}/study.db", None
        return
    with Server() as server:
        yield server.create_database("studies", server.create_role("worker")), server


def play(args):
    faults = ["kill"] * args.kills + ["restart"] * args.restarts
    random.shuffle(faults)
    with storage_of(args) as (storage, server):
        chaos = Chaos(args, storage, server)
        try:
            chaos.set_budget(chaos.STEP)
            chaos.rage(faults, args.pause)
            chaos.finish()
            return chaos, chaos.check()
        finally:
            chaos.bury()


def read_arguments():
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add("cocabo")
    add("--kills", type=int, default=20, help="of processes (%(default)s)")
    add("--restarts", type=int, default=0, help="of the server (%(default)s)")
    add("--processes", type=int, default=6)
    add("--pause", type=float, default=0.15, help="seconds between faults (%(default)s)")
    add("--sampler", default="random")
    add("--seed", type=int, default=None)
    add("--keep", action="store_true", help="keep the folder")
    add("--postgres", action="store_true", help="a PostgreSQL server in place of a file")
    args = parser.parse_args()
    args.restarts = args.restarts if args.postgres else 0
    args.seed = random.randrange(1 << 32) if args.seed is None else args.seed
    return args


def main():
    args = read_arguments()
    if args.postgres and missing_in(args.cocabo):
        print(missing_in(args.cocabo))
        sys.exit(SKIP)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and the server goes too
    random.seed(args.seed)
    args.folder = tempfile.mkdtemp(prefix="cocabo-chaos-")
    print(f"seed {args.seed}, folder {args.folder}", flush=True)
    started = time.monotonic()
    try:
        chaos, trials = play(args)
    except BaseException:
        args.keep = True
        print(f"kept {args.folder}", flush=True)
        raise
    finally:
        if not args.keep:
            shutil.rmtree(args.folder, ignore_errors=True)
    states = collections.Counter(run["state"] for t in trials for run in t["runs"])
    print(f"{dict(chaos.faults)} in {time.monotonic() - started:.0f} s: "
          f"{len(trials)} trials, runs {dict(states)} of {chaos.budget}, "
          f"{len(chaos.acknowledged)} acknowledged, ends {dict(chaos.ends)}; nothing lost "
          "or counted twice")


if __name__ == "__main__":
    main()
