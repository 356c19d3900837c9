#!/usr/bin/env python3
"""A long load at a fixed rate: does cocabo serve grow in memory or descriptors?

    bench/http/soak.py PATH/TO/cocabo [--minutes 60] [--rate 25] [--samples FILE.csv]

Every route is asked, with and without gzip, on lines that stay and on new ones; studies
are made, told to and deleted; streams are opened and left; requests are malformed or never
ended. Resident memory and descriptors are sampled. Prints one JSON object; status 1 if
the server grew, answered 5xx, or ended badly.
"""

import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/http"))
import test_http  # noqa: E402

LIVES = 90  # seconds of a study that is told to
WARM = 20  # minutes from which on the first sixth is enough to warm up
SPARE = 6  # descriptors more than at the beginning that a server may keep,
PATIENCE = 20  # and seconds that it may take to see that all lines are closed
GROWTH = 2048  # KB that the allocator may wander by between the beginning and the end
RAW = [b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
       b"GET /api HTTP/1.1\r\nHost: evil.org\r\n\r\n",
       b"POST /api/studies/run/tell HTTP/1.1\r\nHost: localhost\r\n"
       b"Content-Type: application/json\r\nContent-Length: 5\r\n\r\n{\"a\":",
       b"POST /api/studies/run/tell HTTP/1.1\r\nHost: localhost\r\n"
       b"Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{",  # never ended
       b"\x16\x03\x01\x02\x00\r\n\r\n"]


class Soak:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.rng = random.Random(args.seed)
        self.counts = collections.Counter()
        self.left = []  # lines that were left open: (end, socket)
        self.lines = []
        self.cocabo("create", "--study", "run", "-p", "x=float(0,1)")
        self.make_steady(1500)
        self.server = test_http.Server(folder, "--allow-tell")
        self.born = time.monotonic()

    def cocabo(self, *args):
        subprocess.run([test_http.PROGRAM, *args], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "COCABO_STORAGE": "sqlite:///cocabo.db"})

    def make_steady(self, n):
        with open(self.folder / "t.csv", "w", encoding="utf-8") as file:
            file.write("value,x,y,c\n")
            for _ in range(n):
                x, y, c = self.rng.random(), self.rng.random(), self.rng.choice("abc")
                file.write(f"{x * x + y + (c == 'a')},{x},{y},{c}\n")
        self.cocabo("import", "t.csv", "--study", "steady", "--sampler", "random", "-p",
                    "x=float(0,1)", "-p", "y=float(0,1)", "-p", "c=choice(a,b,c)")

    # ---- what is asked --------------------------------------------------------------

    def note(self, what, status):
        self.counts[f"{what} {status}"] += 1

    def line(self):
        """One of a few lines that stay open, or a new one."""
        if self.rng.random() < 0.3:
            return http.client.HTTPConnection(self.server.host, self.server.port, timeout=60), True
        while len(self.lines) < 8:
            self.lines.append(
                http.client.HTTPConnection(self.server.host, self.server.port, timeout=60))
        return self.rng.choice(self.lines), False

    def ask(self, method, path, document=None):
        line, ends = self.line()
        headers = {"Accept-Encoding": "gzip"} if self.rng.random() < 0.5 else {}
        if document is not None:
            headers["Content-Type"] = "application/json"
        body = None if document is None else json.dumps(document)
        try:
            line.request(method, path, body, headers)
            answer = line.getresponse()
            content = answer.read()
        except (http.client.HTTPException, OSError):
            line.close()  # the server hung up on a silent line
            self.counts["hung up"] += 1
            return None, b""
        if ends:
            line.close()
        self.note(method, answer.status)
        return answer.status, content

    def look(self):
        study = self.rng.choice(["steady", "run", "run"])
        place = f"/api/studies/{study}"
        quick = ["", "/columns", "/columns?after=50&limit=200", "/trials", "/trials?after=40",
                 "/trials/3", "/history", "/categories", "/intermediate", "/workers"]
        thinks = ["/best", "/importances", "/predictions?x=x", "/beliefs"]
        others = ["/", "/page.js", "/page.css", "/api", "/api/studies", "/nope",
                  "/api/studies/nope", f"{place}/columns?after=x"]
        kind = self.rng.random()
        path = (self.rng.choice(others) if kind < 0.3 else
                place + self.rng.choice(thinks) if kind < 0.34 else
                place + self.rng.choice(quick))
        self.ask("GET", path)

    def tell(self):
        status, content = self.ask("POST", "/api/studies/run/ask", {"lease": 60, "owner": "soak"})
        if status != 200:
            return
        for trial in json.loads(content)["trials"]:
            number, x = trial["number"], trial["params"]["x"]
            if self.rng.random() < 0.3:
                self.ask("POST", "/api/studies/run/report",
                         {"number": number, "step": 1, "value": x})
            if self.rng.random() < 0.1:
                self.ask("POST", "/api/studies/run/fail", {"number": number, "reason": "why not"})
            else:
                self.ask("POST", "/api/studies/run/tell",
                         {"number": number, "value": x, "metrics": {"m": x}})

    def leave(self):
        """A stream, or a request of somebody hostile, that is left after a while."""
        raw = self.rng.choice(RAW)
        if self.rng.random() < 0.6:
            path = self.rng.choice(["/api/events", "/api/studies/run/events"])
            raw = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        line = socket.create_connection((self.server.host, self.server.port), timeout=10)
        line.sendall(raw)
        self.left.append((time.monotonic() + self.rng.uniform(0, 25), line))
        self.counts["left"] += 1

    def renew(self):
        self.cocabo("delete", "--study", "run", "--yes")
        self.cocabo("create", "--study", "run", "-p", "x=float(0,1)")
        self.born = time.monotonic()
        self.counts["studies"] += 1

    def act(self):
        now = time.monotonic()
        for one in [one for one in self.left if one[0] < now]:
            one[1].close()
            self.left.remove(one)
        if now - self.born > LIVES:
            self.renew()
        kind = self.rng.random()
        if kind < 0.03:
            self.tell()
        elif kind < 0.05:
            self.leave()
        else:
            self.look()

    # ---- what is measured -------------------------------------------------------------

    def sample(self):
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        files = len(os.listdir(f"/proc/{self.server.process.pid}/fd"))
        return int(status.split("VmRSS:")[1].split()[0]), files

    def seconds_of_server(self):
        words = pathlib.Path(f"/proc/{self.server.process.pid}/stat").read_text().split()
        return (int(words[13]) + int(words[14])) / os.sysconf("SC_CLK_TCK")

    def run(self):
        start, samples, done = time.monotonic(), [], 0
        end = start + 60 * self.args.minutes
        while (now := time.monotonic()) < end:
            if now - start >= 5 * len(samples):
                samples.append((now - start, *self.sample()))
            if done < (now - start) * self.args.rate:
                self.act()
                done += 1
            else:
                time.sleep(0.5 / self.args.rate)
        cpu = self.seconds_of_server()
        for _, line in self.left:
            line.close()
        for line in self.lines:
            line.close()
        end = time.monotonic() + PATIENCE
        while (after := self.sample()[1]) > samples[0][2] + SPARE and time.monotonic() < end:
            time.sleep(0.5)
        return self.judge(samples, done, cpu, after)

    def judge(self, samples, done, cpu, files_after):
        """The first sixth is for warming up."""
        warm = samples[len(samples) // 6:]
        part = max(1, len(warm) // 5)
        first, last = warm[:part], warm[-part:]
        kb = [statistics.median(s[1] for s in some) for some in (first, last)]
        files = [statistics.median(s[2] for s in some) for some in (first, last)]
        code = self.server.end()
        found = {"minutes": self.args.minutes, "actions": done,
                 "server_cpu_seconds": round(cpu, 1), "rss_kb_at_start": samples[0][1],
                 "rss_kb_warm": kb[0], "rss_kb_end": kb[1],
                 "rss_kb_most": max(s[1] for s in samples), "files_warm": files[0],
                 "files_end": files[1], "files_most": max(s[2] for s in samples),
                 "files_after": files_after, "counts": dict(sorted(self.counts.items()))}
        long = self.args.minutes >= WARM
        bad = ["memory grew"] * (long and kb[1] > kb[0] + GROWTH)
        bad += ["descriptors grew"] * (files[1] > files[0] + 15 or files_after > samples[0][2] + SPARE)
        bad += ["the server ended badly"] * ((code, self.server.rest) != (0, ""))
        bad += ["status 5xx"] * any(key.split()[-1][0] == "5" for key in self.counts)
        print(json.dumps({**found, "bad": bad}, indent=1))
        if self.args.samples:
            pathlib.Path(self.args.samples).write_text("seconds,rss_kb,files\n" + "".join(
                f"{t:.0f},{kb},{n}\n" for t, kb, n in samples))
        return int(bool(bad))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=25, help="actions a second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", help="a CSV file for all samples")
    args = parser.parse_args()
    test_http.PROGRAM = args.program
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(Soak(args, pathlib.Path(folder)).run())


if __name__ == "__main__":
    main()
