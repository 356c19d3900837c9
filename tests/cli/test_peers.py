#!/usr/bin/env python3
"""bench/peers from the outside, as far as it needs no package: the methods python-random
and cocabo.

    python3 tests/cli/test_peers.py PATH/TO/cocabo-bench [unittest arguments]
"""

import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BENCH = None
PEERS = pathlib.Path(__file__).resolve().parents[2] / "bench/peers"
HEADER = "problem,method,batch,seed,iteration,evaluation,value,best,ask_seconds\n"
sys.path[:0] = [str(PEERS), str(PEERS / "problems")]


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def without_seconds(path):
    return [line.rsplit(",", 1)[0] for line in path.read_text().splitlines()]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cocabo-peers-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "peers.csv"

    def command(self, *args, problem="func-2c", method="python-random", seeds="0-1",
                init=5, iterations=4, output=None):
        return [sys.executable, str(PEERS / "peers.py"), "--problem", problem, "--method",
                method, "--seeds", seeds, "--init", str(init), "--iterations",
                str(iterations), "--bench", BENCH, "-q", "-o", str(output or self.file),
                *args]

    def run_peers(self, *args, **kind):
        environment = {**os.environ, "COCABO_PEERS": str(self.folder / "none"),
                       "COCABO_DATA": str(self.folder / "none"),
                       "COCABO": str(pathlib.Path(BENCH).parent / "cocabo")}
        return subprocess.run(self.command(*args, **kind), text=True, timeout=120,
                              env=environment, capture_output=True)

    def ok(self, *args, **kind):
        done = self.run_peers(*args, **kind)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done)
        return done.stderr

    def refused(self, sentence, **kind):
        done = self.run_peers(**kind)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(sentence, done.stderr)

    def bench(self, *args):
        done = subprocess.run([BENCH, *map(str, args)], text=True, capture_output=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout


class Rows(Case):
    PROBLEMS = "func-2c,ackley-5c,pressure-vessel,pest-control"

    def test_initial_rows_are_those_of_the_bench(self):
        ours, theirs = self.folder / "ours.csv", self.folder / "theirs.csv"
        for permute in ([], ["--permute"]):
            for path in (ours, theirs):
                path.unlink(missing_ok=True)
            self.bench("run", "--problem", self.PROBLEMS, "--method", "random", "--seeds",
                       "3,8", "--init", 24, "--iterations", 0, "-q", "-o", ours, *permute)
            self.ok(*permute, problem=self.PROBLEMS, seeds="3,8", init=24, iterations=0,
                    output=theirs)
            want = [line.replace(",random,", ",python-random,")
                    for line in without_seconds(ours)]
            self.assertEqual(without_seconds(theirs), want)

    def test_rows_follow_the_contract(self):
        self.ok()
        self.assertTrue(self.file.read_text().startswith(HEADER))
        table = rows(self.file)
        self.assertEqual(len(table), 2 * 9)
        for first in (0, 9):
            best = -float("inf")
            for i, row in enumerate(table[first:first + 9]):
                best = max(best, float(row["value"]))
                self.assertEqual(row["method"], "python-random")
                self.assertEqual((row["batch"], row["seed"]), ("1", str(first // 9)))
                self.assertEqual(int(row["iteration"]), max(0, i - 4))
                self.assertEqual(int(row["evaluation"]), i + 1)
                self.assertEqual(row["value"], "%.17g" % float(row["value"]))
                self.assertEqual(float(row["best"]), best)
                self.assertGreaterEqual(float(row["ask_seconds"]), 0)

    def test_the_bench_reads_the_file(self):
        self.ok(problem="func-2c,func-3c", seeds="0-2")
        lines = self.bench("table", self.file, "--at", "0,4", "--json").splitlines()
        got = [(x["problem"], x["method"], x["at"], x["runs"])
               for x in map(json.loads, lines)]
        self.assertEqual(got, [(p, "python-random", t, 3)
                               for p in ("func-2c", "func-3c") for t in (0, 4)])
        # And both programs may share it.
        self.bench("run", "--problem", "func-2c", "--method", "random", "--seeds", "0-2",
                   "--init", 5, "--iterations", 4, "-q", "-o", self.file)
        self.bench("compare", self.file, "--method", "random,python-random", "--at", 4)
        before = self.file.read_bytes()
        self.ok(problem="func-2c,func-3c", seeds="0-2")
        self.assertEqual(self.file.read_bytes(), before)

    def test_every_problem_is_played(self):
        listed = [json.loads(x) for x in self.bench("list", "--json").splitlines()]
        problems = [x["problem"] for x in listed if "problem" in x]
        cheap = [p for p in problems if not p.startswith(("svm", "xg", "nas", "nn"))]
        self.ok("--jobs", "2", problem=",".join(cheap), seeds="0", iterations=30)
        self.assertEqual(len(rows(self.file)), len(cheap) * 35)


class Failures(Case):
    """With a stand-in for the bench, one of whose evaluations in three fails."""

    STAND_IN = '''#!{python}
import json, sys
if "--describe" in sys.argv:
    init = int(sys.argv[sys.argv.index("--init") + 1])
    print(json.dumps({{
        "parameters": {{"x": {{"type": "float", "low": 0.5, "high": 8, "log": True}}}},
        "initial": [{{"x": 0.5 + 0.125 * i}} for i in range(init)]}}))
else:
    for i, line in enumerate(sys.stdin):
        x = json.loads(line)["x"]
        if "{mood}" == "sulky" and i == 6:
            sys.exit("no more")
        failed = i % 3 == 0
        print(json.dumps({{"value": None, "error": "why"}} if failed
                         else {{"value": -x}}), flush=True)
'''

    def stand_in(self, mood):
        path = self.folder / "stand-in"
        path.write_text(self.STAND_IN.format(python=sys.executable, mood=mood))
        path.chmod(0o755)
        return ["--bench", str(path)]

    def test_a_failed_evaluation_has_the_value_nan(self):
        self.ok(*self.stand_in("calm"), seeds="0")
        table = rows(self.file)
        self.assertEqual([row["value"] == "nan" for row in table],
                         [True, False, False] * 3)
        self.assertEqual([row["best"] for row in table[:3]], ["-inf", "-0.625", "-0.625"])
        self.bench("table", self.file, "--at", "0,4")

    def test_a_run_that_breaks_off_leaves_no_rows(self):
        done = self.run_peers(*self.stand_in("sulky"))
        self.assertEqual(done.returncode, 1)
        for seed in (0, 1):
            self.assertIn(f"func-2c with python-random from seed {seed} failed: ",
                          done.stderr)
        self.assertEqual(self.file.read_text(), "")


class Conditions(Case):
    """With a stand-in whose numbers each belong to one choice. It keeps what it is
    asked for, so that the test sees what a method proposes."""

    STAND_IN = '''#!{python}
import json, sys
if "--describe" in sys.argv:
    init = int(sys.argv[sys.argv.index("--init") + 1])
    number = {{"type": "float", "low": 0, "high": 1}}
    print(json.dumps({{
        "parameters": {{"kind": {{"type": "choice", "choices": ["sine", "line"]}},
                        "phase": {{**number, "if": {{"kind": ["sine"]}}}},
                        "slope": {{**number, "if": {{"kind": ["line"]}}}}}},
        "initial": [{{"kind": ["sine", "line"][i % 2], "phase": i / init,
                      "slope": 1 - i / init}} for i in range(init)]}}))
else:
    for line in sys.stdin:
        open({asked!r}, "a").write(line)
        point = json.loads(line)
        value = (-(point["phase"] - 0.3) ** 2 if point["kind"] == "sine"
                 else -point["slope"] - 0.1)
        print(json.dumps({{"value": value}}), flush=True)
'''
    ACTIVE = {"sine": ["kind", "phase"], "line": ["kind", "slope"]}

    def play(self, method):
        """The points that the method asked for, and those that --points kept."""
        program, asked, kept = (self.folder / f"{method}-{name}"
                                for name in ("stand-in", "asked", "points"))
        program.write_text(self.STAND_IN.format(python=sys.executable, asked=str(asked)))
        program.chmod(0o755)
        self.ok("--bench", str(program), "--points", str(kept), method=method, seeds="0",
                iterations=10, output=self.folder / f"{method}.csv")
        return [[json.loads(line) for line in path.read_text().splitlines()]
                for path in (asked, kept)]

    def test_a_point_has_what_its_choice_has(self):
        for method in ("cocabo", "cocabo-flat", "python-random"):
            asked, kept = self.play(method)
            self.assertEqual(len(asked), 15)
            self.assertEqual([row["evaluation"] for row in kept], list(range(1, 16)))
            for point, row in zip(asked, kept):
                names = self.ACTIVE[point["kind"]]
                self.assertEqual(row["point"], {name: point[name] for name in names})
            want = (lambda point: self.ACTIVE[point["kind"]]) if method == "cocabo" else (
                lambda point: ["kind", "phase", "slope"])
            for point in asked[5:]:
                self.assertEqual(list(point), want(point), method)

    def test_shares_count_what_follows_the_initial_points(self):
        _, kept = self.play("python-random")
        later = [row["point"]["kind"] for row in kept[5:]]
        best = max(kept, key=lambda row: row["value"])["point"]["kind"]
        done = subprocess.run([sys.executable, str(PEERS / "shares.py"),
                               str(self.folder / "python-random-points"), "kind", "--init",
                               "5"], text=True, capture_output=True, timeout=60)
        cells = [f"{10 * later.count(k)} % ({int(k == best)})" for k in ("line", "sine")]
        self.assertEqual(done.stdout.splitlines()[-1],
                         f"| python-random | 1 | {cells[0]} | {cells[1]} |", done)

    def test_the_classifiers_are_described_without_a_package(self):
        program = PEERS / "problems/cancer_models.py"
        lines = {subprocess.run([sys.executable, str(program), "--describe", "--seed",
                                 str(seed), "--init", "15"], text=True, timeout=60,
                                capture_output=True, check=True).stdout
                 for seed in (40, 40, 41)}
        self.assertEqual(len(lines), 2)
        from space import Space
        for text in map(json.loads, lines):
            space = Space.read(text["parameters"])
            self.assertEqual((len(space), sum(bool(p.parent) for p in space)), (12, 9))
            self.assertEqual(len(text["initial"]), 15)
            for point in text["initial"]:
                self.assertEqual(len(space.active(point)), 6)
                self.assertEqual(space.point(space.numbers(point)), point)

    def test_random_points_are_not_the_initial_ones(self):
        from methods import make
        from cancer_models import PARAMETERS
        from serving import describe
        from space import Space
        text = describe(PARAMETERS, 40, 15)
        method = make("python-random", Space.read(text["parameters"]), 40, 75)
        again = [point for point in (method.ask() for _ in range(60))
                 if point in text["initial"]]
        self.assertEqual(again, [])


class Resume(Case):
    def test_a_file_cut_anywhere_is_completed(self):
        self.ok()
        whole, want = self.file.read_bytes(), without_seconds(self.file)
        for cut in (0, 1, len(HEADER) - 1, len(HEADER), len(HEADER) + 40,
                    len(whole) // 2, len(whole) * 2 // 3, len(whole) - 1):
            self.file.write_bytes(whole[:cut])
            self.ok()
            self.assertEqual(without_seconds(self.file), want, f"cut at {cut}")

    def test_finished_runs_are_not_done_again(self):
        self.ok()
        before = self.file.read_bytes()
        self.ok(seeds="0-2")
        self.assertTrue(self.file.read_bytes().startswith(before))
        self.assertEqual(len(rows(self.file)), 3 * 9)

    def test_a_killed_run_goes_on(self):
        kind = dict(seeds="0-3", iterations=300)
        with subprocess.Popen(self.command(**kind), stderr=subprocess.DEVNULL) as child:
            deadline = time.monotonic() + 60
            while not self.file.exists() or len(self.file.read_bytes()) < 10000:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            child.send_signal(signal.SIGKILL)
        self.ok(**kind)
        self.assertEqual([int(r["evaluation"]) for r in rows(self.file)],
                         list(range(1, 306)) * 4)

    def test_an_interrupted_run_says_how_to_go_on(self):
        kind = dict(seeds="0-3", iterations=30000)
        with subprocess.Popen(self.command(**kind), stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as child:
            while not self.file.exists():
                time.sleep(0.01)
            time.sleep(0.2)
            os.killpg(child.pid, signal.SIGINT)
            self.assertIn("the same line again goes on", child.stderr.read())
            self.assertEqual(child.wait(timeout=60), 130)

    def test_other_files_are_refused_untouched(self):
        self.ok()
        before = self.file.read_bytes()
        self.refused("write to another file", iterations=7)
        self.refused("write to another file", init=3)
        self.assertEqual(self.file.read_bytes(), before)
        for text in (b"a,b\n1,2\n", HEADER.encode() + b"func-2c,x,1\n"):
            self.file.write_bytes(text)
            self.refused("peers.csv")
            self.assertEqual(self.file.read_bytes(), text)


class Refusals(Case):
    def test_what_is_wrong_is_named(self):
        self.refused('unknown method "hyperopd"', method="hyperopd")
        self.refused('unknown problem "func-2x"', problem="func-2x")
        self.refused("there is no", problem="func-2c,svm-boston")
        self.refused('--seeds is "1-x"', seeds="1-x")
        self.refused("--init 0", init=0)
        self.refused("No such file", output=self.folder / "no/such.csv")
        self.refused("bench/peers/setup base", method="hyperopt-tpe")
        self.refused("cancer-models needs the environment base", problem="cancer-models")
        self.refused("bench/peers/setup torch", method="python-random,optuna-gp")
        self.assertEqual(os.listdir(self.folder), [])


class Spaces(unittest.TestCase):
    def test_numbers_stand_for_values(self):
        from space import Parameter
        grid = Parameter.read("x", {"type": "float", "low": 0.0625, "high": 6.1875,
                                    "log": False, "step": 0.0625})
        self.assertEqual(grid.bounds, (0, 98))
        self.assertEqual(grid.value(grid.number(0.4375)), 0.4375)
        self.assertEqual((grid.value(-3), grid.value(200)), (0.0625, 6.1875))
        whole = Parameter.read("n", {"type": "int", "low": 2, "high": 9, "log": True})
        self.assertEqual([whole.value(x) for x in (1.2, 3.4, 11)], [2, 3, 9])
        self.assertIsInstance(whole.value(3.4), int)
        choice = Parameter.read("h", {"type": "choice",
                                      "choices": [1, 1.0, True, "1", None]})
        self.assertEqual([choice.number(c) for c in choice.choices], [0, 1, 2, 3, 4])
        self.assertIs(choice.value(2.0), True)
        with self.assertRaises(ValueError):
            choice.number("2")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BENCH = os.path.abspath(sys.argv.pop(1))
    unittest.main()
