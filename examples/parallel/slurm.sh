#!/bin/bash
# Sixteen workers on one study, as an array job of Slurm:
#
#   cocabo create --study mnist -n 200 -p ... -- ./train.sh {rate} {optimizer}
#   sbatch --export=ALL slurm.sh mnist
#
# COCABO_STORAGE is the URL of a PostgreSQL server, the password is in ~/.pgpass. A minute
# before the time is over Slurm sends TERM to each worker, which ends its programs and gives
# their trials back; scancel does the same. Submit it again to go on.
#SBATCH --job-name=cocabo
#SBATCH --array=1-16
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --time=08:00:00
#SBATCH --signal=TERM@60
set -eu
study=${1:?usage: sbatch slurm.sh STUDY}
: "${COCABO_STORAGE:?want postgresql://user@host/database}"
exec srun "${COCABO:-cocabo}" worker --study "$study" --log-dir "logs-$study"
