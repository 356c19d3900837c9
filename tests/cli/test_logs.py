#!/usr/bin/env python3
"""What is noted and reported of trials, and what a damaged file is answered with.

    python3 tests/cli/test_logs.py PATH/TO/cocabo [unittest arguments]
"""

import csv
import io
import json
import os
import shutil
import sqlite3
import sys
import unittest

import test_cocabo
from test_cocabo import Case

SPACE = ["-p", "x=float(0,1)", "-p", "k=int(0,100000)"]


class Notes(Case):
    def setUp(self):
        super().setUp()
        self.ok("create", *SPACE, "--sampler", "random")
        self.ok("ask", "-n", "4")

    def kinds(self):
        connection = sqlite3.connect(self.folder / "cocabo.db")
        rows = connection.execute("select kind, number, time from events order by seq").fetchall()
        connection.close()
        return rows

    def test_a_result_and_its_attributes_are_one_append(self):
        before = len(self.kinds())
        self.ok("tell", 0, "3.25", "--attr", "host=a1", "--attr", "cmd=x=1 y")
        new = self.kinds()[before:]
        self.assertEqual([row[:2] for row in new], [(4, 0), (100, 0)])
        self.assertEqual(new[0][2], new[1][2])  # one moment
        trial = self.lines("trials")[0]
        self.assertEqual(trial["value"], 3.25)
        self.assertEqual(trial["attrs"], {"host": "a1", "cmd": "x=1 y"})
        self.assertNotIn("attrs", self.lines("trials")[1])
        self.assertNotIn("reports", trial)
        self.ok("tell", 1, "--fail", "oom", "--attr", "host=a2")
        self.ok("tell", 2, "--attr", "host=a3")  # nothing is told yet
        self.ok("tell", 2, "--attr", "host=a4")
        states = [(t["state"], t.get("attrs")) for t in self.lines("trials")]
        self.assertEqual(states, [("complete", {"host": "a1", "cmd": "x=1 y"}),
                                  ("failed", {"host": "a2"}), ("running", {"host": "a4"}),
                                  ("running", None)])
        self.assertEqual(self.json("tell", 3, 1, "--attr", "host=b")["attrs"], {"host": "b"})
        self.ok("verify")

    def test_values_on_the_way(self):
        for step, value in ((1, "0.5"), (3, "0.25"), (2, "1e-3"), (3, "0.125")):
            self.ok("tell", 0, value, "--step", step)
        trial = self.lines("trials")[0]
        self.assertEqual((trial["state"], trial["value"]), ("running", None))
        self.assertEqual(trial["reports"], [[1, 0.5], [2, 0.001], [3, 0.125]])
        self.ok("tell", 0, "7")
        self.assertEqual(self.lines("trials")[0]["value"], 7)
        self.ok("verify", "--proposals", "all")

    def test_what_is_refused(self):
        for sentence, args in (
                ("the value of step 3 is nan, want a finite number", ("nan", "--step", 3)),
                ("--step", ("1", "--step", "-1")),
                ("--step", ("1", "--step", "x")),
                ("--step goes with a value", ("--fail", "no", "--step", 1)),
                ("--step goes with a value", ("1", "--step", 1, "--attr", "a=b")),
                ("want NAME=VALUE", ("1", "--attr", "host")),
                ("want NAME=VALUE", ("1", "--attr", "=a1")),
                ('attribute "host" is given twice', ("1", "--attr", "host=1", "--attr", "host=2")),
                ("want NUMBER VALUE", ()),
                ("the value is", ("{}", "--step", 1))):
            self.refused(2, sentence, "tell", 0, *args)
        self.refused(2, "no trial 9", "tell", 9, "--attr", "a=b")
        self.assertEqual(len(self.kinds()), 5)

    def test_files_keep_them(self):
        self.ok("tell", 0, "3.25", "--attr", 'host=a "1", b')
        self.ok("tell", 1, "0.5", "--step", 2)
        self.ok("tell", 1, "0.25", "--step", 4)
        self.ok("tell", 1, "--fail", "no", "--attr", "gpu=0")
        self.ok("tell", 2, "1")
        table = self.ok("export", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(table)))
        self.assertEqual([row["attr.host"] for row in rows], ['a "1", b', "", "", ""])
        self.assertEqual([row["attr.gpu"] for row in rows], ["", "0", "", ""])
        self.assertEqual(json.loads(rows[1]["reports"]), [[2, 0.5], [4, 0.25]])
        self.assertIn("attr.host", self.ok("trials").splitlines()[0])
        want = [(t["value"], t.get("attrs"), t.get("reports")) for t in self.lines("trials")[:3]]
        self.write("a.csv", table)
        self.write("a.json", self.ok("export", "--format", "json"))
        for name in ("a.csv", "a.json"):
            self.ok("import", name, "--study", name, *SPACE)
            got = [(t["value"], t.get("attrs"), t.get("reports"))
                   for t in self.lines("trials", "--study", name)[:3]]
            self.assertEqual(got, want, name)
            self.assertIn("0 added", self.said("import", name, "--study", name))
        self.ok("create", "--from", "default", "--study", "carried")
        self.assertEqual([t.get("attrs") for t in self.lines("trials", "--study", "carried")],
                         [attrs for _, attrs, _ in want])
        journal = [json.loads(line) for line in
                   self.ok("export", "--format", "optuna-journal").splitlines()]
        self.assertEqual(journal[1]["user_attrs"]["host"], 'a "1", b')
        self.assertEqual(journal[2]["intermediate_values"], {"2": 0.5, "4": 0.25})

    def test_files_that_are_wrong_have_a_sentence(self):
        self.write("a.json", '{"params":{"x":0.5,"k":1},"value":1,"attrs":{"a":1}}')
        self.refused(2, 'attribute "a" is no text', "import", "a.json")
        for reports in ("3", "[3]", "[[1]]", '[["a",1]]', "[[-1,1]]", "[[1,null]]", "[[1,1,1]]"):
            self.write("a.json", '{"params":{"x":0.5,"k":1},"value":1,"reports":%s}' % reports)
            self.refused(2, "reports", "import", "a.json")
        self.write("a.csv", "x,k,value,reports\n0.5,1,2,[[1\n")
        self.refused(2, "reports", "import", "a.csv")
        self.write("a.csv", "x,k,value,attr.host,attr.host\n0.5,1,2,a,b\n")
        self.refused(2, "twice", "import", "a.csv")


class Kinds(Case):
    def test_events_of_a_later_version(self):
        self.ok("create", *SPACE, "--sampler", "random")
        self.ok("ask", "-n", "2")
        later = ("insert into events (study, seq, id, time, kind, number, attempt, body) "
                 "values (1, ?, randomblob(16), 1e9, ?, 0, 0, ?)")
        with sqlite3.connect(self.folder / "cocabo.db") as connection:
            connection.execute(later, (4, 150, '{"new": [1, 2]}'))
        connection.close()
        self.ok("tell", 0, 1)
        report = self.json("verify")
        self.assertEqual((report["passed_over"], report["unchecked"]), (1, 1))
        self.assertRegex(self.ok("verify"), r"later +1 events of kinds that only a later version knows")
        with sqlite3.connect(self.folder / "cocabo.db") as connection:
            connection.execute(later, (6, 14, '{"version": "0.7.1"}'))
        connection.close()
        self.refused(1, "event 6 of the log is of kind 14, which this version of cocabo",
                     "tell", 1, 1)
        self.refused(1, "it was written by 0.7.1", "best")


class Damage(Case):
    def setUp(self):
        super().setUp()
        self.ok("create", *SPACE, "--sampler", "random")
        self.ok("ask", "-n", "3")
        self.ok("tell", 1, "3.5")

    def sql(self, *lines):
        connection = sqlite3.connect(self.folder / "cocabo.db", isolation_level=None)
        for line in lines:
            connection.execute(line)
        connection.close()

    def test_a_body_that_was_changed(self):
        self.sql("update events set body = replace(body, '3.5', '3.6')")
        self.ok("trials")
        self.refused(1, "event 5 of the log, of trial 1, is damaged: it does not have the "
                     "checksum", "verify")

    def test_an_index_that_was_damaged(self):
        """It made every ask try a hundred times, as if others were faster."""
        name, where = "trial_by_number", "WHERE kind IN (3, 9)"
        self.sql("pragma writable_schema = on",
                 f"update sqlite_schema set sql = replace(sql, '{where}', 'WHERE kind = 77') "
                 f"where name = '{name}'")
        self.sql(f"reindex {name}", "pragma writable_schema = on",
                 f"update sqlite_schema set sql = replace(sql, 'WHERE kind = 77', '{where}') "
                 f"where name = '{name}'")
        self.refused(1, "is damaged: row 2 missing from index trial_by_number", "verify")
        self.refused(1, "it is damaged: an index contradicts its table", "ask")
        self.sql("reindex")
        self.ok("ask")
        self.ok("verify")


def fnv(text):
    """FNV-1a with 64 bits, written from its definition; SQLite keeps it with a sign."""
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value - 2**64 if value >= 2**63 else value


class Golden(Case):
    """tests/golden/0.2.0-notes.db, which make_noted.py wrote."""
    def setUp(self):
        super().setUp()
        here = os.path.dirname(os.path.abspath(__file__))
        shutil.copy(os.path.join(here, "..", "golden", "0.2.0-notes.db"),
                    self.folder / "cocabo.db")

    def test_it_reads_as_it_did(self):
        trials = self.lines("trials")
        self.assertEqual([t.get("attrs") for t in trials],
                         [{"host": "größe"} if i == 5 else
                          {"host": "moved" if i == 3 else f"a{i % 3}", "empty": ""}
                          for i in range(9)])
        self.assertEqual([t.get("reports") for t in trials],
                         [[[1, 0.125 + i], [4, 0.5 + i]] if i % 2 == 0 else None
                          for i in range(9)])

    def test_it_verifies_and_goes_on(self):
        for new in range(2):
            report = self.json("verify", "--proposals", "all")
            self.assertTrue(report["ok"])
            self.assertEqual((report["unchecked"], report["passed_over"]), (0, 1))
            self.assertEqual(report["replayed"] + report["foreign"], 9 + new)
            self.ok("ask")
            self.ok("tell", 9 + new, 0.5, "--attr", "host=b")

    def test_checksums_are_those_of_the_bodies(self):
        self.ok("ask")
        connection = sqlite3.connect(self.folder / "cocabo.db")
        rows = connection.execute("select seq, body, checksum from events").fetchall()
        connection.close()
        self.assertGreater(len(rows), 44)
        for seq, body, checksum in rows:
            self.assertEqual(fnv(body), checksum, seq)


if __name__ == "__main__":
    test_cocabo.COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
