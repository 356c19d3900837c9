#!/usr/bin/env python3
"""What somebody who has never seen cocabo does in the first hour, and what is said to it:
test_newcomer.py COCABO [names of tests]"""

import json
import os
import socket
import subprocess
import sys
import unittest

import test_cocabo

X = ["-p", "x=float(0,1)"]


class Newcomer(test_cocabo.Case):
    def cocabo(self, *args, **more):
        return subprocess.run([test_cocabo.COCABO, *map(str, args)], cwd=self.folder, text=True,
                              encoding="utf-8", env=self.environment, timeout=120,
                              stdin=subprocess.DEVNULL,
                              **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})

    def ok(self, *args):
        done = self.cocabo(*args)
        self.assertEqual(done.returncode, 0, (args, done.stdout, done.stderr))
        return done

    def refused(self, status, sentence, *args):
        done = self.cocabo(*args)
        self.assertEqual(done.returncode, status, (args, done.stdout, done.stderr))
        self.assertEqual(done.stderr, f"cocabo {args[0]}: {sentence}\n")

    def test_a_line_is_one_write(self):
        """Two workers in a terminal do not mix their letters: a datagram is a write."""
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with here, there:
            self.cocabo("run", "-n", 2, *X, "--", "echo", "{x}", stderr=there)
            self.cocabo("bset", stderr=there)
            there.close()
            here.settimeout(10)
            writes = []
            while not writes or "bset" not in writes[-1]:
                writes.append(here.recv(65536).decode())
        self.assertGreater(len(writes), 2)
        for written in writes:
            self.assertEqual(written[-1], "\n", writes)

    def test_the_sentence_about_the_value_is_whole(self):
        done = self.cocabo("run", "-n", 1, *X, "--", "echo", "validation loss: 0.5")
        self.assertIn('  the last line of its output is "validation loss: 0.5", want a number '
                      'or {"value": number}\n', done.stderr)

    def test_a_long_last_line_is_cut(self):
        done = self.cocabo("run", "-n", 1, *X, "--", "sh", "-c",
                           "printf '%0999d\n' 7 >&2; exit 1")
        line = done.stderr.splitlines()[1]
        self.assertRegex(line, r"^  0+\.\.\.$")
        self.assertLess(len(line), 200)

    def test_a_command_in_quotes(self):
        self.refused(2, 'the command is one word, "echo {x}": want its words apart, as in '
                     "-- echo ..., or -- sh -c '...'", "run", "-n", 2, *X, "--", "echo {x}")
        self.refused(2, 'the command is one word, "sh -c true": want its words apart, as in '
                     "-- sh ..., or -- sh -c '...'", "run", "-n", 2, *X, "--", "sh -c true")
        self.refused(2, 'command not found: "no such program"', "run", "-n", 2, *X, "--",
                     "no such program")

    def test_a_program_may_have_blanks_in_its_name(self):
        program = self.folder / "echo all"
        program.write_text("#!/bin/sh\necho 1\n")
        program.chmod(0o755)
        self.ok("run", "-n", 1, *X, "--", "./echo all")

    def test_letters_of_another_case(self):
        self.refused(2, 'unknown parameter {X} in "{X}", did you mean {x}? ({{X}} stands for '
                     "the text {X})", "run", "-n", 2, *X, "--", "echo", "{X}")

    def test_trials_are_counted_from_0(self):
        self.ok("run", "-n", 3, *X, "--", "echo", "{x}")
        self.refused(2, 'no trial 3 in study "default": it has 3, from 0 to 2', "tell", 3, 1)

    def test_more_trials_than_wanted(self):
        self.ok("run", "-n", 3, *X, "--", "echo", "{x}")
        self.assertIn("nothing to do: 3 trials are there, more than -n 2\n",
                      self.ok("run", "-n", 2).stderr)
        self.assertIn("nothing to do: 3 of 3 trials are there\n",
                      self.ok("run", "-n", 3).stderr)

    def test_another_space(self):
        """What the sentence says, done literally."""
        self.ok("run", "-n", 3, *X, "--", "echo", "{x}")
        wider = ["-p", "x=float(0,2)", "-n", 5, "--", "echo", "{x}"]
        self.refused(2, 'study "default" has x=float(0,1), not float(0,2): "cocabo create '
                     '--from default --study default-2" with these flags carries over what fits, '
                     "another --study begins anew", "run", *wider)
        said = self.ok("create", "--from", "default", "--study", "default-2", *wider).stderr
        self.assertEqual(said, "3 trials carried over, 0 did not fit\n")
        self.ok("run", "--study", "default-2", *wider)

    def test_reasons_are_counted_alike(self):
        self.ok("run", "-n", 3, "-p", "k=int(1,3)", "--", "echo", "{k}")
        said = self.ok("create", "--from", "default", "--study", "b", "-p", "k=int(1,2)").stderr
        self.assertEqual(said, "2 trials carried over, 1 did not fit\n"
                         "  1 x k is not in int(1,2)\n")

    def test_nothing_is_there_yet(self):
        for command in ["best", "trials", "studies", "worker", "plot"]:
            self.refused(2, 'there is no file "cocabo.db": cocabo run makes it, --storage names '
                         "another", command)
        self.refused(2, 'there is no file "other.db"', "best", "--storage", "other.db")

    def test_a_written_file_is_named(self):
        self.ok("run", "-n", 1, *X, "--", "echo", "{x}")
        self.assertEqual(self.ok("export", "-o", "a.csv").stderr, "cocabo export: wrote a.csv\n")
        self.assertEqual(self.ok("export", "-o", "a.csv", "-q").stderr, "")
        self.assertEqual(self.ok("export", "--format", "csv", "-o", "-").stderr, "")
        self.assertEqual(self.ok("export", "--format", "csv", "-o", "/dev/stdout").stderr, "")

    def test_an_imported_study_keeps_its_options(self):
        self.ok("run", "-n", 4, *X, "--maximize", "--set", "deterministic=false", "--seed", 7,
                "--sampler", "tpe", "--", "echo", "{x}")
        self.ok("export", "-o", "a.json")
        self.ok("import", "a.json", "--study", "b")
        self.ok("import", "a.json", "--study", "c", "--sampler", "sobol", "--set", "seed=8")
        found = []
        for name in ["default", "b", "c"]:
            self.ok("export", "--study", name, "-o", name + ".json", "-q")
            found.append(json.loads((self.folder / (name + ".json")).read_text())["options"])
        self.assertEqual(found[1], found[0])
        self.assertEqual(found[2], {**found[0], "sampler": "sobol", "seed": "8"})

    def test_braces_without_quotes_are_a_map_in_yaml(self):
        (self.folder / "s.yaml").write_text("parameters: {x: 'float(0,1)'}\n"
                                            "command: [echo, {x}]\n")
        self.refused(2, "s.yaml, line 2: a word of command is a map, want text, in quotes where "
                     "it has braces: '{lr}'", "run", "-f", "s.yaml", "-n", 1)

    def test_a_program_that_does_not_listen(self):
        note = "note: all 10 values are 3, does the program use its parameters?\n"
        self.assertNotIn("note", self.ok("run", "-n", 9, *X, "--", "echo", "3").stderr)
        self.assertIn(note, self.ok("run", "-n", 10).stderr)
        self.assertNotIn("note", self.ok("run", "-n", 10, "-q").stderr)
        self.assertNotIn("values", self.ok("run", "-n", 11, "--", "echo", "4").stderr)

    def test_a_dropped_parameter_is_in_the_old_command(self):
        self.ok("run", "-n", 3, *X, "-p", "k=int(1,3)", "--", "printf", "%s\n%s\n", "{x}", "{k}")
        line = ["create", "--from", "default", "--study", "b", "--given", "k=2"]
        self.refused(2, 'the command of study "default" does not fit the new parameters, want '
                     "another one after --: unknown parameter {k} in \"{k}\" ({{k}} stands for "
                     "the text {k})", *line)
        self.ok(*line, "--", "echo", "{x}", "2")

    def test_a_name_without_its_flag(self):
        self.refused(2, 'unexpected argument "slice", want options only, --help shows them',
                     "plot", "slice")

    def test_the_options_fit_a_terminal(self):
        for line in self.ok("help", "options").stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)


if __name__ == "__main__":
    test_cocabo.COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
