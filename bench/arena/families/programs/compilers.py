"""gcc, by the bytes of code and constants that it makes of inputs/workload.c.in."""

from __future__ import annotations

import pathlib
import subprocess
import tempfile

from .. import Point, Problem, choice, ordinal, switch, whole

# Not named .c: it is data, which no tool for our own sources shall look at.
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "inputs/workload.c.in"
FLAGS = ("crossjumping", "cse-follow-jumps", "gcse", "if-conversion", "ipa-cp", "ipa-icf",
         "ivopts", "jump-tables", "merge-constants", "omit-frame-pointer", "optimize-strlen",
         "schedule-insns2", "tree-pre", "tree-vectorize", "asynchronous-unwind-tables")


def options(point: Point) -> list[str]:
    words = [f"-{point['level']}", f"-falign-functions={point['align']}"]
    words += [f"-f{'' if point[flag] else 'no-'}{flag}" for flag in FLAGS]
    words += [f"-f{'' if point['inline'] else 'no-'}inline-functions"]
    if point["inline"]:
        words += ["--param", f"max-inline-insns-auto={point['inline_size']}",
                  "--param", f"inline-min-speedup={point['inline_speedup']}"]
    if point["unroll"]:
        words += ["-funroll-loops", "--param", f"max-unroll-times={point['unroll_times']}"]
    return words


def gcc_size() -> Problem:
    def size(point: Point) -> float:
        with tempfile.TemporaryDirectory(prefix="cocabo-arena-") as folder:
            made = f"{folder}/workload.o"
            subprocess.run(["gcc", "-c", "-w", *options(point), "-o", made, "-x", "c",
                            str(SOURCE)], check=True, capture_output=True, text=True)
            said = subprocess.run(["size", made], check=True, capture_output=True, text=True)
        return int(said.stdout.splitlines()[1].split()[0])

    return Problem({
        "level": choice("O1", "O2", "O3", "Os", "Ofast"),
        "align": ordinal(1, 2, 4, 8, 16, 32, 64), "inline": switch(),
        "inline_size": whole(1, 200, log=True, inline=True),
        "inline_speedup": whole(1, 100, inline=True), "unroll": switch(),
        "unroll_times": whole(1, 16, unroll=True), **{flag: switch() for flag in FLAGS}}, size)


MAKERS = {"gcc-size": gcc_size}
