#!/bin/sh
# The cheapest beam that holds: a material, a section, a width and a wall. Many beams
# break; those trials fail, and the next ones keep away from there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
beam=${BEAM:-./beam}
[ -x "$beam" ] || "${CC:-cc}" -O2 -o "$beam" "$here/beam.c" -lm
[ "$#" -gt 0 ] || set -- -n 60
"${COCABO:-cocabo}" run --study beam "$@" \
  -p 'material=choice(steel,aluminium,titanium,oak)' -p 'section=choice(square,round)' \
  -p 'width=float(5,150)' -p 'wall=float(0.1,1)' \
  -- "$beam" '{material}' '{section}' '{width}' '{wall}'
