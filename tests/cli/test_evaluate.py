#!/usr/bin/env python3
"""cocabo-bench evaluate from the outside: a problem as a service for other programs.

    python3 tests/cli/test_evaluate.py PATH/TO/cocabo-bench [unittest arguments]
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = None
POINT = {"h1": "cam", "h2": "bea-2", "x1": 0.37, "x2": -0.81}


def bench(*args, text=""):
    return subprocess.run([BENCH, *map(str, args)], input=text, text=True,
                          capture_output=True, timeout=120)


def answers(problem, points, *args):
    text = "".join(json.dumps(point) + "\n" for point in points)
    done = bench("evaluate", problem, *args, text=text)
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()]


def describe(problem, *args):
    done = bench("evaluate", problem, "--describe", *args)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def initial_values(problem, seed, init, *args):
    with tempfile.TemporaryDirectory(prefix="cocabo-evaluate-test-") as folder:
        path = pathlib.Path(folder, "run.csv")
        done = bench("run", "--problem", problem, "--method", "mixed", "--seeds", seed,
                     "--init", init, "--iterations", 0, "-q", "-o", path, *args)
        assert done.returncode == 0, done
        with path.open(newline="") as file:
            return [float(row["value"]) for row in csv.DictReader(file)]


class Evaluate(unittest.TestCase):
    def refused(self, sentence, *args):
        done = bench("evaluate", *args)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(sentence, done.stderr)

    def bad(self, line, sentence):
        good = json.dumps(POINT)
        done = bench("evaluate", "func-2c", text=f"{good}\n{line}\n{good}\n")
        self.assertEqual(done.returncode, 2, line)
        before, answer, after = map(json.loads, done.stdout.splitlines())
        self.assertEqual(before, after)
        self.assertEqual(list(before), ["value"])
        self.assertEqual(list(answer), ["error"])
        self.assertTrue(answer["error"].startswith("line 2: "), answer)
        self.assertIn(sentence, answer["error"])
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_initial_points_have_the_values_of_a_run(self):
        for problem in ("func-3c", "ackley-4c", "pressure-vessel", "pest-control"):
            for permute in ([], ["--permute"]):
                points = describe(problem, "--seed", 7, "--init", 9, *permute)["initial"]
                got = [a["value"] for a in answers(problem, points, "--seed", 7)]
                self.assertEqual(got, initial_values(problem, 7, 9, *permute), problem)

    def test_an_evaluation_that_fails_says_why(self):
        listed = [json.loads(x) for x in bench("list", "--json").stdout.splitlines()]
        for problem in [x["problem"] for x in listed if "problem" in x]:
            points = describe(problem, "--init", 30)["initial"]
            if problem.startswith("xg-") or not self.has_data(problem):
                continue
            for answer in answers(problem, points):
                self.assertEqual("error" in answer, answer["value"] is None, answer)
                self.assertTrue(answer.get("error", "why"))

    def has_data(self, problem):
        done = bench("evaluate", problem)
        self.assertIn(done.returncode, (0, 1))
        self.assertEqual(done.returncode == 0, done.stderr == "")
        return done.returncode == 0

    def test_the_answer_comes_at_once(self):
        with subprocess.Popen([BENCH, "evaluate", "func-2c"], text=True, bufsize=1,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            for _ in range(3):
                child.stdin.write(json.dumps(POINT) + "\n")
                self.assertIn("value", json.loads(child.stdout.readline()))
            child.stdin.close()
            self.assertEqual(child.wait(timeout=60), 0)

    def test_the_last_line_needs_no_newline(self):
        done = bench("evaluate", "func-2c", text=json.dumps(POINT))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(list(json.loads(done.stdout)), ["value"])

    def test_bad_lines_are_answered_and_named(self):
        without = {k: v for k, v in POINT.items() if k != "x2"}
        self.bad("", "no JSON")
        self.bad("{", "no JSON")
        self.bad("[1]", "no object")
        self.bad("\0", "no JSON")
        self.bad(json.dumps(POINT) * 2, "no JSON")
        self.bad(json.dumps(POINT)[:-1] + ', "x1": 0.5}', 'has key "x1" twice')
        self.bad(json.dumps(without), "x2 is missing")
        self.bad(json.dumps({**POINT, "x2": [1]}), "x2 is a list or an object")
        self.bad(json.dumps({**POINT, "colour": 1}), 'unknown input "colour", want those')
        self.bad(json.dumps({**POINT, "x1": 1.5}), '"x1" is 1.5, want -1 to 1')
        self.bad(json.dumps({**POINT, "h1": "dog"}), '"h1" is "dog", want one of')
        self.bad(json.dumps({**POINT, "h1": 1}), "of type int")
        self.bad('{"%s": 1}' % ("ä" * 5000), "unknown input")
        self.bad("[" * 5000, "no JSON")

    def test_describe_says_what_there_is(self):
        got = describe("func-2c")
        self.assertEqual((got["problem"], got["numbers"], got["categories"]),
                         ("func-2c", 2, 2))
        self.assertEqual(got["direction"], "maximize")
        self.assertAlmostEqual(got["optimum"], 0.20632569069797547, 15)
        self.assertEqual(list(got["parameters"]), ["h1", "h2", "x1", "x2"])
        self.assertEqual(got["parameters"]["h1"],
                         {"type": "choice", "choices": ["ros", "cam", "bea"]})
        self.assertEqual(got["parameters"]["x1"],
                         {"type": "float", "low": -1, "high": 1, "log": False})
        self.assertNotIn("initial", got)
        self.assertEqual(describe("func-2c", "--init", 0)["initial"], [])

    def test_describe_permutes_the_choices(self):
        plain = describe("ackley-5c")["parameters"]
        moved = describe("ackley-5c", "--permute", "--seed", 4)["parameters"]
        self.assertNotEqual(plain, moved)
        for name, parameter in plain.items():
            if "choices" in parameter:
                self.assertCountEqual(parameter["choices"], moved[name]["choices"])

    def test_bad_usage_is_refused(self):
        self.refused("0 problems given, want one")
        self.refused("2 problems given, want one", "func-2c", "func-3c")
        self.refused("2 problems given, want one", "func-2c,func-3c")
        self.refused('unknown problem "func-2x"', "func-2x")
        self.refused("--init is given without --describe", "func-2c", "--init", 3)
        self.refused("--permute is given without --describe", "func-2c", "--permute")
        self.refused('--seed is "-1"', "func-2c", "--seed=-1")

    def test_output_that_cannot_be_written_is_a_failure(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run([BENCH, "evaluate", "func-2c"], stdout=full, text=True,
                                  input=json.dumps(POINT) + "\n", stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BENCH = os.path.abspath(sys.argv.pop(1))
    unittest.main()
