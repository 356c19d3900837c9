#!/usr/bin/env python3
"""Many processes on one study, under fire: nothing is lost, doubled or stuck.

    python3 tests/workers/chaos.py PATH/TO/cocabo [--faults 60] [--seed N] [--keep]

Runners, workers and a client that asks and tells share one SQLite study. The faults:
  kill      SIGKILL to one of them
  children  SIGKILL to programs that one runs, and to the guard it keeps
  stop      SIGSTOP, for up to twice its lease
  lock      somebody else holds SQLite's lock, mostly for moments, at times for longer than
            anybody should have to wait
  clock     the clock of one jumps by up to a day, and later back (libfaketime)
  polite    Ctrl-C or SIGTERM, which must be answered within --answer seconds
Whoever died is started again. The budget is raised whenever it is reached, so that its
edge is crossed many times.

At the end, with the faults over and a budget for all trials there are:
  - the study has exactly as many complete and failed trials as its budget, and no others
  - no trial number and no point is there twice
  - every value is the right one for its point
  - every result that a process said to be recorded, after the store had said so, was in
    the file at that time (and not only since somebody evaluated the trial again)
  - no program and no guard is left, and temporary folders only by guards that were killed
  - cocabo verify finds nothing
"""

import argparse
import glob
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from herd import Herd, expect

LEASE = 1  # seconds
DAY = 86400
CLIENT = "client"  # its name beside the numbers of the slots
LONG_LOCK = 35  # seconds: more than SQLite's users usually wait
FAULTS = {"kill": 50, "children": 10, "stop": 12, "lock": 8, "clock": 10, "polite": 10}
TOLD, FAILED, RESUMED = 4, 5, 8  # kinds of events
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


HOLDER = """
import sqlite3, sys, time
file = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
file.execute("BEGIN IMMEDIATE")
time.sleep(float(sys.argv[2]))
"""


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
        self.process = self.chaos.start(doing, *args, clock=CLIENT, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)

    def hear(self, out):
        status = self.process.returncode
        if self.doing == "ask":
            if status == 0:
                self.trial = json.loads(out)
            return
        if status == 0:
            self.chaos.note_told(self.trial["number"], value_at(self.trial["params"]))
        elif status != -signal.SIGKILL:
            raise AssertionError(f"tell ended with status {status}")
        if status != -signal.SIGKILL or random.random() < 0.5:  # else it tries again
            self.trial = None


def sweep_clocks():
    """What libfaketime leaves behind of killed processes would meet the next one that has
    the same number."""
    for path in glob.glob("/dev/shm/*faketime_*"):
        number = path.rsplit("_", 1)[1]
        if number.isdigit() and not os.path.exists(f"/proc/{number}"):
            pathlib.Path(path).unlink(missing_ok=True)


class Clocks:
    """A clock for each process, which can be set while it runs: libfaketime reads its
    file at every look. Sanitizers do not get on with it."""

    def __init__(self, cocabo, folder):
        found = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
        sanitized = re.search(rb"__[at]san_init", pathlib.Path(cocabo).read_bytes())
        self.library = found[0] if found and not sanitized else None
        self.folder = folder
        self.wrong = {}  # name: when it is set right

    def environment(self, name):
        if not self.library:
            return {}
        sweep_clocks()
        if name not in self.wrong:
            self.set(name, 0)
        return {"LD_PRELOAD": self.library, "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1",
                "FAKETIME_TIMESTAMP_FILE": str(self.folder / f"clock-{name}")}

    def set(self, name, seconds):
        """At one stroke: who reads half a file would see another time again."""
        path = self.folder / f"clock-{name}"
        new = path.with_suffix(".new")
        new.write_text(f"{seconds:+}\n")
        new.replace(path)

    def jump(self, name, now):
        self.set(name, random.choice([-DAY, -3600, -2 * LEASE, 2 * LEASE, 3600, DAY]))
        self.wrong[name] = now + random.uniform(0, 4 * LEASE)

    def look_after(self, now):
        for name in [n for n, when in self.wrong.items() if when <= now]:
            self.set(name, 0)
            del self.wrong[name]


class Chaos(Herd):
    def __init__(self, cocabo, faults, processes, answer):
        folder = tempfile.mkdtemp(prefix="cocabo-chaos-")
        super().__init__(cocabo, folder, f"sqlite:///{folder}/study.db", PROGRAM,
                         processes - 1)
        self.wanted = faults
        self.answer = answer
        self.clocks = Clocks(self.cocabo, self.folder)
        self.stopped = []  # (when to continue, process)
        self.asked = []  # (when, process): who was asked politely
        self.slowest = 0.0  # seconds until one answered
        self.holder = None  # of the lock
        self.client = Client(self)
        self.told = []  # (number, value or None, when it was known to be recorded)
        self.guards_killed = 0

    def start(self, *args, clock, **more):
        environment = {**self.environment, **self.clocks.environment(clock)}
        return subprocess.Popen([self.cocabo, *args], cwd=self.folder, env=environment,
                                stdin=subprocess.DEVNULL, **more)

    # ---- processes -----------------------------------------------------------------

    @staticmethod
    def run_line(trials, *more):
        return ["run", *more, *SPACE, "-n", str(trials), "--", "./program", "{a}", "{b}",
                "{c}"]

    def start_one(self, i):
        """Even ones are runs, odd ones workers; all report to a file of their own."""
        line = ["-v", "--lease", str(LEASE), "-j", str(1 + i % 3)]
        line = ["worker", *line] if i % 2 else self.run_line(self.budget, *line)
        with open(self.folder / f"report-{i}", "ab") as report:
            self.processes[i] = self.start(*line, clock=i, stdout=subprocess.DEVNULL,
                                           stderr=report)

    def look_after(self):
        now = time.monotonic()
        for when, process in [s for s in self.stopped if s[0] <= now]:
            process.send_signal(signal.SIGCONT)
            self.stopped.remove((when, process))
        self.hear_answers(now)
        self.clocks.look_after(now)
        self.replace_the_dead()
        self.client.step()
        self.read_reports()

    def hear_answers(self, now):
        for when, process in list(self.asked):
            self.slowest = max(self.slowest, now - when)
            if process.poll() is not None:
                self.asked.remove((when, process))
            elif now - when > self.answer:
                raise AssertionError(f"asked to stop {now - when:.1f} s ago: "
                                     f"{process.args}, lock held: {self.lock_is_held()}")

    def lock_is_held(self):
        return self.holder is not None and self.holder.poll() is None

    def note_told(self, number, value):
        """What a process says is recorded is in the file now, whatever its clock says. But a
        failure says nothing of a trial that was handed out again meanwhile."""
        kinds = (TOLD, FAILED) if value is not None else (TOLD, FAILED, RESUMED)
        with sqlite3.connect(f"file:{self.folder}/study.db?mode=ro", uri=True) as file:
            found, = file.execute("SELECT count(*) FROM events WHERE number = ? AND kind IN "
                                  f"{kinds}", (number,)).fetchone()
        file.close()
        expect(found, "no result is lost", (number, value))
        self.told.append((number, value))

    def read_reports(self):
        for line in self.new_lines():
            found = re.match(r"trial (\d+) (complete: (\S+)|failed: )", line)
            if found:
                self.note_told(int(found[1]), found[3] and float(found[3]))

    def hear_end(self, _i, process):
        status = process.returncode
        self.ends[status] += 1
        if status == 0:
            self.raise_budget()
        elif status not in (130, -signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM):
            raise AssertionError(f"a process ended with status {status}")

    # ---- faults --------------------------------------------------------------------

    def attack(self):
        """One fault; somebody who is stopped or was asked to stop is left alone."""
        spared = [process for _, process in [*self.stopped, *self.asked]]
        names = {p: i for i, p in enumerate(self.processes) if p}
        if self.client.process:
            names[self.client.process] = CLIENT
        victims = [p for p in names if p.poll() is None and p not in spared]
        if not victims:
            return
        victim = random.choice(victims)
        kind, = random.choices(list(FAULTS), FAULTS.values())
        if getattr(self, kind)(victim, names[victim]):
            self.faults[kind] += 1

    def kill(self, victim, _name):
        victim.kill()
        return True

    def stop(self, victim, _name):
        victim.send_signal(signal.SIGSTOP)
        self.stopped.append((time.monotonic() + random.uniform(0, 2 * LEASE), victim))
        return True

    def polite(self, victim, name):
        if name is CLIENT:
            return False
        victim.send_signal(random.choice([signal.SIGINT, signal.SIGTERM]))
        self.asked.append((time.monotonic(), victim))
        return True

    def lock(self, _victim, _name):
        """Every 25th is a long one, where there is time for it."""
        if self.lock_is_held():
            return False
        length = random.uniform(0, 3 * LEASE)
        if self.faults["lock"] % 25 == 1 and self.wanted >= 200:
            length = LONG_LOCK
        self.holder = subprocess.Popen([sys.executable, "-c", HOLDER,
                                        str(self.folder / "study.db"), str(length)])
        return True

    def clock(self, _victim, name):
        if not self.clocks.library or name in self.clocks.wrong:
            return False
        self.clocks.jump(name, time.monotonic())
        return True

    def children(self, victim, _name):
        return self.kill_children(victim)

    def kill_children(self, victim):
        killed = 0
        for child in children(victim.pid)[:random.randint(1, 3)]:
            self.guards_killed += name_of(child) == "cocabo-guard"
            killed += kill(child)
        return killed > 0

    def rage(self):
        self.output(*self.run_line(1, "-q"))  # so that workers find a study
        shown = 0
        pause, mark = 0.06, (0, 0)  # seconds; faults and results when it was last judged
        while self.faults.total() < self.wanted or len(self.told) <= 20:
            self.look_after()
            time.sleep(min(random.expovariate(1 / pause), 0.5))
            self.attack()
            if self.faults.total() - mark[0] >= 10 and not self.lock_is_held():
                # Thinking takes longer in a long study, and everything on a machine with
                # other work; who never lives to tell a result is not worth killing.
                pause *= 1.3 if len(self.told) - mark[1] < 4 else 1
                mark = self.faults.total(), len(self.told)
            if self.faults.total() - shown >= 100:
                shown = self.faults.total()
                print(f"{shown} faults, {dict(self.states())}", flush=True)

    # ---- the end -------------------------------------------------------------------

    def calm_down(self):
        """Everybody dies once more; then there is a budget for all trials and some more,
        and everybody may finish."""
        self.bury()
        self.clocks.look_after(float("inf"))
        if self.holder:
            self.holder.wait()
        if self.client.process:
            self.client.process.send_signal(signal.SIGCONT)
            self.client.process.wait()
            self.client.hear(self.client.process.communicate()[0])
        self.finish()

    def check(self):
        trials = self.check_trials()
        for trial in trials:
            value = value_at(trial["params"])
            expect(trial["value"] == value if trial["state"] == "complete" else
                   value is None or "signal 9" in trial["reason"],
                   "every outcome is the right one", trial)
        self.check_reports(trials)
        self.check_leftovers()
        self.output("verify", "--proposals", "50")
        return trials

    def check_reports(self, trials):
        self.read_reports()
        expect(len(self.told) > 20, "the processes reported something")
        for number, value in self.told:
            trial = trials[number]
            recorded = trial["state"] in ("complete", "failed")
            # A failure (a killed program) may have been followed by a late result.
            late = value is None and trial["state"] == "complete"
            expect(late or (recorded and trial["value"] in (value, value_at(
                trial["params"]))), "no result is lost", (trial, value))

    def check_leftovers(self):
        mark = f"TMPDIR={self.temporary}".encode()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            processes = [pid for pid in pids() if mark in environment_of(pid)]
            # Not tsan.rodata.*: a file of the sanitizer's own, that is left behind by a
            # process which is killed while it starts.
            folders = list(self.temporary.glob("cocabo-*"))
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
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--answer", type=float, default=2, help="seconds to answer Ctrl-C")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(1 << 32)
    random.seed(seed)
    chaos = Chaos(args.cocabo, args.faults, args.processes, args.answer)
    print(f"seed {seed}, folder {chaos.folder}", flush=True)
    started = time.monotonic()
    try:
        chaos.rage()
        chaos.calm_down()
        trials = chaos.check()
    except BaseException:
        for process in filter(None, [*chaos.processes, chaos.client.process, chaos.holder]):
            process.kill()
        raise
    sweep_clocks()
    evaluations = len((chaos.folder / "evaluations").read_text().split())
    print(f"{chaos.faults.total()} faults in {time.monotonic() - started:.0f} s "
          f"({dict(chaos.faults)}): {len(trials)} trials, {evaluations} evaluations, {sum(t['attempt'] > 0 for t in trials)} trials taken "
          f"over, ends {dict(chaos.ends)}, Ctrl-C answered within "
          f"{chaos.slowest:.2f} s; nothing lost, doubled or stuck")
    if not args.keep:
        shutil.rmtree(chaos.folder)


if __name__ == "__main__":
    main()
