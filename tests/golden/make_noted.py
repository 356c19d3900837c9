"""Writes the small file 0.2.0-notes.db: a study with what is noted and reported of its
trials, checksums, and an event of a kind that only a later version knows.

  tests/golden/make_noted.py build/cocabo tests/golden/0.2.0-notes.db
"""
import json
import os
import sqlite3
import subprocess
import sys

program, path = sys.argv[1], sys.argv[2]


def cocabo(*words):
    return subprocess.run([program, words[0], "--storage", "sqlite:///" + path, *words[1:]],
                          capture_output=True, text=True, timeout=60, check=True).stdout


def fnv(text):
    """FNV-1a with 64 bits, as SQLite keeps it: with a sign."""
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value - 2**64 if value >= 2**63 else value


def main():
    if os.path.exists(path):
        os.remove(path)
    cocabo("create", "--study", "noted", "-p", "x=float(-2,2)", "-p", "kind=choice(a,b,1)",
           "--set", "n_init=4", "--seed", "7")
    for number in range(9):
        trial = json.loads(cocabo("ask", "--json"))
        for step in (4, 1, 4):
            if number % 2 == 0:
                cocabo("tell", str(number), str(step / 8 + number), "--step", str(step))
        if number == 5:
            cocabo("tell", "5", "--fail", "no room", "--attr", "host=größe")
        else:
            cocabo("tell", str(number), repr((trial["params"]["x"] - 0.7) ** 2),
                   "--attr", "host=a%d" % (number % 3), "--attr", "empty=")
    cocabo("tell", "3", "--attr", "host=moved")
    base = sqlite3.connect(path)
    body = '{"later": [1, {"a": null}], "version": "9.9.9"}'
    last, = base.execute("SELECT max(seq) FROM events").fetchone()
    base.execute("INSERT INTO events VALUES (1, ?, randomblob(16), 1800000000.5, 150, 2, 0, ?, ?)",
                 (last + 1, body, fnv(body)))
    base.commit()
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.execute("PRAGMA journal_mode=DELETE")
    base.execute("VACUUM")
    base.close()


main()
