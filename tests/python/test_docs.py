"""docs/python.md as a reader would type it: all blocks, in order, in one folder.

Python blocks share one namespace. One whose first line is ``# NAME.py`` is that file, and
is run by a Python of its own. Blocks marked sh go to the shell, with the program of the
build in its path. What needs a library that is not installed is passed over, and says so.
"""

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

PAGE = ROOT / "docs/python.md"
OPTIONAL = ("matplotlib", "optuna", "pandas", "polars", "ray", "sklearn", "xgboost")


def blocks():
    """(line number, language, text) of every block that is to be run."""
    found, start = [], None
    lines = PAGE.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if not line.startswith("```"):
            continue
        if start is None:
            start, language = number, line[3:].strip()
            continue
        if language in ("python", "sh"):
            found.append((start + 1, language, "\n".join(lines[start : number - 1]) + "\n"))
        start = None
    return found


def lacks(text):
    """The first library of a block's that is not there."""
    wanted = re.findall(r"(?m)^\s*(?:import|from) (?:cocabo\.)?(\w+)", text)
    wanted += ["matplotlib"] if "import plot" in text else []
    if "trials_dataframe" in text and importlib.util.find_spec("polars") is None:
        wanted.append("pandas")
    return next((w for w in wanted if w in OPTIONAL and not importlib.util.find_spec(w)), None)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Where the reader is: a folder, and what was defined so far."""
    folder, before = tmp_path_factory.mktemp("docs"), os.getcwd()
    os.chdir(folder)
    yield {"__name__": "docs"}
    if "ray" in sys.modules:
        sys.modules["ray"].shutdown()
    os.chdir(before)


def run_script(text, name):
    with open(name, "w") as file:
        file.write(text)
    return run([sys.executable, name])


def run(command):
    environment = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "MPLBACKEND": "Agg"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "line, language, text", blocks(), ids=lambda v: f"line{v}" if isinstance(v, int) else ""
)
def test_block(reader, line, language, text, monkeypatch):
    if text.startswith("pip install"):
        pytest.skip("the tests of the wheel install it")
    missing = lacks(text)
    if missing:
        pytest.skip(f"{missing} is not installed")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    if "from ray" in text:
        monkeypatch.setenv("HOME", os.getcwd())  # it leaves its results there
    name = re.match(r"# (\w+\.py)\n", text)
    if language == "sh":
        run(["bash", "-e", "-c", text])
    elif name:
        run_script(text, name[1])
    else:
        padded = "\n" * (line - 1) + text  # an error names the line of the page
        exec(compile(padded, str(PAGE), "exec"), reader)


def test_the_page_says_what_comes_out(tmp_path, monkeypatch):
    """What it promises of the process that crashes."""
    monkeypatch.chdir(tmp_path)
    script = next(text for _, _, text in blocks() if text.startswith("# parallel.py"))
    promise = re.search(r"reason\)  # (.*)", script)[1]
    assert run_script(script, "parallel.py") == f"{promise}\n19 complete\n"
