#!/usr/bin/env python3
"""When a run of cocabo ends, what it says then, and how it goes on: durations, --target,
--patience, --max-failures, --json, a full disk, cocabo retry, and the help for all that.

    python3 tests/cli/test_limits.py PATH/TO/cocabo [unittest arguments]
"""

import contextlib
import json
import os
import pathlib
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import test_run
from test_run import X, Case

# Values 9, 8, 7 ... by number, so that every trial is the best so far.
FALLING = ["sh", "-c", "echo $((9 - COCABO_TRIAL))"]


class Durations(Case):
    def attribute(self, name, *args):
        self.ok("create", *X, *args)
        with contextlib.closing(sqlite3.connect(self.folder / "cocabo.db")) as database:
            bodies = database.execute("SELECT body FROM events WHERE kind = 2 ORDER BY seq")
            said = [dict(json.loads(body)["attributes"]) for body, in bodies]
        return [float(attributes[name]) for attributes in said if name in attributes][-1]

    def test_units(self):
        for text, seconds in [("90", 90), ("90s", 90), ("5m", 300), ("1h30m", 5400),
                              ("1.5", 1.5), ("0.5h", 1800), ("1e3", 1000), ("2d", 172800),
                              ("1h0.5s", 3600.5), ("0", 0)]:
            with self.subTest(text):
                for option in ["--timeout", "--trial-timeout"]:
                    name = option[2:].replace("-", "_")
                    self.assertEqual(self.attribute(name, option, text), seconds)
                (self.folder / "s.yaml").write_text(f"timeout: {text}\n")
                self.assertEqual(self.attribute("timeout", "-f", "s.yaml"), seconds)
                (self.folder / "s.yaml").write_text(f"trial_timeout: '{text}'\n")
                self.assertEqual(self.attribute("trial_timeout", "-f", "s.yaml"), seconds)

    def test_bad_ones_have_a_sentence_with_examples(self):
        want = "or a duration such as 90s, 5m or 1h30m"
        for text in ["soon", "-1", "inf", "0x10", "1m1h", "1h1h", "1h30", "m", "1e10",
                     "1 h", "40000d", "1hh", "5min", "nan", "1e5m"]:
            with self.subTest(text):
                for option in ["--timeout", "--trial-timeout", "--lease"]:
                    self.refused(f'{option} is "{text}", want seconds from ', "run", *X,
                                 "-n", 3, option, text, "--", "echo", "1")
                self.assertIn(want, self.refused("", "run", *X, "-n", 3, "--timeout", text,
                                                 "--", "echo", "1").stderr)
                (self.folder / "s.yaml").write_text(f"timeout: '{text}'\n")
                self.assertIn(want, self.refused("line 1: timeout is", "create", *X, "-f",
                                                 "s.yaml").stderr)
        self.refused('--lease is "0", want seconds from 1 to 1e9', "run", *X, "-n", 3,
                     "--lease", "0", "--", "echo", "1")
        self.assertFalse((self.folder / "cocabo.db").exists())

    def test_they_are_kept(self):
        self.ok("run", *X, "-n", 1, "--lease", "1m", "--", "echo", "1")
        self.ok("create", "-n", 2)
        self.ok("ask", "--lease", "1h30m")
        script = self.program("sleep 600")
        done = self.ends(3, "run", "--study", "t", *X, "--timeout", "0.005m", "--", script)
        self.assertIn("the time is over", done.stderr)
        self.ends(3, "run", "--study", "u", *X, "-n", 1, "--trial-timeout", "0.01m", "--",
                  script)
        self.assertEqual(self.trials("--study", "u")[0]["reason"], "timeout")


class Target(Case):
    def test_it_ends_the_run(self):
        line = ["run", *X, "-n", 30, "--target", "5", "--", *FALLING]
        done = self.ok(*line)
        self.assertEqual([t["value"] for t in self.trials()], [9, 8, 7, 6, 5])
        self.assertIn("the target 5 is reached", done.stderr)
        self.assertIn("best trial 4: 5", done.stdout)
        done = self.ok(*line)  # the same line again
        self.assertEqual(len(self.trials()), 5)
        self.assertIn("the target 5 is reached", done.stderr)
        self.ok("worker")  # which takes it from the study
        self.assertEqual(len(self.trials()), 5)
        self.ok("worker", "--target", "4.5")
        self.assertEqual(len(self.trials()), 6)
        self.ok("run", "-n", 8, "--target", "none")
        self.assertEqual(len(self.trials()), 8)

    def test_maximizing_and_quiet(self):
        self.ok("run", *X, "-n", 30, "-q", "--maximize", "--target", "3", "--", "sh", "-c",
                "echo $COCABO_TRIAL")
        self.assertEqual(len(self.trials()), 4)

    def test_a_file_says_it(self):
        (self.folder / "s.yaml").write_text(
            "parameters: {x: {type: float, low: 0, high: 1}}\ntrials: 9\ntarget: 7.5\n"
            "command: [sh, -c, 'echo $((9 - COCABO_TRIAL))']\n")
        self.ok("run", "-f", "s.yaml")
        self.assertEqual(len(self.trials()), 3)
        self.ok("run", "-f", "s.yaml", "--target", "6")  # flags override the file
        self.assertEqual(len(self.trials()), 4)

    def test_running_trials_finish(self):
        script = self.program("if [ $COCABO_TRIAL = 0 ]; then while [ ! -e go ]; do "
                              "sleep 0.05; done; echo 3; else echo 1; fi")
        process = self.start("run", *X, "-n", 30, "-j", 2, "--target", "1", "--", script)
        said = ""
        while "waiting for 1 running trial" not in said:
            line = process.stderr.readline()
            self.assertTrue(line, said)
            said += line
        (self.folder / "go").write_text("")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.states(), ["complete"] * 2)

    def test_control_c_gives_them_back(self):
        script = self.program("if [ $COCABO_TRIAL = 0 ]; then sleep 600; fi; echo 1")
        process = self.start("run", *X, "-n", 30, "-j", 2, "--target", "1", "--", script)
        while "waiting for 1 running trial" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.states(), ["interrupted", "complete"])
        self.assertIn("2 trials: 1 complete, 0 failed, 1 interrupted\n", out)

    def test_bad_ones(self):
        for text in ["low", "nan", "inf", "1,5", "0x1"]:
            self.refused(f'--target is "{text}", want a number or none', "run", *X, "-n", 3,
                         "--target", text, "--", "echo", "1")


class Patience(Case):
    def test_it_counts_trials_after_the_best(self):
        # 9 8 7 7 7 failed 7 7 7: trial 2 is the best, five more change nothing
        script = self.program('[ $COCABO_TRIAL = 5 ] && exit 1; '
                              '[ $COCABO_TRIAL -lt 3 ] && echo $((9 - COCABO_TRIAL)) || echo 7')
        line = ["run", *X, "-n", 30, "--patience", 5, "--", script]
        done = self.ok(*line)
        self.assertEqual(len(self.trials()), 8)
        self.assertIn("5 trials in a row brought nothing better", done.stderr)
        self.ok(*line)  # a resume agrees
        self.ok("worker")
        self.assertEqual(len(self.trials()), 8)
        self.ok("worker", "--patience", 6)
        self.assertEqual(len(self.trials()), 9)
        self.ok("run", "-n", 11, "--patience", 0)
        self.assertEqual(len(self.trials()), 11)

    def test_known_results_are_no_trials(self):
        self.ok("create", *X)
        (self.folder / "known.csv").write_text("x,value\n" + "".join(
            f"0.{k},{k}\n" for k in range(9)))
        self.ok("import", "--format", "csv", "known.csv")
        self.ok("run", "-n", 50, "--patience", 4, "--", "echo", "5")
        self.assertEqual(len(self.trials()), 9 + 4)

    def test_it_starts_with_the_first_value(self):
        script = self.program("[ $COCABO_TRIAL -lt 6 ] && exit 1; echo 1")
        self.ok("run", *X, "-n", 50, "--patience", 3, "--", script)
        self.assertEqual(len(self.trials()), 6 + 1 + 3)

    def test_a_file_says_it(self):
        (self.folder / "s.yaml").write_text(
            "parameters: {x: {type: float, low: 0, high: 1}}\ntrials: 20\npatience: 3\n"
            "command: [echo, 1]\n")
        self.ok("run", "-f", "s.yaml")
        self.assertEqual(len(self.trials()), 4)


class Failures(Case):
    def test_the_number_is_the_limit_of_a_run(self):
        script = self.program("[ $((COCABO_TRIAL % 3)) = 0 ] && exit 1; echo 1")
        line = ["run", *X, "-n", 60, "--max-failures", 4, "--", script]
        done = self.ends(1, *line)
        self.assertEqual(self.states().count("failed"), 4)
        self.assertEqual(len(self.trials()), 10)
        self.assertIn("cocabo run: 4 trials failed, as many as --max-failures allows",
                      done.stderr)
        self.assertIn("4 x exit status 1", done.stdout)
        self.ends(1, *line)  # each run may have as many
        self.assertEqual(self.states().count("failed"), 8)
        self.ends(1, "worker", "--max-failures", 1)
        self.assertEqual(self.states().count("failed"), 9)
        (self.folder / "s.yaml").write_text("max_failures: 2\n")
        self.ends(1, "run", "-f", "s.yaml")
        self.assertEqual(self.states().count("failed"), 11)
        self.ok("run", "-n", 60, "--max-failures", 0)
        self.assertEqual(len(self.trials()), 60)

    def test_ten_for_one_reason_end_the_run(self):
        script = self.program("echo trial $COCABO_TRIAL: no module >&2; exit 7")
        line = ["run", *X, "-n", 40, "--", script]
        done = self.ends(3, *line)
        self.assertEqual(self.states(), ["failed"] * 10)
        self.assertIn("cocabo run: the first 10 trials all failed: exit status 7", done.stderr)
        self.assertIn("--max-failures", done.stderr)
        self.program("echo 1")  # repaired: the same line goes on
        self.ok(*line)
        self.assertEqual(len(self.trials()), 40)
        done = self.ends(3, "run", "--study", "ten", *X, "-n", 10, "--", "false")
        self.assertNotIn("the first 10", done.stderr)  # it has come to its end

    def test_several_reasons_or_one_value_do_not(self):
        script = self.program("exit $((1 + COCABO_TRIAL % 2))")
        self.ends(3, "run", *X, "-n", 15, "--", script)
        self.assertEqual(len(self.trials()), 15)
        script = self.program("[ $COCABO_TRIAL = 0 ] && echo 1")
        self.ok("run", "--study", "b", *X, "-n", 15, "--", script)
        self.assertEqual(len(self.trials("--study", "b")), 15)
        self.ok("run", "--study", "b", "-n", 30)  # nor when the study has one
        self.assertEqual(len(self.trials("--study", "b")), 30)

    def test_a_number_goes_on(self):
        done = self.ends(1, "run", *X, "-n", 40, "--max-failures", 14, "--", "false")
        self.assertEqual(len(self.trials()), 14)
        self.assertNotIn("the first 10", done.stderr)
        self.ends(3, "run", "-n", 16, "--max-failures", 0)
        self.assertEqual(len(self.trials()), 16)


class Json(Case):
    def test_one_line_for_every_trial_as_it_finishes(self):
        script = self.program("while [ $COCABO_TRIAL = 2 -a ! -e go ]; do sleep 0.05; done; "
                              "echo noise; [ $COCABO_TRIAL = 1 ] && exit 3; "
                              "echo $COCABO_TRIAL")
        process = self.start("run", *X, "-n", 5, "--json", "--", script)
        first = [process.stdout.readline() for _ in range(2)]  # while trial 2 waits
        (self.folder / "go").write_text("")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        lines = [json.loads(line) for line in first + out.splitlines()]
        self.assertEqual(lines, self.trials())
        self.assertEqual([t["state"] for t in lines],
                         ["complete", "failed", "complete", "complete", "complete"])
        self.assertIn("5/5", err)  # the bar is for people

    def test_nothing_else(self):
        self.ok("run", *X, "-n", 3, "--json", "--", "echo", "1")
        self.assertEqual(self.ok("run", *X, "-n", 3, "--json").stdout, "")
        done = self.ends(3, "run", "--study", "b", *X, "-n", 2, "--json", "--", "false")
        self.assertEqual([json.loads(line)["state"] for line in done.stdout.splitlines()],
                         ["failed"] * 2)
        self.ok("create", "-n", 5)
        worker = self.ok("worker", "--json").stdout.splitlines()
        self.assertEqual([json.loads(line)["number"] for line in worker], [3, 4])


class Summary(Case):
    def test_interrupted_trials_are_counted(self):
        script = self.program("echo $COCABO_TRIAL >>begun; [ $COCABO_TRIAL = 0 ] && echo 1 && "
                              "exit; sleep 600")
        process = self.start("run", *X, "-n", 9, "-j", 2, "--", script)
        self.wait_for(lambda: (self.folder / "begun").exists()
                      and len((self.folder / "begun").read_text().split()) == 3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("3 trials: 1 complete, 0 failed, 2 interrupted\n", out)

    def test_nothing_to_do(self):
        self.ok("run", *X, "-n", 6, "--", "echo", "1")
        done = self.ok("run", *X, "-n", 4)
        self.assertIn("nothing to do: 6 trials are there, more than -n 4\n", done.stderr)
        self.assertNotIn("ETA", done.stderr)
        self.assertIn("best trial", done.stdout)
        self.assertIn("nothing to do: 6 trials are there, more than -n 4\n", self.ok("worker").stderr)
        done = self.ok("run", "-n", 6, "--target", 2)  # of two reasons, the simpler one
        self.assertIn("nothing to do: 6 of 6 trials are there\n", done.stderr)
        self.assertNotIn("nothing", self.ok("run", *X, "-n", 7, "--target", 0).stderr)


class Retry(Case):
    def fail_some(self):
        self.line = ["run", *X, "-n", 9, "--", "sh", "-c",
                     "[ -e fixed ] || [ $((COCABO_TRIAL % 3)) != 1 ] || exit 1; echo {x}"]
        self.ok(*self.line)
        self.before = self.trials()
        self.assertEqual(self.states().count("failed"), 3)

    def test_failed_trials_run_again_with_their_points(self):
        self.fail_some()
        done = self.ok("retry")
        self.assertIn("3 trials are offered again: 1, 4, 7", done.stdout)
        self.assertEqual(self.states().count("interrupted"), 3)
        (self.folder / "fixed").write_text("")
        self.ok(*self.line)
        after = self.trials()
        self.assertEqual([t["state"] for t in after], ["complete"] * 9)
        self.assertEqual([t["params"] for t in after], [t["params"] for t in self.before])
        self.assertEqual([t["attempt"] for t in after], [0, 1, 0] * 3)
        self.ok("run", "-n", 14)
        self.assertIn("14 proposals: all the same",
                      self.ok("verify", "--proposals", "all").stdout)

    def test_by_number(self):
        self.fail_some()
        answers = [json.loads(line) for line
                   in self.ok("retry", 4, 7, "--json").stdout.splitlines()]
        self.assertEqual(answers, [t for t in self.trials() if t["number"] in (4, 7)])
        self.assertEqual([t["state"] for t in answers], ["interrupted"] * 2)
        self.ok("retry", 4)  # on offer already
        self.refused("trial 0 is complete, want a failed one", "retry", 0)
        self.refused("no trial 9", "retry", 1, 9)
        self.assertEqual(self.trials()[1]["state"], "failed")  # all or none
        self.refused('the number is "x", want a whole number', "retry", "x")

    def test_one_that_somebody_else_put_back_is_no_error(self):
        """While it waits to write the first, another is put back and handed out."""
        self.fail_some()
        with contextlib.closing(sqlite3.connect(self.folder / "cocabo.db",
                                                isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            process = self.start("retry")
            self.wait_until_it_waits(process)
            for kind, attempt in [(13, 0), (8, 1)]:  # TRIAL_RETRIED, TRIAL_RESUMED
                database.execute(
                    "INSERT INTO events SELECT study, max(seq) + 1, randomblob(16), "
                    "max(time), ?, 4, ?, '{}', NULL FROM events",
                    (kind, attempt))
            database.execute("COMMIT")
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertIn("2 trials are offered again: 1, 7", out)
        self.assertEqual([t["state"] for t in self.trials() if t["number"] in (1, 4, 7)],
                         ["interrupted", "running", "interrupted"])

    def test_nobody_is_waited_for_where_nobody_runs(self):
        """An index without entries, which says that the next trial is taken, is named."""
        self.ok("run", *X, "-n", 3, "--", "echo", 1)
        with contextlib.closing(sqlite3.connect(self.folder / "cocabo.db")) as database:
            name = "trial_by_number"
            (text,), = database.execute("SELECT sql FROM sqlite_schema WHERE name = ?", [name])
            database.execute("PRAGMA writable_schema = ON")
            for sql in [text.replace("(3, 9)", "(99)"), text]:
                database.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", [sql, name])
                database.commit()
                if sql != text:
                    with contextlib.closing(sqlite3.connect(
                            self.folder / "cocabo.db")) as other:
                        other.execute(f"REINDEX {name}")
        process = self.start("run", "-n", 5)
        out, err = process.communicate(timeout=60)
        self.assertNotIn("waiting for 0", err)
        self.assertIn("index", err)
        self.assertEqual((process.returncode, len(self.trials())), (1, 3))

    @staticmethod
    def wait_until_it_waits(process):
        """Asleep at 20 looks in a row: for the lock, there is nothing else to wait for."""
        asleep, end = 0, time.monotonic() + 60
        while asleep < 20 and time.monotonic() < end:
            stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
            asleep = asleep + 1 if stat.rpartition(")")[2].split()[0] == "S" else 0
            time.sleep(0.01)

    def test_running_ones_are_given_back(self):
        self.ok("create", *X)
        self.ok("ask", "-n", 3)
        self.ok("tell", 0, 1)
        self.refused("trial 1 is running, want a failed one; --state running gives it back",
                     "retry", 1)
        self.assertIn("no failed trial", self.ok("retry").stdout)
        self.ok("retry", "--state", "running")
        self.assertEqual(self.states(), ["complete", "interrupted", "interrupted"])
        self.refused('--state is "complete", want failed or running', "retry", "--state",
                     "complete")


class FullDisk(Case):
    """A small file system of its own, where the machine lets us mount one."""

    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", self.disk],
                                 capture_output=True)
        if mounted.returncode:
            self.skipTest("cannot mount a file system")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk])
        self.url = f"sqlite:///{self.disk}/cocabo.db"

    def test_what_is_not_recorded_is_named(self):
        script = self.program("echo 0.125")
        done = self.ends(1, "run", "--storage", self.url, *X, "-p", "c=choice('a b',c)",
                         "-n", 100000, "-j", 3, "--sampler", "random", "--", script)
        trials = self.trials("--storage", self.url)
        complete = [t for t in trials if t["state"] == "complete"]
        self.assertGreater(len(complete), 3)
        self.assertIn(f"{len(complete)} complete and 0 failed trials are recorded", done.stderr)
        lines = done.stderr.splitlines()
        told = [line.split("not recorded: ", 1)[1] for line in lines
                if "not recorded: cocabo tell" in line]
        open_ = {t["number"]: t for t in trials if t["state"] == "running"}
        named = {}
        for line in told:
            words = shlex.split(line)
            self.assertEqual(words[:2] + words[-1:], ["cocabo", "tell", "0.125"])
            named[int(words[-2])] = words[1:]
        for number, trial in open_.items():  # each is named, or was given back by its end
            self.assertIn(number, named, done.stderr)
            self.assertIn(f"x={json.dumps(trial['params']['x'])}", done.stderr)
        # Where only asks found no room, all results are recorded, and nobody is named.
        subprocess.run(["mount", "-o", "remount,size=4m", self.disk], check=True)
        for words in named.values():
            self.ok(*words)
        after = self.trials("--storage", self.url)
        self.assertEqual([after[n]["value"] for n in named], [0.125] * len(named))

    def test_what_runs_is_let_finish_and_recorded_when_there_is_room(self):
        script = self.program("while [ $COCABO_TRIAL = 0 -a ! -e go ]; do sleep 0.05; done; "
                              "echo 0.125")
        process = self.start("run", "--storage", self.url, *X, "-n", 100000, "-j", 2,
                             "--sampler", "random", "--", script)
        said = ""
        while "waiting for 1 running trial" not in said:
            line = process.stderr.readline()
            self.assertTrue(line, said)
            said += line
        self.assertIn("no room", said)
        subprocess.run(["mount", "-o", "remount,size=8m", self.disk], check=True)
        (self.folder / "go").write_text("")  # not before: nobody waits where nobody runs
        before = len(self.trials("--storage", self.url))
        self.wait_for(lambda: len(self.trials("--storage", self.url)) > before)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        trials = self.trials("--storage", self.url)
        self.assertEqual(trials[0]["value"], 0.125)
        self.assertEqual([t for t in trials if t["state"] not in ("complete", "interrupted")],
                         [])


class Help(Case):
    def test_samplers_have_a_line_each(self):
        text = self.ok("run", "--help").stdout
        names = ["mixed", "cocabo", "smac", "tpe", "onehot", "exp3bo", "sobol", "random"]
        for name in names:
            self.assertRegex(text, rf"(?m)^  {name} +\w.{{15}}")
        self.assertEqual(self.ok("help", "run").stdout, text)

    def test_options_have_a_page_of_their_own(self):
        text, page = self.ok("run", "--help").stdout, self.ok("help", "options").stdout
        self.assertIn("cocabo help options", text)
        for name in ["kernel_sum", "bandit_init", "outliers", "durability"]:
            self.assertNotIn(name, text)
            self.assertRegex(page, rf"(?m)^  {name} ")
        self.assertIn("--set OPTION=VALUE", page)
        self.assertIn("help options", self.ok("--help").stdout)
        self.refused('unknown command "optoins", did you mean options?', "help",
                     "optoins")
        self.assertEqual(self.ok("help", "retry").stdout, self.ok("retry", "--help").stdout)

    def test_manual_pages(self):
        self.ok("--man", "--into", self.folder)
        pages = {path.name: path.read_text() for path in self.folder.glob("*.1")}
        self.assertIn("kernel_sum", pages["cocabo-options.1"])
        self.assertNotIn("kernel_sum", pages["cocabo-run.1"])
        self.assertIn("cocabo\\-options (1)", pages["cocabo-run.1"])
        for flag in ["target", "patience", "max\\-failures"]:
            for name in ["run", "create", "worker"]:
                self.assertIn(f"\\-\\-{flag}", pages[f"cocabo-{name}.1"])
        self.assertIn("cocabo\\-retry", pages["cocabo-retry.1"])

    def complete(self, *words):
        return [line.split("\t")[0] for line
                in self.ok("--complete", *words).stdout.splitlines()]

    def test_completions(self):
        self.assertIn("retry", self.complete(""))
        self.assertIn("help", self.complete(""))
        self.assertIn("options", self.complete("help", ""))
        self.assertIn("run", self.complete("help", ""))
        self.assertEqual(self.complete("run", "--pat"), ["--patience"])
        self.assertEqual(self.complete("worker", "--tar"), ["--target"])
        self.assertEqual(self.complete("create", "--max-"), ["--max-failures", "--max-runs"])
        self.assertIn("failed", self.complete("retry", "--state", ""))
        self.assertIn("mixed", self.complete("run", "--sampler", ""))


if __name__ == "__main__":
    test_run.COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
