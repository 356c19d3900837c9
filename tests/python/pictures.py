"""Studies for the tests of pictures: conditions, failures, constraints, noise, odd names."""

import math
import random

import cocabo
from cocabo import Bool, Choice, Float, Int, Ordinal


def machine(n=60, **arguments):
    """A support vector machine that does not exist: some trials fail, more are infeasible."""
    study = cocabo.create_study(
        {
            "kernel": Choice(["linear", "poly", "rbf"]),
            "C": Float(1e-3, 1e3, log=True),
            "gamma": Float(1e-4, 1, log=True, when="kernel in ('poly', 'rbf')"),
            "degree": Int(2, 5, when="kernel == 'poly'"),
            "scaler": Ordinal(["none", "minmax", "standard"]),
            "shrink": Bool(),
        },
        **{"name": "svm", "seed": 4, "constraints": ["ms < 45"], **arguments},
    )
    study.optimize(fit, n_trials=n)
    return study


def fit(trial):
    if trial.params.get("gamma", 0) > 0.1 or trial["C"] < 0.01:
        raise cocabo.TrialFailed("did not converge")
    error = 0.1 + 0.03 * math.log10(trial["C"] / 10) ** 2
    error += {"linear": 0.2, "poly": 0.05, "rbf": 0}[trial["kernel"]]
    error += 0.05 * math.log10(trial.params.get("gamma", 0.02) / 0.02) ** 2
    error += 0.02 * (trial.params.get("degree", 3) - 3) ** 2
    error += {"none": 0.1, "minmax": 0.03, "standard": 0}[trial["scaler"]]
    for step in range(1, 9):
        trial.report(error + 0.5 * math.exp(-step / 2), step)
    return {"value": error, "ms": 35 + 15 * math.log10(trial["C"])}


class Net:
    """A choice that is an object."""


HOSTILE = "<script>alert('$x_1$')</script> & \"more\" of it"


def hostile(n=40, **arguments):
    """Noisy, maximised, far outliers, and names that are formulas, tags and long."""
    chance = random.Random(7)
    study = cocabo.create_study(
        {
            "rate $x_1$ <b>&amp;": Float(0.1, 0.9, log=True),
            "net": Choice({"small <i>": Net, "$\\frac$ large\nnet": Net()}),
            "fixed": Int(3, 3),
            "mixed": Choice([1, "1", True, None, 1.0, ""]),
            "many": Choice([f"choice number {i}" for i in range(40)]),
            "grid": Float(0, 1, step=0.25),
        },
        **{"name": HOSTILE, "direction": "maximize", "seed": 3, "deterministic": False, **arguments},
    )

    def play(trial):
        score = chance.gauss(0, 0.05) - (trial["grid"] - 0.5) ** 2
        if trial.number % 9 == 4:
            raise cocabo.TrialFailed("lost")
        trial.report(score - 1, 10)
        return score - 1e6 * (trial.number % 11 == 3)

    study.optimize(play, n_trials=n)
    return study
