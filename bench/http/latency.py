#!/usr/bin/env python3
"""How long cocabo serve takes under wrk while a study of many trials runs.

    bench/http/latency.py PATH/TO/cocabo [--trials 20000] [--seconds 10] [--runs 3]

Asks for the list of studies and for the trials after event N-100 on 100 lines at a time
(wrk -t1 -c100) while another process asks and tells. Prints one JSON object with the
quantiles in milliseconds, medians of the runs; status 1 if a p99 is above 50 ms.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/http"))
import test_http  # noqa: E402

MOST = 50.0  # milliseconds, of 99 in 100 requests
UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


def make(folder, n):
    rng = random.Random(3)
    with open(folder / "t.csv", "w", encoding="utf-8") as file:
        file.write("value,x,y,c\n")
        for _ in range(n):
            x, y, c = rng.random(), rng.random(), rng.choice("abc")
            file.write(f"{x * x + y + (c == 'a')},{x},{y},{c}\n")
    environment = {**os.environ, "COCABO_STORAGE": "sqlite:///cocabo.db"}
    for study in ("run", "other-1", "other-2"):
        subprocess.run([test_http.PROGRAM, "import", "t.csv", "--study", study, "--sampler",
                        "random", "-p", "x=float(0,1)", "-p", "y=float(0,1)", "-p",
                        "c=choice(a,b,c)"], cwd=folder, check=True, env=environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return environment


def run_study(folder, environment):
    """cocabo run, twenty trials a second."""
    return subprocess.Popen(
        [test_http.PROGRAM, "run", "--study", "run", "-q", "-j", "2", "--timeout", "10m", "--", "sh", "-c",
         "sleep 0.1; echo $0", "{x}"], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def wrk(url, seconds):
    text = subprocess.run(["wrk", "-t1", "-c100", f"-d{seconds}s", "--latency", url],
                          check=True, capture_output=True, text=True).stdout
    found = {p: float(v) * UNITS[u] for p, v, u in
             re.findall(r"(\d+)%\s+([\d.]+)(us|ms|s|m)\b", text)}
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)", text)
    return {"p50": found["50"], "p99": found["99"],
            "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
            "bad": bad[0] if bad else None}


def measure(args, folder):
    environment = make(folder, args.trials)
    server = test_http.Server(folder)
    runner = run_study(folder, environment)
    found, faults = {}, []
    try:
        time.sleep(2)
        for _ in range(args.runs):
            seq = server.get("/api/studies/run")["seq"]
            for name, path in {"studies": "/api/studies",
                               "trials": f"/api/studies/run/trials?after={seq - 100}"}.items():
                one = wrk(f"http://{server.host}:{server.port}{path}", args.seconds)
                found.setdefault(name, []).append(one)
                faults += [f"{name}: {one['bad']}"] * (one["bad"] is not None)
        told = server.get("/api/studies/run")["states"]["complete"] - args.trials
        if runner.poll() is not None:
            faults.append("the study did not run: " + runner.stderr.read()[:200])
    finally:
        runner.terminate()
        runner.wait()
        runner.stderr.close()
        server.end()
    out = {name: {key: round(statistics.median(one[key] for one in all_), 2)
                  for key in ("p50", "p99", "rate")} for name, all_ in found.items()}
    p99 = {name: [(round(one["p99"], 1), round(one["rate"])) for one in all_]
           for name, all_ in found.items()}
    faults += [f"{name}: p99 above {MOST} ms" for name in out if out[name]["p99"] > MOST]
    print(json.dumps({"trials": args.trials, **out, "p99 and rate of each": p99,
                      "trials told meanwhile": told, "load": os.getloadavg(), "bad": faults}))
    return int(bool(faults))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--trials", type=int, default=20000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("wrk is missing: apt-get install wrk")
    test_http.PROGRAM = args.program
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(measure(args, pathlib.Path(folder)))


if __name__ == "__main__":
    main()
