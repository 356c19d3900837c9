"""problem.py - a problem of the bench, evaluated by `cocabo-bench evaluate`."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from space import Point, Space


def _evaluate(bench: str, *args: str) -> str:
    done = subprocess.run([bench, "evaluate", *args], text=True, capture_output=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def check(bench: str, problem: str) -> None:
    """Is there such a problem, and its data? If not, RuntimeError has the sentence."""
    _evaluate(bench, problem)


def describe(bench: str, problem: str, seed: int, init: int,
             permute: bool = False) -> dict[str, Any]:
    return json.loads(_evaluate(bench, problem, "--describe", "--seed", str(seed),
                                "--init", str(init), *["--permute"] * permute))


class Problem:
    """One child process answers every evaluation of a run."""

    def __init__(self, bench: str, name: str, seed: int, init: int,
                 permute: bool = False) -> None:
        text = describe(bench, name, seed, init, permute)
        self.space = Space.read(text["parameters"])
        self.initial: list[Point] = text["initial"]
        self._child = subprocess.Popen([bench, "evaluate", name, "--seed", str(seed)],
                                       text=True, bufsize=1, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        assert self._child.stdin and self._child.stdout
        self._points, self._answers = self._child.stdin, self._child.stdout

    def evaluate(self, point: Point) -> float | None:
        """The value, maximised; None: the evaluation failed."""
        self._points.write(json.dumps(point) + "\n")
        line = self._answers.readline()
        if not line:
            raise RuntimeError("cocabo-bench evaluate ended without an answer")
        answer = json.loads(line)
        if "value" not in answer:
            raise RuntimeError(f"{answer['error']} (the point was {point})")
        return answer["value"]

    def close(self) -> None:
        self._points.close()
        self._answers.close()
        self._child.wait()
