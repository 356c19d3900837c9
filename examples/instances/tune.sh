#!/bin/sh
# How hot should a solver start, how fast should it cool down, and how should it move? No
# single map can tell: every setting is run on maps of list.txt, with two seeds each, and
# bad ones on few of them. Further arguments go to cocabo run, for example --runs 400 -j 2.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ "$#" -gt 0 ] || set -- --runs 160
"${COCABO:-cocabo}" run --study tour "$@" \
  -p 'start=float(0.001,10,log)' -p 'cooling=float(0.9,0.9999)' \
  -p 'move=choice(swap,reverse)' \
  --instances "$here/list.txt" --seeds 2 \
  -- "$here/tour.sh" '{start}' '{cooling}' '{move}' '{seed}' '{instance}'
