#!/usr/bin/env python3
"""Checks that includes point down the table of tools/layers.txt, and file names are unique."""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
rows = (line.split(":") for line in (root / "tools/layers.txt").read_text().splitlines()
        if line and not line.startswith("#"))
allowed = {layer: {layer, *below.split()} for layer, below in rows}

bad, seen = [], {}
for path in sorted((root / "src").rglob("*.[ch]")):
    layer = path.relative_to(root / "src").parts[0]
    for include in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
        target = include.split("/")[0]
        if include != "cocabo.h" and target not in allowed.get(layer, ()):
            bad.append(f"{path.relative_to(root)} includes {include}: {layer} may not see it")
    other = seen.setdefault(path.name, path)
    if other != path:
        bad.append(f"{path.relative_to(root)} and {other.relative_to(root)} share a name")
print("\n".join(bad) or f"{len(seen)} files, every include points down")
sys.exit(1 if bad else 0)
