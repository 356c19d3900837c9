"""What the tests that kill processes of a study share: many of them on one study, their
reports, a budget that is raised whenever it is reached, and what must be so at the end.
"""

import collections
import json
import os
import pathlib
import subprocess


def expect(condition, claim, details=""):
    if not condition:
        raise AssertionError(f"not so: {claim} {details}")


def is_back(trial):
    """Was it lost by a server that was killed, and brought back by who evaluated it? Then the
    log knows it for a shorter time than it took. Meanwhile its number, and with it perhaps its
    point, may have been given to another."""
    return (trial.get("metrics") or {}).get("seconds", 0) > (trial["seconds"] or 0) + 0.05


class Herd:
    """`size` processes in a folder, in which `program` is what evaluates. Whoever derives
    from it says how one starts, start_one(i), with its standard error at the end of
    report-{i}; and what to think of one that ended, hear_end(i, process)."""

    STEP = 60  # how much the budget grows
    CALM = 600  # seconds that all may take to finish when the faults are over

    def __init__(self, cocabo, folder, storage, program, size):
        self.cocabo = os.path.abspath(cocabo)
        self.folder = pathlib.Path(folder)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary),
                            "COCABO_STORAGE": storage}
        path = self.folder / "program"
        path.write_text(program)
        path.chmod(0o755)
        self.processes = [None] * size
        self.budget = self.STEP
        self.read = collections.Counter()  # bytes of each report
        self.faults = collections.Counter()
        self.ends = collections.Counter()  # exit statuses

    def output(self, *args):
        done = subprocess.run([self.cocabo, *args], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        expect(done.returncode == 0, f"cocabo {args[0]} succeeds", done.stderr)
        return done.stdout

    def trials(self):
        return [json.loads(line) for line in self.output("trials", "--json").splitlines()]

    def states(self):
        return collections.Counter(trial["state"] for trial in self.trials())

    # ---- while it lives --------------------------------------------------------------

    def new_lines(self):
        """What was reported since the last call, as far as the lines have their end."""
        for path in self.folder.glob("report-*"):
            with open(path, "rb") as report:
                report.seek(self.read[path])
                text = report.read()
            text = text[:text.rfind(b"\n") + 1]
            self.read[path] += len(text)
            yield from text.decode().splitlines()

    def replace_the_dead(self):
        for i, process in enumerate(self.processes):
            if process is None or process.poll() is not None:
                if process is not None:
                    self.hear_end(i, process)
                self.start_one(i)

    def set_budget(self, trials):
        self.budget = trials

    def raise_budget(self):
        """A process found the budget reached, unless others have raised it since."""
        states = self.states()
        finished = states["complete"] + states["failed"]
        expect(finished <= self.budget, "the budget is kept", (states, self.budget))
        if finished == self.budget:
            self.set_budget(self.budget + self.STEP)

    # ---- the end ---------------------------------------------------------------------

    def bury(self):
        for process in filter(None, self.processes):
            process.kill()
            process.wait()

    def finish(self):
        """With a budget for all trials there are and some more."""
        self.set_budget(len(self.trials()) + 10)
        for i in range(len(self.processes)):
            self.start_one(i)
        for process in self.processes:
            expect(process.wait(timeout=self.CALM) == 0, "everybody finishes",
                   process.returncode)

    def check_trials(self):
        """They are returned."""
        trials = self.trials()
        states = collections.Counter(trial["state"] for trial in trials)
        expect(states["complete"] + states["failed"] == self.budget == len(trials),
               "the budget is reached exactly and nothing is left", (states, self.budget))
        expect([t["number"] for t in trials] == list(range(len(trials))),
               "numbers are unique and without gaps")
        points = collections.Counter(json.dumps(t["params"]) for t in trials if not is_back(t))
        expect(max(points.values()) == 1, "no point is there twice",
               [t for t in trials if points[json.dumps(t["params"])] > 1])
        return trials
