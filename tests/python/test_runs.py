"""Trials that are evaluated run by run: instances, seeds, repeats."""

import math
import pickle
import statistics
import threading
import time

import pytest

import cocabo
from cocabo import Choice, Float

SPACE = {"x": Float(-2, 2), "k": Choice(["a", "b"])}
HARD = {"north": 1.0, "south": 5.0, "east": 9.0, "west": 2.5}


def solve(trial):
    away = (trial["x"] - 0.37) ** 2 + (trial["k"] == "b")
    return away + HARD[trial.instance] + 0.01 * trial.seed


def create(**more):
    return cocabo.create_study(SPACE, instances=list(HARD), seed=3, **more)


def counted(trial):
    return [run for run in trial.runs if run.state in ("ok", "capped")]


def test_ask_and_tell_a_run():
    study = create(seeds=2)
    assert study.has_runs and study.instances == list(HARD)
    trial = study.ask_run()
    assert trial.number == 0 and trial.run.run == 0 and trial.run.state == "running"
    assert trial.instance == trial.run.instance and trial.instance in HARD
    assert trial.seed == trial.run.seed == 1 and math.isinf(trial.run.cap)
    assert study.count_runs() == study.count_runs(running=True) == 1
    study.tell_run(trial, 7.25, seconds=0.5, metrics={"steps": 11})
    assert study.count_runs(running=True) == 0
    [run] = study.trial(0).runs
    assert (run.state, run.value, run.seconds) == ("ok", 7.25, 0.5)
    assert study.trial(0).state == "running" and study.trial(0).metrics == {"steps": 11}
    study.tell_run(trial, 99.0)  # the first result counts
    assert study.trial(0).runs == [run]
    other = study.ask_run()
    assert other.number == 0 and other.run.run == 1 and other.instance != trial.instance
    study.tell_run(0, 3.0, run=1)
    assert [r.value for r in study.trial(0).runs] == [7.25, 3.0]


def test_the_value_is_what_the_runs_come_to():
    for combine, fold in (("mean", statistics.mean), ("median", statistics.median), ("max", max),
                          ("geomean", statistics.geometric_mean)):
        study = create(combine=combine, trials=2)
        study.optimize(solve)
        assert study.count("complete") == 2
        for trial in study.trials:
            values = [run.value for run in counted(trial)]
            assert sorted(run.instance for run in counted(trial)) == sorted(HARD)
            assert trial.value == pytest.approx(fold(values), rel=1e-12)
            if combine == "mean":
                error = statistics.stdev(values) / math.sqrt(len(values))
                assert trial.error == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize("backend, n_jobs", [("thread", 1), ("thread", 3), ("process", 2)])
def test_optimize_calls_the_function_for_every_run(backend, n_jobs):
    study = create(seeds=3)
    calls = []
    study.optimize(solve, n_runs=60, n_jobs=n_jobs, backend=backend,
                   callbacks=[lambda s, t: calls.append(t.number)])
    assert len(calls) == study.count_runs() == 60 and study.count_runs(running=True) == 0
    for trial in study.trials:
        for run in counted(trial):
            away = run.value - HARD[run.instance] - 0.01 * run.seed
            assert away == pytest.approx(
                (trial["x"] - 0.37) ** 2 + (trial["k"] == "b"), abs=1e-9)
    assert study.best_trial.params["k"] == "a"
    assert study.verify().ok


def test_optimize_ends_when_so_many_trials_are_over():
    study = create()
    study.optimize(solve, n_trials=4)
    assert study.count("complete") == 4 and len(study) == 4
    study.optimize(solve, n_trials=3)
    assert study.count("complete") == 7


def test_budgets_end_optimize_also_where_others_run_on():
    study = create(runs=30)
    study.optimize(solve, n_jobs=4)
    assert study.count_runs() == 30
    with pytest.raises(cocabo.BudgetError, match="30 runs"):
        study.ask_run()

    def slow(trial):
        time.sleep(0.01)
        return solve(trial)
    study = create(trials=8, seeds=5)
    study.optimize(slow, n_jobs=8)  # more jobs than runs of the last trial at a time
    assert study.count("complete") == 8


def test_a_failed_run_fails_its_trial():
    def fragile(trial):
        if trial.instance == "east" and trial["k"] == "b":
            raise cocabo.TrialFailed("east is too much")
        return solve(trial)
    study = create(trials=12)
    study.optimize(fragile)
    failed = study.get_trials(["failed"])
    assert failed and {t["k"] for t in failed} == {"b"}
    assert {t.reason for t in failed} == {"east is too much"}
    assert all(t.runs[-1].state == "failed" and t.runs[-1].value is None for t in failed)
    study = create()
    trial = study.ask_run()
    study.tell_run(trial, math.nan)
    assert study.trial(0).state == "failed" and "NaN" in study.trial(0).reason


def test_an_interrupted_run_is_run_again():
    study = create()

    def stop(trial):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        study.optimize(stop, n_runs=5)
    [lost] = study.trial(0).runs
    assert lost.state == "discarded" and study.count_runs() == 0
    again = study.ask_run()
    assert (again.number, again.run.run) == (0, 1)
    assert (again.instance, again.seed) == (lost.instance, lost.seed)


def test_capped_runs():
    study = cocabo.create_study(SPACE, seeds=5, cap="auto", seed=2, deterministic=False)
    for _ in range(5):
        study.tell_run(study.ask_run(), 1.0)
    trial = study.ask_run()
    assert trial.number == 1 and trial.run.cap == pytest.approx(2.0)
    study.tell_run(trial, 2.0, state="capped")
    seen = study.trial(1)
    assert seen.state == "complete" and seen.runs[0].state == "capped"
    assert study.best_trial.number == 0


def test_repeats_where_they_are_worth_it():
    noise = iter(range(10**6))

    def noisy(trial):
        return (trial["x"] - 0.37) ** 2 + (next(noise) * 7919 % 101) / 101
    study = cocabo.create_study(SPACE, repeats="auto", runs=50, seed=4)
    study.optimize(noisy)
    assert study.option("deterministic") == "false"
    assert study.instances == [] and study.trial(0).runs[0].instance is None
    assert max(len(counted(trial)) for trial in study.trials) > 1


@pytest.mark.parametrize("said", [{}, {"repeats": 1}, {"repeats": 3, "deterministic": True}])
def test_only_what_is_repeated_is_taken_for_noisy(said):
    assert cocabo.create_study(SPACE, **said).option("deterministic") == "true"


def test_a_file_remembers_runs(storage):
    with create(storage=storage, name="s") as study:
        study.optimize(solve, n_runs=20)
        known = study.trials
    with cocabo.load_study("s", storage=storage) as study:
        assert study.has_runs and study.trials == known
        study.optimize(solve, n_runs=5)
        assert study.count_runs() == 25


def test_threads_of_their_own_share_a_study():
    study = create(seeds=4)
    raised = []

    def work():
        try:
            for _ in range(15):
                trial = study.ask_run()
                study.tell(trial, solve(trial), user_attrs={"who": threading.get_ident()})
        except BaseException as e:
            raised.append(e)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raised == [] and study.count_runs() == 60
    for trial in study.trials:
        pairs = [(run.instance, run.seed) for run in trial.runs]
        assert len(set(pairs)) == len(pairs) and "who" in trial.user_attrs


def test_a_trial_with_a_run_is_sent_elsewhere():
    trial = create().ask_run()
    copy = pickle.loads(pickle.dumps(trial))
    assert copy.run == trial.run and copy.instance == trial.instance


def test_a_table_has_runs():
    pytest.importorskip("pandas")
    study = create(trials=3)
    study.optimize(solve)
    table = study.trials_dataframe("pandas")
    assert list(table["runs"]) == [4, 4, 4] and (table["error"] > 0).all()


def test_sentences():
    study = create()
    plain = cocabo.create_study(SPACE)
    for call, error, said in [
        (study.ask, cocabo.StateError, "want ask_run"),
        (plain.ask_run, cocabo.StateError, "has no runs"),
        (lambda: plain.optimize(solve, n_runs=3), cocabo.InvalidError, "a study with runs"),
        (lambda: study.optimize(solve, n_runs=-1), cocabo.InvalidError, "n_runs is -1"),
        (lambda: study.tell_run(0, 1.0), cocabo.InvalidError, "which run"),
        (lambda: study.tell_run(study.ask_run(), 1.0, state="done"), cocabo.InvalidError,
         "state is 'done'"),
        (lambda: study.tell_run(0, 1.0, run=0, state="fail"), cocabo.InvalidError,
         "has no value"),
        (lambda: study.tell_run(0, run=0), cocabo.InvalidError, "there is no value"),
        (lambda: study.tell_run(0, 1.0, run=9), cocabo.NotFoundError, "trial 0 has no run 9"),
        (lambda: cocabo.create_study(SPACE, instances=7), cocabo.InvalidError, "want a list"),
        (lambda: cocabo.create_study(SPACE, instances=["a", ""]), cocabo.InvalidError,
         "want a line of text"),
        (lambda: cocabo.create_study(SPACE, instances=["a\nb"]), cocabo.InvalidError,
         "want a line of text"),
    ]:
        with pytest.raises(error, match=said):
            call()
    trial = plain.ask()
    assert trial.run is None and trial.instance is None and trial.runs == []
    assert trial.error is None
