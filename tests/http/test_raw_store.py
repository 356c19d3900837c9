#!/usr/bin/env python3
"""--storage http://: every command over a server of ours, servers that are none of ours,
answers that are lost, and the raw routes themselves.

    python3 tests/http/test_raw_store.py PATH/TO/cocabo [unittest arguments]
"""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import unittest

import test_http
import test_openapi

CALLS = ["append", "check", "create", "describe", "find", "leases", "list", "read", "remove",
         "renew", "summarise", "turn"]
SPACE = [{"name": "x", "type": "float", "low": 0.0, "high": 1.0}]


def event(n, kind, number, body, **more):
    return {"id": f"{n:032x}", "kind": kind, "number": number, "body": body, **more}


# ---- the commands -------------------------------------------------------------------

class Commands(test_http.Case):
    """What works on a file works on the server that has it open."""

    def setUp(self):
        super().setUp()
        self.server = self.serve("--allow-store")
        self.url = f"http://127.0.0.1:{self.server.port}"

    def over(self, *args, status=0, **more):
        return self.cocabo(*args, status=status, COCABO_STORAGE=self.url, **more)

    def test_all_of_them(self):
        self.over("run", "--study", "s", "-p", "x=float(0,1)", "-p", "c=choice(a,b)", "-n", "20",
                  "--lease", "30", "--", "sh", "-c", "echo {x}")
        here = {command: self.cocabo(*command).stdout for command in (
            ("best", "--study", "s", "--json"), ("trials", "--study", "s", "--json"),
            ("export", "--study", "s", "--format", "jsonl"), ("studies", "--json"), ("verify", "--study", "s"))}
        for command, said in here.items():
            self.assertEqual(self.over(*command).stdout, said, command)
        self.assertEqual(here["verify", "--study", "s"].count("all the same"), 1)
        trial = json.loads(self.over("ask", "--study", "t", "--json", status=2).stdout or "null")
        self.assertIsNone(trial)
        self.over("create", "--study", "t", "-p", "x=float(0,1)")
        asked = json.loads(self.over("ask", "--study", "t", "--json").stdout)
        self.over("tell", "--study", "t", str(asked["number"]), "0.5")
        self.assertIn("0.5", self.over("best", "--study", "t").stdout)
        self.over("ask", "--study", "t")
        self.over("tell", "--study", "t", "1", "--fail", "why not")
        self.over("retry", "--study", "t", "1")
        self.over("workers", "--study", "t")
        self.over("plot", "--study", "s", "-o", "a.svg")
        self.over("report", "--study", "s", "-o", "a.html")
        self.over("copy", self.url, "sqlite:///copy.db", "--study", "s")
        self.over("delete", "--study", "t", "--yes")
        self.assertNotIn('"t"', self.over("studies", "--json").stdout)

    def test_a_copy_is_the_same_to_the_byte(self):
        self.cocabo("run", "--storage", "sqlite:///first.db", "--study", "s", "-p", "x=float(0,1)",
                    "-n", "30", "--", "sh", "-c", "echo {x}")
        self.cocabo("copy", "sqlite:///first.db", self.url)
        self.cocabo("copy", self.url, "sqlite:///second.db")
        def logs(name):
            return subprocess.run(
                [sys.executable, "-c", "import sqlite3,sys\nfor r in sqlite3.connect(sys.argv[1])"
                 ".execute('SELECT seq,id,time,kind,number,attempt,body FROM events ORDER BY seq'):"
                 " print(r)", name], cwd=self.folder, capture_output=True, text=True).stdout
        self.assertEqual(logs("first.db"), logs("second.db"))

    def test_a_worker_runs_the_command_of_its_line_only(self):
        self.over("create", "--study", "s", "-p", "x=float(0,1)", "-n", "5", "--",
                  "sh", "-c", "touch evil; echo {x}")
        for command in ("worker", "run"):
            done = self.over(command, "--study", "s", status=2)
            self.assertRegex(done.stderr, rf"cocabo {command} --storage {self.url} --study s -- CMD")
        self.assertFalse((self.folder / "evil").exists())
        self.over("worker", "--study", "s", "--", "sh", "-c", "touch mine; echo {x}")
        self.assertTrue((self.folder / "mine").exists())
        self.assertFalse((self.folder / "evil").exists())
        self.assertEqual(self.lines("trials", "--study", "s")[4]["state"], "complete")
        self.assertIn("evil", json.dumps(self.server.get("/api/studies/s")["command"]))  # as it was
        self.over("worker", "--study", "s", "sh", status=2)

    def test_two_machines_share_a_study(self):
        self.over("create", "--study", "s", "-p", "x=float(0,1)", "-n", "40", "--sampler", "random")
        line = [test_http.PROGRAM, "worker", "--study", "s", "--", "sh", "-c", "echo {x}"]
        several = [subprocess.Popen(line, cwd=self.folder, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True,
                                    env={**os.environ, "COCABO_STORAGE": self.url})
                   for _ in range(6)]
        for worker in several:
            said = worker.communicate(timeout=120)[1]
            self.assertEqual(worker.returncode, 0, said)
        trials = self.lines("trials", "--study", "s")
        self.assertEqual([t["state"] for t in trials], ["complete"] * 40)
        self.over("verify", "--study", "s")

    def test_the_page_sees_what_came_over_the_store(self):
        self.over("create", "--study", "s", "-p", "x=float(0,1)")
        self.over("ask", "--study", "s")
        self.over("tell", "--study", "s", "0", "0.25")
        time.sleep(0.1)
        self.assertEqual(self.server.get("/api/studies/s/trials/0")["value"], 0.25)

    def test_a_server_that_ends_is_waited_for(self):
        self.over("create", "--study", "s", "-p", "x=float(0,1)", "-n", "12")
        worker = subprocess.Popen(
            [test_http.PROGRAM, "worker", "--study", "s", "--", "sh", "-c", "sleep 0.3; echo {x}"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "COCABO_STORAGE": self.url})
        time.sleep(1)
        port = self.server.port
        self.assertEqual(self.server.end(), 0)
        time.sleep(3.5)
        self.serve("--allow-store", port=port)
        said = worker.communicate(timeout=60)[1]
        self.assertEqual(worker.returncode, 0, said)
        self.assertIn("waiting for the server of", said)
        self.assertIn("answers again", said)
        self.assertEqual(len(self.lines("trials", "--study", "s")), 12)

    def test_a_server_that_is_asked_all_the_time_ends_well(self):
        def ask(server):
            line = http.client.HTTPConnection(server.host, server.port, timeout=10)
            try:
                while True:
                    line.request("POST", "/api/store/list", "{}", {"Content-Type": "application/json"})
                    line.getresponse().read()
            except (OSError, http.client.HTTPException):
                line.close()  # it has ended

        server = self.server
        for _ in range(8):
            threads = [threading.Thread(target=ask, args=(server,)) for _ in range(6)]
            for thread in threads:
                thread.start()
            time.sleep(0.2)
            self.assertEqual(server.end(), 0, server.rest)
            for thread in threads:
                thread.join(20)
            server = self.serve("--allow-store")


# ---- URLs and tokens ----------------------------------------------------------------

class Urls(test_http.Case):
    def test_what_is_no_server_of_ours_is_said_in_one_sentence(self):
        for url, status, words in [
                ("https://host:8080", 2, "ssh -L 8080:localhost:8080"),
                ("HTTPS://host", 2, "ssh -L"),
                ("http://", 2, "no host"), ("http://:80", 2, "no host"),
                ("http://a b", 2, "no host"), ("http://h:0", 2, "port"), ("http://h:70000", 2, "port"),
                ("http://h:8x", 2, "port"), ("http://h/store", 2, "behind its host"),
                ("http://h?token=geheim", 2, "behind its host"), ("http://[::1", 2, "]"),
                ("http://user:geheim@h", 2, "COCABO_TOKEN"), ("http://geheim@h", 2, "COCABO_TOKEN"),
                ("http://127.0.0.1:1", 1, "--allow-store"),
                ("http://no.such.host.invalid", 1, "http://no.such.host.invalid:8080")]:
            with self.subTest(url=url):
                done = self.cocabo("studies", "--storage", url, status=status)
                self.assertIn(words, done.stderr)
                self.assertNotIn("geheim", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_the_token_opens_the_store(self):
        self.cocabo("create", "--study", "s", "-p", "x=float(0,1)")
        (self.folder / "token").write_text(test_http.TOKEN + "\n")
        (self.folder / "other").write_text("another-token-0123456789\n")
        server = self.serve("--allow-store", COCABO_TOKEN=test_http.TOKEN)
        url = f"http://localhost:{server.port}"
        for more, environment in [((), {"COCABO_TOKEN": test_http.TOKEN}),
                                  (("--token-file", "token"), {}),
                                  ((), {"COCABO_TOKEN_FILE": "token", "COCABO_TOKEN": "x" * 20})]:
            done = self.cocabo("studies", "--storage", url, *more, **environment)
            self.assertIn("s ", done.stdout)
        for more, environment, word, status in [
                ((), {}, "it wants a token", 1),
                ((), {"COCABO_TOKEN": "x" * 20}, "another one", 1),
                ((), {"COCABO_TOKEN": "short"}, "16", 2),
                (("--token-file", "other"), {}, "another one", 1),
                (("--token-file", "nope"), {}, "--token-file \"nope\"", 2)]:
            with self.subTest(word=word):
                done = self.cocabo("studies", "--storage", url, *more, status=status, **environment)
                self.assertIn(word, done.stderr)
                self.assertNotIn("another-token", done.stderr)

    def test_beyond_this_machine_it_needs_a_token(self):
        done = self.cocabo("serve", "--port", "0", "--allow-store", "--listen", "0.0.0.0", status=2)
        self.assertIn("token", done.stderr)

    def test_a_server_that_is_none_for_stores_says_so(self):
        self.cocabo("create", "--study", "s", "-p", "x=float(0,1)")
        for flags in ((), ("--allow-tell",)):
            server = self.serve(*flags)
            done = self.cocabo("studies", "--storage", f"http://127.0.0.1:{server.port}", status=1)
            self.assertIn("cocabo serve --allow-store does", done.stderr)
            for call in CALLS:
                status, answer = server.post(f"/api/store/{call}", {"name": "s", "study": 1})
                self.assertEqual(status, 403)
                self.assertIn("--allow-store", answer["error"])
            self.assertEqual(server.ask("/api/store")[0], 403)


# ---- the raw routes -----------------------------------------------------------------

class Routes(test_http.Case):
    def setUp(self):
        super().setUp()
        self.cocabo("create", "--study", "old", "-p", "x=float(0,1)")
        self.server = self.serve("--allow-store")

    def operation(self, call):
        return test_openapi.DESCRIPTION["paths"][f"/api/store/{call}"]["post"]

    def ask(self, call, document, want=200):
        """The answer, which must be as it is described; so must a question that was answered."""
        status, answer = self.server.post(f"/api/store/{call}", document)
        self.assertEqual(status, want, (call, document, answer))
        operation = self.operation(call)
        described = test_openapi.resolve(operation["responses"][str(status)])["content"]
        schema = described["application/json"]["schema"]
        self.assertEqual(test_openapi.faults(answer, schema), [], call)
        if status == 200:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            self.assertEqual(test_openapi.faults(document, schema), [], call)
        return answer

    def test_they_answer_as_described(self):
        self.assertEqual(self.server.get("/api/store")["store"], 1)
        made = self.ask("create", {"name": "s", "events": [event(1, 1, -1, {"space": SPACE})]})
        study = made["study"]
        self.assertEqual(self.ask("find", {"name": "s"}), {"study": study})
        self.assertEqual(self.ask("list", {}), {"names": ["old", "s"]})
        asked = {"study": study, "next": 0, "seen": [1, f"{1:032x}"], "owner": "w", "seconds": 60.0,
                 "durable": True, "keep": False,
                 "events": [event(2, 9, 0, {"cells": [0.5], "state": "running"})]}
        first = self.ask("append", asked)
        self.assertEqual(first["places"][0][0], 2)
        self.assertEqual(self.ask("append", asked), first)  # found, not repeated
        leases = self.ask("leases", {"study": study})["leases"]
        self.assertEqual((leases[0][:3], leases[0][4]), ([0, -1, "w"], False))
        self.assertTrue(50 < leases[0][3] <= 60)
        self.ask("renew", {"study": study, "owner": "w", "seconds": 0.0})
        read = self.ask("read", {"study": study, "from": [1, f"{1:032x}"], "leases": True})
        self.assertEqual((len(read["events"]), read["more"], read["expired"]), (1, False, [[0, -1]]))
        self.ask("append", {"study": study, "events": [event(3, 4, 0, {"y": 0.25})]})
        self.assertEqual(self.ask("describe", {"study": study})["seq"], 3)
        self.assertEqual(self.ask("check", {"study": study}), {"unchecked": 0})
        self.cocabo("verify", "--study", "s")
        self.assertEqual(self.lines("trials", "--study", "s")[0]["value"], 0.25)
        summary = self.ask("describe", {"study": study}).get("summary") or {
            "version": "0.2.0", "seq": 3, "states": [0, 0, 1, 0, 0, 0], "parameters": 1,
            "direction": "minimize", "sampler": "mixed", "best": [0, 0.25, True]}
        self.ask("summarise", {"study": study, "summary": summary})
        self.ask("remove", {"name": "s"})
        self.ask("remove", {"name": "s"}, 404)

    def test_refusals_have_codes(self):
        for call, document, status, code in [
                ("find", {"name": "nope"}, 404, "not found"), ("find", {}, 400, "invalid"),
                ("read", {"study": 77}, 404, "not found"), ("read", {"study": "1"}, 400, "invalid"),
                ("create", {"name": "old", "events": [event(9, 1, -1, {"space": SPACE})]}, 409, "exists"),
                ("append", {"study": 1, "events": [event(9, 3, 7, {"cells": [0.5]})]}, 503, "busy"),
                ("append", {"study": 1, "events": [event(9, 3, 0, {"cells": [0.5, 1]})]}, 400, "invalid"),
                ("append", {"study": 1, "events": [event(9, 4, 0, {})]}, 400, "invalid"),
                ("append", {"study": 1, "events": [event(9, 99, 0, {})]}, 400, "invalid"),
                ("append", {"study": 1, "owner": "w", "seconds": 1e12,
                            "events": [event(9, 3, 0, {"cells": [0.5]})]}, 400, "range")]:
            with self.subTest(call=call, document=document):
                self.assertEqual(self.ask(call, document, status)["code"], code)
        self.cocabo("verify", "--study", "old")

    def test_a_post_is_json_of_ours_and_not_too_large(self):
        ask, path = self.server.ask, "/api/store/list"
        self.assertEqual(ask(path, "POST", "{}")[0], 415)
        self.assertEqual(ask(path, "POST", "{}", Content_Type="application/json",
                             Origin="http://evil.org")[0], 403)
        self.assertEqual(ask(path, "GET")[0], 405)
        self.assertEqual(ask(path, "POST", "{", Content_Type="application/json")[0], 400)
        raw = test_http.request("POST /api/store/list HTTP/1.1", "Content-Type: application/json",
                                "Content-Length: 70000000")
        self.assertIn(b" 413 ", self.server.say(raw).splitlines()[0])
        self.assertEqual(ask(path, "POST", "{}", Content_Type="application/json", Host="evil.org")[0],
                         403)
        self.assertEqual(ask("/api/store/nope", "POST", "{}", Content_Type="application/json")[0], 404)

    def test_turns_are_taken_in_order(self):
        order, began = [], time.monotonic()

        def turn(who, study=1):
            query = f"who={who}" + (f"&study={study}" if study else "")
            status, answer = self.server.post(f"/api/store/turn?{query}", {})
            self.assertEqual((status, answer), (200, {}))
            if study:
                order.append(who)

        turn("a")
        turn("a")  # has it already
        turn("x", 2)  # another study
        threads = [threading.Thread(target=turn, args=(who,)) for who in "bc"]
        for thread in threads:
            thread.start()
            time.sleep(0.3)
        self.assertEqual(order, list("aax"))
        turn("a", None)  # gives it up
        threads[0].join(2)
        self.assertEqual(order, list("aaxb"))
        # What succeeds with a turn ends it.
        status, _ = self.server.post("/api/store/append?turn=b", {
            "study": 1, "events": [event(9, 9, 0, {"cells": [0.5], "y": 0.5})]})
        self.assertEqual(status, 200)
        threads[1].join(2)
        self.assertEqual(order, list("aaxbc"))
        self.assertLess(time.monotonic() - began, 2.9)
        began = time.monotonic()
        turn("d")  # c does not end its turn: one goes on without
        self.assertTrue(2.5 < time.monotonic() - began < 8)
        for query in ("study=1", "who=", "who=" + "a" * 50, "who=a&study=-1", "who=a&other=1"):
            self.assertEqual(self.server.post(f"/api/store/turn?{query}", {})[0], 400)

    def test_several_clients_share_the_numbers(self):
        study = self.ask("find", {"name": "old"})["study"]
        taken, refused = [], []

        def work(k):
            line = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60)
            for i in range(40):
                number = len(taken)
                body = {"study": study, "next": number, "durable": True,
                        "events": [event(1000 * (k + 1) + i, 3, number, {"cells": [0.5], "by": 1})]}
                line.request("POST", "/api/store/append", json.dumps(body),
                             {"Content-Type": "application/json"})
                answer = line.getresponse()
                document = json.loads(answer.read())
                if answer.status == 200:
                    taken.append((number, document["places"][0][0]))
                else:
                    refused.append((answer.status, document["code"]))
            line.close()

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(taken), [(i, i + 2) for i in range(len(taken))])
        self.assertGreaterEqual(len(taken), 10)
        self.assertLessEqual(set(refused), {(503, "busy")})


# ---- answers that are lost ----------------------------------------------------------

class Thief:
    """Stands between a client and a server, and keeps every k-th answer to itself."""

    def __init__(self, port, every):
        self.port, self.every, self.n, self.stolen = port, every, 0, 0
        self.ear = socket.create_server(("127.0.0.1", 0))
        self.own = self.ear.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                line, _ = self.ear.accept()
            except OSError:
                return
            threading.Thread(target=self.pass_on, args=(line,), daemon=True).start()

    @staticmethod
    def read(file):
        """A message of HTTP with its length, or nothing."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            part = file.readline()
            if not part:
                return b""
            head += part
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        return head + file.read(int(length[1]) if length else 0)

    def pass_on(self, line):
        with line, socket.create_connection(("127.0.0.1", self.port)) as other:
            asked, answered = line.makefile("rb"), other.makefile("rb")
            while question := self.read(asked):
                other.sendall(question)
                answer = self.read(answered)
                self.n += 1
                if self.n % self.every == 0:
                    self.stolen += 1
                    return  # it was done, and nobody hears of it
                line.sendall(answer)


class Lost(test_http.Case):
    def test_what_was_done_is_found_and_not_repeated(self):
        server = self.serve("--allow-store")
        counts = []
        for every in (3, 10 ** 9):
            thief = Thief(server.port, every)
            name = f"s{every}"
            self.cocabo("run", "--storage", f"http://127.0.0.1:{thief.own}", "--study", name,
                        "-p", "x=float(0,1)", "-n", "25", "--sampler", "random", "--",
                        "sh", "-c", "echo {x}")
            thief.ear.close()
            self.assertEqual(thief.stolen > 20, every == 3)
            self.cocabo("verify", "--study", name)
            trials = self.lines("trials", "--study", name)
            self.assertEqual([t["state"] for t in trials], ["complete"] * 25)
            counts.append(server.get(f"/api/studies/{name}")["seq"])
        self.assertEqual(counts[0], counts[1])  # not one event more

    def test_a_study_is_created_and_deleted_once(self):
        server = self.serve("--allow-store")
        thief = Thief(server.port, 2)
        url = f"http://127.0.0.1:{thief.own}"
        for _ in range(3):
            self.cocabo("create", "--storage", url, "--study", "s", "-p", "x=float(0,1)")
            done = self.cocabo("create", "--storage", url, "--study", "s", "-p", "y=float(0,1)",
                               status=2)
            self.assertIn("y", done.stderr)
            self.cocabo("delete", "--storage", url, "--study", "s", "--yes")
        thief.ear.close()


# ---- servers that are none of ours --------------------------------------------------

class Impostor:
    """Says the same to whoever calls."""

    def __init__(self, say):
        self.ear = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.ear.getsockname()[1]}"
        self.say = say
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                line, _ = self.ear.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(line,), daemon=True).start()

    def answer(self, line):
        with line:
            try:
                line.recv(65536)
                self.say(line)
            except OSError:
                pass


def ok(content, *headers):
    head = ["HTTP/1.1 200 OK", f"Content-Length: {len(content)}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + content


class Hostile(test_http.Case):
    def call(self, say, *command, status=1, within=20):
        there = Impostor(say)
        self.addCleanup(there.ear.close)
        began = time.monotonic()
        done = self.cocabo(*(command or ("studies",)), "--storage", there.url, status=status)
        self.assertLess(time.monotonic() - began, within)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertNotRegex(done.stderr.rstrip("\n"), r"[\x00-\x1f\x7f]")
        return done.stderr

    def test_each_is_said_in_one_sentence(self):
        cases = {
            "garbage": (b"\x16\x03\x01\x02\x00" * 50, "not HTTP"),
            "an endless line": (b"HTTP/1.1 " + b"2" * 100000, "head is too long"),
            "half a head": (b"HTTP/1.1 200 OK\r\nContent-", "broke off"),
            "half a content": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"store\"", "broke off"),
            "nothing": (b"", "closed the connection"),
            "a huge length": (b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999999\r\n\r\n",
                              "larger"),
            "a large length": (b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n", "larger"),
            "a negative length": (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "no number"),
            "no length": (b"HTTP/1.1 200 OK\r\n\r\n{}", "no length"),
            "a bad chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "no number"),
            "a huge chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
                             "larger"),
            "gzip": (ok(b"xx", "Content-Encoding: gzip"), "compressed"),
            "a redirect": (b"HTTP/1.1 302 Found\r\nLocation: http://evil/\r\nContent-Length: 0\r\n\r\n",
                           "status 302"),
            "another page": (ok(b"<html>"), "cannot be read"),
            "another version": (ok(b'{"store":2}'), "another version"),
            "an older one": (b"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n{}", "no cocabo serve"),
            "deep JSON": (ok(b"[" * 100000), "cannot be read"),
            "a sentence that moves the cursor": (
                b"HTTP/1.1 500 No\r\nContent-Length: 51\r\n\r\n"
                b'{"error":"a\\u001b[2Jb\\nc","code":"store","more":1}\r\n', "a?[2Jb?c"),
        }
        for name, (raw, word) in cases.items():
            with self.subTest(name=name):
                self.assertIn(word, self.call(lambda line, raw=raw: line.sendall(raw)))

    def speak(self, answers):
        """Greets as we do, and then gives these answers, one a question."""
        def say(line):
            line.sendall(ok(b'{"store":1}'))
            for answer in answers:
                line.recv(1 << 20)
                line.sendall(answer)
            line.recv(1)
        return say

    def test_bad_documents_are_no_store(self):
        for name, document in {
                "no list": b'{"names":7}', "a bad name": b'{"names":["a\\nb"]}',
                "a long name": b'{"names":["' + b"a" * 5000 + b'"]}', "half": b'{"names":[',
                "not UTF-8": b'{"names":["\xff"]}', "more": b'{"names":[]} x'}.items():
            with self.subTest(name=name):
                self.assertIn("cannot be read", self.call(self.speak([ok(document)])))

    def test_bad_events_are_no_log(self):
        def events(*several, more=False):
            return ok(json.dumps({"events": several, "more": more}).encode())
        created = event(1, 1, -1, {"space": SPACE}, seq=1, time=1.0)
        found = ok(b'{"study":1}')
        for name, answers in {
                "no body": [found, events({**created, "body": 1})],
                "no space": [found, events({**created, "body": {}})],
                "no order": [found, events(created, {**created, "id": f"{2:032x}"})],
                "no end": [found, events(more=True)],
                "a gap": [found, events(created, event(2, 4, 0, {"y": 1.0}, seq=9, time=1.0))],
                "an unknown kind": [found, events(event(1, 55, -1, {}, seq=1, time=1.0))],
                "nothing": [found, events()]}.items():
            with self.subTest(name=name):
                there = Impostor(self.speak(answers))
                self.addCleanup(there.ear.close)
                done = subprocess.run(
                    [test_http.PROGRAM, "best", "--study", "s", "--storage", there.url],
                    cwd=self.folder, capture_output=True, text=True, timeout=60)
                self.assertIn(done.returncode, (1, 2))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_chunks_drops_and_news_before_are_fine(self):
        content = b'{"store":1}'
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(
            b"1\r\n%c\r\n" % c for c in content) + b"0\r\n\r\n"

        def drops(raw):
            def say(line):
                for i in range(len(raw)):
                    line.sendall(raw[i:i + 1])
                line.recv(65536)
                line.sendall(ok(b'{"names":[]}'))
                line.recv(1)
            return say
        for raw in (ok(content), chunked, b"HTTP/1.1 100 Continue\r\n\r\n" + ok(content)):
            there = Impostor(drops(raw))
            self.addCleanup(there.ear.close)
            self.cocabo("studies", "--storage", there.url)

    def test_a_silent_server_can_be_left(self):
        there = Impostor(lambda line: time.sleep(60))
        self.addCleanup(there.ear.close)
        client = subprocess.Popen([test_http.PROGRAM, "studies", "--storage", there.url],
                                  cwd=self.folder, stderr=subprocess.PIPE, text=True)
        try:
            said = client.stderr.readline()
            self.assertIn("waiting for the server of " + there.url, said)
        finally:
            client.terminate()
            client.wait(10)
            client.stderr.close()

    def test_what_is_never_whole_ends(self):
        """Head or content drop by drop, for as long as the other end takes it."""
        def drip(first):
            def say(line):
                line.sendall(first)
                while True:
                    line.sendall(b"a" * 1000)
            return say
        self.assertIn("too long", self.call(drip(b"HTTP/1.1 200 OK\r\nX: ")))
        self.assertIn("cannot be read", self.call(drip(
            b"HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n"), within=60))


if __name__ == "__main__":
    test_http.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
