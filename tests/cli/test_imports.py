#!/usr/bin/env python3
"""What comes into a study from elsewhere, and what a damaged file is told from:
test_imports.py COCABO [names of tests]"""

import csv
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import test_cocabo

SPACE = ["-p", "x=float(0,1)", "-p", "c=choice(a,b)"]


class Case(test_cocabo.Case):
    def database(self):
        return sqlite3.connect(self.folder / "cocabo.db")

    def tamper(self, statement, *values):
        with self.database() as connection:
            changed = connection.execute(statement, values).rowcount
        connection.close()
        self.assertGreater(changed, 0, statement)


def table(*rows):
    return "x,c,value,state,reason\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


class Import(Case):
    def imported(self, text, *more, form="csv"):
        return self.said("import", "--format", form, self.write("in." + form, text), *more)

    def known(self, study="default"):
        return sorted((t["state"], t["value"], t.get("reason", ""), t["params"]["x"])
                      for t in self.lines("trials", "--study", study))

    def test_the_same_file_again_adds_nothing(self):
        text = table((0.5, "a", 1.5, "complete", ""), (0.25, "b", "", "failed", "no luck"),
                     (0.75, "a", 2.5, "complete", ""), (0.125, "b", "", "", ""))
        self.ok("create", *SPACE)
        self.assertIn("4 added, 0 already there, 0 did not fit\n", self.imported(text))
        before = self.lines("trials")
        self.assertEqual([t["state"] for t in before],
                         ["complete", "failed", "complete", "waiting"])
        self.assertEqual(before[1]["reason"], "no luck")
        self.assertIn("0 added, 4 already there, 0 did not fit\n", self.imported(text))
        self.assertEqual(self.lines("trials"), before)
        # The enqueued one is tried: it is still the row of the file.
        self.assertEqual(self.json("ask")["number"], 3)
        self.assertIn("0 added, 4 already there", self.imported(text))
        self.ok("tell", 3, 7)
        self.assertIn("0 added, 4 already there", self.imported(text))
        # So is the failed one after it was put back.
        self.ok("retry", 1)
        self.assertIn("0 added, 4 already there", self.imported(text))
        self.ok("verify", "--proposals", "all")

    def test_a_file_that_grew_adds_what_is_new(self):
        rows = [(0.5, "a", 1.5, "", ""), (0.5, "a", 1.5, "", ""), (0.5, "a", 1.25, "", "")]
        self.ok("create", *SPACE, "--set", "deterministic=false")
        self.assertIn("3 added, 0 already there", self.imported(table(*rows)))
        rows += [(0.5, "a", 1.5, "", ""), (0.5, "b", 1.5, "", ""),
                 (0.25, "a", "", "failed", "x"), (0.25, "a", "", "failed", "x")]
        self.assertIn("4 added, 3 already there", self.imported(table(*rows)))
        self.assertIn("0 added, 7 already there", self.imported(table(*reversed(rows))))
        self.assertEqual(len(self.lines("trials")), 7)

    def test_what_the_study_measured_itself_is_there_already(self):
        self.ok("create", *SPACE)
        for number in range(4):
            self.ok("ask")
            self.ok("tell", number, *(["--fail", "no"] if number == 2 else [number + 0.5]))
        text = self.ok("export", "--format", "csv")
        self.assertIn("0 added, 4 already there", self.imported(text))

    def test_rows_that_do_not_fit_are_named_and_passed_over(self):
        bad = [(f"{k}.5", "a", 1, "", "") for k in range(2, 10)]
        text = table((0.5, "a", 1.5, "", ""), *bad, (0.5, "z", 2, "", ""),
                     (0.25, "a", "much", "", ""), ("", "a", 2, "", ""),
                     (0.25, "b", 3.5, "", ""))
        self.ok("create", *SPACE)
        said = self.imported(text).splitlines()
        self.assertEqual(said[0], 'in.csv, line 3: parameter "x" is 2.5, want 0 to 1')
        self.assertEqual(said[5:], ["and 6 more", "2 added, 0 already there, 11 did not fit"])
        self.assertEqual([t["value"] for t in self.lines("trials")], [1.5, 3.5])
        self.assertEqual(self.json("import", "--format", "csv", "in.csv"),
                         {"added": 0, "complete": 0, "failed": 0, "enqueued": 0,
                          "already_there": 2, "did_not_fit": 11})
        entries = [{"params": {"x": 0.5, "c": "b"}, "value": 4},
                   {"params": {"x": 0.5, "c": "q"}, "value": 4}, {"params": {"x": 0.5}}]
        said = self.imported(json.dumps(entries), form="json").splitlines()
        self.assertEqual(said[1:], ['in.json, entry 3: parameter "c" is missing, want '
                                    'one value',
                                    "1 added, 0 already there, 2 did not fit"])
        self.assertIn("entry 2", said[0])

    def test_a_file_of_which_nothing_fits_is_refused(self):
        text = table((2, "a", 1, "", ""), (3, "a", 1, "", ""))
        self.write("in.csv", text)
        sentence = 'none of 2 rows fits: in.csv, line 2: parameter "x" is 2, want 0 to 1'
        self.refused(2, sentence, "import", "--format", "csv", "in.csv", *SPACE)
        self.assertFalse((self.folder / "cocabo.db").exists() and self.lines("studies"))

    def test_export_and_import_are_a_round_trip(self):
        self.ok("create", *SPACE, "--maximize")
        reason = 'exit status 1\nof "two", lines'
        for number in range(6):
            self.ok("ask")
            self.ok("tell", number, *(["--fail", reason] if number % 3 == 1 else [number / 7]))
        for form in ("csv", "json"):
            self.ok("export", "--format", form, "-o", f"all.{form}")
            self.ok("import", "--format", form, f"all.{form}", "--study", form, *SPACE,
                    "--maximize")
            self.assertEqual(self.known(form), self.known())
            self.assertEqual([t["state"] for t in self.lines("trials", "--study", form)],
                             [t["state"] for t in self.lines("trials")])
            self.ok("verify", "--study", form)

    def large(self, n=20000):
        return table(*((k / n, "ab"[k % 2], k % 977 / 7, "", "") for k in range(n - n // 10)),
                     *((k / n, "a", "", "failed", "no value") for k in range(n // 10)))

    def test_twenty_thousand_rows_take_seconds(self):
        self.write("large.csv", self.large())
        self.ok("create", *SPACE)
        began = time.monotonic()
        for added in (20000, 0):
            self.assertEqual(self.json("import", "--format", "csv", "large.csv")["added"],
                             added)
        self.assertLess(time.monotonic() - began, 60)  # one by one takes minutes when loaded

    def test_a_kill_leaves_all_or_nothing(self):
        """At moments spread over an import that is not killed."""
        self.write("large.csv", self.large())
        words = [test_cocabo.COCABO, "import", "--format", "csv", "large.csv", *SPACE]
        began = time.monotonic()
        subprocess.run([*words, "--study", "timed"], cwd=self.folder, check=True,
                       env=self.environment, capture_output=True, timeout=120)
        whole = time.monotonic() - began
        self.ok("create", *SPACE, "--study", "there")
        counts = set()
        for k in range(8):
            study = "there" if k % 2 else f"new{k}"
            child = subprocess.Popen([*words, "--study", study], cwd=self.folder,
                                     env=self.environment, stderr=subprocess.DEVNULL)
            try:
                child.wait(whole * (k + 1) / 9)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.wait()
            with self.database() as connection:
                count, = connection.execute(
                    "select count(*) from events e join studies s on s.id = e.study "
                    "where s.name = ? and e.kind = 9", (study,)).fetchone()
                made, = connection.execute("select count(*) from studies where name = ?",
                                           (study,)).fetchone()
            connection.close()
            self.assertIn(count, (0, 20000))
            self.assertTrue(count == 20000 or made == (study == "there"), study)
            counts.add(count)
        self.assertIn(0, counts)
        done = self.json("import", "--format", "csv", "large.csv", "--study", "there")
        self.assertEqual(done["added"] + done["already_there"], 20000)
        self.assertEqual(len(self.lines("trials", "--study", "there")), 20000)


class From(Case):
    def fill(self, n=12, *more):
        self.ok("create", "--study", "a", "-p", "x=float(0,1)", "-p", "k=int(1,8)", "-p",
                "c=choice(u,v,w)", "-n", "40", "--maximize", "--set", "n_init=7", *more, "--",
                "./program", "{x}")
        rows = [(k / n, k % 8 + 1, "uvw"[k % 3], "" if k % 5 == 4 else k * 1.25,
                 "failed" if k % 5 == 4 else "complete", "gone" if k % 5 == 4 else "")
                for k in range(n)]
        text = io.StringIO()
        csv.writer(text).writerows([("x", "k", "c", "value", "state", "reason"), *rows])
        self.ok("import", "--format", "csv", "-", "--study", "a", input=text.getvalue())
        self.ok("ask", "--study", "a")
        return rows

    def carried(self, study="b"):
        return [(t["params"], t["value"], t["state"], t.get("reason"))
                for t in self.lines("trials", "--study", study)]

    def test_everything_comes_along(self):
        self.fill()
        done = self.cocabo("create", "--from", "a", "--study", "b")
        self.assertEqual((done.returncode, done.stdout), (0, "b\n"), done.stderr)
        self.assertEqual(done.stderr, "12 trials carried over, 0 did not fit\n")
        old = [t for t in self.lines("trials", "--study", "a")][:12]
        self.assertEqual(self.carried(), [(t["params"], t["value"], t["state"],
                                           t.get("reason")) for t in old])
        exported = [json.loads(self.ok("export", "--format", "json", "--study", study))
                    for study in "ab"]
        for key in ("direction", "parameters", "options"):
            self.assertEqual(exported[1][key], exported[0][key])
        with self.database() as connection:
            bodies = [body for body, in connection.execute(
                "select body from events where kind = 2 order by study")]
        self.assertEqual(len([b for b in bodies if "./program" in b]), 2, bodies)
        self.ok("verify", "--study", "b")
        self.refused(2, 'study "b" exists already', "create", "--from", "a", "--study", "b")
        self.assertEqual(self.ok("create", "--from", "a"), "default\n")
        self.assertEqual(len(self.carried()), 12)

    def test_parameters_are_widened_and_narrowed(self):
        rows = self.fill()
        done = self.cocabo("create", "--from", "a", "--study", "b", "-p", "x=float(-3,0.5)",
                           "-p", "c=choice(w,u,new)", "-p", "k=float(0,10)", "-n", "9",
                           "--minimize")
        self.assertEqual(done.returncode, 0, done.stderr)
        fit = [row for row in rows if row[0] <= 0.5 and row[2] != "v"]
        self.assertEqual(done.stderr.splitlines(), [
            f"{len(fit)} trials carried over, {12 - len(fit)} did not fit",
            "  5 x x is not in float(-3,0.5)", "  2 x c is not in choice(w,u,new)"])
        self.assertEqual([params for params, *_ in self.carried()],
                         [{"x": x, "k": float(k), "c": c} for x, k, c, *_ in fit])
        exported = json.loads(self.ok("export", "--format", "json", "--study", "b"))
        self.assertEqual((exported["direction"], exported["options"]["trials"],
                          exported["options"]["n_init"]), ("minimize", "9", "7"))
        self.ok("ask", "--study", "b")

    def test_new_and_dropped_parameters_are_given(self):
        rows = self.fill()
        self.refused(2, 'parameter "m" is new: say with --given', "create", "--from", "a",
                     "--study", "b", "-p", "m=choice(on,off)")
        for sentence, given in [('--given is "x=1", but both', "x=1"),
                                ('--given is "y=1", but neither', "y=1"),
                                ('--given is "y", want NAME=VALUE', "y"),
                                ("--given m is of, want a value of choice(on,off)", "m=of"),
                                ("--given c is q, want a value of choice(u,v,w)", "c=q")]:
            self.refused(2, sentence, "create", "--from", "a", "--study", "b", "-p",
                         "m=choice(on,off)", "-p", "x=float(0,1)", "--given", given,
                         "--given", "m=on")
        done = self.json("create", "--from", "a", "--study", "b", "-p", "m=choice(on,off)",
                         "--given", "m=off", "--given", "c=u")
        fit = [row for row in rows if row[2] == "u"]
        self.assertEqual(done, {"name": "b", "created": True, "carried": len(fit),
                                "did_not_fit": 12 - len(fit)})
        self.assertEqual([params for params, *_ in self.carried()],
                         [{"x": x, "k": k, "m": "off"} for x, k, *_ in fit])
        self.refused(2, "--given is of no use without --from", "create", *SPACE, "--given",
                     "x=1")

    def test_from_another_file(self):
        self.fill()
        self.ok("create", "--from", "a", "--from-storage", "sqlite:///cocabo.db", "--storage",
                "sqlite:///other.db", "--study", "a")
        self.assertEqual(len(self.lines("trials", "--storage", "sqlite:///other.db",
                                        "--study", "a")), 12)
        self.refused(2, 'no study "q"', "create", "--from", "q", "--study", "r")

    def test_another_space_on_resume_names_the_way(self):
        self.fill()
        self.ok("create", "--study", "a-2", *SPACE)
        self.refused(2, '"cocabo create --from a --study a-3" with these flags carries over what fits', "run",
                     "--study", "a", "-p", "x=float(0,2)", "-n", "50", "--", "echo", "{x}")
        self.ok("create", "--from", "a", "--study", "a-3", "-p", "x=float(0,2)")
        self.assertEqual(len(self.carried("a-3")), 12)


class Later(Case):
    def test_an_option_of_a_later_version_is_named(self):
        for study in "abc":
            self.ok("create", "--study", study, *SPACE)
        with self.database() as connection:
            (seq, body), = connection.execute(
                "select seq, body from events where study = 2 and kind = 1").fetchall()
            created = json.loads(body)
            self.assertIn("version", created)
            created["version"] = "0.9.0"
            created["options"].append(["foo", "bar"])
            connection.execute("update events set body = ? where study = 2 and seq = ?",
                               (json.dumps(created), seq))
            connection.execute("delete from summaries")  # so that its log is read
        connection.close()
        sentence = ('study "b" uses the option "foo", which this version '
                    f'({created_by(self)}) does not know; it was written by 0.9.0')
        self.refused(1, sentence, "trials", "--study", "b")
        self.refused(1, sentence, "ask", "--study", "b")
        done = self.cocabo("studies", "--json")
        self.assertEqual([json.loads(line)["name"] for line in done.stdout.splitlines()],
                         ["a", "c"])
        self.assertIn(sentence, done.stderr)
        done = self.cocabo("studies")
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()[1:]], ["a", "c"])
        self.assertIn(sentence, done.stderr)

    def test_a_value_of_a_later_version_is_named(self):
        self.ok("create", *SPACE)
        self.tamper("update events set body = replace(body, '\"mixed\"', '\"turbo\"')")
        self.refused(1, 'study "default" has sampler=turbo, which this version', "best")


class Damage(Case):
    """What no study would have written is found by verify, in a copy of the same file."""

    def live(self):
        """Created 1; asked 0 to 3 by design 2-5; told 0 6, failed 1 7; asked 4 8 and 5 9;
        interrupted 2 10, resumed 11; imported 12."""
        self.ok("create", *SPACE, "-p", "k=int(1,99)", "--sampler", "random", "--set",
                "n_init=4")
        self.ok("ask", "-n", "4")
        self.ok("tell", 0, 0.5)
        self.ok("tell", 1, "--fail", "no luck")
        self.ok("ask", "-n", "2")
        with self.database() as connection:
            connection.execute(
                "insert into events (study, seq, id, time, kind, number, attempt, body) select "
                "study, 10, x'00112233445566778899aabbccddeeff', time, 6, 2, 0, "
                "'{\"attempt\":0}' from events where seq = 9")
        connection.close()
        self.assertEqual(self.json("ask")["number"], 2)
        self.ok("import", "--format", "csv", "-", input="x,c,k,value\n0.5,a,7,1.5\n")
        self.ok("verify", "--proposals", "all")
        shutil.copy(self.folder / "cocabo.db", self.folder / "fine.db")

    def check(self, sentence, *statement):
        shutil.copy(self.folder / "fine.db", self.folder / "cocabo.db")
        self.tamper(*statement)
        self.tamper("update events set checksum = null")  # which would tell
        done = self.cocabo("verify", "--proposals", "all")
        self.assertNotEqual(done.returncode, 0, (statement, done.stdout))
        self.assertIn(sentence, done.stderr, statement)

    def test_letters(self):
        self.live()
        for letters in ("irr", "rii ", "ri", "riii", "xyz", ""):
            self.check("letters", "update studies set letters = ?", letters)
            self.refused(1, "letters", "ask")

    def test_attempts(self):
        self.live()
        for seq in (2, 6, 12):
            self.check(f"event {seq} contradicts the log: it says what none of its kind says",
                       f"update events set attempt = 1 where seq = {seq}")
        self.check("event 7 of the log is damaged", "update events set attempt = 1 "
                   "where seq = 7")
        self.check("event 7 contradicts the log: there was no such attempt", "update events "
                   "set attempt = 1, body = replace(body, ':0', ':1') where seq = 7")
        self.check("event 11 contradicts the log: the attempt is not the next",
                   "update events set attempt = 2 where seq = 11")
        self.check("event 11 contradicts the log: the trial was not on offer",
                   "update events set number = 3 where seq = 11")
        self.check("event 10 contradicts the log: there was no such attempt",
                   "update events set kind = 7, attempt = -1, body = '{}' where seq = 10")

    def test_times(self):
        self.live()
        for value in (0, -5.5, float("inf"), -float("inf"), 1e300):
            self.check("event 6 contradicts the log: it has no time",
                       "update events set time = ? where seq = 6", value)
        shutil.copy(self.folder / "fine.db", self.folder / "cocabo.db")
        self.tamper("update events set time = time - 1e6 where seq > 7")  # a clock was set
        self.ok("verify", "--proposals", "all")

    def test_pending_lists(self):
        self.live()
        for seq, body in [(3, '{"pending":[0],'), (2, '{"pending":[2],'), (9, '{"pending":[2],'),
                          (12, '{"pending":[2],'), (6, '{"pending":[2],'),
                          (9, '{"fingerprint":"random 2",')]:
            self.check(f"event {seq} contradicts the log: it says what",
                       f"update events set body = ? || substr(body, 2) where seq = {seq}", body)
        self.check("event 8 contradicts the log: other trials were pending than it says",
                   "update events set body = replace(body, '[2,3]', '[3,2]') where seq = 8")


def created_by(case):
    return case.ok("--version").split()[-1]


class Steps(Case):
    STEP = ["-p", "x=float(0,1,step=0.1)", "-p", "y=float(0,1,step=0.3)"]

    def test_levels_are_the_decimals_that_one_writes(self):
        self.ok("run", *self.STEP, "-n", "44", "--sampler", "random", "-q", "--", "sh", "-c",
                "echo \"$COCABO_PARAMS {x} {y}\" >>seen; echo {x}")
        seen = (self.folder / "seen").read_text()
        self.assertNotIn("000000", seen)
        self.assertEqual({t["params"]["x"] for t in self.lines("trials")},
                         {k / 10 for k in range(11)})
        self.assertEqual({t["params"]["y"] for t in self.lines("trials")}, {0, 0.3, 0.6, 0.9})
        self.ok("verify", "--proposals", "all")

    def test_a_study_of_0_1_0_goes_on(self):
        """Its levels are sums: 0.30000000000000004, and 0.8999999999999999 at the end."""
        def old(value, step):
            return step * round(value / step)

        self.ok("create", *self.STEP, "--sampler", "random")
        self.ok("ask", "-n", "30")
        with self.database() as connection:
            for seq, body in connection.execute(
                    "select seq, body from events where kind = 3").fetchall():
                event = json.loads(body)
                x, y = event["cells"]
                event["cells"] = [old(x, 0.1), old(y, 0.3)]
                if "fingerprint" in event:
                    event["fingerprint"] = "random 1"
                connection.execute("update events set body = ? where seq = ?",
                                   (json.dumps(event), seq))
            connection.execute("update events set body = replace(body, '0.9', ?) "
                               "where kind = 1", (repr(old(0.9, 0.3)),))
            connection.execute("update events set checksum = null")  # it had none
        connection.close()
        self.assertIn(repr(3 * 0.1), self.ok("trials", "--json"))
        self.ok("verify", "--proposals", "all")
        self.ok("create", *self.STEP)  # the same space
        self.ok("ask", "-n", "14")     # the rest of 44 points: none comes twice
        points = {(round(t["params"]["x"], 3), round(t["params"]["y"], 3))
                  for t in self.lines("trials")}
        self.assertEqual(len(points), 44)
        self.refused(1, "44 are taken", "ask")
        self.ok("verify", "--proposals", "all")


if __name__ == "__main__":
    test_cocabo.COCABO = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
