#!/usr/bin/env python3
"""The server, the bouncer and the network of the other tests do what they say.

    python3 tests/workers/test_server.py [unittest arguments]
"""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import unittest

import server as server_module
from server import HOST, Bouncer, Proxy, Role, Server, children_of

SERVER = None
HERE = pathlib.Path(__file__).resolve().parent


def setUpModule():
    global SERVER
    if server_module.missing():
        raise unittest.SkipTest(server_module.missing())
    SERVER = Server(tls=True)
    SERVER.__enter__()
    unittest.addModuleCleanup(SERVER.close)
    SERVER.query("CREATE TABLE kept (n int)")


class Servers(unittest.TestCase):
    def test_passwords_are_asked_for(self):
        role = SERVER.create_role("somebody", "it's: a/secret@all")
        self.assertEqual(SERVER.query("SELECT current_user", role=role), "somebody")
        with self.assertRaisesRegex(RuntimeError, "password authentication failed"):
            SERVER.query("SELECT 1", role=Role("somebody", "another"))

    def test_tls_is_spoken(self):
        self.assertEqual(SERVER.query("SELECT ssl FROM pg_stat_ssl "
                                      "WHERE pid = pg_backend_pid()"), "t")

    def test_a_restart_keeps_what_was_committed_and_the_port(self):
        for stop in (SERVER.stop, SERVER.kill9):
            before, port = int(SERVER.query("SELECT count(*) FROM kept")), SERVER.port
            SERVER.query("INSERT INTO kept VALUES (1)")
            stop()
            with self.assertRaises(RuntimeError):
                SERVER.query("SELECT 1")
            SERVER.start()
            self.assertEqual(SERVER.port, port)
            self.assertEqual(int(SERVER.query("SELECT count(*) FROM kept")), before + 1)

    def test_kill9_loses_what_was_not_durable(self):
        """Nothing but a kill of all processes at once does that."""
        SERVER.configure(wal_writer_delay="10s")
        SERVER.restart()
        SERVER.query("CREATE TABLE lost (n int)")
        time.sleep(0.1)
        SERVER.query("SET synchronous_commit = off; INSERT INTO lost VALUES (1)")
        SERVER.kill9()
        SERVER.start()
        self.assertEqual(SERVER.query("SELECT count(*) FROM lost"), "0")
        SERVER.configure(wal_writer_delay="200ms")
        SERVER.restart()

    def test_a_standby_reads_and_does_not_write(self):
        SERVER.query("INSERT INTO kept VALUES (2)")
        with SERVER.standby() as standby:
            self.assertNotEqual(standby.query("SELECT count(*) FROM kept"), "0")
            with self.assertRaisesRegex(RuntimeError, "read-only transaction"):
                standby.query("INSERT INTO kept VALUES (3)")

    def test_nothing_is_left(self):
        with Server() as server:
            pid, folder = server.process.pid, server.folder
            self.assertTrue(children_of(pid))
        self.assertFalse(folder.exists())
        self.assertFalse(os.path.exists(f"/proc/{pid}"))

    def test_a_server_dies_with_whoever_started_it(self):
        code = ("from server import *; import time\n"
                "with Server() as s:\n"
                "  print(s.process.pid, s.folder, flush=True)\n  time.sleep(600)")
        child = subprocess.Popen([sys.executable, "-c", code], cwd=HERE, text=True,
                                 stdout=subprocess.PIPE)
        pid, folder = child.stdout.readline().split()
        child.send_signal(signal.SIGKILL)
        child.communicate()
        end = time.monotonic() + 10
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
            time.sleep(0.05)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        subprocess.run(["rm", "-rf", folder], check=True)


class Bouncers(unittest.TestCase):
    def test_clients_share_sessions(self):
        role = SERVER.create_role("client")
        with Bouncer(SERVER, [role], sessions=1) as bouncer:
            ask = "SELECT pg_backend_pid(), current_user"
            said = {SERVER.query(ask, role=role, port=bouncer.port) for _ in range(3)}
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said.pop().endswith("|client"))


class Proxies(unittest.TestCase):
    def setUp(self):
        self.proxy = Proxy(SERVER.port)
        self.proxy.__enter__()
        self.addCleanup(self.proxy.__exit__)

    def ask(self, sql="SELECT 1"):
        return SERVER.query(sql, port=self.proxy.port)

    def start(self, sql):
        process = subprocess.Popen(
            ["psql", "-XAtq", "-h", HOST, "-p", str(self.proxy.port), "-U", "postgres", "-c",
             sql], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "PGPASSWORD": SERVER.admin.password})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition):
        end = time.monotonic() + 10
        while not condition():
            self.assertLess(time.monotonic(), end, "it never happened")
            time.sleep(0.02)

    def running(self, sql):
        text = sql.replace("'", "''")
        return SERVER.query("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' "
                            f"AND query = '{text}'")

    def test_it_passes_on(self):
        self.assertEqual(len(self.ask("SELECT repeat('x', 3000000)")), 3000000)
        self.assertEqual(self.proxy.count, 1)

    def test_it_cuts_all_at_once(self):
        sql = "SELECT pg_sleep(3)"
        busy = [self.start(sql) for _ in range(3)]
        self.wait_for(lambda: self.running(sql) == "3")
        with socket.create_connection((HOST, self.proxy.port)) as idle:
            self.wait_for(lambda: len(self.proxy.open) == 4)
            self.assertEqual(self.proxy.cut(), 4)
            with self.assertRaises(ConnectionResetError):
                idle.recv(1)
        for process in busy:
            self.assertIn("server closed the connection unexpectedly",
                          process.communicate(timeout=2)[1])
        self.assertEqual(self.ask(), "1")

    def test_it_refuses(self):
        self.proxy.refuse()
        with self.assertRaisesRegex(RuntimeError, "Connection refused"):
            self.ask()
        self.proxy.refuse(False)
        self.assertEqual(self.ask(), "1")

    def test_it_delays(self):
        started = time.monotonic()
        self.ask()
        quick = time.monotonic() - started
        self.proxy.delay = 0.1
        started = time.monotonic()
        self.ask()
        self.assertGreater(time.monotonic() - started, quick + 0.4)

    def test_it_is_a_black_hole_and_heals(self):
        sql = "SELECT pg_sleep(1), 'after'"
        slow = self.start(sql)
        self.wait_for(lambda: self.running(sql) == "1")
        self.proxy.hold()
        time.sleep(1.5)
        self.assertIsNone(slow.poll())
        self.proxy.hold(False)
        self.assertIn("after", slow.communicate(timeout=5)[0])

    def test_a_server_that_is_gone_is_a_reset(self):
        with Proxy(server_module.free_port()) as proxy:
            with socket.create_connection((HOST, proxy.port)) as end:
                with self.assertRaises(ConnectionResetError):
                    end.recv(1)


if __name__ == "__main__":
    unittest.main()
