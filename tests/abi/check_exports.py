#!/usr/bin/env python3
"""The shared library exports what the public headers declare and nothing else, each name
with the version of its series; its soname is that series, it needs what it may need, and
it and a program are hardened:
check_exports.py LIBRARY PROGRAM [hardened]"""

import pathlib
import re
import subprocess
import sys

ALLOWED = ("libc.so", "libm.so", "libsqlite3.so", "ld-linux",
           "libgcov", "libasan", "libubsan", "libtsan", "libgcc_s")

library, program = sys.argv[1:3]
include = pathlib.Path(__file__).resolve().parents[2] / "include"
code = "".join(path.read_text() for path in sorted(include.glob("*.h")))
code = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
declared = set(re.findall(r"COCABO_API[^;(]*?\b(cocabo_\w+)\s*\(", code))
series = ".".join(re.search(rf"COCABO_VERSION_{part} (\d+)", code)[1]
                  for part in ("MAJOR", "MINOR"))

run = lambda *cmd: subprocess.run(cmd, check=True, capture_output=True, text=True).stdout
table = run("nm", "-D", "--defined-only", library)
exported = {line.split()[-1] for line in table.splitlines()}
exported = {name for name in exported if not name.startswith(("_", "asan", "ubsan"))}
exported.discard(f"COCABO_{series}")  # the version itself
wanted = {f"{name}@@COCABO_{series}" for name in declared}
dynamic = run("readelf", "-d", library)
needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
soname = re.search(r"SONAME.*\[(.*)\]", dynamic)[1]

bad = [f"declared but not exported: {name}" for name in sorted(wanted - exported)]
bad += [f"exported but not declared: {name}" for name in sorted(exported - wanted)]
bad += [f"links {name}" for name in needed if not name.startswith(ALLOWED)]
if soname != f"libcocabo.so.{series}":
    bad.append(f"its soname is {soname}, want libcocabo.so.{series}")

if "hardened" in sys.argv[3:]:
    for path in (library, program):
        segments, dynamic = run("readelf", "-lW", path), run("readelf", "-d", path)
        used = run("nm", "-D", "--undefined-only", path)
        checks = {"full RELRO": "GNU_RELRO" in segments and re.search(r"\bNOW\b", dynamic),
                  "a stack protector": "__stack_chk_fail" in used,
                  "FORTIFY_SOURCE": re.search(r"__\w+_chk\b", used.replace("__stack_chk", "")),
                  "a stack that is not executable": re.search(r"GNU_STACK.* RW ", segments)}
        bad += [f"{path} lacks {what}" for what, there in checks.items() if not there]
    if not re.search(r"Type:\s+DYN", run("readelf", "-h", program)):
        bad.append(f"{program} is not position-independent")

print("\n".join(bad) or f"{len(declared)} functions, {len(needed)} libraries, as promised")
sys.exit(1 if bad else 0)
