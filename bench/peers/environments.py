"""environments.py - where the Pythons are that bench/peers/setup makes."""

from __future__ import annotations

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = pathlib.Path(os.environ.get("COCABO_PEERS", ROOT / "build-peers"))


def python_of(environment: str) -> str:
    """"" stands for the Python that runs this."""
    return str(FOLDER / environment / "bin/python") if environment else sys.executable


def sentence_if_missing(what: str, environment: str) -> str:
    """What to do, or nothing if it is there."""
    if os.access(python_of(environment), os.X_OK):
        return ""
    return (f"{what} needs the environment {environment}, which is not there: run "
            f"bench/peers/setup {environment}")
