#!/bin/sh
# The smallest xz file of FILE:  tune.sh FILE [arguments of cocabo run, such as -n 100]
# Which filter, which match finder and four numbers. Where lc + lp exceeds 4, xz refuses,
# so a rule keeps such settings from being tried.
#
# The line is a bash one for pipefail: if xz fails, so must the pipeline, or the empty
# output would be the smallest of all.
set -eu
file=$1
shift
[ "$#" -gt 0 ] || set -- -n 40
# Another file is another study; for the same one, the line resumes.
study=xz-$(cksum <"$file" | cut -d' ' -f1)
"${COCABO:-cocabo}" run --study "$study" "$@" \
  -p 'filter=choice("",--x86,--arm64,--delta=dist=4)' -p 'mf=choice(hc3,hc4,bt2,bt3,bt4)' \
  -p 'lc=int(0,4)' -p 'lp=int(0,4)' -p 'pb=int(0,4)' -p 'nice=int(4,273)' \
  --where 'lc + lp <= 4' \
  -- bash -o pipefail -c \
  'xz -c {filter} --lzma2=mf={mf},lc={lc},lp={lp},pb={pb},nice={nice} -- "$0" | wc -c' "$file"
echo "xz -9e makes $(xz -9e -c -- "$file" | wc -c) bytes of it"
