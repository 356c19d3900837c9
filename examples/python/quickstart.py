"""Finds the settings of a support vector machine that only pretends to be one.

    python3 examples/python/quickstart.py

It shows a condition, a rule, a limit on a metric, a setting that fails, and a file: run
it again and it goes on where it was. The program sees the same file:

    cocabo best --storage quickstart.db
"""

import math

import cocabo
from cocabo import Choice, Float, Int

SPACE = {
    "kernel": Choice(["linear", "poly", "rbf"]),
    "C": Float(1e-3, 1e3, log=True),
    "gamma": Float(1e-4, 1, log=True, when="kernel in ('poly', 'rbf')"),
    "degree": Int(2, 5, when="kernel == 'poly'"),
}


def fit(trial):
    """The error, and how long it took: what a real training would return."""
    p = trial.params  # what is inactive is not in it
    if p["C"] < 0.005:
        raise cocabo.TrialFailed("did not converge")
    error = 0.05 + 0.02 * math.log10(p["C"] / 10) ** 2
    error += {"linear": 0.2, "poly": 0.05, "rbf": 0.0}[p["kernel"]]
    if "gamma" in p:
        error += 0.04 * math.log10(p["gamma"] / 0.02) ** 2
    if "degree" in p:
        error += 0.02 * (p["degree"] - 3) ** 2
    return {"value": error, "seconds": 3 + 2 * math.log10(p["C"])}


def main():
    with cocabo.create_study(
        SPACE,
        where=["not (kernel == 'rbf' and C * gamma > 5)"],
        constraints=["seconds < 6"],
        storage="quickstart.db",
        load_if_exists=True,
        seed=1,
    ) as study:
        study.optimize(fit, n_trials=40)
        best = study.best_trial
        print(f"{len(study)} trials, {study.count('failed')} failed")
        print(f"best trial {best.number}: {best.value:.6g}, {best.metrics['seconds']:.3g} s")
        for name, value in best.params.items():
            print(f"  {name} = {value}")


if __name__ == "__main__":
    main()
