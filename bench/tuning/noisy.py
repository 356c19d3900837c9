"""Noise without instances: who names the best point of a noisy problem?

Five categories, each with a bowl in two numbers of its own. The best values of the best
two categories are 0.2 apart, and the noise of a value has a standard deviation of 0.2.
Every method gets 100 values, the k-th with the same noise for all, and is judged by the
true value of what it names as best: how far that is above the optimum.

SMAC3 and Optuna come from the environment of bench/arena (bench/arena/setup):

    build-arena/base/bin/python bench/tuning/noisy.py --seeds 0-19 -o noisy.jsonl
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from tuning import ROOT, error_of, measure, parse_seeds, read_lines

KINDS = ["a", "b", "c", "d", "e"]
NOISE = 0.2
LEAST = 1.0  # above 0 with any noise, since some take logarithms
RANGE = 4.46  # between the optimum and the worst point


def true_value(x, y, kind):
    """The optimum is 0. Kind "c" is the best one, and "b" is 0.2 worse."""
    i = KINDS.index(kind)
    angle = 1.3 * i + 0.4
    apart = [0.4, 0.2, 0.0, 0.6, 0.8][i]
    return apart + (x - 0.5 * math.cos(angle)) ** 2 + (y - 0.5 * math.sin(angle)) ** 2


class Problem:
    """Values with noise, and how many of them there were."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.told = 0

    def value(self, params):
        self.told += 1
        return LEAST + true_value(**params) + self.random.gauss(0.0, NOISE)


def cocabo(settings, seed):
    problem = Problem(seed)
    with tempfile.TemporaryDirectory() as folder:
        def call(*words):
            done = subprocess.run([str(settings.build / "cocabo"), *map(str, words)],
                                  cwd=folder, text=True, capture_output=True)
            if done.returncode != 0:
                sys.exit(f"noisy: {' '.join(map(str, words))}: {done.stderr}")
            return done.stdout

        call("create", "--study", "noisy", "--repeats", "auto", "--runs", settings.runs,
             "--seed", seed, "-p", "x=float(-1,1)", "-p", "y=float(-1,1)", "-p",
             f"kind=choice({','.join(KINDS)})")
        while problem.told < settings.runs:
            trial = json.loads(call("ask", "--study", "noisy", "--json"))
            call("tell", "--study", "noisy", trial["number"], "--run",
                 trial["runs"][-1]["run"], repr(problem.value(trial["params"])))
        best = json.loads(call("best", "--study", "noisy", "--json"))
    return {"params": best["params"], "best_runs": len(best["runs"])}


def optuna(settings, seed):
    import optuna as library
    library.logging.set_verbosity(library.logging.WARNING)
    problem = Problem(seed)
    study = library.create_study(sampler=library.samplers.TPESampler(seed=seed))
    study.optimize(lambda trial: problem.value({
        "x": trial.suggest_float("x", -1, 1), "y": trial.suggest_float("y", -1, 1),
        "kind": trial.suggest_categorical("kind", KINDS)}), n_trials=settings.runs)
    return {"params": study.best_params}


def smac(settings, seed):
    from ConfigSpace import Categorical, ConfigurationSpace, Float
    from smac import HyperparameterOptimizationFacade, Scenario
    problem = Problem(seed)
    space = ConfigurationSpace(seed=seed)
    space.add([Float("x", (-1, 1)), Float("y", (-1, 1)), Categorical("kind", KINDS)])
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(space, deterministic=False, seed=seed,
                            n_trials=settings.runs, output_directory=folder)
        facade = HyperparameterOptimizationFacade(
            scenario, lambda config, seed=0: problem.value(dict(config)),
            logging_level=False, overwrite=True)
        best = facade.optimize()
    params = {name: best[name] for name in ("x", "y", "kind")}
    return {"params": {**params, "kind": str(params["kind"])}}


METHODS = {"cocabo": cocabo, "smac": smac, "optuna": optuna}


def make(settings, method, seed):
    row = METHODS[method](settings, seed)
    row["true"] = true_value(**row["params"])
    return row, row["true"]


def report(settings):
    print("| method | seeds | mean (se) | median | worst | within 10 % of the range |")
    print("|---|--:|--:|--:|--:|--:|")
    for method in settings.methods:
        values = [row["true"] for row in read_lines(settings.output)
                  if row["method"] == method and row["seed"] in settings.seeds
                  and row["budget"] == settings.runs]
        if values:
            near = sum(value <= 0.1 * RANGE for value in values)
            print(f"| {method} | {len(values)} | {statistics.mean(values):.3f} "
                  f"({error_of(values):.3f}) | {statistics.median(values):.3f} | "
                  f"{max(values):.3f} | {near} of {len(values)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="cocabo,smac,optuna",
                        help=f"of {', '.join(METHODS)}")
    parser.add_argument("--seeds", type=parse_seeds, default=parse_seeds("0-19"))
    parser.add_argument("--runs", type=int, default=100, help="values that each gets")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("-o", "--output", type=pathlib.Path, default="noisy.jsonl",
                        help="results, one a line; what is there is not done again")
    settings = parser.parse_args()
    settings.methods = settings.methods.split(",")
    settings.build = settings.build.resolve()
    measure(settings, lambda method, seed: make(settings, method, seed))
    report(settings)


if __name__ == "__main__":
    main()
