#!/usr/bin/env python3
"""What a program may use, and where it runs: --limit, --pin, and what becomes of those
that want more.

    python3 tests/cli/test_resources.py PATH/TO/cocabo [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import test_run
from test_run import X, Case

PYTHON = sys.executable
# Takes the memory in pieces and touches each, so that it is in use.
EATER = """
import sys, time
held = []
for _ in range(int(sys.argv[1])):
    held.append(b"x" * (1 << 20))
time.sleep(float(sys.argv[2]))
print(1)
"""


def own_cpus():
    return sorted(os.sched_getaffinity(0))


class Limits(Case):
    def script(self, text, name="script.py"):
        (self.folder / name).write_text(text)
        return [PYTHON, name]

    def fails(self, limit, first_line, *command, n=1):
        """One trial, which fails for that reason; the rest of the reason."""
        self.ends(3, "run", "--study", f"s{time.monotonic_ns()}", *X, "-n", n, "--limit",
                  limit, "--json", "--", *command)
        done = self.cocabo("studies", "--json")
        name = json.loads(done.stdout.splitlines()[-1])["name"]
        lines = self.trials("--study", name)[0]["reason"].splitlines()
        self.assertEqual(lines[0], first_line, lines)
        return lines[1:]

    def test_a_program_within_its_limits_is_left_alone(self):
        eater = self.script(EATER)
        self.ok("run", *X, "-n", 2, "--limit",
                "mem=900M,cpu=1m,files=64,fsize=1GiB,procs=40", "--", *eater, 20, 0.2)
        self.assertEqual(self.states(), ["complete"] * 2)

    def test_memory_that_is_not_given(self):
        rest = self.fails("mem=300M", "limit mem=300M: it wanted more memory",
                          *self.script(EATER), 2000, 0)
        self.assertEqual(rest[0], "exit status 1")
        self.assertIn("MemoryError", rest[-1])

    def test_memory_of_a_grandchild(self):
        eater = self.script(EATER)
        rest = self.fails("mem=300M", "limit mem=300M: it wanted more memory", "sh", "-c",
                          f"(setsid {eater[0]} {eater[1]} 2000 0; exit $?) || exit 9")
        self.assertEqual(rest[0], "exit status 9")

    def test_memory_of_many_processes_together(self):
        """None of them has too much."""
        eater = " ".join(self.script(EATER))
        rest = self.fails("mem=400M", "limit mem=400M: it wanted more memory", "sh", "-c",
                          f"for i in 1 2 3 4; do {eater} 150 60 & done; wait; echo 1")
        self.assertRegex(rest[0], r"^[4-9]\d\d(\.\d)?M were in use$")

    def test_pages_that_processes_share_count_once(self):
        forks = self.script("""
import os, time
held = b"x" * (150 << 20)
for _ in range(4):
    if os.fork() == 0:
        time.sleep(1)
        os._exit(0)
time.sleep(1)
print(len(held))
""")
        self.ok("run", *X, "-n", 1, "--limit", "mem=400M", "--", *forks)
        self.assertEqual(self.trials()[0]["value"], 150 << 20)

    def test_memory_of_a_graphics_card_is_another_matter(self):
        self.ends(3, "run", *X, "-n", 1, "--limit", "mem=500M", "--", "sh", "-c",
                  "echo 'OutOfMemoryError: CUDA out of memory' >&2; exit 1")
        self.assertEqual(self.trials()[0]["reason"].splitlines()[0], "exit status 1")

    def test_processor_time(self):
        start = time.monotonic()
        rest = self.fails("cpu=0.5", "limit cpu=0.5: it took more processor time", PYTHON,
                          "-c", "while True: pass")
        self.assertRegex(rest[0], r"^it took (0\.[5-9]|1\.)\d+ seconds$")
        self.assertLess(time.monotonic() - start, 30)

    def test_processor_time_of_all_descendants(self):
        """Each takes less; one that has ended counts, and so does one that left."""
        spin = "import time\nwhile time.process_time() < 0.4: pass"
        rest = self.fails("cpu=0.9s", "limit cpu=0.9s: it took more processor time", "sh",
                          "-c", f'{PYTHON} -c "{spin}"; (setsid {PYTHON} -c "{spin}" &) ; '
                          f'{PYTHON} -c "{spin}"; sleep 20; echo 1')
        self.assertRegex(rest[0], r"^it took (0\.9|1\.)\d* seconds$")

    def test_processor_time_that_the_end_tells(self):
        """It was over before anybody looked."""
        rest = self.fails("cpu=0.01", "limit cpu=0.01: it took more processor time",
                          "sh", "-c",
                          "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; echo 1")
        self.assertIn("it took", rest[0])

    def test_the_kernel_ends_what_nobody_looks_at(self):
        """A shell's status for a child that SIGXCPU ended."""
        rest = self.fails("cpu=60", "limit cpu=60: it took more processor time", "sh", "-c",
                          "kill -XCPU $$")
        self.assertIn("ended by signal 24", rest[0])

    def test_open_files(self):
        rest = self.fails("files=32", "limit files=32: it opened more files", PYTHON, "-c",
                          "held = [open('/dev/null') for _ in range(100)]")
        self.assertEqual(rest[0], "exit status 1")
        self.assertIn("Too many open files", rest[-1])

    def test_a_large_file(self):
        for text in ["open('f', 'wb').write(b'x' * 200000)",
                     "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
                     "open('f', 'wb').write(b'x' * 200000)"]:
            with self.subTest(text):
                self.fails("fsize=100KB", "limit fsize=100KB: it wrote a larger file",
                           PYTHON, "-c", text)
        self.assertLessEqual((self.folder / "f").stat().st_size, 100000)

    def test_processes(self):
        rest = self.fails("procs=6", "limit procs=6: it started more processes", "sh", "-c",
                          "for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; wait")
        self.assertRegex(rest[0], r"^there were \d+ processes and threads$")

    def test_threads_count_as_processes(self):
        self.fails("procs=5", "limit procs=5: it started more processes", PYTHON, "-c",
                   "import threading, time\nfor _ in range(9):\n    "
                   "threading.Thread(target=time.sleep, args=(60,)).start()")

    def test_nobody_is_left(self):
        script = self.program("sleep 600 & echo $! > one; setsid sleep 600 & echo $! > two\n"
                              "while :; do :; done")
        self.fails("cpu=0.5", "limit cpu=0.5: it took more processor time", script)
        for name in ["one", "two"]:
            self.assert_gone(self.wait_for_file(name))
        self.assert_tidy()

    def test_it_is_kept_and_taken_back(self):
        line = ["--", PYTHON, "-c", "held = [open('/dev/null') for _ in range(60)]; print(1)"]
        self.ends(3, "run", *X, "-n", 1, "--limit", "files=32", *line)
        self.ends(3, "run", "-n", 2)  # the study's
        self.ends(3, "worker", "--timeout", "0.1")
        self.ok("run", "-n", 3, "--limit", "files=200")
        self.ends(0, "run", "-n", 4)
        self.assertEqual(self.states(), ["failed"] * 2 + ["complete"] * 2)
        self.ok("create", "-n", 5, "--limit", "files=32")
        self.ok("worker")
        self.ok("create", "-n", 6)
        self.ok("worker", "--limit", "none")  # for itself
        self.ok("run", "-n", 7)
        self.assertEqual(self.states()[4:], ["failed", "complete", "failed"])
        self.ok("run", "-n", 8, "--limit", "none")
        self.ok("run", "-n", 9)
        self.assertEqual(self.states()[7:], ["complete"] * 2)

    def test_a_file_says_it(self):
        for limit in ["files=32", "{files: 32, cpu: 1m}"]:
            with self.subTest(limit):
                (self.folder / "s.yaml").write_text(
                    f"study: 's {limit}'\nparameters: {{x: 'float(0,1)'}}\ntrials: 1\n"
                    f"limit: {limit}\ncommand: ['{PYTHON}', -c, \"held = "
                    "[open('/dev/null') for _ in range(60)]\"]\n")
                self.ends(3, "run", "-f", "s.yaml")
                self.assertIn("limit files=32: it opened more files",
                              self.trials("--study", f"s {limit}")[0]["reason"])

    def test_sentences(self):
        for limit, sentence in [
                ("mem=lots", 'limit mem is "lots", want a size of at least 1M, such as 512M'),
                ("mem=1K", 'limit mem is "1K", want a size'),
                ("mem=-1G", 'limit mem is "-1G", want a size'),
                ("mem=8X", 'limit mem is "8X", want a size'),
                ("mem=8GiBB", 'limit mem is "8GiBB", want a size'),
                ("mem=nan", 'limit mem is "nan", want a size'),
                ("mem=", 'limit mem is "", want a size'),
                ("cpu=0", 'limit cpu is "0", want seconds from 0.01'),
                ("cpu=soon", "or a duration such as 90s, 5m or 1h30m"),
                ("files=3", 'limit files is "3", want a whole number from 8'),
                ("files=9.5", 'limit files is "9.5", want a whole number'),
                ("procs=0", 'limit procs is "0", want a whole number from 1'),
                ("meme=8G", 'unknown limit "meme", did you mean mem?'),
                ("mem", 'a limit is "mem", want NAME=VALUE such as mem=8G or cpu=60'),
                ("mem=8G,", 'a limit is "", want NAME=VALUE'),
                ("=8G", 'a limit is "=8G", want NAME=VALUE'),
                ("mem=8G,mem=9G", "limit mem is there twice"),
                ("none,mem=8G", 'a limit is "none", want NAME=VALUE')]:
            with self.subTest(limit):
                self.refused(sentence, "run", *X, "-n", 1, "--limit", limit, "--", "true")
        (self.folder / "s.yaml").write_text("study: s\nlimit: {mem: much}\n")
        self.refused('s.yaml, line 2: limit mem is "much"', "create", *X, "-f", "s.yaml")
        (self.folder / "s.yaml").write_text("pin: maybe\n")
        self.refused('s.yaml, line 1: pin is "maybe", want true or false', "create", *X, "-f",
                     "s.yaml")
        self.assertFalse((self.folder / "cocabo.db").exists())

    def test_all_sizes_are_read(self):
        report = ("import resource; print(resource.getrlimit(resource.RLIMIT_FSIZE)[0])")
        for i, (text, size) in enumerate([
                ("512M", 512 << 20), ("8G", 8 << 30), ("1.5GiB", 3 << 29), ("70k", 70 << 10),
                ("2TB", 2 * 10**12), ("999B", 999), ("123456", 123456), ("2gB", 2 * 10**9)]):
            with self.subTest(text):
                self.ok("run", "--study", i, *X, "-n", 1, "--limit", f"fsize={text}", "--",
                        PYTHON, "-c", report)
                self.assertEqual(self.trials("--study", i)[0]["value"], size)

    def test_failures_by_limits_teach(self):
        """Half of the space wants more than it gets; it is avoided soon."""
        eater = self.script("import sys\nx = float(sys.argv[1])\n"
                            "held = [open('/dev/null') for _ in range(99 if x > 0 else 1)]\n"
                            "print((x - 0.5) ** 2)")
        self.ok("run", *X, "-n", 30, "-j", 2, "--max-failures", 0, "--limit", "files=50",
                "--", *eater, "{x}")
        failed = [t["number"] for t in self.trials() if t["state"] == "failed"]
        self.assertTrue(failed)
        self.assertLess(len([n for n in failed if n >= 15]), 8, failed)

    def test_it_says_what_is_in_force(self):
        done = self.ok("run", *X, "-n", 1, "-v", "--limit", "mem=1G,cpu=9", "--", "echo", "1")
        self.assertRegex(done.stderr, r"note: limits mem=1G,cpu=9, (by a control group|"
                         r"without a control group: \w)")
        done = self.ok("run", *X, "-n", 2, "--limit", "mem=1G", "--", "echo", "1")
        self.assertNotIn("control group", done.stderr)


def own_group():
    """The folder of the control group that we are in, where it may give memory to groups
    below it; else the reason why not, in words."""
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    mounts = [line.split() for line in mounts]
    mounts = [m for m in mounts if m[m.index("-") + 1] == "cgroup2"]
    lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
    paths = [line[3:] for line in lines if line.startswith("0::")]
    if not mounts or not paths or mounts[0][3] != "/":
        return None, "no control groups of version 2 here"
    group = pathlib.Path(mounts[0][4] + paths[0].rstrip("/"))
    if "memory" not in (group / "cgroup.controllers").read_text().split():
        return None, f"{group} has no memory to give"
    try:
        (group / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError as error:
        return None, f"{group}: {error}"
    return group, ""


class Groups(Case):
    """In a control group that is all ours."""

    def setUp(self):
        super().setUp()
        group, why = own_group()
        if not group:
            self.skipTest(why)
        self.scope = group / f"test-{os.getpid()}-{time.monotonic_ns()}"
        self.scope.mkdir()
        self.addCleanup(lambda: self.scope.rmdir())
        (self.folder / "eater.py").write_text(EATER)

    def enter(self):
        (self.scope / "cgroup.procs").write_text("0")

    def run_in_it(self, status, limit, *command, n=1, entrance=None):
        done = self.ends(status, "run", *X, "-n", n, "-v", "--limit", limit, "--", *command,
                         preexec_fn=entrance or self.enter)
        self.assertIn("by a control group", done.stderr)
        return [t["reason"].splitlines() if t["state"] == "failed" else t["value"]
                for t in self.trials()]

    def assert_clean(self):
        folders = [f for f in self.scope.iterdir() if f.is_dir()]
        self.assertEqual(folders, [])
        self.assertEqual((self.scope / "cgroup.subtree_control").read_text().strip(), "")

    def test_memory_of_all_processes_is_limited(self):
        lines, = self.run_in_it(3, "mem=120M", "sh", "-c", "for i in 1 2 3; do "
                                f"{PYTHON} eater.py 60 30 & done; wait; echo 1")
        self.assertEqual(lines, ["limit mem=120M: it wanted more memory",
                                 "ended by signal 9 (Killed)"])
        self.assert_clean()

    def test_addresses_are_free(self):
        text = ("import mmap; held = mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | "
                "mmap.MAP_ANONYMOUS | 0x4000); print(2)")
        self.assertEqual(self.run_in_it(0, "mem=120M", PYTHON, "-c", text), [2])
        self.assert_clean()

    def test_processes_are_counted(self):
        lines, = self.run_in_it(3, "procs=5", "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do "
                                "sleep 5 & done; wait; exit 3")
        self.assertEqual(lines[0], "limit procs=5: it started more processes")
        self.assert_clean()

    def test_who_leaves_the_trial_may_stay_in_its_group(self):
        script = self.program("setsid sleep 2 & echo $! > left; echo 3")
        self.assertEqual(self.run_in_it(0, "mem=120M", script, n=2), [3, 3])
        self.assert_gone(self.wait_for_file("left"))
        for folder in self.scope.iterdir():
            if folder.is_dir():
                folder.rmdir()

    def test_others_in_the_group_are_left_alone(self):
        sleeper = subprocess.Popen(["sleep", "600"], preexec_fn=self.enter)
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        done = self.ok("run", *X, "-n", 1, "-v", "--limit", "mem=500M", "--", "echo", "1",
                       preexec_fn=self.enter)
        self.assertIn("without a control group: ours has other processes or may not be "
                      "divided", done.stderr)
        self.assert_clean()
        sleeper.kill()
        sleeper.wait()


class Pin(Case):
    REPORT = ("import os; print(sum(1 << c for c in os.sched_getaffinity(0)))")

    def cpus(self, *args, **more):
        """The sets of processors that trials saw, and what was said."""
        script = ("import os, time\nt = os.environ['COCABO_TRIAL']\n"
                  "open('here-' + t, 'w').write(' '.join(map(str, sorted("
                  "os.sched_getaffinity(0)))))\n"
                  "while len([f for f in os.listdir() if f.startswith('here-')]) < WANT: "
                  "time.sleep(0.01)\nprint(1)")
        n = more.pop("n")
        done = self.ok("run", *X, "-n", n, "-j", n, *args, "--", PYTHON, "-c",
                       script.replace("WANT", str(n)), **more)
        files = sorted(self.folder.glob("here-*"))
        sets = [frozenset(map(int, f.read_text().split())) for f in files]
        for f in files:
            f.unlink()
        return sets, done.stderr

    def test_everybody_has_his_own(self):
        have = own_cpus()
        if len(have) < 2:
            self.skipTest("this machine has one processor")
        sets, said = self.cpus("--pin", n=2)
        self.assertFalse(sets[0] & sets[1])
        self.assertEqual(sets[0] | sets[1], set(have))
        self.assertNotIn("note", said)

    def test_one_slot_has_them_all(self):
        sets, _ = self.cpus("--pin", n=1)
        self.assertEqual(sets, [frozenset(own_cpus())])

    def test_it_keeps_to_those_that_it_may_use(self):
        one = own_cpus()[-1]
        sets, said = self.cpus("--pin", n=2,
                               preexec_fn=lambda: os.sched_setaffinity(0, [one]))
        self.assertEqual(sets, [frozenset([one])] * 2)
        self.assertIn("note: -j 2 is more than the 1 processor that may be used: trials "
                      "share them, and times mislead", said)

    def test_more_slots_than_processors_share(self):
        have = own_cpus()
        n = len(have) + 1
        if n > 17:
            self.skipTest("this machine has many processors")
        sets, said = self.cpus("--pin", n=n)
        self.assertTrue(all(len(s) == 1 for s in sets), sets)
        self.assertEqual(set().union(*sets), set(have))
        self.assertIn(f"-j {n} is more than the {len(have)} processors", said)

    def test_without_it_nobody_is_confined(self):
        sets, _ = self.cpus(n=2)
        self.assertEqual(sets, [frozenset(own_cpus())] * 2)

    def test_it_is_kept_and_taken_back(self):
        one = [own_cpus()[0]]
        have = sum(1 << c for c in own_cpus())
        command = ["--", PYTHON, "-c", self.REPORT]
        if len(own_cpus()) < 2:
            self.skipTest("this machine has one processor")
        self.ok("run", *X, "-n", 1, "-j", 2, "--pin", *command)
        self.ok("run", "-n", 2)
        self.ok("run", "-n", 3, "--no-pin")
        self.ok("run", "-n", 4)
        values = [t["value"] for t in self.trials()]
        self.assertTrue(values[0] == values[1] < have and values[2] == values[3] == have,
                        (values, one))
        self.refused("--pin and --no-pin, want one", "run", "--pin", "--no-pin", "-n", 5)


if __name__ == "__main__":
    test_run.COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
