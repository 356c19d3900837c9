"""Measures many processes that share a study, on SQLite and on PostgreSQL side by side.

  throughput   many workers, random points, a short objective: trials a second, how long
               asks and tells take, and whether anything was lost or doubled
  scaling      many workers against one with the sampler mixed: evaluations and seconds
               until the regret is small, medians over seeds
  events       what a long log costs: opening it, and an ask on an open handle

README.md beside this file says what the figures mean.
"""

import argparse
import collections
import contextlib
import json
import math
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/workers"))
from server import Server, die_with_parent, missing_in  # noqa: E402

PROBLEM = "ackley-5c"
MEASUREMENTS = ["throughput", "scaling", "events"]
STORES = ["sqlite", "postgresql"]
LIMIT = 3600  # seconds that one study may take
WIDTH = 30  # of the bar
SMALL = {"workers": 8, "trials": 120, "sleep": 2, "seeds": 1, "many": 3, "slow": 5,
         "regret": 2.0, "most": 60, "events": "100,1000", "repeats": 5}


class Bar:
    """How far it is, on standard error: a bar on a terminal, elsewhere only its end."""

    def __init__(self, title):
        self.title = title
        self.start = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def show(self, done, total):
        if not self.terminal:
            return
        full = WIDTH * min(done, total) // total
        sys.stderr.write(f"\r{self.title:44} [{'#' * full}{'.' * (WIDTH - full)}] "
                         f"{done}/{total} {self.seconds():.0f} s\033[K")
        sys.stderr.flush()

    def seconds(self):
        return time.monotonic() - self.start

    def end(self):
        start = "\r\033[K" if self.terminal else ""
        sys.stderr.write(f"{start}{self.title}: {self.seconds():.1f} s\n")


def table(rows):
    """Rows of dictionaries with the same keys, as Markdown."""
    names = list(rows[0])
    lines = [names, *[[shown(row[name]) for name in names] for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
    text = [" | ".join(cell.rjust(width) for cell, width in zip(line, widths))
            for line in lines]
    rule = "|".join("-" * (width + 1) + ":" for width in widths)
    return "\n".join(f"| {line} |" for line in text[:1]) + f"\n|{rule}|\n" + \
           "\n".join(f"| {line} |" for line in text[1:])


def shown(value):
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) and abs(value) < 1000 else \
        f"{value:.0f}" if isinstance(value, float) else str(value)


def quantile(values, share):
    """The smallest of them that so many are not above."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


# ---- stores and workers --------------------------------------------------------------


class Place:
    """A store, and the programs that use it."""

    def __init__(self, kind, url, build, folder):
        self.kind = kind
        self.url = url
        self.build = build
        self.folder = folder

    def worker(self, command, *args):
        """A command of worker.c that ends by itself; its output."""
        return self.output([self.build / "cocabo-bench-worker", command, self.url, *args])

    def output(self, argv):
        done = subprocess.run([str(a) for a in argv], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise SystemExit(f"bench/workers/run: {done.stderr.strip()}")
        return done.stdout

    def trials(self, study):
        lines = self.output([self.build / "cocabo", "trials", "--json", "--storage",
                             self.url, "--study", study])
        return [json.loads(line) for line in lines.splitlines()]

    def start(self, study, n, sleep):
        return Team(self, study, n, sleep)


Told = collections.namedtuple("Told", "number value regret ask tell when")


class Team:
    """Workers on one study; each writes what it told to a file of its own."""

    def __init__(self, place, study, n, sleep):
        self.logs = [place.folder / f"{study}-{i}" for i in range(n)]
        self.started = time.monotonic()
        self.processes = []
        self.read = collections.Counter()
        self.told = []
        for log in self.logs:
            with open(log, "wb") as out, open(f"{log}.err", "wb") as err:
                self.processes.append(subprocess.Popen(
                    [place.build / "cocabo-bench-worker", "work", place.url, study, PROBLEM,
                     str(sleep)], stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                    preexec_fn=die_with_parent(9)))

    def look(self):
        """Reads what is new; True while somebody works."""
        working = any(process.poll() is None for process in self.processes)
        for log in self.logs:
            with open(log, "rb") as file:
                file.seek(self.read[log])
                text = file.read()
            text = text[:text.rfind(b"\n") + 1]
            self.read[log] += len(text)
            for line in text.decode().splitlines():
                number, *others = line.split()
                self.told.append(Told(int(number), *map(float, others)))
        return working

    def errors(self):
        """Sentences of workers, and how often they found the store busy."""
        lines = [line for log in self.logs
                 for line in pathlib.Path(f"{log}.err").read_text().splitlines()]
        return [line for line in lines if line != "busy"], lines.count("busy")

    def stop(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


@contextlib.contextmanager
def places(args):
    """The stores that were asked for, the server started and stopped here."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory(prefix="cocabo-workers-", dir=args.folder)))
        found = []
        for kind in args.store.split(","):
            if kind == "sqlite":
                url = f"sqlite:///{folder}/studies.db"
            elif args.server:
                url = args.server
            else:
                server = stack.enter_context(Server())
                url = server.create_database("studies", server.create_role("bench"))
            found.append(Place(kind, url, args.build, folder))
        yield found


# ---- throughput ----------------------------------------------------------------------


def throughput(place, args):
    """One row."""
    study = f"throughput-{place.kind}-{os.getpid()}"
    place.worker("create", study, PROBLEM, "random", "0", args.trials)
    bar = Bar(f"throughput, {args.workers} workers, {place.kind}")
    team = place.start(study, args.workers, args.sleep)
    try:
        while team.look():
            bar.show(len(team.told), args.trials)
            if bar.seconds() > LIMIT:
                raise SystemExit(f"bench/workers/run: {study} took longer than {LIMIT} s")
            time.sleep(0.1)
        team.look()
    finally:
        team.stop()
    bar.end()
    return {"store": place.kind, "workers": args.workers, **rates(team),
            **losses(team, place.trials(study), args.trials)}


def rates(team):
    wall = max(t.when for t in team.told) - team.started
    both = [t.ask + t.tell for t in team.told]
    milliseconds = {f"{name} {q}": 1000 * quantile(values, share)
                    for name, values in [("ask+tell", both),
                                         ("ask", [t.ask for t in team.told]),
                                         ("tell", [t.tell for t in team.told])]
                    for q, share in [("p50", 0.5), ("p99", 0.99)]}
    return {"trials/s": len(team.told) / wall, "seconds": wall,
            **{f"{name} ms": value for name, value in milliseconds.items()}}


def losses(team, trials, budget):
    """What must be zero: results that were acknowledged and are not there, numbers and
    points that are there twice, trials beside the budget, workers that failed."""
    kept = {t["number"]: t["value"] for t in trials if t["state"] == "complete"}
    errors, busy = team.errors()
    for error in sorted(set(errors)):
        print(f"{errors.count(error)} x {error}", file=sys.stderr)
    return {"lost tells": sum(kept.get(t.number) != t.value for t in team.told),
            "doubled numbers": len(team.told) - len({t.number for t in team.told})
            + len(trials) - len({t["number"] for t in trials}),
            "doubled points": len(trials) - len({json.dumps(t["params"], sort_keys=True)
                                                 for t in trials}),
            "off budget": abs(len(kept) - budget), "errors": len(errors), "busy": busy}


# ---- scaling -------------------------------------------------------------------------


def scaling(place, args):
    """One row for each number of workers."""
    rows = []
    for workers in (1, args.many):
        bar = Bar(f"scaling, {workers} workers, {place.kind}")
        runs = []
        for seed in range(args.seeds):
            bar.show(seed, args.seeds)
            runs.append(reach(place, args, workers, seed, bar))
        bar.end()
        rows.append({"store": place.kind, "workers": workers, "seeds": args.seeds,
                     "reached": sum(run["reached"] for run in runs),
                     "evaluations": statistics.median(r["evaluations"] for r in runs),
                     "seconds": statistics.median(r["seconds"] for r in runs),
                     "ask p50 ms": 1000 * statistics.median(r["ask"] for r in runs),
                     "errors": sum(run["errors"] for run in runs), "runs": runs})
    for row in rows:
        row["speed-up"] = rows[0]["seconds"] / row["seconds"]
    return rows


def reach(place, args, workers, seed, bar):
    """Evaluations and seconds until one is good enough; or all that were allowed."""
    study = f"scaling-{place.kind}-{workers}-{seed}-{os.getpid()}"
    place.worker("create", study, PROBLEM, "mixed", seed, args.most)
    team = place.start(study, workers, args.slow)
    try:
        while team.look() and not any(t.regret <= args.regret for t in team.told):
            bar.show(seed, args.seeds)
            time.sleep(0.01)
        team.look()
    finally:
        team.stop()
    good = [t.when for t in team.told if t.regret <= args.regret]
    end = min(good) if good else max(t.when for t in team.told)
    counted = [t for t in team.told if t.when <= end]
    return {"seed": seed, "reached": bool(good), "evaluations": len(counted),
            "seconds": end - team.started, "errors": len(team.errors()[0]),
            "ask": statistics.median(t.ask for t in counted)}


# ---- events --------------------------------------------------------------------------


def events(place, args):
    """One row for each length of a log."""
    rows, sizes = [], [int(text) for text in args.events.split(",")]
    bar = Bar(f"events, {place.kind}")
    for i, size in enumerate(sizes):
        bar.show(i, len(sizes))
        study = f"events-{place.kind}-{size}-{os.getpid()}"
        started = time.monotonic()
        place.worker("fill", study, PROBLEM, size)
        filled = time.monotonic() - started
        times = collections.defaultdict(list)
        for line in place.worker("probe", study, args.repeats).splitlines():
            name, seconds = line.split()
            times[name].append(1000 * float(seconds))
        rows.append({"store": place.kind, "events": size, "open ms": times["open"][0],
                     "first ask ms": times["first"][0],
                     "ask p50 ms": quantile(times["ask"], 0.5),
                     "ask max ms": max(times["ask"]), "fill s": filled})
    bar.end()
    return rows


# ---- the command line ----------------------------------------------------------------


def read_arguments():
    parser = argparse.ArgumentParser(prog="bench/workers/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("measurement", nargs="*", help="throughput, scaling, events; all")
    add("--store", help="sqlite,postgresql (those that there are)")
    add("--server", metavar="URL", help="a database that is there already, not one here")
    add("--folder", help="where the SQLite file and the logs go (a temporary folder)")
    add("--build", type=pathlib.Path, default=ROOT / "build", help="folder of the programs")
    add("-o", "--output", default="workers.json", help="the figures as JSON (%(default)s)")
    add("--small", action="store_true", help="a few seconds, to see that it works")
    add("--workers", type=int, default=64, help="of throughput (%(default)s)")
    add("--trials", type=int, default=5000, help="of throughput (%(default)s)")
    add("--sleep", type=int, default=10, help="its objective, milliseconds (%(default)s)")
    add("--many", type=int, default=16, help="workers of scaling, against 1 (%(default)s)")
    add("--seeds", type=int, default=10, help="of scaling (%(default)s)")
    add("--slow", type=int, default=500, help="its objective, milliseconds (%(default)s)")
    add("--regret", type=float, default=0.1, help="that it shall reach (%(default)s)")
    add("--most", type=int, default=400, help="evaluations it may take (%(default)s)")
    add("--events", default="100,1000,10000,100000", help="lengths of logs (%(default)s)")
    add("--repeats", type=int, default=50, help="asks timed for each (%(default)s)")
    args = parser.parse_args()
    if args.small:
        vars(args).update(SMALL)
    args.build = args.build.resolve()
    args.measurement = args.measurement or MEASUREMENTS
    lacking = None if args.server else missing_in(args.build / "cocabo")
    if not args.store:
        args.store = "sqlite" if lacking else ",".join(STORES)
        print(lacking or "", end="\n" if lacking else "", file=sys.stderr)
    elif "postgresql" in args.store and lacking:
        parser.error(lacking)
    wrong = [m for m in args.measurement if m not in MEASUREMENTS] + \
            [s for s in args.store.split(",") if s not in STORES]
    if wrong:
        parser.error(f"{wrong[0]} is neither a measurement nor a store")
    return args


def measure(args):
    results = {"machine": platform.platform(), "processors": os.cpu_count(),
               "settings": {k: str(v) for k, v in vars(args).items() if k != "server"}}
    with places(args) as stores:
        for name in args.measurement:
            rows = []
            for place in stores:
                found = globals()[name](place, args)
                rows += found if isinstance(found, list) else [found]
            results[name] = rows
            print(f"\n{name}\n\n" + table([{k: v for k, v in row.items() if k != "runs"}
                                           for row in rows]), flush=True)
    return results


def is_sound(results):
    """Whatever the figures are, nothing was lost, doubled or refused."""
    must_be_zero = ["lost tells", "doubled numbers", "doubled points", "off budget", "errors"]
    return not any(row.get(name) for rows in results.values() if isinstance(rows, list)
                   for row in rows for name in must_be_zero)


def main():
    args = read_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and the server goes too
    results = measure(args)
    pathlib.Path(args.output).write_text(json.dumps(results, indent=1) + "\n")
    print(f"\nwritten to {args.output}")
    if not is_sound(results):
        sys.exit("bench/workers/run: something was lost, doubled or refused: see above")


if __name__ == "__main__":
    main()
