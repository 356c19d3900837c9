#!/usr/bin/env python3
"""Workers that know nothing but HTTP, and a server that is killed now and then: every
trial is told once, nothing that was told is lost, and the study verifies. With --store the
workers are cocabo worker, whose storage is the server; else they ask and tell.

    python3 tests/http/chaos_http.py PATH/TO/cocabo [--store] [--workers 8] [--trials 150] [--kills 4]
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

# A worker is a process, so that it can be killed at any moment.
WORKER = r"""
import json, os, sys, time, urllib.error, urllib.request
url, told = sys.argv[1], open(sys.argv[2], "a", buffering=1)
me = f"worker-{os.getpid()}"
def post(what, document):
    request = urllib.request.Request(f"{url}/{what}", json.dumps(document).encode(),
                                     {"Content-Type": "application/json"})
    while True:
        try:
            return json.load(urllib.request.urlopen(request, timeout=30))
        except urllib.error.HTTPError as error:
            if error.code == 409:
                sys.exit(0)
            assert error.code == 503, (error.code, error.read())
        except OSError:
            pass  # the server is being started again
        time.sleep(0.1)
while True:
    for trial in post("ask", {"lease": 3, "owner": me})["trials"]:
        value = trial["params"]["x"] + trial["number"]
        post("tell", {"number": trial["number"], "value": value})
        told.write(f"{trial['number']} {value!r}\n")
"""


def cocabo(folder, *args):
    done = subprocess.run([PROGRAM, *args], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"cocabo {args[0]}: {done.stderr}")
    return done.stdout


def serve(folder, port):
    for _ in range(100):  # the port of one that was killed may take a moment
        server = subprocess.Popen(
            [PROGRAM, "serve", "--allow-store" if STORE else "--allow-tell", "--port", str(port)],
            cwd=folder, stderr=subprocess.PIPE, text=True)
        found = re.search(r":(\d+)/ ", server.stderr.readline())
        if found:
            return server, int(found[1])
        server.wait()
        time.sleep(0.1)
    sys.exit("the server does not start")


def start(folder, port, k):
    """A worker, which leaves the trials that it told in a file, one a line."""
    told = folder / f"told-{k}"
    if not STORE:
        url = f"http://127.0.0.1:{port}/api/studies/s"
        return subprocess.Popen([sys.executable, "-c", WORKER, url, told])
    with open(told, "a") as out, open(folder / f"said-{k}", "w") as said:
        return subprocess.Popen(
            [PROGRAM, "worker", "--storage", f"http://127.0.0.1:{port}", "--study", "s",
             "--lease", "3", "--json", "--", "sh", "-c", "sleep 0.1; echo {x}"],
            cwd=folder, stdout=out, stderr=said)


def found_nobody(folder, k):
    """Did the worker come while there was no server? Only one that it knows is waited for."""
    path = folder / f"said-{k}"
    return STORE and "cannot open http://" in path.read_text()


def work(folder, port, k, counts, over):
    """Runs a worker, and another one whenever it was killed."""
    while not over.is_set():
        worker = start(folder, port, k)
        counts["workers"][k] = worker
        if worker.wait() == 0:
            return
        if worker.returncode == -signal.SIGKILL:
            counts["killed"] += 1
        elif found_nobody(folder, k):
            time.sleep(0.1)
        else:
            counts["broken"] += 1
            sys.stderr.write((folder / f"said-{k}").read_text() if STORE else "")
            return


def play(args, folder):
    rng = random.Random(args.seed)
    cocabo(folder, "create", "--study", "s", "-p", "x=float(0,1)", "-n", str(args.trials),
           "--sampler", "random")
    server, port = serve(folder, 0)
    counts, over = {"workers": {}, "broken": 0, "killed": 0}, threading.Event()
    threads = [threading.Thread(target=work, args=(folder, port, k, counts, over))
               for k in range(args.workers)]
    for thread in threads:
        thread.start()
    for _ in range(args.kills):
        time.sleep(rng.uniform(0.2, 1.5))
        for k in rng.sample(range(args.workers), max(1, args.workers // 8)):
            counts["workers"][k].kill()
        server.kill()
        server.wait()
        server, port = serve(folder, port)
    # A trial that was asked for and lost is offered again when its lease has run out.
    end = time.monotonic() + args.patience
    while any(t.is_alive() for t in threads) and time.monotonic() < end:
        states = [json.loads(line)["state"] for line in
                  cocabo(folder, "trials", "--study", "s", "--json").splitlines()]
        if states.count("complete") < args.trials and not any(t.is_alive() for t in threads):
            break
        time.sleep(0.2)
    over.set()
    for thread in threads:
        thread.join()
    drain(folder, port, args)
    server.send_signal(signal.SIGINT)
    return counts, server.wait()


def drain(folder, port, args):
    """What workers left whose budget was used up by trials that others had lost."""
    end = time.monotonic() + args.patience
    while time.monotonic() < end:
        trials = [json.loads(line) for line in
                  cocabo(folder, "trials", "--study", "s", "--json").splitlines()]
        if sum(t["state"] == "complete" for t in trials) >= args.trials:
            return
        start(folder, port, "last").wait()
        time.sleep(0.5)


def read_told(folder):
    """(number, value) of everything that a worker knows to be told."""
    for path in folder.glob("told-*"):
        for line in path.read_text().splitlines():
            if not STORE:
                number, value = line.split()
                yield int(number), float(value)
            elif line.endswith("}"):  # one that was killed may leave half a line
                trial = json.loads(line)
                yield trial["number"], trial["value"]


def main():
    global PROGRAM, STORE
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--trials", type=int, default=150)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--patience", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    PROGRAM, STORE = args.program, args.store
    os.environ["COCABO_STORAGE"] = "sqlite:///cocabo.db"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        counts, status = play(args, folder)
        trials = {t["number"]: t for t in map(json.loads, cocabo(
            folder, "trials", "--study", "s", "--json").splitlines())}
        bad = [f"the server ended with {status}"] * (status != 0)
        bad += [f"{counts['broken']} workers broke"] * (counts["broken"] > 0)
        bad += [f"trial {n} is {t['state']}" for n, t in trials.items() if t["state"] != "complete"]
        bad += [f"there are {len(trials)} trials"] * (len(trials) != args.trials)
        told = list(read_told(folder))
        bad += [f"trial {n} was told {v}, has {trials[n]['value']}" for n, v in told
                if trials[n]["value"] != v]
        bad += ["hardly anything was told"] * (len(told) < args.trials // 2)
        cocabo(folder, "verify", "--study", "s")
        print("\n".join(bad) or f"{len(trials)} trials, {len(told)} answers, {args.kills} kills "
              f"of the server, {counts['killed']} of workers")
        sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
