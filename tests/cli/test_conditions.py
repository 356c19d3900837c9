#!/usr/bin/env python3
"""Conditions and rules from the outside: how they are said, what becomes of the words of
a command, and that what is inactive is nowhere:
test_conditions.py COCABO [names of tests]"""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import unittest

import test_cocabo

SVM = ["-p", "kernel=choice(linear,poly,rbf)", "-p", "degree=int(2,5) if kernel == poly",
       "-p", "gamma=float(1e-3,1,log) if kernel in (poly, rbf)", "-p", "c=float(0,1)"]
XZ = ["-p", "lc=int(0,4)", "-p", "lp=int(0,4)"]
RULE = ["--where", "lc + lp <= 4"]
RANDOM = ["--sampler", "random"]
# Both ways, in every study of so many trials.
ENOUGH = 12


def active(params):
    """Are those there that shall be, and no others?"""
    kernel = params["kernel"]
    wanted = {"kernel", "c"} | ({"degree"} if kernel == "poly" else set()) | (
        {"gamma"} if kernel != "linear" else set())
    return set(params) == wanted


class Case(test_cocabo.Case):
    def refused(self, *args, status=2, **more):
        done = self.cocabo(*args, **more)
        self.assertEqual(done.returncode, status, (args, done.stdout, done.stderr))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def trials(self, *args):
        return [json.loads(line) for line in
                self.ok("trials", "--json", *args).splitlines()]

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def words(self, space, *template, n=ENOUGH, more=()):
        """What the program gets in each trial: {number: (params, words)}."""
        script = self.write("words.py", "import json, os, sys\n"
                            "open('words.jsonl', 'a').write(json.dumps([os.environ["
                            "'COCABO_TRIAL'], json.loads(os.environ['COCABO_PARAMS']),"
                            " sys.argv[1:]]) + '\\n')\nprint(1)\n")
        self.ok("run", *space, "-n", n, *RANDOM, *more, "--", sys.executable, script,
                *template)
        lines = (self.folder / "words.jsonl").read_text().splitlines()
        return [(params, words) for _, params, words in map(json.loads, lines)]


class Saying(Case):
    """Conditions and rules on the line and in files."""

    def domains(self, *args):
        exported = json.loads(self.ok("export", "--format", "json", *args))
        return exported["parameters"], exported.get("where")

    def test_on_the_line(self):
        self.ok("create", *SVM, *XZ, *RULE, "--where", "not (kernel == rbf and lc > 2)")
        parameters, where = self.domains()
        self.assertEqual(parameters["degree"]["if"], 'kernel == "poly"')
        self.assertEqual(parameters["gamma"]["if"], 'kernel in ("poly", "rbf")')
        self.assertNotIn("if", parameters["c"])
        self.assertEqual(where, ["lc + lp <= 4", 'not (kernel == "rbf" and lc > 2)'])

    def test_in_a_file(self):
        self.ok("create", *SVM, *XZ, *RULE)
        wanted = self.domains()
        flow = "degree: {type: int, low: 2, high: 5, if: \"kernel == poly\"}"
        short = "degree: int(2,5) if kernel == poly"
        json_file = json.dumps({"parameters": {
            "kernel": {"type": "choice", "choices": ["linear", "poly", "rbf"]},
            "degree": {"type": "int", "low": 2, "high": 5, "if": "kernel == poly"},
            "gamma": "float(1e-3,1,log) if kernel in (poly,rbf)",
            "c": "float(0,1)", "lc": "int(0,4)", "lp": "int(0,4)"},
            "where": ["lc + lp <= 4"]})
        files = [json_file]
        for degree in (flow, short):
            for where in ("where: lc + lp <= 4", "where: [lc + lp <= 4]",
                          "where:\n  - lc + lp <= 4"):
                files.append(f"parameters:\n  kernel: choice(linear,poly,rbf)\n  {degree}\n"
                             "  gamma: {type: float, low: 1e-3, high: 1, log: true, "
                             "if: 'kernel in (poly, rbf)'}\n"
                             f"  c: float(0,1)\n  lc: int(0,4)\n  lp: int(0,4)\n{where}\n")
        for i, text in enumerate(files):
            name = f"study-{i}"
            self.ok("create", "-f", self.write(name + ".yaml", text), "--study", name)
            self.assertEqual(self.domains("--study", name), wanted, text)

    def test_flags_add_rules_to_those_of_a_file(self):
        self.write("s.yaml", "parameters: {lc: 'int(0,4)', lp: 'int(0,4)'}\n"
                   "where: lc + lp <= 4\n")
        self.ok("create", "-f", "s.yaml", "--where", "lc > 0")
        self.assertEqual(self.domains()[1], ["lc + lp <= 4", "lc > 0"])

    def test_what_is_wrong_is_one_sentence(self):
        cases = [
            (["-p", "degree=int(2,5) if kernl == poly"],
             "the condition of \"degree\": in \"kernl == poly\" at column 1:", "kernel"),
            (["-p", "degree=int(2,5) if kernel == ploy"], "poly"),
            (["-p", "degree=int(2,5) if"], "condition"),
            (["--where", "kernel == ploy"], "the rule \"kernel == ploy\"", "poly"),
            (["--where", "lc + lp"], "the rule"),
            (["--where", " "], "the rule \" \""),
        ]
        for flags, *wanted in cases:
            said = self.refused("create", "-p", "kernel=choice(poly,rbf)", *XZ, *flags)
            for text in wanted:
                self.assertIn(text, said)
            self.assertFalse((self.folder / "cocabo.db").exists())
        files = [("parameters: {k: 'choice(a,b)', d: {type: int, low: 1, high: 2, if: 3}}",
                  "if of parameter \"d\" is 3, want a condition"),
                 ("parameters:\n  k: choice(a,b)\n  d: {type: int, low: 1, high: 2, if: k == c}",
                  "s.yaml, line 3"),
                 ("parameters:\n  k: choice(a,b)\nwhere: [k == c]", "s.yaml, line 3"),
                 ("parameters: {k: 'choice(a,b)', d: {type: int, low: 1, high: 2, "
                  "if: k in (a, b)}}", "line 1: if of parameter \"d\" is \"k in (a\", want "
                  "it in quotes, since it has a comma"),
                 ("parameters: {k: 'choice(a,b)'}\nwhere: [k == a, k in (a, b)]",
                  "line 2: a rule of where is \"k in (a\", want it in quotes"),
                 ("parameters: {k: 'choice(a,b)'}\nwhere: {a: b}",
                  "where is a map, want a rule or a list of rules"),
                 ("parameters: {k: 'choice(a,b)'}\nwhere: [[k == a]]",
                  "a rule of where is a list, want text"),
                 ("parameters: {k: 'choice(a,b)'}\nwhere: 3",
                  "where is 3, want a rule or a list of rules")]
        for text, wanted in files:
            self.write("s.yaml", text)
            self.assertIn(wanted, self.refused("create", "-f", "s.yaml"))

    def test_rules_belong_to_the_space(self):
        line = ["run", *XZ, *RULE, *RANDOM, "-n"]
        self.ok(*line, 2, "--", "echo", "{lc}")
        self.ok(*line, 3, "--", "echo", "{lc}")
        self.ok("run", *XZ, "--where", "(lc+lp)<=4", "-n", 4)
        self.ok("run", *XZ, "-n", 5)  # nothing is said
        self.ok("run", "-n", 6, *RULE)
        self.ok("create", *XZ)
        for more in (["--where", "lc <= 3"], [*RULE, "--where", "lc <= 3"]):
            for space in (XZ, []):
                for command in (["run", "-n", 9], ["create"]):
                    said = self.refused(*command, *space, *more)
                    self.assertIn("\"lc <= 3\"", said)
        self.assertIn("lc + lp <= 4", self.refused("run", "-n", 9, "--where", "lc <= 3"))
        self.ok("create", "--study", "free", *XZ)
        self.assertIn("has no rule \"lc + lp <= 4\"",
                      self.refused("create", "--study", "free", *XZ, *RULE))
        self.assertEqual(len(self.trials("--study", "default")), 6)

    def test_another_condition_is_another_space(self):
        self.ok("create", *SVM)
        other = [word.replace("kernel == poly", "kernel != linear") for word in SVM]
        self.assertIn('int(2,5) if kernel == "poly", not int(2,5) if kernel != "linear"',
                      self.refused("create", *other))

    def test_a_space_without_points(self):
        said = self.refused("create", *XZ, "--where", "lc + lp > 9")
        self.assertIn("no point keeps the rules", said)
        self.assertFalse((self.folder / "cocabo.db").exists())
        self.refused("run", *XZ, "--where", "lc + lp > 9", "-n", 3, "--", "echo", "1")

    def test_a_rule_that_leaves_little(self):
        wide = ["-p", "a=int(0,99999)", "-p", "b=int(0,99999)", "--where", "a == b"]
        done = self.cocabo("create", *wide)
        self.assertEqual((done.returncode, done.stdout), (0, "default\n"))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("warning", done.stderr)
        self.assertIn("of 10000", done.stderr)
        self.assertEqual(self.said("create", *wide), "")  # it is there
        self.assertEqual(self.said("create", "--study", "b", *XZ, *RULE), "")

    def test_from_another_study(self):
        self.ok("run", *XZ, *SVM, *RULE, *RANDOM, "-n", 20, "--", "echo", "1")
        self.ok("create", "--from", "default", "--study", "same")
        self.assertEqual(self.domains("--study", "same"), self.domains("--study", "default"))
        self.assertEqual([t["params"] for t in self.trials("--study", "same")],
                         [t["params"] for t in self.trials("--study", "default")])
        self.ok("create", "--from", "default", "--study", "wider",
                "-p", "degree=int(1,6) if kernel == poly", "--where", "lc + lp <= 5")
        self.assertEqual(self.domains("--study", "wider")[1], ["lc + lp <= 5"])
        self.assertEqual(len(self.trials("--study", "wider")), 20)
        # A condition that the old study did not have: a value that it makes inactive
        # does not fit.
        said = self.said("create", "--from", "default", "--study", "other",
                         "-p", "degree=int(2,5) if kernel == poly and lc > 1")
        poly = [t["params"] for t in self.trials("--study", "default")
                if t["params"]["kernel"] == "poly"]
        misfits = sum(p["lc"] <= 1 for p in poly)
        self.assertTrue(0 < misfits < len(poly))
        self.assertIn(f"{20 - misfits} trials carried over, {misfits} did not fit", said)
        # A new parameter has its value where it is active; a dropped one is gone.
        self.ok("create", "--from", "default", "--study", "more", "-p",
                "coef=float(0,1) if kernel == poly", "--given", "coef=0.5",
                "--given", "gamma=0.1", "-p", "kernel=choice(linear,poly,rbf)")
        for trial in self.trials("--study", "more"):
            self.assertEqual(trial["params"].get("coef"),
                             0.5 if trial["params"]["kernel"] == "poly" else None)
        self.assertTrue(self.trials("--study", "more"))
        self.assertIn("the condition of \"degree\"",
                      self.refused("create", "--from", "default", "--study", "gone",
                                   "--given", "kernel=poly"))


class Absent(Case):
    """What is inactive is nowhere."""

    def setUp(self):
        super().setUp()
        self.ok("create", *SVM, *RANDOM)
        self.ok("run", "-n", 30, "-j", 2, "--", "sh", "-c", "echo $COCABO_TRIAL")
        self.asked = self.trials()

    def test_in_json(self):
        kernels = {trial["params"]["kernel"] for trial in self.asked}
        self.assertEqual(kernels, {"linear", "poly", "rbf"})
        shown = [self.asked, self.trials(), [json.loads(self.ok("best", "--json"))],
                 json.loads(self.ok("export", "--format", "json"))["trials"],
                 [json.loads(line) for line in
                  self.ok("export", "--format", "jsonl").splitlines()]]
        for trials in shown:
            for trial in trials:
                self.assertTrue(active(trial["params"]), trial)

    def test_in_text(self):
        titles, *rows = [line.split() for line in self.ok("trials").splitlines()]
        for row, trial in zip(rows, self.asked):
            for title, cell in zip(titles[3:7], row[3:7]):
                self.assertEqual(cell == "-", title not in trial["params"])
        for command in (["best"], ["run"]):
            said = self.ok(*command)
            self.assertNotIn("null", said)
            best = self.asked[0]["params"]
            for name in ("kernel", "degree", "gamma", "c"):
                self.assertEqual(f"{name} = " in said, name in best, said)

    def test_in_what_is_asked(self):
        self.ok("create", *SVM, *RANDOM, "--study", "other")
        for line in self.ok("ask", "-n", 20, "--study", "other").splitlines():
            params = dict(word.split("=", 1) for word in line.split()[1:])
            self.assertTrue(active(params), line)
        for line in self.ok("ask", "-n", 20, "--study", "other", "--json").splitlines():
            self.assertTrue(active(json.loads(line)["params"]), line)

    def test_in_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.ok("export", "--format", "csv"))))
        for row, trial in zip(rows, self.asked):
            for name in ("kernel", "degree", "gamma", "c"):
                self.assertEqual(row[name] == "", name not in trial["params"])

    def test_in_optunas_journal(self):
        lines = [json.loads(line) for line in
                 self.ok("export", "--format", "optuna-journal").splitlines()]
        for line, trial in zip(lines[1:], self.asked):
            self.assertEqual(set(line["params"]), set(trial["params"]))
            self.assertEqual(set(line["distributions"]), set(trial["params"]))

    def test_it_is_sorted_last(self):
        degrees = [t["params"].get("degree") for t in self.trials("--sort", "degree")]
        there = [d for d in degrees if d is not None]
        self.assertEqual(degrees, sorted(there) + [None] * (30 - len(there)))
        degrees = [t["params"].get("degree") for t in self.trials("--sort", "-degree")]
        self.assertEqual(degrees, sorted(there)[::-1] + [None] * (30 - len(there)))

    def test_files_come_back(self):
        for ending in ("csv", "json", "jsonl"):
            self.ok("export", "-o", f"all.{ending}")
            space = [] if ending == "json" else SVM
            self.ok("import", f"all.{ending}", "--study", ending, *space)
            self.assertEqual([(t["params"], t["value"]) for t in
                              self.trials("--study", ending)],
                             [(t["params"], t["value"]) for t in
                              self.trials("--study", "default")])
            self.ok("verify", "--study", ending)

    def test_the_space_comes_back(self):
        self.ok("create", *SVM, *XZ, *RULE, "--study", "rules")
        self.ok("export", "-o", "r.json", "--study", "rules")
        self.ok("import", "r.json", "--study", "again")
        first, second = (json.loads(self.ok("export", "--format", "json", "--study", s))
                         for s in ("rules", "again"))
        self.assertEqual(first["where"], ["lc + lp <= 4"])
        self.assertEqual((first["parameters"], first["where"]),
                         (second["parameters"], second["where"]))


class Plots(Case):
    SPACE = [*SVM, "-p", "shape=choice(ovo,ovr) if kernel == poly"]
    # The best is one where nearly everything is inactive; two fail.
    ROWS = ["kernel,degree,gamma,c,shape,state,value", "linear,,,0.5,,complete,0.5",
            "poly,3,0.1,0.5,ovo,complete,2", "poly,5,0.01,0.25,ovr,complete,3",
            "poly,2,0.02,0.75,ovr,failed,", "rbf,,0.1,0.5,,complete,3.5",
            "rbf,,0.2,0.125,,failed,", "linear,,,1,,complete,1.5"]

    def setUp(self):
        super().setUp()
        self.write("a.csv", "\n".join(self.ROWS) + "\n")
        self.assertIn("7 added", self.said("import", "a.csv", *self.SPACE))

    def svg(self, kind):
        self.ok("plot", "--kind", kind, "-o", "p.svg")
        text = (self.folder / "p.svg").read_text()
        self.assertNotIn("nan", text.replace("dominant", ""))
        return text

    def test_nothing_is_drawn_where_nothing_is(self):
        for kind in ("history", "slice", "parallel", "categories", "importance"):
            self.svg(kind)
            for name in ("p.png", "p.pdf"):
                self.ok("plot", "--kind", kind, "-o", name)
            self.assertNotIn("nan", self.ok("plot", "--kind", kind, "--text"))

    def test_slice_counts_them(self):
        for text in (self.svg("slice"), self.ok("plot", "--kind", "slice", "--text")):
            self.assertIn("degree (4 inactive)", text)
            self.assertIn("shape (4 inactive)", text)
            self.assertNotIn("kernel (", text)

    def test_parallel_has_a_lane(self):
        for text in (self.svg("parallel"), self.ok("plot", "--kind", "parallel", "--text")):
            self.assertEqual(text.count("inactive"), 3, text)
        self.ok("create", "--study", "plain", "-p", "x=int(0,3)", *RANDOM)
        self.ok("run", "--study", "plain", "-n", 3, "--", "echo", "{x}")
        self.ok("plot", "--study", "plain", "--kind", "parallel", "-o", "q.svg")
        self.assertNotIn("inactive", (self.folder / "q.svg").read_text())

    def test_categories_count_what_is_there(self):
        lines = [json.loads(line) for line in
                 self.ok("plot", "--kind", "categories", "--json").splitlines()]
        tried = {(line["parameter"], line["choice"]): (line["tried"], line["failed"])
                 for line in lines}
        self.assertEqual(tried, {("kernel", "linear"): (2, 0), ("kernel", "poly"): (3, 1),
                                 ("kernel", "rbf"): (2, 1), ("shape", "ovo"): (1, 0),
                                 ("shape", "ovr"): (2, 1)})
        best = {(line["parameter"], line["choice"]): line["best_number"] for line in lines}
        self.assertEqual(best["shape", "ovo"], 1)


class Importing(Case):
    def setUp(self):
        super().setUp()
        self.ok("create", *SVM, *RANDOM)

    def test_an_empty_cell_is_inactive(self):
        self.write("a.csv", "kernel,degree,gamma,c,value\nlinear,,,0.5,1\n"
                   "poly,3,0.1,0.5,2\nrbf,,0.1,0.5,3\n")
        self.assertIn("3 added", self.said("import", "a.csv"))
        self.assertTrue(all(active(t["params"]) for t in self.trials()))

    def test_a_column_may_be_missing(self):
        self.write("a.csv", "kernel,c,value\nlinear,0.5,1\npoly,0.5,1\n")
        said = self.said("import", "a.csv")
        self.assertIn("1 added, 0 already there, 1 did not fit", said)
        self.assertIn("a.csv, line 3: parameter \"degree\" is missing", said)
        self.write("b.csv", "kernel,value\nlinear,1\n")
        self.assertIn("there is no column \"c\"", self.refused("import", "b.csv"))

    def test_an_absent_key_is_inactive(self):
        self.write("a.jsonl", '{"params":{"kernel":"linear","c":0.5},"value":1}\n'
                   '{"params":{"kernel":"rbf","c":0.5,"gamma":0.1,"degree":null},"value":1}\n'
                   '{"params":{"kernel":"rbf","c":0.5}}\n{"params":{"kernel":"linear"}}\n')
        said = self.said("import", "a.jsonl")
        self.assertIn("2 added, 0 already there, 2 did not fit", said)
        self.assertIn("entry 3: parameter \"gamma\" is missing", said)
        self.assertIn("entry 4: parameter \"c\" is missing", said)

    def test_a_value_for_what_is_inactive_is_named(self):
        self.write("a.csv", "kernel,degree,gamma,c,value\nlinear,3,,0.5,1\n")
        said = self.refused("import", "a.csv")
        self.assertIn("a.csv, line 2: parameter \"degree\" is 3, want none: it is inactive "
                      'unless kernel == "poly"', said)
        self.write("a.jsonl", '{"params":{"kernel":"linear","c":0.5,"degree":3}}')
        self.assertIn("parameter \"degree\" is 3, want none", self.refused("import", "a.jsonl"))

    def test_only_known_results_may_break_rules(self):
        self.ok("create", "--study", "xz", *XZ, *RULE, *RANDOM)
        self.write("known.csv", "lc,lp,value\n4,4,1\n")
        self.ok("import", "known.csv", "--study", "xz")
        self.write("try.csv", "lc,lp\n4,3\n")
        self.assertIn("try.csv, line 2: lc=4, lp=3 breaks the rule \"lc + lp <= 4\"",
                      self.refused("import", "try.csv", "--study", "xz"))
        self.write("both.csv", "lc,lp\n4,3\n1,1\n")
        self.assertIn("1 added, 0 already there, 1 did not fit",
                      self.said("import", "both.csv", "--study", "xz"))
        asked = json.loads(self.ok("ask", "--json", "--study", "xz"))
        self.assertEqual(asked["params"], {"lc": 1, "lp": 1})


class Commands(Case):
    """Words with what is inactive."""

    SPACE = ["-p", "kernel=choice(poly,rbf)", "-p", "degree=int(2,5) if kernel == poly"]

    def both(self, *template):
        """The words for rbf, and for poly with DEG for the degree."""
        (self.folder / "words.jsonl").unlink(missing_ok=True)
        found = {"rbf": set(), "poly": set()}
        for params, words in self.words(self.SPACE, *template, more=["--study", "s" + str(
                hash(template))]):
            degree = str(params.get("degree", "none"))
            found[params["kernel"]].add(tuple(w.replace(degree, "DEG") for w in words))
        self.assertEqual([len(words) for words in found.values()], [1, 1], found)
        return [list(words.pop()) for words in found.values()]

    def test_a_word_is_dropped(self):
        self.assertEqual(self.both("{kernel}", "--deg={degree}", "end"),
                         [["rbf", "end"], ["poly", "--deg=DEG", "end"]])

    def test_and_the_flag_before_it(self):
        self.assertEqual(self.both("-k", "{kernel}", "--deg", "{degree}", "end"),
                         [["-k", "rbf", "end"], ["-k", "poly", "--deg", "DEG", "end"]])

    def test_but_only_if_it_is_one(self):
        for before in ("deg", "--a=b", "--{kernel}"):
            rbf, _ = self.both(before, "{degree}", "end")
            self.assertEqual((len(rbf), rbf[-1]), (2, "end"), rbf)
        self.assertEqual(self.both("--deg", "x{degree}")[0], ["--deg"])
        self.assertEqual(self.both("--deg", "{degree}{kernel}")[0], ["--deg"])

    def test_in_a_script_it_is_empty(self):
        self.assertEqual(self.both("-c", "d '{degree}' {kernel}")[0], ["-c", "d '' rbf"])

    def test_a_default(self):
        self.assertEqual(self.both("{degree:-no}", "--deg={degree:-a or b}", "{degree:-}",
                                   "{{degree:-no}}", "${degree:-x}", "a ${degree:-x}",
                                   "{degree:-}}"),
                         [["no", "--deg=a or b", "", "{degree:-no}", "${degree:-x}",
                           "a ${degree:-x}", "}"],
                          ["DEG", "--deg=DEG", "DEG", "{degree:-no}", "${degree:-x}",
                           "a ${degree:-x}", "DEG}"]])
        self.assertEqual(self.both("{kernel:-x}")[0], ["rbf"])
        self.assertIn("did you mean {degree}?", self.refused(
            "run", *self.SPACE, "-n", 3, "--", "echo", "{degre:-3}"))

    def test_the_first_word_stays(self):
        for words in (["{degree}"], ["./{degree}", "x"]):
            said = self.refused("run", *self.SPACE, "-n", 3, "--", *words)
            self.assertIn("the first word of the command", said)
            self.assertIn("{degree}", said)
            self.assertFalse((self.folder / "cocabo.db").exists())
            self.refused("create", *self.SPACE, "--", *words)
        self.ok("create", *self.SPACE, "--", "{degree:-echo}", "1")

    def test_an_unknown_word(self):
        said = self.refused("run", *self.SPACE, "-n", 3, "--", "echo", "{nothing}")
        self.assertIn("unknown parameter {nothing}", said)
        self.assertIn("{{nothing}}", said)


class Help(Case):
    def test_what_it_says_works(self):
        said = self.ok("help", "conditions")
        self.assertIn("conditions", self.ok("help"))
        start, end = said.index("  parameters:"), said.index("\nBoth are")
        self.write("s.yaml", "\n".join(line[2:] for line in said[start:end].splitlines()))
        self.ok("create", "-f", "s.yaml")
        exported = json.loads(self.ok("export", "--format", "json"))
        self.assertEqual(exported["where"], ['not (kernel == "rbf" and gamma > 0.5)'])
        self.assertEqual(exported["parameters"]["degree"]["if"], 'kernel == "poly"')
        for command in ("run", "create", "import"):
            self.assertIn("--where EXPR", self.ok(command, "--help"))
            self.assertIn("--where", self.ok("--complete", command, "--wh"))


class Running(Case):
    def test_the_usual_sampler(self):
        script = self.write("svm.py", "import json, os\n"
                            "p = json.loads(os.environ['COCABO_PARAMS'])\n"
                            "print(p['c'] + p['lc'] + abs(p.get('degree', 4) - 4))\n")
        self.ok("run", *SVM, *XZ, *RULE, "-n", 24, "--", sys.executable, script)
        for trial in self.trials():
            params = trial["params"]
            self.assertLessEqual(params.pop("lc") + params.pop("lp"), 4)
            self.assertTrue(active(params))
        self.assertIn("all the same", self.ok("verify", "--proposals", "all"))
        self.ok("plot", "--kind", "importance", "-o", "i.svg")

    def test_it_goes_on_after_a_kill(self):
        script = self.write("slow.sh", "echo x >> started; sleep 0.05; echo 1")
        line = ["run", *SVM, *XZ, *RULE, *RANDOM, "-n", "25", "-j", "2", "--lease", "2", "--", "sh", script,
                "--degree", "{degree}"]
        process = subprocess.Popen([test_cocabo.COCABO, *line], cwd=self.folder,
                                   env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        started = self.folder / "started"
        until = time.monotonic() + 60
        while time.monotonic() < until and (
                not started.exists() or started.read_text().count("x") < 6):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        self.ok(*line)
        trials = self.trials("--state", "complete")
        self.assertGreaterEqual(len(trials), 24)
        for trial in trials:
            params = trial["params"]
            self.assertLessEqual(params["lc"] + params["lp"], 4)
            self.assertTrue(active({k: v for k, v in params.items() if k not in ("lc", "lp")}))
        self.ok("verify")

    def test_every_point_of_a_small_space_once(self):
        space = ["-p", "a=int(0,2)", "-p", "b=int(0,2) if a > 0", "--where", "a + b <= 3"]
        self.ok("run", *space, *RANDOM, "-n", 50, "--", "echo", "1")
        points = [tuple(t["params"].items()) for t in self.trials()]
        self.assertEqual(len(points), len(set(points)))
        self.assertEqual(len(points), 1 + 3 + 2)
        self.ok("verify")


if __name__ == "__main__":
    test_cocabo.COCABO = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
