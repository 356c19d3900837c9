#!/usr/bin/env python3
"""The Python package, installed from this checkout as docs/install.md says, into a fresh
virtual environment, and used from outside the tree.

    python3 tests/install/test_python.py FOLDER [unittest arguments]

FOLDER is for what is built; it is emptied at the start.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path()  # set by main
PAGE = (ROOT / "docs/install.md").read_text()
HEADER = (ROOT / "include/cocabo.h").read_text()
VERSION = ".".join(re.search(rf"COCABO_VERSION_{part} (\d+)", HEADER)[1]
                   for part in ("MAJOR", "MINOR", "PATCH"))
# The package must be the installed one, and its library its own.
HOME = {name: value for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "COCABO_LIBRARY", "VIRTUAL_ENV")}


def run(*command, folder=None):
    return subprocess.run([str(word) for word in command], cwd=folder or WORK, env=HOME,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page, re.S)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        text, = (text for text in blocks(PAGE, "sh") if "pip install ./python" in text)
        cls.environment = WORK / "tuning"
        done = run("bash", "-ec", text.replace("tuning", str(cls.environment)), folder=ROOT)
        assert done.returncode == 0, done.stdout
        cls.python = cls.environment / "bin/python"
        cls.packages = next(cls.environment.glob("lib/*/site-packages"))

    def works(self, *command):
        done = run(*command)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_it_imports_quickly_alone_and_keeps_a_study(self):
        said = self.works(self.python, "-I", ROOT / "tests/install/installed.py", VERSION)
        self.assertRegex(said, "imported in .*, a study in a file asked, told and replayed")

    def test_its_files_are_the_modules_and_one_library(self):
        record = next(self.packages.glob("cocabo-*.dist-info/RECORD")).read_text()
        files = {line.split(",")[0] for line in record.splitlines()}
        files = {name for name in files if "/__pycache__/" not in name
                 and ".dist-info/" not in name}
        modules = {f"cocabo/{path.relative_to(ROOT / 'python/cocabo')}"
                   for path in (ROOT / "python/cocabo").rglob("*.py")}
        self.assertGreater(len(modules), 5)
        self.assertEqual(files, modules | {"cocabo/py.typed", "cocabo/libcocabo.so"})

    def test_one_wheel_is_for_every_python(self):
        wheel = next(self.packages.glob("cocabo-*.dist-info/WHEEL")).read_text()
        self.assertRegex(wheel, r"(?m)^Tag: py3-none-\w+$")

    def test_the_library_shows_our_names_only_is_stripped_and_hardened(self):
        library = self.packages / "cocabo/libcocabo.so"
        table = self.works("nm", "-D", "--defined-only", library)
        names = [line.split()[-1] for line in table.splitlines()]
        self.assertGreater(len(names), 50)
        self.assertEqual([n for n in names if not re.match("cocabo_|COCABO_", n)], [])
        self.assertIn("no symbols", self.works("nm", library))
        self.assertIn("__stack_chk_fail", self.works("nm", "-D", "--undefined-only", library))
        self.assertRegex(self.works("readelf", "-d", library), r"\bNOW\b")

    def test_the_example_of_the_readme_runs(self):
        text, = blocks((ROOT / "python/README.md").read_text(), "python")
        said = self.works(self.python, "-I", "-c", text)
        self.assertRegex(said, r"^0\.\d+ \{'kernel': 'poly', ")

    def test_it_goes_without_a_trace(self):
        """In a copy of the environment's package: the other tests need theirs."""
        copy = WORK / "copy"
        shutil.copytree(self.environment, copy, symlinks=True)
        self.works(copy / "bin/python", "-m", "pip", "uninstall", "-y", "cocabo")
        self.assertEqual(list(copy.glob("lib/*/site-packages/cocabo*")), [])


class Refused(unittest.TestCase):
    """What cannot be built says so in a sentence; what a machine lacks is hidden from CMake."""

    def sentence(self, *settings):
        done = run("cmake", "-S", ROOT / "python", "-B", WORK / "refused", *settings, folder="/")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return " ".join(done.stdout.split())

    def test_no_sqlite(self):
        self.assertIn("there is no SQLite: install its headers (Debian's libsqlite3-dev)",
                      self.sentence("-DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON",
                                    "-DCOCABO_SQLITE_AMALGAMATION="))

    def test_a_folder_that_has_no_amalgamation(self):
        self.assertIn(f"COCABO_SQLITE_AMALGAMATION is {ROOT / 'include'}, where there is no "
                      "sqlite3.c", self.sentence(f"-DCOCABO_SQLITE_AMALGAMATION={ROOT}/include"))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: test_python.py FOLDER [unittest arguments]")
    WORK = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
