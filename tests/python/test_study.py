"""Studies from Python: ask and tell, what is kept, and what the other front ends make of it."""

import gc
import json
import logging
import math
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest

import cocabo
from cocabo import Choice, Float, Int
from conftest import ROOT, SANITIZED, measures

SPACE = {"x": Float(-2, 2), "y": Float(-2, 2), "k": Choice(["a", "b", "c"]), "n": Int(1, 9)}


def value(params):
    return (params["x"] - 0.731) ** 2 + params["y"] ** 2 + "bac".index(params["k"]) + 0.1 * params["n"]


def run(study, n):
    for _ in range(n):
        trial = study.ask()
        study.tell(trial, value(trial))
    return study


def test_it_finds_the_best():
    study = run(cocabo.create_study(SPACE, seed=11), 60)
    assert study.best_params["k"] == "b" and study.best_params["n"] == 1
    assert study.best_value == pytest.approx(0.1, abs=0.02)
    assert study.best_trial.value == min(t.value for t in study.trials)
    assert study.count("complete") == len(study) == 60
    report = study.verify()
    assert report.ok and report.replayed == 60


def test_maximize():
    study = cocabo.create_study({"x": Float(0, 1)}, direction="maximize", seed=1)
    for x in (0.25, 0.75):
        study.add_trial({"x": x}, x)
    assert study.direction == "maximize" and study.best_value == 0.75


def test_the_same_proposals_from_c_the_program_and_python(tmp_path, program):
    """One seed, one history: 40 trials by three front ends."""
    code = tmp_path / "front.c"
    code.write_text(r'''
#include <stdio.h>
#include "cocabo.h"
int main(void) {
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  cocabo_study *study;
  if (cocabo_space_add(space, "x", "float(-2,2)", NULL) ||
      cocabo_space_add(space, "k", "choice(a,b,c)", NULL) ||
      cocabo_space_add(space, "n", "int(1,9)", NULL) ||
      cocabo_options_set(options, "seed", "4711", NULL) ||
      cocabo_study_create(&study, "s", space, options, NULL, NULL))
    return 1;
  for (int i = 0; i < 40; i++) {
    cocabo_trial *trial;
    double x, n;
    cocabo_value k;
    if (cocabo_study_ask(study, 1, &trial, NULL) || cocabo_trial_get_real(trial, "x", &x, NULL) ||
        cocabo_trial_get_real(trial, "n", &n, NULL) || cocabo_trial_get_choice(trial, "k", &k, NULL))
      return 1;
    printf("%a %s %g\n", x, k.as.text, n);
    if (cocabo_study_tell(study, i, x * x + n + (k.as.text[0] - 'a'), NULL))
      return 1;
    cocabo_trial_free(trial);
  }
  cocabo_study_free(study);
  cocabo_options_free(options);
  cocabo_space_free(space);
}
''')
    built = tmp_path / "front"
    library = os.environ["COCABO_LIBRARY"]
    sanitized = ["-fsanitize=address"] if SANITIZED else []
    subprocess.run(["cc", *sanitized, "-I", ROOT / "include", code, library,
                    f"-Wl,-rpath,{os.path.dirname(library)}", "-o", built], check=True)
    clean = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    by_c = subprocess.run([built], check=True, capture_output=True, text=True, env=clean).stdout.split("\n")

    space = {"x": Float(-2, 2), "k": Choice(["a", "b", "c"]), "n": Int(1, 9)}
    study = cocabo.create_study(space, seed=4711)
    for i in range(40):
        trial = study.ask()
        c_x, c_k, c_n = by_c[i].split()
        assert (trial["x"], trial["k"], trial["n"]) == (float.fromhex(c_x), c_k, float(c_n)), i
        study.tell(trial, trial["x"] ** 2 + trial["n"] + "abc".index(trial["k"]))

    url = f"sqlite:///{tmp_path}/p.db"
    def cocabo_program(*words):
        return subprocess.run([program, *words, "--storage", url], check=True, capture_output=True,
                              text=True, env=clean).stdout
    cocabo_program("create", "-p", "x=float(-2,2)", "-p", "k=choice(a,b,c)", "-p", "n=int(1,9)",
                   "--set", "seed=4711")
    for trial in study.trials:
        asked = json.loads(cocabo_program("ask", "--json"))
        assert asked["params"] == trial.params
        cocabo_program("tell", str(trial.number), repr(trial.value))


def test_a_study_of_python_opens_in_the_program_and_back(storage, program):
    clean = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    study = cocabo.create_study({"x": Float(0, 1), "k": Choice([1, 1.0, True, "1", None])},
                                storage=storage, name="both", objective="loss",
                                constraints=["p99 < 200"], seed=5)
    study.tell(study.ask(), metrics={"loss": 3.5, "p99": 250}, user_attrs={"host": "a1"})
    study.tell(study.ask(), metrics={"loss": 4.5, "p99": 150})
    told = subprocess.run([program, "best", "--json", "--storage", storage], check=True,
                          capture_output=True, text=True, env=clean)
    best = json.loads(told.stdout)
    assert (best["value"], best["number"], best["feasible"]) == (4.5, 1, True)
    assert study.best_trial.number == 1 and study.trials[0].feasible is False
    subprocess.run([program, "tell", "--storage", storage, "0", "9", "--attr", "host=b2"], env=clean,
                   check=True, capture_output=True)
    subprocess.run([program, "ask", "--storage", storage], check=True, capture_output=True, env=clean)
    assert len(study.trials) == 3 and study.trials[0].user_attrs == {"host": "b2"}
    assert study.trials[2].state == "running"
    assert study.objective == "loss" and study.constraints == ["p99 < 200"]


def test_open_again_and_load(storage):
    study = run(cocabo.create_study(SPACE, storage=storage, name="s", seed=3), 5)
    with pytest.raises(cocabo.ExistsError):
        cocabo.create_study(SPACE, storage=storage, name="s")
    again = cocabo.create_study(SPACE, storage=storage, name="s", load_if_exists=True)
    assert again.option("seed") == "3" and len(again) == 5
    with pytest.raises(cocabo.StateError):
        cocabo.create_study({"x": Float(0, 1)}, storage=storage, name="s", load_if_exists=True)
    with pytest.raises(cocabo.StateError, match="the space of study s is"):
        cocabo.load_study("s", storage=storage, space={"x": Float(0, 1)})
    with pytest.raises(KeyError, match="nobody"):
        cocabo.load_study("nobody", storage=storage)
    with pytest.raises(KeyError):
        cocabo.load_study(storage=storage + ".gone")
    assert cocabo.study_names(storage) == ["s"]
    cocabo.create_study(SPACE, storage=storage, name="t")
    with pytest.raises(KeyError, match="which study of .* There are s, t"):
        cocabo.load_study(storage=storage)
    cocabo.delete_study("t", storage=storage)
    assert cocabo.load_study(storage=storage).name == "s"
    del study


def test_a_path_is_a_storage(tmp_path):
    cocabo.create_study(SPACE, storage=tmp_path / "a.db")
    assert (tmp_path / "a.db").exists()
    with pytest.raises(cocabo.StoreError):
        cocabo.create_study(SPACE, storage=tmp_path / "no" / "folder.db")


def test_results_of_every_kind():
    study = cocabo.create_study(SPACE, seed=1)
    trials = study.ask(6)
    study.tell(trials[0], 1.5, metrics={"p99": 2.5})
    study.tell(trials[1].number, metrics={"value": 0.5, "memory": 3})
    study.tell(trials[2], state="fail", reason="out of memory")
    study.tell(trials[3], math.nan)
    study.tell(trials[4], state="interrupted")
    study.tell(trials[5], 2.5, user_attrs={"host": "a1", "n": 3})
    told = study.trials
    assert [t.state for t in told] == ["complete", "complete", "failed", "failed", "interrupted",
                                       "complete"]
    assert told[0].metrics == {"p99": 2.5} and told[1].metrics == {"memory": 3.0}
    assert told[2].reason == "out of memory" and told[2].value is None
    assert "nan" in told[3].reason.lower()
    assert told[5].user_attrs == {"host": "a1", "n": "3"}
    assert study.ask().number == 4  # the same point again
    assert study.best_value == 0.5
    assert told[0].duration.total_seconds() >= 0 and told[4].datetime_complete is None
    study.tell(trials[0], 7.0)  # another value later: the first counts
    assert study.trial(0).value == 1.5
    study.retry(2)
    assert study.trial(2).state == "interrupted"


@pytest.mark.parametrize("said, sentence", [
    (dict(value="fast"), "value is 'fast', want a number"),
    (dict(metrics={"p99": 3}), "'value' among the metrics"),
    (dict(), "there is no value"),
    (dict(value=1, state="pruned"), "state is 'pruned'"),
    (dict(value=1, state="fail"), "a failed trial has no value"),
    (dict(value="3"), "value is '3', want a number"),
    (dict(value=1, metrics={"p": "x"}), "p is 'x', want a number"),
    (dict(value=1, metrics={"p": math.inf}), "p"),
])
def test_what_cannot_be_told(said, sentence):
    study = cocabo.create_study(SPACE)
    trial = study.ask()
    with pytest.raises(ValueError, match=sentence):
        study.tell(trial, **said)
    assert study.trial(0).state == "running"


def test_other_mistakes():
    study = cocabo.create_study(SPACE)
    with pytest.raises(KeyError, match="99"):
        study.tell(99, 1.0)
    with pytest.raises(ValueError, match="trial is 'a'"):
        study.tell("a", 1.0)
    with pytest.raises(cocabo.StateError):
        study.best_trial
    with pytest.raises(ValueError, match="n is 0"):
        study.ask(0)
    with pytest.raises(ValueError, match="there is no parameter z"):
        study.enqueue_trial({"z": 1})
    with pytest.raises(ValueError, match="x"):
        study.enqueue_trial({"x": 5, "y": 0, "k": "a", "n": 1})
    with pytest.raises(KeyError, match="sample_size"):
        cocabo.create_study(SPACE, sample_size=3)
    with pytest.raises(ValueError, match="kappa"):
        cocabo.create_study(SPACE, kappa=-1)
    with pytest.raises(ValueError, match="a trial has \\['valeu'\\]"):
        study.add_trials([{"params": {}, "valeu": 1}])
    study.close()
    with pytest.raises(cocabo.StateError, match="closed"):
        study.ask()
    assert repr(study) == "<cocabo.Study, closed>"
    study.close()


def test_budget_and_exhausted():
    study = cocabo.create_study({"k": Choice("a b c".split())}, sampler="random")
    assert len(study.ask(7)) == 3
    with pytest.raises(cocabo.ExhaustedError):
        study.ask()
    study = cocabo.create_study(SPACE, trials=4)
    assert len(study.ask(3)) == 3 and len(study.ask(3)) == 1
    with pytest.raises(cocabo.BudgetError):
        study.ask()
    study.change(trials=5)
    assert study.ask().number == 4


def test_what_is_known_from_elsewhere():
    study = cocabo.create_study(SPACE, seed=1, n_init=2)
    point = {"x": 0.25, "y": 0.5, "k": "a", "n": 3}
    rows = [
        {"params": point, "value": 1.25, "metrics": {"p": 2.5}, "user_attrs": {"a": "b"},
         "intermediate_values": {0: 3.0, 5: 2.0}},
        {"params": {**point, "n": 4}, "state": "fail", "reason": "crash"},
        {"params": {**point, "n": 5}, "state": "running"},
        {"params": {**point, "n": 6}, "state": "waiting"},
    ]
    assert study.add_trials(rows) == [0, 1, 2, 3]
    first = study.trials[0]
    assert first.params == point and first.metrics == {"p": 2.5} and first.origin == "user"
    assert first.intermediate_values == {0: 3.0, 5: 2.0} and first.user_attrs == {"a": "b"}
    assert [t.state for t in study.trials] == ["complete", "failed", "running", "waiting"]
    assert study.ask().number == 3  # what waits is handed out, what runs elsewhere is not
    assert study.ask().number == 4
    study.tell(2, 0.5)
    assert study.best_trial.number == 2
    with pytest.raises(ValueError):
        study.add_trials([rows[0], {"params": {"x": 99}, "value": 1}])
    assert len(study) == 5  # all or none
    assert study.enqueue_trial({**point, "n": 9}) == 5
    assert study.add_trials([]) == []


def test_many_known_trials_are_quick(storage):
    study = cocabo.create_study(SPACE, storage=storage)
    rows = [{"params": {"x": i * 1e-4, "y": 0.5, "k": "abc"[i % 3], "n": 1 + i % 9}, "value": float(i)}
            for i in range(20000)]
    begin = time.process_time()
    assert study.add_trials(rows)[-1] == 19999
    assert time.process_time() - begin < 5
    assert len(study.trials) == 20000


def test_reports_and_attributes():
    study = cocabo.create_study(SPACE)
    trial = study.ask()
    trial.report(3.5, 0)
    trial.report(2.5, 10)
    trial.set_user_attr("host", "a1")
    study.set_trial_attr(trial, "n", 3)
    told = study.trials[0]
    assert told.intermediate_values == {0: 3.5, 10: 2.5}
    assert told.user_attrs == {"host": "a1", "n": "3"}
    study.set_user_attr("note", "for the paper")
    assert study.user_attr("note") == "for the paper" and study.user_attr("none") is None


def test_an_objective_of_optunas():
    study = cocabo.create_study(SPACE, seed=1)
    trial = study.ask()
    assert trial.suggest_float("x", -2, 2) == trial["x"]
    assert trial.suggest_int("n", 1, 9) == trial["n"]
    assert trial.suggest_categorical("k", ["a", "b", "c"]) == trial["k"]
    with pytest.raises(ValueError, match="x is Float.* in this study, not"):
        trial.suggest_float("x", 0, 1)
    with pytest.raises(ValueError, match="there is no parameter z"):
        trial.suggest_float("z", 0, 1)


def test_model_and_importance():
    study = run(cocabo.create_study(SPACE, seed=2), 40)
    shares = study.importances()
    assert sum(shares.values()) == pytest.approx(1) and set(shares) == set(SPACE)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    more = study.importance()
    assert more.shares == shares and all(se >= 0 for se in more.errors.values())
    assert 0.5 < more.explained <= 1
    here = study.predict(study.best_params)
    assert here.mean == pytest.approx(study.best_value, abs=0.2) and here.p_feasible == 1
    there = study.predict([study.best_params, {"x": -2, "y": -2, "k": "c", "n": 9}])
    assert there[0] == here and there[1].mean > here.mean + 1.5 and there[1].sd > here.sd
    with pytest.raises(cocabo.StateError):
        study.expected(0)
    noisy = run(cocabo.create_study(SPACE, seed=2, deterministic=False), 20)
    mean, se = noisy.expected(noisy.best_trial)
    assert math.isfinite(mean) and se > 0


def test_people_who_come_from_optuna():
    for said, sentence in [({"study_name": "s"}, "want name="), ({"pruner": None}, "not pruned"),
                           ({"sampler": object()}, "want the name of one"),
                           ({"directions": ["minimize"]}, "there is one objective")]:
        with pytest.raises(ValueError, match=sentence):
            cocabo.create_study(SPACE, **said)
    study = cocabo.create_study(SPACE, seed=1)
    trial = study.ask()
    assert trial.should_prune() is False
    study.tell(trial, state="FAIL")
    point = {"x": 0.25, "y": 0.5, "k": "a", "n": 3}
    assert study.enqueue_trial(point) == 1
    assert study.enqueue_trial(point, skip_if_exists=True) == 1
    assert [t.number for t in study.get_trials(["waiting", "failed"])] == [0, 1]
    with pytest.raises(ValueError, match="state is 'FAIL'"):
        study.get_trials(["FAIL"])


def test_front_ends_are_found_by_their_names():
    pytest.importorskip("matplotlib")
    assert cocabo.plot.__name__ == "cocabo.plot"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cocabo.nothing


def test_tables():
    study = cocabo.create_study({"x": Float(0, 1), "d": Int(1, 3, when="x > 0.5")})
    study.add_trials([{"params": {"x": 0.25}, "value": 1.5, "metrics": {"m": 2}},
                      {"params": {"x": 0.75, "d": 2}, "state": "fail"}])
    pandas = pytest.importorskip("pandas")
    table = study.trials_dataframe()
    assert list(table["number"]) == [0, 1] and list(table["state"]) == ["complete", "failed"]
    assert table["params_x"][1] == 0.75 and pandas.isna(table["params_d"][0])
    assert table["metrics_m"][0] == 2 and pandas.isna(table["value"][1])
    pytest.importorskip("polars")
    assert study.trials_dataframe("polars")["params_d"].to_list() == [None, 2]
    with pytest.raises(ValueError, match="library is 'excel'"):
        study.trials_dataframe("excel")


def test_threads_share_a_study():
    study = cocabo.create_study(SPACE, seed=1)
    raised = []

    def work():
        try:
            run(study, 10)
        except BaseException as e:
            raised.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised and study.count("complete") == 40
    assert study.verify().ok


def test_processes_share_a_file(storage):
    cocabo.create_study(SPACE, storage=storage, seed=1)
    code = (f"import cocabo, test_study; study = cocabo.load_study(storage={storage!r});"
            "test_study.run(study, 8)")
    children = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    study = cocabo.load_study(storage=storage)
    points = {tuple(sorted(t.params.items())) for t in study.trials}
    assert study.count("complete") == len(points) == 24


def test_a_study_can_be_sent(storage):
    study = cocabo.create_study(SPACE, storage=storage, name="s")
    study.tell(study.ask(), 1.5)
    there = pickle.loads(pickle.dumps(study))
    assert there.trials == study.trials and there.space == study.space
    trial = pickle.loads(pickle.dumps(study.ask()))
    study.tell(trial, 2.5)
    with pytest.raises(cocabo.StateError, match="trial 1 is a copy"):
        trial.report(1, 1)
    with pytest.raises(TypeError, match="in memory"):
        pickle.dumps(cocabo.create_study(SPACE))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_told_to_open_it_again(storage):
    study = cocabo.create_study(SPACE, storage=storage)
    child = os.fork()
    if child == 0:
        try:
            study.ask()
        except cocabo.StateError as e:
            os._exit(0 if "open it again" in str(e) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    study.ask()


def test_ctrl_c_ends_an_ask():
    """An ask that takes long is left within a moment, and nothing is half done."""
    code = ("import cocabo, os, signal, sys, threading, time, random\n"
            "study = cocabo.create_study({f'x{i}': cocabo.Float(0, 1) for i in range(30)}, seed=1)\n"
            "r = random.Random(1)\n"
            "study.add_trials([{'params': {f'x{i}': r.random() for i in range(30)}, 'value': r.random()}"
            " for _ in range(900)])\n"
            "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "begin = time.monotonic()\n"
            "try:\n"
            "    study.ask(2000)\n"
            "except KeyboardInterrupt:\n"
            "    print(time.monotonic() - begin, len(study), study.count('running'))\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seconds, trials, running = done.stdout.split()
    assert float(seconds) < 5 and (trials, running) == ("900", "0")


def test_a_handler_may_raise_what_it_likes():
    class Late(Exception):
        pass

    def ring(*_):
        raise Late

    study = cocabo.create_study({f"x{i}": Float(0, 1) for i in range(30)}, seed=1)
    study.add_trials([{"params": {f"x{i}": (i * k * 0.618) % 1 for i in range(30)}, "value": (k * 0.37) % 1}
                      for k in range(1, 900)])
    old = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Late):
            study.ask(2000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert study.ask().state == "running"


def test_what_ctrl_c_catches_after_an_ask_is_offered_again(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    study = cocabo.create_study(SPACE, seed=1)
    with monkeypatch.context() as patched:
        patched.setattr(cocabo._study, "Trial", interrupted)
        with pytest.raises(KeyboardInterrupt):
            study.ask(3)
    assert [t.state for t in study.trials] == ["interrupted"] * 3
    assert study.ask().number == 0


def test_the_library_speaks_through_logging(caplog):
    study = cocabo.create_study(SPACE, seed=1)
    with caplog.at_level(logging.DEBUG, logger="cocabo"):
        run(study, 14)
    assert any(record.name == "cocabo" for record in caplog.records)


def test_an_interrupt_while_the_library_speaks_is_not_lost():
    class Stop(logging.Handler):
        def emit(self, record):
            raise KeyboardInterrupt

    study = run(cocabo.create_study(SPACE, seed=1), 10)
    logger, handler = logging.getLogger("cocabo"), Stop(logging.DEBUG)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(study, 5)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert study.count("running") == 0
    run(study, 3)


@measures
def test_ten_thousand_asks_leak_nothing():
    def memory():
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def work(n):
        for _ in range(n):
            study = cocabo.create_study(SPACE, sampler="random", seed=1)
            for _ in range(100):
                trial = study.ask()
                study.tell(trial, 1.5, metrics={"m": 2.5}, user_attrs={"a": "b"})
            study.best_trial

    work(20)
    before = memory()
    work(100)
    assert memory() - before < 3000  # kB; 10 000 trials of 300 bytes lost would be as much


@measures
def test_python_adds_little_to_an_ask(tmp_path):
    """The time of the process in C's ask and in ours, for the same 200 asks.

    The bound is loose, because tests run beside; bench/python measures it well.
    """
    study = cocabo.create_study(SPACE, seed=1)
    library = cocabo._study.lib
    inside = 0.0
    ask_up_to = library.cocabo_study_ask_up_to

    def timed(*arguments):
        nonlocal inside
        begin = time.process_time()
        code = ask_up_to(*arguments)
        inside += time.process_time() - begin
        return code

    library.cocabo_study_ask_up_to = timed
    try:
        begin = time.process_time()
        for _ in range(200):
            trial = study.ask()
            study._call(library.cocabo_study_report, trial.number, 0, 1.0)
            study.tell(trial, value(trial))
        outside = time.process_time() - begin
    finally:
        library.cocabo_study_ask_up_to = ask_up_to
    assert outside < 1.25 * inside + 0.05, (outside, inside)


def test_a_study_behind_a_server(tmp_path, program, monkeypatch):
    monkeypatch.setenv("COCABO_TOKEN", "a-token-of-some-length-0123")
    server = subprocess.Popen([program, "serve", "--allow-store", "--port", "0", "--storage",
                               f"sqlite:///{tmp_path}/s.db"], stderr=subprocess.PIPE, text=True)
    try:
        said = server.stderr.readline()
        if "http://" not in said:
            pytest.skip(said)
        url = "http://" + said.split("http://")[1].split("/")[0]
        with cocabo.create_study(SPACE, storage=url, name="s", seed=3) as study:
            run(study, 5)
        with cocabo.load_study("s", storage=url) as again:
            assert len(again.trials) == 5 and again.verify().ok
        monkeypatch.setenv("COCABO_TOKEN", "another-token-0123456789")
        with pytest.raises(cocabo.Error, match="its token is another one"):
            cocabo.load_study("s", storage=url)
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0
        server.stderr.close()
    with cocabo.load_study("s", storage=tmp_path / "s.db") as study:
        assert len(study.trials) == 5
