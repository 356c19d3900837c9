#!/usr/bin/env python3
"""Checks that includes point down the table of tools/layers.txt, that file names are unique,
and that every .c opens with a comment that says what it is for."""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
rows = [line.split(":") for line in (root / "tools/layers.txt").read_text().splitlines()
        if line and not line.startswith("#")]
allowed = {layer: {layer, *below.split()} for layer, below in rows}


def sees(layer, include):
    """May this layer of src/, or folder/ beside it, include that?"""
    if ".." in include:
        return False
    if include.split("/")[0] in allowed.get(layer, ()) or include in allowed.get(layer, ()):
        return True
    if not layer.endswith("/"):
        return include == "cocabo.h"
    return (include.startswith(layer) or (root / layer / include).is_file()
            or (root / "include" / include).is_file())


def files(folder):
    return sorted((root / folder).rglob("*.[ch]"))


owners = [(path, path.relative_to(root / "src").parts[0]) for path in files("src")]
owners += [(path, row[0]) for row in rows if row[0].endswith("/") for path in files(row[0])]

bad, seen = [], {}
for path, layer in owners:
    for include in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M):
        if not sees(layer, include):
            bad.append(f"{path.relative_to(root)} includes {include}: {layer} may not see it")
for path in files("src"):
    other = seen.setdefault(path.name, path)
    if other != path:
        bad.append(f"{path.relative_to(root)} and {other.relative_to(root)} share a name")
for path in (path for folder in ("src", "common", "http", "cli", "bench") for path in files(folder)):
    if path.suffix == ".c" and not path.read_text().startswith("/*"):
        bad.append(f"{path.relative_to(root)} does not open with its purpose, want a comment")
print("\n".join(bad) or f"{len(owners)} files, every include points down")
sys.exit(1 if bad else 0)
