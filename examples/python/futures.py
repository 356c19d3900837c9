#!/usr/bin/env python3
"""Processes of this machine, through concurrent.futures: ask when one is free, tell when one
is done. Any pool that has futures is used like this.

    python3 futures.py [TRIALS]
"""

import sys
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait

import cocabo
from oven import SPACE, cost

WORKERS = 2


def main(n_trials):
    study = cocabo.create_study(SPACE, seed=1)
    running = {}  # futures and their trials
    with ProcessPoolExecutor(WORKERS) as pool:
        while len(study) < n_trials or running:
            # Each proposal knows the trials that are still running, and keeps away from them.
            while len(study) < n_trials and len(running) < WORKERS:
                trial = study.ask()
                running[pool.submit(cost, trial.params)] = trial
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                trial = running.pop(future)
                try:
                    study.tell(trial, future.result())
                except RuntimeError as e:  # what cannot be evaluated is learnt from as well
                    study.tell(trial, state="fail", reason=str(e))
    print(f"{study.count('complete')} complete, {study.count('failed')} failed")
    print(f"best {study.best_value:.2f} with {study.best_params}")


if __name__ == "__main__":  # the processes import this file
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
