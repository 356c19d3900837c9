#!/usr/bin/env python3
"""A shared library exports exactly what its header declares, and needs only what it may:
check_exports.py LIBRARY [HEADER [LIBRARY THAT IT MAY NEED]...]"""

import pathlib
import re
import subprocess
import sys

ALLOWED = ("libc.so", "libm.so",
           "ld-linux", "libgcov", "libasan", "libubsan", "libgcc_s", *sys.argv[3:])

library = sys.argv[1]
name = sys.argv[2] if len(sys.argv) > 2 else "cocabo.h"
header = pathlib.Path(__file__).resolve().parents[2] / "include" / name
code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
declared = set(re.findall(r"COCABO_API[^;(]*?\b(cocabo_\w+)\s*\(", code))

run = lambda *cmd: subprocess.run(cmd, check=True, capture_output=True, text=True).stdout
table = run("nm", "-D", "--defined-only", library)
exported = {line.split()[-1].split("@")[0] for line in table.splitlines()}
exported = {name for name in exported if not name.startswith(("_", "asan", "ubsan"))}
needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library))

bad = [f"declared but not exported: {name}" for name in sorted(declared - exported)]
bad += [f"exported but not declared: {name}" for name in sorted(exported - declared)]
bad += [f"links {name}" for name in needed if not name.startswith(ALLOWED)]
print("\n".join(bad) or f"{len(declared)} functions, {len(needed)} libraries, as promised")
sys.exit(1 if bad else 0)
