#!/bin/sh
# The loop by hand, for when something else decides what runs where: ask for a trial,
# evaluate it, tell the result. Any number of these loops may share a study; the lease
# gives the trial to another one should this one die.
set -eu
cocabo=${COCABO:-cocabo}
export COCABO_STORAGE="${COCABO_STORAGE:-sqlite:///cocabo.db}"
trials=${1:-20}

# Exists already? Then this changes nothing and the loop goes on where it was.
$cocabo create --study by-hand -n "$trials" \
  -p 'x=float(-5,5)' -p 'shape=choice(square,abs,wave)' >/dev/null

while trial=$($cocabo ask --study by-hand --lease 60 --json 2>/dev/null); do
  number=$(printf %s "$trial" | sed 's/.*"number":\([0-9]*\).*/\1/')
  x=$(printf %s "$trial" | sed 's/.*"x":\([-0-9.e]*\).*/\1/')
  shape=$(printf %s "$trial" | sed 's/.*"shape":"\([a-z]*\)".*/\1/')
  value=$(awk -v x="$x" -v shape="$shape" 'BEGIN {
    print shape == "square" ? (x - 1) ^ 2 : shape == "abs" ? 0.5 + (x < 2 ? 2 - x : x - 2) \
                                                           : 1 + sin(3 * x) }')
  $cocabo tell --study by-hand "$number" "$value"
done
$cocabo best --study by-hand
