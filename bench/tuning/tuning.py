"""Tunes one solver over instances with several tuners, and judges what each names.

Every tuner gets the same number of runs of the solver, and a run does a fixed amount of
work: equal numbers are equal times. What a tuner names as best is run on instances
that nobody tuned on. README.md beside this file says more.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

from solver import PARAMETERS, Solver

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SEEDS_OF_AN_INSTANCE = 5


def cocabo(settings, seed, sampler):
    program = str(settings.build / "cocabo")
    with tempfile.TemporaryDirectory() as folder:
        def call(*words):
            done = subprocess.run([program, *map(str, words)], cwd=folder, text=True,
                                  capture_output=True)
            if done.returncode != 0:
                sys.exit(f"tuning: {' '.join(map(str, words))}: {done.stderr}")
            return done.stdout

        space = [word for name, domain, _ in PARAMETERS
                 for word in ("-p", f"{name}={domain}")]
        holes = [f"{name}={{{name}}}" for name, _, _ in PARAMETERS]
        call("run", *space, "--instances", settings.solver.training(), "--seeds",
             SEEDS_OF_AN_INSTANCE, "--runs", settings.runs, "--seed", seed, "--sampler",
             sampler, "-q", *settings.more, "--", settings.solver.program, "solve",
             "{instance}", "{seed}", *holes)
        trials = [json.loads(line) for line in call("trials", "--json").splitlines()]
        best = json.loads(call("best", "--json"))
    return {"params": best["params"], "trials": len(trials),
            "runs": sum(len(trial.get("runs", [])) for trial in trials),
            "best_runs": len(best["runs"]), "training": best["value"]}


def irace(settings, seed, test):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "parameters.txt"
        path.write_text("".join(f'{name} "{name}=" {domain}\n'
                                for name, _, domain in PARAMETERS))
        done = subprocess.run(
            ["Rscript", str(HERE / "irace.R"), settings.solver.program,
             str(settings.solver.training()), str(path), str(settings.runs), str(seed),
             test], text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"tuning: irace: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def smac_domain(hyper, name, domain):
    """irace's spelling as a hyper-parameter of ConfigSpace, without its condition."""
    kind, _, values = domain.partition("|")[0].partition("(")
    values = values.strip(" )").split(",")
    if kind.strip() == "c":
        return hyper.Categorical(name, values)
    made, number = ((hyper.Integer, int) if kind.startswith("i") else (hyper.Float, float))
    return made(name, tuple(map(number, values)), log="log" in kind)


def smac(settings, seed):
    """SMAC3's facade for algorithm configuration, with its defaults; it draws its own seeds."""
    import ConfigSpace
    from smac import AlgorithmConfigurationFacade, Scenario
    space = ConfigSpace.ConfigurationSpace(seed=seed)
    space.add([smac_domain(ConfigSpace, name, domain) for name, _, domain in PARAMETERS])
    space.add(ConfigSpace.GreaterThanCondition(space["kick"], space["rounds"], 1))
    graphs = settings.solver.training().read_text().split()
    used = 0

    def run(config, instance, seed=0):
        nonlocal used
        used += 1
        words = settings.solver.words(dict(config))
        return float(settings.solver.call("solve", instance, seed, *words))

    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(space, deterministic=False, seed=seed, n_trials=settings.runs,
                            instances=graphs, output_directory=folder,
                            instance_features={graph: [i] for i, graph in enumerate(graphs)})
        best = AlgorithmConfigurationFacade(scenario, run, logging_level=False,
                                            overwrite=True).optimize()
    plain = {name: value.item() if hasattr(value, "item") else value  # not NumPy's
             for name, value in best.items()}
    return {"runs": used, "params": {name: plain.get(name) for name, _, _ in PARAMETERS}}


METHODS = {
    "cocabo": lambda settings, seed: cocabo(settings, seed, "mixed"),
    "random": lambda settings, seed: cocabo(settings, seed, "random"),
    "irace": lambda settings, seed: irace(settings, seed, "F-test"),
    "irace-t": lambda settings, seed: irace(settings, seed, "t-test"),
    "smac": smac,
}


# ---- results -------------------------------------------------------------------------

def read_lines(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def measure(settings, make):
    """What is missing in the file of results, one line a method and seed; make(method,
    seed) is the rest of a line, and the figure that counts."""
    known = {(row["method"], row["seed"], row["budget"])
             for row in read_lines(settings.output)}
    for seed in settings.seeds:
        for method in settings.methods:
            if (method, seed, settings.runs) in known:
                continue
            row, figure = make(method, seed)
            print(f"{method} {seed}: {figure:.4f}", file=sys.stderr)
            with settings.output.open("a") as file:
                file.write(json.dumps({"method": method, "seed": seed,
                                       "budget": settings.runs, **row}) + "\n")


def tune(settings):
    def make(method, seed):
        row = METHODS[method](settings, seed)
        row["held_out"] = statistics.mean(settings.solver.judge(row["params"]))
        return row, row["held_out"]

    measure(settings, make)


def error_of(values):
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def report(settings):
    rows = [row for row in read_lines(settings.output)
            if row["budget"] == settings.runs and row["seed"] in settings.seeds]
    found = {method: {row["seed"]: row for row in rows if row["method"] == method}
             for method in settings.methods}
    first = found[settings.methods[0]]
    print(f"| tuner | seeds | runs | held-out mean (se) | median | worst | "
          f"{settings.methods[0]} less by (se) | {settings.methods[0]} wins |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for method, by_seed in found.items():
        values = [row["held_out"] for row in by_seed.values()]
        if not values:
            continue
        pairs = [by_seed[seed]["held_out"] - first[seed]["held_out"]
                 for seed in by_seed if seed in first and method != settings.methods[0]]
        less = f"{statistics.mean(pairs):.4f} ({error_of(pairs):.4f})" if pairs else "-"
        wins = f"{sum(d > 0 for d in pairs)} of {len(pairs)}" if pairs else "-"
        runs = statistics.mean(row["runs"] for row in by_seed.values())
        print(f"| {method} | {len(values)} | {runs:.0f} | {statistics.mean(values):.4f} "
              f"({error_of(values):.4f}) | {statistics.median(values):.4f} | "
              f"{max(values):.4f} | {less} | {wins} |")


# ---- the command line ----------------------------------------------------------------

def parse_seeds(text):
    seeds = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        seeds += range(int(low), int(high or low) + 1)
    return seeds


def main():
    parser = argparse.ArgumentParser(prog="bench/tuning/run", description=__doc__)
    parser.add_argument("--methods", default="cocabo,irace,irace-t,random",
                        help=f"of {', '.join(METHODS)}; the first is compared with")
    parser.add_argument("--seeds", type=parse_seeds, default=parse_seeds("0-9"))
    parser.add_argument("--runs", type=int, default=1500, help="of a tuning")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--folder", type=pathlib.Path, help="for instances")
    parser.add_argument("-o", "--output", type=pathlib.Path, default="tuning.jsonl",
                        help="results, one a line; what is there is not done again")
    parser.add_argument("--report", action="store_true", help="only print the table")
    parser.add_argument("--goals", action="store_true",
                        help="only make lists of graphs with goals, for capping")
    parser.add_argument("--more", default="", help="words for cocabo run")
    settings = parser.parse_args()
    settings.methods = settings.methods.split(",")
    unknown = [name for name in settings.methods if name not in METHODS]
    if unknown:
        parser.error(f"no method {unknown[0]}, want some of {', '.join(METHODS)}")
    settings.more = settings.more.split()
    settings.build = settings.build.resolve()
    folder = (settings.folder or settings.build / "tuning").resolve()
    settings.solver = Solver(settings.build / "cocabo-bench-maxcut", folder)
    if settings.goals:
        print(*settings.solver.goals(), sep="\n")
        return
    if not settings.report:
        tune(settings)
    report(settings)


if __name__ == "__main__":
    main()
