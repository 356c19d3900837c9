"""results.py - the file of results, as `cocabo-bench run` writes it (bench/csv.h).

One row an evaluation; a run is the rows that share problem, method, batch and seed.
Runs are appended whole and at one stroke, so a process that is killed leaves at most an
unfinished run at the end, which the next one cuts off.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass

HEADER = "problem,method,batch,seed,iteration,evaluation,value,best,ask_seconds\n"


class Refused(Exception):
    """A sentence for the user."""


@dataclass(frozen=True)
class Run:
    problem: str
    method: str
    seed: int
    init: int
    iterations: int

    @property
    def key(self) -> str:
        return f"{self.problem},{self.method},1,{self.seed}"

    @property
    def rows(self) -> int:
        return self.init + self.iterations

    def __str__(self) -> str:
        return f"{self.problem} with {self.method} from seed {self.seed}"


@dataclass(frozen=True)
class Row:
    iteration: int
    evaluation: int
    value: float                 # nan: the evaluation failed
    best: float                  # -inf: all did
    ask_seconds: float

    def text(self, key: str) -> str:
        return (f"{key},{self.iteration},{self.evaluation},{self.value:.17g},"
                f"{self.best:.17g},{self.ask_seconds:.6g}\n")


@dataclass
class Found:
    """A run of the file: how many rows, how many of them initial, and where it lies."""
    start: int
    end: int = 0
    rows: int = 0
    init: int = 0

    def is_beginning_of(self, run: Run) -> bool:
        return self.rows < run.rows and self.init == min(self.rows, run.init)


class Results:
    """The open, locked file. What it had when it was opened is in `found`, by key."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC,
                               0o666)
        except OSError as error:
            raise Refused(f"cannot write {path}: {error.strerror}") from None
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused(f"another process is writing {path}") from None
        self._text = self._read()
        self._check_header()
        self.found = self._parse()

    def close(self) -> None:
        os.close(self._fd)

    def _read(self) -> bytes:
        size = os.fstat(self._fd).st_size
        return os.pread(self._fd, size, 0)

    def _check_header(self) -> None:
        """A header that was cut short is ours."""
        if not self._text.startswith(HEADER.encode()[:len(self._text)]):
            raise Refused(f"{self._path} is no file of results, want the header "
                          f"{HEADER.strip()}: write to another file")

    def _parse(self) -> dict[str, Found]:
        found: dict[str, Found] = {}
        self._end = end = len(HEADER) if len(self._text) >= len(HEADER) else 0
        for number, line in enumerate(self._text[end:].splitlines(keepends=True), 2):
            if not line.endswith(b"\n"):
                break            # a process was killed while it wrote
            start, end = end, end + len(line)
            cells = line.decode(errors="replace").rstrip("\n").split(",")
            if len(cells) != HEADER.count(",") + 1:
                raise Refused(f"{self._path}, line {number}: there are {len(cells)} "
                              f"cells, want {HEADER.count(',') + 1}")
            run = found.setdefault(",".join(cells[:4]), Found(start))
            run.rows += 1
            run.init += cells[4] == "0"
            self._end = run.end = end
        return found

    def missing(self, runs: list[Run]) -> list[Run]:
        """Those that are not there, or unfinished at the end; one of another length
        elsewhere is somebody's results."""
        last = max((found.end for found in self.found.values()), default=0)
        missing = []
        for run in runs:
            found = self.found.get(run.key)
            if found and (found.rows, found.init) == (run.rows, run.init):
                continue
            missing.append(run)
            if not found:
                continue
            if found.end < last or not found.is_beginning_of(run):
                raise Refused(
                    f"{self._path} has the run {run.key} with --init {found.init} "
                    f"--iterations {found.rows - found.init}, want {run.init} and "
                    f"{run.iterations}: write to another file")
            self._end = found.start
        return missing

    def append(self, text: str) -> None:
        """Behind what is whole: what follows that was left by a process that died."""
        data = text.encode() if self._end else (HEADER + text).encode()
        os.ftruncate(self._fd, self._end)
        self._end += len(data)
        while data:
            data = data[os.write(self._fd, data):]
        os.fsync(self._fd)
