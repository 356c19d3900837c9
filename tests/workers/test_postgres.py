#!/usr/bin/env python3
"""Studies on a PostgreSQL server, as the user of the program sees them.

    python3 tests/workers/test_postgres.py PATH/TO/cocabo [unittest arguments]
"""

import contextlib
import glob
import itertools
import json
import os
import pathlib
import re
import secrets
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "cli"), str(TESTS / "docs")]
import test_run  # noqa: E402
from server import (Bouncer, Proxy, Role, Server, children_of, free_port,  # noqa: E402
                    give_away, missing_in)
from test_docs import blocks  # noqa: E402

PAGE = TESTS.parent / "docs/parallel.md"
SERVER = None
NAMES = itertools.count()
FAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)
SPACE = ["-p", "a=int(1,99)", "-p", "b=choice(0,1,2)"]
# Says which point it has and waits until all may go, or this trial; its value belongs to
# that point only.
WAITING = """echo "$COCABO_TRIAL $1 $2" >>started
while [ ! -e go ] && [ ! -e "go-$COCABO_TRIAL" ]; do sleep 0.02; done
echo $(($1 * 10 + $2))"""


def setUpModule():
    global SERVER
    reason = missing_in(test_run.COCABO)
    if reason:
        raise unittest.SkipTest(reason)
    SERVER = Server({"max_prepared_transactions": 0}, tls=True)
    SERVER.__enter__()
    unittest.addModuleCleanup(SERVER.close)


def value_at(params):
    return params["a"] * 10 + params["b"]


class Case(test_run.Case):
    """A database of its own on the shared server, and a role that owns it."""

    def setUp(self):
        super().setUp()
        self.enter(SERVER)

    def enter(self, server):
        self.server = server
        self.name = f"d{next(NAMES)}"
        self.role = server.create_role(f"r{self.name}", f"word-{secrets.token_hex(8)}")
        self.url = server.create_database(self.name, self.role)
        self.environment["COCABO_STORAGE"] = self.url

    def fails(self, *sentence, args=("studies",), url=None, seconds=30):
        """One line on standard error, which has these words and no password."""
        started = time.monotonic()
        done = self.cocabo(*args, "--storage", url or self.url, timeout=seconds + 60)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for words in sentence:
            self.assertIn(words, done.stderr)
        self.assertNotIn("word-", done.stderr)
        self.assertLess(time.monotonic() - started, seconds)
        return done.stderr

    def create(self, *more, trials=4):
        self.ok("create", *SPACE, "--sampler", "random", "-n", trials, *more)

    def started(self):
        """Trials that programs have begun with, in order: number and point."""
        path = self.folder / "started"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(int(number), {"a": int(a), "b": int(b)})
                for number, a, b in map(str.split, lines)]

    def worker(self, *more, url=None):
        said = open(self.folder / f"said-{next(NAMES)}", "w", encoding="utf-8")
        self.addCleanup(said.close)
        return self.start("worker", "-v", "--storage", url or self.url, *more, stderr=said,
                          stdout=said)

    def dump(self):
        """All that the database has, as text."""
        tables = self.server.query(
            "SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) FROM "
            "information_schema.tables WHERE table_schema NOT IN ('pg_catalog', "
            "'information_schema')", self.name).splitlines()
        self.assertTrue(tables)
        return "\n".join(self.server.query(f"SELECT t::text FROM {table} t", self.name)
                         for table in tables)


class Sentences(Case):
    def test_a_wrong_password(self):
        wrong = Role(self.role.name, "word-other")
        self.fails(self.role.name, "password", url=SERVER.url(self.name, wrong))

    def test_a_missing_role(self):
        self.fails("nobody", url=SERVER.url(self.name, Role("nobody", "word-x")))

    def test_a_missing_database(self):
        self.fails("nowhere", "does not exist", url=SERVER.url("nowhere", self.role))

    def test_a_missing_server(self):
        port = free_port()
        self.fails("127.0.0.1", str(port), url=SERVER.url(self.name, self.role, port))

    def test_a_missing_study(self):
        self.create()
        done = self.cocabo("trials", "--study", "other")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('no study "other"', done.stderr)

    def test_a_database_that_takes_no_writes(self):
        self.create()
        self.ok("ask")
        SERVER.query(f"ALTER DATABASE {self.name} SET default_transaction_read_only = on")
        self.assertEqual(self.states(), ["running"])
        self.ok("studies")
        self.fails("read-only", args=("ask",))
        self.fails("read-only", args=("tell", "0", "1"))

    def test_an_empty_database_that_takes_no_writes(self):
        SERVER.query(f"ALTER DATABASE {self.name} SET default_transaction_read_only = on")
        self.fails("read-only", args=("create", *SPACE))

    def test_a_standby(self):
        """Of a server that has little: a standby starts as a copy of everything."""
        self.enter(self.enterContext(Server()))
        self.create()
        self.ok("ask")
        self.ok("tell", "0", "3")
        with self.server.standby() as standby:
            url = standby.url(self.name, self.role)
            self.ok("best", "--storage", url)
            self.ok("verify", "--storage", url)
            self.fails("read-only", args=("ask",), url=url)

    def test_a_parameter_of_the_url_that_there_is_not(self):
        done = self.cocabo("studies", "--storage", self.url + "?colour=blue")
        self.assertIn(done.returncode, (1, 2))
        self.assertIn("URL", done.stderr)
        self.assertNotIn("word-", done.stderr)


class Schema(Case):
    def test_a_newer_schema_is_left_alone(self):
        self.create()
        self.set_version(self.version() + 1000)
        before = self.dump()
        sentence = self.fails("version")
        self.assertRegex(sentence, "newer|later")
        self.fails("version", args=("ask",))
        self.assertEqual(self.dump(), before)

    def test_two_create_it_at_once(self):
        many = [self.start("create", *SPACE, "--study", f"s{i}") for i in range(8)]
        for process in many:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(len(self.ok("studies", "--json").stdout.splitlines()), 8)

    def test_the_first_schema_is_brought_up_to_date_by_whoever_writes(self):
        self.create("--", self.program(WAITING), "{a}", "{b}", trials=20)
        worker = self.worker("--lease", "500")
        self.wait_for(self.started)
        self.server.query(FIRST_SCHEMA, self.name)
        shown = json.loads(self.ok("workers", "--json").stdout)  # which only reads
        self.assertEqual((shown["process"], shown["trial"], shown["lease"]),
                         (worker.pid, 0, "held"))
        self.assertEqual(self.version(), 1)
        many = [self.start("ask", "--lease", "300") for _ in range(6)]
        for process in many:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(self.version(), 2)
        leases = self.server.query("SELECT trial, run, seconds FROM cocabo_leases ORDER BY 1",
                                   self.name).splitlines()
        self.assertEqual(leases, ["0|-1|500"] + [f"{i}|-1|300" for i in range(1, 7)])
        self.assertEqual(len(self.ok("workers", "--json").stdout.splitlines()), 7)
        worker.kill()
        worker.communicate()

    def version(self):
        return int(self.server.query(VERSION, self.name))

    def set_version(self, version):
        self.server.query(SET_VERSION.format(version), self.name)


VERSION = "SELECT version FROM cocabo_schema"
# What the second version added, taken away.
FIRST_SCHEMA = """
    DROP INDEX cocabo_run_by_number;
    ALTER TABLE cocabo_leases DROP CONSTRAINT cocabo_leases_pkey, DROP COLUMN run,
        ADD PRIMARY KEY (study, trial);
    DROP FUNCTION cocabo_append;
    UPDATE cocabo_schema SET version = 1"""
SET_VERSION = "UPDATE cocabo_schema SET version = {}"


class Work(Case):
    def test_the_same_study_as_in_a_file(self):
        """What is proposed depends on the log, not on where it lives."""
        file = f"sqlite:///{self.folder}/study.db"
        for url in (file, self.url):
            self.ok("run", *SPACE, "-n", "12", "-q", "--storage", url, "--", "sh", "-c",
                    "echo $(({a} * 10 + {b}))")
        here, there = ([(t["number"], t["params"], t["value"]) for t in
                        self.trials("--storage", url)] for url in (file, self.url))
        self.assertEqual(here, there)
        self.ok("verify", "--proposals", "all")

    def rows(self, path):
        file = sqlite3.connect(self.folder / path)
        rows = file.execute("SELECT seq, hex(id), time, kind, number, attempt, body, checksum "
                            "FROM events ORDER BY study, seq").fetchall()
        file.close()
        return rows

    def count_events(self):
        try:
            return int(self.server.query("SELECT count(*) FROM cocabo_events", self.name))
        except RuntimeError:  # there is no table yet
            return 0

    def test_a_study_moves_from_a_file_to_a_server_and_back(self):
        self.ok("run", "--storage", "a.db", *SPACE, "-n", "12", "-q", "--", "sh", "-c",
                "[ {b} = 2 ] || echo $(({a} * 10 + {b}))")
        there = self.ok("copy", "a.db", self.url)
        self.assertIn("default: ", there.stdout)
        self.assertNotIn("word-", there.stdout + there.stderr)
        self.assertEqual(self.ok("copy", "a.db", self.url).stdout, "default: already there\n")
        self.ok("copy", self.url, "b.db")
        self.assertEqual(self.rows("b.db"), self.rows("a.db"))
        self.ok("verify", "--proposals", "all")
        self.ok("run", "-n", "14", "-q")  # it goes on there
        self.ok("copy", self.url, "a.db")
        self.ok("copy", self.url, "b.db")
        self.assertEqual(self.rows("b.db"), self.rows("a.db"))
        self.assertEqual(len(self.trials("--storage", "a.db")), 14)

    def test_a_copy_that_was_killed_goes_on(self):
        n = 30000
        table = "a,b,value\n" + "".join(f"{i % 99 + 1},{i % 3},{i}\n" for i in range(n))
        (self.folder / "known.csv").write_text(table)
        self.ok("create", "--storage", "a.db", *SPACE)
        self.ok("import", "--storage", "a.db", "known.csv")
        process = self.start("copy", "a.db", self.url)
        self.wait_for(self.count_events)
        process.kill()
        process.communicate()
        part = self.count_events()
        self.assertTrue(0 < part < n, part)
        done = self.ok("copy", "a.db", self.url)
        # A batch that was under way may still have arrived.
        copied = int(re.fullmatch(r"default: (\d+) events copied\n", done.stdout)[1])
        self.assertTrue(0 < copied <= n + 1 - part)
        self.ok("copy", self.url, "b.db")
        self.assertEqual(self.rows("b.db"), self.rows("a.db"))

    def test_it_shows_who_is_at_it(self):
        self.create("--", self.program(WAITING), "{a}", "{b}")
        worker = self.worker("--lease", "500")
        self.wait_for(self.started)
        shown = [json.loads(line) for line in self.ok("workers", "--json").stdout.splitlines()]
        self.assertEqual([(w["process"], w["trial"], w["lease"]) for w in shown],
                         [(worker.pid, 0, "held")])
        self.assertTrue(400 < shown[0]["left"] <= 500)
        worker.kill()
        worker.communicate()
        self.assertEqual(json.loads(self.ok("workers", "--json").stdout)["lease"], "gone")

    def test_it_lists_exports_and_deletes(self):
        self.create("--study", "one")
        self.create("--study", "two")
        self.ok("ask", "--study", "two")
        self.ok("tell", "--study", "two", "0", "3.25")
        exported = self.ok("export", "--study", "two", "--format", "csv").stdout
        self.assertIn("3.25", exported)
        self.ok("delete", "--study", "one", "--yes")
        names = [json.loads(s)["name"] for s in self.ok("studies", "--json").stdout
                 .splitlines()]
        self.assertEqual(names, ["two"])

    def test_workers_share_a_study(self):
        self.create("--", "sh", "-c", "echo $(({a} * 10 + {b}))", trials=60)
        team = [self.worker("-j", "2") for _ in range(4)]
        for worker in team:
            self.assertEqual(worker.wait(timeout=120), 0)
        self.check_complete(60)

    def check_complete(self, n):
        trials = self.trials()
        self.assertEqual([t["number"] for t in trials], list(range(n)))
        for trial in trials:
            self.assertEqual((trial["state"], trial["value"]),
                             ("complete", value_at(trial["params"])))
        self.assertEqual(len({json.dumps(t["params"]) for t in trials}), n)
        self.ok("verify", "--proposals", "all")

    def test_through_pgbouncer(self):
        """Two sessions for four workers of two trials each: whatever a session has beyond
        a transaction is somebody else's the next moment."""
        with Bouncer(SERVER, [self.role], sessions=2) as bouncer:
            self.url = bouncer.url(self.name, self.role)
            self.environment["COCABO_STORAGE"] = self.url
            self.test_workers_share_a_study()
            self.ok("best")
            self.ok("export", "--format", "csv")
            self.ok("delete", "--yes")

    def test_a_slow_network(self):
        with Proxy(SERVER.port) as proxy:
            self.environment["COCABO_STORAGE"] = SERVER.url(self.name, self.role, proxy.port)
            self.create()
            proxy.delay = 0.05
            started = time.monotonic()
            trial = json.loads(self.ok("ask", "--json").stdout)
            self.ok("tell", trial["number"], "1")
            self.assertLess(time.monotonic() - started, 10)
        self.environment["COCABO_STORAGE"] = self.url
        self.assertEqual(self.states(), ["complete"])


class Network(Case):
    def setUp(self):
        super().setUp()
        self.proxy = Proxy(SERVER.port)
        self.proxy.__enter__()
        self.addCleanup(self.proxy.__exit__)
        self.through = SERVER.url(self.name, self.role, self.proxy.port)

    def begin(self, trials=1):
        """A worker through the proxy that has started its first trial."""
        self.create("--", self.program(WAITING), "{a}", "{b}", trials=trials)
        worker = self.worker(url=self.through)
        self.wait_for(self.started)
        return worker

    def go(self):
        (self.folder / "go").touch()

    def test_a_worker_outlives_a_cut(self):
        worker = self.begin()
        self.assertGreater(self.proxy.cut(), 0)
        self.go()
        self.assertEqual(worker.wait(timeout=60), 0)
        self.assertEqual(self.states(), ["complete"])
        self.assertEqual(len(self.started()), 1)

    def test_a_worker_outlives_refusals(self):
        worker = self.begin()
        self.proxy.refuse()
        self.proxy.cut()
        self.go()
        time.sleep(3)
        self.assertIsNone(worker.poll())
        self.proxy.refuse(False)
        self.assertEqual(worker.wait(timeout=60), 0)
        self.assertEqual(self.states(), ["complete"])

    def test_a_worker_outlives_a_black_hole(self):
        worker = self.begin(trials=2)
        self.proxy.hold()
        self.go()
        time.sleep(2)
        self.proxy.hold(False)
        self.assertEqual(worker.wait(timeout=60), 0)
        self.assertEqual(self.states(), ["complete"] * 2)

    def test_who_is_interrupted_in_a_black_hole_ends(self):
        worker = self.begin(trials=2)
        self.proxy.hold()
        self.go()
        time.sleep(1)
        worker.send_signal(signal.SIGINT)
        started = time.monotonic()
        worker.wait(timeout=60)
        self.assertLess(time.monotonic() - started, 10)

    def test_a_command_that_hears_nothing_can_be_interrupted(self):
        self.create()
        self.proxy.hold()
        asking = self.start("ask", "--storage", self.through)
        time.sleep(1)
        asking.send_signal(signal.SIGINT)
        started = time.monotonic()
        asking.communicate(timeout=60)
        self.assertLess(time.monotonic() - started, 5)


class Passwords(Case):
    def test_it_is_in_no_output_and_in_no_table(self):
        word = self.role.password
        program = self.program("echo $(($1 * 10 + $2)); echo said >&2; [ $2 != 2 ]")
        said = []
        for args in (["create", *SPACE, "-n", "6", "--", program, "{a}", "{b}"],
                     ["worker", "-v", "--log-dir", "logs"], ["run", *SPACE, "-v", "-n", "9",
                      "--", program, "{a}", "{b}"], ["trials", "-v"], ["trials", "--json"],
                     ["best", "-v"], ["studies", "-v"], ["studies", "--json"],
                     ["verify", "-v"], ["export", "--format", "json"],
                     ["tell", "77", "1", "-v"], ["worker", "-v", "--study", "other"]):
            done = self.cocabo(*args, "--storage", self.url) if "--" not in args else \
                self.cocabo(args[0], "--storage", self.url, *args[1:])
            said.append(done.stdout + done.stderr)
        said += [path.read_text() for path in (self.folder / "logs").iterdir()]
        self.assertIn("complete", "".join(said))
        lines = "\n".join(said + [self.dump()]).splitlines()
        self.assertEqual([line for line in lines if word in line], [])

    def test_ps_does_not_show_it(self):
        self.create("--", self.program(WAITING), "{a}", "{b}")
        worker = self.worker()
        self.wait_for(self.started)
        lines = {}
        todo = [worker.pid]
        while todo:
            pid = todo.pop()
            with contextlib.suppress(OSError):
                lines[pid] = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            todo += children_of(pid)
        self.assertGreater(len(lines), 1)
        self.assertIn(b"worker", lines[worker.pid])
        self.assertNotIn(self.role.password.encode(), b"".join(lines.values()))

    def test_it_may_come_from_elsewhere(self):
        """As for psql: the environment, or a file."""
        bare = self.url.replace(f":{self.role.password}@", "@")
        self.environment["COCABO_STORAGE"] = bare
        self.assertNotEqual(self.cocabo("create", *SPACE).returncode, 0)
        self.environment["PGPASSWORD"] = self.role.password
        self.create()
        del self.environment["PGPASSWORD"]
        path = self.folder / "pgpass"
        path.write_text(f"*:*:*:{self.role.name}:{self.role.password}\n")
        path.chmod(0o600)
        self.environment["PGPASSFILE"] = str(path)
        self.ok("ask")

    def test_any_character_may_be_in_it(self):
        word = "word-/@:?#%&= é'\"\\"
        role = SERVER.create_role(f"odd{self.name}", word)
        SERVER.query(f"ALTER DATABASE {self.name} OWNER TO {role.name}")
        from urllib.parse import quote
        url = SERVER.url(self.name, Role(role.name, quote(word, safe="")))
        self.ok("create", *SPACE, "--storage", url)
        done = self.ends(2, "ask", "--study", "none", "--storage", url)
        self.assertIn('no study "none"', done.stderr)
        self.assertNotIn("word-", done.stderr)


class Grants(Case):
    """A role that may do nothing but work on studies, as docs/parallel.md says."""

    def setUp(self):
        super().setUp()
        self.locked = SERVER.create_role(f"locked{self.name}", "word-locked")
        SERVER.query("REVOKE CREATE ON SCHEMA public FROM PUBLIC", self.name)

    def grant(self, sql):
        SERVER.query(sql.replace("TO worker;", f"TO {self.locked.name};"), self.name)

    def test_it_works(self):
        [sql] = [text for _, text in blocks(PAGE, "sql") if "GRANT" in text]
        SERVER.query("REVOKE USAGE ON SCHEMA public FROM PUBLIC", self.name)
        self.create("--study", "first")
        self.grant(sql)
        self.environment["COCABO_STORAGE"] = SERVER.url(self.name, self.locked)
        self.ok("ask", "--study", "first")
        self.ok("tell", "--study", "first", "0", "1")
        self.create("--study", "second", "--", "sh", "-c", "echo {a}")
        self.ok("worker", "--study", "second", "-q")
        self.ok("verify", "--study", "second")
        self.ok("studies")
        self.ok("workers", "--study", "second")
        self.assertEqual(self.states("--study", "second"), ["complete"] * 4)

    def test_what_is_recorded_is_out_of_its_reach(self):
        [sql] = [text for _, text in blocks(PAGE, "sql") if "GRANT" in text]
        self.create()
        self.grant(sql)
        locked = SERVER.url(self.name, self.locked)
        for change in ("UPDATE cocabo_events SET body = ''", "DELETE FROM cocabo_events",
                       "DELETE FROM cocabo_studies", "UPDATE cocabo_schema SET version = 9",
                       "DROP TABLE cocabo_leases"):
            with self.assertRaisesRegex(RuntimeError, "permission denied|must be owner"):
                SERVER.query(change, self.name, self.locked)
        self.fails("permission denied", "parallel.md", args=("delete", "--yes", "--study",
                                                             "default"), url=locked)
        self.grant("GRANT DELETE ON cocabo_studies TO worker;")
        self.ok("delete", "--yes", "--study", "default", "--storage", locked)
        self.assertEqual(SERVER.query("SELECT count(*) FROM cocabo_events", self.name), "0")

    def test_an_empty_database_needs_somebody_who_may_create(self):
        self.fails(self.name, args=("create", *SPACE),
                   url=SERVER.url(self.name, self.locked))

    def test_who_may_not_even_read_is_told(self):
        self.create()
        self.fails("permission denied", args=("ask",),
                   url=SERVER.url(self.name, self.locked))


class Tls(Case):
    def encrypted(self, more):
        """Is what a worker has with the server encrypted?"""
        self.create("--", self.program(WAITING), "{a}", "{b}")
        self.worker(url=self.url + more)
        self.wait_for(self.started)
        return SERVER.query("SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity "
                            f"USING (pid) WHERE usename = '{self.role.name}'")

    def test_it_is_used_where_it_is_required(self):
        self.assertEqual(self.encrypted("?sslmode=require"), "t")

    def test_it_can_be_left_off(self):
        self.assertEqual(self.encrypted("?sslmode=disable"), "f")

    def test_a_certificate_of_nobody_is_refused_where_it_is_looked_at(self):
        self.environment["HOME"] = str(self.folder)
        self.fails("certificate", url=self.url + "?sslmode=verify-full")
        trusted = self.folder / "root.crt"
        trusted.write_bytes((SERVER.data / "server.crt").read_bytes())
        self.ok("create", *SPACE, "--storage",
                f"{self.url}?sslmode=verify-ca&sslrootcert={trusted}")

    def test_a_server_without_it(self):
        with Server() as plain:
            self.enter(plain)
            self.fails("SSL", url=self.url + "?sslmode=require")


class Losses(Case):
    """A server that forgets what it had not yet written. Asks are not durable by default,
    so the number of a lost one may be given to another point."""

    def setUp(self):
        test_run.Case.setUp(self)
        self.enter(self.enterContext(Server({"wal_writer_delay": "10s"})))

    def lose(self):
        """A worker whose program runs for a trial that the server has forgotten."""
        self.create("--", self.program(WAITING), "{a}", "{b}", trials=50)
        time.sleep(0.3)
        worker = self.worker("-j", "1")
        for count in range(20):
            self.wait_for(lambda: len(self.started()) > count)
            worker.send_signal(signal.SIGSTOP)  # else it notices, and puts the trial back
            self.server.kill9()
            self.server.start()
            number, point = self.started()[-1]
            if number not in [t["number"] for t in self.trials()]:
                return worker, number, point
            (self.folder / f"go-{number}").touch()  # it was kept: on with the next
            worker.send_signal(signal.SIGCONT)
        self.fail("the server lost nothing")

    def finish(self, worker, point):
        """The worker tells; the trial that has its value then."""
        worker.send_signal(signal.SIGCONT)
        (self.folder / "go").touch()
        self.wait_for(lambda: any(t["value"] == value_at(point) for t in self.trials()))
        worker.send_signal(signal.SIGINT)
        worker.wait(timeout=60)
        found = [t for t in self.trials() if t["value"] == value_at(point)]
        self.assertEqual(len(found), 1)
        for trial in self.trials():
            if trial["state"] == "complete":
                self.assertEqual(trial["value"], value_at(trial["params"]), trial)
        self.assertEqual(found[0]["params"], point)
        self.ok("verify", "--proposals", "all")
        return found[0]

    def test_a_value_whose_number_is_another_point_now_is_added(self):
        worker, number, point = self.lose()
        self.ok("create", *SPACE, "--seed", "12345")
        other = json.loads(self.ok("ask", "--json").stdout)
        self.assertEqual(other["number"], number)
        self.assertNotEqual(other["params"], point)
        trial = self.finish(worker, point)
        self.assertNotEqual(trial["number"], number)
        now = self.trials()[number]
        self.assertEqual((now["params"], now["state"]), (other["params"], "running"))

    def test_a_value_whose_number_nobody_has_is_kept(self):
        worker, _, point = self.lose()
        self.finish(worker, point)

    def test_what_is_told_is_durable(self):
        self.create(trials=50)
        for number in range(5):
            self.ok("ask")
            self.ok("tell", number, number + 0.5)
            self.server.kill9()
            self.server.start()
            self.assertEqual([t["value"] for t in self.trials()],
                             [n + 0.5 for n in range(number + 1)])


class Leases(Case):
    def test_the_trial_of_a_dead_process_is_taken_over_soon(self):
        """On this machine nobody has to wait for the lease, which is a minute."""
        self.create("--", self.program(WAITING), "{a}", "{b}", trials=1)
        first = self.worker()
        self.wait_for(self.started)
        second = self.worker()
        time.sleep(1)
        self.assertEqual(len(self.started()), 1)
        first.kill()
        killed = time.monotonic()
        self.wait_for(lambda: len(self.started()) == 2)
        self.assertLess(time.monotonic() - killed, 4)
        self.assertEqual(self.started()[0], self.started()[1])
        (self.folder / "go").touch()
        self.assertEqual(second.wait(timeout=60), 0)
        self.assertEqual(self.states(), ["complete"])


class Clocks(Case):
    @unittest.skipUnless(FAKETIME, "there is no faketime")
    def test_the_clock_of_a_worker_does_not_matter(self):
        """Leases and times are the server's: a worker two hours ahead, and one behind."""
        if b"__asan_init" in pathlib.Path(test_run.COCABO).read_bytes():
            self.skipTest("faketime and the sanitizer both want to be loaded first")
        self.create("--", self.program(WAITING), "{a}", "{b}", trials=3)
        workers = []
        for ahead in ("+2h", "-2h", None):
            clock = {"LD_PRELOAD": FAKETIME, "FAKETIME": ahead,
                     "FAKETIME_DONT_FAKE_MONOTONIC": "1"} if ahead else {}
            self.environment = {**self.environment, **clock}
            count = len(self.started())
            workers.append(self.worker("--lease", "60s"))
            self.wait_for(lambda n=count: len(self.started()) == n + 1)
            for name in clock:
                del self.environment[name]
        time.sleep(1.5)  # nobody takes from the others what is theirs
        self.assertEqual(sorted(number for number, _ in self.started()), [0, 1, 2])
        (self.folder / "go").touch()
        for worker in workers:
            self.assertEqual(worker.wait(timeout=60), 0)
        self.assertEqual(self.states(), ["complete"] * 3)
        for trial in self.trials():
            self.assertEqual(trial["attempt"], 0)
            self.assertLess(abs(trial["started"] - time.time()), 600)


@unittest.skipUnless(os.geteuid() == 0, "only root can mount a small disk")
class Disk(Case):
    """A server on a disk of 128 MB."""

    def setUp(self):
        test_run.Case.setUp(self)
        server = Server({"max_wal_size": "64MB", "min_wal_size": "32MB"})
        server.data.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128m,mode=0700", "tmpfs",
                                  str(server.data)], check=False, stderr=subprocess.DEVNULL)
        if mounted.returncode != 0:
            server.close()
            self.skipTest("nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(server.data)], check=False)
        give_away(server.data)
        self.enter(self.enterContext(server))

    def test_a_full_disk_gets_a_sentence_and_loses_nothing(self):
        self.create(trials=100)
        self.ok("ask")
        self.ok("tell", 0, 1.5)
        rows = self.folder / "rows.csv"
        rows.write_text("a,b,value,state\n" + "".join(
            f"{1 + i % 99},{i % 3},{i}.5,complete\n" for i in range(20000)))
        filler = self.server.data / "filler"
        with open(filler, "wb") as file:
            free = os.statvfs(self.server.data).f_bavail * os.statvfs(self.server.data).f_frsize
            file.write(bytes(max(0, free - (1 << 20))))
        full = self.cocabo("import", rows)
        self.assertEqual(full.returncode, 1, full.stderr)
        self.assertIn("No space left on device", full.stderr)
        self.assertIn("make room on its disk", full.stderr)
        self.assertEqual(len(full.stderr.splitlines()), 1)
        filler.unlink()
        if not self.server.is_ready():
            self.server.start()
        self.assertEqual([t["value"] for t in self.trials()], [1.5])
        self.ok("import", rows)
        self.assertEqual(len(self.trials()), 20001)
        self.ok("verify")


if __name__ == "__main__":
    test_run.COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
