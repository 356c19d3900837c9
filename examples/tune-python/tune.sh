#!/bin/sh
# Four settings of a small classifier, one of them a category. The program takes them from
# COCABO_PARAMS, so its line has no holes. Settings so bold that training overflows make
# failed trials, which are learnt from.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ "$#" -gt 0 ] || set -- -n 30
"${COCABO:-cocabo}" run --study classifier "$@" \
  -p 'optimizer=choice(sgd,momentum,adam)' -p 'lr=float(1e-4,10,log)' \
  -p 'epochs=int(1,20)' -p 'l2=float(1e-6,1,log)' \
  -- python3 "$here/train.py"
