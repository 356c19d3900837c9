"""record.py - the file of results: JSON lines, one a run.

    problem  family/name              method  as it was called, e.g. cocabo@new
    seed                              total   evaluations that were planned
    values   told, in order; null: failed (fewer than total: the space was used up)
    cpu      seconds of each ask
    names    of the parameters        points  their values in that order, null: inactive; numbers
                                              to 6 digits
    means    true means of the values, and
    named    {evaluation: true mean of what the method would name then}, both only where
             there is noise
    optimum  of the problem, if known
    build    of cocabo: {"library": checksum, "options": {...}}

A run is written whole, at one stroke; what a killed process left of a line is cut off.
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import Any, NamedTuple

import places  # noqa: F401  (the path of bench/peers)
from results import Refused


class Run(NamedTuple):
    problem: str
    method: str
    seed: int
    total: int

    @property
    def rows(self) -> int:
        """How many evaluations, for the progress of bench/peers."""
        return self.total

    def __str__(self) -> str:
        return f"{self.problem} with {self.method} from seed {self.seed}"


def key_of(entry: dict[str, Any]) -> Run:
    return Run(entry["problem"], entry["method"], entry["seed"], entry["total"])


def parse(path: str, data: bytes) -> list[dict[str, Any]]:
    """The runs of a file; a last line without an end is none."""
    runs = []
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            runs.append(json.loads(line))
            key_of(runs[-1])
        except (ValueError, KeyError, TypeError):
            raise Refused(f"{path}, line {number}: this is no run of bench/arena") from None
    return runs


def read(path: str) -> list[dict[str, Any]]:
    try:
        with open(path, "rb") as file:
            return parse(path, file.read())
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from None


class Record:
    """The open, locked file. `runs` is what it had when it was opened."""

    def __init__(self, path: str) -> None:
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC,
                               0o666)
        except OSError as error:
            raise Refused(f"cannot write {path}: {error.strerror}") from None
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused(f"another process is writing {path}") from None
        data = os.pread(self._fd, os.fstat(self._fd).st_size, 0)
        self.runs = parse(path, data)
        self._end = data.rfind(b"\n") + 1

    def append(self, entry: dict[str, Any]) -> None:
        data = (json.dumps(entry, separators=(",", ":")) + "\n").encode()
        os.ftruncate(self._fd, self._end)
        self._end += len(data)
        while data:
            data = data[os.write(self._fd, data):]
        os.fsync(self._fd)
