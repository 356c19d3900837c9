"""Studies for the tests of the page: real ones, in a store on disk.

    python tests/browser/studies.py FOLDER [trials of the large one]
"""

import pathlib
import random
import sys

import cocabo
import pictures
from cocabo import Choice, Float, Int, Ordinal

LARGE = "large"


def make(folder, large=0):
    """Fills FOLDER/cocabo.db; returns its path."""
    path = pathlib.Path(folder) / "cocabo.db"
    pictures.machine(60, storage=path)
    for seed in range(3):
        pictures.machine(24 + 4 * seed, storage=path, name=f"svm-seed-{seed}", seed=seed)
    pictures.hostile(40, storage=path)
    noisy(path)
    cocabo.create_study({"x": Float(0, 1)}, name="new", storage=path)
    if large:
        make_large(path, large)
    return path


def noisy(path, n=40):
    """Few points, tried again and again."""
    chance = random.Random(5)
    space = {"threads": Int(1, 4), "mode": Choice(["fast", "safe"])}
    study = cocabo.create_study(space, name="noisy", storage=path, deterministic=False, seed=1)

    def run(trial):
        slow = (trial["threads"] - 3) ** 2 * 0.4 + 0.5 * (trial["mode"] == "safe")
        return 3 + slow + chance.gauss(0, 0.3)

    study.optimize(run, n_trials=n)


def make_large(path, n):
    """Ten parameters, added at one stroke: nobody has time to ask so often."""
    chance = random.Random(11)
    space = {f"x{i}": Float(-1, 1) for i in range(5)}
    space |= {f"c{i}": Choice(list("abcde")) for i in range(3)}
    space |= {"rate": Float(1e-5, 1, log=True), "size": Ordinal(["s", "m", "l"])}
    study = cocabo.create_study(space, name=LARGE, storage=path, sampler="random")

    def known(i):
        x = {f"x{k}": chance.gauss(0, 0.4 / (1 + i / n)) for k in range(5)}
        x = {name: max(-1.0, min(1.0, v)) for name, v in x.items()}
        x |= {f"c{k}": chance.choice("aaabbcde") for k in range(3)}
        x |= {"rate": 10 ** chance.uniform(-5, 0), "size": chance.choice("sml")}
        if chance.random() < 0.02:
            return {"params": x, "state": "fail", "reason": f"exit status {i % 3 + 1}"}
        value = sum((k + 1) * x[f"x{k}"] ** 2 for k in range(5))
        value += 0.3 * "abcde".index(x["c0"]) + chance.random() * 0.1
        return {"params": x, "value": value, "metrics": {"size_mb": 1 + 9 * chance.random() * value}}

    study.add_trials(known(i) for i in range(n))


if __name__ == "__main__":
    print(make(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0))
