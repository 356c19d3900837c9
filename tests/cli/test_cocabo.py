#!/usr/bin/env python3
"""cocabo from the outside: every command but run, worker and plot, which have tests of
their own; what they print, refuse, keep and exchange.

    python3 tests/cli/test_cocabo.py PATH/TO/cocabo [unittest arguments]
"""

import csv
import fcntl
import io
import json
import math
import os
import pathlib
import pty
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

COCABO = None
COMMANDS = ["run", "create", "ask", "tell", "best", "trials", "studies", "export",
            "import", "delete", "plot", "verify", "worker", "retry", "workers", "copy",
            "convert", "report", "serve", "watch", "mcp"]
STATES = ["waiting", "running", "complete", "failed", "interrupted", "stale"]
LR = ["-p", "lr=float(1e-5,0.1,log)"]
OPT = ["-p", "opt=choice(adam,sgd)"]
# Five choices that look alike, and texts that need care.
CHOICES = [1, 1.0, True, "1", None, "", "null", "a b", 'é,"']
TYPES = ["-p", "c=choice(" + ",".join(json.dumps(c, ensure_ascii=False) for c in CHOICES)
         + ")"]


def same(a, b):
    """Equal as JSON: 1, 1.0 and true differ."""
    return json.dumps(a) == json.dumps(b)


def counts(**some):
    """What import says as JSON."""
    all_of_them = {"added": 0, "complete": 0, "failed": 0, "enqueued": 0, "already_there": 0,
                   "did_not_fit": 0, **some}
    all_of_them["added"] = sum(all_of_them[kind] for kind in ("complete", "failed", "enqueued"))
    return all_of_them


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cocabo-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("COCABO_")}

    def cocabo(self, *args, **more):
        more = {"env": self.environment, "stdin": subprocess.DEVNULL, **more}
        if "input" in more:
            del more["stdin"]
        words = [arg if isinstance(arg, bytes) else str(arg) for arg in args]
        return subprocess.run([COCABO, *words], cwd=self.folder, text=True,
                              encoding="utf-8", capture_output=True, timeout=120, **more)

    def ok(self, *args, **more):
        done = self.cocabo(*args, **more)
        self.assertEqual(done.returncode, 0, (args, done.stdout, done.stderr))
        return done.stdout

    def said(self, *args, **more):
        """What a successful command says on standard error."""
        done = self.cocabo(*args, **more)
        self.assertEqual(done.returncode, 0, (args, done.stdout, done.stderr))
        return done.stderr

    def refused(self, status, sentence, *args, **more):
        """One line on standard error, nothing else, and the exit status."""
        done = self.cocabo(*args, **more)
        self.assertEqual(done.returncode, status, (args, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "", args)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("cocabo"), done.stderr)
        self.assertIn(sentence, done.stderr, args)

    def json(self, *args, **more):
        return json.loads(self.ok(*args, "--json", **more))

    def lines(self, *args, **more):
        return [json.loads(line) for line in self.ok(*args, "--json", **more).splitlines()]

    def create(self, *args):
        return self.ok("create", *LR, *OPT, *args)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return name

    def exported(self, study="default"):
        return json.loads(self.ok("export", "--format", "json", "--study", study))

    def events(self, database="cocabo.db"):
        """How many events the log has, whatever they are."""
        with sqlite3.connect(self.folder / database) as connection:
            tables = [row[0] for row in connection.execute(
                "select name from sqlite_master where type = 'table'")]
            table = next(name for name in tables if "event" in name)
            return connection.execute(f"select count(*) from {table}").fetchone()[0]


class Program(Case):
    def test_help_lists_every_command_with_an_example(self):
        text = self.ok("--help")
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} +[A-Z]")
            help_text = self.ok(command, "--help")
            self.assertTrue(help_text.startswith(f"usage: cocabo {command} "), help_text)
            self.assertIn(f"\nExamples:\n  cocabo {command}", help_text)
            for option in ("--storage", "--study", "--json", "-q", "-v", "--help",
                           "--version"):
                self.assertIn(f"  {option}", help_text, command)
        self.assertIn("Exit status: 0 done, 1 run-time failure, 2 bad usage or input, 3 "
                      "nothing completed", text)
        self.assertEqual(os.listdir(self.folder), [])

    def test_help_has_the_librarys_options(self):
        self.assertEqual(self.ok("help", "create"), self.ok("create", "--help"))
        self.assertEqual(self.ok("help"), self.ok("--help"))
        self.refused(2, 'unknown command "crate", did you mean create?', "help", "crate")
        text = self.ok("help", "options")
        for option in ("seed", "n_init", "kappa", "durability", "deterministic"):
            self.assertRegex(text, rf"(?m)^  {option} ")

    def test_version(self):
        version = self.ok("--version")
        self.assertRegex(version, r"^cocabo \d+\.\d+\.\d+\n$")
        self.assertEqual(self.ok("trials", "--version"), version)

    def test_a_slip_is_answered_with_what_was_meant(self):
        self.create()
        for sentence, args in [
            ("no command given, cocabo --help shows them", []),
            ('unknown command "tirals", did you mean trials?', ["tirals"]),
            ('unknown command "optimise", want one of run, create, ask', ["optimise"]),
            ("unknown option --stat, did you mean --state?", ["trials", "--stat"]),
            ("unknown option --maximise, did you mean --maximize?",
             ["create", "--maximise"]),
            ("unknown option --frobnicate, --help shows them all", ["ask", "--frobnicate"]),
            ('unknown state "complet", did you mean complete?',
             ["trials", "--state", "complet"]),
            ('unknown format "jsn", did you mean json?', ["export", "--format", "jsn"]),
            ('no option "kapa", did you mean "kappa"?', ["create", "--set", "kapa=1"]),
            ("did you mean --study default?", ["ask", "--study", "defualt"]),
        ]:
            with self.subTest(args=args):
                self.refused(2, sentence, *args)

    def test_storage_comes_from_flag_then_environment_then_here(self):
        self.create()
        self.assertTrue((self.folder / "cocabo.db").exists())
        self.environment["COCABO_STORAGE"] = "sqlite:///other.db"
        self.create("--study", "there")
        self.assertEqual([s["name"] for s in self.lines("studies")], ["there"])
        flag = ["--storage", f"sqlite:///{self.folder}/cocabo.db"]
        self.assertEqual([s["name"] for s in self.lines("studies", *flag)], ["default"])
        self.environment["COCABO_STORAGE"] = ""
        self.assertEqual([s["name"] for s in self.lines("studies")], ["default"])

    def test_a_store_or_study_that_is_not_there(self):
        for command in (["ask"], ["tell", "0", "1"], ["best"], ["trials"], ["studies"],
                        ["export", "--format", "csv"], ["delete", "--yes"], ["verify"]):
            self.refused(2, "cocabo.db", *command)
        self.assertEqual(os.listdir(self.folder), [])
        self.create("--study", "one")
        for command in (["ask"], ["best"], ["trials"], ["delete", "--yes"]):
            self.refused(2, 'no study "two" in sqlite:///cocabo.db', *command, "--study",
                         "two")
        self.refused(2, "", "trials", "--storage", "mysql://host/db")
        self.refused(2, "", "trials", "--storage", "")

    def test_passwords_are_not_repeated(self):
        done = self.cocabo("trials", "--storage", "postgresql://me:s3cret@127.0.0.1:1/db")
        self.assertIn(done.returncode, (1, 2))
        self.assertNotIn("s3cret", done.stderr)

    def test_long_and_odd_arguments_are_survived(self):
        self.create()
        for text in ("x" * 5000, "%s%n%d", "ä" * 300, "\x1b[31m", "a\nb", ",", "=", "-"):
            for args in ([text], ["create", "-p", text], ["create", "-p", f"{text}={text}"],
                         ["create", "-f", text], ["create", "--set", text],
                         ["create", "-p", f"x=choice({text}"], ["trials", text],
                         ["trials", "--state", text], ["tell", text, "1"],
                         ["tell", "0", text], ["import", "--format", "csv", text],
                         ["ask", "--study", "s" + text], ["ask", "-n", text],
                         ["ask", "--lease", text], ["verify", "--proposals", text],
                         ["export", "--format", text]):
                if args == ["create", "-f", "-"]:
                    continue  # standard input, which says nothing
                done = self.cocabo(*args)
                self.assertEqual(done.returncode, 2, (args, done))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertNotIn("\x1b", done.stderr)

    def test_a_full_disk_has_a_sentence_and_a_closed_pipe_none(self):
        self.create("--sampler", "random")
        self.ok("ask", "-n", "3000")
        for args in (["trials"], ["trials", "--json"], ["export", "--format", "json"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([COCABO, *args], cwd=self.folder, stdout=full,
                                      stderr=subprocess.PIPE, text=True,
                                      env=self.environment)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, f"cocabo {args[0]}: cannot write to standard "
                                          "output: No space left on device\n")
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([COCABO, *args], cwd=self.folder, stdout=writer,
                                  stderr=subprocess.PIPE, text=True, env=self.environment)
            os.close(writer)
            self.assertEqual((done.returncode, done.stderr), (1, ""))

    def test_numbers_do_not_depend_on_the_locale(self):
        for name in ("de_DE.UTF-8", "tr_TR.UTF-8", "C", "nonsense"):
            self.environment["LC_ALL"] = name
            study = ["--study", f"in {name}"]
            self.create(*study, "--set", "kappa=2.5")
            self.ok("ask", *study)
            self.ok("tell", "0", "0.5", *study)
            self.assertIn("value   0.5\n", self.ok("best", *study))
            self.assertEqual(self.json("best", *study)["value"], 0.5)


class Create(Case):
    def test_prints_the_studys_name(self):
        self.assertEqual(self.create(), "default\n")
        self.assertEqual(self.create("--study", "second one"), "second one\n")
        self.assertEqual(self.json("create", *LR, *OPT, "--study", "third"),
                         {"name": "third", "created": True})
        self.assertEqual(self.json("create", "--study", "third"),
                         {"name": "third", "created": False})

    def test_bad_parameters(self):
        for sentence, args in [
            ('no study "default" yet and no parameters', []),
            ('-p is "lr", want NAME=DOMAIN', ["-p", "lr"]),
            ('-p is "=float(0,1)", want NAME=DOMAIN', ["-p", "=float(0,1)"]),
            ('-p is "lr=", want NAME=DOMAIN', ["-p", "lr="]),
            ("want no blanks around the name", ["-p", "lr = float(0,1)"]),
            ("want no blanks around the name", ["-p", " lr=float(0,1)"]),
            ("two -p name the same parameter: lr=int(1,2)",
             ["-p", "lr=float(0,1)", "-p", "lr=int(1,2)"]),
            ("lr", ["-p", "lr=float(1,0)"]),
            ("lr", ["-p", "lr=flaot(0,1)"]),
            ("lr", ["-p", "lr=float(0,1,log)"]),
            ("lr", ["-p", "lr=float(0,nan)"]),
            ("lr", ["-p", "lr=choice(a,a)"]),
            ("lr", ["-p", "lr=choice()"]),
            ("lr", ["-p", "lr=int(1.5,2)"]),
        ]:
            with self.subTest(args=args):
                self.refused(2, sentence, "create", *args)
        self.assertEqual(os.listdir(self.folder), [])

    def test_bad_flags(self):
        for sentence, args in [
            ("--maximize and --minimize, want one", ["--maximize", "--minimize"]),
            ("option direction is given twice", ["--maximize", "--set",
                                                 "direction=minimize"]),
            ("option sampler is given twice", ["--sampler", "random", "--set",
                                               "sampler=mixed"]),
            ("option kappa is given twice", ["--set", "kappa=1", "--set", "kappa=1"]),
            ('--set is "kappa", want OPTION=VALUE', ["--set", "kappa"]),
            ('option kappa is "big", want a number >= 0', ["--set", "kappa=big"]),
            ('option sampler is "anneal", want', ["--sampler", "anneal"]),
            ('option seed is "-1", want an int >= 0', ["--seed", "-1"]),
            ('-n is "0", want a whole number from 1', ["-n", "0"]),
            ('-n is "many", want', ["-n", "many"]),
            ('-j is "0", want', ["-j", "0"]),
            ('--retries is "-1", want', ["--retries", "-1"]),
            ('--timeout is "-1", want seconds', ["--timeout", "-1"]),
            ('--timeout is "inf", want seconds', ["--timeout", "inf"]),
            ('--trial-timeout is "0x10", want seconds', ["--trial-timeout", "0x10"]),
            ("-n needs a value: -n N", ["-n"]),
            ("--seed is given twice", ["--seed", "1", "--seed", "2"]),
            ("--maximize takes no value", ["--maximize=yes"]),
            ('unexpected argument "python3"', ["python3"]),
            ("word 2 of the command is not UTF-8", ["--", "prog", b"\xff"]),
            ("the command has 40010 bytes, want at most 32768",
             ["--", "prog", "x" * 40000]),
        ]:
            with self.subTest(args=args):
                self.refused(2, sentence, "create", *LR, *args)
        self.assertEqual(os.listdir(self.folder), [])

    def test_short_options_take_their_value_attached(self):
        self.ok("create", "-px=float(0,1)", "-n7", "-j2")
        self.assertEqual(self.exported()["options"]["trials"], "7")


class Resume(Case):
    def test_the_same_line_again_appends_nothing(self):
        args = ["-n", "50", "--seed", "3", "--set", "kappa=2.5", "--timeout", "60",
                "--trial-timeout", "1.5", "--retries", "2", "-j", "3"]
        self.create(*args, "--", "prog", "{lr}")
        before = self.events()
        self.create(*args, "--", "prog", "{lr}")
        self.create(*args)
        self.create()
        self.ok("create")
        self.ok("create", *OPT, *LR)  # the order makes no other space
        self.assertEqual(self.events(), before)
        self.assertEqual(self.exported()["options"]["trials"], "50")

    def test_other_options_are_appended_and_omitted_ones_stay(self):
        self.create("-n", "50", "--seed", "3")
        before = self.events()
        self.create("-n", "60")
        self.assertEqual(self.events(), before + 1)
        options = self.exported()["options"]
        self.assertEqual((options["trials"], options["seed"]), ("60", "3"))

    def test_another_space_or_direction_is_refused_with_the_way_on(self):
        self.create()
        before = self.events()
        way_on = (': "cocabo create --from default --study default-2" with these flags carries '
                  "over what fits, another --study begins anew")
        for sentence, args in [
            ('study "default" has lr=float(1e-5,0.1,log), not float(1e-5,0.2,log)',
             ["-p", "lr=float(1e-5,0.2,log)", *OPT]),
            ('study "default" has lr=float(1e-5,0.1,log), not float(1e-5,0.1)',
             ["-p", "lr=float(1e-5,0.1)", *OPT]),
            ('study "default" has opt=choice(adam,sgd), not ordinal(adam,sgd)',
             [*LR, "-p", "opt=ordinal(adam,sgd)"]),
            ('study "default" has a parameter "opt", unlike this one', LR),
            ('study "default" does not have a parameter "x", unlike this one',
             [*LR, *OPT, "-p", "x=int(1,2)"]),
            ('study "default" has direction minimize, not maximize', ["--maximize"]),
        ]:
            with self.subTest(args=args):
                self.refused(2, sentence + way_on, "create", *args)
        self.refused(2, "direction minimize, not maximize", "create", *LR, *OPT, "-n", "9",
                     "--set", "direction=maximize")
        self.assertEqual(self.events(), before)
        self.create("--study", "other", "--maximize")

    def test_the_way_on_is_said_whatever_the_names(self):
        name, study = "é" * 90, "ü" * 60
        many = [f"choice-number-{i}-é" for i in range(30)]
        first = ["-p", f"{name}=choice({','.join(many)})", "--study", study]
        self.ok("create", *first)
        for args, sentence in [
            (["-p", f"{name}=choice({','.join(many[:-1])})"], "has other choices for"),
            (["-p", f"{name}=ordinal({','.join(many)})"], "not ordinal(choice-number-0-"),
            ([*first[:2], *LR], "does not have a parameter"),
            ([*LR], "does not have a parameter"),
        ]:
            self.refused(2, sentence, "create", *args, "--study", study)
            self.refused(2, ': "cocabo create --from" and another --study name carries over '
                         "what fits\n",
                         "create", *args, "--study", study)

    def test_the_same_numbers_in_other_words_are_the_same_space(self):
        self.create()
        self.ok("create", "-p", "lr=float(0.00001,1e-1,log)", "-p", 'opt=choice("adam",sgd)')
        self.write("s.yaml", "parameters:\n  lr: {type: float, low: 1.0e-5, high: .1, "
                             "log: true}\n  opt: {type: categorical, choices: [adam, sgd]}")
        self.ok("create", "-f", "s.yaml")

    def test_two_at_once_make_one_study(self):
        commands = [subprocess.Popen([COCABO, "create", *LR], cwd=self.folder, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     env=self.environment) for _ in range(8)]
        for command in commands:
            out, err = command.communicate(timeout=60)
            self.assertEqual((command.returncode, out), (0, "default\n"), err)
        self.assertEqual(len(self.lines("studies")), 1)


class Files(Case):
    STUDY = """\
# a study
study: from-file
direction: maximize
sampler: random
seed: 7
options:
  n_init: 5
  deterministic: False
  kappa: 1.50
parameters:
  lr: {type: float, low: 1e-5, high: 0.1, log: true}
  drop: {type: float, low: 0, high: 0.5, step: 0.1}
  layers: {type: int, low: 1, high: 8}
  wide: {type: int, low: 16, high: 1024, log: true}
  batch: {type: int, low: 8, high: 71, step: 8}
  nesterov: {type: bool}
  opt:
    type: categorical
    choices: [adam, 1, 1.0, true, "1", null, yes, 31]
  size: {type: ordinal, choices: [small, medium]}
  short: float(0,1)
command: [prog, --lr, "{lr}", 1e-3]
trials: 40
workers: 2
timeout: 3600
trial_timeout: 1.5
retries: 1
"""

    def test_everything_that_a_file_may_say(self):
        self.write("study.yaml", self.STUDY)
        self.assertEqual(self.ok("create", "-f", "study.yaml"), "from-file\n")
        study = self.exported("from-file")
        self.assertEqual(study["direction"], "maximize")
        expected = {"sampler": "random", "seed": "7", "n_init": "5", "trials": "40",
                    "deterministic": "false", "kappa": "1.5"}
        self.assertEqual({name: study["options"][name] for name in expected}, expected)
        self.assertTrue(same(study["parameters"], {
            "lr": {"type": "float", "low": 1e-5, "high": 0.1, "log": True},
            "drop": {"type": "float", "low": 0.0, "high": 0.5, "log": False, "step": 0.1},
            "layers": {"type": "int", "low": 1, "high": 8, "log": False, "step": 1},
            "wide": {"type": "int", "low": 16, "high": 1024, "log": True, "step": 1},
            "batch": {"type": "int", "low": 8, "high": 64, "log": False, "step": 8},
            "nesterov": {"type": "choice", "choices": [False, True]},
            "opt": {"type": "choice",
                    "choices": ["adam", 1, 1.0, True, "1", None, "yes", 31]},
            "size": {"type": "ordinal", "choices": ["small", "medium"]},
            "short": {"type": "float", "low": 0.0, "high": 1.0, "log": False}}),
            study["parameters"])

    def test_flags_override_the_file(self):
        self.write("study.yaml", self.STUDY)
        self.assertEqual(self.ok("create", "-f", "study.yaml", "--study", "mine",
                                 "--minimize", "--seed", "8", "-n", "9",
                                 "-p", "lr=float(0,1)", "-p", "more=int(1,2)"), "mine\n")
        study = self.exported("mine")
        self.assertEqual(study["direction"], "minimize")
        self.assertEqual(study["options"]["seed"], "8")
        self.assertEqual(study["options"]["trials"], "9")
        self.assertEqual(study["parameters"]["lr"]["high"], 1.0)
        self.assertEqual(list(study["parameters"]),
                         ["lr", "drop", "layers", "wide", "batch", "nesterov", "opt", "size",
                          "short", "more"])

    def test_json_is_read_too_and_from_standard_input(self):
        text = json.dumps({"parameters": {
            "x": {"type": "choice", "choices": [1, 1.0, True, "1", None, "😀", "a/b"]}},
            "study": "j"}, indent="\t")
        self.write("study.json", text)
        self.ok("create", "-f", "study.json")
        choices = self.exported("j")["parameters"]["x"]["choices"]
        self.assertTrue(same(choices, [1, 1.0, True, "1", None, "😀", "a/b"]), choices)
        self.ok("create", "-f", "-", "--study", "k", input=text)
        self.assertTrue(same(self.exported("k")["parameters"]["x"]["choices"], choices))

    def test_an_exported_study_can_be_created_again(self):
        self.write("study.yaml", self.STUDY)
        self.ok("create", "-f", "study.yaml")
        study = self.exported("from-file")
        again = {key: study[key] for key in ("parameters", "direction", "options")}
        self.write("again.json", json.dumps(again))
        self.ok("create", "-f", "again.json", "--study", "again")
        copy = self.exported("again")
        for key in again:
            self.assertTrue(same(copy[key], study[key]), key)

    def test_anchors_and_aliases(self):
        self.write("study.yaml", "parameters:\n  a: {type: choice, choices: &few [x, 1]}\n"
                                 "  b: {type: choice, choices: *few}\n")
        self.ok("create", "-f", "study.yaml")
        self.assertEqual(self.exported()["parameters"]["b"]["choices"], ["x", 1])

    def test_bad_files_have_a_sentence_with_the_line(self):
        deep = "[" * 40 + "]" * 40
        laughs = "a: &a [x]\n" + "".join(
            f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n"
            for i in range(20))
        x = "parameters: {x: {type: float, low: 0, high: 1}}\n"
        for sentence, text in [
            ('line 1: unknown key "paramters", did you mean parameters?', "paramters: {}"),
            ('line 2: unknown key "colour", want one of', x + "colour: red"),
            ('line 1: unknown key "lo", did you mean low?',
             "parameters: {x: {type: float, lo: 0, high: 1}}"),
            ('line 3: unknown type "flaot", did you mean float?',
             "parameters:\n  x:\n    type: flaot\n"),
            ('line 2: parameter "x" has no type, want float', "parameters:\n  x: {low: 1}"),
            ('line 2: parameter "x" has no high, want a number',
             "parameters:\n  x: {type: float, low: 1}"),
            ('line 1: low of parameter "x" is "one", want a number',
             "parameters: {x: {type: float, low: one, high: 2}}"),
            ('line 1: low of parameter "x" is 1.5, want a whole number',
             "parameters: {x: {type: int, low: 1.5, high: 2}}"),
            ('line 1: step of parameter "x" is 0.5, want a whole number above 0',
             "parameters: {x: {type: int, low: 1, high: 4, step: 0.5}}"),
            ('line 1: parameter "x" is bool, which has no low',
             "parameters: {x: {type: bool, low: 1}}"),
            ('line 1: step of parameter "x" is 0, want a number above 0',
             "parameters: {x: {type: float, low: 1, high: 4, step: 0}}"),
            ('line 1: log of parameter "x" is "yes", want true or false',
             "parameters: {x: {type: float, low: 1, high: 2, log: yes}}"),
            ('line 1: parameter "x" is float, which has no choices',
             "parameters: {x: {type: float, low: 0, high: 1, choices: [a]}}"),
            ('line 1: parameter "x" is choice, which has no low',
             "parameters: {x: {type: choice, low: 0, choices: [a]}}"),
            ('line 1: parameter "x" has no choices, want a list',
             "parameters: {x: {type: choice}}"),
            ('line 1: choices of parameter "x" is "a", want a list',
             "parameters: {x: {type: choice, choices: a}}"),
            ('line 1: a choice of parameter "x" is a list, want one value',
             "parameters: {x: {type: choice, choices: [[a]]}}"),
            ("line 2: ", "parameters:\n  x: {type: float, low: 2, high: 1}"),
            ("line 2: ", "parameters:\n  x: float(2,1)"),
            ("line 1: x is a list, want a map such as", "parameters: {x: [1]}"),
            ("line 1: parameters is a list, want a map such as", "parameters: [x]"),
            ('line 2: key "x" is there twice', "parameters: {x: 'int(1,2)',\n x: 'int(1,2)'}"),
            ('line 2: trials is "ten", want a whole number from 1', x + "trials: ten"),
            ("line 2: trials is 0, want a whole number from 1", x + "trials: 0"),
            ("line 2: timeout is -1, want seconds", x + "timeout: -1"),
            ("line 2: study is 3, want text", x + "study: 3"),
            ('line 2: no option "kapa", did you mean "kappa"?',
             x + "options: {kapa: 1}"),
            ('line 2: option direction is "up", want minimize|maximize',
             x + "direction: up"),
            ("line 2: options is a list, want a map", x + "options: [1]"),
            ("line 3: sampler is there twice",
             x + "sampler: random\noptions: {sampler: mixed}"),
            ("line 2: command has |, which needs a shell", x + "command: a | b"),
            ("line 2: command has a ' without its end", x + "command: it's"),
            ("line 2: command has several lines", x + "command: |\n  a\n  b"),
            ("line 2: command has $, which needs a shell", x + "command: a \\\"$b\\\""),
            ("line 2: command is a map, want a list", x + "command: {a: b}"),
            ("line 2: a word of command is a list", x + "command: [a, [b]]"),
            ("line 2: command is a list, want a program", x + "command: []"),
            ("line 1: this is no map", "[1, 2]"),
            ("line 1: this is no map", "just text"),
            ("line 1: nested too deeply, want at most 32 levels", "x: " + deep),
            ("line 1: an alias contains itself", "&a [*a]"),
            ("line 1: an alias has no anchor before it", "x: *a"),
            ("line 2: a second document begins", "---\n--- {}"),
            ("line 1: tags other than !!str are not read", "x: !!binary aGk="),
            ("line 1: a key must be text", "[1]: 2"),
            ("line 1: a whole number is too large", "trials: 99999999999999999999"),
            ("line 1: a number is too large", "timeout: 1e999"),
            ("line 1: a text has a NUL character", 'study: "a\\0b"'),
            ("did not find expected ',' or ']'", x + "study: [a"),
            ("line 1: found character that cannot start any token", "study: @a"),
            ('unknown key "a"', laughs),
            ("too large, want at most 1 MiB", "# " + "x" * (1 << 20)),
            ("too many values, want at most 100000", "[" + "1," * 100001 + "]"),
        ]:
            with self.subTest(text=text[:80]):
                self.write("s.yaml", text)
                self.refused(2, sentence, "create", "-f", "s.yaml")
        for path in ("none.yaml", "."):
            self.refused(2, f"cannot read {path}: ", "create", "-f", path)
        self.refused(2, "no parameters for it", "create", "-f", self.write("e.yaml", ""))
        self.refused(2, "no parameters for it", "create", "-f",
                     self.write("e.yaml", "parameters:\ntrials:\n"))

    def test_texts_become_words_without_a_shell(self):
        # What worker would run is kept with the study; run shows it (test_run.py).
        self.write("s.yaml", "parameters: {x: 'float(0,1)'}\n"
                             "command: prog 'a b' \"c \\\" d\" e\\ f {x} ~g\n")
        self.refused(2, "command has ~, which needs a shell", "create", "-f", "s.yaml")
        self.write("s.yaml", "parameters: {x: 'float(0,1)'}\n"
                             "command: |\n  prog 'a b' \"c \\\" d\" e\\ f {x}\n")
        self.ok("create", "-f", "s.yaml")


class AskAndTell(Case):
    def test_a_line_a_trial(self):
        self.create()
        lines = self.ok("ask", "-n", "3").splitlines()
        self.assertEqual(len(lines), 3)
        for number, line in enumerate(lines):
            self.assertRegex(line, rf"^{number} lr=\d\S* opt=(adam|sgd)$")
        trial = self.json("ask")
        self.assertEqual((trial["number"], trial["state"], trial["value"]),
                         (3, "running", None))
        self.assertEqual(list(trial["params"]), ["lr", "opt"])
        self.assertIsInstance(trial["started"], float)
        self.assertIsNone(trial["finished"])

    def test_the_loop(self):
        self.create("--maximize")
        for i in range(15):
            number, *pairs = self.ok("ask").split()
            values = dict(pair.split("=") for pair in pairs)
            y = -abs(math.log10(float(values["lr"])) + 3) - (values["opt"] == "sgd")
            self.assertEqual(self.ok("tell", number, repr(y)), "")
        best = self.json("best")
        trials = self.lines("trials")
        self.assertEqual(best["value"], max(t["value"] for t in trials))
        self.assertEqual(best, trials[best["number"]])
        self.assertEqual([t["number"] for t in trials], list(range(15)))

    def test_values_of_every_form(self):
        self.create()
        values = ["-1.5", "-.5", "+2", "1e-300", "-1E5", "0", "-0", "3", "0.1", ".25"]
        self.ok("ask", "-n", len(values))
        for number, value in enumerate(values):
            self.ok("tell", number, value)
        for trial, value in zip(self.lines("trials"), values):
            self.assertEqual(trial["value"], float(value))
        for value in ("", "x", "1x", " 1", "1,5", "0.1.2"):
            self.refused(2, "want a number" if value else "the value", "tell", "0", value)

    def test_what_is_not_finite_fails_and_says_so(self):
        self.create()
        for number, value in enumerate(["nan", "-nan", "inf", "-inf", "Infinity", "1e999"]):
            self.ok("ask")
            self.assertEqual(self.said("tell", number, value),
                             f"trial {number} failed: its value is not finite\n")
            self.assertEqual(self.said("tell", number, value, "-q"), "")
        for trial in self.lines("trials"):
            self.assertEqual((trial["state"], trial["value"]), ("failed", None))

    def test_fail_keeps_the_reason(self):
        self.create()
        self.ok("ask", "-n", "2")
        reason = "out of memory\nsecond line: \t\"é\""
        self.ok("tell", "0", "--fail", reason)
        trial = self.json("tell", "1", "--fail=--odd")
        self.assertEqual((trial["state"], trial["reason"]), ("failed", "--odd"))
        self.assertEqual(self.lines("trials")[0]["reason"], reason)
        self.assertIn("out of memory\n", self.ok("trials"))

    def test_the_first_value_counts(self):
        self.create()
        self.ok("ask")
        trial = self.json("tell", "0", "0.5")
        self.assertEqual((trial["state"], trial["value"]), ("complete", 0.5))
        self.assertEqual(self.said("tell", "0", "0.5"), "")
        self.assertEqual(self.said("tell", "0", "0.25"), "trial 0 has the value 0.5 "
                         "already, 0.25 is kept beside it\n")
        for late in (["--fail", "late"], ["nan"]):
            self.assertIn("already and stays complete\n", self.said("tell", "0", *late))
        self.assertEqual(self.json("best")["value"], 0.5)
        self.assertIn("trial 0 is complete", self.said("tell", "0", "0.5", "-v"))

    def test_bad_usage(self):
        self.create()
        self.ok("ask")
        want = "want NUMBER VALUE, or NUMBER --fail REASON"
        for sentence, args in [
            (want, []), (want, ["0"]), (want, ["0", "1", "2"]),
            (want, ["0", "1", "--fail", "x"]), (want, ["--fail", "x"]),
            ('the number is "x", want', ["x", "1"]), ('the number is "-1"', ["-1", "1"]),
            ("7", ["7", "1"]), ("--fail needs a value", ["0", "--fail"]),
        ]:
            with self.subTest(args=args):
                self.refused(2, sentence, "tell", *args)
        for sentence, args in [('-n is "0", want', ["-n", "0"]),
                               ('-n is "100001", want', ["-n", "100001"]),
                               ('--lease is "0", want seconds', ["--lease", "0"]),
                               ('--lease is "x", want seconds', ["--lease", "x"]),
                               ('unexpected argument "3"', ["3"])]:
            with self.subTest(args=args):
                self.refused(2, sentence, "ask", *args)
        self.assertEqual(len(self.lines("trials")), 1)

    def test_types_stay_apart_all_the_way(self):
        self.ok("create", *TYPES, "--set", "deterministic=false", "--sampler", "random")
        seen = {}
        for trial in self.lines("ask", "-n", "200"):
            seen[json.dumps(trial["params"]["c"])] = trial["number"]
        self.assertEqual(set(seen), {json.dumps(c) for c in CHOICES})
        shown = dict(line.split(" c=", 1)
                     for line in self.ok("ask", "-n", "200").splitlines())
        self.assertEqual(set(shown.values()),
                         {"1", "1.0", "true", '"1"', "null", '""', '"null"', '"a b"',
                          '"é,\\""'})

    def test_a_lease_that_runs_out_offers_the_trial_again(self):
        self.create()
        first = self.json("ask", "--lease", "0.2")
        time.sleep(0.5)
        again = self.json("ask")
        self.assertEqual((again["number"], again["params"], again["attempt"]),
                         (0, first["params"], 1))
        third = self.json("ask", "--lease", "0.2")
        self.ok("tell", third["number"], "1")
        time.sleep(0.5)
        self.assertEqual(self.json("ask")["number"], 2)
        self.assertEqual(self.lines("trials", "--state", "stale"), [])
        self.ok("tell", "0", "3")  # a late one is welcome
        self.assertEqual(self.lines("trials")[0]["value"], 3)

    def test_the_budget_is_the_studys(self):
        self.create("-n", "2")
        self.ok("ask", "-n", "2")
        self.refused(1, "trials", "ask")
        self.create("-n", "3")
        self.ok("ask")
        self.refused(1, "trials", "ask")

    def test_a_finite_space_ends(self):
        self.ok("create", *OPT)
        self.ok("ask", "-n", "2")
        self.refused(1, "", "ask")

    @staticmethod
    def catches_sigint(process):
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
        return process.poll() is not None or caught >> (signal.SIGINT - 1) & 1

    def test_ctrl_c_while_it_thinks(self):
        self.ok("create", *(arg for i in range(20) for arg in ("-p", f"x{i}=float(0,1)")),
                "--set", "n_init=0", "--set", "samples=200000", "--sampler", "cocabo")
        rows = ["value," + ",".join(f"x{i}" for i in range(20))]
        rows += [f"{i}," + ",".join(str((i * 7 + k * 3) % 11 / 11) for k in range(20))
                 for i in range(300)]
        self.write("known.csv", "\n".join(rows) + "\n")
        self.ok("import", "--format", "csv", "known.csv")
        process = subprocess.Popen([COCABO, "ask", "-n", "500"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment)
        while not self.catches_sigint(process):
            time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (130, ""), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertEqual(self.lines("trials", "--state", "running"), [])


class Listing(Case):
    def some_of_every_state(self):
        self.create("--study", "s")
        study = ["--study", "s"]
        self.ok("ask", "-n", "3", *study)
        self.ok("tell", "0", "-2.5", *study)
        self.ok("tell", "1", "--fail", "bad\nnews", *study)
        self.write("next.csv", "lr,opt\n0.01,sgd\n")
        self.ok("import", "--format", "csv", "next.csv", *study)
        return study

    def test_best_and_its_status_3(self):
        self.create()
        self.refused(3, 'no trial of study "default" is complete yet', "best")
        self.refused(3, "is complete yet", "best", "--json")
        self.ok("ask")
        self.refused(3, "is complete yet", "best")
        self.ok("tell", "0", "--fail", "x")
        self.refused(3, "is complete yet", "best")
        self.ok("ask")
        self.ok("tell", "1", "0.125")
        text = self.ok("best")
        best = self.json("best")
        self.assertIn("value   0.125\n", text)
        self.assertIn("trial   1, the best of 1 (minimize)\n", text)
        self.assertIn(f"lr = {best['params']['lr']:.6g}\n", text)
        self.assertEqual((best["number"], best["state"], best["value"]),
                         (1, "complete", 0.125))
        self.assertLess(best["started"], best["finished"])

    def test_trials_by_state(self):
        study = self.some_of_every_state()
        trials = self.lines("trials", *study)
        self.assertEqual([t["state"] for t in trials],
                         ["complete", "failed", "running", "waiting"])
        for state in STATES:
            wanted = [t for t in trials if t["state"] == state]
            self.assertEqual(self.lines("trials", "--state", state, *study), wanted)
        for trial in trials:
            self.assertEqual(list(trial)[:7], ["number", "state", "value", "params",
                                               "attempt", "started", "finished"])
            self.assertEqual("reason" in trial, trial["state"] == "failed")
        self.refused(2, 'unknown state "open"', "trials", "--state", "open", *study)
        self.refused(2, "--state has 2 states, want one", "trials", "--state",
                     "failed,running", *study)

    def test_a_table_for_people(self):
        study = self.some_of_every_state()
        lines = self.ok("trials", *study).splitlines()
        self.assertEqual(lines[0].split(),
                         ["number", "state", "value", "lr", "opt", "seconds", "reason"])
        self.assertEqual(len(lines), 5)
        self.assertRegex(lines[1], r"^ +0  complete  +-2\.5  ")
        self.assertRegex(lines[2], r"^ +1  failed .*  bad$")
        self.assertEqual(len(self.ok("trials", "--state", "stale", *study).splitlines()), 1)

    def test_tables_align_what_is_wider_or_narrower_than_its_bytes(self):
        self.ok("create", "-p", "é=choice(ü,中文,é)", "-p", "z=int(7,9)",
                "--set", "deterministic=false", "--sampler", "random")
        self.ok("ask", "-n", "30")
        width = {"中": 2, "文": 2}
        columns = set()
        for line in self.ok("trials").splitlines()[1:]:
            at = max(line.rfind(d) for d in "789")
            columns.add(sum(width.get(c, 1) for c in line[:at]))
        self.assertEqual(len(columns), 1, columns)

    def test_reasons_cannot_play_with_the_terminal(self):
        self.create()
        self.ok("ask")
        self.ok("tell", "0", "--fail", "a\x1b[31m\x07b\u009b\u202ec")
        self.assertIn("a?[31m?b??c\n", self.ok("trials"))

    def on_terminal(self, *args, columns=40, answer=None):
        """Output and exit status of a command on a terminal of some width."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([COCABO, *args], cwd=self.folder, stdin=follower,
                                   stdout=follower, stderr=follower,
                                   env=self.environment, close_fds=True)
        os.close(follower)
        if answer is not None:
            os.write(leader, answer)
        text = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(leader)
        return text.decode(), process.wait(timeout=60)

    def test_lines_are_cut_on_terminals_only(self):
        self.create()
        self.ok("ask", "-n", "3")
        self.ok("tell", "0", "--fail", "é" * 100)
        text, status = self.on_terminal("trials", columns=40)
        self.assertEqual(status, 0)
        lines = text.replace("\r", "").splitlines()
        self.assertLessEqual(max(map(len, lines)), 40)
        self.assertTrue(lines[1].endswith(">"), lines[1])
        self.assertIn("é" * 100, self.ok("trials"))

    def test_studies(self):
        self.assertEqual(self.cocabo("studies").returncode, 2)
        self.create("--study", "b")
        self.ok("create", *LR, "--study", "a", "--maximize", "--sampler", "random")
        self.ok("ask", "-n", "2", "--study", "a")
        self.ok("tell", "1", "4.5", "--study", "a")
        first, second = self.lines("studies")
        self.assertEqual(first, {"name": "b", "direction": "minimize", "sampler": "mixed",
                                 "parameters": 2, "trials": 0, "waiting": 0, "running": 0,
                                 "complete": 0, "failed": 0, "interrupted": 0, "stale": 0,
                                 "best": None})
        self.assertEqual((second["name"], second["trials"], second["running"],
                          second["best"]), ("a", 2, 1, 4.5))
        lines = self.ok("studies").splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["study", "b", "a"])
        self.ok("delete", "--yes", "--study", "a")
        self.ok("delete", "--yes", "--study", "b")
        self.assertEqual(self.ok("studies", "--json"), "")
        self.assertEqual(self.said("studies"), "no studies in sqlite:///cocabo.db\n")

    def test_delete_asks_on_a_terminal(self):
        self.create()
        self.ok("ask", "-n", "3")
        text, status = self.on_terminal("delete", answer=b"n\n")
        self.assertEqual(status, 1)
        self.assertIn('Delete study "default" and its 3 trials? [y/N]', text)
        self.assertIn("nothing deleted", text)
        text, status = self.on_terminal("delete", answer=b"\n")
        self.assertEqual(status, 1)
        self.assertEqual(len(self.lines("trials")), 3)
        text, status = self.on_terminal("delete", answer=b"y\n")
        self.assertEqual(status, 0)
        self.refused(2, "no study", "trials")

    def test_delete_elsewhere_wants_yes(self):
        self.create()
        self.refused(2, 'study "default" has 0 trials, want --yes to delete it', "delete")
        self.refused(2, "want --yes", "delete", stdin=None, input="y\n")
        self.ok("delete", "--yes")
        self.refused(2, "no study", "delete", "--yes")
        self.create()


class Verify(Case):
    def test_what_it_says(self):
        self.create("--set", "n_init=3")
        for i in range(6):
            self.ok("ask")
            self.ok("tell", i, i)
        text = self.ok("verify", "--proposals", "all")
        self.assertRegex(text, r"^structure  \d+ events and 6 trials: each follows from "
                               r"those before it\nchecksums  \d+ events are as they were written\n"
                               r"replayed   6 proposals: all the same\n$")
        report = self.json("verify", "--proposals", "2")
        self.assertEqual((report["ok"], report["trials"], report["replayed"],
                          report["differing"], report["first_differing"]),
                         (True, 6, 2, 0, None))
        self.assertEqual(report["unchecked"], 0)
        self.assertIn("none to do", self.ok("verify", "--proposals", "0"))
        self.ok("verify")
        for value in ("some", "-1", "1.5", ""):
            self.refused(2, "--proposals", "verify", "--proposals", value)

    def tamper(self, old, new):
        """Changes a text in the stored events; says in how many."""
        with sqlite3.connect(self.folder / "cocabo.db") as connection:
            changed = 0
            for table, in connection.execute(
                    "select name from sqlite_master where type = 'table'").fetchall():
                for row in connection.execute(f"pragma table_info({table})").fetchall():
                    changed += connection.execute(
                        f"update {table} set {row[1]} = replace({row[1]}, ?, ?) "
                        f"where typeof({row[1]}) = 'text' and instr({row[1]}, ?)",
                        (old, new, old)).rowcount
        return changed

    def test_a_log_that_contradicts_itself_is_a_failure(self):
        self.create()
        self.ok("ask", "-n", "3")
        self.ok("tell", "1", "0.5")
        with sqlite3.connect(self.folder / "cocabo.db") as connection:
            connection.execute("update events set number = 17 where kind = 4")
        done = self.cocabo("verify")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_proposal_that_was_changed_is_found(self):
        self.create("--set", "n_init=3")
        for i in range(5):
            self.ok("ask")
            self.ok("tell", i, i)
        lr = json.dumps(self.lines("trials")[3]["params"]["lr"])
        if not self.tamper(lr, "0.0123"):
            self.skipTest("the store writes numbers in another way")
        self.refused(1, "of trial 3, is damaged: it does not have the checksum", "verify")
        with sqlite3.connect(self.folder / "cocabo.db") as connection:
            connection.execute("update events set checksum = null")  # as if it were older
        connection.close()
        for how in (["--proposals", "all"], []):
            done = self.cocabo("verify", *how)
            self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stdout, r"[1-9] differ, first trial 3\n")
        report = json.loads(self.cocabo("verify", "--proposals", "all", "--json").stdout)
        self.assertEqual((report["ok"], report["first_differing"]), (False, 3))


class Empty(Case):
    def test_an_empty_file_has_no_study(self):
        """As a crash or a full disk leaves it."""
        self.write("e.db", "")
        for command in (["best"], ["trials"], ["studies"], ["verify"], ["plot", "--text"],
                        ["export", "--format", "csv"]):
            self.refused(2, 'there is no study in "e.db" yet', *command, "--storage", "e.db")
        self.assertEqual(os.listdir(self.folder), ["e.db"])
        self.ok("create", *LR, "--storage", "e.db")
        self.refused(3, "complete yet", "best", "--storage", "e.db")

    def test_reading_leaves_nothing_behind(self):
        self.create()
        before = (self.folder / "cocabo.db").read_bytes()
        for command in (["trials"], ["studies"], ["verify"], ["export", "--format", "csv"]):
            self.ok(*command)
            self.assertEqual(os.listdir(self.folder), ["cocabo.db"])
        self.assertEqual((self.folder / "cocabo.db").read_bytes(), before)


class Exchange(Case):
    SPACE = ["-p", "x=float(0,1)", "-p", "k=int(1,8)", *TYPES, "-p", "value=ordinal(a,b)"]

    def fill(self):
        self.ok("create", *self.SPACE, "--set", "deterministic=false", "--sampler",
                "random", "--maximize")
        trials = self.lines("ask", "-n", "60")
        for trial in trials[:50]:
            self.ok("tell", trial["number"], repr(0.1 * trial["number"] - 1))
        self.ok("tell", "50", "--fail", 'a "quoted", reason\nof two lines')
        return self.lines("trials")

    def known(self, trials):
        return [json.dumps([t["params"], t["value"]]) for t in trials
                if t["state"] == "complete"]

    def test_csv_is_read_by_others(self):
        trials = self.fill()
        rows = list(csv.reader(io.StringIO(self.ok("export", "--format", "csv"))))
        self.assertEqual(rows[0], ["number", "state", "value", "x", "k", "c",
                                   "params.value", "attempt", "started", "finished",
                                   "seconds", "reason"])
        self.assertEqual(len(rows), 61)
        for row, trial in zip(rows[1:], trials):
            self.assertEqual(row[:2], [str(trial["number"]), trial["state"]])
            self.assertEqual(float(row[3]), trial["params"]["x"])
            self.assertEqual(row[2], "" if trial["value"] is None else row[2])
        self.assertEqual(rows[51][11], 'a "quoted", reason\nof two lines')

    def test_round_trips_keep_every_value_and_type(self):
        trials = self.fill()
        self.assertEqual({json.dumps(t["params"]["c"]) for t in trials},
                         {json.dumps(c) for c in CHOICES})
        for form in ("csv", "json"):
            self.ok("export", "--format", form, "-o", f"all.{form}")
            study = ["--study", form]
            done = self.json("import", "--format", form, f"all.{form}", *study,
                             *self.SPACE, "--maximize", "--set", "deterministic=false")
            self.assertEqual(done, counts(complete=50, enqueued=9, failed=1))
            copies = self.lines("trials", *study)
            self.assertEqual(self.known(copies), self.known(trials))
            waiting = [json.dumps(t["params"]) for t in copies if t["state"] == "waiting"]
            self.assertEqual(waiting, [json.dumps(t["params"]) for t in trials[51:]])
            self.assertEqual(self.json("best", *study)["value"], self.json("best")["value"])
            self.assertEqual(json.dumps(self.json("ask", *study)["params"]),
                             json.dumps(trials[51]["params"]))

    def test_an_exported_study_needs_no_description(self):
        trials = self.fill()
        self.ok("export", "--format", "json", "-o", "all.json")
        self.ok("import", "--format", "json", "all.json", "--study", "copy", "--set",
                "deterministic=false")
        copy, original = self.exported("copy"), self.exported()
        self.assertTrue(same(copy["parameters"], original["parameters"]))
        self.assertEqual(copy["direction"], "maximize")
        self.assertEqual(self.known(self.lines("trials", "--study", "copy")),
                         self.known(trials))
        self.refused(2, "no parameters for it", "import", "--format", "json", "-",
                     "--study", "other", input='{"params": {"x": 1}, "value": 2}')
        self.refused(2, "unknown key", "import", "--format", "json", "-", "--study",
                     "other", input='{"parameters": {"x": {"typ": "int"}}, "trials": []}')
        self.assertEqual(len(self.lines("studies")), 2)

    def test_files_of_others(self):
        self.ok("create", *self.SPACE)
        self.write("a.csv", "\ufeffvalue,k,x,c,params.value\r\n0.5,3.0,1,True,a\r\n"
                            ",8,0.25,1.0,\"b\"\r\n\r\n-1e3,1,1e-3,a b,a")
        self.assertEqual(self.said("import", "--format", "csv", "a.csv"),
                         "3 added, 0 already there, 0 did not fit\n1 of them to be tried\n")
        trials = self.lines("trials")
        self.assertTrue(same([t["params"] for t in trials], [
            {"x": 1.0, "k": 3, "c": True, "value": "a"},
            {"x": 0.25, "k": 8, "c": 1.0, "value": "b"},
            {"x": 0.001, "k": 1, "c": "a b", "value": "a"}]), trials)
        self.assertEqual([t["value"] for t in trials], [0.5, None, -1000])
        # A data frame of Optuna, and lines of JSON.
        self.write("b.csv", "number,value,datetime_start,datetime_complete,duration,"
                            "params_c,params_k,params_x,params_value,state\n"
                            "0,1.5,2026-01-01,2026-01-01,0 days,1,2,0.5,b,COMPLETE\n"
                            "1,,2026-01-01,2026-01-01,0 days,1,2,0.5,b,FAIL\n")
        self.assertEqual(self.json("import", "--format", "csv", "b.csv"),
                         counts(complete=1, failed=1))
        line = {"params": {"x": 0.5, "k": 2, "c": None, "value": "b"}, "value": 7}
        text = "\n".join([json.dumps(line), json.dumps({**line, "value": None}),
                          json.dumps({"params": line["params"]}), ""])
        self.assertEqual(self.json("import", "--format", "json", "-", input=text),
                         counts(complete=1, enqueued=2))
        self.assertEqual(self.json("import", "--format", "json", "-",
                                   input=json.dumps([line, line])),
                         counts(complete=1, already_there=1))
        self.assertEqual(self.json("import", "--format", "json", "-", input=""),
                         counts())
        self.ok("verify", "--proposals", "all")

    def left_out(self, form, sentence, text):
        """The row before is added, or was there already; the bad one is named."""
        said = self.said("import", "--format", form, self.write("bad." + form, text))
        self.assertIn(sentence, said.splitlines()[0])
        self.assertRegex(said, r"\n(1 added, 0|0 added, 1) already there, 1 did not fit\n$")
        self.assertEqual(len(self.lines("trials")), 1)

    def test_rows_that_are_not_right_are_left_out(self):
        self.ok("create", *LR, *OPT)
        good = "lr,opt,value\n0.01,adam,1\n"
        for sentence, text in [
            ('line 3, column "lr": "fast" is not a number', good + "fast,sgd,2\n"),
            ('line 3: parameter "lr" is 0.5, want 1e-5 to 0.1', good + "0.5,sgd,2\n"),
            ('line 3, column "opt": smd is no choice, did you mean sgd?',
             good + "0.01,smd,2\n"),
            ('line 3, column "opt": momentum is no choice, want one of choice(adam,sgd)',
             good + "0.01,momentum,2\n"),
            ('line 3, column "value": "x" is not a finite number', good + "0.01,sgd,x\n"),
            ('line 3, column "value": "nan" is not a finite', good + "0.01,sgd,nan\n"),
            ('line 3, column "lr": "" is not a number', good + ",sgd,2\n"),
        ]:
            with self.subTest(text=text):
                self.left_out("csv", sentence, text)
        one = '{"params": {"lr": 0.01, "opt": "adam"}, "value": 1}\n'
        for sentence, text in [
            ('entry 2: there is no object "params"', one + '{"value": 1}'),
            ('entry 2: there is no object "params"', one + "3"),
            ('entry 2: parameter "opt" is missing', one + '{"params": {"lr": 0.01}}'),
            ('entry 2: parameter "lr" is a list or an object',
             one + '{"params": {"lr": [], "opt": "adam"}}'),
            ('entry 2: unknown column "lrr"', one + '{"params": {"lrr": 0.01}}'),
            ('entry 2, column "opt": "smd" is no choice',
             one + '{"params": {"lr": 0.01, "opt": "smd"}}'),
            ("entry 2: value is no number",
             one + '{"params": {"lr": 0.01, "opt": "sgd"}, "value": "x"}'),
        ]:
            with self.subTest(text=text):
                self.left_out("json", sentence, text)

    def test_a_file_that_cannot_be_read_adds_nothing(self):
        self.ok("create", *LR, *OPT)
        good = "lr,opt,value\n0.01,adam,1\n"
        for sentence, text in [
            ("line 3: there are 2 cells, want 3", good + "0.01,sgd\n"),
            ("line 3: a quote has no end", good + '0.01,"sgd,2\n'),
            ("line 3: a quoted cell goes on behind its quote", good + '0.01,"s"gd,2\n'),
            ('line 1: unknown column "optt", did you mean opt?', "lr,optt\n1,sgd\n"),
            ('line 1: unknown column "colour", want parameters', "colour,opt\n1,sgd\n"),
            ('line 1: there is no column "opt"', "lr,value\n0.01,1\n"),
            ('line 1: column "lr" is there twice', "lr,lr,opt\n0.01,0.01,adam\n"),
            ("line 1: the file is empty, want a line of column names", ""),
        ]:
            with self.subTest(text=text):
                self.refused(2, sentence, "import", "--format", "csv",
                             self.write("bad.csv", text))
        one = '{"params": {"lr": 0.01, "opt": "adam"}, "value": 1}\n'
        for sentence, text in [
            ("line 2, column 12: found the end, want a value", one + '{"params": '),
            ('line 3, column 2: found "nan}", want null', one + '{"params":\n nan}'),
            ('line 2, column 51: the object before it has key "lr" twice',
             one + '{"params": {"lr": 0.01, "opt": "adam", "lr": 0.02}}'),
        ]:
            with self.subTest(text=text):
                self.refused(2, sentence, "import", "--format", "json",
                             self.write("bad.json", text))
        self.assertEqual(self.lines("trials"), [])
        for sentence, args in [
            ("which says no format: want --format csv or json", ["x.txt"]),
            ('unknown format "optuna-journal"', ["--format", "optuna-journal", "x"]),
            ("there are 0 files, want one", ["--format", "csv"]),
            ("there are 2 files, want one", ["--format", "csv", "a", "b"]),
            ("cannot read none.csv: No such file", ["--format", "csv", "none.csv"]),
            ("cannot read .: Is a directory", ["--format", "csv", "."]),
        ]:
            with self.subTest(args=args):
                self.refused(2, sentence, "import", *args)

    def test_a_bad_file_makes_no_study(self):
        self.write("bad.csv", "lr,opt\n5,adam\n")
        self.refused(2, "line 2: ", "import", "--format", "csv", "bad.csv", *LR, *OPT)
        self.refused(2, "no parameters for it", "import", "--format", "csv", "bad.csv")
        self.assertEqual(os.listdir(self.folder), ["bad.csv"])
        self.write("good.csv", "lr,opt\n0.05,adam\n")
        self.ok("import", "--format", "csv", "good.csv", *LR, *OPT)
        self.refused(2, "has lr=float(1e-5,0.1,log), not int(1,2)", "import", "--format",
                     "csv", self.write("int.csv", "lr,opt\n1,adam\n"), "-p", "lr=int(1,2)",
                     *OPT)
        self.assertEqual(len(self.lines("trials")), 1)

    def test_the_journal_of_optuna(self):
        """What JournalStorage of Optuna 4 and 5 was seen to load."""
        self.ok("create", "-p", "x=float(0,1,step=0.25)", "-p", "k=int(1,8,log)",
                "-p", 'c=choice(a,1,1.0,true,"1",null)', "--maximize", "--study", "é")
        study = ["--study", "é"]
        self.write("known.csv", "x,k,c,value\n0.5,2,null,1.5\n0.25,8,1.0,\n")
        self.ok("import", "--format", "csv", "known.csv", *study)
        self.ok("ask", "-n", "2", *study)  # the enqueued one first
        self.ok("tell", "1", "--fail", "no\nluck", *study)
        self.write("next.csv", "x,k,c,value\n0.75,1,a,\n")
        self.ok("import", "--format", "csv", "next.csv", *study)
        text = self.ok("export", "--format", "optuna-journal", *study)
        head, *trials = [json.loads(line) for line in text.splitlines()]
        self.assertEqual(head, {"op_code": 0, "worker_id": "cocabo", "study_name": "é",
                                "directions": [2]})
        self.assertEqual([t["state"] for t in trials], [1, 3, 0, 4])
        for trial in trials:
            self.assertEqual((trial["op_code"], trial["worker_id"], trial["study_id"],
                              trial["values"], trial["intermediate_values"]),
                             (4, "cocabo", 0, None, {}))
        done, failed, running, waiting = trials
        self.assertEqual((done["value"], failed["value"]), (1.5, None))
        self.assertTrue(same(done["params"], {"x": 0.5, "k": 2.0, "c": 5}), done["params"])
        self.assertTrue(same(failed["params"], {"x": 0.25, "k": 8.0, "c": 2}))
        self.assertEqual(failed["user_attrs"], {"reason": "no\nluck"})
        self.assertTrue(same(
            {name: json.loads(text) for name, text in done["distributions"].items()},
            {"x": {"name": "FloatDistribution",
                   "attributes": {"low": 0.0, "high": 1.0, "log": False, "step": 0.25}},
             "k": {"name": "IntDistribution",
                   "attributes": {"low": 1, "high": 8, "log": True, "step": 1}},
             "c": {"name": "CategoricalDistribution",
                   "attributes": {"choices": ["a", 1, 1.0, True, "1", None]}}}))
        self.assertEqual((waiting["params"], waiting["distributions"],
                          waiting["datetime_start"]), ({}, {}, None))
        self.assertTrue(same(waiting["system_attrs"],
                             {"fixed_params": {"x": 0.75, "k": 1, "c": "a"}}))
        for trial in (done, failed, running):
            self.assertRegex(trial["datetime_start"],
                             r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$")
        self.assertEqual("datetime_complete" in running, False)
        self.assertLessEqual(failed["datetime_start"], failed["datetime_complete"])

    def test_where_it_is_written(self):
        self.fill()
        text = self.ok("export", "--format", "json")
        self.assertEqual(self.ok("export", "--format", "json", "-o", "-"), text)
        self.write("old.json", "old")
        self.assertEqual(self.ok("export", "--format", "json", "-o", "old.json"), "")
        self.assertEqual((self.folder / "old.json").read_text(encoding="utf-8"), text)
        self.assertEqual(self.ok("export", "--format", "json", "-o", "/dev/stdout"), text)
        self.refused(1, "cannot write /dev/full: No space left on device", "export",
                     "--format", "csv", "-o", "/dev/full")
        self.refused(2, "cannot write no/such.csv: No such file", "export", "--format",
                     "csv", "-o", "no/such.csv")
        self.refused(2, "--format is missing, want csv, json, jsonl or optuna-journal",
                     "export")
        self.assertEqual(sorted(name for name in os.listdir(self.folder)
                                if not name.startswith("cocabo.db")), ["old.json"])


class Shells(Case):
    def complete(self, *words):
        return [line.split("\t")[0] for line in
                self.ok("--complete", *words).splitlines()]

    def test_candidates(self):
        self.create("--study", "one")
        self.create("--study", "two words")
        self.assertEqual(self.complete(""), [*COMMANDS, "help", "--help", "--version"])
        self.assertEqual(self.complete("t"), ["tell", "trials"])
        self.assertEqual(self.complete("trials", "--st"), ["--state", "--storage",
                                                           "--study"])
        self.assertEqual(self.complete("trials", "--state", ""), STATES)
        self.assertEqual(self.complete("trials", "--study", ""), ["one", "two words"])
        self.assertEqual(self.complete("trials", "--study", "=", "o"), ["one"])
        self.assertEqual(self.complete("trials", "--study", "="), ["one", "two words"])
        self.assertEqual(self.complete("trials", "--storage", "sqlite:///no.db", "--study",
                                       ""), [])
        self.assertIn("random", self.complete("create", "--sampler", ""))
        self.assertIn("n_init=", self.complete("create", "--set", "n_"))
        self.assertEqual(self.complete("create", "--set", "durability="),
                         ["durability=normal", "durability=full"])
        self.assertIn("sampler=random", self.complete("create", "--set", "sampler="))
        self.assertEqual(self.complete("export", "--format", "o"), ["optuna-journal"])
        self.assertEqual(self.complete("create", "-f", "x"), [":"])
        self.assertEqual(self.complete("create", "--", "p"), [":"])
        self.assertEqual(self.complete("import", ""), [":"])
        self.assertEqual(self.complete("nonsense", ""), [])
        self.assertEqual(self.complete(), [*COMMANDS, "help", "--help", "--version"])

    def test_bash(self):
        bash = shutil.which("bash")
        script = pathlib.Path(__file__).resolve().parents[2] / "cli/completions/cocabo.bash"
        if not bash:
            self.skipTest("there is no bash")
        self.create("--study", "two words")
        asked = f"""
            source {script}
            compopt() {{ :; }}
            COMP_WORDS=({COCABO} "$@") COMP_CWORD=$#
            _cocabo
            printf '%s\\n' "${{COMPREPLY[@]}}" """
        def replies(*words):
            done = subprocess.run([bash, "-c", asked, "bash", *words], cwd=self.folder,
                                  capture_output=True, text=True, env=self.environment)
            self.assertEqual(done.stderr, "")
            return done.stdout.splitlines()
        self.assertEqual(replies("st"), ["studies"])
        self.assertEqual(replies("best", "--study", ""), ["two\\ words"])
        self.assertEqual(replies("best", "--q"), ["--quiet"])

    def test_fish(self):
        fish = shutil.which("fish")
        script = pathlib.Path(__file__).resolve().parents[2] / "cli/completions/cocabo.fish"
        if not fish:
            self.skipTest("there is no fish")
        self.create("--study", "two words")
        self.write("a-study.yaml", "")
        environment = {**self.environment, "HOME": self.folder,
                       "PATH": f"{os.path.dirname(COCABO)}:{os.environ['PATH']}"}
        def replies(line):
            done = subprocess.run([fish, "--no-config", "-c", 'source $argv[1]; complete -C '
                                   '$argv[2]', script, line], cwd=self.folder, text=True,
                                  capture_output=True, env=environment)
            self.assertEqual(done.stderr, "")
            return [reply.split("\t")[0] for reply in done.stdout.splitlines()]
        self.assertEqual(replies("cocabo st"), ["studies"])
        self.assertEqual(replies("cocabo best --study "), ["two words"])
        self.assertEqual(replies("cocabo best --q"), ["--quiet"])
        self.assertEqual(replies("cocabo create -f a-st"), ["a-study.yaml"])

    def test_man_pages_are_the_help(self):
        self.refused(2, "--man wants", "--man", "nonsense")
        self.ok("--man", "--into", self.folder)
        self.assertEqual(sorted(os.listdir(self.folder)),
                         sorted(["cocabo.1", "cocabo-options.1", "cocabo-conditions.1",
                                 *(f"cocabo-{c}.1" for c in COMMANDS)]))
        for command in COMMANDS:
            page = self.ok("--man", command)
            self.assertTrue(page.startswith(f'.TH "COCABO-{command.upper()}" 1'), page)
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES",
                            "ENVIRONMENT", "EXIT STATUS", "SEE ALSO"):
                self.assertIn(f".SH {section}\n", page)
            self.assertIn("\\-\\-storage", page)
        self.assertIn("n_init", self.ok("--man", "options"))
        self.refused(1, "cannot write", "--man", "--into", "no/folder")

    def test_man_pages_are_clean_troff(self):
        groff = shutil.which("groff")
        if not groff:
            self.skipTest("there is no groff")
        for command in [[], ["options"], *([c] for c in COMMANDS)]:
            done = subprocess.run([groff, "-man", "-Tascii", "-ww", "-z"], text=True,
                                  input=self.ok("--man", *command), capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
