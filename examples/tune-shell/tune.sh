#!/bin/sh
# When to order, how much, and from whom? Two numbers and a category, and a noisy answer:
# deterministic=false says so. Further arguments go to cocabo run, for example -n 100.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ "$#" -gt 0 ] || set -- -n 40
"${COCABO:-cocabo}" run --study shop "$@" \
  -p 'level=int(0,100)' -p 'amount=int(1,200)' -p 'supplier=choice(fast,near,far)' \
  --set deterministic=false \
  -- "$here/shop.sh" '{level}' '{amount}' '{supplier}'
