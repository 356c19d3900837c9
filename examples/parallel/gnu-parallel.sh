#!/bin/bash
# One worker on each host of a file (a line each, host or user@host), over ssh:
#
#   gnu-parallel.sh hosts.txt mnist
#
# The hosts have cocabo, and the program in the same folder as here. The URL travels on
# command lines, so the password belongs into ~/.pgpass of each host. What a worker was
# running that loses its connection and ends is offered to the others again.
set -eu
hosts=${1:?usage: gnu-parallel.sh HOSTS STUDY}
study=${2:?usage: gnu-parallel.sh HOSTS STUDY}
: "${COCABO_STORAGE:?want postgresql://user@host/database}"
case $COCABO_STORAGE in
  *://*:*@*) echo "gnu-parallel.sh: COCABO_STORAGE has a password, want it in ~/.pgpass" >&2
             exit 2 ;;
esac
worker=$(printf 'cd %q && COCABO_STORAGE=%q exec %q worker --study %q' \
  "$PWD" "$COCABO_STORAGE" "${COCABO:-cocabo}" "$study")
exec parallel --nonall --sshloginfile "$hosts" --tag --line-buffer "$worker"
