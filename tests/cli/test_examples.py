#!/usr/bin/env python3
"""The programs of examples/ that are tuned, each through its own script.

    python3 tests/cli/test_examples.py PATH/TO/cocabo PATH/TO/beam [unittest arguments]
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
COCABO = BEAM = None


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cocabo-examples-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {**os.environ, "COCABO": COCABO, "BEAM": BEAM}
        self.environment.pop("COCABO_STORAGE", None)

    def run_it(self, *line):
        done = subprocess.run(list(map(str, line)), cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, text=True, capture_output=True,
                              timeout=300)
        self.assertEqual(done.returncode, 0, (line, done.stdout, done.stderr))
        return done.stdout

    def best(self, study):
        return json.loads(self.run_it(COCABO, "best", "--json", "--study", study))


class Examples(Case):
    def test_shell(self):
        self.run_it(EXAMPLES / "tune-shell/tune.sh", "-n", 40)
        best = self.best("shop")
        self.assertLess(best["value"], 14)
        self.assertIn(best["params"]["supplier"], ["near", "far", "fast"])

    def test_python(self):
        self.run_it(EXAMPLES / "tune-python/tune.sh", "-n", 16, "-j", 2, "--set", "n_init=6")
        self.assertLess(self.best("classifier")["value"], 0.4)
        by_hand = self.run_it(sys.executable, EXAMPLES / "tune-python/train.py", "--optimizer",
                              "adam", "--lr", "0.1", "--epochs", "3")
        self.assertLess(json.loads(by_hand)["value"], 0.5)

    def test_c(self):
        out = self.run_it(EXAMPLES / "tune-c/tune.sh", "-n", 40)
        self.assertIn("failed", out)  # many beams break, and say why
        self.assertLess(self.best("beam")["value"], 25)

    def test_instances(self):
        out = self.run_it(EXAMPLES / "instances/tune.sh", "--runs", 120, "-j", 2)
        self.assertIn("best trial", out)
        best = self.best("tour")
        self.assertLess(best["value"], 0.27)  # bad ones have 0.27 to 0.53
        self.assertEqual(best["params"]["move"], "reverse")
        self.assertGreater(len(best["runs"]), 8)
        trials = self.run_it(COCABO, "trials", "--json", "--study", "tour").splitlines()
        runs = [run for line in trials for run in json.loads(line)["runs"]]
        self.assertEqual(len(runs), 120)
        by_hand = self.run_it(EXAMPLES / "instances/tour.sh", 0.1, 0.95, "reverse", 1, "12:6")
        self.assertLess(float(by_hand), 0.5)

    def test_ask_and_tell(self):
        out = self.run_it(EXAMPLES / "ask-tell/loop.sh", 24)
        self.assertIn("value", out)
        self.assertLess(self.best("by-hand")["value"], 0.2)
        self.assertEqual(self.run_it(EXAMPLES / "ask-tell/loop.sh", 24), out)

    @unittest.skipUnless(shutil.which("xz"), "no xz")
    def test_xz(self):
        file = self.folder / "some file"
        file.write_bytes(b"".join(path.read_bytes() for path in sorted(EXAMPLES.rglob("*.*"))
                                  if path.is_file()) * 2)
        out = self.run_it(EXAMPLES / "tune-xz/tune.sh", file, "-n", 40, "-j", 2)
        self.assertIn("xz -9e makes", out)
        [study] = map(json.loads, self.run_it(COCABO, "studies", "--json").splitlines())
        trials = self.run_it(COCABO, "trials", "--json", "--study", study["name"])
        states = [json.loads(line)["state"] for line in trials.splitlines()]
        self.assertEqual(states, ["complete"] * 40)  # xz refuses lc + lp above 4


class Readme(Case):
    def blocks(self):
        """Shell blocks that use the program, as they stand."""
        text = (EXAMPLES.parent / "README.md").read_text()
        found = re.findall(r"(?ms)^```sh\n(.*?)^```$", text)
        return [block for block in found if block.startswith("cocabo ")]

    @unittest.skipUnless(shutil.which("xz"), "no xz")
    def test_its_commands(self):
        os.symlink(COCABO, self.folder / "cocabo")
        self.environment["PATH"] = f"{self.folder}:{self.environment['PATH']}"
        (self.folder / "FILE").write_bytes(pathlib.Path(__file__).read_bytes() * 3)
        blocks = self.blocks()
        self.assertGreater(len(blocks), 1)
        for block in blocks:
            self.run_it("bash", "-e", "-c", block.replace("-n 40", "-n 16"))
        self.assertTrue((self.folder / "trials.csv").exists())


if __name__ == "__main__":
    COCABO, BEAM = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
