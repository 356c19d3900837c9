"""The examples in which a pool of workers evaluates: futures, Dask, Ray."""

import importlib.util
import re
import subprocess
import sys

import pytest

from conftest import ROOT, SANITIZED

FOLDER = ROOT / "examples/python"


def run(script, n_trials, folder, library=None):
    if library and not importlib.util.find_spec(library):
        pytest.skip(f"{library} is not installed")
    if library and SANITIZED:
        pytest.skip("workers of others are no place for a sanitizer")
    line = [sys.executable, str(FOLDER / script), str(n_trials)]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"(\d+) complete, (\d+) failed\nbest (\S+) with .*'controller'", done.stdout)
    assert found, done.stdout + done.stderr
    complete, failed, best = map(float, found.groups())
    assert complete + failed == n_trials
    return best


def test_futures(tmp_path):
    assert run("futures.py", 40, tmp_path) < 2.2  # a random search is at 2.3


def test_dask(tmp_path):
    assert run("dask_cluster.py", 30, tmp_path, "distributed") < 2.3


@pytest.mark.ray
def test_ray(request, tmp_path):
    if importlib.util.find_spec("ray") and not SANITIZED:
        request.getfixturevalue("cluster")
    assert run("ray_tune.py", 8, tmp_path, "ray") < 20


def test_they_are_short():
    for script in FOLDER.glob("*.py"):
        assert len(script.read_text().splitlines()) <= 60, script
