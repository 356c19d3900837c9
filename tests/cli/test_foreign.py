#!/usr/bin/env python3
"""Spaces that other tuners wrote down: cocabo convert, and -f with such files. What
ConfigSpace 0.7 and 1.x, SMAC's PCS and irace 3.5 say of the points in foreign/ is what we
say; foreign/make.py and foreign/make.R wrote them.

    python3 tests/cli/test_foreign.py PATH/TO/cocabo [unittest arguments]
"""

import json
import os
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import test_run
from test_run import Case

FILES = pathlib.Path(__file__).resolve().parent / "foreign"


def typed(value):
    """The word of a format that knows words only, as we read it."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return value


class Foreign(Case):
    def setUp(self):
        super().setUp()
        for path in FILES.iterdir():
            shutil.copy(path, self.folder)

    def convert(self, *args, notes=None, **more):
        """What it prints; what it says besides is `notes`."""
        done = self.ok("convert", *args, **more)
        said = done.stderr.splitlines()
        self.assertEqual(len(said), len(notes or []), done.stderr)
        for line, note in zip(said, notes or []):
            self.assertTrue(line.startswith("note: "), line)
            self.assertIn(note, line)
        return done.stdout

    def lines(self, text, name="parameters.txt", **more):
        """The lines of the file that a text becomes, without comments."""
        (self.folder / name).write_text(text)
        return [line for line in self.convert(name, **more).splitlines()
                if not line.startswith("#")]

    def no_file(self, text, sentence, name="parameters.txt", *args):
        (self.folder / name).write_text(text)
        return self.refused(sentence, "convert", name, *args)


class Legal(Foreign):
    def agrees(self, file, points, words=False):
        rows = [json.loads(line) for line in (FILES / points).read_text().splitlines()]
        self.assertGreater(len([row for row in rows if row["legal"]]), 40)
        self.assertGreater(len([row for row in rows if not row["legal"]]), 40)
        with open(self.folder / "points.jsonl", "w") as out:
            for i, row in enumerate(rows):
                params = {name: typed(value) if words and isinstance(value, str) else value
                          for name, value in row["params"].items()}
                out.write(json.dumps({"params": params, "attrs": {"row": str(i)}}) + "\n")
        self.ok("import", "points.jsonl", "-f", file)
        ours = {int(trial["attrs"]["row"]) for trial in self.trials()}
        theirs = {i for i, row in enumerate(rows) if row["legal"]}
        self.assertEqual(ours, theirs)

    def test_configspace_07(self):
        self.agrees("configspace-0.7.json", "configspace-0.7.points")

    def test_configspace_1_json(self):
        self.agrees("configspace-1.json", "configspace-1.points")

    def test_configspace_1_yaml(self):
        self.agrees("configspace-1.yaml", "configspace-1.points")

    def test_pcs(self):
        self.agrees("new.pcs", "new.points", words=True)

    def test_irace(self):
        self.agrees("scenario.txt", "irace.points", words=True)

    def test_what_is_converted_is_the_same_again(self):
        (self.folder / "study.yaml").write_text(
            self.convert("configspace-1.json", "-q"))
        self.agrees("study.yaml", "configspace-1.points")


class ConfigSpace(Foreign):
    def test_what_is_left_out_is_said(self):
        self.convert("configspace-0.7.json", notes=[
            'the distribution of "beta" is left out: values from 1 to 9 are all alike',
            'the weights of "kernel" are left out: its choices are all alike',
            'the distribution of "normal" is left out: values from -2 to 2 are all alike'])
        self.convert("configspace-0.7.json", "-q")

    def space(self, *parameters, **more):
        return json.dumps({"hyperparameters": list(parameters), **more})

    def test_steps_and_open_ends(self):
        lines = self.lines(self.space(
            {"name": "a", "type": "uniform_float", "lower": 1, "upper": 8, "log": True,
             "q": 0.5},
            {"name": "b", "type": "normal_int", "mu": 5, "sigma": 1.5, "log": False},
            {"name": "c", "type": "normal_float", "mu": 0, "sigma": 0.5, "log": True,
             "lower": None, "upper": None},
            {"name": "d", "type": "uniform_int", "lower": 0, "upper": 9, "q": 1},
            {"name": "e", "type": "categorical", "choices": [None, 1, 1.5, "1", True],
             "weights": [1, 1, 1, 1, 1]}), "space.json", notes=[
            'q of "a" is left out: a log scale has no steps here',
            'the distribution of "b" is left out: values from 1 to 9',
            'the distribution of "c" is left out: values from 0.22313 to 4.48169 are all '
            'alike on a log scale'])
        self.assertEqual(lines[1:3], ["  a: float(1,8,log)", "  b: int(1,9)"])
        self.assertEqual(lines[4:], ["  d: int(0,9)",
                                     "  e: 'choice(null,1,1.5,\"1\",true)'"])

    def test_what_cannot_be_a_choice(self):
        lines = self.lines(self.space(
            {"name": "a", "type": "categorical", "choices": [[1, 2], 3]},
            {"name": "b", "type": "uniform_int", "lower": 0, "upper": 1},
            conditions=[{"child": "b", "parent": "a", "type": "EQ", "value": 3}]),
            "space.json", notes=['parameter "a" is left out: one of its choices is a list',
                                 'the condition of "b" is left out'])
        self.assertEqual(lines, ["parameters:", "  b: int(0,1)"])

    def test_sentences(self):
        for text, sentence in [
                (self.space({"name": "a", "type": "gamma"}),
                 'line 1: the type "gamma" is not one of ConfigSpace\'s'),
                (self.space({"type": "constant"}), "there is no name here"),
                (self.space({"name": "a", "type": "constant"}), "there is no value here"),
                (self.space({"name": "a", "type": "uniform_int", "lower": 1}),
                 "there is no lower, upper, mu or sigma here"),
                (self.space(3), "a hyperparameter is no map"),
                (self.space(), "it has no parameters"),
                (self.space({"name": "a", "type": "constant", "value": 1},
                            {"name": "a", "type": "constant", "value": 1}),
                 'parameter "a" is there twice'),
                (self.space({"name": "a", "type": "constant", "value": 1},
                            conditions=[{"child": "b", "parent": "a", "type": "EQ",
                                         "value": 1}]),
                 'a condition of "b", which is no hyperparameter'),
                (self.space({"name": "a", "type": "constant", "value": 1},
                            forbiddens=[{"name": "a", "type": "MAYBE", "value": 1}]),
                 'the clause "MAYBE" is none of ConfigSpace\'s'),
                ('{"hyperparameters": [', "space.json, line")]:
            with self.subTest(sentence):
                self.no_file(text, sentence, "space.json", "--from", "configspace")


class Irace(Foreign):
    def test_the_switches_become_a_command(self):
        text = self.convert("parameters.txt")
        self.assertIn("# command: ['./target-runner', '{trial}', '1', '{seed}', "
                      "'{instance}', '--param1', '{param1}', '--param2', '{param2}', "
                      "'--{mode}', '--paramreal={real}', '--rate', '{rate}',", text)
        self.assertIn("'{freq}', '{flag}']\n", text)

    def test_a_scenario_says_more(self):
        text = self.convert("scenario.txt")
        self.assertIn("# instances: instances.txt   # ls -d './Instances'/* "
                      ">instances.txt\n# runs: 5000\nseed: 1234567\nparameters:\n", text)
        self.assertIn("  - 'not (param1 < 5 and mode == \"x1\")'\n", text)
        (self.folder / "scenario.txt").write_text(
            'trainInstancesFile <- "list.txt"\nmaxTime = 3600 # an hour\n'
            "targetRunner = '../bin/solve it'\n")
        text = self.convert("scenario.txt")
        self.assertIn("['../bin/solve it', '{trial}'", text)
        self.assertIn("# instances: list.txt\n# maxTime: 3600 seconds", text)
        os.rename(self.folder / "parameters.txt", self.folder / "p.txt")
        self.refused("scenario.txt: cannot read ./parameters.txt: No such file", "convert",
                     "scenario.txt")

    def test_a_scenario_runs_with_its_target_runner(self):
        """Once the comments are taken away, as irace would call it."""
        self.program('echo "$@" >>calls\nread x <"$4"\necho $((x + $3))', "target-runner")
        (self.folder / "Instances").mkdir()
        for i in range(3):
            (self.folder / f"Instances/{i}").write_text(f"{i}\n")
        (self.folder / "instances.txt").write_text("".join(
            f"./Instances/{i}\n" for i in range(3)))
        text = self.convert("scenario.txt").replace("# command", "command")
        text = text.replace("# instances", "instances").replace("# runs: 5000", "runs: 12")
        (self.folder / "study.yaml").write_text(text)
        self.ok("run", "-f", "study.yaml", "-n", 9)
        calls = [line.split() for line in
                 (self.folder / "calls").read_text().splitlines()]
        self.assertEqual(len(calls), 12)
        self.assertEqual({call[3] for call in calls},
                         {f"./Instances/{i}" for i in range(3)})
        for call, trial in zip(calls, [self.trials()[int(c[0])] for c in calls]):
            said, params = call[4:], trial["params"]
            self.assertIn("--" + params["mode"], said)
            self.assertEqual("--param1" in said, "param1" in params)
            if "param1" in params:
                self.assertEqual(said[said.index("--param1") + 1], str(params["param1"]))
            self.assertEqual("-t" in said, "tries" in params)
            self.assertIn(f"--paramreal={params['real']}", said)

    def test_sections_of_irace_4(self):
        lines = self.lines('a "-a " r (0.0, 1.0)\nb "-b " c (x, y) | a > 0.5\n\n'
                           '[forbidden]\n# none of these\na < 0.2 & b == "x"\n!(a > 0.9)\n'
                           "[global]\ndigits = 4\n",
                           notes=['line 9: "digits = 4" is left out'])
        self.assertEqual(lines, ["parameters:", "  a: float(0,1)",
                                 "  b: choice(x,y) if a > 0.5", "where:",
                                 "  - 'not (a < 0.2 and b == \"x\")'",
                                 "  - not not a > 0.9"])

    def test_operators(self):
        for condition, ours in [
                ("x == 1", "x == 1"), ('"1" == x', "x == 1"), ("2 < n", "2 < n"),
                ("x %in% c(1, 2) || n > 3", "x in (1, 2) or n > 3"),
                ("n > 3 & x != 2 | r < 0.5", "n > 3 and x != 2 or r < 0.5"),
                ("n > 3 & (x != 2 | r < 0.5)", "n > 3 and (x != 2 or r < 0.5)"),
                ("!x == 2", "not x == 2"), ("n %% 2 == 0", "n % 2 == 0"),
                ("-r + 1 > n * -2", "-r + 1 > n * -2"),
                ("n - 1 - r < 3L", "n - 1 - r < 3"), ("TRUE", "true"),
                ("sqrt(r) < 1e-1", "sqrt(r) < 0.1"),
                ("t == 'a b'", 't == "a b"')]:
            with self.subTest(condition):
                lines = self.lines(f'n "" i (1, 9)\nr "" r (0, 1)\nx "" c (1, 2, 3)\n'
                                   f't "" c ("a b", c)\nz "" i (0, 1) | {condition}\n')
                said = lines[-1].split(" if ", 1)[1].rstrip("'").replace("''", "'")
                self.assertEqual(said, ours)

    def test_values_that_are_never_so(self):
        lines = self.lines('x "" c (1, 2)\ny "" i (0, 1) | x == 3\n'
                           'z "" i (0, 1) | x %in% c(2, 7)\n',
                           notes=['parameter "x" has no value 3',
                                  'parameter "x" has no value 7'])
        self.assertEqual(lines[2:], ["  y: int(0,1) if false", "  z: int(0,1) if x in (2)"])

    def test_text_stays_as_it_is_written(self):
        lines = self.lines('x "" c (1.0, 0.10, 2)\ny "" i (0, 1) | x == "0.10"\n')
        self.assertEqual(lines[1:], ["  x: 'choice(\"1.0\",\"0.10\",\"2\")'",
                                     "  y: 'int(0,1) if x == \"0.10\"'"])

    def test_what_irace_takes_for_true(self):
        self.lines('x "" c (1, 2)\ny "" c (a, b) | x == 1\nz "" i (0, 1) | !(y %in% "a")\n',
                   notes=["!(y %in% ..) is true in irace where y is inactive, and not here"])

    def test_what_cannot_be_expressed(self):
        lines = self.lines('x "" i (1, "y * 2")\ny "" i (1, 3) | x > 1\n'
                           'z "" r (0, 1) | zz > 1\n',
                           notes=['parameter "x" is left out: its bound "y * 2" is no number',
                                  'the condition of "z" is left out: ',
                                  'the condition of "y" is left out: it names what'])
        self.assertEqual(lines[1:], ["  z: float(0,1)", "  y: int(1,3)"])
        self.no_file('x "" r (y, 2)\n', 'its bound "y" is no number')
        self.lines('a "" i (0, 1) | b == 1\nb "" i (0, 1) | a == 1\n',
                   notes=['the condition of "a" is left out: it names what comes after it'])

    def test_sentences(self):
        for text, sentence in [
                ('x "-x r (1, 2)\n', "line 1: want a quote at the end of the switch"),
                ("x r (1, 2)\n", "want a switch in quotes"),
                ('x "" q (1, 2)\n', "want the type r, i, c or o"),
                ('x "" r,exp (1, 2)\n', "want log behind the comma"),
                ('x "" r 1, 2\n', "want values in parentheses"),
                ('x "" r (1, 2\n', "want a parenthesis behind the values"),
                ('x "" r (1)\n', "want two bounds"), ('x "" c (a,,b)\n', "want a value"),
                ('x "" i (1.5, 2)\n', "want whole bounds"),
                ('x "" r (1, 2) y == 3\n', "want | before a condition"),
                ('x "" r (1, 2) | y ==\n', 'goes on with "", want a name'),
                ('x "" r (1, 2) | (y == 3\n', "want )"),
                ('x "" r (1, 2) | y == 3 4\n', 'goes on with "4", want its end'),
                ('x "" r (1, 2) | y %in% z\n', "want a parameter before %in%"),
                ('x "" r (1, 2) | ' + "(" * 99, "want fewer parentheses"),
                ('x "" r (1, 2) | ' + "!" * 99, "the expression is too long"),
                ('x "" r (1, 2)\nx "" r (1, 2)\n', 'line 2: parameter "x" is there twice'),
                ('x "" r (1, 2)\n[others]\n', "unknown section, want [forbidden] or [global]"),
                ('x "" r (2, 1)\n', 'parameter "x" is left out: '),
                ("# nothing\n", "it has no parameters")]:
            with self.subTest(text):
                self.no_file(text, sentence, "parameters.txt", "--from", "irace")


class Pcs(Foreign):
    def test_the_old_format(self):
        lines = self.lines(
            "mode {a,b,c} [a] # a comment\nrate [1e-5, 1] [0.1]l\nsize [1,64] [8]il\n"
            "depth [1, 9] [3]i\n\nConditionals:\ndepth | mode in {a, b}\n"
            "depth | size in {1,2}\n\nForbidden:\n{mode=b, size=3}\n", "old.pcs")
        self.assertEqual(lines, [
            "parameters:", "  mode: choice(a,b,c)", "  rate: float(1e-5,1,log)",
            "  size: int(1,64,log)",
            "  depth: 'int(1,9) if size in (1, 2) and mode in (\"a\", \"b\")'", "where:",
            "  - 'not (mode == \"b\" and size == 3)'"])

    def test_conditions(self):
        lines = self.lines("a integer [0, 9] [1]\nb categorical {x, y} [x]\n"
                           "c real [0,1] [0.5]\nc | a > 3 && b == x || a == 0\n", "new.pcs")
        self.assertEqual(lines[-1], "  c: 'float(0,1) if a > 3 and b == \"x\" or a == 0'")

    def test_sentences(self):
        for text, sentence in [
                ("a integer [0, 9 [1]\n", "want two numbers in brackets"),
                ("a integer [0, 9\n{a}\n", "want a parameter and in"),
                ("a integer {0, 9} [1]\n", "want [..] for numbers and {..} for choices"),
                ("a integer [0, 9.5] [1]\n", "want whole bounds"),
                ("a real [0, x] [1]\n", "want two numbers"),
                ("a real [0, 1] [1] exp\n", "want log or nothing at the end"),
                ("a real [0, 1] [1]\na | b ~ 3\n", "want a parameter and in, =="),
                ("a real [0, 1] [1]\nb | a in 3\n", "want values in braces"),
                ("a real [0, 1] [1]\nb | a > 0.5\n", 'a condition of "b", which is not'),
                ("a real [0, 1] [1]\n{a=1\n", "want a brace behind what is forbidden")]:
            with self.subTest(text):
                self.no_file(text, sentence, "x.pcs")


class Files(Foreign):
    def test_formats_are_recognised(self):
        for name, maker in [("parameters.txt", "irace"), ("scenario.txt", "a scenario"),
                            ("configspace-0.7.json", "ConfigSpace"), ("new.pcs", "SMAC"),
                            ("configspace-1.yaml", "ConfigSpace")]:
            with self.subTest(name):
                self.assertIn(f"of {maker}", self.convert(name, "-q"))
                if name != "scenario.txt":
                    text = (self.folder / name).read_text()
                    (self.folder / "unnamed").write_text(text)
                    self.assertIn(f"of {maker}", self.convert("unnamed", "-q"))

    def test_a_file_of_ours_is_none_of_theirs(self):
        for i, text in enumerate(["parameters: {x: 'float(0,1)'}\n",
                                  "# a = b\nparameters:\n  x: bool\n",
                                  'study: "hyperparameters"\nparameters: {x: bool}\n',
                                  '{"parameters": {"hyperparameters": "bool"}}', ""]):
            with self.subTest(text):
                self.no_file(text, "this is no space of irace, ConfigSpace or SMAC", "s.yaml")
                if text:
                    self.ok("create", "-f", "s.yaml", "--study", i)
        (self.folder / "s.yaml").write_text("study: 'hyperparameters'\n")
        self.ok("create", "-f", "s.yaml", "-p", "x=bool")

    def test_where_to(self):
        self.assertEqual(self.convert("new.pcs", "-o", "study.yaml"), "")
        text = (self.folder / "study.yaml").read_text()
        self.assertEqual(text, self.convert("new.pcs"))
        with open(FILES / "new.pcs") as file:
            piped = self.ok("convert", "-", "--from", "pcs", stdin=file)
        self.assertEqual(piped.stdout.splitlines()[1:], text.splitlines()[1:])

    def test_the_same_as_json(self):
        said = json.loads(self.convert("scenario.txt", "--json", "--study", "ants"))
        self.assertEqual(said["study"], "ants")
        self.assertEqual(said["parameters"]["size"],
                         {"type": "int", "low": 1, "high": 64, "log": True, "step": 1})
        self.assertEqual(said["where"][0], 'not (param1 < 5 and mode == "x1")')
        self.assertIn("\nstudy: ants\n", self.convert("scenario.txt", "--study", "ants"))
        (self.folder / "j.json").write_text(json.dumps(said))
        self.ok("create", "-f", "j.json")
        self.ok("create", "-f", "scenario.txt", "--study", "ants")  # is the same space

    def test_they_can_be_run_as_they_are(self):
        self.program("echo $#", "score")
        done = self.ok("run", "-f", "configspace-0.7.json", "-n", 3, "--", "sh", "-c",
                       "echo {rate}")
        self.assertIn("note: configspace-0.7.json, line 4: the distribution of", done.stderr)
        self.assertEqual(self.states(), ["complete"] * 3)
        done = self.ok("run", "-q", "-f", "configspace-0.7.json", "-n", 4, "--", "sh", "-c",
                       "echo {rate}")
        self.assertNotIn("note", done.stderr)
        self.ok("run", "--study", "i", "-f", "scenario.txt", "-n", 2, "--", "./score",
                "--{mode}", "--rate", "{rate}")
        self.assertEqual(self.states("--study", "i"), ["complete"] * 2)

    def test_wrong_lines(self):
        self.refused("there are 0 files, want one", "convert")
        self.refused("there are 2 files, want one", "convert", "a", "b")
        self.refused("cannot read nothing: No such file", "convert", "nothing")
        self.refused('unknown format "smac"', "convert", "new.pcs", "--from", "smac")


if __name__ == "__main__":
    test_run.COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
