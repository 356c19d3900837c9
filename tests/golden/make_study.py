"""Writes a file of studies as this version of the program makes them: every sampler, and
every kind of event. A release keeps one (VERSION.db beside this file), and the tests see to
it that all later versions open, resume and verify it.

  tests/golden/make_study.py build/cocabo tests/golden/VERSION.db
"""
import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time

program, path = sys.argv[1], sys.argv[2]
SAMPLERS = ["mixed", "cocabo", "onehot", "exp3bo", "smac", "tpe", "sobol", "random"]
SPACE = ["-p", "x=float(-2,2)", "-p", "lr=float(1e-5,0.1,log)", "-p", "step=float(0,1,step=0.25)",
         "-p", "depth=int(1,9)", "-p", 'kind=choice(a,1,1.0,true,null,"1")',
         "-p", "size=ordinal(small,medium,large)"]


def cocabo(*words, status=0):
    done = subprocess.run([program, words[0], "--storage", "sqlite:///" + path, *words[1:]],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def value(params):
    y = (params.get("x", 0) - 0.7) ** 2 + math.log10(params.get("lr", 1e-3) / 1e-3) ** 2
    y += abs(params.get("depth", 4) - 4) / 7 + (params.get("size") != "medium") / 3
    return y + {"a": 0.31, "1": 0.17, "None": 0.93}.get(str(params.get("kind")), 0.47)


def ask(study, n, *words):
    lines = cocabo("ask", "-n", str(n), "--study", study, "--json", *words).splitlines()
    return [json.loads(line) for line in lines]


def rounds(study, batches, fail_every=7):
    """Batches of these sizes; told in reverse order, and some of them fail."""
    for n in batches:
        for trial in reversed(ask(study, n)):
            number = str(trial["number"])
            if trial["number"] % fail_every == fail_every - 1:
                cocabo("tell", number, "--fail", "no value: trial %s" % number, "--study", study)
            else:
                cocabo("tell", number, repr(value(trial["params"])), "--study", study)


def sampler_study(name):
    cocabo("create", "--study", name, *SPACE, "--sampler", name, "--seed", "41",
           "--set", "n_init=6")
    rounds(name, [4, 1, 3, 1, 1, 4, 1, 1, 2] + [1] * 10)


def main():
    if os.path.exists(path):
        os.remove(path)
    for name in SAMPLERS:
        sampler_study(name)

    # Numbers only, maximised; fitted with several batches of points pending.
    cocabo("create", "--study", "numbers", "-p", "x=float(-2,2)", "-p", "depth=int(1,30)",
           "-p", "lr=float(1e-5,0.1,log)", "--maximize", "--set", "n_init=4")
    rounds("numbers", [4, 1, 1, 1, 6, 1, 1, 12, 1, 1])
    # Categories only.
    cocabo("create", "--study", "categories", "-p", "kind=choice(a,b,c,d)", "-p", "size=choice(1,2,3)",
           "--set", "n_init=3")
    rounds("categories", [1] * 9, fail_every=100)
    # Noise; options that change; the sampler too.
    cocabo("create", "--study", "changed", *SPACE, "--set", "n_init=5",
           "--set", "deterministic=false")
    rounds("changed", [5, 1, 1, 2])
    cocabo("create", "--study", "changed", *SPACE, "--set", "deterministic=true", "--set", "kappa=1.5",
           "-n", "60", "--trial-timeout", "11", "--", "false", "{x}")
    rounds("changed", [1, 2])
    cocabo("create", "--study", "changed", *SPACE, "--sampler", "cocabo")
    rounds("changed", [3, 1])

    # Known results, enqueued points, running, lost and interrupted trials.
    table = path + ".csv"
    with open(table, "w", encoding="utf-8") as out:
        out.write("x,lr,step,depth,kind,size,value\n0.25,0.001,0.5,3,a,medium,0.625\n"
                  "-1.5,0.03,0.25,7,true,large,2.75\n1.125,0.0001,0,2,null,small,\n")
    cocabo("create", "--study", "life", *SPACE, "--set", "n_init=4")
    cocabo("import", "--format", "csv", table, "--study", "life")
    os.remove(table)
    rounds("life", [1, 4])
    ask("life", 1, "--lease", "1")
    time.sleep(1.5)
    rounds("life", [1, 2])  # the first is the lost one, handed out again
    ask("life", 2)          # these stay running
    run = subprocess.Popen([program, "run", "--study", "life", *SPACE, "-n", "40", "-j", "2",
                            "--storage", "sqlite:///" + path, "--", "sleep", "60"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(2)
    run.send_signal(signal.SIGINT)
    assert run.wait(30) == 130
    ask("life", 1)  # one of the interrupted ones, running again

    # One file, without a write-ahead log beside it.
    base = sqlite3.connect(path)
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.execute("PRAGMA journal_mode=DELETE")
    base.execute("VACUUM")
    base.close()


main()
