#!/usr/bin/env python3
"""The golden log under this build: replayed from memory, and from a SQLite file by the program.

    tests/golden/test_golden_log.py GOLDEN_LOG COCABO
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

LOG = pathlib.Path(__file__).resolve().with_name("studies.jsonl")
PROGRAM, COCABO = sys.argv[1], sys.argv[2]
ADVICE = "raise the revision of what was meant to change, then write the log (CONTRIBUTING.md)"


def run(*command):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class GoldenLog(unittest.TestCase):
    def test_every_proposal_comes_out_the_same(self):
        done = run(PROGRAM, LOG)
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}{ADVICE}")

    def test_the_studies_lived_again_give_the_same_log(self):
        with tempfile.TemporaryDirectory() as folder:
            again = pathlib.Path(folder) / "again.jsonl"
            self.assertEqual(run(PROGRAM, "--write", again).returncode, 0)
            made, kept = again.read_text().splitlines(), LOG.read_text().splitlines()
        for a, b in zip(made, kept):
            self.assertEqual(a, b, ADVICE)
        self.assertEqual(len(made), len(kept), ADVICE)

    def test_a_moved_bit_is_found(self):
        lines = LOG.read_text().splitlines()
        at = next(i for i, line in enumerate(lines) if '"study":"mixed-numbers"' in line
                  and '"by":2' in line)
        event = json.loads(lines[at])
        event["body"]["cells"][0] += 2.0**-50
        lines[at] = json.dumps(event, separators=(",", ":"))
        with tempfile.TemporaryDirectory() as folder:
            moved = pathlib.Path(folder) / "moved.jsonl"
            moved.write_text("\n".join(lines) + "\n")
            done = run(PROGRAM, moved)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        number = event["number"]
        self.assertIn(f"mixed-numbers: trial {number} is the first that comes out differently",
                      done.stdout)

    def test_the_program_verifies_the_same_studies_in_a_file(self):
        studies = dict.fromkeys(json.loads(line)["study"] for line in LOG.read_text().splitlines())
        with tempfile.TemporaryDirectory() as folder:
            storage = f"sqlite:///{folder}/golden.db"
            done = run(PROGRAM, LOG, storage)
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in studies:
                done = run(COCABO, "verify", "--storage", storage, "--study", name,
                           "--proposals", "all", "--json")
                self.assertEqual(done.returncode, 0, f"{name}: {done.stdout}{done.stderr}")
                report = json.loads(done.stdout)
                self.assertEqual(report["differing"], 0, name)
                self.assertEqual(report["foreign"], 0, name)
                self.assertGreater(report["replayed"], 5, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
