#!/usr/bin/env python3
"""The ways of docs/install.md: cocabo is built and installed as its blocks say, and a
program outside the tree compiled, linked and run in each of its ways.

    python3 tests/install/test_install.py FOLDER [unittest arguments]

FOLDER is for what is built; it is emptied at the start.
"""

import csv
import json
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
VERSION = [re.search(rf"COCABO_VERSION_{part} (\d+)", HEADER)[1]
           for part in ("MAJOR", "MINOR", "PATCH")]
SERIES = ".".join(VERSION[:2])


def block(language, *words):
    """The one block of the page in this language that has all these words."""
    found = [text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
             if all(word in text for word in words)]
    assert len(found) == 1, (language, words, found)
    return found[0]


def run(command, folder=None, **environment):
    done = subprocess.run(command, cwd=folder, text=True, env={**os.environ, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def shell(text, folder, **environment):
    """A block in a shell that stops at the first error; two jobs, to be quick."""
    return run(["bash", "-ec", text], folder, CMAKE_BUILD_PARALLEL_LEVEL="2", **environment)


def at_home(text):
    """Folders of the page, moved below WORK."""
    return text.replace("build-install", str(WORK / "plain"))


def needed(path):
    """What a program or library links, without version numbers."""
    return {re.sub(r"\.so.*", "", name) for name in
            re.findall(r"NEEDED.*\[(.*)\]", run(["readelf", "-d", str(path)]))}


def loaded(path, **environment):
    """What the loader brings in for it, all levels."""
    names = re.findall(r"(?m)^\s*(\S+)", run(["ldd", str(path)], **environment))
    return {re.sub(r"\.so.*", "", os.path.basename(name)) for name in names
            if not re.search("linux-vdso|ld-linux|ld-musl", name)}


class Installed(unittest.TestCase):
    """Things about a copy installed by plain CMake into a prefix, which was then moved."""

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        (WORK / "home").mkdir(parents=True)
        home = {"HOME": str(WORK / "home")}
        cls.said = shell(at_home(block("sh", "cmake -S . -B")), ROOT, **home)
        cls.prefix = WORK / "moved"
        (WORK / "home/.local").rename(cls.prefix)
        cls.lib = next(cls.prefix.glob("lib/**/libcocabo.so")).parent
        cls.paths = {"PKG_CONFIG_PATH": str(cls.lib / "pkgconfig"),
                     "LD_LIBRARY_PATH": str(cls.lib)}

    def folder(self):
        """A folder of the test's own, with the program in it."""
        folder = WORK / self.id().split(".")[-1]
        folder.mkdir()
        shutil.copy(ROOT / "tests/install/program.c", folder)
        return folder

    def runs(self, program, sqlite=True, **environment):
        said = run([str(program), str(program) + ".db", "yes" if sqlite else "no"],
                   **environment)
        self.assertEqual(said, "well\n")

    def test_configuring_says_what_is_built_and_what_not(self):
        lines = re.findall(r"(?m)^-- cocabo: (.*)$", self.said)
        self.assertRegex(lines[0], "^library: libcocabo, shared and static, .*SQLite")
        self.assertRegex(lines[1], "^PostgreSQL: (studies in|not built, there is no libpq-dev)")
        self.assertRegex(lines[2], "^cocabo: (built|not built, there is no lib)")
        if lines[2] == "cocabo: built":
            self.assertRegex(lines.pop(3), "^cocabo serve: (built|not built, there is no lib)")
        self.assertEqual(lines[3], "cocabo-bench: not built, COCABO_BENCH is OFF")
        self.assertNotIn("warning:", self.said)
        cache = (WORK / "plain/CMakeCache.txt").read_text()
        for option in ("TESTS", "BENCH", "EXAMPLES", "WERROR"):
            self.assertIn(f"COCABO_{option}:BOOL=OFF", cache)

    def test_the_files_are_in_their_places(self):
        files = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*")}
        library = self.lib.relative_to(self.prefix)
        wanted = {"include/cocabo.h", "include/cocabo_store.h", f"{library}/libcocabo.a",
                  f"{library}/libcocabo.so.{SERIES}", f"{library}/cmake/cocabo"}
        if "cocabo: cocabo: built" in self.said:
            share = {"man/man1/cocabo.1", "man/man1/cocabo-run.1",
                     "bash-completion/completions/cocabo", "zsh/site-functions/_cocabo",
                     "fish/vendor_completions.d/cocabo.fish"}
            wanted |= {"bin/cocabo"} | {f"share/{name}" for name in share}
            self.assertEqual(run([str(self.prefix / "bin/cocabo"), "--version"]),
                             f"cocabo {'.'.join(VERSION)}\n")
        self.assertEqual(wanted - files, set())
        self.assertEqual([name for name in files if "test" in name or "bench" in name], [])

    def test_the_library_has_its_soname_and_brings_in_nothing_else(self):
        library = self.lib / "libcocabo.so"
        self.assertIn(f"soname: [libcocabo.so.{SERIES}]", run(["readelf", "-d", str(library)]))
        self.assertEqual(loaded(library), {"libc", "libm", "libsqlite3"})

    def test_pkg_config(self):
        folder = self.folder()
        shell(block("sh", "pkg-config --cflags"), folder, **self.paths)
        self.runs(folder / "program", **self.paths)
        self.assertEqual(needed(folder / "program") - {"libc"}, {"libcocabo"})
        self.assertEqual(loaded(folder / "program", **self.paths),
                         {"libcocabo", "libc", "libm", "libsqlite3"})
        said = run(["pkg-config", "--modversion", "cocabo"], **self.paths)
        self.assertEqual(said.strip(), ".".join(VERSION))

    def test_pkg_config_static(self):
        folder = self.folder()
        shell(block("sh", "pkg-config --static"), folder, **self.paths)
        self.assertEqual(needed(folder / "program"), set())
        self.runs(folder / "program")

    def test_what_the_readme_says_can_be_pasted(self):
        """Its Install section, but for the packages and the moved prefix, then the rest."""
        page = (ROOT / "README.md").read_text()
        install, example, after = re.findall(r"```sh\n(.*?)```", page, re.S)[:3]
        packages, make, path = install.splitlines()
        self.assertRegex(packages, "^sudo apt-get install ")
        self.assertEqual(make, block("sh", "make install").splitlines()[0])
        folder = self.folder()
        home = folder / "home"
        home.mkdir()
        (home / ".local").symlink_to(self.prefix)
        said = run(["env", "-i", f"HOME={home}", "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8",
                    "bash", "-ec", "\n".join((path, example, after))], folder)
        self.assertRegex(said, r"(?m)^best trial \d+: \d{5,}$")
        self.assertRegex(said, r"(?m)^40 trials: ")
        with open(folder / "trials.csv", newline="") as exported:
            self.assertEqual(len(list(csv.reader(exported))), 1 + 40)

    # ---- CMake --------------------------------------------------------------------

    def project(self, text, *options):
        """The program by a CMakeLists.txt with this text; the build folder."""
        folder = self.folder()
        head = ("cmake_minimum_required(VERSION 3.22)\nproject(user LANGUAGES C)\n"
                "set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\nadd_executable(program program.c)\n")
        (folder / "CMakeLists.txt").write_text(head + text)
        (folder / "cocabo").symlink_to(ROOT)
        said = shell(f"cmake -S . -B build {' '.join(options)}\ncmake --build build", folder)
        self.assertNotIn("warning:", said)
        return folder / "build"

    def found(self, *words):
        return self.project(block("cmake", "find_package", *words),
                            f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_find_package(self):
        build = self.found("cocabo::cocabo)")
        self.runs(build / "program")
        self.assertEqual(loaded(build / "program"),
                         {"libcocabo", "libc", "libm", "libsqlite3"})

    def test_find_package_static(self):
        build = self.found("cocabo::cocabo_static)")
        self.runs(build / "program")
        self.assertEqual(loaded(build / "program"), {"libc", "libm", "libsqlite3"})

    def test_find_package_refuses_another_minor_version(self):
        for version in (f"{VERSION[0]}.{int(VERSION[1]) - 1}",
                        f"{VERSION[0]}.{int(VERSION[1]) + 1}", "1.0"):
            with self.subTest(version), self.assertRaisesRegex(AssertionError, "not find"):
                try:
                    self.project(f"find_package(cocabo {version} REQUIRED)",
                                 f"-DCMAKE_PREFIX_PATH={self.prefix}")
                finally:
                    shutil.rmtree(WORK / self.id().split(".")[-1])

    def check_the_parent_is_left_alone(self, build):
        commands = json.loads((build / "compile_commands.json").read_text())
        own, = (c["command"] for c in commands if c["file"].endswith("/program.c"))
        flags = set(own.split()) - set(re.findall(r"\S*include\S*", own))
        self.assertEqual({f for f in flags if re.match("-[DfWO]", f)}, set(), own)
        self.assertRegex((build / "CMakeCache.txt").read_text(),
                         r"(?m)^CMAKE_BUILD_TYPE:STRING=$")
        made = {path.name for path in build.rglob("*") if path.is_file()
                and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"
                and not path.suffix == ".o" and "CMakeFiles" not in path.parts}
        self.assertEqual(made, {"program", f"libcocabo.so.{'.'.join(VERSION)}"})
        self.assertEqual(list(build.rglob("libcocabo.a")), [])

    def test_add_subdirectory(self):
        build = self.project(block("cmake", "add_subdirectory"))
        self.runs(build / "program")
        self.check_the_parent_is_left_alone(build)

    def test_fetch_content_without_sqlite(self):
        build = self.project(block("cmake", "FetchContent"))
        self.runs(build / "program", sqlite=False)
        self.check_the_parent_is_left_alone(build)
        self.assertEqual(loaded(next(build.rglob("libcocabo.so"))), {"libc", "libm"})

    # ---- make ---------------------------------------------------------------------

    def test_make_install_and_uninstall(self):
        """Below DESTDIR; uninstalling leaves no file, and a second time says so."""
        image = WORK / "image"
        install, uninstall = block("sh", "make install").splitlines()
        more = {"HOME": "/home/somebody", "DESTDIR": str(image)}
        build = f" INSTALL_BUILD={WORK / 'plain'}"
        shell(install + build, ROOT, **more)
        files = [path for path in image.rglob("*") if not path.is_dir()]
        self.assertTrue((image / "home/somebody/.local/include/cocabo.h").is_file())
        self.assertGreater(len(files), 10)
        shell(uninstall + build, ROOT, **more)
        self.assertEqual([path for path in image.rglob("*") if not path.is_dir()], [])
        self.assertEqual(list(image.rglob("cmake/cocabo")), [])
        with self.assertRaisesRegex(AssertionError, "nothing to uninstall"):
            shell(uninstall + build, ROOT, **more)


class Version(unittest.TestCase):
    def test_the_citation_says_the_headers_version(self):
        self.assertIn(f"\nversion: {'.'.join(VERSION)}\n", (ROOT / "CITATION.cff").read_text())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: test_install.py FOLDER [unittest arguments]")
    WORK = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
