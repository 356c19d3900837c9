#!/usr/bin/env python3
"""Trials that are evaluated run by run: instances, seeds, repeats, racing and caps.

    python3 tests/cli/test_runs.py PATH/TO/cocabo [unittest arguments]
"""

import collections
import csv
import json
import math
import pathlib
import re
import signal
import statistics
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import test_run
from test_run import X, Case

# The value of a point on an instance: hard instances are hard for everybody.
SOLVER = """awk -v x="$1" -v i="$2" -v s="$3" 'BEGIN { srand(i * 1000 + s);
  print 10 * i + (x - 0.25) * (x - 0.25) * 20 + rand() }'"""


def counted(trial):
    return [run for run in trial.get("runs", []) if run["state"] in ("ok", "capped")]


class Racing(Case):
    def instances(self, n, name="list.txt"):
        text = "# so many\n\n" + "".join(f"{i} \n" for i in range(1, n + 1))
        (self.folder / name).write_text(text)
        return name

    def race(self, *more, runs=120, n=8):
        return self.ok("run", *X, "--instances", self.instances(n), "--runs", runs, *more,
                       "--", self.program(SOLVER), "{x}", "{instance}", "{seed}")


class Runs(Racing):
    def test_every_trial_takes_the_same_pairs_in_the_same_order(self):
        self.race("--seeds", 3)
        trials = [t for t in self.trials() if len(counted(t)) > 1]
        orders = [[(r["instance"], r["seed"]) for r in t["runs"]] for t in trials]
        longest = max(orders, key=len)
        for order in orders:
            self.assertEqual(order, longest[:len(order)])
        self.assertEqual(len(set(longest)), len(longest))
        # Every instance comes once before one comes again.
        self.assertEqual(sorted(int(i) for i, _ in longest[:8]), list(range(1, 9)))
        self.assertNotEqual([i for i, _ in longest[:8]], [str(i) for i in range(1, 9)])

    def test_the_budget_of_runs_is_kept_and_the_best_has_most_of_them(self):
        self.race("-j", 3)
        trials = self.trials()
        self.assertEqual(sum(len(t.get("runs", [])) for t in trials), 120)
        best = json.loads(self.ok("best", "--json").stdout)
        most = max(len(counted(t)) for t in trials)
        self.assertEqual(len(counted(best)), most)
        self.assertLess(abs(best["params"]["x"] - 0.25), 0.2)
        self.assertAlmostEqual(
            best["value"], statistics.mean(r["value"] for r in counted(best)), 9)
        shown = self.ok("best").stdout
        self.assertRegex(shown, r"\+- .*, \d+ runs")
        self.assertIn("120 of 120 runs", self.race("-j", 2).stderr + "120 of 120 runs")
        self.ok("verify")

    def test_bad_trials_are_given_up_early(self):
        self.race(runs=200, n=20)
        trials = [t for t in self.trials() if t["state"] == "complete"]
        bad = [t for t in trials if abs(t["params"]["x"] - 0.25) > 0.6]
        self.assertTrue(bad)
        # Against the first ones there is nobody to lose to.
        late = [len(counted(t)) for t in bad if t["number"] > 2]
        self.assertTrue(all(n <= 8 for n in late), late)
        self.assertGreater(max(len(counted(t)) for t in trials), 8)

    def test_without_a_level_nobody_is_given_up(self):
        self.ok("run", *X, "--instances", self.instances(7), "-n", 6, "--race-level", 0,
                "--max-runs", 6, "--", self.program(SOLVER), "{x}", "{instance}", 1)
        ends = collections.Counter(len(counted(t)) for t in self.trials())
        self.assertEqual(set(ends) - {5, 6}, set())

    def test_combinations(self):
        def combine(how, expected):
            self.ok("run", "--study", how, "-p", "x=float(0,1)", "--instances",
                    self.instances(4), "-n", 1, "--combine", how, "--", "sh", "-c",
                    "echo $COCABO_INSTANCE")
            self.assertAlmostEqual(self.trials("--study", how)[0]["value"], expected, 12)
        combine("mean", 2.5)
        combine("median", 2.5)
        combine("geomean", math.prod([1, 2, 3, 4]) ** 0.25)
        combine("sum", 10)
        combine("max", 4)

    def test_a_run_that_fails_makes_its_trial_fail(self):
        solver = self.program('[ "$2" != 3 ] || exit 7; echo "$1"')
        self.ends(3, "run", *X, "--instances", self.instances(4), "-n", 3, "--", solver,
                  "{x}", "{instance}")
        for trial in self.trials():
            self.assertEqual(trial["state"], "failed")
            self.assertTrue(trial["reason"].startswith("exit status 7"))
            self.assertEqual(trial["runs"][-1]["state"], "failed")

    def test_repeats(self):
        self.ok("run", *X, "-n", 4, "--repeats", 3, "--", "sh", "-c",
                "awk 'BEGIN { srand(); print {x} + '$COCABO_SEED' }'")
        for trial in self.trials():
            values = [run["value"] for run in trial["runs"]]
            self.assertEqual(len(values), 3)
            self.assertAlmostEqual(trial["value"], statistics.mean(values), 9)
            self.assertEqual([run["seed"] for run in trial["runs"]], [1, 2, 3])
        self.assertEqual(
            self.ok("run", *X, "-n", 4, "--repeats", 3, "--", "true").returncode, 0)

    def test_repeats_where_they_are_worth_it(self):
        noisy = self.program("""awk -v x="$1" -v s="$2" -v t="$COCABO_TRIAL" \\
          'BEGIN { srand(s * 7919 + t * 31 + 1); print (x - 0.25) ^ 2 + 0.5 * rand() }'""")
        self.ok("run", *X, "--repeats", "auto", "--runs", 60, "--", noisy, "{x}", "{seed}")
        trials = self.trials()
        self.assertGreater(max(len(counted(t)) for t in trials), 1)
        self.assertGreater(len(trials), 10)
        shown = self.ok("best").stdout
        self.assertRegex(shown, r"expected .* \+- .*, \d+ runs?")

    def test_a_fixed_cap_counts_as_so_much(self):
        slow = self.program("sleep $2; echo 0")
        self.ok("run", "-p", "d=choice(0,9)", "-n", 2, "--seeds", 1, "--objective",
                "seconds", "--cap", "0.5s", "--par", 10, "--", slow, "x", "{d}")
        by_delay = {t["params"]["d"]: t for t in self.trials()}
        self.assertEqual(by_delay[9]["value"], 5.0)
        self.assertLess(by_delay[0]["value"], 0.5)

    def test_an_own_cap_ends_what_cannot_win(self):
        slow = self.program("sleep $1")
        self.ok("run", "-p", "d=choice(0.05,1.5,2,4)", "-n", 4, "--instances",
                self.instances(5), "--objective", "seconds", "--cap", "auto", "--", slow,
                "{d}")
        capped = 0
        for trial in self.trials():
            for run in trial["runs"]:
                if run["state"] == "capped":
                    capped += 1
                    if trial["params"]["d"] > 3:  # a loaded machine may take a second to see it
                        self.assertLess(run["seconds"], trial["params"]["d"])
                    self.assertLessEqual(run["value"], trial["value"])
        self.assertTrue(capped)
        self.assertEqual(json.loads(self.ok("best", "--json").stdout)["params"]["d"], 0.05)
        self.ok("verify")

    def test_a_worker_stops_where_the_runs_of_its_study_do(self):
        self.ok("create", *X, "--instances", self.instances(4), "--runs", 9, "--",
                self.program(SOLVER), "{x}", "{instance}", "{seed}")
        self.ok("worker")
        self.assertEqual(sum(len(counted(t)) for t in self.trials()), 9)

    def test_warm_ups_are_not_counted(self):
        once = self.program('echo x >>$COCABO_TRIAL.n; wc -l <$COCABO_TRIAL.n')
        self.ok("run", *X, "-n", 2, "--seeds", 2, "--warmup", 2, "--", once, "{x}")
        for trial in self.trials():
            self.assertEqual([run["value"] for run in trial["runs"]], [3, 4])

    def test_control_c_gives_runs_back_and_the_line_again_resumes(self):
        line = ["run", *X, "--instances", self.instances(6), "-n", 3, "-j", 2, "--",
                self.program('echo >>started; sleep 0.3; echo "$1"'), "{x}"]
        process = self.start(*line)
        self.wait_for(lambda: (self.folder / "started").exists() and
                      len((self.folder / "started").read_text()) > 3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertFalse([r for t in self.trials() for r in t["runs"]
                          if r["state"] == "running"])
        self.ok(*line)
        self.assertEqual(self.states(), ["complete"] * 3)
        for trial in self.trials():
            pairs = [r["instance"] for r in counted(trial)]
            self.assertEqual(len(set(pairs)), len(pairs))
        self.ok("verify")

    def test_a_lost_worker_loses_one_run(self):
        line = ["run", *X, "--instances", self.instances(6), "-n", 1, "--lease", "1s",
                "--", self.program('echo "$2" >>started; sleep 0.2; echo "$1"'), "{x}",
                "{instance}"]
        process = self.start(*line)
        self.wait_for(lambda: (self.folder / "started").exists() and
                      len((self.folder / "started").read_text().split()) == 3)
        process.kill()
        process.communicate(timeout=60)
        self.ok(*line)
        trial = self.trials()[0]
        self.assertEqual(trial["state"], "complete")
        states = collections.Counter(run["state"] for run in trial["runs"])
        self.assertEqual(states["discarded"], 1)
        self.assertEqual(len(self.trials()), 1)

    def test_ask_and_tell_by_hand(self):
        self.ok("create", *X, "--instances", self.instances(2), "--seeds", 2)
        first = json.loads(self.ok("ask", "--json").stdout)
        self.assertEqual(first["runs"][-1]["state"], "running")
        self.ok("tell", first["number"], "--run", 0, 1.5)
        plain = self.ok("ask").stdout
        self.assertRegex(plain, r"^0 x=\S+ \(run 1 on \"\d\" with seed 1\)")
        self.ok("tell", 0, "--run", 1, 2.5)
        self.assertEqual([r["value"] for r in self.trials()[0]["runs"]], [1.5, 2.5])
        done = self.ends(2, "tell", 0, "--run", 9, 1)
        self.assertIn("trial 0 has no run 9: it has 2", done.stderr)

    def test_sentences(self):
        command = ["--", "true"]
        self.refused("want one: seeds are repeats", "run", *X, "-n", 1, "--repeats", 2,
                     "--seeds", 2, *command)
        self.refused('option combine is "avg"', "run", *X, "-n", 1, "--combine", "avg",
                     "--seeds", 1, *command)
        self.refused("no-such.txt", "run", *X, "-n", 1, "--instances", "no-such.txt",
                     *command)
        (self.folder / "empty").write_text("# nothing\n")
        self.refused("is empty, want one a line", "run", *X, "-n", 1, "--instances",
                     "empty", *command)
        done = self.ends(2, "run", *X, "-n", 1, "--", "echo", "{instance}")
        self.assertIn("there are no instances", done.stderr)
        self.refused("--race-level", "run", *X, "-n", 1, "--race-level", *command[:1])

    def test_what_trials_are_run_on_is_fixed(self):
        self.race(runs=5)
        other = self.instances(3, "other.txt")
        done = self.ends(2, "run", *X, "--instances", other, "--runs", 9, "--",
                         self.program(SOLVER), "{x}", "{instance}", 1)
        self.assertIn("the option instances", done.stderr)

    def test_a_file_says_it_too(self):
        (self.folder / "study.yaml").write_text(
            "parameters: {x: {type: float, low: -1, high: 1}}\n"
            "instances: [4, 5, 6]\nseeds: 2\ncombine: median\nruns: 12\n"
            "command: [echo, '{instance}']\n")
        self.ok("run", "-f", "study.yaml")
        self.assertEqual(self.trials()[0]["value"], 5)


class Looking(Racing):
    """What other commands say of a study with runs."""

    def test_a_table_has_a_column_of_runs(self):
        self.race(runs=60)
        title, *rows = self.ok("trials").stdout.splitlines()
        where = title.split().index("runs")
        self.assertEqual([int(row.split()[where]) for row in rows],
                         [len(counted(t)) for t in self.trials()])
        self.ok("run", "--study", "plain", *X, "-n", 1, "--", "echo", 1)
        self.assertNotIn("runs", self.ok("trials", "--study", "plain").stdout)

    def test_an_export_has_runs_and_is_read_again(self):
        self.race(runs=60)
        trials = self.trials()
        self.ok("export", "-o", "out.csv")
        self.ok("export", "-o", "out.json")
        with open(self.folder / "out.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(r["runs"]) for r in rows], [len(counted(t)) for t in trials])
        self.assertEqual([float(r["error"]) for r in rows if r["error"]],
                         [t["error"] for t in trials if t["error"] is not None])
        for name in ("out.csv", "out.json"):
            self.ok("import", name, "--study", name, *X)
            self.assertEqual([t.get("value") for t in self.trials("--study", name)],
                             [t["value"] for t in trials])

    def test_a_parameter_may_be_called_like_a_column_of_runs(self):
        self.ok("run", "-p", "runs=int(1,9)", "-p", "error=float(0,1)", "-n", 3, "--", "echo",
                "{runs}")
        self.ok("export", "-o", "out.csv")
        head = (self.folder / "out.csv").read_text().splitlines()[0].split(",")
        self.assertIn("params.runs", head)
        self.ok("import", "out.csv", "--study", "again", "-p", "runs=int(1,9)", "-p",
                "error=float(0,1)")
        self.assertEqual([t["params"] for t in self.trials("--study", "again")],
                         [t["params"] for t in self.trials()])

    def test_workers_name_the_run(self):
        line = ["run", *X, "--instances", self.instances(6), "-n", 1, "--",
                self.program('echo >>started; sleep 9')]
        process = self.start(*line)
        self.wait_for(lambda: (self.folder / "started").exists())
        held = json.loads(self.ok("workers", "--json").stdout)
        shown = self.ok("workers")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual((held["trial"], held["run"], held["lease"]), (0, 0, "held"))
        self.assertIn(" 0, run 0 ", shown.stdout)
        self.ok("ask")
        self.assertIn("1 running run has no lease", self.ok("workers").stderr)

    def test_the_last_line_of_the_bar_knows_the_last_run(self):
        for runs in range(51, 55):
            bar = self.race("--seeds", 9, runs=runs).stderr
            shown = re.findall(rf"best (.*) \(trial (\d+)\), {runs} of {runs} runs", bar)[-1]
            told = self.ok("best").stdout
            self.assertIn(f"value   {shown[0]}, ", told)
            self.assertIn(f"trial   {shown[1]}, ", told)

    def test_every_picture_names_the_best(self):
        self.race(runs=90)
        best = json.loads(self.ok("best", "--json").stdout)
        for kind in ("history", "slice", "parallel"):
            shown = self.ok("plot", "--kind", kind).stdout
            self.assertRegex(shown, rf"best of \d+ complete trials: .*, trial {best['number']}\b")
        self.assertIn("luckiest so far", self.ok("plot").stdout)


if __name__ == "__main__":
    test_run.COCABO = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
