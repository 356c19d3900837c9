"""docs/python.md as a reader would type it: all blocks, in order, in one folder.

Python blocks share one namespace. One whose first line is ``# NAME.py`` is that file, and
is run by a Python of its own. Blocks marked sh go to the shell, with the program of the
build in its path. What needs a library that is not installed is passed over, and says so.
Of README.md it is the Python blocks; tests/docs has the others.
"""

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

PAGES = {"docs/python.md": ("python", "sh"), "README.md": ("python",)}
OPTIONAL = ("matplotlib", "optuna", "pandas", "polars", "ray", "sklearn", "xgboost")


def blocks(page):
    """(line number, language, text) of every block of a page that is to be run."""
    found, start = [], None
    lines = (ROOT / page).read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if not line.startswith("```"):
            continue
        if start is None:
            start, language = number, line[3:].strip()
            continue
        if language in PAGES[page]:
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


ALL = [(page, *block) for page in PAGES for block in blocks(page)]


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """Where the reader of a page is: a folder, and what was defined so far."""
    return {page: (tmp_path_factory.mktemp("docs"), {"__name__": "docs"}) for page in PAGES}


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
    "page, line, language, text", ALL, ids=[f"{page}:{line}" for page, line, *_ in ALL]
)
def test_block(readers, page, line, language, text, monkeypatch, request):
    if text.startswith("pip install"):
        pytest.skip("the tests of the wheel install it")
    missing = lacks(text)
    if missing:
        pytest.skip(f"{missing} is not installed")
    folder, names = readers[page]
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    if "from ray" in text:
        request.getfixturevalue("cluster")
        monkeypatch.setenv("HOME", str(folder))  # it leaves its results there
    script = re.match(r"# (\w+\.py)\n", text)
    if language == "sh":
        run(["bash", "-e", "-c", text])
    elif script:
        run_script(text, script[1])
    else:
        padded = "\n" * (line - 1) + text  # an error names the line of the page
        exec(compile(padded, str(ROOT / page), "exec"), names)


def test_the_page_says_what_comes_out(tmp_path, monkeypatch):
    """What it promises of the process that crashes."""
    monkeypatch.chdir(tmp_path)
    script = next(text for _, _, text in blocks("docs/python.md") if text.startswith("# parallel.py"))
    promise = re.search(r"reason\)  # (.*)", script)[1]
    assert run_script(script, "parallel.py") == f"{promise}\n19 complete\n"
