#!/usr/bin/env python3
"""Study files that others hold, that were damaged or replaced, and clocks that jump, as
the user of the program sees it.

    python3 tests/cli/test_store.py PATH/TO/cocabo [unittest arguments]
"""

import glob
import json
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import test_run
from test_run import X, Case

FAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)
# Takes the lock of a file and stops, as if by Ctrl-Z at the worst moment.
HOLDER = """
import os, signal, sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("BEGIN IMMEDIATE")
print("held", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


# Locks byte 120 of the -shm file, which a writer wants, in a way that /proc/locks gives no
# process for; once told to, also a byte of the main file, which has the process.
LATE = """
import fcntl, sqlite3, struct, sys
path = sys.argv[1]
keeps_shm = sqlite3.connect(path)
keeps_shm.execute("SELECT count(*) FROM sqlite_master").fetchall()
shm, main = open(path + "-shm", "r+b"), open(path, "r+b")
flock = struct.pack("@hhqqi4x", fcntl.F_RDLCK, 0, 120, 1, 0)
fcntl.fcntl(shm, fcntl.F_OFD_SETLK, flock)
print("held", flush=True)
sys.stdin.readline()
fcntl.lockf(main, fcntl.LOCK_EX, 1, 2**30 + 1)
sys.stdin.readline()
"""


class Locks(Case):
    def hold(self):
        """A stopped process that holds the lock of cocabo.db."""
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, self.folder / "cocabo.db"],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.bury, holder)
        self.assertEqual(holder.stdout.readline(), "held\n")
        self.wait_for(lambda: self.state_of(holder.pid) == "T")
        return holder

    @staticmethod
    def state_of(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def start(self, *args, **more):
        """What it says goes to a file, so that it can be waited for."""
        path = self.folder / f"stderr-{len(list(self.folder.glob('stderr-*')))}"
        with open(path, "w", encoding="utf-8") as file:
            process = super().start(*args, **{"stderr": file, **more})
        process.said = path
        return process

    def await_line(self, process, text):
        """The line on standard error that has this text."""
        def found():
            return [line for line in process.said.read_text().splitlines() if text in line]
        try:
            self.wait_for(found, 20)
        except AssertionError:
            self.fail(f"{process.args}: no {text!r} in {process.said.read_text()!r}")
        return found()[0]

    def assert_answers(self, process):
        """Ctrl-C ends it: within two seconds, of which a busy machine may make some more."""
        self.assertIsNone(process.poll(), "it did not wait")
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.fail(f"{process.args[1]} does not answer Ctrl-C")
        if os.getloadavg()[0] < os.cpu_count():
            self.assertLess(time.monotonic() - began, 2.0, process.args)
        err = process.said.read_text()
        self.assertIn(process.returncode, (130, -signal.SIGINT), err)
        return err

    def test_ctrl_c_is_answered_by_every_command(self):
        script = self.program("echo $COCABO_TRIAL >>started; sleep 600")
        self.ok("create", *X, "-n", 100)
        self.ok("ask", "-n", 3)
        self.ok("run", *X, "-n", 1, "--study", "other", "--", "echo", "1")
        (self.folder / "in.csv").write_text("x,value\n0.5,1\n")
        runner = self.start("run", "-j", 2, "--", script)
        self.wait_for(lambda: (self.folder / "started").exists() and
                      (self.folder / "started").read_text().count("\n") == 2)
        holder = self.hold()
        lines = [["run", "--", script], ["worker"], ["ask"], ["tell", "0", "1"], ["tell", "1", "--fail", "no"],
                 ["create", *X, "--study", "third"], ["delete", "--yes"],
                 ["import", "--format", "csv", "in.csv"]]
        waiting = [self.start(*line) for line in lines]
        for process in waiting:  # all of them say why they wait
            self.await_line(process, f"cocabo.db: process {holder.pid} holds its lock")
        for args in (["best", "--study", "other"], ["trials"], ["studies"],
                     ["export", "--format", "csv"], ["verify"]):
            self.ok(*args, timeout=20)  # readers do not wait
        for process in [*waiting, runner]:
            self.assert_answers(process)

    def test_a_lock_is_waited_out_and_said(self):
        script = self.program("echo $COCABO_TRIAL >>started; echo 1")
        self.ok("create", *X, "-n", 30, "--sampler", "random")
        holder = self.hold()
        process = self.start("run", "--", script)
        said = self.await_line(process, f"study file cocabo.db: process {holder.pid} holds its lock")
        self.assertIn(f"it is stopped, kill -CONT {holder.pid} lets it go on", said)
        holder.kill()
        process.communicate(timeout=60)
        err = process.said.read_text()
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("cocabo.db is free again", err)
        self.assertEqual(self.states(), ["complete"] * 30)
        self.assertEqual(err.count("free again"), 1, err)

    def test_a_holder_that_is_found_late_is_said(self):
        self.ok("create", *X, "-n", 3)
        holder = subprocess.Popen([sys.executable, "-c", LATE, self.folder / "cocabo.db"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.bury, holder)
        self.assertEqual(holder.stdout.readline(), "held\n")
        process = self.start("ask")
        self.await_line(process, "study file cocabo.db: another process holds its lock")
        holder.stdin.write("more\n")
        holder.stdin.flush()
        self.await_line(process, f"study file cocabo.db: process {holder.pid} holds its lock")
        holder.kill()
        process.communicate(timeout=60)
        err = process.said.read_text()
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(err.count("holds its lock"), 2, err)
        self.assertIn("cocabo.db is free again", err)

    def test_time_outs_hold_while_the_store_is_locked(self):
        script = self.program('test $COCABO_TRIAL = 0 || { echo $$ >slow; sleep 600; }; '
                              'until test -e go; do sleep 0.05; done; echo 1')
        process = self.start("run", *X, "-n", 2, "-j", 2, "--trial-timeout", 3, "--", script)
        slow = self.wait_for_file("slow")
        holder = self.hold()
        (self.folder / "go").touch()  # trial 0 is over and cannot be recorded
        self.wait_for(lambda: not os.path.exists(f"/proc/{slow}"), 20)  # 30: gives up
        holder.kill()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, process.said.read_text())
        self.assertEqual(self.states(), ["complete", "failed"])

    def test_results_that_cannot_be_recorded_are_named(self):
        script = self.program("echo $$ >started; until test -e go; do sleep 0.05; done; echo 1")
        process = self.start("run", *X, "-n", 2, "--", script)
        pid = self.wait_for_file("started")
        self.hold()
        (self.folder / "go").touch()
        self.assert_gone(pid)
        self.await_line(process, "waiting for study file cocabo.db")
        self.assertIn("not recorded: cocabo tell 0 1\n", self.assert_answers(process))


class Clocks(Case):
    def setUp(self):
        super().setUp()
        with open(test_run.COCABO, "rb") as program:
            if b"__asan_init" in program.read():
                self.skipTest("faketime and the sanitizer both want to be loaded first")

    def ask(self, *args, clock=None):
        """The library without its program, which fails where a killed one left something."""
        faked = {"LD_PRELOAD": FAKETIME, "FAKETIME": clock,
                 "FAKETIME_DONT_FAKE_MONOTONIC": "1"} if clock else {}
        done = subprocess.run([test_run.COCABO, "ask", "--json", *args], cwd=self.folder,
                              env={**self.environment, **faked}, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["number"]

    @unittest.skipUnless(FAKETIME, "there is no faketime")
    def test_a_lease_of_a_clock_that_was_ahead_runs_out(self):
        self.ok("create", *X)
        self.assertEqual(self.ask("--lease", "0.5", clock="+1d"), 0)
        self.wait_for(lambda: self.ask() == 0, 20)

    @unittest.skipUnless(FAKETIME, "there is no faketime")
    def test_a_clock_that_is_ahead_takes_nobodys_trials(self):
        self.ok("create", *X)
        self.assertEqual(self.ask("--lease", "600"), 0)
        self.assertEqual(self.ask("--lease", "600", clock="+1d"), 1)
        self.assertEqual(self.ask("--lease", "600", clock="-1d"), 2)
        self.assertEqual(self.ask(), 3)


class Copy(Case):
    ROWS = ("SELECT s.name, seq, hex(e.id), time, kind, number, attempt, body, checksum "
            "FROM events e JOIN studies s ON e.study = s.id ORDER BY 1, 2")

    def rows(self, name):
        file = sqlite3.connect(self.folder / name)
        rows = file.execute(self.ROWS).fetchall()
        file.close()
        return rows

    def run_study(self, name, n=3):
        self.ok("run", *X, "-n", n, "--study", name, "--sampler", "random", "--", "echo", "1")

    def test_all_studies_or_some(self):
        for name in ("first", "second", "third"):
            self.run_study(name)
        some = self.ok("copy", "cocabo.db", "some.db", "--study", "third", "--study", "first")
        self.assertRegex(some.stdout, r"^third: \d+ events copied\nfirst: \d+ events copied\n$")
        self.assertEqual({row[0] for row in self.rows("some.db")}, {"first", "third"})
        lines = self.ok("copy", "sqlite:///cocabo.db", "sqlite:///some.db", "--json").stdout
        found = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual([(one["name"], one["copied"] > 0) for one in found],
                         [("first", False), ("second", True), ("third", False)])
        self.assertEqual(self.rows("some.db"), self.rows("cocabo.db"))
        self.assertEqual(self.ok("copy", "some.db", "--study", "first").stdout,
                         "first: already there\n")  # FROM is the storage
        self.run_study("first", 4)
        self.assertIn("first: ", self.ok("copy", "cocabo.db", "some.db").stdout)
        self.assertEqual(self.rows("some.db"), self.rows("cocabo.db"))
        self.assertEqual(self.ok("copy", "-q", "cocabo.db", "more.db").stdout, "")
        self.assertEqual(self.ok("studies", "--storage", "more.db").stdout,
                         self.ok("studies").stdout)
        self.ok("verify", "--storage", "more.db", "--study", "first", "--proposals", "all")

    def test_another_study_of_that_name_is_refused(self):
        for name in ("first", "second"):
            self.run_study(name)
        self.ok("create", *X, "--study", "first", "--storage", "other.db")
        before = self.rows("other.db")
        done = self.ends(1, "copy", "cocabo.db", "other.db")
        self.assertIn('cocabo copy: study "first" is there already with another log: event 1 ',
                      done.stderr)
        self.assertRegex(done.stdout, r"^second: \d+ events copied\n$")
        self.assertEqual([row for row in self.rows("other.db") if row[0] == "first"], before)
        self.ends(2, "copy", "cocabo.db", "other.db", "--study", "none")
        self.ends(2, "copy")
        self.ends(2, "copy", "a", "b", "c")
        self.ends(2, "copy", "none.db", "other.db")
        self.ends(2, "copy", "--storage", "cocabo.db", "cocabo.db", "other.db")
        self.assertFalse((self.folder / "none.db").exists())

    def test_a_copy_that_was_killed_goes_on(self):
        self.import_rows("large", 60000)
        process = self.start("copy", "cocabo.db", "copy.db")
        self.wait_for(lambda: (self.folder / "copy.db").exists() and self.has_some("copy.db"))
        process.kill()
        process.communicate()
        part = len(self.rows("copy.db"))
        self.assertTrue(0 < part < 60001, part)
        done = self.ok("copy", "cocabo.db", "copy.db")
        self.assertEqual(done.stdout, f"large: {60001 - part} events copied\n")
        self.assertEqual(self.rows("copy.db"), self.rows("cocabo.db"))

    def import_rows(self, study, n):
        table = "x,value\n" + "".join(f"{i / n},{i}\n" for i in range(n))
        (self.folder / "known.csv").write_text(table)
        self.ok("create", *X, "--study", study)
        self.ok("import", "known.csv", "--study", study)

    def has_some(self, name):
        try:
            file = sqlite3.connect(f"file:{self.folder / name}?mode=ro", uri=True, timeout=0.1)
            found = file.execute("SELECT count(*) FROM events").fetchone()[0] > 0
            file.close()
            return found
        except sqlite3.OperationalError:
            return False

    def test_how_far_it_is_is_shown_on_a_terminal(self):
        self.import_rows("large", 60000)
        ours, theirs = pty.openpty()
        process = self.start("copy", "cocabo.db", "copy.db", stderr=theirs)
        os.close(theirs)
        self.wait_for(lambda: (self.folder / "copy.db").exists() and self.has_some("copy.db"))
        process.send_signal(signal.SIGSTOP)  # for so long that it is worth a bar
        time.sleep(2.1)
        process.send_signal(signal.SIGCONT)
        shown = b""
        while piece := self.read_terminal(ours):
            shown += piece
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertRegex(shown.decode(), r"\r\[#*\.*\] +\d+ %  copying large")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-40:])

    @staticmethod
    def read_terminal(file):
        try:
            return os.read(file, 65536)
        except OSError:  # the other end is closed
            return b""


class Damage(Case):
    def test_one_damaged_study_hides_no_other(self):
        for name in ("first", "second", "third"):
            self.ok("run", *X, "-n", 3, "--study", name, "--", "echo", "1")
        with sqlite3.connect(self.folder / "cocabo.db") as file:
            file.execute("UPDATE events SET body = '{' WHERE seq = 3 AND study = 2")
            file.execute("DELETE FROM summaries")  # or nobody would read the log
        file.close()
        table = self.ends(1, "studies")
        self.assertEqual([line.split()[0] for line in table.stdout.splitlines()],
                         ["study", "first", "third"])
        self.assertRegex(table.stderr, r'^cocabo studies: study "second": event 3 .* damaged')
        lines = self.ends(1, "studies", "--json").stdout.splitlines()
        self.assertEqual([json.loads(line)["name"] for line in lines], ["first", "third"])
        self.ok("run", *X, "-n", 4, "--study", "third", "--", "echo", "1")
        self.ends(2, "delete", "--study", "second")
        self.ok("delete", "--study", "second", "--yes")
        self.assertEqual(len(self.ok("studies", "--json").stdout.splitlines()), 2)

    def test_a_file_of_0_1_0_is_read_as_it_is(self):
        golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden",
                              "0.1.0.db")
        path = self.folder / "cocabo.db"
        shutil.copy(golden, path)
        before = path.read_bytes()
        names = [json.loads(line)["name"]
                 for line in self.ok("studies", "--json").stdout.splitlines()]
        for name in names:
            self.ok("trials", "--study", name)
            self.ok("best", "--study", name)
            self.ok("verify", "--study", name, "--proposals", "1")
        self.assertEqual(path.read_bytes(), before)
        self.ok("ask", "--study", names[0])  # writing brings it up to date
        with sqlite3.connect(path) as file:
            self.assertEqual(file.execute("PRAGMA user_version").fetchone(), (5,))
        file.close()
        self.ok("verify", "--study", names[0], "--proposals", "1")


if __name__ == "__main__":
    test_run.COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
