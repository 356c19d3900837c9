#!/usr/bin/env python3
"""cocabo serve and cocabo report, as a client of the network and as a reader of the file
see them.

    python3 tests/http/test_http.py PATH/TO/cocabo [unittest arguments]
"""

import base64
import fcntl
import gzip
import hashlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
import urllib.parse

PROGRAM = ""  # set by main
ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTILE = "</script><script>alert(1)</script> & \"quotes\" 'x' é"
TOKEN = "a-token-of-some-length-0123456789"
STATES = ["waiting", "running", "complete", "failed", "interrupted", "stale"]


class Server:
    """A running cocabo serve."""

    def __init__(self, folder, *args, port=0, **environment):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--port", str(port), *args], cwd=folder, stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, text=True,
            env={**os.environ, "COCABO_STORAGE": "sqlite:///cocabo.db", **environment})
        line = self.process.stderr.readline()
        found = re.search(r"http://(\[[^]]+\]|[0-9.]+):(\d+)/", line)
        if not found:
            raise AssertionError(line + self.process.stderr.read())
        self.host, self.port = found[1].strip("[]"), int(found[2])
        if self.host in ("0.0.0.0", "::"):
            self.host = "127.0.0.1"
        self.said = line

    def end(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(30)
        if not self.process.stderr.closed:
            self.rest = self.process.stderr.read()
            self.process.stderr.close()
        return self.process.returncode

    def ask(self, path, method="GET", body=None, **headers):
        """Status, headers and content of one request."""
        line = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            line.request(method, path, body, headers)
            answer = line.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            line.close()

    def get(self, path, **headers):
        status, _, content = self.ask(path, **headers)
        if status != 200:
            raise AssertionError(f"{path}: {status} {content[:300]}")
        return json.loads(content)

    def post(self, path, document, **headers):
        status, _, content = self.ask(path, "POST", json.dumps(document),
                                      Content_Type="application/json", **headers)
        return status, json.loads(content)

    def say(self, raw, wait=5):
        """What comes back for these bytes, until the server hangs up or is silent."""
        with socket.create_connection((self.host, self.port), timeout=wait) as line:
            line.sendall(raw)
            back = b""
            try:
                while part := line.recv(65536):
                    back += part
            except (TimeoutError, ConnectionResetError):
                pass
            return back


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def cocabo(self, *args, status=0, **more):
        done = subprocess.run(
            [PROGRAM, *args], cwd=self.folder, capture_output=True, text=True, timeout=120,
            env={**os.environ, "COCABO_STORAGE": "sqlite:///cocabo.db", **more})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def lines(self, *args):
        return [json.loads(line) for line in self.cocabo(*args, "--json").stdout.splitlines()]

    def serve(self, *args, port=0, **environment):
        server = Server(self.folder, *args, port=port, **environment)
        self.addCleanup(server.end)
        return server

    def make(self, study="svm", n=24, *more):
        """A study with every kind of parameter, conditions, a constraint and failures."""
        self.cocabo("create", "--study", study, "-p", "lr=float(1e-5,0.1,log)",
                    "-p", "k=choice(rbf,poly,1,true,null)", "-p", "deg=int(2,5) if k == poly",
                    "-p", "size=ordinal(s,m,l)", "--constraint", "p99 < 20", "-n", "100",
                    "--set", "n_init=8", *more)
        for trial in self.lines("ask", "--study", study, "-n", str(n)):
            number, params = trial["number"], trial["params"]
            if number % 7 == 3:
                self.cocabo("tell", "--study", study, str(number), "--fail",
                            f"exit status {number}\nand more of it")
            elif number % 11 != 5:
                value = abs(params["lr"] - 0.01) + params.get("deg", 1) + number / 1000
                self.cocabo("tell", "--study", study, str(number),
                            json.dumps({"value": value, "p99": number}))
        for step in range(30 if n > 5 else 0):
            self.cocabo("tell", "--study", study, "5", "--step", str(step), str(1 / (step + 1)))


# ---- documents ----------------------------------------------------------------------

class Documents(Case):
    @classmethod
    def setUpClass(cls):
        case = cls("run_nothing")
        case.setUp()
        cls.case = case
        case.make()
        case.cocabo("create", "--study", HOSTILE, "-p", f"{HOSTILE}=choice(a,b)")
        cls.server = Server(case.folder)

    @classmethod
    def tearDownClass(cls):
        cls.server.end()
        cls.case.doCleanups()

    def run_nothing(self):
        pass

    def get(self, path, **headers):
        return self.server.get("/api/studies/svm" + path, **headers)

    def refused(self, path, status):
        got, _, content = self.server.ask("/api/studies/svm" + path)
        sentence = json.loads(content)["error"]
        self.assertEqual(got, status, sentence)
        return sentence

    def test_the_program_says_what_it_allows(self):
        program = self.server.get("/api")
        self.assertEqual((program["program"], program["live"], program["allow_tell"]),
                         ("cocabo", True, False))

    def test_the_list_is_that_of_the_command(self):
        listed = self.server.get("/api/studies")
        want = {s["name"]: s for s in self.case.lines("studies")}
        self.assertEqual(listed["total"], 2)
        self.assertEqual([s["name"] for s in listed["studies"]], ["svm", HOSTILE])
        ours = listed["studies"][0]
        self.assertEqual(ours["states"]["complete"], want["svm"]["complete"])
        self.assertEqual(ours["best"]["number"], want["svm"]["best"]["number"]
                         if isinstance(want["svm"].get("best"), dict) else ours["best"]["number"])
        self.assertTrue(ours["constrained"])
        self.assertIsNone(listed["studies"][1]["best"])
        part = self.server.get("/api/studies?limit=1&offset=1")
        self.assertEqual([s["name"] for s in part["studies"]], [HOSTILE])

    def test_a_study_describes_its_space(self):
        study = self.get("")
        kinds = [(p["name"], p["kind"], p["condition"]) for p in study["space"]["parameters"]]
        self.assertEqual(kinds, [("lr", "float", None), ("k", "choice", None),
                                 ("deg", "int", 'k == "poly"'), ("size", "ordinal", None)])
        by_name = {p["name"]: p for p in study["space"]["parameters"]}
        self.assertEqual((by_name["lr"]["low"], by_name["lr"]["high"], by_name["lr"]["log"]),
                         (1e-5, 0.1, True))
        self.assertEqual(by_name["k"]["choices"], ["rbf", "poly", 1, True, None])
        self.assertEqual(by_name["deg"]["domain"], "int(2,5)")
        self.assertEqual(study["constraints"], ["p99 < 20"])
        self.assertEqual((study["budget"], study["count"]), (100, 24))
        self.assertEqual(study["metrics"], ["p99"])
        self.assertEqual(study["options"]["n_init"], "8")

    def test_a_hostile_name_is_a_name(self):
        path = "/api/studies/" + urllib.parse.quote(HOSTILE, safe="")
        study = self.server.get(path)
        self.assertEqual(study["name"], HOSTILE)
        self.assertEqual(study["space"]["parameters"][0]["name"], HOSTILE)

    def test_trials_are_those_of_the_command(self):
        want = {t["number"]: t for t in self.case.lines("trials", "--study", "svm")}
        rows, after = [], 0
        while True:
            part = self.get(f"/trials?after={after}&limit=10")
            self.assertLessEqual(len(part["trials"]), 10)
            rows += part["trials"]
            after = part["next"]
            if not part["more"]:
                break
        self.assertEqual([r["seq"] for r in rows], sorted(r["seq"] for r in rows))
        self.assertEqual(sorted(r["number"] for r in rows), sorted(want))
        for row in rows:
            for key in ("state", "value", "params", "attempt", "metrics", "feasible"):
                self.assertEqual(row[key], want[row["number"]][key], key)
            self.assertEqual(row.get("reason"), want[row["number"]].get("reason"))
            self.assertEqual(row.get("reports"), want[row["number"]].get("reports"))
        self.assertEqual(self.get("/trials/5"), next(r for r in rows if r["number"] == 5))

    def test_columns_say_what_trials_say(self):
        columns, study = self.get("/columns"), self.get("")
        self.assertEqual((columns["count"], columns["more"], columns["thinned"]), (24, False, False))
        for i, number in enumerate(columns["number"]):
            trial = self.get(f"/trials/{number}")
            self.assertEqual(STATES[columns["state"][i]], trial["state"])
            self.assertEqual(columns["value"][i], trial["value"])
            self.assertEqual(columns["seqs"][i], trial["seq"])
            self.assertEqual(columns["metrics"]["p99"][i], trial["metrics"].get("p99"))
            feasible = {1: True, 0: False, None: None}[columns["feasible"][i]]
            self.assertEqual(feasible, trial["feasible"])
            for parameter, column in zip(study["space"]["parameters"], columns["params"]):
                want = trial["params"].get(parameter["name"], "inactive")
                got = column[i]
                if "choices" in parameter and got is not None:
                    got = parameter["choices"][got]
                elif got is None:
                    got = "inactive"
                if isinstance(want, float):
                    self.assertAlmostEqual(got, want, delta=1e-6 * abs(want))
                else:
                    self.assertEqual((type(got), got), (type(want), want))
        self.assertEqual(columns["reasons"]["3"], "exit status 3")
        self.assertEqual(columns["reported"], [5])
        rest = self.get(f"/columns?after={columns['seqs'][-3]}")
        self.assertEqual(rest["number"], columns["number"][-2:])
        first = self.get("/columns?limit=4")
        self.assertEqual((first["number"], first["more"], first["next"]),
                         (columns["number"][:4], True, columns["seqs"][3]))

    def test_history_has_every_improvement(self):
        history = self.get("/history?points=3")
        best, want = None, []
        for trial in sorted(self.case.lines("trials", "--study", "svm"), key=lambda t: t["number"]):
            if trial["state"] == "complete" and trial["feasible"] and (
                    best is None or trial["value"] < best):
                best = trial["value"]
                want.append([trial["number"], best])
        self.assertEqual([step[:2] for step in history["best"]], want)
        self.assertTrue(history["thinned"])
        self.assertLessEqual(set(n for n, _ in want), set(history["number"]))
        whole = self.get("/history")
        self.assertEqual(len(whole["number"]), sum(s in (2, 3) for s in self.get("/columns")["state"]))
        self.assertEqual(self.get("/history?points=0")["number"], [])

    def test_the_best_is_that_of_the_command(self):
        best = self.case.lines("best", "--study", "svm")[0]
        for document in (self.get("/best"), self.get("")["best"]):
            for key in ("number", "value", "params", "feasible"):
                self.assertEqual(document[key], best[key])

    def test_importances_are_shares(self):
        shares = self.get("/importances")
        self.assertEqual([p["name"] for p in shares["parameters"]], ["lr", "k", "deg", "size"])
        self.assertAlmostEqual(sum(p["share"] for p in shares["parameters"]), 1.0, places=9)
        want = {p["parameter"]: p["share"] for p in
                self.case.lines("plot", "--study", "svm", "--kind", "importance")}
        self.assertEqual({p["name"]: p["share"] for p in shares["parameters"]}, want)

    def test_a_slice_goes_through_the_best(self):
        cut, best = self.get("/predictions?x=lr&points=21"), self.get("/best")
        self.assertEqual((cut["number"], cut["at"]), (best["number"], best["params"]))
        self.assertEqual(cut["current"], best["params"]["lr"])
        values = cut["x"]["values"]
        self.assertEqual((len(values), values[0], values[-1]), (21, 1e-5, 0.1))
        self.assertAlmostEqual(values[10], 1e-3, places=9)  # even on a log scale
        self.assertTrue(all(sd > 0 for sd in cut["sd"]))
        self.assertTrue(all(0 <= p <= 1 for p in cut["p_feasible"]))
        choices = self.get("/predictions?x=k")
        self.assertEqual(choices["x"]["values"], ["rbf", "poly", 1, True, None])
        self.assertEqual(len(choices["mean"]), 5)

    def test_a_contour_agrees_with_slices(self):
        contour = self.get("/predictions?x=lr&y=size&points=9")
        self.assertEqual(contour["y"]["values"], ["s", "m", "l"])
        self.assertEqual([len(row) for row in contour["mean"]], [9, 9, 9])
        row = contour["y"]["values"].index(contour["at"]["size"])
        cut = self.get("/predictions?x=lr&points=9")
        for a, b in zip(contour["mean"][row], cut["mean"]):
            self.assertAlmostEqual(a, b, delta=1e-6 * abs(b))

    def test_what_is_inactive_has_no_slice(self):
        self.assertNotIn("deg", self.get("/best")["params"])
        self.assertIn("inactive", self.refused("/predictions?x=deg", 409))

    def test_beliefs_name_trials(self):
        beliefs = self.get("/beliefs")
        self.assertEqual(beliefs["incumbent"]["number"], self.get("/best")["number"])
        self.assertTrue(0 <= beliefs["success"] <= 1)
        self.assertLessEqual(beliefs["predicted"]["mean"], beliefs["incumbent"]["mean"])

    def test_categories_count_all_trials(self):
        document = self.get("/categories?bins=5")
        columns = self.get("/columns")
        self.assertEqual([p["name"] for p in document["parameters"]], ["k", "size"])
        order = sorted(range(24), key=lambda i: columns["number"][i])
        cells = [columns["params"][1][i] for i in order]
        for choice, counts in enumerate(document["parameters"][0]["counts"]):
            want = [sum(c == choice for c in cells[at:at + document["size"]])
                    for at in range(0, 24, document["size"])]
            self.assertEqual(counts, want)
        for parameter, column in zip(document["parameters"], (1, 3)):
            for choice in range(len(parameter["choices"])):
                rows = [i for i in order if columns["params"][column][i] == choice]
                kept = [columns["value"][i] for i in rows if columns["feasible"][i] == 1]
                failed = sum(columns["state"][i] == 3 for i in rows)
                self.assertEqual((parameter["tried"][choice], parameter["failed"][choice],
                                  parameter["best"][choice]),
                                 (len(rows), failed, min(kept, default=None)))

    def test_intermediate_values_are_thinned(self):
        whole = self.get("/intermediate")
        self.assertEqual(whole["total"], 1)
        self.assertEqual(whole["trials"][0]["steps"], list(range(30)))
        some = self.get("/intermediate?points=4")["trials"][0]
        self.assertEqual((some["steps"][0], some["steps"][-1], len(some["steps"])), (0, 29, 4))
        self.assertTrue(some["thinned"])

    def test_workers_are_leases(self):
        self.case.cocabo("ask", "--study", "svm", "--lease", "60")
        try:
            worker = self.get("/workers")["workers"][-1]
            self.assertTrue(0 < worker["left"] <= 60)
            self.assertEqual(self.get(f"/trials/{worker['trial']}")["state"], "running")
        finally:
            self.case.cocabo("tell", "--study", "svm", str(worker["trial"]), "--fail", "x")
            self.__class__.tearDownClass()
            self.__class__.setUpClass()

    def test_unchanged_is_not_sent_again(self):
        path = "/api/studies/svm/columns"
        status, headers, content = self.server.ask(path)
        tag = headers["ETag"]
        status, headers, again = self.server.ask(path, If_None_Match=tag)
        self.assertEqual((status, again), (304, b""))
        self.assertEqual((headers["ETag"], headers["Vary"], headers["X-Content-Type-Options"]),
                         (tag, "Accept-Encoding, Authorization", "nosniff"))
        status, headers, packed = self.server.ask(path, Accept_Encoding="gzip")
        self.assertEqual(headers["Content-Encoding"], "gzip")
        self.assertEqual(gzip.decompress(packed), content)
        self.assertNotEqual(headers["ETag"], tag)
        status, headers, nothing = self.server.ask(path, "HEAD")
        self.assertEqual((status, nothing, int(headers["Content-Length"])), (200, b"", len(content)))

    def test_bad_queries_are_named(self):
        for path, status in [("/columns?after=x", 400), ("/columns?limit=0", 400),
                             ("/columns?limit=20001", 400), ("/columns?after=-1", 400),
                             ("/columns?nope=1", 400), ("/columns?after=1&after=2", 400),
                             ("/trials?limit=1001", 400), ("/trials/x", 400), ("/trials/-1", 400),
                             ("/trials/24000", 404), ("/predictions", 400),
                             ("/predictions?x=nope", 400), ("/predictions?x=lr&y=lr", 400),
                             ("/predictions?x=lr&points=1", 400), ("/history?points=1e3", 400),
                             ("/categories?bins=0", 400), ("/nope", 404)]:
            with self.subTest(path=path):
                self.assertTrue(self.refused(path, status))
        status, _, content = self.server.ask("/api/studies/nope")
        self.assertEqual((status, json.loads(content)["error"]), (404, 'no study "nope"'))

    def test_every_answer_is_guarded(self):
        for path in ("/", "/page.js", "/page.css", "/api", "/api/studies/svm", "/api/nope"):
            _, headers, _ = self.server.ask(path)
            with self.subTest(path=path):
                self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(headers["Referrer-Policy"], "no-referrer")
                self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
                self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
                self.assertNotIn("unsafe", headers["Content-Security-Policy"])
                self.assertNotIn("Access-Control-Allow-Origin", headers)

    def test_the_page_is_small_and_alone(self):
        total = 0
        for path in ("/", "/page.js", "/page.css"):
            status, _, content = self.server.ask(path)
            self.assertEqual(status, 200)
            total += len(content)
            found = re.findall(rb"(?:src|href)=[\"']?(?:https?:)?//[^\s\"']+", content)
            self.assertEqual(found, [], path)
        self.assertLessEqual(total, 300 * 1000)
        self.assertEqual(self.server.ask("/favicon.ico")[0], 204)


class Few(Case):
    def test_what_needs_results_waits_for_them(self):
        self.make("few", 1)
        server = self.serve()
        for path in ("importances", "predictions?x=lr", "beliefs"):
            status, _, content = server.ask(f"/api/studies/few/{path}")
            self.assertEqual(status, 409, content)
        self.assertIn("error", json.loads(content))
        self.assertEqual(server.get("/api/studies/few/columns")["count"], 1)

    def test_noisy_studies_ask_the_model(self):
        self.cocabo("create", "-p", "x=float(0,1)", "--set", "deterministic=false")
        for trial in self.lines("ask", "-n", "12"):
            self.cocabo("tell", str(trial["number"]), str(trial["params"]["x"] ** 2))
        server = self.serve()
        best = server.get("/api/studies/default/best")
        want = self.lines("best")[0]
        self.assertEqual(best["number"], want["number"])
        self.assertAlmostEqual(best["expected"], want["expected"], places=12)
        self.assertIsNone(server.get("/api/studies/default")["best"])


# ---- live ---------------------------------------------------------------------------

class Live(Case):
    def events(self, server, path, found, stop, **headers):
        line = http.client.HTTPConnection(server.host, server.port, timeout=60)
        line.request("GET", path, headers=headers)
        answer = line.getresponse()
        found.append(("status", answer.status))
        name = None
        while not stop.is_set():
            text = answer.readline().decode().rstrip("\n")
            if text.startswith("event: "):
                name = text[7:]
            elif text.startswith("data: "):
                found.append((name, json.loads(text[6:])))
        line.close()

    def watch(self, server, path, **headers):
        found, stop = [], threading.Event()
        thread = threading.Thread(target=self.events, args=(server, path, found, stop),
                                  kwargs=headers, daemon=True)
        thread.start()
        self.addCleanup(stop.set)
        return found

    def wait_for(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not happen")
            time.sleep(0.02)

    def test_a_stream_says_what_happens(self):
        self.make("svm", 4)
        server = self.serve()
        found = self.watch(server, "/api/studies/svm/events")
        listed = self.watch(server, "/api/events")
        self.wait_for(lambda: len(found) > 1)
        self.assertEqual(found[0], ("status", 200))
        self.assertEqual(found[1][1]["count"], 4)
        trial = self.lines("ask", "--study", "svm")[0]
        self.cocabo("tell", "--study", "svm", str(trial["number"]), '{"value":-5,"p99":1}')
        self.wait_for(lambda: found[-1][1].get("best", {}).get("value") == -5)
        self.assertEqual(found[-1][1]["count"], 5)
        rows = server.get(f"/api/studies/svm/columns?after={found[1][1]['seq']}")
        self.assertEqual(rows["number"], [trial["number"]])
        self.wait_for(lambda: ("studies", {}) in listed)
        self.cocabo("delete", "--study", "svm", "--yes")
        self.wait_for(lambda: found[-1][0] == "gone")

    def test_documents_follow_a_running_study(self):
        self.make("svm", 4)
        server = self.serve()
        before = server.get("/api/studies/svm")
        self.cocabo("tell", "--study", "svm", "0", '{"value":-9,"p99":1}')
        self.cocabo("ask", "--study", "svm", "-n", "2")
        self.wait_for(lambda: server.get("/api/studies/svm")["seq"] > before["seq"], 5)
        time.sleep(0.1)
        self.assertEqual(server.get("/api/studies/svm/columns")["count"], 6)
        self.wait_for(lambda: server.get("/api/studies")["studies"][0]["count"] == 6, 10)

    def test_a_study_made_anew_is_another(self):
        self.make("svm", 12)
        server = self.serve()
        self.assertEqual(server.get("/api/studies/svm")["count"], 12)
        self.cocabo("delete", "--study", "svm", "--yes")
        time.sleep(0.1)
        self.assertEqual(server.ask("/api/studies/svm")[0], 404)
        self.cocabo("create", "--study", "svm", "-p", "x=float(0,1)")
        self.assertEqual(server.get("/api/studies/svm")["count"], 0)
        self.assertEqual(server.get("/api/studies/svm/columns")["number"], [])

    def test_it_ends_with_whoever_listens(self):
        self.make("svm", 4)
        server = self.serve()
        found = self.watch(server, "/api/studies/svm/events")
        self.wait_for(lambda: len(found) > 1)
        began = time.monotonic()
        self.assertEqual(server.end(), 0)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(server.rest, "")


# ---- telling ------------------------------------------------------------------------

class Telling(Case):
    def setUp(self):
        super().setUp()
        self.cocabo("create", "--study", "s", "-p", "x=float(0,1)", "-p", "c=choice(a,b)",
                    "-n", "5")

    def test_nothing_is_told_unless_allowed(self):
        server = self.serve()
        for what in ("ask", "tell", "fail", "report"):
            status, answer = server.post(f"/api/studies/s/{what}", {})
            self.assertEqual(status, 403)
            self.assertIn("read-only", answer["error"])
        self.assertEqual(server.get("/api/studies/s")["count"], 0)

    def test_any_language_is_a_worker(self):
        server = self.serve("--allow-tell")
        path = "/api/studies/s"
        for i in range(4):
            status, answer = server.post(f"{path}/ask", {"n": 1, "lease": 60, "owner": "me"})
            self.assertEqual(status, 200, answer)
            trial = answer["trials"][0]
            self.assertEqual((trial["number"], trial["state"]), (i, "running"))
            self.assertEqual(set(trial["params"]), {"x", "c"})
            if i == 0:
                self.assertEqual(server.get(f"{path}/workers")["workers"][0]["owner"], "me")
            if i == 3:
                status, answer = server.post(f"{path}/fail", {"number": i, "reason": "broke\ndown"})
                self.assertEqual((status, answer["state"]), (200, "failed"))
            else:
                status, answer = server.post(f"{path}/report", {"number": i, "step": 1, "value": 3})
                self.assertEqual((status, answer["state"]), (200, "running"))
                status, answer = server.post(f"{path}/tell", {
                    "number": i, "value": trial["params"]["x"], "metrics": {"p99": i},
                    "attrs": {"host": "h"}})
                self.assertEqual((status, answer["state"]), (200, "complete"))
        rows = {t["number"]: t for t in self.lines("trials", "--study", "s")}
        self.assertEqual(rows[1]["metrics"], {"p99": 1})
        self.assertEqual(rows[1]["attrs"], {"host": "h"})
        self.assertEqual(rows[1]["reports"], [[1, 3.0]])
        self.assertEqual(rows[3]["reason"], "broke\ndown")
        status, answer = server.post(f"{path}/ask", {"n": 7})  # as many as are left
        self.assertEqual((status, len(answer["trials"])), (200, 1))
        status, answer = server.post(f"{path}/ask", {})
        self.assertEqual(status, 409)
        self.assertIn("5", answer["error"])
        self.cocabo("verify", "--study", "s")

    def test_the_same_again_changes_nothing(self):
        server = self.serve("--allow-tell")
        server.post("/api/studies/s/ask", {})
        told = {"number": 0, "value": 0.5}
        first = server.post("/api/studies/s/tell", told)
        self.assertEqual(first[0], 200)
        self.assertEqual(server.post("/api/studies/s/tell", told), first)

    def test_whole_numbers_may_have_a_point(self):
        server = self.serve("--allow-tell")
        self.assertEqual(server.post("/api/studies/s/ask", {"n": 1.0})[0], 200)
        self.assertEqual(server.post("/api/studies/s/report",
                                     {"number": 0.0, "step": 2.0, "value": 3})[0], 200)
        status, answer = server.post("/api/studies/s/tell", {"number": 0.0, "value": 0.5})
        self.assertEqual((status, answer["number"], answer["state"]), (200, 0, "complete"))
        for number in (1e300, -1.0, 0.5, 2.0 ** 60):
            self.assertEqual(server.post("/api/studies/s/tell",
                                         {"number": number, "value": 1})[0], 400)

    def test_bad_contents_are_named(self):
        server = self.serve("--allow-tell")
        server.post("/api/studies/s/ask", {})
        cases = [("tell", {"value": 1}, 400, "number"), ("tell", {"number": 0}, 400, "value"),
                 ("tell", {"number": 7, "value": 1}, 404, "7"),
                 ("tell", {"number": 0.5, "value": 1}, 400, "number"),
                 ("tell", {"number": 0, "value": "1"}, 400, "value"),
                 ("tell", {"number": 0, "value": 1, "command": ["rm"]}, 400, "command"),
                 ("tell", {"number": 0, "value": 1, "metrics": [1]}, 400, "metrics"),
                 ("tell", {"number": 0, "value": 1, "metrics": {"a": "b"}}, 400, "a"),
                 ("tell", {"number": 0, "value": 1, "attrs": {"a": 1}}, 400, "a"),
                 ("tell", [], 400, "object"), ("ask", {"n": 0}, 400, "n"),
                 ("ask", {"n": 1001}, 400, "n"), ("ask", {"command": "x"}, 400, "command"),
                 ("ask", {"lease": -1}, 400, "lease"), ("ask", {"lease": "long"}, 400, "lease"),
                 ("fail", {"number": 0, "reason": 3}, 400, "reason"),
                 ("report", {"number": 0, "value": 1}, 400, "step"),
                 ("report", {"number": 0, "step": -1, "value": 1}, 400, "step")]
        for what, document, status, word in cases:
            with self.subTest(document=document):
                got, answer = server.post(f"/api/studies/s/{what}", document)
                self.assertEqual(got, status, answer)
                self.assertIn(word, answer["error"])
        trial = server.get("/api/studies/s/trials/0")
        self.assertEqual((trial["state"], trial["metrics"]), ("running", {}))
        self.assertIsNone(server.get("/api/studies/s")["command"])

    def test_a_post_is_json_of_our_own_page(self):
        server = self.serve("--allow-tell")
        path, body = "/api/studies/s/ask", "{}"
        for headers, status in [({}, 415), ({"Content_Type": "text/plain"}, 415),
                                ({"Content_Type": "application/jsonx"}, 415),
                                ({"Content_Type": "application/json", "Origin": "http://evil.org"}, 403),
                                ({"Content_Type": "application/json", "Origin": "null"}, 403)]:
            with self.subTest(headers=headers):
                self.assertEqual(server.ask(path, "POST", body, **headers)[0], status)
        self.assertEqual(server.get("/api/studies/s")["count"], 0)
        own = f"http://{server.host}:{server.port}"
        status, _, _ = server.ask(path, "POST", body, Content_Type="application/json; charset=utf-8",
                                  Origin=own)
        self.assertEqual(status, 200)


# ---- who may ask --------------------------------------------------------------------

class Guards(Case):
    def setUp(self):
        super().setUp()
        self.cocabo("create", "--study", "s", "-p", "x=float(0,1)")

    def test_other_machines_need_a_token(self):
        for address in ("0.0.0.0", "::", "192.0.2.1"):
            done = self.cocabo("serve", "--port", "0", "--listen", address, status=2)
            self.assertIn("token", done.stderr)
        self.assertIn("16", self.cocabo("serve", "--port", "0", status=2,
                                        COCABO_TOKEN="short").stderr)
        (self.folder / "token").write_text("two words of it\n")
        self.cocabo("serve", "--port", "0", "--token-file", "token", status=2)
        self.cocabo("serve", "--port", "0", "--token-file", "nope", status=2)
        self.cocabo("serve", "--port", "70000", status=2)
        self.cocabo("serve", "--port", "0", "--listen", "example.org", status=2)

    def test_the_token_opens_the_api(self):
        (self.folder / "token").write_text(TOKEN + "\n")
        for more, environment in [((), {"COCABO_TOKEN": TOKEN}), (("--token-file", "token"), {})]:
            server = self.serve("--listen", "0.0.0.0", *more, **environment)
            for given, status in [(None, 401), ("Bearer " + TOKEN[:-1], 401),
                                  ("Bearer " + TOKEN + "x", 401), ("Bearer ", 401),
                                  ("Basic " + TOKEN, 401), (TOKEN, 401),
                                  ("Bearer " + TOKEN[::-1], 401), ("Bearer " + TOKEN, 200)]:
                headers = {"Authorization": given} if given else {}
                got, answered, content = server.ask("/api/studies", **headers)
                self.assertEqual(got, status, given)
                if status == 401:
                    self.assertEqual(answered["WWW-Authenticate"], "Bearer")
                    self.assertNotIn(TOKEN.encode(), content)
            self.assertEqual(server.ask("/")[0], 200)
            self.assertNotIn(TOKEN, server.said)
            with open(f"/proc/{server.process.pid}/cmdline", "rb") as file:
                self.assertNotIn(TOKEN.encode(), file.read())
            self.assertEqual(server.end(), 0)

    def test_another_name_for_this_machine_is_refused(self):
        server = self.serve()
        for host, status in [("evil.org", 403), ("evil.org:8080", 403), ("127.0.0.1.evil.org", 403),
                             ("localhost.evil.org", 403), ("localhost", 200), ("LOCALHOST:1", 200),
                             ("127.0.0.1:99", 200), ("127.9.9.9", 200), ("[::1]:8", 200),
                             ("[::2]", 403), ("localhost:x", 403), ("", 403), ("10.0.0.1", 403)]:
            for path in ("/api/studies", "/"):
                with self.subTest(host=host):
                    self.assertEqual(server.ask(path, Host=host)[0], status)

    def test_a_port_is_for_one(self):
        server = self.serve()
        done = self.cocabo("serve", "--port", str(server.port), status=1)
        self.assertIn(str(server.port), done.stderr)

    def test_both_signals_end_it_well(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = self.serve()
            self.assertEqual(server.end(number), 0)

    def test_without_a_store_it_says_so(self):
        done = self.cocabo("serve", "--storage", "sqlite:///nope.db", status=2)
        self.assertIn("nope.db", done.stderr)


# ---- hostile requests ---------------------------------------------------------------

def request(line, *headers, host="127.0.0.1", body=b""):
    lines = [line, *([f"Host: {host}"] if host else []), "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Hostile(Case):
    @classmethod
    def setUpClass(cls):
        cls.case = cls("run_nothing")
        cls.case.setUp()
        cls.case.cocabo("create", "--study", "s", "-p", "x=float(0,1)", "-n", "1000")
        cls.server = Server(cls.case.folder, "--allow-tell")

    @classmethod
    def tearDownClass(cls):
        code = cls.server.end()
        cls.case.doCleanups()
        assert (code, cls.server.rest) == (0, ""), (code, cls.server.rest)

    def run_nothing(self):
        pass

    def tearDown(self):
        self.assertEqual(self.server.get("/api/studies/s")["name"], "s")  # it lives

    def status(self, raw):
        back = self.server.say(raw)
        found = re.match(rb"HTTP/1\.[01] (\d+)", back)
        return int(found[1]) if found else None

    def test_each_has_its_status(self):
        json_type = "Content-Type: application/json"
        cases = {
            "traversal": (request("GET /../../etc/passwd HTTP/1.1"), 404),
            "traversal, encoded": (request("GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1"), 404),
            "traversal in a name": (request("GET /api/studies/..%2f..%2fetc HTTP/1.1"), 404),
            "a file of the disk": (request("GET /etc/passwd HTTP/1.1"), 404),
            "a file of the page, below": (request("GET /page/page.js HTTP/1.1"), 404),
            "empty parts": (request("GET //api//studies HTTP/1.1"), 400),
            "a zero byte": (request("GET /api/studies/a%00b HTTP/1.1"), 400),
            "not UTF-8": (request("GET /api/studies/%ff%fe HTTP/1.1"), 400),
            "half an escape": (request("GET /api/studies/%4 HTTP/1.1"), 400),
            "control characters": (request("GET /api/studies/a%0d%0ab HTTP/1.1"), 400),
            "an absolute address": (request("GET http://evil.org/ HTTP/1.1"), 400),
            "a star": (request("OPTIONS * HTTP/1.1"), 400),
            "a long path": (request("GET /api/studies/" + "a" * 3000 + " HTTP/1.1"), 414),
            "a long query": (request("GET /api?" + "a" * 3000 + " HTTP/1.1"), 414),
            "many parts": (request("GET /api/studies/s/columns?" + "&".join(
                f"a{i}=1" for i in range(20)) + " HTTP/1.1"), 414),
            "a deep path": (request("GET /a/b/c/d/e/f/g/h/i/j HTTP/1.1"), 400),
            "another method": (request("DELETE /api/studies/s HTTP/1.1"), 405),
            "a method of one's own": (request("BREW /api/studies/s HTTP/1.1"), 405),
            "TRACE": (request("TRACE /api HTTP/1.1"), 405),
            "a wrong host": (request("GET /api HTTP/1.1", host="evil.org"), 403),
            "no host": (request("GET /api HTTP/1.1", host=None), 400),
            "no host, old": (request("GET /api HTTP/1.0", host=None), 403),
            "POST where GET is": (request("POST /api/studies HTTP/1.1", json_type,
                                          "Content-Length: 2", body=b"{}"), 405),
            "bad JSON": (request("POST /api/studies/s/tell HTTP/1.1", json_type,
                                 "Content-Length: 5", body=b"{\"a\":"), 400),
            "deep JSON": (request("POST /api/studies/s/tell HTTP/1.1", json_type,
                                  "Content-Length: 9000", body=b"[" * 9000), 400),
            "a key twice": (request("POST /api/studies/s/tell HTTP/1.1", json_type,
                                    "Content-Length: 25", body=b'{"number":0,"number":0.0}'), 400),
            "said to be too large": (request("POST /api/studies/s/tell HTTP/1.1", json_type,
                                             "Content-Length: 2000000000"), 413),
            "a negative length": (request("POST /api/studies/s/tell HTTP/1.1", json_type,
                                          "Content-Length: -1"), 400),
            "too large in chunks": (request(
                "POST /api/studies/s/tell HTTP/1.1", json_type, "Transfer-Encoding: chunked",
                body=(b"10000\r\n" + b"a" * 65536 + b"\r\n") * 20 + b"0\r\n\r\n"), 413),
            "large headers": (request("GET /api HTTP/1.1", "X: " + "a" * 40000), 431),
            "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n\r\n", None),
        }
        for name, (raw, status) in cases.items():
            with self.subTest(name=name):
                self.assertEqual(self.status(raw), status)

    def test_requests_in_one_go_are_answered_in_order(self):
        one = b"GET /api/studies/s HTTP/1.1\r\nHost: localhost\r\n\r\n"
        two = b"GET /api/studies/s/predictions HTTP/1.1\r\nHost: localhost\r\n\r\n"
        last = b"GET /nope HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        back = self.server.say((one + two) * 20 + last, 20)
        found = [int(s) for s in re.findall(rb"HTTP/1\.1 (\d+)", back)]
        self.assertEqual(found, [200, 400] * 20 + [404])

    def test_a_replayed_tell_counts_once(self):
        self.server.post("/api/studies/s/ask", {})
        body = b'{"number":0,"value":0.25}'
        raw = request("POST /api/studies/s/tell HTTP/1.1", "Content-Type: application/json",
                      f"Content-Length: {len(body)}", body=body)
        answers = {self.server.say(raw).split(b"\r\n\r\n")[1] for _ in range(3)}
        self.assertEqual(len(answers), 1)
        self.assertEqual(self.server.get("/api/studies/s/trials/0")["value"], 0.25)

    def test_drops_do_not_hold_a_line(self):
        """Headers and contents that never end, on many lines; others are served meanwhile."""
        lines = []
        for i in range(60):
            line = socket.create_connection((self.server.host, self.server.port))
            self.addCleanup(line.close)
            line.sendall(b"GET /api HTTP/1.1\r\nHost: localhost\r\n" if i % 2 else
                         b"POST /api/studies/s/tell HTTP/1.1\r\nHost: localhost\r\n"
                         b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
            line.setblocking(False)
            lines.append(line)
        end, slowest = time.monotonic() + 60, 0.0
        while lines and time.monotonic() < end:
            for line in list(lines):
                try:
                    line.send(b"x")
                    if line.recv(100) == b"":
                        lines.remove(line)
                except BlockingIOError:
                    pass
                except OSError:
                    lines.remove(line)
            began = time.monotonic()
            self.server.get("/api/studies/s")
            slowest = max(slowest, time.monotonic() - began)
            time.sleep(0.5)
        self.assertEqual(len(lines), 0)
        self.assertLess(slowest, 5)


# ---- load ---------------------------------------------------------------------------

class Load(Case):
    def test_many_at_once_leave_nothing_behind(self):
        self.make("svm", 20)
        server = self.serve("--allow-tell")
        paths = ["/api/studies", "/api/studies/svm", "/api/studies/svm/columns",
                 "/api/studies/svm/trials?after=10", "/api/studies/svm/importances",
                 "/api/studies/svm/predictions?x=lr", "/api/studies/svm/best", "/", "/nope"]
        bad = []

        def work(k):
            line = http.client.HTTPConnection(server.host, server.port, timeout=120)
            for i in range(60):
                path = paths[(i + k) % len(paths)]
                line.request("GET", path)
                answer = line.getresponse()
                answer.read()
                if answer.status != (404 if path == "/nope" else 200):
                    bad.append((path, answer.status))
            line.close()

        def files():
            return len(os.listdir(f"/proc/{server.process.pid}/fd"))

        server.get("/api/studies/svm/best")
        server.post("/api/studies/svm/fail", {"number": 500})
        before = files()
        for _ in range(2):
            threads = [threading.Thread(target=work, args=(k,)) for k in range(24)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(bad, [])
        end = time.monotonic() + 20
        while files() > before and time.monotonic() < end:
            time.sleep(0.1)
        self.assertLessEqual(files(), before)

    def test_streams_and_lines_are_limited(self):
        self.cocabo("create", "--study", "s", "-p", "x=float(0,1)")
        server = self.serve()
        lines = []

        def say(raw):
            line = socket.create_connection((server.host, server.port), timeout=20)
            lines.append(line)
            line.sendall(raw)
            return line

        def status(line):
            return int(re.match(rb"HTTP/1\.1 (\d+)", line.recv(200))[1])

        stream = b"GET /api/studies/s/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.assertEqual({status(say(stream)) for _ in range(200)}, {200})
        self.assertEqual(status(say(stream)), 503)
        self.assertEqual(server.get("/api/studies/s")["name"], "s")
        while len(lines) < 540:  # half of a request each
            say(b"GET /api")
        late = say(b"GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n")
        late.settimeout(1)
        with self.assertRaises(TimeoutError):  # it waits until there is a line for it
            late.recv(10)
        self.assertLess(len(os.listdir(f"/proc/{server.process.pid}/fd")), 512 + 30)
        for line in lines[:-1]:
            line.close()
        late.settimeout(30)
        self.assertEqual(status(late), 200)
        late.close()
        self.assertEqual(server.get("/api/studies/s")["name"], "s")

    def test_workers_share_a_study(self):
        self.cocabo("create", "--study", "s", "-p", "x=float(0,1)", "-n", "60",
                    "--sampler", "random")
        server = self.serve("--allow-tell")

        def work():
            while True:
                status, answer = server.post("/api/studies/s/ask", {"lease": 60, "owner": "w"})
                if status == 409:
                    return
                trial = answer["trials"][0]
                server.post("/api/studies/s/tell",
                            {"number": trial["number"], "value": trial["params"]["x"]})

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        trials = self.lines("trials", "--study", "s")
        self.assertEqual([t["state"] for t in trials], ["complete"] * 60)
        self.cocabo("verify", "--study", "s")


# ---- report -------------------------------------------------------------------------

class Report(Case):
    def read(self, path):
        text = (self.folder / path).read_text()
        data = re.search(r'<script type="application/json" id="cocabo-data">(.*?)</script>',
                         text, re.S)
        return text, json.loads(data[1])

    def test_it_has_the_documents_of_the_server(self):
        self.make()
        self.cocabo("report", "--study", "svm", "-o", "r.html")
        _, data = self.read("r.html")
        server = self.serve()
        self.assertFalse(data["/api"]["live"])
        for path in ("", "/best", "/history", "/importances", "/beliefs", "/categories",
                     "/intermediate", "/predictions?x=lr"):
            self.assertEqual(data["/api/studies/svm" + path],
                             server.get("/api/studies/svm" + path), path)
        columns = server.get("/api/studies/svm/columns")
        inlined = data["/api/studies/svm/columns"]
        order = sorted(range(24), key=lambda i: columns["number"][i])
        for key in ("number", "state", "value", "started"):
            self.assertEqual(inlined[key], [columns[key][i] for i in order])
        self.assertEqual([s["name"] for s in data["/api/studies"]["studies"]], ["svm"])
        self.assertIn("/api/studies/svm/predictions?x=lr&y=size", data)

    def test_names_cannot_leave_the_data(self):
        self.cocabo("create", "--study", HOSTILE, "-p", f"{HOSTILE}=choice('</script>',b)")
        for trial in self.lines("ask", "--study", HOSTILE, "-n", "2"):
            self.cocabo("tell", "--study", HOSTILE, str(trial["number"]), "--fail", HOSTILE)
        self.cocabo("report", "--study", HOSTILE, "-o", "r.html")
        text, data = self.read("r.html")
        name = "/api/studies/" + urllib.parse.quote(HOSTILE, safe="!~*'()")
        self.assertEqual(data[name]["name"], HOSTILE)
        self.assertEqual(data[name + "/columns"]["reasons"]["0"], HOSTILE)
        self.assertEqual(text.count("</script>"), 2)
        self.assertNotIn("<script>alert", text)

    def test_only_its_own_script_may_run(self):
        self.make("svm", 3)
        self.cocabo("report", "--study", "svm", "-o", "r.html")
        text, _ = self.read("r.html")
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        for element, directive in (("style", "style-src"), ('script type="module"', "script-src")):
            inline = re.search(rf"<{element}>(.*?)</{element.split()[0]}>", text, re.S)[1]
            digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
            self.assertIn(f"{directive} 'sha256-{digest}'", policy)
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", text), [])

    def test_many_trials_are_thinned(self):
        n = 20000
        with open(self.folder / "t.csv", "w", encoding="utf-8") as file:
            file.write("state,value,reason," + ",".join(f"x{i}" for i in range(12)) + ",c\n")
            for i in range(n):
                x = [((i * (k + 3) * 7919) % 10007) / 10007 for k in range(12)]
                failed = i % 50 == 7
                file.write(",".join(["failed" if failed else "complete",
                                     "" if failed else repr(sum(x) + 100 / (i + 1)),
                                     "exit status 1" if failed else "",
                                     *map(repr, x), "ab"[i % 2]]) + "\n")
        parameters = [word for i in range(12) for word in ("-p", f"x{i}=float(0,1)")]
        self.cocabo("import", "t.csv", *parameters, "-p", "c=choice(a,b)",
                    "--sampler", "random")
        self.cocabo("report", "-o", "r.html")
        self.assertLessEqual((self.folder / "r.html").stat().st_size, 2_000_000)
        self.assertGreater((self.folder / "r.html").stat().st_size, 1_000_000)
        _, data = self.read("r.html")
        columns, history = (data["/api/studies/default/" + k] for k in ("columns", "history"))
        self.assertEqual((columns["count"], columns["thinned"], columns["more"]), (n, True, False))
        self.assertGreater(len(columns["number"]), 3000)
        self.assertIn(n - 1, columns["number"])
        self.assertLessEqual({step[0] for step in history["best"]}, set(columns["number"]))
        self.assertLessEqual(len(history["number"]), 2000 + len(history["best"]))
        gaps = [b - a for a, b in zip(columns["number"], columns["number"][1:])]
        self.assertLess(max(gaps), 3 * n / len(columns["number"]))

    def test_it_wants_a_name(self):
        self.make("svm", 2)
        self.assertIn("-o", self.cocabo("report", status=2).stderr)
        self.assertIn(".html", self.cocabo("report", "-o", "r.txt", status=2).stderr)
        self.cocabo("report", "--study", "nope", "-o", "r.html", status=2)
        self.assertFalse((self.folder / "r.html").exists())

    def test_an_empty_study_has_a_page(self):
        self.cocabo("create", "-p", "x=float(0,1)")
        self.cocabo("report", "-o", "r.html")
        _, data = self.read("r.html")
        self.assertEqual(data["/api/studies/default"]["count"], 0)
        self.assertIn("error", data["/api/studies/default/importances"])


# ---- watch --------------------------------------------------------------------------

class Watch(Case):
    def start(self, *args, **more):
        process = subprocess.Popen(
            [PROGRAM, "watch", "--every", "0.1", *args], cwd=self.folder, text=True,
            stderr=subprocess.PIPE, **{"stdout": subprocess.PIPE, **more},
            env={**os.environ, "COCABO_STORAGE": "sqlite:///cocabo.db", "COLUMNS": "80"})
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def test_a_line_each_time_that_something_happens(self):
        self.cocabo("create", "-p", "x=float(0,1)", "-n", "2")
        process = self.start()
        self.assertIn("0/2", process.stdout.readline())
        for number, value in ((0, "0.5"), (1, "0.25")):
            self.cocabo("ask")
            self.cocabo("tell", str(number), value)
        rest, complaint = process.communicate(timeout=30)
        self.assertEqual((process.returncode, complaint), (0, ""))
        self.assertIn("2/2, best 0.25 (trial 1)", rest.splitlines()[-1])

    def test_ctrl_c_is_no_failure(self):
        self.cocabo("create", "-p", "x=float(0,1)")
        process = self.start("--json")
        self.assertEqual(json.loads(process.stdout.readline())["complete"], 0)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 0)

    def test_the_history_fits_the_terminal(self):
        self.cocabo("create", "-p", "x=float(0,1)", "-n", "20")
        for trial in self.lines("ask", "-n", "12"):
            self.cocabo("tell", str(trial["number"]), str(1 / (1 + trial["number"])))
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        process = self.start(stdout=theirs)
        os.close(theirs)
        screen = b""
        while b"\033[J" not in screen:
            screen += os.read(ours, 4096)
        rows = screen.split(b"\033[J")[0].decode().split("\r\n")
        self.assertLessEqual(len(rows), 24)
        self.assertTrue(any("so far" in row for row in rows), rows)  # the last line of it
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 0)
        os.close(ours)

    def test_a_terminal_is_drawn_again_in_place(self):
        self.cocabo("create", "-p", "x=float(0,1)", "-n", "3")
        for trial in self.lines("ask", "-n", "2"):
            self.cocabo("tell", str(trial["number"]), "0.5")
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 16, 60, 0, 0))
        process = self.start(stdout=theirs)
        os.close(theirs)
        screen = b""
        while b"\033[J" not in screen:
            screen += os.read(ours, 4096)
        frame = screen.split(b"\033[J")[0].decode()
        rows = frame.split("\r\n")
        self.assertIn("2/3", rows[0])
        self.assertLessEqual(len(rows), 16)
        self.assertTrue(any("complete" in row for row in rows))
        self.assertTrue(all(len(row.replace("\033[K", "")) < 80 for row in rows))
        while b"A\r" not in screen:  # the cursor goes up again by as many rows
            screen += os.read(ours, 4096)
        self.assertIn(f"\033[{len(rows) - 1}A".encode(), screen)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 0)
        os.close(ours)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
