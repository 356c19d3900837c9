#!/usr/bin/env python3
"""Workers on one study on a PostgreSQL server, under fire: nothing that was acknowledged is
lost, nothing is doubled, and the work goes on.

    python3 tests/workers/chaos_postgres.py PATH/TO/cocabo [--kills 12] [--restarts 2]
        [--cuts 4] [--seed N] [--keep]          in full: --kills 500 --restarts 20 --cuts 50

The faults, in an order drawn from the seed:
  kill      SIGKILL to a worker, and another one is started
  restart   of the server: every other time all of its processes get SIGKILL
  cut       all connections of workers are reset at once

Workers reach the server through a proxy, and nobody helps them: a worker must outlive the
server and the network. The budget is raised whenever it is reached, so that its edge is
crossed many times. A value belongs to one point only, and with -v a worker says
"trial N complete: VALUE" after the store has said that it has it. At the end, with the
faults over and a budget for all trials there are:
  - the study has exactly as many complete trials as its budget, and no others
  - no trial number and no point is there twice
  - every value is the one of its point, also where a server forgot who was asked for it
  - every acknowledged value is there, and was not evaluated again afterwards
  - cocabo verify finds nothing
"""

import argparse
import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from herd import Herd, expect
from server import Proxy, Server, die_with_parent, missing_in

GRACE = 2  # seconds between a trial's being handed out and the start of its program
SKIP = 77
SPACE = ["-p", "a=int(1,99)", "-p", "b=int(1,99)", "-p", "c=choice(0,1,2,3,4)"]
COMMAND = ["--", "./program", "{a}", "{b}", "{c}"]
PROGRAM = """#!/bin/sh
echo "$(date +%s.%N) $1 $2 $3" >>evaluations
sleep 0.0$(($1 * $2 % 10))
echo $(($1 * 1000 + $2 * 10 + $3))
"""


def value_at(params):
    return params["a"] * 1000 + params["b"] * 10 + params["c"]


class Chaos(Herd):
    """`direct` is the store's URL, `url` that of the workers."""

    STEP, CALM = 40, 120

    def __init__(self, args, direct, url, server=None, proxy=None):
        super().__init__(args.cocabo, args.folder, direct, PROGRAM, args.workers)
        self.sampler = args.sampler
        self.lease = args.lease
        self.server, self.proxy = server, proxy
        self.url = url
        self.begun = [0] * args.workers  # bytes of its report when a worker started
        self.acknowledged = {}  # value: when that was seen here, seconds since 1970
        self.outages = []  # seconds from a fault of the server to the next new result

    # ---- the workers -----------------------------------------------------------------

    def set_budget(self, trials):
        super().set_budget(trials)
        self.output("create", *SPACE, "--sampler", self.sampler, "-n", str(trials),
                    *COMMAND)

    def start_one(self, i):
        with open(self.folder / f"report-{i}", "ab") as report:
            self.begun[i] = report.tell()
            self.processes[i] = subprocess.Popen(
                [self.cocabo, "worker", "-v", "--lease", str(self.lease)], cwd=self.folder,
                env={**self.environment, "COCABO_STORAGE": self.url}, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=report,
                preexec_fn=die_with_parent(signal.SIGKILL))

    def look_after(self):
        self.read_reports()
        self.replace_the_dead()

    def read_reports(self):
        now = time.time()
        for line in self.new_lines():
            found = re.match(r"trial \d+ complete: (\S+)", line)
            if found:
                self.acknowledged.setdefault(int(float(found[1])), now)

    def hear_end(self, i, worker):
        """It was killed, or found the budget reached. One that starts while there is no
        server may say so and end."""
        status = worker.returncode
        said = (self.folder / f"report-{i}").read_bytes()[self.begun[i]:].decode()
        away = status == 1 and "\n" not in said.strip() and "cannot connect to" in said
        self.ends["no server" if away else status] += 1
        expect(away or status in (0, -signal.SIGKILL), "a worker goes on whatever happens",
               f"one ended with status {status} and said: {said[-600:]}")
        if status == 0:
            self.raise_budget()

    # ---- faults ----------------------------------------------------------------------

    def kill(self):
        random.choice(self.processes).kill()

    def cut(self):
        self.proxy.cut()

    def restart(self):
        """What is acknowledged now must survive."""
        self.read_reports()
        if self.faults["restart"] % 2:
            self.server.stop()
        else:
            self.server.kill9()
        time.sleep(random.uniform(0, 1))
        self.server.start()

    def rage(self, faults, pause):
        """Every fault finds workers that had the time to do something."""
        mark, since = 0, time.monotonic()
        for i, fault in enumerate(faults):
            while len(self.acknowledged) <= mark:
                expect(time.monotonic() - since < self.CALM, "the work goes on after a fault",
                       faults[i - 1])
                self.look_after()
                time.sleep(0.02)
            if i and faults[i - 1] != "kill":
                self.outages.append(time.monotonic() - since)
            time.sleep(min(random.expovariate(1 / pause), 1))
            self.look_after()
            getattr(self, fault)()
            self.faults[fault] += 1
            mark, since = len(self.acknowledged), time.monotonic()
            if self.faults.total() % 50 == 0:
                print(f"{dict(self.faults)}, {len(self.acknowledged)} results", flush=True)

    # ---- the end ---------------------------------------------------------------------

    def calm_down(self):
        """Everybody dies once more; then everybody may finish."""
        self.bury()
        self.finish()
        self.read_reports()

    def check(self):
        trials = self.check_trials()
        for trial in trials:
            expect(trial["value"] == value_at(trial["params"]),
                   "every value is the one of its point", trial)
        self.check_acknowledged({trial["value"] for trial in trials})
        self.output("verify", "--proposals", "all")
        return trials

    def check_acknowledged(self, there):
        lost = [value for value in self.acknowledged if value not in there]
        expect(not lost, "no acknowledged value is lost", lost)
        for line in (self.folder / "evaluations").read_text().splitlines():
            when, a, b, c = line.split()
            value = value_at({"a": int(a), "b": int(b), "c": int(c)})
            known = self.acknowledged.get(value, float("inf"))
            expect(float(when) < known + GRACE,
                   "what is acknowledged is not evaluated again", line)


@contextlib.contextmanager
def surroundings(args):
    """The direct URL, that of the workers, the server and the proxy."""
    if args.sqlite:
        url = f"sqlite:///{args.folder}/study.db"
        yield url, url, None, None
        return
    with Server() as server, Proxy(0) as proxy:
        proxy.target = server.port
        role = server.create_role("worker")
        direct = server.create_database("studies", role)
        try:
            yield direct, server.url("studies", role, proxy.port), server, proxy
        finally:
            if args.keep:
                shutil.copy(server.folder / "log", pathlib.Path(args.folder) / "server.log")


def play(args, faults):
    with surroundings(args) as (direct, url, server, proxy):
        chaos = Chaos(args, direct, url, server, proxy)
        try:
            chaos.set_budget(chaos.STEP)
            chaos.rage(faults, args.pause)
            chaos.calm_down()
            return chaos, chaos.check()
        finally:
            chaos.bury()


def read_arguments():
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add("cocabo")
    add("--kills", type=int, default=12, help="of workers (%(default)s)")
    add("--restarts", type=int, default=2, help="of the server (%(default)s)")
    add("--cuts", type=int, default=4, help="of all connections (%(default)s)")
    add("--workers", type=int, default=6)
    add("--pause", type=float, default=0.15, help="seconds between faults (%(default)s)")
    add("--lease", type=float, default=5, help="seconds (%(default)s)")
    add("--sampler", default="random")
    add("--seed", type=int, default=None)
    add("--keep", action="store_true", help="keep the folder")
    add("--sqlite", action="store_true", help="a SQLite file and kills only")
    args = parser.parse_args()
    if args.sqlite:
        args.restarts = args.cuts = 0
    args.seed = random.randrange(1 << 32) if args.seed is None else args.seed
    return args


def main():
    args = read_arguments()
    if not args.sqlite and missing_in(args.cocabo):
        print(missing_in(args.cocabo))
        sys.exit(SKIP)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and the server goes too
    random.seed(args.seed)
    args.folder = tempfile.mkdtemp(prefix="cocabo-chaos-")
    print(f"seed {args.seed}, folder {args.folder}", flush=True)
    faults = ["kill"] * args.kills + ["restart"] * args.restarts + ["cut"] * args.cuts
    random.shuffle(faults)
    started = time.monotonic()
    try:
        chaos, trials = play(args, faults)
    except BaseException:
        args.keep = True
        print(f"kept {args.folder}", flush=True)
        raise
    finally:
        if not args.keep:
            shutil.rmtree(args.folder, ignore_errors=True)
    print(f"{len(trials)} trials, {len(chaos.acknowledged)} acknowledged, "
          f"faults {dict(chaos.faults)}, ends {dict(chaos.ends)}, longest outage "
          f"{max(chaos.outages, default=0):.1f} s, {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
