"""A PostgreSQL server for tests, a PgBouncer before it, and a network that fails.

    with Server() as server:
        role = server.create_role("worker")
        url = server.create_database("studies", owner=role)

A server has a folder of its own, listens on 127.0.0.1 only, asks for passwords and takes
commits to the disk. It is gone when the `with` ends, and also when this process is killed.
Root starts it as the user postgres, because PostgreSQL refuses to run as root.
"""

import asyncio
import atexit
import ctypes
import dataclasses
import glob
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

START = 60  # seconds that a server may take to start, recovery and all
HOST = "127.0.0.1"
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
SETTINGS = {
    "listen_addresses": HOST,
    "max_connections": 200,
    "password_encryption": "scram-sha-256",
    "fsync": "on",
    "shared_buffers": "32MB",
    "max_wal_senders": 2,
    "log_min_messages": "warning",
    "log_statement": "none",
}


def programs():
    """The folder of initdb and postgres: the newest of Debian's, else pg_config's."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"),
                   key=lambda path: int(path.split("/")[4]))
    if found:
        return pathlib.Path(found[-1]).parent
    told = subprocess.run(["pg_config", "--bindir"], check=True, text=True,
                          stdout=subprocess.PIPE)
    return pathlib.Path(told.stdout.strip())


def missing():
    """What is missing here to run a server, in a sentence; None: nothing."""
    try:
        folder = programs()
    except (OSError, subprocess.CalledProcessError):
        return "PostgreSQL is not installed (neither in /usr/lib/postgresql nor pg_config)"
    if not (folder / "initdb").exists():
        return f"{folder} has no initdb: want the server of PostgreSQL"
    return None


def missing_in(cocabo):
    """The same, also if the program was built without PostgreSQL. No server is asked."""
    done = subprocess.run([cocabo, "studies", "--storage", "postgresql://127.0.0.1:1/x"],
                          text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    if "has no PostgreSQL" in done.stderr:
        return "this build of cocabo has no PostgreSQL"
    return missing()


def identity():
    """Arguments of Popen for the user that servers run as."""
    if os.geteuid() != 0:
        return {}
    return {"user": "postgres", "group": "postgres", "extra_groups": []}


def give_away(path):
    if os.geteuid() == 0:
        shutil.chown(path, "postgres", "postgres")


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def die_with_parent(sign):
    """For preexec_fn: the process gets that signal when whoever started it dies."""
    return lambda: LIBC.prctl(PR_SET_PDEATHSIG, sign)


def children_of(pid):
    """Processes that it has started, by /proc."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = pathlib.Path(f"/proc/{name}/stat").read_text()
        except OSError:
            continue
        if int(stat.rsplit(")", 1)[1].split()[1]) == pid:
            found.append(int(name))
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


@dataclasses.dataclass(frozen=True)
class Role:
    name: str
    password: str


class Server:
    """`settings` go to postgresql.conf; tls: with a self-signed certificate. A server
    whose start fails has said why in its `log`.

    initdb takes seconds, so the second one's cluster is kept and later ones copy it. Not
    the first one's: who has one server leaves nothing behind when killed."""

    count = 0  # of clusters made by this process
    kept = None  # (folder, admin) of the one to copy

    def __init__(self, settings=None, tls=False):
        # Short, because the path of a socket may have 107 bytes only.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        give_away(self.folder)
        self.data = self.folder / "data"
        self.settings = {**SETTINGS, "unix_socket_directories": self.folder,
                         **(settings or {})}
        self.admin = Role("postgres", secrets.token_hex(12))
        self.port = None
        self.process = None
        self.tls = tls

    def __enter__(self):
        try:
            self.make_cluster()
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def run(self, *argv, **more):
        """A program of PostgreSQL's, as the server's user; its output."""
        environment = {**os.environ, "PGPASSWORD": self.admin.password, "LC_ALL": "C"}
        done = subprocess.run([str(a) for a in argv], cwd="/", text=True, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, **identity(), **more)
        if done.returncode != 0:
            raise RuntimeError(f"{argv[0]} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    # ---- its life --------------------------------------------------------------------

    def make_cluster(self):
        Server.count += 1
        if Server.count == 2:
            self.keep_one()
        if Server.kept:
            folder, self.admin = Server.kept
            self.run("cp", "-a", f"{folder}/data/.", self.data)
        else:
            self.init(self.data)
        if self.tls:
            self.make_certificate()
        self.configure()

    def init(self, data):
        word = self.folder / "word"
        word.write_text(self.admin.password + "\n")
        word.chmod(0o600)
        give_away(word)
        self.run(programs() / "initdb", "-D", data, "-U", self.admin.name, "-N",
                 "-A", "scram-sha-256", f"--pwfile={word}", "-E", "UTF8", "--locale=C")
        word.unlink()

    def keep_one(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        give_away(folder)
        self.init(folder / "data")
        Server.kept = folder, self.admin

    def make_certificate(self):
        self.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                 "-subj", "/CN=localhost", "-keyout", self.data / "server.key", "-out",
                 self.data / "server.crt")
        (self.data / "server.key").chmod(0o600)
        self.settings["ssl"] = "on"

    def configure(self, **settings):
        """Writes the settings down; a restart makes them count."""
        self.settings.update(settings)
        path = self.data / "postgresql.auto.conf"
        path.write_text("".join(f"{k} = '{v}'\n" for k, v in self.settings.items()))
        give_away(path)

    @property
    def log(self):
        path = self.folder / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self):
        """On the same port as before, where clients look for it."""
        self.port = self.port or free_port()
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [programs() / "postgres", "-D", self.data, "-p", str(self.port)], cwd="/",
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGQUIT), **identity())
        end = time.monotonic() + START
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server did not start: {self.log[-2000:]}")
            time.sleep(0.02)

    def is_ready(self):
        return subprocess.run([programs() / "pg_isready", "-q", "-h", HOST, "-p",
                               str(self.port)], check=False).returncode == 0

    def stop(self, sign=signal.SIGINT):
        """Fast: sessions are ended. SIGTERM waits for them, SIGQUIT ends in recovery."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(sign)
            self.process.wait(timeout=60)

    def kill9(self):
        """The whole server at one stroke: no session has the time to notice. It is
        stopped first, so that it does not start another one meanwhile."""
        self.process.send_signal(signal.SIGSTOP)
        sessions = children_of(self.process.pid)
        for pid in [*sessions, self.process.pid]:
            kill(pid)
        self.process.wait()
        while any(os.path.exists(f"/proc/{pid}") for pid in sessions):
            time.sleep(0.005)

    def restart(self):
        self.stop()
        self.start()

    def close(self):
        try:
            if self.process and self.process.poll() is None:
                self.stop(signal.SIGQUIT)  # there is nothing to be kept
        except subprocess.TimeoutExpired:
            self.kill9()
        self.free_memory()
        shutil.rmtree(self.folder, ignore_errors=True)

    def free_memory(self):
        """A server that was killed leaves its segment of shared memory behind."""
        pid_file = self.data / "postmaster.pid"
        if pid_file.exists():
            found = re.search(r"^ *\d+ +(\d+)$", pid_file.read_text(), re.M)
            if found:
                subprocess.run(["ipcrm", "-m", found[1]], check=False,
                               stderr=subprocess.DEVNULL)

    def standby(self):
        """A new server that follows this one and takes no writes; start it with `with`."""
        return Standby(self)

    # ---- what is in it ---------------------------------------------------------------

    def query(self, sql, database="postgres", role=None, port=None):
        """What psql prints: one line a row, columns apart by |."""
        role = role or self.admin
        done = subprocess.run(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", HOST, "-p",
             str(port or self.port), "-U", role.name, "-d", database, "-c", sql],
            env={**os.environ, "PGPASSWORD": role.password, "LC_ALL": "C",
                 "PGCONNECT_TIMEOUT": "10"},
            stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.rstrip("\n")

    def create_role(self, name, password=None):
        role = Role(name, password or secrets.token_hex(12))
        word = role.password.replace("'", "''")
        self.query(f"""CREATE ROLE "{name}" LOGIN PASSWORD '{word}'""")
        return role

    def create_database(self, name, owner=None):
        """Its URL for its owner."""
        owner = owner or self.admin
        self.query(f'CREATE DATABASE "{name}" OWNER "{owner.name}"')
        return self.url(name, owner)

    def url(self, database, role=None, port=None, more=""):
        role = role or self.admin
        return (f"postgresql://{role.name}:{role.password}@{HOST}:{port or self.port}/"
                f"{database}{more}")


class Standby(Server):
    """A hot standby: a copy of another server that follows it."""

    def __init__(self, primary):
        super().__init__()
        self.primary = primary
        self.admin = primary.admin

    def make_cluster(self):
        self.run(programs() / "pg_basebackup", "-h", HOST, "-p", self.primary.port, "-U",
                 self.admin.name, "-D", self.data, "-R", "-X", "stream", "-c", "fast", "-N")
        path = self.data / "postgresql.auto.conf"
        with open(path, encoding="utf-8") as file:
            follow = [line for line in file if line.startswith("primary_conninfo")]
        self.configure()
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(follow)


class Bouncer:
    """PgBouncer in transaction mode: a session of the server serves one client for one
    transaction, and nothing of the session stays with the client."""

    def __init__(self, server, roles, sessions=8):
        self.server = server
        self.roles = roles
        self.sessions = sessions
        self.port = free_port()
        self.process = None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pgb-", dir="/tmp"))

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        give_away(path)
        return path

    def start(self):
        give_away(self.folder)
        users = self.write("users", "".join(f'"{r.name}" "{r.password}"\n'
                                            for r in self.roles))
        self.write("bouncer.ini", f"""[databases]
* = host={HOST} port={self.server.port}
[pgbouncer]
listen_addr = {HOST}
listen_port = {self.port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
pool_mode = transaction
default_pool_size = {self.sessions}
max_client_conn = 500
server_login_retry = 1
""")
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [shutil.which("pgbouncer") or "/usr/sbin/pgbouncer",
                 self.folder / "bouncer.ini"], cwd="/", stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, preexec_fn=die_with_parent(signal.SIGKILL),
                **identity())
        await_port(self.port, self.process, lambda: self.log)

    @property
    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def url(self, database, role):
        return self.server.url(database, role, self.port)

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def await_port(port, process, log):
    end = time.monotonic() + START
    while True:
        try:
            socket.create_connection((HOST, port), 1).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{process.args[0]} did not start: {log()}") from None
        time.sleep(0.02)


class Proxy:
    """A network between clients and a server that can fail in the usual ways:

    cut()          every connection is reset, as by a router that forgot it
    refuse(bool)   new connections are refused
    delay          seconds that every piece of data takes longer
    hold(bool)     a black hole: nothing arrives, nobody is told; what was sent meanwhile
                   arrives afterwards, as TCP sends it again
    """

    def __init__(self, port):
        self.target = port
        self.port = None
        self.delay = 0.0
        self.count = 0  # connections so far
        self.open = set()  # pairs of writers
        self.listener = None
        self.loop = asyncio.new_event_loop()
        self.passing = None
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        self.do(self.listen())
        return self

    def __exit__(self, *_):
        self.cut()
        self.do(self.end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    async def listen(self):
        if self.passing is None:
            self.passing = asyncio.Event()
            self.passing.set()
        self.listener = await asyncio.start_server(self.serve, HOST, self.port or 0,
                                                   backlog=500)
        self.port = self.listener.sockets[0].getsockname()[1]

    async def close_listener(self):
        if self.listener:
            self.listener.close()
            self.listener = None

    async def end(self):
        await self.close_listener()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def serve(self, reader, writer):
        self.count += 1
        try:
            far_reader, far_writer = await asyncio.open_connection(HOST, self.target)
        except OSError:
            reset(writer)
            return
        pair = (writer, far_writer)
        self.open.add(pair)
        try:
            await asyncio.gather(self.pump(reader, far_writer),
                                 self.pump(far_reader, writer))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self.open.discard(pair)
            for end in pair:
                end.close()

    async def pump(self, reader, writer):
        while data := await reader.read(1 << 16):
            if self.delay:
                await asyncio.sleep(self.delay)
            await self.passing.wait()
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    # ---- faults ----------------------------------------------------------------------

    def cut(self):
        """How many connections there were."""
        return self.do(self.cut_now())

    async def cut_now(self):
        pairs = list(self.open)
        for pair in pairs:
            for writer in pair:
                reset(writer)
        return len(pairs)

    def refuse(self, yes=True):
        self.do(self.close_listener() if yes else self.listen())

    def hold(self, yes=True):
        async def turn():
            self.passing.clear() if yes else self.passing.set()
        self.do(turn())


def reset(writer):
    """Closes it at once, with a RST: what is still to be sent is forgotten."""
    end = writer.get_extra_info("socket")
    if end is not None and end.fileno() >= 0:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
