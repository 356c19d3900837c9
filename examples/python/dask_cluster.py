#!/usr/bin/env python3
"""The workers of a Dask cluster. The study stays here, with the client; in a file it would
outlive it: create_study(..., storage="oven.db", name="oven", load_if_exists=True).

    python3 dask_cluster.py [TRIALS [ADDRESS OF A SCHEDULER]]
"""

import sys

import cocabo
from dask.distributed import Client, as_completed
from oven import SPACE, cost


def main(n_trials, address=None):
    # Without an address, a cluster of two processes on this machine.
    local = {} if address else {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with Client(address, **local) as client:
        workers = sum(client.nthreads().values())
        study = cocabo.create_study(SPACE, seed=1)
        trials = {}

        def submit(trial):
            # pure=False: a point that is tried again is evaluated again.
            future = client.submit(cost, trial.params, pure=False)
            trials[future] = trial
            return future

        # The first ones jointly, and a new one whenever one is done: nobody waits.
        results = as_completed([submit(trial) for trial in study.ask(min(workers, n_trials))])
        for future in results:
            trial = trials.pop(future)
            if future.status == "finished":
                study.tell(trial, future.result())
            else:  # it raised, or its worker died of it
                study.tell(trial, state="fail", reason=str(future.exception()))
            if len(study) < n_trials:
                results.add(submit(study.ask()))
    print(f"{study.count('complete')} complete, {study.count('failed')} failed")
    print(f"best {study.best_value:.2f} with {study.best_params}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60, *sys.argv[2:])
