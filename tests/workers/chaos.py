#!/usr/bin/env python3
"""Many processes on one study, killed at random: nothing is lost, doubled or stuck.

    python3 tests/workers/chaos.py PATH/TO/cocabo [--kills 40] [--faults 3] [--seed N] [--keep]

Runners, workers and a client that asks and tells share one SQLite study. They are killed
with SIGKILL, and so are the programs they run and the guards they keep; now and then one
is stopped for longer than its lease, or asked politely. Whoever died is started again.
Between the kills there are faults: another process holds the lock of the file for seconds,
asleep or stopped; some processes live a day ahead of the others, or behind (with faketime).
Ctrl-C is answered all the while.
The budget is raised whenever it is reached, so that its edge is crossed many times.

At the end, with the kills over and a budget for all trials there are:
  - the study has exactly as many complete and failed trials as its budget, and no others
  - no trial number and no point is there twice
  - every value is the right one for its point
  - every result that a process said to be recorded, after the store had said so, was there
    at that time (and not only since somebody evaluated the trial again)
  - no program and no guard is left, and temporary folders only by guards that were killed
  - cocabo verify finds nothing
"""

import argparse
import collections
import json
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

LEASE = 1  # seconds
ANSWER = 6  # seconds for an answer to Ctrl-C; two, on a machine that has nothing else to do
HOLDER = """
import os, signal, sqlite3, sys, time
file = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
file.execute("BEGIN IMMEDIATE")
if sys.argv[2] == "stop":
    os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(60)
"""
FAKETIME = next(iter(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)
STEP = 60  # how much the budget grows
SPACE = ["-p", "a=int(1,40)", "-p", "b=int(1,40)", "-p", "c=choice(0,1,2,3,4)"]
PROGRAM = """#!/bin/sh
echo "$COCABO_TRIAL" >>evaluations
sleep 0.0$(($1 * $2 % 10))
[ $(($1 % 13)) != 0 ] || exit 1
echo $((($1 - 17) * ($1 - 17) + ($2 - 23) * ($2 - 23) + 50 * $3))
"""


def value_at(params):
    """What the program prints, or None where it fails."""
    a, b, c = params["a"], params["b"], params["c"]
    return None if a % 13 == 0 else (a - 17) ** 2 + (b - 23) ** 2 + 50 * c


class Client:
    """Asks and tells with commands of their own, each of which may be killed."""

    def __init__(self, chaos):
        self.chaos = chaos
        self.process = None
        self.doing = None
        self.trial = None

    def step(self):
        """Goes on if the command under way has ended."""
        if self.process:
            if self.process.poll() is None:
                return
            self.hear(self.process.communicate()[0])
        if self.trial is None:
            self.run("ask", ["--json", "--lease", str(LEASE)])
        else:
            value = value_at(self.trial["params"])
            outcome = ["--fail", "a third"] if value is None else [str(value)]
            self.run("tell", [str(self.trial["number"]), *outcome])

    def run(self, doing, args):
        self.doing = doing
        self.process = self.chaos.start(doing, *args, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)

    def hear(self, out):
        status = self.process.returncode
        if self.doing == "ask":
            if status == 0:
                self.trial = json.loads(out)
            return
        if status == 0:
            self.chaos.note_told(self.trial["number"], value_at(self.trial["params"]))
        if status != -signal.SIGKILL or random.random() < 0.5:  # else it tries again
            self.trial = None


class Chaos:
    def __init__(self, cocabo, kills, faults, processes):
        self.cocabo = os.path.abspath(cocabo)
        self.kills = kills
        self.faults_left = faults
        self.jumps = faults > 0 and FAKETIME is not None
        self.holder = None  # (until when, a process that holds the lock)
        self.asked = []  # (when, processes that were sent Ctrl-C)
        self.slowest = 0.0  # answer
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cocabo-chaos-"))
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary),
                            "COCABO_STORAGE": f"sqlite:///{self.folder}/study.db"}
        program = self.folder / "program"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        self.budget = STEP
        self.slots = [None] * (processes - 1)
        self.stopped = []  # (when to continue, process)
        self.client = Client(self)
        self.told = []  # (number, value or None, when it was known to be recorded)
        self.read = collections.Counter()  # bytes of each report
        self.killed = self.guards_killed = 0
        self.ends = collections.Counter()  # exit statuses

    def start(self, *args, **more):
        return subprocess.Popen([self.cocabo, *args], cwd=self.folder, env=self.clock(),
                                stdin=subprocess.DEVNULL, **more)

    def clock(self):
        """The environment, in which the time of day may be another one."""
        if not self.jumps or random.random() < 0.7:
            return self.environment
        return {**self.environment, "LD_PRELOAD": str(FAKETIME), "FAKETIME_DISABLE_SHM": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME": random.choice(["+1d", "-1d"])}

    def output(self, *args):
        return subprocess.run([self.cocabo, *args], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, check=True, text=True,
                              stdout=subprocess.PIPE, timeout=600).stdout

    # ---- processes -----------------------------------------------------------------

    @staticmethod
    def run_line(trials, *more):
        return ["run", *more, *SPACE, "-n", str(trials), "--", "./program", "{a}", "{b}",
                "{c}"]

    def start_runner(self, i):
        """Even ones are runs, odd ones workers; all report to a file of their own."""
        line = ["-v", "--lease", str(LEASE), "-j", str(1 + i % 3)]
        line = ["worker", *line] if i % 2 else self.run_line(self.budget, *line)
        with open(self.folder / f"report-{i}", "ab") as report:
            self.slots[i] = self.start(*line, stdout=subprocess.DEVNULL, stderr=report)

    def look_after(self):
        now = time.monotonic()
        self.hear_answers(now)
        if self.holder and self.holder[0] <= now:
            self.let_go()
        for when, process in [s for s in self.stopped if s[0] <= now]:
            process.send_signal(signal.SIGCONT)
            self.stopped.remove((when, process))
        for i, process in enumerate(self.slots):
            if process is None or process.poll() is not None:
                self.hear_end(process)
                self.start_runner(i)
        self.client.step()
        self.read_reports()

    def note_told(self, number, value):
        self.told.append((number, value, time.time()))

    def read_reports(self):
        for path in self.folder.glob("report-*"):
            with open(path, "rb") as report:
                report.seek(self.read[path])
                text = report.read()
            text = text[:text.rfind(b"\n") + 1]
            self.read[path] += len(text)
            for line in text.decode().splitlines():
                found = re.match(r"trial (\d+) (complete: (\S+)|failed: )", line)
                if found:
                    self.note_told(int(found[1]), found[3] and float(found[3]))

    def hear_end(self, process):
        if process is None:
            return
        status = process.returncode
        self.ends[status] += 1
        if status == 0:
            self.raise_budget()
        elif status not in (130, -signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM):
            raise AssertionError(f"a process ended with status {status}")

    def raise_budget(self):
        """A process found the budget reached, unless others have raised it since."""
        states = self.states()
        finished = states["complete"] + states["failed"]
        if finished > self.budget:
            raise AssertionError(f"{finished} trials for a budget of {self.budget}")
        if finished == self.budget:
            self.budget += STEP

    def trials(self):
        return [json.loads(line) for line in self.output("trials", "--json").splitlines()]

    def states(self):
        return collections.Counter(trial["state"] for trial in self.trials())

    # ---- faults --------------------------------------------------------------------

    def hold_lock(self):
        """Somebody takes the lock and keeps it, asleep or stopped."""
        if self.holder:
            return
        self.faults_left -= 1
        line = [sys.executable, "-c", HOLDER, self.folder / "study.db",
                random.choice(["stop", "sleep"])]
        self.holder = (time.monotonic() + random.uniform(1, 10), subprocess.Popen(line))

    def let_go(self):
        if self.holder:
            self.holder[1].kill()
            self.holder[1].wait()
        self.holder = None

    def hear_answers(self, now):
        for when, process in list(self.asked):
            if process.poll() is not None:
                self.slowest = max(self.slowest, now - when)
                self.asked.remove((when, process))
            elif now - when > ANSWER:
                raise AssertionError(f"no answer to Ctrl-C: {process.args}")

    # ---- kills ---------------------------------------------------------------------

    def attack(self):
        """One signal to somebody; returns how many were killed."""
        asked = [process for _, process in self.asked]
        victims = [p for p in [*self.slots, self.client.process]
                   if p and p.poll() is None and p not in asked]
        if not victims:
            return 0
        victim = random.choice(victims)
        kind = random.random()
        if kind < 0.7:
            victim.kill()
            return 1
        if kind < 0.85:
            return self.kill_children(victim)
        if kind < 0.95 or victim is self.client.process:
            victim.send_signal(signal.SIGSTOP)
            self.stopped.append((time.monotonic() + random.uniform(0, 2 * LEASE), victim))
        elif victim not in [process for _, process in self.stopped]:
            victim.send_signal(random.choice([signal.SIGINT, signal.SIGTERM]))
            self.asked.append((time.monotonic(), victim))
        return 0

    def kill_children(self, victim):
        killed = 0
        for child in children(victim.pid)[:random.randint(1, 3)]:
            self.guards_killed += name_of(child) == "cocabo-guard"
            killed += kill(child)
        return killed

    def rage(self):
        self.output(*self.run_line(1, "-q"))  # so that workers find a study
        shown = 0
        pause, mark = 0.06, (0, 0)  # seconds; kills and results when it was last judged
        while self.killed < self.kills or len(self.told) <= 20 or self.faults_left > 0:
            self.look_after()
            if self.faults_left > 0 and random.random() < 0.1:
                self.hold_lock()
            time.sleep(random.expovariate(1 / pause))
            self.killed += self.attack()
            if self.killed - mark[0] >= 10:
                # Thinking takes longer in a long study, and everything on a machine with
                # other work; who never lives to tell a result is not worth killing.
                pause *= 1.3 if len(self.told) - mark[1] < 4 else 1
                mark = self.killed, len(self.told)
            if self.killed - shown >= 100:
                shown = self.killed
                print(f"{self.killed} kills, {dict(self.states())}", flush=True)

    # ---- the end -------------------------------------------------------------------

    def calm_down(self):
        """Everybody dies once more; then there is a budget for all trials and some more,
        and everybody may finish."""
        self.let_go()
        for process in filter(None, self.slots):
            process.kill()
            process.wait()
        if self.client.process:
            self.client.process.send_signal(signal.SIGCONT)
            self.client.process.wait()
            self.client.hear(self.client.process.communicate()[0])
        self.budget = len(self.trials()) + 10
        for i in range(len(self.slots)):
            self.start_runner(i)
        for process in self.slots:
            self.expect(process.wait(timeout=600) == 0, "everybody finishes")

    def expect(self, condition, claim, details=""):
        if not condition:
            raise AssertionError(f"not so: {claim} {details}")

    def check(self):
        trials = self.trials()
        states = collections.Counter(trial["state"] for trial in trials)
        self.expect(states["complete"] + states["failed"] == self.budget == len(trials),
                    "the budget is reached exactly and nothing is left", states)
        self.expect([t["number"] for t in trials] == list(range(len(trials))),
                    "numbers are unique and without gaps")
        points = collections.Counter(json.dumps(t["params"]) for t in trials)
        self.expect(max(points.values()) == 1, "no point is there twice",
                    [p for p, n in points.items() if n > 1])
        for trial in trials:
            value = value_at(trial["params"])
            self.expect(trial["value"] == value if trial["state"] == "complete" else
                        value is None or "signal 9" in trial["reason"],
                        "every outcome is the right one", trial)
        self.check_reports(trials)
        self.check_leftovers()
        self.output("verify", "--proposals", "50")
        return trials

    def check_reports(self, trials):
        self.read_reports()
        self.expect(len(self.told) > 20, "the processes reported something")
        for number, value, when in self.told:
            trial = trials[number]
            recorded = trial["state"] in ("complete", "failed") and (
                self.jumps or trial["finished"] <= when)
            # A failure (a killed program) may have been followed by a late result.
            late = value is None and trial["state"] == "complete"
            self.expect(late or (recorded and trial["value"] in (value, value_at(
                trial["params"]))), "no result is lost", (trial, value, when))

    def check_leftovers(self):
        mark = f"TMPDIR={self.temporary}".encode()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            processes = [pid for pid in pids() if mark in environment_of(pid)]
            folders = list(self.temporary.iterdir())
            if not processes and len(folders) <= self.guards_killed:
                return
            time.sleep(0.1)
        raise AssertionError(f"left behind: {processes} {folders}")


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def environment_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def children(pid):
    return [child for child in pids() if parent_of(child) == pid]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cocabo")
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--faults", type=int, default=3)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(1 << 32)
    random.seed(seed)
    chaos = Chaos(args.cocabo, args.kills, args.faults, args.processes)
    print(f"seed {seed}, folder {chaos.folder}", flush=True)
    started = time.monotonic()
    try:
        chaos.rage()
        chaos.calm_down()
        trials = chaos.check()
    except BaseException:
        chaos.let_go()
        for process in filter(None, [*chaos.slots, chaos.client.process]):
            process.kill()
        raise
    evaluations = len((chaos.folder / "evaluations").read_text().split())
    print(f"{chaos.killed} kills in {time.monotonic() - started:.0f} s: {len(trials)} trials, "
          f"{evaluations} evaluations, {sum(t['attempt'] > 0 for t in trials)} trials taken "
          f"over, ends {dict(chaos.ends)}, slowest answer {chaos.slowest:.1f} s; nothing lost, "
          "doubled or stuck")
    if not args.keep:
        shutil.rmtree(chaos.folder)


if __name__ == "__main__":
    main()
