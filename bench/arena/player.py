#!/usr/bin/env python3
"""player.py - a process that plays one run of a method, by JSON lines.

    {"method": ..., "parameters": ..., "seed": ..., "total": ..., "noisy": ..., "options": ...}  ->  {}
    {"ask": true}        ->  {"point": {...}, "cpu": seconds}; no point: the space is used up
    {"tell": 3.5}        ->  {}          minimised; null: it failed
    {"best": true}       ->  {"best": i} the evaluation that it would name, from 0; null: it has no word
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
import warnings
from typing import Any

import places  # noqa: F401  (the path of bench/peers)
import players
from space import Space


class Play:
    def __init__(self, job: dict[str, Any]) -> None:
        self._method = players.make(job["method"], Space.read(job["parameters"]),
                                    job["seed"], job["total"], job)
        self._point: dict[str, Any] = {}

    def answer(self, said: dict[str, Any]) -> dict[str, Any]:
        if "ask" in said:
            start = time.process_time()
            self._point = self._method.ask()
            return {"point": self._point, "cpu": time.process_time() - start}
        if "tell" in said:
            value = said["tell"]
            self._method.tell(self._point, None if value is None else -value)
            return {}
        return {"best": self._method.best() if hasattr(self._method, "best") else None}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)                # what libraries print is no answer
    warnings.simplefilter("ignore")
    play = Play(json.loads(sys.stdin.readline()))
    answers.write("{}\n")
    for line in sys.stdin:
        answers.write(json.dumps(play.answer(json.loads(line))) + "\n")


if __name__ == "__main__":
    try:
        main()
    except Exception as error:   # the last line is what arena.py shows
        traceback.print_exc()
        sys.exit(f"{type(error).__name__}: {error}".replace("\n", " "))
