#!/bin/sh
# A shop that orders when its stock falls to a level:  shop.sh LEVEL AMOUNT SUPPLIER
# Prints the cost of an average day. Customers come at random; COCABO_SEED makes every
# trial's customers other ones, and the same trial's the same if it is run again.
set -eu
awk -v level="$1" -v amount="$2" -v supplier="$3" -v seed="${COCABO_SEED:-1}" '
BEGIN {
  srand(seed % 2147483647)
  days = 2000
  delay = supplier == "fast" ? 1 : supplier == "near" ? 2 : 5
  fee = supplier == "fast" ? 40 : supplier == "near" ? 25 : 12
  stock = level + amount
  for (day = 1; day <= days; day++) {
    if (day == arrival) { stock += amount; arrival = 0 }
    wanted = int(12 * rand() + 6 * rand())
    sold = wanted < stock ? wanted : stock
    stock -= sold
    cost += 0.2 * stock + 4 * (wanted - sold) # keeping goods, losing customers
    if (stock <= level && !arrival) { arrival = day + delay; cost += fee }
  }
  print cost / days
}'
