"""places.py - where things are: the Pythons of the environments, and bench/peers, whose
spaces, methods and small tools serve here too (import this before them)."""

from __future__ import annotations

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = pathlib.Path(os.environ.get("COCABO_ARENA", ROOT / "build-arena"))
sys.path.append(str(HERE.parent / "peers"))

import environments as peers  # noqa: E402


def python_of(environment: str) -> str:
    """base is ours, the others are those of bench/peers; "": the Python that runs this."""
    if environment == "base":
        return str(FOLDER / "base/bin/python")
    return peers.python_of(environment)


def sentence_if_missing(what: str, environment: str) -> str:
    """What to do, or nothing if it is there."""
    if environment != "base":
        return peers.sentence_if_missing(what, environment)
    if os.access(python_of(environment), os.X_OK):
        return ""
    return (f"{what} needs the environment base, which is not there: run "
            "bench/arena/setup")
