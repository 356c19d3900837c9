"""Studies of an earlier version open, resume and verify for ever.

  check_studies.py build/cocabo tests/golden/0.1.0.db tests/golden/0.1.0.json

The JSON file says what is in each study of the file (made by make_study.py): trials by
state, the best of them, how many events and proposals there are, and a digest of all points,
states and values. It was written by the version that the file is of (`--write` at the end).
Everything happens to a copy of the file.
"""
import csv
import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

program, original, expected = (os.path.abspath(word) for word in sys.argv[1:4])
OFFERED = ("waiting", "interrupted", "stale")


def run(path, *words, status=0):
    done = subprocess.run([program, words[0], "--storage", "sqlite:///" + path, *words[1:]],
                          capture_output=True, text=True, timeout=60)
    if done.returncode != status:
        raise AssertionError("%s: %d\n%s%s" % (words, done.returncode, done.stdout, done.stderr))
    return done.stdout


def lines(path, *words):
    return [json.loads(line) for line in run(path, *words, "--json").splitlines()]


def check(path, study):
    return json.loads(run(path, "verify", "--study", study, "--proposals", "all", "--json"))


def describe(path, study):
    """What a reader sees of a study."""
    states = {}
    trials = lines(path, "trials", "--study", study)
    for trial in trials:
        states[trial["state"]] = states.get(trial["state"], 0) + 1
    best = json.loads(run(path, "best", "--study", study, "--json"))
    report = check(path, study)
    points = [[trial["number"], trial["state"], trial["value"], trial["params"]]
              for trial in trials]
    digest = hashlib.sha256(json.dumps(points, sort_keys=True).encode()).hexdigest()
    return {"states": states, "best": [best["number"], best["value"]],
            "events": report["events"], "proposals": report["replayed"] + report["foreign"],
            "points": digest}


def value(params):
    return sum(number for number in params.values() if isinstance(number, (int, float)))


class Studies(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "copy.db")
        shutil.copyfile(original, self.path)
        with open(expected, encoding="utf-8") as file:
            self.expected = json.load(file)

    def tearDown(self):
        self.folder.cleanup()

    def verify(self, study, new=0):
        """The old proposals may be foreign; of those made here every bit must come again."""
        report = check(self.path, study)
        self.assertTrue(report["ok"], study)
        self.assertEqual(report["differing"], 0, study)
        self.assertEqual(report["replayed"] + report["foreign"],
                         self.expected[study]["proposals"] + new, study)
        self.assertGreaterEqual(report["replayed"], new, study)

    def test_every_study_reads_as_it_did(self):
        names = [study["name"] for study in lines(self.path, "studies")]
        self.assertEqual(sorted(names), sorted(self.expected))
        for study in names:
            self.assertEqual(describe(self.path, study), self.expected[study], study)

    def test_what_has_no_checksum_stays_unchecked(self):
        """Also when the file has been brought up to date, and new events have one."""
        for study, was in self.expected.items():
            self.assertEqual(check(self.path, study)["unchecked"], was["events"], study)
        study = next(iter(self.expected))
        run(self.path, "ask", "--study", study)
        report = check(self.path, study)
        self.assertEqual(report["unchecked"], self.expected[study]["events"])
        self.assertGreater(report["events"], report["unchecked"])

    def test_looking_changes_no_byte(self):
        with open(self.path, "rb") as file:
            before = file.read()
        for study in self.expected:
            describe(self.path, study)
            run(self.path, "export", "--study", study, "--format", "csv")
            run(self.path, "plot", "--study", study, "--text")
        run(self.path, "studies")
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(os.listdir(self.folder.name), ["copy.db"])

    def test_exports_hold_every_trial(self):
        for study in self.expected:
            trials = lines(self.path, "trials", "--study", study)
            table = run(self.path, "export", "--study", study, "--format", "csv")
            rows = list(csv.DictReader(io.StringIO(table)))
            self.assertEqual([(int(row["number"]), row["state"]) for row in rows],
                             [(trial["number"], trial["state"]) for trial in trials])
            for row, trial in zip(rows, trials):
                self.assertEqual(float(row["value"]) if row["value"] else None, trial["value"])

    def test_every_study_goes_on(self):
        for study, was in self.expected.items():
            offered = {trial["number"] for trial in lines(self.path, "trials", "--study", study)
                       if trial["state"] in OFFERED}
            self.assertEqual(len(offered), sum(was["states"].get(s, 0) for s in OFFERED))
            total = sum(was["states"].values())
            left = 12 - total if study == "categories" else 7  # points of a small space
            batch = min(3, left)
            asked = lines(self.path, "ask", "--study", study, "-n", str(len(offered) + batch))
            numbers = [trial["number"] for trial in asked]
            # What nobody finished comes first.
            self.assertEqual(set(numbers[:len(offered)]), offered, study)
            self.assertEqual(numbers[len(offered):], list(range(total, total + batch)), study)
            for trial in reversed(asked):
                run(self.path, "tell", str(trial["number"]), repr(value(trial["params"])),
                    "--study", study)
            for _ in range(left - batch):  # by what is learnt from old and new results
                trial = lines(self.path, "ask", "--study", study)[0]
                run(self.path, "tell", str(trial["number"]), "0.5", "--study", study)
            self.verify(study, left)

    def test_a_run_finishes_what_was_left(self):
        space = ["-p", "x=float(-2,2)", "-p", "lr=float(1e-5,0.1,log)",
                 "-p", "step=float(0,1,step=0.25)", "-p", "depth=int(1,9)",
                 "-p", 'kind=choice(a,1,1.0,true,null,"1")',
                 "-p", "size=ordinal(small,medium,large)"]
        for trial in lines(self.path, "trials", "--study", "life"):
            if trial["state"] == "running":  # whoever has them is done with them
                run(self.path, "tell", str(trial["number"]), "0.75", "--study", "life")
        total = sum(self.expected["life"]["states"].values())
        run(self.path, "run", "--study", "life", *space, "-n", str(total + 2), "-q", "--",
            "echo", "{x}")
        trials = lines(self.path, "trials", "--study", "life")
        self.assertEqual(len(trials), total + 2)
        self.assertTrue(all(trial["state"] in ("complete", "failed") for trial in trials))
        self.verify("life", 2)

    def test_lost_trials_of_the_old_file_are_handed_out_again(self):
        """A lease of the old format that has run out."""
        running = [trial["number"] for trial in lines(self.path, "trials", "--study", "life")
                   if trial["state"] == "running"]
        base = sqlite3.connect(self.path)
        base.execute("INSERT OR REPLACE INTO leases (study, trial, owner, until) SELECT id, ?, "
                     "'gone', 1.0 FROM studies WHERE name = 'life'", (running[0],))
        base.commit()
        base.close()
        asked = lines(self.path, "ask", "--study", "life", "-n", "20")
        self.assertIn(running[0], [trial["number"] for trial in asked])
        self.assertFalse(set(running[1:]) & {trial["number"] for trial in asked})
        self.verify("life", 20 - 1 - sum(self.expected["life"]["states"].get(state, 0)
                                         for state in OFFERED))


if __name__ == "__main__":
    if sys.argv[4:] == ["--write"]:
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "copy.db")
            shutil.copyfile(original, copy)
            found = {study["name"]: describe(copy, study["name"])
                     for study in lines(copy, "studies")}
        with open(expected, "w", encoding="utf-8") as out:
            json.dump(found, out, indent=1, sort_keys=True)
            out.write("\n")
        sys.exit(0)
    unittest.main(argv=sys.argv[:1])
