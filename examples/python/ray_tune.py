#!/usr/bin/env python3
"""Ray Tune, on a local Ray or on the cluster that RAY_ADDRESS names. Ray starts the
trials and stores their results, cocabo proposes them.

    python3 ray_tune.py [TRIALS]      the same line goes on with what was ended
"""

import os
import sys

import ray
from cocabo.ray import CoCaBOSearch
from oven import SPACE, cost
from ray import tune

FOLDER = os.path.abspath("oven-results")


def evaluate(config):
    tune.report({"cost": cost(config)})  # an exception is a failed trial


def tuner(n_trials):
    if tune.Tuner.can_restore(FOLDER + "/oven"):
        # Ray's checkpoint has the searcher's whole study in it.
        return tune.Tuner.restore(FOLDER + "/oven", trainable=evaluate)
    return tune.Tuner(
        evaluate,
        tune_config=tune.TuneConfig(
            search_alg=CoCaBOSearch(SPACE, metric="cost", mode="min", seed=1),
            num_samples=n_trials,
            max_concurrent_trials=2,
            reuse_actors=True,  # starting a process takes Ray a second
        ),
        run_config=tune.RunConfig(storage_path=FOLDER, name="oven", verbose=0),
    )


if __name__ == "__main__":
    ray.init(include_dashboard=False, log_to_driver=False)
    results = tuner(int(sys.argv[1]) if len(sys.argv) > 1 else 60).fit()
    best = results.get_best_result("cost", "min")
    print(f"{len(results) - len(results.errors)} complete, {len(results.errors)} failed")
    print(f"best {best.metrics['cost']:.2f} with {best.config}")
