#!/usr/bin/env python3
"""The golden log replayed by a library that another compiler built, or for another machine.

    tests/cross/test_cross.py TARGET [LOG]     TARGET is a key of TARGETS below

Builds libcocabo without SQLite and tests/golden/golden_log.c from the sources, as a user on
such a machine would, and lives the studies of tests/golden/studies.jsonl once more, with all
that is learnt on the way: the log must come out the same to the byte. Then it has every proposal
of the log made again: none may differ, to the bit. The second is left out on an emulated
processor, unless the first went wrong, to say where: it computes what the first has computed.
Exits with 77 (skipped) where the compiler is not installed.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "studies.jsonl"
# What to compile with, what to link with, what to run with.
TARGETS = {
    "gcc-O3": (["gcc", "-O3"], [], []),
    "gcc-O1": (["gcc", "-O1"], [], []),
    "clang": (["clang", "-O2"], [], []),
    "zig": (["zig-cc", "-O3"], [], []),  # that of tools/wheel, for an old glibc
    "musl": (["musl-gcc", "-O1"], ["-static"], []),
    "aarch64": (["aarch64-linux-gnu-gcc", "-O2"], ["-static"], ["qemu-aarch64"]),
}
FLAGS = ["-std=c17", "-D_POSIX_C_SOURCE=200809L", "-ffp-contract=off", "-pthread",
         f"-I{ROOT}/include", f"-I{ROOT}/src"]
# The files of the stores in SQLite and PostgreSQL, as CMake leaves them out.
WITHOUT = {f"{name}.c" for names in re.findall(
    r"EXCLUDE REGEX \"/store/\(([\w|]+)\)", (ROOT / "CMakeLists.txt").read_text())
    for name in names.split("|")}


def call(command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def build(compiler, link, folder):
    """The objects, each by itself so that the processors share the work; then the program."""
    sources = [path for path in sorted((ROOT / "src").rglob("*.c")) if path.name not in WITHOUT]
    sources.append(ROOT / "tests" / "golden" / "golden_log.c")

    def compiled(source):
        target = folder / f"{source.parent.name}-{source.stem}.o"
        call([*compiler, *FLAGS, "-c", source, "-o", target])
        return target

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, sources))
    program = folder / "golden_log"
    call([*compiler, *link, "-pthread", *objects, "-lm", "-o", program])
    return program


def main():
    compiler, link, runner = TARGETS[sys.argv[1]]
    log = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else GOLDEN
    for needed in (compiler[0], *runner):
        if not shutil.which(needed):
            print(f"skipped: there is no {needed} here; `tools/setup test` installs it")
            return 77
    with tempfile.TemporaryDirectory() as folder:
        program = build(compiler, link, pathlib.Path(folder))
        again = pathlib.Path(folder) / "again.jsonl"
        call([*runner, program, "--write", again])
        made, kept = again.read_text().splitlines(), log.read_text().splitlines()
        same = made == kept
        if not same:
            line = next((a for a, b in zip(made, kept) if a != b), "its end")
            print(f"the studies lived again differ from {log.name}, first at {line[:300]}")
        if not (runner and same):
            done = subprocess.run([*runner, program, log], text=True, stdout=subprocess.PIPE)
            print(done.stdout, end="")
            same = same and done.returncode == 0
    print(f"{sys.argv[1]}: {'the same bits' if same else 'not the same bits'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
