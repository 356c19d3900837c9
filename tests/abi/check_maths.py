#!/usr/bin/env python3
"""Checks that the library takes nothing from libm but what is exact on every machine.

    check_maths.py LIBCOCABO.a [NM]

A call to exp or log of the C library would give other bits elsewhere: base/maths.h has
our own.
"""

import subprocess
import sys

INEXACT = """acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1
fma gamma hypot j0 j1 jn lgamma lgamma_r log log10 log1p log2 pow sin sincos sinh tan tanh
tgamma y0 y1 yn""".split()
INEXACT += [f"c{name}" for name in INEXACT] + ["cabs", "carg", "csqrt"]
FORBIDDEN = {name + suffix for name in INEXACT for suffix in ("", "f", "l")}
FORBIDDEN |= {f"__{name}_finite" for name in FORBIDDEN}

library, nm = sys.argv[1], (sys.argv[2:] or ["nm"])[0]
listing = subprocess.run([nm, "--undefined-only", library], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
bad, objects, file = [], 0, ""
for line in listing.splitlines():
    if line.endswith(":"):
        file, objects = line[:-1], objects + 1
    elif line.split()[-1:] and (line.split()[-1].split("@")[0] in FORBIDDEN
                                or line.split()[-1].startswith("_ZGV")):
        bad.append(f"{file} calls {line.split()[-1]} of libm: base/maths.h has what to use")
if objects == 0:
    bad.append(f"{library} holds no objects")
print("\n".join(bad) or f"{objects} objects, nothing inexact from libm")
sys.exit(1 if bad else 0)
