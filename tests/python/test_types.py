"""The annotations of the package, by two checkers, as whoever types against it sees them."""

import subprocess
import sys

import pytest

from conftest import BUILD, ROOT, measures

PACKAGE = ROOT / "python/cocabo"


@measures  # the library plays no part
@pytest.mark.parametrize(
    "name, options",
    [
        ("mypy", ["--strict", f"--cache-dir={BUILD / 'mypy'}"]),
        ("pyright", ["--pythonpath", sys.executable]),  # else it takes the first in the path
    ],
)
def test_every_file_is_typed(name, options):
    pytest.importorskip(name)
    done = subprocess.run([sys.executable, "-m", name, *options, PACKAGE], cwd=ROOT / "python",
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@measures
def test_a_user_is_told_what_is_wrong(tmp_path):
    """The types are the package's own (py.typed), not Any."""
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    user.write_text("import cocabo\n"
                    "study = cocabo.create_study({'x': cocabo.Float(0, 1)})\n"
                    "trial: cocabo.Trial = study.ask()\n"
                    "trials: list[cocabo.Trial] = study.ask(3)\n"
                    "number: str = trial.number\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", user],
                          capture_output=True, text=True, cwd=tmp_path,
                          env={"MYPYPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"})
    assert done.stdout.count("error:") == 1, done.stdout
    assert 'variable has type "str"' in done.stdout
