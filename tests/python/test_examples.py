"""The programs of examples/python, as they stand."""

import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT


def run(name, folder):
    line = [sys.executable, ROOT / "examples/python" / name]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_quickstart_finds_goes_on_and_is_seen_by_the_program(tmp_path, program):
    said = run("quickstart.py", tmp_path)
    assert said.startswith("40 trials") and "kernel = rbf" in said
    assert float(re.search(r"best trial \d+: (\S+),", said)[1]) < 0.06
    assert run("quickstart.py", tmp_path).startswith("80 trials")
    line = [program, "best", "--storage", "quickstart.db"]
    best = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.search(r"kernel\s*=\s*rbf", best.stdout)


def test_sklearn_model(tmp_path):
    pytest.importorskip("sklearn")
    said = run("sklearn_model.py", tmp_path)
    assert float(re.match(r"accuracy (\S+):", said)[1]) > 0.86


def test_xgboost_model(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("xgboost")
    said = run("xgboost_model.py", tmp_path)
    accuracy, leaves = re.match(r"accuracy (\S+), (\d+) leaves", said).groups()
    assert float(accuracy) > 0.94 and int(leaves) <= 32


def test_every_example_is_in_the_table():
    table = (ROOT / "examples/README.md").read_text()
    for name in os.listdir(ROOT / "examples/python"):
        if name.endswith(".py"):
            assert f"`python/{name}`" in table
