#!/usr/bin/env python3
"""docs/results.md from a folder of `tools/paper`.

    python3 tools/results.py [DIR]

Copies the figures to docs/results/ and puts the tables beside them, with the date of
the results, the machine and the commands. Says what of an experiment was run: the
number of runs is in every row.
"""

import datetime
import os
import pathlib
import platform
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

SECTIONS = [
    ("figure-2", "Figure 2: the categories that one run chooses",
     "CoCaBO-0.5 on Func-2C, seed 0.",
     "cocabo-bench figure --kind categories --problem func-2c --method cocabo-0.5 "
     "-o figure-2.svg"),
    ("table-1", "Table 1: how well the surrogates predict",
     "Sum over 100 test points of the log predictive density after 250 training points, "
     "mean (standard error); larger is better.",
     "cocabo-bench paper --figure table1 -o DIR"),
    ("figure-3", "Figure 3: one point at a time",
     "Best value after 24 initial points and t iterations, mean (standard error).",
     "cocabo-bench paper --figure 3 -o DIR"),
    ("figure-3-mnist", "Figure 3, XG-MNIST: a hundredth of it",
     "xg-mnist-1: 490 pictures to learn from and 210 to be tested on, shrunk to 7 x 7 "
     "pixels, 8 bins; else as XG-MNIST. Best accuracy after 24 initial points and t "
     "iterations, mean (standard error).",
     "cocabo-bench run --problem xg-mnist-1 --method cocabo-0.0,cocabo-0.5,cocabo-1.0,"
     "cocabo-auto,onehot,exp3bo,smac,tpe,random,mixed --seeds 0-2 -o figure-3-mnist.csv"),
    ("figure-4", "Figure 4: four points at a time",
     "Best value after 24 initial points and t iterations of four, mean (standard error).",
     "cocabo-bench paper --figure 4 -o DIR"),
    ("figure-4-mnist", "Figure 4, XG-MNIST: a hundredth of it",
     "xg-mnist-1 as above, t iterations of four.",
     "cocabo-bench run --problem xg-mnist-1 --method cocabo-0.0,cocabo-0.5,cocabo-1.0,"
     "cocabo-auto,onehot,smac,random,mixed --batch 4 --iterations 10 --seeds 0-2 "
     "-o figure-4-mnist.csv"),
    ("yacht", "NN-Yacht, four points at a time",
     "The log likelihood of the test set, as the paper has it in its appendix.",
     "cocabo-bench paper --figure yacht -o DIR"),
    ("peers", "Beside the originals",
     "The public packages on the same problems, evaluated by the same code from the same "
     "initial points ([bench/peers](../bench/peers/README.md)).",
     "bench/peers/run --problem ... --method ... -o peers.csv"),
    ("conditions", "A space with conditions",
     "A support vector machine, a network or a forest for scikit-learn's breast-cancer "
     "set: 12 parameters, 9 of which belong to one of the three "
     "([bench/peers](../bench/peers/README.md)). The value is the log loss over three "
     "folds, times -1, after 15 random points and t proposals; the same 15 for every "
     "method.",
     "bench/peers/run --problem cancer-models --init 15 --iterations 60 --seeds 40-59 "
     "--method ... --points points.jsonl -o conditions.csv"),
    ("arena", "Arena: problems of other people",
     "cocabo and its peers on programs and functions that nobody here wrote, minimised, "
     "each with its defaults, its own initial points, its own way to say conditions and "
     "failures, and seeds that chose nothing ([bench/arena](../bench/arena/README.md)). "
     "Regrets are normalised: 0 is the best known, 1 what random search gets with the "
     "whole budget.",
     "make arena"),
]


def machine() -> str:
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def section(folder: pathlib.Path, stem: str, title: str, text: str, command: str) -> str:
    picture, table = folder / f"{stem}.svg", folder / f"{stem}.md"
    if not picture.exists() and not table.exists():
        return ""
    parts = [f"## {title}", text, f"    {command}"]
    if picture.exists():
        shutil.copyfile(picture, ROOT / "docs/results" / picture.name)
        parts.append(f"![{title}](results/{picture.name})")
    if table.exists():
        parts.append(table.read_text().rstrip())
    notes = folder / f"{stem}-notes.md"  # by hand: what was not run, and why
    if notes.exists():
        parts.append(notes.read_text().rstrip())
    return "\n\n".join(parts) + "\n"


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/paper")
    if not folder.is_dir() or not any(folder.iterdir()):
        sys.exit(f"tools/results.py: there is nothing in {folder}, want the folder of "
                 "make paper")
    newest = max(path.stat().st_mtime for path in folder.iterdir())
    date = datetime.date.fromtimestamp(newest).isoformat()
    (ROOT / "docs/results").mkdir(exist_ok=True)
    head = (f"# Results\n\nWhat this repository's code produced on {date}; {machine()}. "
            "`make paper` does it all again;\nthis page is made of its folder by "
            "`tools/results.py`. Values are maximised; the best mean of a column is bold.\n")
    body = [section(folder, *what) for what in SECTIONS]
    (ROOT / "docs/results.md").write_text("\n".join([head, *filter(None, body)]))


if __name__ == "__main__":
    main()
