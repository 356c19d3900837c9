#!/usr/bin/env python3
"""cocabo run and cocabo worker from the outside: what the tuned program gets, what comes
of it, and how runs end.

    python3 tests/cli/test_run.py PATH/TO/cocabo [unittest arguments]
"""

import json
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

COCABO = None
X = ["-p", "x=float(-1,1)"]


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cocabo-run-test-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}
        for name in ["COCABO_STORAGE", "COCABO_STUDY", "COCABO_TRIAL"]:
            self.environment.pop(name, None)

    def start(self, *args, **more):
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE, **more}
        process = subprocess.Popen([COCABO, *map(str, args)], cwd=self.folder, text=True,
                                   env=self.environment, **more)
        self.addCleanup(self.bury, process)
        return process

    @staticmethod
    def bury(process):
        process.kill()
        process.communicate()

    def cocabo(self, *args, timeout=120, **more):
        process = self.start(*args, **more)
        out, err = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def ends(self, status, *args, **more):
        done = self.cocabo(*args, **more)
        self.assertEqual(done.returncode, status, (args, done.stdout, done.stderr))
        return done

    def ok(self, *args, **more):
        return self.ends(0, *args, **more)

    def refused(self, sentence, *args):
        """One line on standard error, exit status 2, and no study."""
        done = self.ends(2, *args)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(sentence, done.stderr)
        return done

    def trials(self, *args):
        lines = self.ok("trials", "--json", *args).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def states(self, *args):
        return [trial["state"] for trial in self.trials(*args)]

    def program(self, text, name="program"):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)
        return f"./{name}"

    def wait_for(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it never happened")
            time.sleep(0.01)

    def wait_for_file(self, name):
        path = self.folder / name
        self.wait_for(lambda: path.exists() and path.read_text().endswith("\n"))
        return path.read_text().strip()

    def assert_gone(self, pid):
        def gone():
            try:
                status = pathlib.Path(f"/proc/{pid}/stat").read_text()
            except OSError:
                return True
            return status.rsplit(")", 1)[1].split()[0] == "Z"
        self.wait_for(gone)

    def assert_tidy(self):
        self.wait_for(lambda: not list(self.temporary.iterdir()))


class Basics(Case):
    def test_runs_to_the_number_of_trials_and_shows_the_best(self):
        done = self.ok("run", *X, "-n", 12, "--", "sh", "-c", "echo {x}")
        best = json.loads(self.ok("best", "--json").stdout)
        self.assertEqual(self.states(), ["complete"] * 12)
        self.assertEqual(best["value"], min(t["value"] for t in self.trials()))
        self.assertEqual(best["value"], best["params"]["x"])
        self.assertIn(f"best trial {best['number']}: ", done.stdout)
        self.assertIn("12 trials: 12 complete, 0 failed", done.stdout)
        self.assertIn("cocabo plot", done.stderr)
        self.assert_tidy()

    def test_maximizes(self):
        self.ok("run", *X, "-n", 6, "--maximize", "--", "sh", "-c", "echo {x}")
        best = json.loads(self.ok("best", "--json").stdout)
        self.assertEqual(best["value"], max(t["value"] for t in self.trials()))

    def test_json_has_a_line_for_every_trial(self):
        done = self.ok("run", *X, "-n", 4, "--json", "--", "echo", "{x}")
        self.assertEqual(done.stdout, self.ok("trials", "--json").stdout)
        self.assertEqual(done.stdout.count("\n"), 4)

    def test_quiet_and_verbose(self):
        quiet = self.ok("run", *X, "-n", 3, "-q", "--", "echo", "{x}")
        self.assertEqual(quiet.stderr, "")
        self.assertTrue(quiet.stdout.startswith("best trial "), quiet.stdout)
        verbose = self.ok("run", "--study", "two", *X, "-n", 3, "-v", "--", "echo", "{x}")
        for number in range(3):
            self.assertRegex(verbose.stderr, rf"(?m)^trial {number} complete: .* x=")

    def test_a_file_says_it_all(self):
        (self.folder / "study.yaml").write_text(
            "study: filed\ntrials: 5\nworkers: 2\ncommand: [sh, -c, 'echo {x}']\n"
            "parameters: {x: {type: float, low: 0, high: 1}}\n")
        self.ok("run", "-f", "study.yaml")
        self.assertEqual(len(self.trials("--study", "filed")), 5)

    def test_closed_files_are_not_mistaken_for_others(self):
        subprocess.run(["sh", "-c", '"$0" run -p "x=float(0,1)" -n 3 -j 2 -- sh -c '
                        '"echo 1; echo bad >&2" <&- >&- 2>&-', COCABO], cwd=self.folder,
                       env=self.environment, timeout=60)
        self.assertEqual(self.states(), ["complete"] * 3)

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = self.ends(1, "run", *X, "-n", 2, "--", "echo", "1", stdout=full)
        self.assertIn("standard output", done.stderr)
        self.assertEqual(self.states(), ["complete"] * 2)


class Refusals(Case):
    def nothing_was_made(self):
        self.assertFalse((self.folder / "cocabo.db").exists())

    def test_without_a_limit_or_a_command(self):
        self.refused("-n TRIALS or --timeout", "run", *X, "--", "echo", "1")
        self.refused("want a command after --", "run", *X, "-n", 3)
        self.nothing_was_made()

    def test_a_command_that_is_not_there(self):
        self.refused('command not found: "no-such-program"', "run", *X, "-n", 3, "--",
                     "no-such-program", "{x}")
        self.refused("No such file or directory", "run", *X, "-n", 3, "--", "./absent")
        (self.folder / "plain").write_text("echo 1\n")
        self.refused("chmod +x", "run", *X, "-n", 3, "--", "./plain")
        self.program("echo 1", "here")
        self.refused("did you mean ./here?", "run", *X, "-n", 3, "--", "here")
        self.nothing_was_made()

    def test_a_misspelt_parameter(self):
        self.refused("unknown parameter {learning_rat} in \"--lr={learning_rat}\", did "
                     "you mean {learning_rate}?", "run", "-p", "learning_rate=float(0,1)",
                     "-n", 3, "--", "echo", "--lr={learning_rat}")
        self.nothing_was_made()

    def test_bad_numbers(self):
        for option, value in [("-n", "0"), ("-j", "0"), ("--retries", "-1"),
                              ("--lease", "0"), ("--timeout", "soon")]:
            self.refused(f"{option} ", "run", *X, "-n" if option != "-n" else "-j", "3",
                         option, value, "--", "echo", "1")
        self.nothing_was_made()

    def test_another_space_or_direction(self):
        self.ok("run", *X, "-n", 2, "--", "echo", "{x}")
        self.refused("", "run", "-p", "x=float(-1,2)", "-n", 3, "--", "echo", "{x}")
        self.refused("", "run", *X, "-n", 3, "--maximize", "--", "echo", "{x}")
        self.assertEqual(len(self.trials()), 2)


class Child(Case):
    def values(self, script, *more):
        self.ok("run", *X, "-n", 1, *more, "--", "sh", "-c", script)
        return self.trials()[0]

    def reason(self, script, *more):
        done = self.ends(3, "run", *X, "-n", 1, *more, "--", "sh", "-c", script)
        self.assertIn("no trial has completed", done.stderr)
        trial = self.trials()[0]
        self.assertEqual(trial["state"], "failed")
        self.assertIsNone(trial["value"])
        return trial["reason"]

    def test_value_is_the_last_line_with_text(self):
        self.assertEqual(self.values("echo 7; echo 0.25; echo; echo ' '")["value"], 0.25)

    def test_value_in_an_object(self):
        self.assertEqual(self.values("""echo '{"value": 0.25, "n": 3}'""")["value"], 0.25)

    def test_value_in_the_result_file(self):
        self.assertEqual(
            self.values("echo 7; echo 0.25 >$COCABO_RESULT")["value"], 0.25)

    def test_value_as_an_object_in_the_result_file(self):
        self.assertEqual(
            self.values("""printf '{\\n"value":\\n0.25}' >$COCABO_RESULT""")["value"], 0.25)

    def test_exit_status(self):
        reason = self.reason("echo 1; echo some; echo oh no >&2; exit 3")
        self.assertEqual(reason, "exit status 3\noh no")

    def test_signal(self):
        self.assertIn("signal 9", self.reason("echo 1; kill -9 $$"))

    def test_no_value(self):
        self.assertTrue(self.reason("true").startswith("no value\n"))

    def test_text(self):
        self.assertIn('"loss 0.5"', self.reason("echo loss 0.5"))

    def test_nan(self):
        self.assertIn("nan", self.reason("echo nan"))

    def test_infinity(self):
        self.assertIn("inf", self.reason("echo -1e999"))

    def test_the_end_of_a_long_standard_error_is_kept(self):
        reason = self.reason("yes \"$(printf '\\377\\033[1mgr\\303\\274n')\" | head -n 99999 >&2; echo last >&2;"
                             "exit 1")
        self.assertTrue(reason.startswith("exit status 1\n"), reason[:80])
        self.assertTrue(reason.endswith("grün\nlast"), reason[-80:])
        self.assertLess(len(reason), 5000)

    def test_a_flood_of_output_is_no_problem(self):
        trial = self.values("head -c 50000000 /dev/zero; echo; echo 3.5")
        self.assertEqual(trial["value"], 3.5)

    def test_environment(self):
        self.environment["COCABO_TRIAL"] = "ours"
        space = ["-p", "lr=float(1e-5,0.1,log)", "-p", "n=int(1,8)",
                 "-p", 'c=choice(1,1.0,true,"1",null,text)', "-p", "o=ordinal(s,m,l)"]
        script = self.program('env | grep ^COCABO_ >"env-$COCABO_TRIAL"; echo $COCABO_SEED')
        self.ok("run", *space, "-n", 12, "--study", "a b", "--", script)
        seeds = set()
        for trial in self.trials("--study", "a b"):
            text = (self.folder / f"env-{trial['number']}").read_text()
            got = dict(line.split("=", 1) for line in text.splitlines())
            self.assertEqual(json.loads(got["COCABO_PARAMS"]), trial["params"])
            self.assertEqual(list(json.loads(got["COCABO_PARAMS"])), ["lr", "n", "c", "o"])
            self.assertEqual(type(json.loads(got["COCABO_PARAMS"])["c"]),
                             type(trial["params"]["c"]))
            self.assertEqual(got["COCABO_STUDY"], "a b")
            self.assertFalse(os.path.exists(got["COCABO_RESULT"]))
            self.assertTrue(got["COCABO_RESULT"].startswith(str(self.temporary)))
            seeds.add(int(got["COCABO_SEED"]))
        self.assertEqual(len(seeds), 12)
        self.assertTrue(all(0 <= seed < 2 ** 64 for seed in seeds))
        self.ok("run", *space, "-n", 12, "--study", "again", "--", script)
        self.assertEqual([t["value"] for t in self.trials("--study", "again")],
                         [t["value"] for t in self.trials("--study", "a b")])

    def test_holes(self):
        script = self.program('printf "%s\\n" "$@" >args; echo 1')
        self.ok("run", "-p", "x=float(0,1)", "-p", "c=choice(1,1.0,true,\"1 a\",null)",
                "-n", 5, "--", script, "{x}", "--c={c}", "{x}{x}", "{{x}}", "{trial}",
                "a {unrelated}", '{"x": {x}}', "{", "{}", "", "a{{x}b", "${x}")
        last = self.trials()[-1]
        x = json.dumps(last["params"]["x"])
        c = last["params"]["c"]
        c = c if isinstance(c, str) else json.dumps(c)
        args = (self.folder / "args").read_text().splitlines()
        self.assertEqual(float(args[0]), last["params"]["x"])
        self.assertEqual(args, [args[0], f"--c={c}", args[0] * 2, "{x}", "4",
                                "a {unrelated}", f'{{"x": {args[0]}}}', "{", "{}", "",
                                f"a{{{args[0]}b", f"${args[0]}"])
        self.assertAlmostEqual(float(x), float(args[0]), 15)

    def test_the_program_itself_may_have_a_hole(self):
        self.program("echo 1", "prog-a")
        self.program("echo 2", "prog-b")
        self.ok("run", "-p", "v=choice(a,b,missing)", "-n", 3, "--", "./prog-{v}")
        outcome = {t["params"]["v"]: t for t in self.trials()}
        self.assertEqual(outcome["a"]["value"], 1)
        self.assertEqual(outcome["b"]["value"], 2)
        self.assertIn("prog-missing", outcome["missing"]["reason"])

    def test_a_program_that_vanishes_does_not_use_up_the_budget(self):
        script = self.program("test $COCABO_TRIAL = 3 && rm program; echo 1")
        done = self.ends(1, "run", *X, "-n", 50, "--", script)
        self.assertIn("cannot start ./program: No such file or directory", done.stderr)
        self.assertEqual(self.states(), ["complete"] * 4 + ["interrupted"])

    def test_reads_nothing_and_has_no_terminal(self):
        self.assertEqual(
            self.values("wc -c; (: </dev/tty) 2>/dev/null && echo 1; true")["value"], 0)

    def test_logs(self):
        script = self.program("echo out $COCABO_TRIAL; echo err >&2; echo 1; "
                              "test -e again || { touch again; exit 1; }")
        self.ok("run", *X, "-n", 2, "--retries", 1, "--log-dir", "a/b", "--", script)
        logs = self.folder / "a" / "b"
        self.assertEqual((logs / "trial-0.out").read_text(), "out 0\n1\n" * 2)
        self.assertEqual((logs / "trial-1.out").read_text(), "out 1\n1\n")
        self.assertEqual((logs / "trial-1.err").read_text(), "err\n")

    def test_a_note_about_a_parameter_that_is_not_in_the_line(self):
        done = self.ok("run", *X, "-p", "y=float(0,1)", "-n", 1, "--", "echo", "{x}")
        self.assertIn("{y} is not in the command", done.stderr)
        done = self.ok("run", "--study", "none", *X, "-n", 1, "--", "echo", "1")
        self.assertNotIn("not in the command", done.stderr)


class Budget(Case):
    def test_failures_count(self):
        script = self.program("echo 1; exit $((COCABO_TRIAL % 3 == 1))")
        done = self.ok("run", *X, "-n", 10, "--", script)
        self.assertEqual(self.states().count("failed"), 3)
        self.assertIn("10 trials: 7 complete, 3 failed\n  3 x exit status 1\n", done.stdout)
        done = self.ends(3, "run", *X, "-n", 4, "--study", "a b", "--", "false")
        self.assertIn("cocabo trials --state failed --study 'a b' lists them", done.stderr)

    def test_the_same_line_resumes(self):
        line = ["--sampler", "random", *X, "--", "echo", "{x}"]
        self.ok("run", "-n", 4, *line)
        first = self.trials()
        self.ok("run", "-n", 4, *line)
        self.assertEqual(self.trials(), first)
        self.ok("run", "-n", 9, *line)
        self.assertEqual(len(self.trials()), 9)
        self.assertEqual(self.trials()[:4], first)
        self.ok("run", "-n", 12)
        self.assertEqual(len(self.trials()), 12)

    def test_a_finite_space_is_used_up(self):
        done = self.ok("run", "-p", "n=int(1,3)", "-n", 10, "--", "echo", "{n}")
        self.assertEqual(sorted(t["value"] for t in self.trials()), [1, 2, 3])
        self.assertIn("every point of the space has been tried", done.stderr)

    def test_retries(self):
        script = self.program("echo x >>starts-$COCABO_TRIAL; echo 1; "
                              "test $(wc -l <starts-$COCABO_TRIAL) -gt $COCABO_TRIAL")
        self.ok("run", *X, "-n", 4, "--retries", 2, "--", script)
        starts = [len((self.folder / f"starts-{i}").read_text()) // 2 for i in range(4)]
        self.assertEqual(starts, [1, 2, 3, 3])
        self.assertEqual(self.states(), ["complete"] * 3 + ["failed"])

    def test_several_at_a_time(self):
        # The first four wait for each other: with fewer at a time it would never end.
        script = self.program("touch seen-$COCABO_TRIAL on-$COCABO_TRIAL; "
                              "while test $COCABO_TRIAL -lt 4 && "
                              "! ls seen-0 seen-1 seen-2 seen-3 >/dev/null 2>&1; "
                              "do sleep 0.05; done; ls on-* | wc -l; sleep 0.2; "
                              "rm on-$COCABO_TRIAL")
        self.ok("run", *X, "-n", 12, "-j", 4, "--sampler", "random", "--", script)
        counts = [t["value"] for t in self.trials()]
        self.assertEqual(max(counts), 4)
        points = [json.dumps(t["params"]) for t in self.trials()]
        self.assertEqual(len(set(points)), 12)

    def test_very_many_at_a_time(self):
        self.ok("run", *X, "-n", 300, "-j", 300, "--sampler", "random", "--log-dir", "logs",
                "--", "sh", "-c", "sleep 2; echo 1")
        self.assertEqual(self.states(), ["complete"] * 300)

    def test_a_noisy_study_shows_a_best_trial(self):
        done = self.ok("run", *X, "-n", 25, "--set", "deterministic=false", "--", "echo",
                       "{x}")
        best = json.loads(self.ok("best", "--json").stdout)
        self.assertIn(f"best trial {best['number']}: ", done.stdout)

    def test_two_runs_and_a_worker_reach_it_together(self):
        line = ["run", *X, "-n", 40, "-j", 2, "--sampler", "random", "--", "sh", "-c",
                "echo $COCABO_TRIAL >>done; echo {x}"]
        first = self.start(*line)
        self.wait_for(lambda: (self.folder / "done").exists())
        others = [self.start(*line), self.start("worker", "--study", "default")]
        for process in [first, *others]:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(self.states(), ["complete"] * 40)
        numbers = sorted(map(int, (self.folder / "done").read_text().split()))
        self.assertEqual(numbers, list(range(40)))

    def test_overhead_is_small(self):
        if "asan" in COCABO or os.environ.get("COCABO_SLOW"):
            self.skipTest("timing means nothing here")
        best = min(self.seconds(str(i)) for i in range(3))
        self.assertLess(best / 200, 0.020)

    @staticmethod
    def strain():
        """By how much others on the machine slow us down: real time over processor time."""
        real, busy = time.monotonic(), time.process_time()
        while time.process_time() - busy < 0.2:
            pass
        return max(1.0, (time.monotonic() - real) / (time.process_time() - busy))

    def seconds(self, study):
        """In those of a machine that has nothing else to do."""
        before, started = self.strain(), time.monotonic()
        self.ok("run", "--study", study, *X, "-n", 200, "--sampler", "random", "-q", "--",
                "/bin/echo", "1")
        return (time.monotonic() - started) / max(before, self.strain())


class Ends(Case):
    """Time-outs, signals, and what is left behind."""

    def test_a_trial_that_takes_too_long(self):
        script = self.program("sleep 600 & echo $! >pid; echo 1; wait")
        self.ends(3, "run", *X, "-n", 1, "--trial-timeout", "1.5", "--", script)
        self.assertEqual(self.trials()[0]["reason"], "timeout")
        self.assert_gone(self.wait_for_file("pid"))

    def test_a_trial_that_takes_too_long_and_does_not_listen(self):
        script = self.program("trap '' TERM; echo $$ >pid; while :; do sleep 0.1; done")
        self.ends(3, "run", *X, "-n", 1, "--trial-timeout", "1.5", "--", script)
        self.assertEqual(self.trials()[0]["reason"], "timeout")
        self.assert_gone(self.wait_for_file("pid"))

    def test_a_grandchild_with_the_pipe(self):
        script = self.program("sleep 600 & echo $! >pid; echo 1")
        self.ok("run", *X, "-n", 2, "--", script)
        self.assert_gone(self.wait_for_file("pid"))

    def test_the_time_is_over(self):
        script = self.program("test $COCABO_TRIAL = 0 || sleep 600; echo 1")
        done = self.ok("run", *X, "--timeout", "3", "--", script)
        self.assertEqual(self.states(), ["complete", "interrupted"])
        self.assertIn("resume", done.stderr)
        self.ends(3, "run", "--study", "none", *X, "--timeout", "0.3", "--", "sleep", "600")

    def slow_run(self, *more):
        """A run with two trials under way, the first two complete."""
        script = self.program(
            "test $COCABO_TRIAL -lt 2 && { echo 1; exit; }; test -e fast && { echo 2; exit; };"
            "sleep 60 & echo $! >pid-$COCABO_TRIAL; wait; echo 3")
        self.line = ["run", *X, "-n", 6, "-j", 2, "--lease", 2, "--sampler", "random", *more,
                     "--", script]
        process = self.start(*self.line)
        self.pids = [self.wait_for_file("pid-2"), self.wait_for_file("pid-3")]
        return process

    def assert_resumes(self):
        params = [t["params"] for t in self.trials()]
        (self.folder / "fast").touch()
        self.ok(*self.line)
        self.assertEqual(self.states(), ["complete"] * 6)
        self.assertEqual([t["params"] for t in self.trials()][:4], params)
        self.assertEqual([t["attempt"] for t in self.trials()], [0, 0, 1, 1, 0, 0])

    def interrupt(self, number):
        process = self.slow_run()
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("run the same line again", err)
        self.assertIn("best trial", out)
        self.assertEqual(self.states(), ["complete"] * 2 + ["interrupted"] * 2)
        for pid in self.pids:
            self.assert_gone(pid)
        self.assert_tidy()
        self.assert_resumes()

    def test_control_c(self):
        self.interrupt(signal.SIGINT)

    def test_termination(self):
        self.interrupt(signal.SIGTERM)

    def test_control_c_twice(self):
        script = self.program("trap '' TERM; echo $$ >pid; while :; do sleep 0.1; done")
        process = self.start("run", *X, "-n", 1, "--", script)
        pid = self.wait_for_file("pid")
        process.send_signal(signal.SIGINT)
        self.wait_for(lambda: select.select([process.stderr], [], [], 0)[0])
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertLess(time.monotonic() - started, 4)  # of 5 s that it would have had
        self.assertEqual(process.returncode, 130)
        self.assert_gone(pid)
        self.assert_tidy()
        self.assertEqual(self.states(), ["interrupted"])
        self.program("echo 1")
        self.ok("run", *X, "-n", 1, "--", script, timeout=60)
        self.assertEqual(self.states(), ["complete"])

    def test_killed(self):
        process = self.slow_run()
        process.kill()
        process.communicate()
        for pid in self.pids:
            self.assert_gone(pid)
        self.assert_tidy()
        self.assertEqual(self.states(), ["complete"] * 2 + ["running"] * 2)
        self.assert_resumes()  # at once: the runner of the leases is gone

    def test_a_killed_worker_is_replaced_at_once(self):
        script = self.program("echo $$ >>pids; test -e fast || sleep 600; echo 1")
        self.ok("create", *X, "-n", 1, "--", script)
        first = self.start("worker", "--lease", 600)
        self.wait_for_file("pids")
        second = self.start("worker", "--lease", 600)
        self.assertIn("running elsewhere", second.stderr.readline())
        (self.folder / "fast").touch()
        killed = time.monotonic()
        first.kill()
        first.communicate()
        self.assertEqual(second.wait(timeout=60), 0)
        self.assertLess(time.monotonic() - killed, 2 * Budget.strain())
        second.communicate()
        self.assertEqual([(t["state"], t["attempt"]) for t in self.trials()], [("complete", 1)])

    def test_a_long_trial_keeps_its_lease(self):
        script = self.program("echo $COCABO_TRIAL >>started; sleep 8; echo 1")
        line = ["run", *X, "-n", 2, "--lease", 3, "--sampler", "random", "--", script]
        processes = [self.start(*line)]
        self.wait_for_file("started")
        processes.append(self.start(*line))
        for process in processes:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(sorted((self.folder / "started").read_text().split()), ["0", "1"])
        self.assertEqual([t["attempt"] for t in self.trials()], [0, 0])

    def test_control_c_while_waiting_for_others(self):
        self.ok("create", *X, "-n", 1)
        self.ok("ask")
        process = self.start("run", "--", "echo", "1")
        self.assertIn("running elsewhere", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.states(), ["running"])

    def test_a_result_from_elsewhere_ends_the_waiting(self):
        self.ok("create", *X, "-n", 1)
        self.ok("ask")
        process = self.start("run", "--", "echo", "1")
        process.stderr.readline()
        self.ok("tell", "0", "0.5")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("best trial 0: 0.5", out)


class Trouble(Case):
    """Stores that are locked, full or gone."""

    def test_a_locked_store_is_waited_for(self):
        script = self.program("echo $COCABO_TRIAL >last; sleep 0.05; echo 1")
        process = self.start("run", *X, "-n", 30, "--sampler", "random", "--", script)
        self.wait_for_file("last")
        with sqlite3.connect(self.folder / "cocabo.db", isolation_level=None) as lock:
            lock.execute("BEGIN IMMEDIATE")
            time.sleep(3)
            lock.execute("ROLLBACK")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(self.states(), ["complete"] * 30)

    def test_a_result_that_cannot_be_recorded_is_named(self):
        """A limit on the size of files is what a full disk looks like."""
        self.ok("create", *X, "-n", 1000)
        script = self.program("echo 0.123")
        size = (self.folder / "cocabo.db").stat().st_size // 512 + 300
        done = subprocess.run(
            ["sh", "-c", f"trap '' XFSZ; ulimit -f {size}; exec \"$0\" run -- ./program",
             COCABO], cwd=self.folder, env=self.environment, text=True, timeout=120,
            stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        told = self.states().count("complete")
        self.assertGreater(told, 0)
        self.assertLess(told, 1000)
        lines = re.findall(r"(?m)^cocabo run: not recorded: cocabo (tell .*)$", done.stderr)
        running = [t["number"] for t in self.trials() if t["state"] == "running"]
        self.assertEqual(len(lines), len(running), done.stderr)
        for line, number in zip(lines, running):  # they record it when there is room again
            self.ok(*shlex.split(line))
            self.assertEqual(self.trials()[number]["value"], 0.123)

    def test_a_study_that_is_deleted(self):
        script = self.program("echo $COCABO_TRIAL >last; sleep 0.2; echo 1")
        process = self.start("run", *X, "-n", 300, "--sampler", "random", "--", script)
        self.wait_for_file("last")
        self.ok("delete", "--yes")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)


class Worker(Case):
    def test_takes_everything_from_the_study(self):
        script = self.program("test $COCABO_TRIAL = 1 && sleep 600; echo x >>starts; "
                              "test $COCABO_TRIAL != 2 && echo 1")
        self.ok("create", *X, "-n", 4, "--trial-timeout", "2", "--retries", "1")
        self.refused("has no command", "worker")
        long_name = "x" + 99 * "é"  # cut somewhere, but not inside a character
        self.ok("create", *X, "--study", long_name)
        self.refused("é...\" has no command", "worker", "--study", long_name)
        self.cocabo("run", "--timeout", "0.01", "--", script)  # stores the command
        self.ok("worker", "--study", "default", "-j", 2)
        self.assertEqual(self.states(), ["complete", "failed", "failed", "complete"])
        self.assertEqual([t.get("reason", "").split("\n")[0] for t in self.trials()],
                         ["", "timeout", "exit status 1", ""])

    def test_needs_a_study(self):
        self.refused("", "worker", "--study", "none")

    def test_ends_at_once_when_there_is_nothing_to_do(self):
        self.ok("run", *X, "-n", 3, "--", "echo", "{x}")
        done = self.ok("worker")
        self.assertIn("best trial", done.stdout)
        self.assertEqual(len(self.trials()), 3)


class Workers(Case):
    def lines(self):
        return [json.loads(line) for line in self.ok("workers", "--json").stdout.splitlines()]

    def test_who_is_at_it(self):
        script = self.program("echo $COCABO_TRIAL >>started; sleep 600; echo 1")
        self.ok("create", *X, "-n", 5, "--", script)
        self.assertEqual(self.ok("workers").stdout, "")
        self.assertIn("no trial is running", self.ok("workers").stderr)
        before = time.time()
        worker = self.start("worker", "-j", 2, "--lease", 500)
        self.wait_for(lambda: len(self.lines()) == 2)
        self.ok("ask")
        self.ok("ask", "--lease", "0.001")
        found = self.lines()
        self.assertEqual([w["trial"] for w in found], [0, 1, 3])
        for w in found[:2]:
            self.assertEqual((w["process"], w["lease"], w["attempt"]), (worker.pid, "held", 0))
            self.assertTrue(w["owner"].startswith(f"{w['host']}:{worker.pid}:"))
            self.assertTrue(before <= w["started"] <= time.time())
            self.assertTrue(400 < w["left"] <= 500, w)
        self.assertEqual((found[2]["host"], found[2]["process"], found[2]["lease"]),
                         (None, None, "run out"))
        self.assertLess(found[2]["left"], 0)
        shown = self.ok("workers")
        rows = [line.split() for line in shown.stdout.splitlines()]
        self.assertEqual(rows[0], ["host", "process", "trial", "since", "lease"])
        for number, row in enumerate(rows[1:3]):
            self.assertEqual(row[:3], [found[0]["host"], str(worker.pid), str(number)])
            self.assertEqual(row[6], "s")
            self.assertEqual(time.mktime(time.strptime(" ".join(row[3:5]), "%Y-%m-%d %H:%M:%S")),
                             int(found[number]["started"]))
        self.assertTrue(rows[3][0].startswith("ask-"))
        self.assertEqual(rows[3][1:3] + rows[3][5:], ["-", "3", "run", "out"])
        self.assertIn("1 running trial has no lease", shown.stderr)
        worker.kill()
        worker.communicate()
        self.assertEqual([w["lease"] for w in self.lines()], ["gone", "gone", "run out"])
        self.assertEqual([line.split()[-1] for line in self.ok("workers").stdout.splitlines()],
                         ["lease", "gone", "gone", "out"])
        self.assertEqual(self.states(), ["running"] * 4)  # looking changes nothing
        self.ends(2, "workers", "--study", "none")


class Terminal(Case):
    def screen(self, *args):
        """What a run writes to a terminal of 100 columns."""
        controller, terminal = pty.openpty()
        import fcntl
        import struct
        import termios
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        process = self.start(*args, stderr=terminal)
        os.close(terminal)
        text = b""
        while True:
            try:
                piece = os.read(controller, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(controller)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        return text.decode()

    def test_bar(self):
        text = self.screen("run", *X, "-n", 8, "-j", 2, "--", "sh", "-c",
                           "sleep 0.3; test $COCABO_TRIAL != 5 && echo {x}")
        frames = [frame for frame in re.split(r"\r|\n", text) if "ETA" in frame]
        self.assertGreater(len(frames), 4)
        self.assertIn("[....................] 0/8, 2 running", frames[0])
        self.assertRegex(frames[-1],
                         r"\[#{20}\] 8/8, best \S+ \(trial \d\), 1 failed, .*ETA 0:00:00")
        for frame in frames:
            self.assertLess(len(re.sub(r"\x1b\[.", "", frame)), 100)

    def test_quiet(self):
        self.assertEqual(self.screen("run", *X, "-n", 2, "-q", "--", "echo", "1"), "")


if __name__ == "__main__":
    COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
