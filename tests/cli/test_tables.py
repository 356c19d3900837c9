#!/usr/bin/env python3
"""What people see of a study and how they name it: tables, digits, formats, the study
that is meant where none is said, and that no text of others plays with the terminal.

    python3 tests/cli/test_tables.py PATH/TO/cocabo [unittest arguments]
"""

import csv
import fcntl
import io
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import unittest

import test_cocabo
from test_cocabo import Case


class Tables(Case):
    def on_terminal(self, *args, columns=200, answer=None):
        """The bytes that a command shows on a terminal, and its exit status."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([test_cocabo.COCABO, *args], cwd=self.folder,
                                   stdin=follower, stdout=follower, stderr=follower,
                                   env=self.environment, close_fds=True)
        os.close(follower)
        if answer is not None:
            os.write(leader, answer)
        shown = b""
        while True:
            if not select.select([leader], [], [], 60)[0]:
                process.kill()
                self.fail(f"{args} says nothing for a minute after {shown}")
            try:
                piece = os.read(leader, 65536)
            except OSError:  # EIO: the other end is closed
                break
            if not piece:
                break
            shown += piece
        os.close(leader)
        return shown, process.wait(timeout=60)

    def told(self, values, *args):
        """A study with those values, in order; a text is the reason of a failure."""
        self.ok("create", "-p", "x=float(0,1)", "-p", "k=int(0,1000000000)", "-p",
                "size=ordinal(small,medium,large)", "--sampler", "random", *args)
        study = [args[args.index("--study") + i] for i in (0, 1)] if "--study" in args else []
        if values:
            self.ok("ask", "-n", len(values), *study)
        for number, value in enumerate(values):
            if isinstance(value, str):
                self.ok("tell", number, "--fail", value, *study)
            elif value is not None:
                self.ok("tell", number, repr(value), *study)

    def commands(self):
        listed = self.ok("--help").split("Commands:\n")[1].split("\n\n")[0]
        return [line.split()[0] for line in listed.splitlines()]

    def column(self, title, *args):
        """The cells below a title, which stand to its right end."""
        lines = self.ok("trials", *args).splitlines()
        at = lines[0].split().index(title)
        return [re.split(r"\s+", line.strip())[at] for line in lines[1:]]

    def numbers(self, *args):
        return [trial["number"] for trial in self.lines("trials", *args)]


class Sort(Tables):
    def test_the_best_come_first(self):
        self.told([3.0, 1.0, "no", 2.0, None])
        self.assertEqual(self.numbers("--sort", "value"), [1, 3, 0, 2, 4])
        self.assertEqual(self.numbers("--sort", "value", "--top", "2"), [1, 3])
        self.assertEqual(self.column("number", "--sort", "value", "--top", "3"),
                         ["1", "3", "0"])
        self.assertEqual(self.numbers("--sort=-value"), [0, 3, 1, 2, 4])
        self.assertEqual(self.numbers("--top", "2"), [0, 1])
        self.assertEqual(self.numbers("--top", "9"), [0, 1, 2, 3, 4])
        self.assertEqual(self.numbers("--sort", "value", "--state", "complete", "--top", "1"),
                         [1])
        self.assertEqual(self.numbers("--sort", "state"), [4, 0, 1, 3, 2])
        self.assertEqual(self.numbers("--sort=-number"), [4, 3, 2, 1, 0])

    def test_in_the_direction_of_the_study(self):
        self.told([3.0, 1.0, "no", 3.0, None], "--maximize")
        self.assertEqual(self.numbers("--sort", "value"), [0, 3, 1, 2, 4])
        self.assertEqual(self.numbers("--sort=-value"), [1, 0, 3, 2, 4])

    def test_by_parameter_and_by_duration(self):
        self.told([0.5] * 12 + [None])
        trials = self.lines("trials")
        for name, key in [("x", lambda t: t["params"]["x"]), ("k", lambda t: t["params"]["k"]),
                          ("size", lambda t: ["small", "medium", "large"].index(
                              t["params"]["size"])),
                          ("params.x", lambda t: t["params"]["x"])]:
            expected = [t["number"] for t in sorted(trials, key=key)]
            self.assertEqual(self.numbers("--sort", name), expected, name)
        told = [t for t in trials if t["state"] == "complete"]
        expected = [t["number"] for t in sorted(
            told, key=lambda t: round(t["finished"] - t["started"], 6))]
        self.assertEqual(self.numbers("--sort", "seconds"), expected + [12])

    def test_a_slip_is_named(self):
        self.told([1.0])
        self.refused(2, 'unknown key "vale", did you mean value?', "trials", "--sort", "vale")
        self.refused(2, 'unknown key "siz", did you mean size?', "trials", "--sort", "siz")
        self.refused(2, '--top is "0", want a whole number from 1', "trials", "--top", "0")


class Digits(Tables):
    def test_six_in_tables_and_all_in_json_and_csv(self):
        value = 0.12345678901234566
        self.told([value])
        x = self.json("best")["params"]["x"]
        self.assertEqual(self.json("best")["value"], value)
        self.assertIn(repr(value), self.ok("export", "--format", "csv"))
        self.assertEqual(self.column("value"), ["0.123457"])
        best = self.ok("best")
        self.assertIn("value   0.123457\n", best)
        self.assertIn(f"x = {float(f'{x:.6g}'):g}\n", best)
        self.assertEqual(self.ok("studies").split()[-1], "0.123457")
        # Programs read this line too.
        self.assertEqual(float(re.search(r"x=(\S+)", self.ok("ask")).group(1)),
                         self.lines("trials")[1]["params"]["x"])

    def test_whole_numbers_below_ten_million_in_full(self):
        self.told([9999999.0, 1234560.0, 1e6, -7654321.0, 0.0, 12345678.9, 1e-7,
                   1234567.8])
        self.assertEqual(self.column("value"),
                         ["9999999", "1234560", "1000000", "-7654321", "0", "1.23457e7",
                          "1e-7", "1.23457e6"])
        self.assertEqual(self.column("k"),
                         [str(t["params"]["k"]) for t in self.lines("trials")])

    def test_at_the_end_of_a_run(self):
        done = self.cocabo("run", "-n", "3", "-v", "-p", "x=float(0,1)", "--", "sh", "-c",
                           "echo 1{x}")
        value = self.json("best")["value"]
        self.assertIn(f"best trial {self.json('best')['number']}: {value:.6g}\n", done.stdout)
        self.assertNotIn(repr(value), done.stdout + done.stderr)
        done = self.cocabo("run", "--study", "large", "-n", "1", "-p", "x=float(0,1)", "--",
                           "echo", "1234567")
        self.assertIn("best 1234567 (trial 0)", done.stderr)
        self.assertIn("best trial 0: 1234567\n", done.stdout)


class Seconds(Tables):
    def test_how_long_a_trial_took(self):
        self.told([1.0, "no", None])
        self.write("known.csv", "x,k,size,value\n0.5,3,small,2\n")
        self.ok("import", "--format", "csv", "known.csv")
        trials = self.lines("trials")
        rows = list(csv.DictReader(io.StringIO(self.ok("export", "--format", "csv"))))
        self.assertEqual(len(rows), 4)
        for row, trial in zip(rows, trials):
            if trial["state"] in ("complete", "failed") and trial["started"]:
                took = trial["finished"] - trial["started"]
                self.assertAlmostEqual(trial["seconds"], took, delta=1e-5)
                self.assertAlmostEqual(float(row["seconds"]), took, delta=1e-5)
            else:
                self.assertIsNone(trial["seconds"])
                self.assertEqual(row["seconds"], "")
        self.assertEqual([t["seconds"] is None for t in trials], [False, False, True, True])

    def test_it_goes_to_another_study_and_back(self):
        self.told([1.0, 2.0])
        self.ok("export", "--format", "csv", "-o", "all.csv")
        space = ["-p", "x=float(0,1)", "-p", "k=int(0,1000000000)", "-p",
                 "size=ordinal(small,medium,large)"]
        self.assertEqual(self.json("import", "--format", "csv", "all.csv", "--study", "two",
                                   *space)["added"], 2)

    def test_a_parameter_of_that_name(self):
        space = ["-p", "seconds=int(1,9)", "-p", "duration=float(0,1)"]
        self.ok("create", *space)
        self.ok("ask")
        self.ok("tell", "0", "1.5")
        text = self.ok("export", "--format", "csv")
        self.assertIn(",params.seconds,duration,", text)
        self.write("all.csv", text)
        # Written by hand, and by versions that had no such column.
        self.write("old.csv", "seconds,duration,value\n3,0.5,1\n")
        for name in ("all.csv", "old.csv"):
            self.ok("import", "--format", "csv", name, "--study", name, *space)
        self.assertEqual(self.lines("trials", "--study", "all.csv")[0]["params"],
                         self.lines("trials")[0]["params"])
        self.assertEqual(self.lines("trials", "--study", "old.csv")[0]["params"],
                         {"seconds": 3, "duration": 0.5})


class Formats(Tables):
    def test_the_name_of_the_file_says_it(self):
        self.told([1.0, "no", 2.0])
        for name, form in [("a.csv", "csv"), ("b.json", "json"), ("c.JSON", "json"),
                           ("dir.csv/d.json", "json"), ("e.jsonl", "jsonl")]:
            (self.folder / name).parent.mkdir(exist_ok=True)
            self.ok("export", "-o", name)
            self.assertEqual((self.folder / name).read_text(encoding="utf-8"),
                             self.ok("export", "--format", form), name)
        self.assertEqual(self.ok("export", "--format", "jsonl"), self.ok("trials", "--json"))
        for name in ("a.csv", "b.json", "e.jsonl"):
            copy = ["--study", f"copy of {name}"]
            self.ok("create", "-p", "x=float(0,1)", "-p", "k=int(0,1000000000)", "-p",
                    "size=ordinal(small,medium,large)", *copy)
            self.assertEqual(self.json("import", name, *copy)["added"], 3, name)

    def test_the_flag_wins(self):
        self.told([1.0])
        self.ok("export", "--format", "json", "-o", "x.csv")
        self.assertEqual((self.folder / "x.csv").read_text(), self.ok("export", "--format",
                                                                      "json"))
        self.assertEqual(self.json("import", "--format", "json", "x.csv")["already_there"], 1)

    def test_a_name_that_says_nothing(self):
        self.told([1.0])
        for name in ("x.txt", "x", "csv", ".csv.d/x", "-"):
            self.refused(2, "want --format csv, json, jsonl or optuna-journal", "export", "-o",
                         name)
        self.refused(2, '-o is "x.txt"', "export", "-o", "x.txt")
        self.refused(2, "--format is missing, want csv, json", "export")
        for name in ("x.txt", "x", "-"):
            self.refused(2, "want --format csv or json", "import", name)
        self.refused(2, 'the file is "x.txt"', "import", "x.txt")


class Plot(Tables):
    def test_text_wherever_it_goes(self):
        self.told([3.0, 1.0, 2.0])
        piped = self.ok("plot")
        self.assertEqual(piped, self.ok("plot", "--text"))
        self.assertIn("best", piped)
        self.assertLessEqual(max(map(len, piped.splitlines())), 80)
        self.assertNotIn("\x1b", piped)
        shown, status = self.on_terminal("plot", columns=60)
        self.assertEqual(status, 0)
        self.assertLessEqual(max(len(line) for line in shown.decode().splitlines()), 60)


class Meant(Tables):
    """The study that is meant where --study does not say it."""
    LINES = [["trials"], ["best"], ["ask"], ["tell", "0", "1"], ["verify"], ["plot"],
             ["export", "--format", "csv"], ["studies"]]

    def test_the_only_one(self):
        self.told([0.5, 1.5], "--study", "svm")
        for line in self.LINES:
            self.ok(*line)
        self.ok("tell", "2", "1")  # that of ask, which runs would wait for
        self.assertEqual([s["name"] for s in self.lines("studies")], ["svm"])
        self.write("known.csv", "x,k,size,value\n0.5,3,small,2\n")
        self.ok("import", "known.csv")
        self.ok("create", "-n", "5")  # no parameters: it goes on with what is there
        self.ok("run", "-n", "5", "--", "echo", "1")
        self.ok("run", "-n", "6")
        self.ok("create", "-n", "7")
        self.ok("worker")
        study, = self.lines("studies")
        self.assertEqual((study["name"], study["complete"] + study["failed"]), ("svm", 7))

    def test_a_new_one_is_called_default(self):
        self.told([0.5], "--study", "svm")
        self.assertEqual(self.ok("create", "-p", "x=float(0,1)"), "default\n")
        self.assertEqual(self.lines("trials"), [])  # of default, which there is now
        self.assertEqual(len(self.lines("trials", "--study", "svm")), 1)

    def test_among_several_it_must_be_said(self):
        for name in ("a", "b", "c d"):
            self.told([0.5], "--study", name)
        for line in self.LINES[:-1] + [["import", "x.csv"], ["run", "-n", "3", "--", "true"],
                                       ["worker"], ["delete", "--yes"]]:
            self.write("x.csv", "x\n")
            self.refused(2, 'sqlite:///cocabo.db has 3 studies, want --study NAME: "a", "b", '
                            '"c d"', *line)
        for i in range(20):
            self.told([], "--study", f"a rather long name of a study, number {i}")
        self.refused(2, "has 23 studies, want --study NAME: ", "trials")
        done = self.cocabo("trials")
        self.assertIn(" and 1", done.stderr)  # "... and 1x more"
        self.told([0.25], "--study", "default")
        self.assertEqual(self.json("best")["value"], 0.25)

    def test_delete_does_not_take_the_only_one_unasked(self):
        self.told([], "--study", "default")
        self.told([0.5], "--study", "svm")
        self.ok("delete", "--yes")
        self.refused(2, 'no study "default"', "delete", "--yes")
        self.refused(2, "--study svm", "delete", "--yes")
        self.refused(2, 'study "svm" has 1 trials, want --yes', "delete")
        shown, status = self.on_terminal("delete", answer=b"n\n")
        self.assertIn(b'Delete study "svm" and its 1 trials?', shown)
        self.assertEqual([s["name"] for s in self.lines("studies")], ["svm"])
        shown, status = self.on_terminal("delete", answer=b"y\n")
        self.assertEqual((status, self.lines("studies")), (0, []))

    def test_the_environment_says_it(self):
        for name in ("default", "a", "b"):
            self.told([0.5], "--study", name)
        self.environment["COCABO_STUDY"] = "a"
        self.ok("tell", "0", "0.5")
        self.ok("ask")
        self.assertEqual({s["name"]: s["trials"] for s in self.lines("studies")},
                         {"default": 1, "a": 2, "b": 1})
        self.assertEqual(len(self.lines("trials", "--study", "b")), 1)
        self.environment["COCABO_STUDY"] = "new"
        self.refused(2, 'no study "new" in', "trials")
        self.assertEqual(self.ok("create", "-p", "x=float(0,1)"), "new\n")
        self.environment["COCABO_STUDY"] = ""
        self.assertEqual(len(self.lines("trials")), 1)
        self.environment["COCABO_STUDY"] = "b"
        self.ok("delete", "--yes")
        self.assertEqual([s["name"] for s in self.lines("studies")], ["default", "a", "new"])

    def test_a_program_that_calls_cocabo_means_its_own_study(self):
        self.environment["PATH"] = (os.path.dirname(test_cocabo.COCABO) + ":"
                                    + self.environment["PATH"])
        self.told([], "--study", "default")
        for storage in ([], ["--storage", "sqlite:///other.db"]):
            self.ok("run", "--study", "outer", "-n", "1", "-p", "x=float(0,1)", *storage, "--",
                    "sh", "-c", "cocabo trials --json >seen; echo 1")
            seen = json.loads((self.folder / "seen").read_text())
            self.assertEqual((seen["number"], seen["state"]), (0, "running"))

    def test_every_command_takes_a_file(self):
        self.write("s.yaml", "study: svm\nparameters: {x: 'float(0,1)'}\ntrials: 3\n"
                             "command: [echo, '1']\n")
        self.ok("run", "-f", "s.yaml")
        self.told([], "--study", "default")
        self.environment["COCABO_STUDY"] = "default"
        self.write("more.csv", "x,value\n0.5,2\n")
        lines = [["trials"], ["best"], ["tell", "0", "1"], ["verify"], ["plot"],
                 ["export", "--format", "json"], ["studies"], ["worker"],
                 ["import", "more.csv"], ["create", "-n", "9"], ["ask"]]
        for line in lines:
            self.ok(*line, "-f", "s.yaml")
        # Those are about whole storages, or a file of another kind.
        for command in set(self.commands()) - {"copy", "serve", "mcp", "convert"}:
            self.assertIn("  -f, --file FILE", self.ok(command, "--help"), command)
        self.assertEqual(json.loads(self.ok("export", "--format", "json", "-f",
                                            "s.yaml"))["study"], "svm")
        self.assertEqual(self.exported()["study"], "default")
        self.assertEqual(self.lines("trials", "-f", "s.yaml", "--study", "default"), [])
        self.refused(2, 'no study "no"', "trials", "-f", "s.yaml", "--study", "no")
        self.ok("delete", "-f", "s.yaml", "--yes")
        self.assertEqual([s["name"] for s in self.lines("studies")], ["default"])
        self.refused(2, 'no study "svm"', "best", "-f", "s.yaml")
        self.write("bad.yaml", "study: svm\ntrails: 3\n")
        for line in lines:
            self.refused(2, 'bad.yaml, line 2: unknown key "trails", did you mean trials?',
                         *line, "-f", "bad.yaml")
        self.refused(2, "no.yaml", "best", "-f", "no.yaml")


class Empty(Tables):
    def test_what_is_said_where_there_is_nothing(self):
        self.told([])
        self.refused(3, 'no trial of study "default" is complete yet', "best")
        self.refused(3, 'no trial of study "default" is complete yet', "plot")
        self.assertEqual(self.said("trials"), 'study "default" has no trials yet\n')
        self.assertEqual(self.said("trials", "-q"), "")
        self.assertEqual(self.cocabo("trials", "--json").stderr, "")
        self.assertEqual(self.ok("export", "--format", "csv"),
                         "number,state,value,x,k,size,attempt,started,finished,seconds,reason\n")
        self.ok("ask")
        self.assertEqual(self.said("trials", "--state", "failed"),
                         'no trial of study "default" is failed\n')
        self.assertEqual(self.said("trials"), "")
        self.refused(2, "no trial 7", "tell", "7", "1")


FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e"
                       "\u2066-\u206f\ufeff]")
# Everything that moves a cursor, ends a line or turns it round.
C0 = "".join(map(chr, [*range(1, 10), *range(11, 32), 127]))
C1 = "".join(map(chr, range(128, 160)))
BIDI = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"


class Hostile(Tables):
    STUDY = f"s{BIDI}s"
    PARAMETER = f"p{BIDI}p"
    CHOICES = [f"c{C0}c", f"d{C1}d", f"e{BIDI}e", "\x1b[31mred"]

    def look(self, shown, what):
        """Nothing in these bytes plays with a terminal, but for our own bar."""
        shown = re.sub(rb"\x1b\[K", b"", shown)
        text = shown.decode("utf-8", "surrogateescape")
        found = FORBIDDEN.search(text) or re.search("[\udc80-\udcff]", text)
        self.assertIsNone(found, (what, text[max(0, found.start() - 40):found.end() + 40]
                                  if found else ""))

    def show(self, *args):
        """Looks at what a command shows on a terminal."""
        answer = b"n\n" if args[0] == "delete" else None
        shown, status = self.on_terminal(*args, answer=answer)
        self.look(shown, args)
        return status

    def hostile(self):
        self.write("child.py", f"""
import os, sys
sys.stderr.buffer.write({(C0 + C1 + BIDI)!r}.encode() + b"\\x85\\x9b31m raw \\xff\\n")
sys.stderr.buffer.write(b"last \\x1b[31m \\x9b1m" + {BIDI + C1!r}.encode() + b"\\n")
print({C0 + C1 + BIDI!r})
if int(os.environ["COCABO_TRIAL"]) % 3: print(os.environ["COCABO_TRIAL"])
""")
        domain = "choice(" + ",".join(json.dumps(c) for c in self.CHOICES) + ")"
        return ["run", "--study", self.STUDY, "-n", "8", "--sampler", "random", "-p",
                f"{self.PARAMETER}={domain}", "-p", "x=float(0,1)", "-v", "--", sys.executable,
                "child.py", f"{BIDI}{C1}\x1b[31m", "{x}"]

    def test_no_command_shows_it(self):
        line = self.hostile()
        self.show(*line)
        self.assertEqual(len(self.lines("trials", "--state", "failed")), 3)
        study = ["--study", self.STUDY]
        servers = {"serve", "mcp", "watch"}  # they go on; what they say has tests of its own
        for args in ([[command] for command in self.commands() if command not in servers]
                     + [["trials", "--sort", self.PARAMETER], ["tell", "1", "7"],
                      ["export", "--format", "csv"],
                      ["export", "--format", "json"], ["export", "--format", "jsonl"],
                      ["export", "--format", "optuna-journal"],
                      ["export", "--format", "csv", "-o", "/dev/stdout"],
                      ["worker", "--timeout", "1"], ["create", "-v", "-n", "9"],
                      ["run", "-n", "10", "-v"],
                      ["plot", "-o", f"{BIDI}.svg"]]
                     + [["plot", "--kind", kind] for kind in
                        ("history", "slice", "parallel", "categories", "importance", "steps")]):
            for more in ([], ["--json"]):
                self.show(*args, *study, *more)
        self.ok("create", "-n", "20", *study)
        for more in ([], ["--json"]):
            self.assertEqual(self.show("ask", *study, *more), 0)
        # Failures that are too many to be listed, and programs that are not there.
        domain = "choice(" + ",".join(json.dumps(c) for c in self.CHOICES) + ")"
        for command in (["false"], ["./{p}"]):
            self.show("run", "--study", self.STUDY + command[0], "-n", "12", "--sampler",
                      "random", "--set", "deterministic=false", "-p", f"p={domain}", "--",
                      *command)
        for utf8 in ("C", "C.UTF-8"):
            self.environment["LC_ALL"] = utf8
            self.show("plot", "--kind", "categories", *study)

    def test_no_sentence_shows_it(self):
        self.show(*self.hostile())
        odd = [BIDI, C1, "\x1b[31m\x07", b"\x85\x9b31m", b"\xff\xfe"]
        for text in odd:
            raw = text if isinstance(text, bytes) else text.encode()
            for args in ([[b"x" + raw], [b"trials", raw], [b"trials", b"--study", raw],
                          [b"trials", b"--sort", raw], [b"trials", b"--state", raw],
                          [b"trials", b"--top", raw], [b"--x" + raw], [b"trials", b"--x" + raw],
                          [b"trials", b"--storage", raw + b"/x.db"], [b"trials", b"-f", raw],
                          [b"export", b"--format", raw], [b"export", b"-o", raw],
                          [b"import", raw], [b"import", b"--format", b"csv", raw],
                          [b"plot", b"--kind", raw], [b"plot", b"-o", raw],
                          [b"plot", b"-o", raw + b"/x.svg"], [b"verify", b"--proposals", raw],
                          [b"tell", raw, b"1"], [b"tell", b"0", raw],
                          [b"tell", b"0", b"--fail", raw], [b"ask", b"-n", raw],
                          [b"ask", b"--lease", raw], [b"create", b"-p", raw],
                          [b"create", b"-p", b"a=" + raw], [b"create", b"-p", raw + b"=int(1,2)"],
                          [b"create", b"--set", raw], [b"create", b"--set", b"seed=" + raw],
                          [b"create", b"--sampler", raw], [b"create", b"--study", raw],
                          [b"create", b"-p", b"q=int(1,2)", b"--study",
                           self.STUDY.encode()],
                          [b"run", b"-n", b"2", b"-p", b"q=int(1,2)", b"--study", b"q", b"--",
                           raw],
                          [b"run", b"-n", b"2", b"-p", b"q=int(1,2)", b"--study", b"q",
                           b"--log-dir", raw + b"/\x01", b"--", b"echo", b"{" + raw + b"}"]]):
                self.show(*args)

    def test_files_of_others_cannot_either(self):
        self.show(*self.hostile())
        names = {"study": self.STUDY, "key": BIDI + C1, "choice": self.CHOICES[1]}
        yaml = [f"study: {json.dumps(names['study'])}\n{json.dumps(names['key'])}: 1\n",
                f"parameters: {{{json.dumps(names['key'])}: {{type: {json.dumps(C1)}}}}}\n",
                f"direction: {json.dumps(C1 + BIDI)}\n", f"options: {{{json.dumps(BIDI)}: 1}}\n",
                f"command: {json.dumps(C1 + BIDI)}\ntrials: x\n"]
        for text in yaml:
            self.write("s.yaml", text)
            self.show("create", "-f", "s.yaml")
            self.show("trials", "-f", "s.yaml")
        tables = [f"{C1}{BIDI},x,value\n1,2,3\n", f"{self.PARAMETER},x,value\n{C1}{BIDI},0.5,1\n",
                  f"{self.PARAMETER},x,value\nc,0.5,{C1}{BIDI}\n"]
        for text in tables:
            (self.folder / "t.csv").write_bytes(text.encode() + b"\x85\x9b\n")
            self.show("import", "t.csv", "--study", self.STUDY)
        self.write("t.json", json.dumps({"params": {self.PARAMETER: C1 + BIDI, "x": 1}}))
        self.show("import", "t.json", "--study", self.STUDY)
        self.write("t.json", json.dumps({"params": {C1 + BIDI: 1, "x": 1}}))
        self.show("import", "t.json", "--study", self.STUDY)

    def test_what_people_read_is_safe_in_a_pipe_too(self):
        done = subprocess.run([test_cocabo.COCABO, *self.hostile()], cwd=self.folder,
                              env=self.environment, capture_output=True, timeout=120)
        self.look(done.stdout + done.stderr, "run")
        self.ok("create", "-n", "20", "--study", self.STUDY)
        for args in (["trials"], ["best"], ["studies"], ["plot"], ["ask"], ["plot", "--json"],
                     ["trials", "--json"], ["best", "--json"], ["studies", "--json"],
                     ["--complete", "trials", "--study", ""]):
            more = [] if args[0] in ("--complete",) else ["--study", self.STUDY]
            done = subprocess.run([test_cocabo.COCABO, *args, *more], cwd=self.folder,
                                  env=self.environment, capture_output=True, timeout=120)
            self.look(done.stdout + done.stderr, args)

    def test_data_stays_what_it_was(self):
        self.ok(*[word for word in self.hostile() if word != "-v"])
        study = ["--study", self.STUDY]
        trials = self.lines("trials", *study)
        self.assertEqual(set(trials[0]["params"]), {self.PARAMETER, "x"})
        self.assertLessEqual({t["params"][self.PARAMETER] for t in trials}, set(self.CHOICES))
        self.assertEqual(self.lines("studies")[0]["name"], self.STUDY)
        self.ok("export", "-o", "all.csv", *study)
        text = (self.folder / "all.csv").read_bytes().decode()
        self.assertIn(self.PARAMETER, text)
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual([row[self.PARAMETER] for row in rows],
                         [t["params"][self.PARAMETER] for t in trials])
        domain = "choice(" + ",".join(json.dumps(c) for c in self.CHOICES) + ")"
        self.ok("import", "all.csv", "--study", "copy", "-p", f"{self.PARAMETER}={domain}",
                "-p", "x=float(0,1)")
        copies = self.lines("trials", "--study", "copy")
        self.assertEqual([t["params"] for t in copies if t["state"] == "complete"],
                         [t["params"] for t in trials if t["state"] == "complete"])
        # The name that create prints is for --study.
        self.assertEqual(self.ok("create", "-n", "20", *study), self.STUDY + "\n")


if __name__ == "__main__":
    test_cocabo.COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
