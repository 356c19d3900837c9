#!/usr/bin/env python3
"""cocabo-bench paper and table -o from the outside.

    python3 tests/cli/test_paper.py PATH/TO/cocabo-bench [unittest arguments]
"""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BENCH = None


def bench(*args, cwd=None):
    return subprocess.run([BENCH, *map(str, args)], cwd=cwd, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=280)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cocabo-paper-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        # Without data: the problems that need it are left out, wherever this runs.
        before = os.environ.pop("COCABO_DATA", None)
        if before is not None:
            self.addCleanup(os.environ.__setitem__, "COCABO_DATA", before)

    def paper(self, *args):
        done = bench("paper", *args, "-o", "out", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def rows(self, name):
        with open(self.folder / "out" / name, newline="") as file:
            return list(csv.DictReader(file))

    def text(self, name):
        return (self.folder / "out" / name).read_text()


class Figures(Case):
    def test_runs_figure_and_table(self):
        said = self.paper("--figure", "3", "--problem", "func-2c", "--method",
                          "random,tpe", "--seeds", "2", "--jobs", "2")
        rows = self.rows("figure-3.csv")
        self.assertEqual(len(rows), 2 * 2 * 224)
        self.assertEqual({(r["problem"], r["method"], r["batch"]) for r in rows},
                         {("func-2c", m, "1") for m in ("random", "tpe")})
        self.assertEqual({r["seed"] for r in rows}, {"0", "1"})
        xml.etree.ElementTree.fromstring(self.text("figure-3.svg"))
        table = self.text("figure-3.md").splitlines()
        self.assertEqual(table[0], "| func-2c | batch | runs | t = 0 | t = 25 | t = 50 "
                                   "| t = 100 | t = 150 | t = 200 |")
        self.assertEqual(len(table), 4)
        last = [float(r["best"]) for r in rows if r["method"] == "tpe"
                and r["iteration"] == "200"]
        cell = table[3].split("|")[-2].strip()
        self.assertTrue(cell.startswith("**"), table)
        self.assertAlmostEqual(float(cell.strip("*").split()[0]), sum(last) / 2, places=4)
        # What it does can be done by hand.
        self.assertIn("cocabo-bench table out/figure-3.csv -o out/figure-3.md\n", said)

    def test_goes_on_where_it_was(self):
        args = ["--figure", "4", "--problem", "func-3c", "--method", "random"]
        self.paper(*args, "--seeds", "1")
        first = self.text("figure-4.csv")
        said = self.paper(*args, "--seeds", "2")
        self.assertIn("1 of 2 runs done, 1 were there", said)
        self.assertTrue(self.text("figure-4.csv").startswith(first))
        self.assertEqual(len(self.rows("figure-4.csv")), 2 * (24 + 4 * 80))
        self.assertIn("t = 80", self.text("figure-4.md"))

    def test_what_cannot_be_run_is_left_out_with_a_sentence(self):
        said = self.paper("--figure", "3", "--problem", "ackley-5c,nas-cifar10", "--method",
                          "random,exp3bo", "--seeds", "1")
        self.assertIn("ackley-5c without exp3bo: ", said)
        self.assertIn("without nas-cifar10: ", said)
        self.assertEqual({(r["problem"], r["method"]) for r in self.rows("figure-3.csv")},
                         {("ackley-5c", "random")})

    def test_nothing_to_run(self):
        for args, sentence in [
                (["--figure", "5"], 'unknown figure "5", want one of 3, 4, yacht, table1'),
                (["--figure", "3,4"], '--figure is "3,4", want one of them'),
                ([], "--figure is missing, want 3, 4, yacht or table1"),
                (["--figure", "yacht"], "there is no run of figure yacht to make"),
                (["--figure", "3", "--problem", "func-2c,nn-yacht"],
                 "figure 3 has no problem nn-yacht"),
                (["--figure", "3", "--problem", "func-9"], 'unknown problem "func-9"'),
                (["--figure", "3", "--seeds", "0"], "--seeds"),
                (["--figure", "table1", "--method", "tpe"], "not for table1")]:
            done = bench("paper", *args, "-q", "-o", "out", cwd=self.folder)
            self.assertEqual(done.returncode, 2, (args, done))
            self.assertIn(sentence, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        done = bench("paper", "--figure", "3", "-o", "no/such/folder", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no/such/folder cannot be made", done.stderr)


class Table1(Case):
    def test_is_resumed(self):
        said = self.paper("--figure", "table1", "--seeds", "1")
        lines = [json.loads(line) for line in self.text("table-1.jsonl").splitlines()]
        self.assertEqual(len(lines), 12)
        self.assertEqual({l["model"] for l in lines}, {"cocabo-auto", "onehot"})
        table = self.text("table-1.md")
        self.assertIn("| ackley-2c |", table)
        # What is there is not computed again, whatever it is; what is not, is.
        lines[0]["mean"], lines[0]["se"] = 1234.5, 6.25
        (self.folder / "out" / "table-1.jsonl").write_text(
            "".join(json.dumps(l) + "\n" for l in lines[:-1]) + '{"problem": "cut sh')
        self.paper("--figure", "table1", "--seeds", "1")
        self.assertIn("**1234.5 (6.2)**", self.text("table-1.md"))
        again = json.loads(self.text("table-1.jsonl").splitlines()[-1])
        self.assertEqual(again, lines[-1])


class Markdown(Case):
    HEADER = "problem,method,batch,seed,iteration,evaluation,value,best,ask_seconds\n"

    def test_a_table_for_each_problem(self):
        (self.folder / "r.csv").write_text(
            self.HEADER + "p,a,1,0,0,1,1,1,0\np,a,1,0,1,2,3,3,0\n"
            "q,a,1,0,0,1,5,5,0\np,b,1,0,0,1,2,2,0\np,b,1,1,0,1,1,1,0\n")
        done = bench("table", "r.csv", "--at", "0,1", "-o", "t.md", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual((self.folder / "t.md").read_text(),
                         "| p | batch | runs | t = 0 | t = 1 |\n|---|--:|--:|--:|--:|\n"
                         "| a | 1 | 1 | 1 (0) | **3 (0)** |\n"
                         "| b | 1 | 2 | **1.5 (0.5)** | - |\n\n"
                         "| q | batch | runs | t = 0 | t = 1 |\n|---|--:|--:|--:|--:|\n"
                         "| a | 1 | 1 | **5 (0)** | - |\n")

    def test_a_name_of_something_else_is_not_written_over(self):
        text = self.HEADER + "p,a,1,0,0,1,1,1,0\n"
        (self.folder / "r.csv").write_text(text)
        for command in (["table", "r.csv"], ["surrogate", "--problem", "func-2c"]):
            done = bench(*command, "-o", "r.csv", cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn('-o is "r.csv", want a name that ends in .md', done.stderr)
        self.assertEqual((self.folder / "r.csv").read_text(), text)

    def test_json_and_markdown_are_one_too_many(self):
        done = bench("table", "r.csv", "--json", "-o", "t.md", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--json and -o are both given", done.stderr)


if __name__ == "__main__":
    BENCH = os.path.abspath(sys.argv.pop(1))
    unittest.main()
