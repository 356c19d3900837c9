"""cocabo itself, by the program's ask and tell: every call is a process.

It is $COCABO, or build/cocabo. For the problems of cocabo-bench, `cocabo-bench run` is
the quicker way.
"""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from environments import ROOT
from space import Parameter, Point, Space


def _domain(p: Parameter) -> str:
    if p.choices:
        return f"{p.kind}({','.join(map(json.dumps, p.choices))})"
    words = [repr(p.low), repr(p.high)] + ["log"] * p.log
    words += [f"step={p.step!r}"] * (p.step > 0)
    return f"{p.kind}({','.join(words)})"


def _condition(p: Parameter) -> str:
    values = ", ".join(map(json.dumps, p.values))
    return f" if `{p.parent}` in ({values})" if p.parent else ""


class _Study:
    """The first ask makes the study and imports what was told before."""

    conditions = True

    def __init__(self, space: Space, seed: int, total: int) -> None:
        self._space, self._seed = space, seed
        self._program = os.environ.get("COCABO", str(ROOT / "build/cocabo"))
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="cocabo-peers-cocabo-"))
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self._known: list[dict] = []
        self._begun = False
        self._number = -1        # of the trial that was asked for

    def _run(self, *words: str) -> str:
        command = [self._program, *words, "--study", "peers", "-q", "--json", "--storage",
                   f"sqlite:///{self._folder}/peers.db"]
        done = subprocess.run(command, text=True, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def _begin(self) -> None:
        words = []
        for p in self._space:
            condition = _condition(p) if self.conditions else ""
            words += ["-p", f"{p.name}={_domain(p)}{condition}"]
        # Its own random points come on top of known ones, which are those of the run.
        design = ["--set", "n_init=0"] if self._known else []
        self._run("create", "--maximize", "--seed", str(self._seed), *design, *words)
        self._begun = True
        if self._known:
            path = self._folder / "known.jsonl"
            path.write_text("".join(json.dumps(trial) + "\n" for trial in self._known))
            self._run("import", str(path))

    def ask(self) -> Point:
        if not self._begun:
            self._begin()
        trial = json.loads(self._run("ask"))
        self._number = trial["number"]
        return trial["params"]

    def tell(self, point: Point, value: float | None) -> None:
        if self._begun:
            result = ["--fail", "no value"] if value is None else [repr(value)]
            self._run("tell", str(self._number), *result)
            return
        names = self._space.active(point) if self.conditions else list(self._space)
        params = {p.name: point[p.name] for p in names}
        self._known.append({"params": params, "state": "failed", "reason": "no value"}
                           if value is None else {"params": params, "value": value})


class Conditional(_Study):
    pass


class Flat(_Study):
    conditions = False
