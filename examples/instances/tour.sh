#!/bin/sh
# A small solver, for the shortest tour through the cities of a map, by simulated annealing:
#   tour.sh START COOLING MOVE SEED CITIES:MAP
# Prints the length of the tour that it found, per city. Maps differ, some have longer tours,
# and another seed is another walk.
set -eu
awk -v start="$1" -v cooling="$2" -v move="$3" -v seed="$4" -v instance="$5" '
function distance(a, b) {
  return sqrt((x[a] - x[b]) ^ 2 + (y[a] - y[b]) ^ 2)
}
function length_of(   i, sum) {
  for (i = 0; i < n; i++)
    sum += distance(tour[i], tour[(i + 1) % n])
  return sum
}
# Swaps two cities, or turns round all that lies between them.
function change(i, j,   keep) {
  for (; i < j; i++) {
    keep = tour[i]; tour[i] = tour[j]; tour[j] = keep
    if (move == "swap") return
    j--
  }
}
BEGIN {
  split(instance, part, ":")
  n = part[1]
  srand(part[2])
  for (i = 0; i < n; i++) { x[i] = rand(); y[i] = rand(); tour[i] = i }
  srand(1000 + seed)
  now = length_of()
  heat = start
  for (step = 0; step < 600; step++) {
    i = int(n * rand()); j = int(n * rand())
    if (i > j) { keep = i; i = j; j = keep }
    change(i, j)
    next_ = length_of()
    if (next_ < now || rand() < exp((now - next_) / heat)) now = next_
    else change(i, j)
    heat *= cooling
  }
  print now / n
}'
