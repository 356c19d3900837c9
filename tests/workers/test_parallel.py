#!/usr/bin/env python3
"""docs/parallel.md and examples/parallel/, at work on a PostgreSQL server.

    python3 tests/workers/test_parallel.py PATH/TO/cocabo [unittest arguments]

Slurm, ssh and, where it is not installed, GNU parallel are stood in for by scripts that start
the same command here; Docker and Kubernetes by running the commands that their files name, with
the environment that they would have.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest
from urllib.parse import urlsplit

import yaml

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "cli"), str(TESTS / "docs")]
import test_run  # noqa: E402
from server import HOST, Role, Server, missing_in  # noqa: E402
from test_docs import blocks  # noqa: E402

PAGE = TESTS.parent / "docs/parallel.md"
EXAMPLES = TESTS.parent / "examples/parallel"
SERVER = None
TUNER = Role("tuner", "word-tuner")
# Values are those of the settings, so that a result under another's number shows.
TRAINING = 'echo "$COCABO_TRIAL" >>started; awk "BEGIN { print $1 + length(\\"$2\\") }"'
WAITING = 'echo "$COCABO_TRIAL" >>started; while [ ! -e go ]; do sleep 0.02; done; echo 1'
# For each host of the file the last word, by a shell, all at once.
PARALLEL = """while [ "$1" != --sshloginfile ]; do shift; done
hosts=$2
for line; do :; done
while read -r host; do "$PARALLEL_SSH" "$host" "$line" & done <"$hosts"
wait"""
# Without its options and the host, what remains is a line for the shell over there.
SSH = """while :; do case $1 in -l) shift 2 ;; -*) shift ;; *) break ;; esac; done
echo "$1" >>hosts; shift; [ "$1" != -- ] || shift; exec sh -c "$*" """


def setUpModule():
    global SERVER
    reason = missing_in(test_run.COCABO)
    if reason:
        raise unittest.SkipTest(reason)
    SERVER = Server(tls=True)
    SERVER.__enter__()
    unittest.addModuleCleanup(SERVER.close)


class Case(test_run.Case):
    """A database made as the page says, and a folder with the program `train.sh`."""

    def setUp(self):
        super().setUp()
        for statement in blocks(PAGE, "sql")[0][1].splitlines():
            SERVER.query(statement)
        SERVER.query(f"ALTER ROLE tuner PASSWORD '{TUNER.password}'")
        self.addCleanup(SERVER.query, "DROP ROLE tuner")
        self.addCleanup(SERVER.query, "DROP DATABASE studies WITH (FORCE)")
        self.url = f"postgresql://tuner@{HOST}:{SERVER.port}/studies"
        self.commands = self.folder / "bin"
        self.commands.mkdir()
        (self.commands / "cocabo").symlink_to(test_run.COCABO)
        self.environment["PATH"] = f"{self.commands}:{os.environ['PATH']}"
        self.environment |= {"COCABO_STORAGE": self.url, "PGPASSWORD": TUNER.password}
        self.program(TRAINING, "train.sh")

    def create(self, trials):
        self.ok("create", "--study", "mnist", "-n", trials, "--sampler", "random", "-p",
                "rate=float(0,1)", "-p", "optimizer=choice(adam,sgd)", "--", "./train.sh",
                "{rate}", "{optimizer}")

    def begin(self, *line, **environment):
        process = subprocess.Popen(
            [*map(str, line)], cwd=self.folder, env=self.environment | environment,
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        """It, and what it has left."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)

    def finish(self, process, status=0):
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, said)
        self.assertNotIn(TUNER.password, said)
        return said

    def started(self):
        path = self.folder / "started"
        return path.read_text().split() if path.exists() else []

    def check_complete(self, n):
        trials = self.trials("--study", "mnist")
        self.assertEqual([t["state"] for t in trials], ["complete"] * n)
        for trial in trials:
            rate, optimizer = trial["params"]["rate"], trial["params"]["optimizer"]
            self.assertAlmostEqual(trial["value"], rate + len(optimizer), 4)
        self.assertEqual(sorted(map(int, self.started())), list(range(n)))


class Page(Case):
    def test_its_commands_run(self):
        before = ""
        found = blocks(PAGE, "sh")
        self.assertGreater(len(found), 2)
        for line, text in found:
            text = text.replace("@db.example/", f"@{HOST}:{SERVER.port}/")
            text = text.replace("-n 200", "-n 12")
            with self.subTest(f"line {line}"):
                self.finish(self.begin("bash", "-e", "-c", before + text))
            before += "".join(re.findall(r"(?m)^export .*\n", text))
        self.check_complete(12)

    def test_passwords_are_words_to_be_replaced(self):
        for path in (PAGE, *EXAMPLES.iterdir()):
            for word in re.findall(r"\w+://[^\s:@/]+:([^\s@/]+)@", path.read_text()):
                self.assertEqual(word, "PASSWORD", path)

    def test_every_example_is_named(self):
        text = PAGE.read_text()
        for path in EXAMPLES.iterdir():
            self.assertIn(f"(../examples/parallel/{path.name})", text)


class Slurm(Case):
    def setUp(self):
        super().setUp()
        self.program('exec "$@"', "bin/srun")
        self.settings = dict(re.findall(r"(?m)^#SBATCH --([\w-]+)=(\S+)$",
                                        (EXAMPLES / "slurm.sh").read_text()))

    def task(self, number):
        return self.begin(EXAMPLES / "slurm.sh", "mnist", SLURM_JOB_ID="77",
                          SLURM_ARRAY_TASK_ID=str(number), SLURM_CPUS_PER_TASK="1")

    def test_an_array_reaches_the_budget(self):
        first, last = map(int, self.settings["array"].split("-"))
        self.assertGreater(last, first)
        self.create(18)
        for task in [self.task(i) for i in range(first, first + 3)]:
            self.finish(task)
        self.check_complete(18)
        self.assertEqual(len(list((self.folder / "logs-mnist").glob("*.out"))), 18)

    def test_a_task_whose_time_is_over_gives_its_trial_back(self):
        name, seconds = self.settings["signal"].split("@")
        self.assertGreaterEqual(int(seconds), 30)
        self.program(WAITING, "train.sh")
        self.create(2)
        task = self.task(1)
        self.wait_for(self.started)
        task.send_signal(signal.Signals[f"SIG{name}"])
        self.finish(task, 130)
        self.assertEqual(self.states("--study", "mnist"), ["interrupted"])
        (self.folder / "go").touch()
        self.finish(self.task(2))
        self.assertEqual(self.started(), ["0", "0", "1"])
        self.assertEqual(self.states("--study", "mnist"), ["complete"] * 2)

    def test_a_study_and_a_storage_are_wanted(self):
        self.assertIn("usage", self.finish(self.begin(EXAMPLES / "slurm.sh"), 1))
        del self.environment["COCABO_STORAGE"]
        self.assertIn("COCABO_STORAGE", self.finish(self.task(1), 1))


class GnuParallel(Case):
    def setUp(self):
        super().setUp()
        self.environment["PARALLEL_SSH"] = str(self.folder / self.program(SSH, "bin/ssh"))
        if not shutil.which("parallel"):
            self.program(PARALLEL, "bin/parallel")
        self.environment["HOME"] = str(self.folder)  # where it keeps notes
        self.hosts = self.folder / "hosts.txt"
        self.hosts.write_text("one\nyou@two\nthree\n")
        self.script = EXAMPLES / "gnu-parallel.sh"

    def test_every_host_has_a_worker(self):
        self.create(18)
        self.finish(self.begin(self.script, self.hosts, "mnist"))
        self.check_complete(18)
        named = (self.folder / "hosts").read_text()
        self.assertEqual({n.split("@")[-1] for n in named.split()}, {"one", "two", "three"})

    def test_a_password_is_not_sent_around(self):
        self.environment["COCABO_STORAGE"] = SERVER.url("studies", TUNER)
        said = self.finish(self.begin(self.script, self.hosts, "mnist"), 2)
        self.assertIn("want it in ~/.pgpass", said)
        self.assertFalse((self.folder / "hosts").exists())


class Containers(Case):
    @staticmethod
    def read(name):
        return list(yaml.safe_load_all((EXAMPLES / name).read_text()))

    def start_all(self, n, command, environment):
        self.environment.pop("PGPASSWORD")
        self.environment.pop("COCABO_STORAGE")
        for process in [self.begin(*command, **environment) for _ in range(n)]:
            self.finish(process)
        self.environment |= environment

    def test_kubernetes(self):
        job, secret = self.read("kubernetes.yaml")
        self.assertEqual((job["kind"], job["apiVersion"]), ("Job", "batch/v1"))
        self.assertEqual((secret["kind"], secret["apiVersion"]), ("Secret", "v1"))
        self.assertNotIn("completions", job["spec"])
        self.assertGreater(job["spec"]["parallelism"], 1)
        pod = job["spec"]["template"]["spec"]
        self.assertIn(pod["restartPolicy"], ("OnFailure", "Never"))
        self.assertGreater(pod["terminationGracePeriodSeconds"], 5)
        [container] = pod["containers"]
        [variable] = container["env"]
        key = variable["valueFrom"]["secretKeyRef"]
        self.assertEqual(key["name"], secret["metadata"]["name"])
        url = secret["stringData"][key["key"]].replace(":PASSWORD@", f":{TUNER.password}@")
        url = url.replace("db.example:5432", f"{HOST}:{SERVER.port}")
        self.create(8)
        self.start_all(2, container["command"], {variable["name"]: url})
        self.check_complete(8)

    def test_compose(self):
        [project] = self.read("compose.yaml")
        services = project["services"]
        made = services["db"]["environment"]
        for service in services.values():
            for name, need in service.get("depends_on", {}).items():
                self.assertEqual("healthcheck" in services[name],
                                 need["condition"] == "service_healthy")
        for volume in services["db"]["volumes"]:
            self.assertIn(volume.split(":")[0], project["volumes"])
        worker = services["worker"]
        self.assertGreater(worker["deploy"]["replicas"], 1)
        url = urlsplit(worker["environment"]["COCABO_STORAGE"])
        self.assertEqual((url.username, url.hostname, url.path),
                         (made["POSTGRES_USER"], "db", "/" + made["POSTGRES_DB"]))
        self.assertIn("${TUNER_PASSWORD:?", made["POSTGRES_PASSWORD"])
        self.assertEqual(worker["environment"]["PGPASSWORD"], made["POSTGRES_PASSWORD"])
        self.finish(self.begin(*self.shorter(services["create"]["command"])))
        self.start_all(2, worker["command"], {"COCABO_STORAGE": self.url, "PGPASSWORD":
                                              TUNER.password})
        self.check_complete(10)

    @staticmethod
    def shorter(command):
        return ["10" if word == "200" else word for word in command]


if __name__ == "__main__":
    test_run.COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
