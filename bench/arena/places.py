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


OURS = ("base", "hebo")          # the other environments are those of bench/peers


def python_of(environment: str) -> str:
    """"" stands for the Python that runs this."""
    if environment in OURS:
        return str(FOLDER / environment / "bin/python")
    return peers.python_of(environment)


def sentence_if_missing(what: str, environment: str) -> str:
    """What to do, or nothing if it is there."""
    if environment not in OURS:
        return peers.sentence_if_missing(what, environment)
    if os.access(python_of(environment), os.X_OK):
        return ""
    return (f"{what} needs the environment {environment}, which is not there: run "
            f"bench/arena/setup {environment}")
