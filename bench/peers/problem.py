"""problem.py - a problem, evaluated by a program: `cocabo-bench evaluate`, or one of
problems/ that speaks as it does."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from environments import HERE, python_of, sentence_if_missing
from space import Point, Space

PROGRAMS = {"cancer-models": ("base", "cancer_models.py"),  # environment, in problems/
            "diabetes-boosting": ("base", "diabetes_boosting.py")}


def _command(bench: str, problem: str) -> list[str]:
    if problem not in PROGRAMS:
        return [bench, "evaluate", problem]
    environment, name = PROGRAMS[problem]
    if sentence := sentence_if_missing(problem, environment):
        raise RuntimeError(sentence)
    return [python_of(environment), str(HERE / "problems" / name)]


def _evaluate(bench: str, problem: str, *args: str) -> str:
    done = subprocess.run([*_command(bench, problem), *args], text=True, capture_output=True,
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
        self._child = subprocess.Popen([*_command(bench, name), "--seed", str(seed)],
                                       text=True, bufsize=1, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        assert self._child.stdin and self._child.stdout
        self._points, self._answers = self._child.stdin, self._child.stdout

    def evaluate(self, point: Point) -> float | None:
        """The value, maximised; None: the evaluation failed."""
        self._points.write(json.dumps(point) + "\n")
        line = self._answers.readline()
        if not line:
            raise RuntimeError("the program that evaluates ended without an answer")
        answer = json.loads(line)
        if "value" not in answer:
            raise RuntimeError(f"{answer['error']} (the point was {point})")
        return answer["value"]

    def close(self) -> None:
        self._points.close()
        self._answers.close()
        self._child.wait()
