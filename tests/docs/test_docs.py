#!/usr/bin/env python3
"""The documentation against the tree: programs, commands, tables, links and names.

    python3 tests/docs/test_docs.py BUILD_DIR [unittest arguments]
    python3 tests/docs/test_docs.py BUILD_DIR --write      renews the table of options

BUILD_DIR has libcocabo.so, cocabo-bench and cocabo.
"""

import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path()  # set by main
REFERENCE = ROOT / "docs/reference.md"
TUTORIALS = [ROOT / "docs/command-line.md", ROOT / "docs/storage.md"]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md",
         ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = ("bench", "cli", "cmake", "common", "docs", "examples", "http", "include", "python",
           "src", "tests", "tools")
TIMEOUT = 120  # seconds for a program; sanitizers are slow


# ---- pages ------------------------------------------------------------------------

def name(page):
    return str(page.relative_to(ROOT))


def blocks(page, language):
    """(line number, text) of every fenced block of a language."""
    found, start, lines = [], None, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if start is None:
            if line.startswith("```"):
                start, wanted, lines = number, line[3:].strip() == language, []
        elif line.startswith("```"):
            if wanted:
                found.append((start + 1, "\n".join(lines) + "\n"))
            start = None
        else:
            lines.append(line)
    return found


def prose(page):
    """The page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)


def quoted(page):
    """Everything in single backticks."""
    return re.findall(r"`([^`\n]+)`", prose(page))


# ---- programs ---------------------------------------------------------------------

@functools.lru_cache
def sanitizer():
    """A library with sanitizers needs a program that has them too."""
    cache = BUILD / "CMakeCache.txt"
    text = cache.read_text() if cache.exists() else ""
    found = re.search(r"^COCABO_SANITIZE:\w+=(.+)$", text, re.M)
    return [f"-fsanitize={found[1]}"] if found else []


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, **more)


def compile_and_run(source, folder):
    """Compiles C text against the public header and the shared library, and runs it."""
    program = os.path.join(folder, "program")
    path = pathlib.Path(program + ".c")
    path.write_text(source)
    built = run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", *sanitizer(), str(path),
                 f"-I{ROOT / 'include'}", f"-L{BUILD}", f"-Wl,-rpath,{BUILD}",
                 "-lcocabo", "-lm", "-o", program])
    return built if built.returncode else run([program], cwd=folder)


LIST_OPTIONS = """
#include <cocabo.h>
#include <stdio.h>
int main(void) {
  for (size_t i = 0; cocabo_option_name(i); i++)
    printf("%s\\t%s\\t%s\\t%s\\n", cocabo_option_name(i), cocabo_option_type(i),
           cocabo_option_default(i), cocabo_option_help(i));
  return 0;
}
"""


def option_table():
    """The table of options as the library describes them."""
    with tempfile.TemporaryDirectory() as folder:
        done = compile_and_run(LIST_OPTIONS, folder)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    rows = ["| option | type | default | |", "|---|---|---|---|"]
    for line in done.stdout.splitlines():
        option, kind, default, text = line.replace("|", "\\|").split("\t")
        rows.append(f"| `{option}` | {kind} | {default} | {text} |")
    return "\n".join(rows)


BETWEEN = re.compile(r"(<!-- options:[^>]*-->\n)(.*?)\n?(<!-- end of options -->)", re.S)


def write_options():
    table = option_table()
    text = BETWEEN.sub(lambda m: m[1] + table + "\n" + m[3], REFERENCE.read_text())
    REFERENCE.write_text(text)


# ---- names ------------------------------------------------------------------------

@functools.lru_cache
def tree():
    """All files of the tree that a page may name."""
    files = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return files


@functools.lru_cache
def words_of_the_code():
    package = ROOT / "python"
    text = "\n".join(path.read_text() for path in tree()
                     if path.suffix in (".c", ".h", ".cmake") or path.name == "CMakeLists.txt"
                     or (path.suffix == ".py" and package in path.parents))
    return set(re.findall(r"\w+", text)), set(re.findall(r"(\w+)\(", text))


def is_missing_path(text):
    """Looks like a file or folder of the tree, and is none."""
    if not re.fullmatch(r"[\w.*-]+(/[\w.*-]+)*/?", text):
        return False
    if text.split("/")[0] in FOLDERS and "/" in text:
        return not any(ROOT.glob(text.rstrip("/")))
    if "/" not in text and re.search(r"\.(c|h|py|md|txt|cff)$", text):
        return not any(path.match(text) for path in tree())
    return False


def is_missing_name(text):
    """Looks like a function, type or constant of ours, and is none."""
    words, called = words_of_the_code()
    if re.fullmatch(r"\w+\(\)", text):
        return text[:-2] not in called
    if re.fullmatch(r"(cb|cocabo|CB|COCABO|bench)_\w+", text):
        return text not in words
    return False


# ---- tests ------------------------------------------------------------------------

class Programs(unittest.TestCase):
    def test_c_programs_compile_and_run(self):
        count = 0
        for page in PAGES:
            for line, source in blocks(page, "c"):
                if "main(" not in source:
                    continue
                count += 1
                with self.subTest(f"{name(page)}:{line}"):
                    with tempfile.TemporaryDirectory() as folder:
                        done = compile_and_run(source, folder)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(count, 0)

    def test_bench_commands_run(self):
        """In the order of the page, in one folder, so that a table finds its results."""
        count = 0
        for page in PAGES:
            with tempfile.TemporaryDirectory() as folder:
                for line, text in blocks(page, "sh"):
                    for command in text.replace("\\\n", " ").splitlines():
                        if command.startswith("build/cocabo-bench"):
                            count += 1
                            with self.subTest(f"{name(page)}:{line}: {command}"):
                                self.check_command(command, folder)
        self.assertGreater(count, 0)

    def check_command(self, command, folder):
        words = [re.sub(r"^build/", f"{BUILD}/", word) for word in shlex.split(command)]
        done = run(words, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Tutorials(unittest.TestCase):
    """Pages whose every sh block runs as it stands, in the order of the page."""

    def test_their_commands_run(self):
        for page in TUTORIALS:
            with tempfile.TemporaryDirectory() as folder:
                self.check_page(page, folder)

    def check_page(self, page, folder):
        environment = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"}
        environment.pop("COCABO_STORAGE", None)
        before = ""  # what the reader's shell remembers of earlier blocks
        found = blocks(page, "sh")
        self.assertGreater(len(found), 1)
        for line, text in found:
            if "sqlite3 " in text and not shutil.which("sqlite3"):
                continue
            with self.subTest(f"{name(page)}:{line}"):
                done = run(["bash", "-e", "-c", before + text], cwd=folder,
                           env=environment, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            before += "".join(re.findall(r"(?m)^export .*\n", text))

    def test_every_command_is_shown(self):
        """The help knows all commands; the pages show each of them at work."""
        listed = run([BUILD / "cocabo", "--help"]).stdout.split("Commands:")[1]
        commands = re.findall(r"(?m)^  (\w+) ", listed.split("\n\n")[0])
        text = "".join(text for page in TUTORIALS for _, text in blocks(page, "sh"))
        self.assertGreater(len(commands), 10)
        self.assertEqual([c for c in commands if f"cocabo {c}" not in text], [])


class Tables(unittest.TestCase):
    maxDiff = None

    def test_options_are_those_of_the_library(self):
        written = BETWEEN.search(REFERENCE.read_text())
        self.assertIsNotNone(written, "docs/reference.md has lost its table of options")
        self.assertEqual(written[2].splitlines(), option_table().splitlines(),
                         "test_docs.py BUILD_DIR --write renews the table")

    def test_every_public_function_and_status_is_in_the_reference(self):
        header = (ROOT / "include/cocabo.h").read_text()
        header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
        declared = set(re.findall(r"COCABO_API[^;(]*?\b(cocabo_\w+)\s*\(", header))
        declared |= set(re.findall(r"\b(COCABO_(?:OK|E_\w+))\s*=", header))
        self.assertEqual(declared - set(quoted(REFERENCE)), set())

    def test_every_command_of_the_bench_is_in_the_reference(self):
        listed = run([BUILD / "cocabo-bench", "--help"]).stdout.split("Commands:")[1]
        commands = re.findall(r"(?m)^  (\w+) ", listed.split("\n\n")[0])
        rows = re.findall(r"(?m)^\| `(\w+)` \|", prose(REFERENCE).split("## cocabo-bench")[1])
        shown = "".join(text for _, text in blocks(REFERENCE, "sh"))
        self.assertGreater(len(commands), 9)
        self.assertEqual(sorted(rows), sorted(commands))
        self.assertEqual([c for c in commands if f"cocabo-bench {c}" not in shown], [])


class Names(unittest.TestCase):
    def test_relative_links_lead_somewhere(self):
        for page in PAGES:
            for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
                target = link.split("#")[0]
                if re.match(r"\w+:", link) or not target:
                    continue
                with self.subTest(f"{name(page)}: {link}"):
                    self.assertTrue((page.parent / target).exists(), f"no {target}")

    def test_paths_in_backticks_exist(self):
        for page in PAGES:
            with self.subTest(name(page)):
                self.assertEqual([t for t in quoted(page) if is_missing_path(t)], [])

    def test_names_in_backticks_are_in_the_code(self):
        for page in PAGES:
            with self.subTest(name(page)):
                self.assertEqual([t for t in quoted(page) if is_missing_name(t)], [])

    def test_no_page_mentions_paths_of_a_machine(self):
        path = re.compile(r"(?<![\w.:/<!-])/(?:bin|etc|farm|home|mnt|opt|root|srv|tmp|usr|var"
                          r"|work|Users)\b")
        for page in PAGES:
            for number, line in enumerate(page.read_text().splitlines(), 1):
                with self.subTest(f"{name(page)}:{number}"):
                    self.assertNotRegex(line, path)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: test_docs.py BUILD_DIR [--write | unittest arguments]")
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    if sys.argv[1:] == ["--write"]:
        write_options()
    else:
        unittest.main(verbosity=2)
