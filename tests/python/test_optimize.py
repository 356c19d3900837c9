"""optimize and tune: jobs, processes that crash, exceptions, ends, leases."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

import cocabo
from cocabo import Choice, Float, Int

SPACE = {"x": Float(-2, 2), "k": Choice(["a", "b"])}


def loss(trial):
    return (trial["x"] - 0.37) ** 2 + (trial["k"] == "b")


def crashing(trial):
    trial.report(1.5, 3)
    trial.set_user_attr("pid", os.getpid())
    if trial.number % 3 == 1:
        os.kill(os.getpid(), signal.SIGABRT)
    if trial.number % 3 == 2:
        os._exit(7)
    return loss(trial)


def raising(trial):
    raise ZeroDivisionError("by nothing")


class Unsendable(Exception):
    def __init__(self):
        super().__init__("cannot be sent")
        self.lock = threading.Lock()


def raising_what_cannot_be_sent(trial):
    raise Unsendable


def slow(trial):
    time.sleep(30)


def test_one_job():
    study = cocabo.create_study(SPACE, seed=1)
    study.optimize(loss, n_trials=30)
    assert len(study) == 30 and study.best_value < 0.01
    study.optimize(loss, n_trials=5)  # so many more
    assert len(study) == 35


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_several_jobs(backend):
    study = cocabo.create_study(SPACE, seed=1)
    study.optimize(loss, n_trials=20, n_jobs=3, backend=backend)
    assert study.count("complete") == len(study) == 20
    assert study.verify().ok


def test_jobs_run_at_the_same_time():
    meeting = threading.Barrier(3, timeout=20)

    def meet(trial):
        meeting.wait()
        return loss(trial)

    study = cocabo.create_study(SPACE, seed=1)
    study.optimize(meet, n_trials=6, n_jobs=3)
    assert study.count("complete") == 6


def test_a_process_that_crashes_fails_its_trial_only():
    study = cocabo.create_study(SPACE, seed=1)
    study.optimize(crashing, n_trials=9, n_jobs=2, backend="process")
    assert [t.state for t in study.trials] == ["complete", "failed", "failed"] * 3
    assert study.trials[1].reason == "the process was ended by SIGABRT"
    assert study.trials[2].reason == "the process ended with exit status 7"
    assert study.trials[0].intermediate_values == {3: 1.5}
    assert int(study.trials[0].user_attrs["pid"]) != os.getpid()


@pytest.mark.parametrize("backend, n_jobs", [("thread", 1), ("thread", 2), ("process", 1)])
def test_an_exception_is_raised_again(backend, n_jobs):
    study = cocabo.create_study(SPACE, seed=1)
    with pytest.raises(ZeroDivisionError, match="by nothing"):
        study.optimize(raising, n_trials=9, n_jobs=n_jobs, backend=backend)
    assert 1 <= study.count("failed") == len(study) <= n_jobs
    assert study.trials[0].reason == "ZeroDivisionError: by nothing"
    study.optimize(raising, n_trials=3, catch=ArithmeticError, n_jobs=n_jobs, backend=backend)
    assert study.count("failed") == len(study) >= 4


def test_an_exception_that_cannot_be_sent():
    study = cocabo.create_study(SPACE, seed=1)
    with pytest.raises(RuntimeError, match="Unsendable: cannot be sent"):
        study.optimize(raising_what_cannot_be_sent, n_trials=1, backend="process")


def test_a_function_may_say_that_it_failed():
    def function(trial):
        raise cocabo.TrialFailed("does not converge")

    study = cocabo.create_study(SPACE)
    study.optimize(function, n_trials=2)
    assert [t.reason for t in study.trials] == ["does not converge"] * 2


def test_results():
    study = cocabo.create_study(SPACE, seed=1)
    study.optimize(lambda trial: {"value": 1.5, "p99": 3.5}, n_trials=1)
    assert study.trials[0].metrics == {"p99": 3.5} and study.trials[0].value == 1.5
    with pytest.raises(ValueError, match="trial 1 returned None: there is no value"):
        study.optimize(lambda trial: None, n_trials=1)
    with pytest.raises(ValueError, match="trial 2 returned 'x'"):
        study.optimize(lambda trial: "x", n_trials=1)
    assert study.trial(2).state == "failed"


def test_ends():
    study = cocabo.create_study(SPACE, seed=1)
    begin = time.monotonic()
    study.optimize(lambda trial: time.sleep(0.05) or 1.0, timeout=0.3)
    assert time.monotonic() - begin < 5 and len(study) >= 1
    n = len(study)
    study.optimize(loss, n_trials=50, callbacks=[
        lambda s, t: s.stop() if t.number == n + 3 else None])
    assert len(study) == n + 4
    study.change(trials=len(study) + 2)
    study.optimize(loss, n_trials=50)  # the budget is the study's
    assert len(study) == n + 6
    small = cocabo.create_study({"k": Choice("a b c".split())})
    small.optimize(lambda trial: 1.0, n_trials=50)
    assert len(small) == 3
    with pytest.warns(UserWarning, match="until it is stopped"):
        cocabo.create_study(SPACE).optimize(lambda trial: 1.0, callbacks=[lambda s, t: s.stop()])


@pytest.mark.parametrize("said, sentence", [
    (dict(backend="fork"), "backend is 'fork'"), (dict(n_jobs=0), "n_jobs is 0"),
    (dict(n_trials=-1), "n_trials is -1"), (dict(catch=[3]), "catch has 3, want classes")])
def test_what_is_refused(said, sentence):
    with pytest.raises(ValueError, match=sentence):
        cocabo.create_study(SPACE).optimize(loss, **{"n_trials": 1, **said})


def test_a_function_that_cannot_be_sent():
    study = cocabo.create_study(SPACE)
    with pytest.raises(ValueError, match="lambda.* cannot be sent to a process"):
        study.optimize(lambda trial: 1.0, n_trials=1, backend="process")
    assert len(study) == 0


def test_the_bar(capsys):
    study = cocabo.create_study(SPACE, seed=1)
    study.optimize(loss, n_trials=4, show_progress_bar=True)
    last = capsys.readouterr().err.split("\r")[-1]
    assert last.startswith("[####################] 4/4, best ") and last.endswith("\n")


@pytest.mark.parametrize("how", [dict(), dict(n_jobs=2), dict(n_jobs=2, backend="process")])
def test_ctrl_c_gives_trials_back(how, storage):
    code = (f"import cocabo, test_optimize as t\n"
            f"if __name__ == '__main__':\n"
            f"    study = cocabo.create_study(t.SPACE, storage={storage!r}, seed=1)\n"
            f"    study.optimize(t.slow_but_short, n_trials=9, **{how!r})\n")
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    wait_for(lambda: any(t.state == "running" for t in trials_of(storage)))
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in err and child.returncode != 0
    states = {t.state for t in trials_of(storage)}
    assert "running" not in states


def slow_but_short(trial):
    for _ in range(20):
        time.sleep(0.05)
    return loss(trial)


def trials_of(storage):
    try:
        with cocabo.load_study(storage=storage) as study:
            return study.trials
    except cocabo.Error:
        return []


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


def test_what_a_killed_driver_left_is_offered_again(storage, monkeypatch):
    code = (f"import cocabo, test_optimize as t\n"
            f"study = cocabo.create_study(t.SPACE, storage={storage!r}, seed=1)\n"
            f"study.optimize(t.slow, n_trials=9)\n")
    child = subprocess.Popen([sys.executable, "-c", code])
    wait_for(lambda: len(trials_of(storage)) == 1)
    study = cocabo.load_study(storage=storage)
    assert study.ask().number == 1  # it lives: the first trial is not offered
    child.kill()
    child.wait()
    assert study.ask().number == 0  # at once, not when its lease of a minute has run out


def test_a_long_evaluation_keeps_its_lease(storage, monkeypatch):
    monkeypatch.setattr(cocabo._optimize, "LEASE_SECONDS", 0.6)
    study = cocabo.create_study(SPACE, storage=storage, seed=1)
    other = cocabo.load_study(storage=storage)

    def function(trial):
        time.sleep(1.5)
        assert other.ask().number != trial.number
        return loss(trial)

    study.optimize(function, n_trials=1)
    assert study.trial(0).state == "complete"


def test_tune():
    calls = []

    @cocabo.tune(x=Float(-3, 3), kind=Choice(["a", "b"]), n_trials=12, seed=1, direction="maximize")
    def score(x, kind="a"):
        """How good it is."""
        calls.append(x)
        return -abs(x)

    assert score(2) == -2 and score.__doc__ == "How good it is." and score.__name__ == "score"
    study = score.tune()
    assert len(study) == 12 and study.direction == "maximize" and study is score.study
    score.tune(3)
    assert len(study) == 15 and len(calls) == 16
    with pytest.raises(ValueError, match="y is 3, want a domain"):
        cocabo.tune(y=3)
    spaced = cocabo.tune({"n": Int(1, 3)}, n_trials=2)(lambda n: n)
    assert len(spaced.tune()) == 2


def test_the_examples_of_the_docstrings():
    root = pathlib.Path(cocabo.__file__).parent
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--doctest-modules", "-p",
                           "no:cacheprovider", *sorted(str(p) for p in root.glob("_*.py"))],
                          cwd=root.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
