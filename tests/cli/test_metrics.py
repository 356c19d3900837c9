#!/usr/bin/env python3
"""Metrics beside the value of a trial, from the outside: where they come from, where
they are shown, and how they leave and come back:
test_metrics.py COCABO [names of tests]"""

import csv
import io
import json
import os
import sys
import unittest

import test_cocabo

X = ["-p", "x=float(0,1)"]
BUILT_IN = {"seconds", "cpu_seconds", "max_rss"}


class Case(test_cocabo.Case):
    def done(self, *args, **more):
        done = self.cocabo(*args, **more)
        self.assertEqual(done.returncode, 0, (args, done.stdout, done.stderr))
        return done

    def trials(self, *args):
        return [json.loads(line) for line in
                self.ok("trials", "--json", *args).splitlines()]

    def metrics(self, number=0, *args):
        """What the trial has, but for what is measured in any case."""
        found = self.trials(*args)[number]["metrics"]
        return {name: value for name, value in found.items() if name not in BUILT_IN}

    def ask(self, n=1, *args):
        self.ok("create", *X, "--sampler", "random", *args)
        self.ok("ask", "-n", n)


class Telling(Case):
    def test_a_result_is_a_number_or_an_object_of_numbers(self):
        self.ask(4)
        self.ok("tell", 0, '{"value": 3, "p99": 180, "größe [MB]": -1.5e-3}')
        self.ok("tell", 1, "2.5")
        self.ok("tell", 2, '{"value": 1}')
        self.assertEqual(self.metrics(0), {"p99": 180.0, "größe [MB]": -1.5e-3})
        self.assertEqual([t["value"] for t in self.trials()], [3.0, 2.5, 1.0, None])
        self.assertEqual([t["metrics"] for t in self.trials()][1:], [{}, {}, {}])
        self.ok("verify")
        self.assertEqual(json.loads(self.ok("tell", 3, '{"value":0,"p99":1}', "--json"))
                         ["metrics"], {"p99": 1.0})

    def test_what_is_no_number_is_passed_over(self):
        self.ask()
        done = self.done("tell", 0, '{"value":1,"name":"x","more":{"a":1},"b":[2],'
                         '"ok":true,"c":null,"":7,"p":2}', "-v")
        self.assertEqual(self.metrics(), {"p": 2.0})
        self.assertIn("6 of the members of its result are no metrics", done.stderr)

    def test_what_is_no_result_is_refused(self):
        self.ask()
        for text in ("{}", '{"p99": 1}', '{"value": "3"}', '{"value": 3', "[3]", "three",
                     '{"value": {"value": 3}}'):
            self.refused(2, 'want a number or {"value": number, ...}', "tell", 0, text)
        self.assertEqual(self.trials()[0]["state"], "running")

    def test_the_first_result_counts_with_its_metrics(self):
        self.ask()
        self.ok("tell", 0, '{"value":1,"a":1}')
        self.ok("tell", 0, '{"value":1,"a":2,"b":3}')
        self.ok("tell", 0, '{"value":2,"a":4}')
        self.assertEqual(self.metrics(), {"a": 1.0})
        self.ok("verify")


class Running(Case):
    def test_metrics_come_from_the_last_line_and_from_the_file(self):
        line = "echo '{\"p99\": 180, \"value\": {x}, \"name\": \"n\"}'"
        out = self.ok("run", *X, "-n", 1, "--json", "--", "sh", "-c", line)
        self.assertEqual(json.loads(out.splitlines()[0])["metrics"].get("p99"), 180.0)
        self.ok("run", *X, "-n", 1, "--study", "file", "--", "sh", "-c",
                'printf \'{"value":{x},"q":0.5}\\n\' > "$COCABO_RESULT"; echo 7')
        self.assertEqual(self.metrics(0, "--study", "default"), {"p99": 180.0})
        self.assertEqual(self.metrics(0, "--study", "file"), {"q": 0.5})
        best = json.loads(self.ok("best", "--json", "--study", "file"))
        self.assertEqual(best["metrics"].get("q"), 0.5)

    def test_a_failed_trial_has_none(self):
        script = 'echo \'{"value": 1, "p99": 2}\'; exit 3'
        self.cocabo("run", *X, "-n", 1, "--", "sh", "-c", script)
        self.assertEqual(self.trials()[0]["metrics"], {})
        self.assertEqual(self.trials()[0]["state"], "failed")

    def test_of_too_many_the_first_count(self):
        many = json.dumps({"value": 1, **{f"m{i}": i for i in range(70)}})
        self.ok("run", *X, "-n", 1, "--", "echo", many)
        self.assertEqual(self.metrics(), {f"m{i}": float(i) for i in range(64)})

    def test_v_says_what_was_passed_over(self):
        line = "echo '{\"value\": {x}, \"name\": \"n\"}'"
        args = ["run", *X, "--", "sh", "-c", line]
        self.assertNotIn("no metric", self.done(*args[:3], "-n", 1, *args[3:]).stderr)
        self.assertIn("trial 1: 1 member of its result is no metric",
                      self.done(*args[:3], "-n", 2, "-v", *args[3:]).stderr)


class BuiltIn(Case):
    BURN = ("import time\n"
            "x = bytearray(150_000_000)\n"
            "while time.process_time() < 0.3: pass\n"
            "print(1)\n")

    def measured(self, *command):
        self.ok("run", *X, "-n", 1, "--", *command)
        return self.trials()[0]["metrics"]

    def test_time_and_memory_are_measured(self):
        (self.folder / "burn.py").write_text(self.BURN)
        metrics = self.measured(sys.executable, "burn.py")
        self.assertEqual(set(metrics), BUILT_IN)
        self.assertGreater(metrics["cpu_seconds"], 0.3)
        self.assertLess(metrics["cpu_seconds"], 60)
        self.assertGreater(metrics["seconds"], 0.3)
        self.assertLess(metrics["seconds"], self.trials()[0]["seconds"] + 0.01)
        self.assertGreater(metrics["max_rss"], 150e6)
        self.assertLess(metrics["max_rss"], 1e9)

    def test_what_it_started_counts(self):
        (self.folder / "burn.py").write_text(self.BURN)
        metrics = self.measured("sh", "-c", f"{sys.executable} burn.py; echo 2")
        self.assertGreater(metrics["cpu_seconds"], 0.3)
        self.assertGreater(metrics["max_rss"], 150e6)

    def test_orphans_count(self):
        """The shell in the middle does not wait: the keeper gets its child."""
        (self.folder / "burn.py").write_text(self.BURN)
        metrics = self.measured(
            "sh", "-c", f"({sys.executable} burn.py >/dev/null & echo $! >pid); "
            "while kill -0 $(cat pid); do sleep 0.05; done; echo 2")
        self.assertGreater(metrics["cpu_seconds"], 0.3)

    def test_sleeping_costs_no_work(self):
        metrics = self.measured("sh", "-c", "sleep 0.4; echo 2")
        self.assertGreaterEqual(metrics["seconds"], 0.4)
        self.assertLess(metrics["cpu_seconds"], 0.3)

    def test_the_programs_own_count_more(self):
        self.ok("run", *X, "-n", 1, "--", "echo", '{"value":1,"seconds":-7}')
        self.assertEqual(self.trials()[0]["metrics"]["seconds"], -7.0)
        self.assertIn("max_rss", self.trials()[0]["metrics"])

    def test_workers_measure_too_and_tell_does_not(self):
        self.ok("run", *X, "-n", 1, "--", "echo", "1")
        self.ok("create", "-n", 2)
        self.ok("worker")
        self.assertEqual(set(self.trials()[1]["metrics"]), BUILT_IN)
        self.ok("create", "-n", 3)
        self.ok("ask")
        self.ok("tell", 2, 5)
        self.assertEqual(self.trials()[2]["metrics"], {})


class Matching(Case):
    def run_one(self, script, *args, n=1):
        return self.cocabo("run", *X, "-n", n, *args, "--", "sh", "-c", script)

    def found(self, script, *args):
        done = self.run_one(script, *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        trial = self.trials()[0]
        return trial["value"], {k: v for k, v in trial["metrics"].items()
                                if k not in BUILT_IN}

    def test_the_last_match_counts(self):
        script = ("echo 'p99: 1 ms'; echo 'p99: 2 ms p99: 3.5 ms'; echo size=12e3; "
                  "echo p99: none; echo 0.5")
        self.assertEqual(self.found(script, "--metric", "p99=p99: ([0-9.]+) ms",
                                    "--metric", "bytes=[0-9]+e[0-9]",
                                    "--metric", "never=no such (line)"),
                         (0.5, {"p99": 3.5, "bytes": 12e3}))

    def test_the_value_can_be_matched(self):
        script = "echo loss=7; echo loss=0.25; echo done; printf 'q=4'"
        self.assertEqual(self.found(script, "--metric", "value=^loss=(.*)$",
                                    "--metric", "q=q=(.)"), (0.25, {"q": 4.0}))

    def test_an_object_may_come_besides(self):
        script = """echo loss=2; echo '{"value": 9, "p99": 1, "q": 3}'"""
        self.assertEqual(self.found(script, "--metric", "value=loss=(.)",
                                    "--metric", "q=loss=(.)"), (2.0, {"q": 2.0, "p99": 1.0}))

    def test_without_a_match_there_is_no_value(self):
        done = self.run_one("echo 7", "--metric", "value=loss=(.*)")
        self.assertEqual(done.returncode, 3, done.stderr)
        trial = self.trials()[0]
        self.assertEqual(trial["state"], "failed")
        self.assertEqual(trial["reason"].splitlines()[:2],
                         ["no value", "--metric value found no number (its last "
                          "match counts)"])

    def test_a_last_match_that_is_no_number_is_none(self):
        self.run_one("echo loss: 1; echo loss: diverged", "--metric", "value=loss: (.*)")
        self.assertEqual(self.trials()[0]["state"], "failed")

    def test_blanks_around_the_number_do_not_matter(self):
        self.assertEqual(self.found("echo loss: 1; printf 'loss: \\t2.5 \\r\\n'; echo 7",
                                    "--metric", "value=loss:(.*)$"), (2.5, {}))

    def test_a_match_that_is_nan_fails(self):
        self.run_one("echo loss=1; echo loss=nan", "--metric", "value=loss=(.*)")
        self.assertIn("the value is nan", self.trials()[0]["reason"])

    def test_all_of_much_output_is_looked_at(self):
        script = ("echo p99=5; i=0; while [ $i -lt 30000 ]; do echo filling line $i; "
                  "i=$((i+1)); done; head -c 300000 /dev/zero | tr '\\0' x; echo p99=6; "
                  "printf '\\033[1mq=7\\033[0m\\r'; echo 1")
        self.assertEqual(self.found(script, "--metric", "p99=p99=([0-9])", "--metric",
                                    "q=^q=([0-9])$"), (1.0, {"p99": 5.0, "q": 7.0}))

    def test_another_objective(self):
        script = """echo '{"value": 3, "p99": 180}'"""
        self.assertEqual(self.found(script, "--objective", "p99"),
                         (180.0, {"value": 3.0}))
        self.ok("create", "-n", 5)
        self.ok("ask")
        self.ok("tell", 1, '{"p99": 7, "value": 8}')
        self.assertEqual(self.trials()[1]["value"], 7.0)
        self.refused(2, 'want a number or {"p99": number, ...}', "tell", 1, '{"value":1}')
        self.assertEqual(json.loads(self.ok("best", "--json"))["number"], 1)

    def test_the_objective_may_be_matched(self):
        self.assertEqual(self.found("echo p99=4; echo 5", "--objective", "p99",
                                    "--metric", "p99=p99=(.)"), (4.0, {"value": 5.0}))

    def test_the_objective_may_be_measured(self):
        value, metrics = self.found("sleep 0.2; echo ready", "--objective", "seconds")
        self.assertGreaterEqual(value, 0.2)
        self.assertEqual(metrics, {})
        self.assertNotIn("seconds", self.trials()[0]["metrics"])

    def test_the_study_keeps_both(self):
        self.ok("run", *X, "-n", 1, "--objective", "p99", "--metric", "p99=a=(.)",
                "--", "sh", "-c", "echo a=4 b=5")
        self.ok("run", "-n", 2)
        self.ok("create", "-n", 3)
        self.ok("worker")
        self.assertEqual([t["value"] for t in self.trials()], [4.0] * 3)
        self.ok("run", "-n", 4, "--metric", "p99=b=(.)")  # this one may change
        self.assertEqual([t["value"] for t in self.trials()], [4.0] * 3 + [5.0])
        self.ok("run", "-n", 4, "--objective", "p99")
        self.refused(2, 'study "default" has the objective p99, not value', "run", "-n", 5,
                     "--objective", "value")
        self.refused(2, "--objective is q, but the values to carry over are of p99",
                     "create", "--from", "default", "--study", "b", "--objective", "q")
        self.ok("create", "--from", "default", "--study", "b")
        self.ok("verify", "--study", "default")
        self.ok("create", *X, "--study", "plain", "--objective", "value")
        self.ok("create", *X, "--study", "plain")
        self.refused(2, 'study "plain" has the objective value, not p99', "create", *X,
                     "--study", "plain", "--objective", "p99")

    def test_a_file_says_both(self):
        (self.folder / "s.yaml").write_text(
            "parameters: {x: 'float(0,1)'}\ntrials: 1\nobjective: p99\n"
            "metrics:\n  p99: 'p99=([0-9]+)'\n  q: 'q=(.)'\n"
            "command: [sh, -c, 'echo p99=12 q=3 r=4']\n")
        self.ok("run", "-f", "s.yaml", "--metric", "q=r=(.)")
        self.assertEqual(self.trials()[0]["value"], 12.0)
        self.assertEqual(self.metrics(), {"q": 4.0})

    def test_what_is_wrong_is_said_first(self):
        for args, sentence in (
                (["--metric", "p99"], '--metric is "p99", want NAME=ERE'),
                (["--metric", "=x"], '--metric is "=x", want NAME=ERE'),
                (["--metric", "a=("], 'the expression of metric "a": Unmatched ('),
                (["--metric", "a="], 'metric "a" has no expression'),
                (["--metric", "a=b", "--metric", "a=c"], "two --metric name the same"),
                (["--objective", ""], "--objective needs a value")):
            self.refused(2, sentence, "run", *X, "-n", 1, *args, "--", "echo", "1")
        self.assertFalse((self.folder / "cocabo.db").exists())
        (self.folder / "s.yaml").write_text("parameters: {x: 'float(0,1)'}\nmetrics:\n"
                                            "  a: '['\n")
        self.refused(2, 's.yaml, line 3: the expression of metric "a"', "create", "-f",
                     "s.yaml")
        (self.folder / "s.yaml").write_text("metrics: [a]\n")
        self.refused(2, "s.yaml, line 1", "create", "-f", "s.yaml")


class Showing(Case):
    def test_tables_have_a_column_a_metric(self):
        self.ask(3)
        self.assertNotIn("p99", self.ok("trials"))
        self.ok("tell", 0, '{"value":3,"p99":180.123456789,"seconds":7,"max_rss":9}')
        self.ok("tell", 1, '{"value":2,"size":12}')
        rows = [line.split() for line in self.ok("trials").splitlines()]
        self.assertEqual(rows[0], ["number", "state", "value", "x", "p99", "size",
                                   "seconds", "reason"])
        self.assertEqual(rows[1][4], "180.123")
        self.assertEqual(rows[2][4], "12")
        self.assertIn("max_rss", self.ok("trials", "-v").splitlines()[0])
        self.assertIn("metrics size = 12\n", self.ok("best"))
        self.assertNotIn("max_rss", self.ok("best"))

    def test_trials_are_sorted_by_a_metric(self):
        self.ask(4)
        for number, size in enumerate((5, 2, 9)):
            self.ok("tell", number, json.dumps({"value": 1, "size": size}))
        order = lambda key: [t["number"] for t in self.trials(f"--sort={key}")]
        self.assertEqual(order("size"), [1, 0, 2, 3])
        self.assertEqual(order("-size"), [2, 0, 1, 3])
        self.assertEqual(order("metrics.size"), [1, 0, 2, 3])
        self.refused(2, "a parameter or a metric", "trials", "--sort", "loss")

    def test_csv_and_json_bring_them_back(self):
        self.ask(4)
        self.ok("tell", 0, '{"value":3,"p99":0.1,"größe, [MB]":1e300}')
        self.ok("tell", 1, '{"value":2,"p99":-7}')
        self.ok("tell", 2, "--fail", "why")
        rows = list(csv.DictReader(io.StringIO(self.ok("export", "--format", "csv"))))
        self.assertEqual([r["metrics.p99"] for r in rows], ["0.1", "-7", "", ""])
        want = [t["metrics"] for t in self.trials()]
        self.assertEqual(want[0], {"p99": 0.1, "größe, [MB]": 1e300})
        for kind in ("csv", "json", "jsonl"):
            self.ok("export", "-o", f"all.{kind}")
            self.ok("import", f"all.{kind}", "--study", kind, *X)
            self.assertEqual([t["metrics"] for t in self.trials("--study", kind)], want)
            self.ok("import", f"all.{kind}", "--study", kind)
            self.assertEqual(len(self.trials("--study", kind)), 4)
            self.ok("verify", "--study", kind)

    def test_a_study_made_from_another_keeps_them(self):
        self.ask()
        self.ok("tell", 0, '{"value":3,"p99":0.1}')
        self.ok("create", "--from", "default", "--study", "next", "-p", "x=float(0,2)")
        self.assertEqual(self.metrics(0, "--study", "next"), {"p99": 0.1})

    def test_optuna_gets_them_as_attributes(self):
        self.ask()
        self.ok("tell", 0, '{"value":3,"p99":0.1}')
        journal = self.ok("export", "--format", "optuna-journal").splitlines()
        self.assertEqual(json.loads(journal[1])["user_attrs"], {"p99": 0.1})

    def test_a_parameter_may_be_called_like_a_column(self):
        self.ok("create", "-p", "metrics.a=float(0,1)", "--sampler", "random")
        self.ok("ask")
        self.ok("tell", 0, '{"value":3,"a":7}')
        self.ok("export", "-o", "all.csv")
        header = (self.folder / "all.csv").read_text().splitlines()[0].split(",")
        self.assertEqual(header[3:5], ["params.metrics.a", "metrics.a"])
        self.ok("import", "all.csv", "--study", "b", "-p", "metrics.a=float(0,1)")
        self.assertEqual(self.trials("--study", "b")[0]["params"],
                         self.trials("--study", "default")[0]["params"])
        self.assertEqual(self.metrics(0, "--study", "b"), {"a": 7.0})
        (self.folder / "plain.csv").write_text("metrics.a,value\n0.25,1\n")
        self.ok("import", "plain.csv", "--study", "c", "-p", "metrics.a=float(0,1)")
        self.assertEqual(self.trials("--study", "c")[0]["params"], {"metrics.a": 0.25})

    def test_what_is_no_metric_is_named(self):
        (self.folder / "a.csv").write_text("x,value,metrics.a\n0.5,1,2\n0.25,1,two\n")
        done = self.done("import", "a.csv", *X)
        self.assertIn('line 3, column "metrics.a": "two" is not a finite number',
                      done.stderr)
        self.assertEqual([t["metrics"] for t in self.trials()], [{"a": 2.0}])
        (self.folder / "a.json").write_text('{"params":{"x":0.75},"value":1,'
                                            '"metrics":{"a":"b"}}')
        self.refused(2, 'metric "a" is no number', "import", "a.json")
        (self.folder / "b.csv").write_text("x,value,metrics.a,metrics.a\n0.5,1,2,3\n")
        self.refused(2, 'column "metrics.a" is there twice', "import", "b.csv")


if __name__ == "__main__":
    test_cocabo.COCABO = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
