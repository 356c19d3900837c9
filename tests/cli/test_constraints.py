#!/usr/bin/env python3
"""Constraints on metrics and failures that teach, from the outside: how they are said,
changed and refused, and where one sees which trials keep them:
test_constraints.py COCABO [names of tests]"""

import csv
import io
import json
import os
import sys
import unittest

import test_cocabo

X = ["-p", "x=float(0,1)"]
# Prints x as the value and 1 - x as p99.
PROGRAM = ["--", "sh", "-c",
           "awk 'BEGIN{print \"{\\\"value\\\": \" {x} \", \\\"p99\\\": \" 1-{x} \"}\"}'"]


class Case(test_cocabo.Case):
    def trials(self, *args):
        return [json.loads(line) for line in
                self.ok("trials", "--json", *args).splitlines()]

    def best(self):
        return json.loads(self.ok("best", "--json"))

    def told(self, *results, constraints=("p99 < 200",), sampler="random"):
        flags = [word for text in constraints for word in ("--constraint", text)]
        self.ok("create", *X, "--sampler", sampler, *flags)
        self.ok("ask", "-n", len(results))
        for number, result in enumerate(results):
            self.ok("tell", number, result)


class Saying(Case):
    def test_best_is_the_best_that_keeps_them(self):
        self.told('{"value":1,"p99":300}', '{"value":3,"p99":200}', '{"value":2}',
                  constraints=["p99 <= 200", "value < 5"])
        self.assertEqual([t["feasible"] for t in self.trials()], [False, True, None])
        self.assertEqual(self.best()["number"], 1)
        self.assertIs(self.best()["feasible"], True)
        self.assertIn("the best of 1 that keep the constraints", self.ok("best"))

    def test_without_any_the_least_violation_is_shown_and_said(self):
        self.told('{"value":1,"p99":900}', '{"value":3,"p99":201}', '{"value":2}')
        done = self.cocabo("best")
        self.assertEqual(done.returncode, 0)
        said = [line for line in done.stdout.splitlines() if "no trial keeps" in line]
        self.assertEqual(len(said), 1, done.stdout)
        self.assertEqual((self.best()["number"], self.best()["feasible"]), (1, False))
        self.assertIn("3 (infeasible)", self.ok("studies"))
        self.assertIs(json.loads(self.ok("studies", "--json"))["feasible"], False)

    def test_what_nobody_measured_is_never_the_best(self):
        self.told('{"value":1,"p99":900}', '{"value":2,"p99":800}',
                  constraints=["p9 < 200"])
        sentence = ('no trial of study "default" has every metric that is bounded: '
                    'trial 0 has no "p9"')
        self.refused(3, sentence, "best")
        self.refused(3, sentence, "best", "--json")
        studies = json.loads(self.ok("studies", "--json"))
        self.assertEqual((studies["best"], studies["feasible"]), (None, None))
        for kind in ("history", "slice", "parallel"):
            self.assertIn("no trial has every metric that is bounded",
                          self.ok("plot", "--kind", kind))
            self.ok("plot", "--kind", kind, "-o", "p.svg")
        self.refused(3, sentence, "run", "-n", 3, "-q", *PROGRAM)
        self.ok("create", "--constraint", "p99 < 200")
        self.assertEqual(self.best()["number"], 2)

    def test_studies_without_constraints_say_nothing_of_it(self):
        self.told('{"value":1,"p99":900}', constraints=[])
        for text in (self.ok("trials", "--json"), self.ok("best", "--json"),
                     self.ok("studies", "--json"), self.ok("export", "--format", "csv"),
                     self.ok("trials")):
            self.assertNotIn("feasible", text)

    def test_slips_are_refused_before_there_is_a_study(self):
        for text in ("p99 200", "p99 == 3", "a b < 3", "p99 <"):
            self.refused(2, f'constraint "{text}" is not METRIC < NUMBER', "create", *X,
                         "--constraint", text)
        self.refused(2, "bounded twice from above", "create", *X, "--constraint", "a<1",
                     "--constraint", "a<2")
        self.refused(2, "sampler tpe has no model of constraints, want mixed", "create",
                     *X, "--sampler", "tpe", "--constraint", "a<1")
        self.refused(2, "option constraints is given twice", "create", *X,
                     "--constraint", "a<1", "--set", "constraints=a<2")

    def test_a_file_says_the_same(self):
        self.write("a.yaml", "parameters: {x: {type: float, low: 0, high: 1}}\n"
                   "sampler: random\nconstraints: ['p99 < 200', '`a b` >= 1e-3']\n")
        self.ok("create", "-f", "a.yaml")
        self.ok("ask", "-n", 2)
        self.ok("tell", 0, '{"value":1,"p99":1,"a b":0.001}')
        self.ok("tell", 1, '{"value":0,"p99":1,"a b":0.0009}')
        self.assertEqual([t["feasible"] for t in self.trials()], [True, False])
        self.write("b.yaml", "parameters: {x: {type: float, low: 0, high: 1}}\n"
                   "constraints: p99 > 200\n")
        self.ok("create", "-f", "b.yaml", "--study", "b")
        for bad, why in (("{p99: 3}", "want a list"), ("[p99]", "is not METRIC"),
                         ("[[a < 1]]", "want a list")):
            self.write("c.yaml", f"parameters: {{x: {{type: float, low: 0, high: 1}}}}\n"
                       f"constraints: {bad}\n")
            self.refused(2, why, "create", "-f", "c.yaml", "--study", "c")

    def test_they_may_change(self):
        self.told('{"value":1,"p99":300}', '{"value":3,"p99":100}')
        self.assertEqual(self.best()["number"], 1)
        self.ok("create", "--constraint", "p99 < 400")
        self.assertEqual(self.best()["number"], 0)
        self.ok("create", "--constraint", "none")
        self.assertNotIn("feasible", self.best())

    def test_the_objective_and_what_is_measured_in_any_case_count_too(self):
        self.ok("run", *X, "-n", 3, "-q", "--objective", "loss", "--constraint",
                "loss < 0.5", "--constraint", "seconds < 100", "--constraint",
                "max_rss > 0", "--sampler", "random", "--", "sh", "-c",
                "echo '{\"loss\": {x}}'")
        for trial in self.trials():
            self.assertIs(trial["feasible"], trial["value"] < 0.5)


class Showing(Case):
    def setUp(self):
        super().setUp()
        self.told('{"value":1,"p99":300}', '{"value":3,"p99":100}', '{"value":4}',
                  '{"value":2,"p99":100}')

    def test_tables_have_a_column_and_sort_them_apart(self):
        lines = self.ok("trials", "--sort", "value").splitlines()
        self.assertIn("feasible", lines[0].split())
        self.assertEqual([line.split()[0] for line in lines[1:]], ["3", "1", "0", "2"])
        rows = list(csv.DictReader(io.StringIO(self.ok("export", "--format", "csv"))))
        self.assertEqual([row["feasible"] for row in rows], ["false", "true", "", "true"])
        self.write("t.csv", self.ok("export", "--format", "csv"))
        self.ok("create", *X, "--study", "again", "--constraint", "p99 < 200")
        self.ok("import", "--format", "csv", "t.csv", "--study", "again")
        self.assertEqual([t["feasible"] for t in self.trials("--study", "again")],
                         [False, True, None, True])

    def test_pictures_show_them_apart(self):
        lines = [json.loads(line) for line in
                 self.ok("plot", "--kind", "history", "--json").splitlines()]
        self.assertEqual([line["best"] for line in lines], [None, 3.0, 3.0, 2.0])
        self.assertEqual([line["feasible"] for line in lines],
                         [False, True, False, True])
        self.assertIn("infeasible (2)", self.ok("plot", "--text"))
        for kind in ("history", "slice", "parallel"):
            self.ok("plot", "--kind", kind, "-o", "p.svg")
            text = (self.folder / "p.svg").read_text()
            self.assertIn("infeasible (2)", text)
            self.assertIn("best of 2 feasible trials: 2, trial 3", text)

    def test_choices_show_them_apart(self):
        self.ok("create", "--study", "k", "-p", "k=choice(a)", "--sampler", "random",
                "--set", "deterministic=false", "--constraint", "p99 < 200")
        self.ok("ask", "-n", 3, "--study", "k")
        for number, p99 in enumerate((300, 100, 300)):
            self.ok("tell", number, f'{{"value":1,"p99":{p99}}}', "--study", "k")
        args = ("plot", "--kind", "categories", "--study", "k")
        strip = [line for line in self.ok(*args).splitlines() if line.startswith("  a")]
        self.assertIn("\u25cb\u2588\u25cb", strip[0])
        self.ok(*args, "-o", "p.svg")
        rings = (self.folder / "p.svg").read_text().count("<circle")
        self.assertEqual(rings, 3)  # and one in the legend

    def test_gnuplot_draws_rings(self):
        (self.folder / "bin").mkdir()
        gnuplot = self.folder / "bin" / "gnuplot"
        gnuplot.write_text("#!/bin/sh\n/bin/cat >script.txt\necho a picture\n")
        gnuplot.chmod(0o755)
        self.environment["PATH"] = str(gnuplot.parent)
        for kind, rings in ("history", 3), ("parallel", 3):  # and one in the legend
            self.ok("plot", "--kind", kind, "-o", "p.png")
            script = (self.folder / "script.txt").read_text()
            drawn = sum(len(part.split("e\n")[0].splitlines()) - 1
                        for part in script.split("with points pt 6 ")[1:])
            self.assertEqual(drawn, rings, script)


class Running(Case):
    def test_a_run_finds_the_bound_and_is_verified(self):
        self.ok("run", *X, "-n", 16, "-q", "--constraint", "p99 < 0.4", *PROGRAM)
        self.assertIs(self.best()["feasible"], True)
        self.assertLess(self.best()["value"], 0.65)
        self.assertIn("all the same", self.ok("verify", "--proposals", "all"))

    def test_a_target_must_be_reached_by_one_that_keeps_them(self):
        self.ok("run", *X, "-n", 16, "-q", "--constraint", "p99 < 0.4", "--target", "0.61",
                *PROGRAM)
        last = self.trials()[-1]
        self.assertTrue(len(self.trials()) == 16 or
                        (last["feasible"] and last["value"] <= 0.61), last)
        self.assertTrue(any(t["value"] < 0.6 for t in self.trials()))

    def test_exit_status_75_is_kept_by_that_name(self):
        """What the library goes by when it decides which failures teach."""
        done = self.cocabo("run", *X, "-n", 1, "-q", "--", "sh", "-c", "exit 75")
        self.assertEqual(done.returncode, 3, done.stderr)
        reason = self.trials()[0]["reason"]
        self.assertEqual(reason.splitlines()[0], "exit status 75")


if __name__ == "__main__":
    test_cocabo.COCABO = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
