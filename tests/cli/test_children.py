#!/usr/bin/env python3
"""The programs that cocabo run starts: stopped and continued, ended with everything they
started wherever that went, and what is taken for their value.

    python3 tests/cli/test_children.py PATH/TO/cocabo [unittest arguments]
"""

import json
import os
import pathlib
import signal
import stat
import sys
import time
import unittest

import test_run
from test_run import Case, X

SOMEBODY = 12345  # a user that nobody here is
root_only = unittest.skipUnless(os.geteuid() == 0, "needs root to make other users' links")


def state_of(pid):
    """R, S, T (stopped), Z ... or - if there is no such process."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "-"
    return text.rsplit(")", 1)[1].split()[0]


class Stopped(Case):
    def wait_for_state(self, pid, states):
        self.wait_for(lambda: state_of(pid) in states)

    def test_a_trial_that_ended_meanwhile_is_no_timeout(self):
        script = self.program("echo $$ >pid; while test ! -e go; do sleep 0.02; done; echo 0.5")
        run = self.start("run", *X, "-n", 1, "--trial-timeout", 3, "--", script)
        pid = self.wait_for_file("pid")
        run.send_signal(signal.SIGSTOP)
        self.wait_for_state(run.pid, "T")
        (self.folder / "go").touch()
        self.wait_for_state(pid, "Z-")
        time.sleep(3.2)  # the time-out passes
        run.send_signal(signal.SIGCONT)
        out, err = run.communicate(timeout=60)
        self.assertEqual([t.get("reason") or t["value"] for t in self.trials()], [0.5], err)

    def test_a_pause_of_ours_is_not_the_trials(self):
        """Everything stood still, as when a machine or a container is paused."""
        script = self.program("echo $$ >pid; while test ! -e go; do sleep 0.02; done; echo 0.5")
        run = self.start("run", *X, "-n", 1, "--trial-timeout", 4, "--", script)
        pid = int(self.wait_for_file("pid"))
        run.send_signal(signal.SIGSTOP)
        self.wait_for_state(run.pid, "T")
        time.sleep(4.2)
        run.send_signal(signal.SIGCONT)
        self.wait_for_state(run.pid, "RS")
        time.sleep(0.5)
        (self.folder / "go").touch()
        out, err = run.communicate(timeout=60)
        self.assertEqual([t.get("reason") or t["value"] for t in self.trials()], [0.5], err)

    def suspend(self, **more):
        """A run that is stopped by Ctrl-Z, and the numbers of its trial's processes."""
        script = self.program(
            "setsid sh -c 'echo $$ >far; while :; do sleep 0.02; done' >/dev/null 2>&1 &"
            "echo $$ >near; while test ! -e go; do sleep 0.02; done; echo 0.5")
        run = self.start("run", *X, "-n", 1, "--trial-timeout", 4, "--", script, **more)
        pids = [self.wait_for_file("near"), self.wait_for_file("far")]
        run.send_signal(signal.SIGTSTP)
        return run, pids

    def resume(self, run, pids):
        for pid in pids:
            self.wait_for_state(pid, "TD")  # D: it waits for a vforked child that is stopped
        time.sleep(4.2)  # the time-out would be over
        run.send_signal(signal.SIGCONT)
        for pid in pids:
            self.wait_for_state(pid, "RS")
        (self.folder / "go").touch()
        out, err = run.communicate(timeout=60)
        self.assertEqual([t.get("reason") or t["value"] for t in self.trials()], [0.5], err)
        os.kill(int(pids[1]), signal.SIGKILL)  # it left the trial, which ended well

    def test_control_z_stops_the_trials_too(self):
        # A process group of its own, as a shell with jobs makes them.
        run, pids = self.suspend(preexec_fn=os.setpgrp)
        pid, status = os.waitpid(run.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        self.assertEqual(os.WSTOPSIG(status), signal.SIGTSTP)
        self.resume(run, pids)

    def test_control_z_where_nobody_keeps_jobs(self):
        run, pids = self.suspend(start_new_session=True)
        self.wait_for_state(run.pid, "T")
        self.resume(run, pids)

    def test_control_c_after_control_z(self):
        run, pids = self.suspend(preexec_fn=os.setpgrp)
        os.waitpid(run.pid, os.WUNTRACED)
        run.send_signal(signal.SIGINT)
        run.send_signal(signal.SIGCONT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, err)
        for pid in pids:
            self.assert_gone(pid)


class Families(Case):
    """Grandchildren that left the group, the session or their parent."""

    # Each writes the number of a process that would sleep for long.
    runaways = {
        "timeout": "timeout 600 sh -c 'echo $$ >PID; sleep 500' & wait",
        "setsid": "setsid sh -c 'echo $$ >PID; sleep 500' & wait",
        "orphan": "(setsid sh -c 'echo $$ >PID; sleep 500' &) ; sleep 500",
        "stranger": "(env -i setsid /bin/sh -c 'echo $$ >PID; exec /bin/sleep 500' &) ; sleep 500",
        "jobs": "exec bash -c 'set -m; sh -c \"echo \\$\\$ >PID; sleep 500\" & wait'",
        "deaf": "setsid sh -c 'trap \"\" TERM; echo $$ >PID; while :; do sleep 0.1; done' & wait",
    }

    def each(self, finish, *flags):
        """One run for each of them, all at once."""
        runs = {}
        for name, text in self.runaways.items():
            script = self.program(text.replace("PID", f"pid-{name}"), f"program-{name}")
            runs[name] = self.start("run", "--storage", f"sqlite:///{name}.db", *X, "-n", 1, *flags,
                                    "--", script)
        pids = {name: self.wait_for_file(f"pid-{name}") for name in runs}
        for name, run in runs.items():
            self.addCleanup(self.kill, int(pids[name]))
            finish(run)
        for name, run in runs.items():
            with self.subTest(name):
                run.communicate(timeout=60)
                self.assert_gone(pids[name])
        self.assert_tidy()

    @staticmethod
    def kill(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def test_a_timeout_reaches_them(self):
        self.each(lambda run: None, "--trial-timeout", "3")

    def test_control_c_reaches_them(self):
        self.each(lambda run: run.send_signal(signal.SIGINT))

    def test_a_killed_run_leaves_none_behind(self):
        self.each(lambda run: run.kill())

    def test_orphans_leave_no_zombies(self):
        script = self.program("(sleep 0.1 &) ; (setsid sleep 0.1 &) ; echo $PPID >keeper; sleep 0.5;"
                              "ps -o stat= --ppid $PPID >states; echo 1")
        self.ok("run", *X, "-n", 1, "--", script)
        states = (self.folder / "states").read_text().split()
        self.assertGreaterEqual(len(states), 1)  # itself
        self.assertNotIn("Z", "".join(states))
        self.assert_gone(self.wait_for_file("keeper"))

    def test_a_polite_one_may_finish_what_it_does(self):
        script = self.program("setsid sh -c 'trap \"sleep 0.7; echo saved >saved; exit\" TERM;"
                              "echo $$ >pid; while :; do sleep 0.05; done' >/dev/null 2>&1 &"
                              "sleep 500")
        run = self.start("run", *X, "-n", 1, "--", script)
        self.wait_for_file("pid")
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual((self.folder / "saved").read_text(), "saved\n")


class Values(Case):
    def value_of(self, *command):
        name = f"s{len(list(self.folder.iterdir()))}-{time.monotonic_ns()}"
        done = self.cocabo("run", "--study", name, *X, "-n", 1, "--", *command)
        trial, = self.trials("--study", name)
        self.done = done
        return trial.get("reason") or trial["value"]

    def test_output_after_the_end_does_not_replace_the_value(self):
        self.assertEqual(self.value_of("sh", "-c", "(sleep 0.2; echo 999) & echo 0.5"), 0.5)
        self.assertEqual(self.value_of("sh", "-c", "(sleep 0.2; echo 999) & printf 0.5"), 0.5)
        self.assertEqual(
            self.value_of("sh", "-c", "setsid sh -c 'sleep 0.2; echo 999' & echo 0.5"), 0.5)

    def test_output_that_is_on_its_way_counts(self):
        script = "exec > >(tee log | cat | cat); seq 2000; echo 0.5"
        for _ in range(5):
            self.assertEqual(self.value_of("bash", "-c", script), 0.5)

    def test_colours(self):
        for text in [r"\033[32m0.93\033[0m", r"\033[1;38;5;9m0.93", r"0.93\n\033[0m\n",
                     r"\033]0;title\0070.93", r"\033]8;;http://x\033\\0.93\033]8;;\033\\",
                     r"\033(B\033[m0.93\033[K"]:
            self.assertEqual(self.value_of("printf", text), 0.93, text)

    def test_hexadecimal_numbers_are_none(self):
        for text in ["0x10", "0x1p3", "-0X1", "0x", "0b1", "1_000", "1e", "1e5x", "--1", ".",
                     "infinite", "nan(1)"]:
            self.assertTrue(str(self.value_of("echo", text)).startswith("no value\n"), text)
        for text, value in [("+1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("1E3", 1000.0), ("-0", 0.0),
                            ("0." + "1" * 300, 1 / 9)]:
            self.assertAlmostEqual(self.value_of("printf", "%s\\n", text), value, msg=text)
        for text, shown in [("inf", "inf"), ("-Infinity", "-inf"), ("NaN", "nan"), ("-nan", "nan"),
                            ("1e999", "inf")]:
            self.assertEqual(self.value_of("printf", "%s\\n", text),
                             f"the value is {shown}, want a finite number", text)

    def test_hexadecimal_numbers_are_refused_as_input(self):
        self.ok("create", *X)
        self.ok("ask", "-n", 2)
        for value in ["0x10", "0x1p3", " 1", "1 ", "1,5"]:
            self.refused(f'the value is "{value}", want a number', "tell", "0", value)
        self.ok("tell", "0", "+1.5")
        self.assertIn("not finite", self.ok("tell", "1", "inf").stderr)
        self.refused('want a whole number', "tell", "0x1", "1")
        self.refused("0x1", "create", "--study", "a", "-p", "x=float(0x1,0x10)")
        self.refused("0x1", "create", "--study", "a", "-p", "x=int(0x1,0x10)")
        self.refused("0x1", "create", "--study", "a", *X, "--set", "n_init=0x10")
        self.refused("0x1", "ask", "--lease", "0x10")
        self.refused("0x1", "run", *X, "-n", "0x10", "--", "true")
        self.refused("0x1", "run", *X, "-n", "1", "--timeout", "0x10", "--", "true")
        for low in ["0x1", "0x1F", "0o17"]:
            (self.folder / "s.yaml").write_text(
                f"parameters: {{x: {{type: int, low: {low}, high: 99}}}}")
            self.refused(low, "create", "--study", "a", "-f", "s.yaml")
        (self.folder / "s.json").write_text('{"parameters": {"x": {"type": "int", "low": 0x1, "high": 9}}}')
        self.refused("0x1", "create", "--study", "a", "-f", "s.json")
        (self.folder / "t.csv").write_text("number,state,value,params_x\n0,complete,0x10,0.5\n")
        self.ends(2, "import", "--study", "b", "--format", "csv", "t.csv")


class Commands(Case):
    def test_an_unknown_name_alone_in_its_word(self):
        self.refused('unknown parameter {y} in "{y}"', "run", *X, "-n", 1, "--", "echo", "{y}")
        self.refused("did you mean {lr}?", "run", "-p", "lr=float(0,1)", "-n", 1, "--",
                     "echo", "{rl}")
        self.refused('unknown parameter {momentum} in "--m={momentum}"', "run", *X, "-n", 1, "--",
                     "echo", "--m={momentum}")
        self.assertFalse((self.folder / "cocabo.db").exists())

    def test_a_command_that_cannot_run_is_not_kept(self):
        self.refused("unknown parameter {y}", "create", *X, "--", "echo", "{y}")
        self.assertFalse((self.folder / "cocabo.db").exists())
        self.ok("run", *X, "-n", 1, "--", "echo", "1")
        before = self.changes()
        self.refused("unknown parameter {y}", "run", "-n", 2, "--", "echo", "{y}")
        self.refused("unknown parameter {y}", "create", "-n", 2, "--", "echo", "{y}")
        self.refused("no-such-program", "run", "-n", 2, "--", "./no-such-program", "{x}")
        self.assertEqual(self.changes(), before)

    def test_what_is_no_unknown_name(self):
        script = self.program('printf "%s\\n" "$@" >args; echo 1')
        words = ["{x}", "{trial}", "{}", "a{3}", "{1..3}", '{"a":1}', "{print $1}", "{ y }",
                 "f() { {y}; }", "{{word}}", "{{print}}{{x}}", "a {{word}}"]
        self.ok("run", *X, "-n", 1, "--", script, *words)
        x = (self.folder / "args").read_text().splitlines()[0]
        self.assertEqual((self.folder / "args").read_text().splitlines()[1:],
                         ["0", *words[2:9], "{word}", "{print}{x}", "a {{word}}"])
        self.assertEqual(float(x), self.trials()[0]["params"]["x"])

    def test_another_command_is_said_and_recorded(self):
        self.ok("run", *X, "-n", 1, "--", "echo", "1")
        same = self.ok("run", *X, "-n", 2, "--", "echo", "1")
        self.assertNotIn("command", same.stderr)
        again = self.ok("run", *X, "-n", 3, "--", "echo", "2 3")
        notes = [line for line in again.stderr.splitlines() if "command" in line]
        self.assertEqual(notes, ['note: the command was "echo 1", it is "echo \'2 3\'" now'])
        self.assertIn("echo", self.changes()[-1])
        long = "x" * 100
        self.ok("run", *X, "-n", 3, "--", "echo", long, "1")
        again = self.ok("run", *X, "-n", 3, "--", "echo", long, "2")
        self.assertIn('note: word 3 of the command was "1", it is "2" now', again.stderr)

    def changes(self):
        import sqlite3
        base = sqlite3.connect(self.folder / "cocabo.db")
        rows = [row[0] for row in base.execute("SELECT body FROM events ORDER BY seq")]
        base.close()
        return [row for row in rows if "command" in row]

    def test_a_worker_elsewhere_is_told_the_folder(self):
        self.ok("run", *X, "-n", 1, "--", "echo", "1")
        here = self.ok("run", "-n", 2)
        self.assertNotIn("folder", here.stderr)
        (self.folder / "other").mkdir()
        self.environment["COCABO_STORAGE"] = f"sqlite:///{self.folder}/cocabo.db"
        self.ok("create", "--study", "default", *X, "-n", 3)
        folder, self.folder = self.folder, self.folder / "other"
        there = self.ok("worker")
        self.folder = folder
        self.assertIn(f'note: the command ran in the folder "{folder}", this is '
                      f'"{folder}/other"', there.stderr)

    def test_a_pipe_that_hides_a_failure(self):
        hint = "set -o pipefail"
        done = self.ends(3, "run", *X, "-n", 3, "--", "sh", "-c", "false | cat")
        self.assertEqual(done.stderr.count("note: "), 1, done.stderr)
        self.assertIn(hint, done.stderr)
        self.assertIn(hint, self.trials()[0]["reason"])
        done = self.ok("run", "--study", "b", *X, "-n", 3, "--", "bash", "-c",
                       "/no/such/program | wc -l")
        self.assertEqual(done.stderr.count(hint), 1, done.stderr)
        working = ["seq 3 | tail -n 1", "echo 'error: 0.25' >&2; seq 3 | tail -n 1",
                   "false || echo 1", "set -o pipefail; echo error: no >&2; seq 3 | cat",
                   "echo loading >&2; echo 1 | cat", "echo 'a|b: not found' >&2; echo 1"]
        for i, script in enumerate(working):
            done = self.ok("run", "--study", f"w{i}", *X, "-n", 1, "--", "bash", "-c", script)
            self.assertNotIn(hint, done.stderr, script)
        done = self.ends(3, "run", "--study", "d", *X, "-n", 1, "--", "bash", "-c", "true || false")
        self.assertNotIn(hint, done.stderr)


@root_only
class Links(Case):
    def link(self, name, target, owner=SOMEBODY):
        path = self.folder / name
        path.symlink_to(target)
        os.lchown(path, owner, owner)
        return path

    def assert_refused(self, link, *args):
        done = self.cocabo(*args)
        self.assertIn(done.returncode, [1, 2], done.stderr)
        self.assertIn(f'"{link}" is a symbolic link of {SOMEBODY}', done.stderr)

    def test_output_is_not_written_through_somebody_elses_link(self):
        self.ok("run", *X, "-n", 2, "--", "echo", "1")
        precious = self.folder / "precious"
        precious.write_text("precious")
        self.link("link.csv", precious)
        self.assert_refused("link.csv", "export", "--format", "csv", "-o", "link.csv")
        self.link("link.svg", precious)
        self.assert_refused("link.svg", "plot", "-o", "link.svg")
        self.link("new.csv", self.folder / "new")
        self.assert_refused("new.csv", "export", "--format", "csv", "-o", "new.csv")
        self.assertFalse((self.folder / "new").exists())
        (self.folder / "d").mkdir()
        self.link("e", "d")
        self.assert_refused("e", "export", "--format", "csv", "-o", "e/out.csv")
        self.link("pipe", "/dev/null")
        self.assert_refused("pipe", "export", "--format", "csv", "-o", "pipe")
        self.assertEqual(precious.read_text(), "precious")
        self.assertEqual(list((self.folder / "d").iterdir()), [])

    def test_links_of_our_own_are_followed(self):
        self.ok("run", *X, "-n", 2, "--", "echo", "1")
        (self.folder / "d").mkdir()
        self.link("ours", "d/../d/out.csv", 0)
        self.link("again", self.folder / "ours", 0)
        self.ok("export", "--format", "csv", "-o", "again")
        self.assertTrue((self.folder / "ours").is_symlink())
        text = (self.folder / "d" / "out.csv").read_text()
        self.assertIn("complete", text)
        self.assertEqual(self.ok("export", "--format", "csv", "-o", "/dev/stdout").stdout, text)
        self.link("loop", "loop", 0)
        self.assertIn("loop", self.ends(2, "export", "--format", "csv", "-o", "loop").stderr)

    def test_logs_are_not_written_through_somebody_elses_link(self):
        precious = self.folder / "precious"
        precious.mkdir()
        (precious / "file").write_text("precious")
        self.link("logs", precious)
        self.assert_refused("logs", "run", *X, "-n", 1, "--log-dir", "logs", "--", "echo", "1")
        self.assert_refused("logs", "run", *X, "-n", 1, "--log-dir", "logs/new/er", "--", "echo",
                            "1")
        self.assertEqual(os.listdir(precious), ["file"])
        (self.folder / "mine").mkdir()
        self.link("mine/trial-0.out", precious / "file")
        done = self.ends(1, "run", *X, "-n", 1, "--log-dir", "mine", "--", "echo", "1")
        self.assertIn(f'"mine/trial-0.out" is a symbolic link of {SOMEBODY}', done.stderr)
        self.assertEqual((precious / "file").read_text(), "precious")
        self.link("fine", "mine", 0)
        self.ok("run", "--study", "b", *X, "-n", 2, "--log-dir", "fine/a/b", "--", "echo", "1")
        self.assertEqual(sorted(os.listdir(self.folder / "mine/a/b")),
                         ["trial-0.err", "trial-0.out", "trial-1.err", "trial-1.out"])


if __name__ == "__main__":
    test_run.COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
