"""cocabo.optuna: Optuna's own conformance suites, and what they do not ask."""

from __future__ import annotations

import copy
import logging
import math
import multiprocessing
import os
import pickle
import statistics
import time
from collections import Counter

import pytest

optuna = pytest.importorskip("optuna")

from optuna.distributions import (  # noqa: E402
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import RandomSampler  # noqa: E402
from optuna.storages import JournalStorage, RDBStorage  # noqa: E402
from optuna.trial import TrialState, create_trial  # noqa: E402

import cocabo  # noqa: E402
import cocabo.optuna  # noqa: E402
from cocabo._optuna_space import Evidence, Term  # noqa: E402
from cocabo.optuna import CoCaBOSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)

try:
    from optuna.testing.pytest_samplers import (
        BasicSamplerTestCase,
        RelativeSamplerTestCase,
        SingleOnlySamplerTestCase,
    )
except ImportError:  # before Optuna 4.6 there were none to subclass
    pass
else:

    class TestConformance(
        BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase
    ):
        @pytest.fixture
        def sampler(self):
            return CoCaBOSampler

    class TestConformanceOfNoisy(RelativeSamplerTestCase):
        @pytest.fixture
        def sampler(self):
            return lambda: CoCaBOSampler(deterministic_objective=False, n_startup_trials=3)


# ---- helpers -----------------------------------------------------------------------------


class Counting(RandomSampler):
    """Says which parameters no model served, in which trials."""

    def __init__(self, seed=None):
        super().__init__(seed)
        self.sampled = []

    def sample_independent(self, study, trial, name, distribution):
        self.sampled.append((trial.number, name))
        return super().sample_independent(study, trial, name, distribution)


def quadratic(trial):
    x = trial.suggest_float("x", -2, 2)
    kind = trial.suggest_categorical("kind", ["a", "b", "c"])
    return (x - 0.731) ** 2 + {"a": 0.7, "b": 0.0, "c": 0.3}[kind]


def tree(trial):
    """Three branches, one nested, one of as many parameters as an int says."""
    model = trial.suggest_categorical("model", ["svm", "mlp", "forest"])
    value = trial.suggest_float("x", -1, 1) ** 2
    if model == "svm":
        value += abs(math.log10(trial.suggest_float("C", 1e-3, 1e3, log=True)) - 1)
        if trial.suggest_categorical("kernel", ["rbf", "poly"]) == "poly":
            value += trial.suggest_int("degree", 2, 5)
    elif model == "mlp":
        for i in range(trial.suggest_int("layers", 1, 3)):
            value += trial.suggest_int(f"units{i}", 4, 128, log=True) / 128
    else:
        value += trial.suggest_float("share", 0, 1, step=0.1) + 0.21
    return value


def run(objective, n, *, seed=3, **more):
    study = optuna.create_study(sampler=CoCaBOSampler(seed=seed, **more))
    study.optimize(objective, n_trials=n, catch=(ArithmeticError,))
    return study


def models(study):
    with study.sampler._knowing(study) as known:
        return known.models


def points(study):
    return [tuple(sorted(t.params.items())) for t in study.trials]


# ---- what is proposed --------------------------------------------------------------------


def test_finds_the_optimum_of_numbers_and_categories():
    study = run(quadratic, 40)
    assert study.best_params["kind"] == "b"
    assert study.best_value < 1e-4


def test_maximizes_where_the_study_does():
    study = optuna.create_study(direction="maximize", sampler=CoCaBOSampler(seed=3))
    study.optimize(lambda trial: -quadratic(trial), n_trials=40)
    assert study.best_value > -1e-4


def test_the_same_seed_gives_the_same_trials():
    assert points(run(tree, 30)) == points(run(tree, 30))
    assert points(run(tree, 30)) != points(run(tree, 30, seed=4))


def test_proposals_are_those_of_a_cocabo_study():
    study = run(quadratic, 25, seed=11, n_startup_trials=6)
    first, *others = study.trials
    kinds = ["a", "b", "c"]
    ours = cocabo.create_study(  # by name: kind, x
        {"p0": cocabo.Choice(range(3)), "p1": cocabo.Float(-2, 2)}, seed=11, n_init=5
    )
    point = {"p0": kinds.index(first.params["kind"]), "p1": first.params["x"]}
    ours.add_trial(point, first.value)
    for theirs in others:
        trial = ours.ask()
        assert theirs.params == {"kind": kinds[trial["p0"]], "x": trial["p1"]}
        ours.tell(trial, theirs.value)


def test_a_model_is_made_once_and_a_suggestion_is_quick(monkeypatch):
    made = []
    monkeypatch.setattr(
        cocabo.optuna, "_Model", lambda *a, **k: made.append(1) or Model(*a, **k)
    )
    study = run(quadratic, 1)
    seconds = []
    for _ in range(110):
        start = time.perf_counter()
        trial = study.ask()
        value = quadratic(trial)
        seconds.append(time.perf_counter() - start)
        study.tell(trial, value)
    assert len(made) == 1
    assert statistics.median(seconds[-20:]) < 0.25  # milliseconds on a quiet machine


Model = cocabo.optuna._Model


@pytest.mark.parametrize("n", [0, 1])
def test_the_model_may_start_at_once(n):
    study = run(quadratic, 25, n_startup_trials=n)
    assert {t.origin for t in models(study)[0]._study.trials[1:]} == {"sampler"}
    assert study.best_params["kind"] == "b"


def test_more_parameters_than_a_space_may_have():
    study = run(lambda trial: sum(trial.suggest_float(f"x{i}", 0, 1) for i in range(205)), 4)
    [model] = models(study)
    assert (len(model.shape.space), model.shape.deterministic) == (200, False)
    assert len(model._study) == 4


def test_an_interrupted_suggestion_leaves_no_half_knowledge(monkeypatch):
    study = run(quadratic, 10)
    kinds = study.trials[0].distributions
    study.add_trial(
        create_trial(params={"x": 1.5, "kind": "a"}, distributions=kinds, value=1.3)
    )

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(cocabo.Study, "add_trials", interrupted)
    with pytest.raises(KeyboardInterrupt):
        quadratic(study.ask())
    monkeypatch.undo()
    study.optimize(quadratic, n_trials=2)
    assert models(study)[0]._study.count("complete") == 12


def test_startup_trials_of_all_workers_count():
    study = run(quadratic, 7, n_startup_trials=6)
    origins = [t.origin for t in models(study)[0]._study.trials]
    assert origins == ["user", "design", "design", "design", "design", "design", "sampler"]
    again = optuna.create_study(sampler=CoCaBOSampler(seed=5, n_startup_trials=6))
    again.add_trials(study.trials)
    again.optimize(quadratic, n_trials=1)
    assert models(again)[0]._study.trials[-1].origin == "sampler"


def test_a_small_space_is_used_up_before_anything_is_tried_twice():
    def corner(trial):
        a = trial.suggest_categorical("a", ["p", "q", "r"])
        return trial.suggest_int("b", 0, 2) + (a == "q")

    study = run(corner, 14)
    assert len(set(points(study)[:9])) == 9
    assert all(t.state == TrialState.COMPLETE for t in study.trials)


def test_choices_of_all_types_and_names_of_all_kinds():
    choices = [None, "1", 2, 2.5, False, "ä`\n"]

    def objective(trial):
        choice = trial.suggest_categorical("and `or`\n", choices)
        assert any(choice is c for c in choices)
        step = trial.suggest_float("0.1", -10.2, 10.2, step=0.1)
        assert type(step) is float
        assert type(trial.suggest_int("", 3, 9, step=2)) is int
        assert trial.suggest_float("one", 1, 1) == 1
        return abs(step - 3.3) + (choice is not False)

    study = run(objective, 60)
    assert study.best_params["and `or`\n"] is False
    assert abs(study.best_params["0.1"] - 3.3) < 0.35
    assert len(models(study)[0].shape.space) == 3


# ---- conditions --------------------------------------------------------------------------


def test_conditions_are_inferred_and_one_model_serves_all():
    independent = Counting(1)
    study = run(tree, 60, seed=1, independent_sampler=independent)
    [model] = models(study)
    space = model._study.space
    names = dict(zip(model.shape.space, space))
    expected = {
        "model": None,
        "x": None,
        "C": f"{names['model']} in (0)",
        "kernel": f"{names['model']} in (0)",
        "degree": f"{names['kernel']} in (1)",
        "layers": f"{names['model']} in (1)",
        "units0": f"{names['model']} in (1)",
        "units1": f"{names['layers']} >= 2",
        "units2": f"{names['layers']} >= 3",
        "share": f"{names['model']} in (2)",
    }
    assert {name: space[names[name]].when for name in names} == expected
    assert len(model._study) == 60  # every trial fits
    assert max(Counter(name for _, name in independent.sampled).values()) <= 2
    assert max(number for number, _ in independent.sampled) < 30
    assert study.best_value < 0.04


def test_a_condition_of_two_parents():
    def objective(trial):
        a = trial.suggest_categorical("a", ["p", "q"])
        b = trial.suggest_categorical("b", ["r", "s", "t"])
        both = a == "q" and b in ("s", "t")
        return trial.suggest_float("c", 0, 1) if both else 0.5

    study = run(objective, 40)
    [model] = models(study)
    assert sorted(t.parent for t in model.shape.conditions["c"]) == ["a", "b"]
    assert study.best_value < 0.01


def test_a_long_chain_of_conditions():
    def objective(trial):
        value = 0
        for i in range(6):
            if trial.suggest_categorical(f"switch{i}", ["off", "on"]) == "off":
                break
            value += trial.suggest_float(f"x{i}", -1, 0.1)
        return value

    study = run(objective, 60)
    [model] = models(study)
    assert len(model.shape.space) == 12
    assert all(len(terms) <= 1 for terms in model.shape.conditions.values())
    assert study.best_value < -5.9


class Learning(Evidence):
    """Evidence that is told of trials by their parameters."""

    KINDS = {
        "a": CategoricalDistribution(["p", "q", "r"]),
        "b": CategoricalDistribution(range(20)),
        "n": IntDistribution(1, 9),
        "large": IntDistribution(0, 999),
        "x": FloatDistribution(0, 1),
    }

    def learn(self, number, state=TrialState.COMPLETE, kinds=None, **params):
        kinds = {name: (kinds or self.KINDS)[name] for name in params}
        value = 1.0 if state == TrialState.COMPLETE else None
        trial = create_trial(params=params, distributions=kinds, state=state, value=value)
        trial.number = number
        self.update([trial])
        return self.conditions.get("x")


def test_a_contradiction_changes_the_condition():
    evidence = Learning()
    assert evidence.learn(0, a="p", x=0.3) == ()
    assert evidence.learn(1, a="q") == (Term("a", frozenset([0])),)
    assert evidence.learn(2, a="r", x=0.4)[0].values == {0, 2}
    assert evidence.learn(3, a="r") is None  # both with x and without
    assert evidence.parts(["x", "a"]) == [{"a": ()}, {"x": ()}]


def test_trials_that_did_not_come_to_their_end_prove_no_absence():
    evidence = Learning()
    evidence.learn(0, a="p", x=0.3)
    evidence.learn(1, TrialState.FAIL, a="p")
    evidence.learn(2, TrialState.PRUNED, a="p")
    evidence._infer()
    assert evidence.conditions == {"a": (), "x": ()}


def test_bounds_of_an_int():
    evidence = Learning()
    evidence.learn(0, n=5, x=0.1)
    assert evidence.learn(1, n=2) == (Term("n", None, 5, None),)
    assert evidence.learn(2, n=3, x=0.2) == (Term("n", None, 3, None),)
    assert evidence.learn(3, n=8) == (Term("n", None, 3, 5),)


def test_the_parent_is_the_one_that_explains_least_by_chance():
    evidence = Learning()
    evidence.learn(0, a="p", b=3, large=70, x=0.3)
    evidence.learn(1, a="q", b=4, large=71)
    evidence.learn(2, a="p", b=5, large=72, x=0.3)
    assert [term.parent for term in evidence.learn(3, a="r", b=6, large=73)] == ["a"]


def test_a_large_int_is_no_parent():
    evidence = Learning()
    evidence.learn(0, large=70, x=0.3)
    assert evidence.learn(1, large=170) is None


def test_an_old_trial_that_ends_late_does_not_bring_its_range_back():
    evidence, new = Learning(), {"x": FloatDistribution(0, 2)}
    evidence.learn(0, x=0.3)
    evidence.learn(2, kinds=new, x=1.5)
    evidence.learn(1, x=0.2)
    assert evidence.ranges["x"].distribution == new["x"]


def test_what_no_condition_explains_has_a_model_of_its_own():
    independent = Counting(1)

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if x < 0.537:
            y = trial.suggest_float("y", 0, 1)
            return x + (y - 0.3) ** 2 + (trial.suggest_float("z", 0, 1) - 0.6) ** 2
        return x

    study = run(objective, 60, independent_sampler=independent)
    main, group = models(study)
    assert [list(m.shape.space) for m in (main, group)] == [["x"], ["y", "z"]]
    assert group.shape.deterministic is False
    having = [t for t in study.trials[:-1] if "y" in t.params]
    assert group._study.count("complete") == len(having)
    assert group._study.count("running") + group._study.count("interrupted") <= 1
    assert len(independent.sampled) <= 6
    assert study.best_value < 0.05


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_partially_fixed_parents_leave_their_children_to_groups():
    study = run(tree, 30)
    fixed = {"model": "svm"}
    study.sampler = optuna.samplers.PartialFixedSampler(fixed, study.sampler)
    study.optimize(tree, n_trials=10)
    assert [t.params["model"] for t in study.trials[30:]] == ["svm"] * 10


# ---- ranges that change ------------------------------------------------------------------


def test_a_changed_range_is_searched_by_the_model():
    independent = Counting(1)
    sampler = CoCaBOSampler(seed=3, independent_sampler=independent)
    study = optuna.create_study(sampler=sampler)

    def objective(low, high):
        return lambda trial: (trial.suggest_float("x", low, high) - 2.37) ** 2

    study.optimize(objective(0, 1), n_trials=12)
    study.optimize(objective(0.5, 3), n_trials=15)
    assert {number for number, _ in independent.sampled} <= {0, 12}
    [model] = models(study)
    assert model.shape.space == {"x": FloatDistribution(0.5, 3)}
    fitting = [t for t in study.trials if t.params["x"] >= 0.5]
    assert len(model._study) == len(fitting)
    assert study.best_value < 1e-3


def test_a_range_that_keeps_changing_is_left_to_the_independent_sampler(caplog):
    def objective(trial):
        high = trial.suggest_int("high", 1, 50)
        return trial.suggest_float("x", 0, high)

    with caplog.at_level(logging.WARNING, "cocabo.optuna"):
        study = run(objective, 15)
    [model] = models(study)
    assert list(model.shape.space) == ["high"]
    assert model.shape.deterministic is False
    [record] = caplog.records
    assert record.getMessage().startswith(
        "parameter x is left to TPESampler: its range keeps changing"
    )


def test_what_cocabo_cannot_search_is_left_to_the_independent_sampler(caplog):
    def objective(trial):
        return trial.suggest_int("n", 0, 2**60) / 2**60 + trial.suggest_float("x", 0, 1)

    with caplog.at_level(logging.WARNING, "cocabo.optuna"):
        run(objective, 5)
        run(objective, 5, warn_independent_sampling=False)
    [record] = caplog.records
    assert "its high is 1152921504606846976, want -2^53 to 2^53" in record.getMessage()


# ---- failures, pruned trials, constraints ------------------------------------------------


def test_failures_are_avoided():
    def objective(trial):
        value = quadratic(trial)
        if trial.params["kind"] == "b" or trial.params["x"] < 0:
            raise ArithmeticError("it broke")
        return value

    study = run(objective, 60)
    failed = [t.number for t in study.trials if t.state == TrialState.FAIL]
    assert len([n for n in failed if n >= 30]) <= 6  # of 30; at random 20
    assert study.best_params["kind"] == "c"
    assert study.best_value < 0.301


def test_a_study_in_which_everything_failed_goes_on():
    def objective(trial):
        quadratic(trial)
        raise ArithmeticError("it broke")

    study = run(objective, 15)
    assert models(study)[0]._study.count("failed") == 14  # and the last one
    assert len(set(points(study))) == 15


def test_pruned_trials_count_with_their_last_report():
    def objective(trial):
        value = quadratic(trial)
        trial.report(value + 30, 0)
        trial.report(value + 10, 7)
        if trial.params["kind"] == "a":
            raise optuna.TrialPruned
        return value

    study = run(objective, 30)
    inner = [(t.params["p1"], t.value) for t in models(study)[0]._study.trials]
    pruned = [t for t in study.trials[:-1] if t.state == TrialState.PRUNED]
    assert pruned
    for trial in pruned:
        assert (trial.params["x"], pytest.approx(quadratic_at(trial) + 10)) in inner


def quadratic_at(trial):
    return quadratic(optuna.trial.FixedTrial(trial.params))


def test_a_pruned_trial_is_never_the_best_and_fails_without_a_report():
    x = {"x": FloatDistribution(0, 1)}
    study = optuna.create_study(sampler=CoCaBOSampler(seed=1))
    study.add_trial(create_trial(params={"x": 0.25}, distributions=x, value=2.0))
    for at, reports in ((0.5, {3: -9.0}), (0.75, {}), (0.875, {0: 5.0, 1: math.nan})):
        study.add_trial(
            create_trial(
                state=TrialState.PRUNED,
                params={"x": at},
                distributions=x,
                intermediate_values=reports,
            )
        )
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + 3, n_trials=1)
    trials = {t.params["p0"]: t for t in models(study)[0]._study.trials}
    assert trials[0.5].value == 2.0
    assert trials[0.75].state == trials[0.875].state == "failed"


def test_infinite_values_are_failures():
    study = run(lambda trial: trial.suggest_float("x", 0, 1) * math.inf or math.inf, 4)
    assert models(study)[0]._study.count("failed") == 3


def constrained(trial):
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    return x + y, 0.73 - x * 2 + y  # the best feasible: x 0.365, y 0


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_constraints_func_is_honoured():
    def limits(trial):
        return (0.73 - trial.params["x"] * 2 + trial.params["y"],)

    study = run(lambda trial: constrained(trial)[0], 40, constraints_func=limits)
    limit = {t.number: t.system_attrs["constraints"][0] for t in study.trials}
    best = min((t for t in study.trials if limit[t.number] <= 0), key=lambda t: t.value)
    assert abs(best.params["x"] - 0.365) < 0.02 and best.params["y"] < 0.02
    assert models(study)[0]._study.constraints == ["c0 <= 0"]


@pytest.mark.skipif(
    not hasattr(optuna.Trial, "set_constraint"), reason="Optuna 4 has no set_constraint"
)
def test_set_constraint_is_honoured():
    def objective(trial):
        value, limit = constrained(trial)
        trial.set_constraint("far", limit)
        trial.set_constraint("always", -1.0)
        return value

    study = run(objective, 40)
    assert models(study)[0]._study.constraints == ["c0 <= 0", "c1 <= 0"]
    feasible = [t for t in study.trials if t.constraints["far"] <= 0]
    assert min(t.value for t in feasible) < 0.39


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_more_constraints_than_a_trial_may_have_metrics():
    def limits(trial):
        return [trial.params["x"] - 0.1 * i for i in range(3, 70)]

    study = run(quadratic, 12, constraints_func=limits)
    inner = models(study)[0]._study
    assert inner.constraints == ["c0 <= 0"]
    for theirs, ours in zip(study.trials[:-1], inner.trials):
        assert ours.metrics == {"c0": pytest.approx(theirs.params["x"] - 0.3)}


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_an_infinite_violation_is_a_failure():
    def limits(trial):
        return [math.inf if trial.params["kind"] == "b" else -math.inf]

    study = run(quadratic, 30, constraints_func=limits)
    inner = models(study)[0]._study
    kinds = [t.params["kind"] for t in study.trials[:-1]]
    assert inner.count("failed") == kinds.count("b") > 0


# ---- several workers ---------------------------------------------------------------------


@pytest.fixture(params=["sqlite", "journal"])
def storage(request, tmp_path):
    """Makes another connection to the same storage at every call."""
    return Storage(request.param, str(tmp_path / "studies"))


class Storage:
    def __init__(self, kind, path):
        self._kind, self._path = kind, path

    def __call__(self):
        if self._kind == "sqlite":
            return RDBStorage(f"sqlite:///{self._path}")
        return JournalStorage(optuna.storages.journal.JournalFileBackend(self._path))


def test_two_samplers_see_what_the_other_is_at(storage):
    study = optuna.create_study(study_name="s", storage=storage())
    study.add_trials(run(quadratic, 20).trials)
    seen = []
    for _ in range(3):  # the same seed and the same history
        worker = optuna.load_study(
            study_name="s", storage=storage(), sampler=CoCaBOSampler(seed=8)
        )
        trial = worker.ask()  # and nothing is suggested in it yet
        seen.append(trial.relative_params)
        assert models(worker)[0]._study.count("running") == len(seen)
    assert len({tuple(s.items()) for s in seen}) == 3


@pytest.mark.parametrize("ended", [False, True])
def test_who_asked_at_the_same_time_does_not_try_the_same(storage, monkeypatch, ended):
    study = optuna.create_study(study_name="s", storage=storage())
    study.add_trials(run(quadratic, 20).trials)
    seen = []
    for _ in range(3):
        worker = optuna.load_study(
            study_name="s", storage=storage(), sampler=CoCaBOSampler(seed=8)
        )
        now = worker._get_trials
        late = [study.trials[:20]] * 2  # for the space and for the proposal
        monkeypatch.setattr(
            worker, "_get_trials", lambda **k: late.pop() if late else now(**k)
        )
        trial = worker.ask()
        seen.append(trial.relative_params)
        inner = models(worker)[0]._study
        assert inner.count("running") == len(seen)
        if ended:
            worker.tell(trial, quadratic(trial))
        assert inner.trials[20].params["p1"] == seen[0]["x"]
    assert len({tuple(s.items()) for s in seen}) == 3


def test_what_another_worker_gave_up_is_proposed_unless_it_was_tried():
    study = run(quadratic, 10)
    storage = study._storage

    def publish(trial, x):
        codes = {"kind": 0, "x": x}
        storage.set_trial_system_attr(trial._trial_id, "cocabo:proposed", codes)

    theirs, third = study.ask(), study.ask()
    publish(theirs, 1.25)
    quadratic(study.ask())  # 1.25 is pending
    publish(theirs, 1.5)
    publish(third, -1.75)
    inner = models(study)[0]._study
    assert study.ask().relative_params == {"kind": "a", "x": 1.25}
    assert [t.params["p1"] for t in inner.trials[10:]].count(1.25) == 1
    publish(third, 1.5)  # and what it had is being tried by another
    publish(theirs, -1.75)
    assert study.ask().relative_params["x"] not in (1.5, -1.75)


def test_a_result_of_another_worker_is_told(storage):
    study = optuna.create_study(study_name="s", storage=storage(), sampler=CoCaBOSampler())
    study.optimize(quadratic, n_trials=5)
    other = optuna.load_study(study_name="s", storage=storage(), sampler=CoCaBOSampler())
    theirs = other.ask()
    value = quadratic(theirs)
    mine = study.ask()
    quadratic(mine)
    inner = models(study)[0]._study
    assert inner.count("running") == 2
    other.tell(theirs, value)
    study.tell(mine, state=TrialState.FAIL)
    quadratic(study.ask())
    assert models(study)[0]._study is inner
    assert [inner.count(s) for s in ("complete", "failed", "running")] == [6, 1, 1]
    assert len(inner) == 8


def work(storage, objective, seed):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(
        study_name="s", storage=storage(), sampler=CoCaBOSampler(seed=seed)
    )
    study.optimize(objective, n_trials=12)


@pytest.mark.parametrize("objective", [quadratic, tree])
def test_two_processes_share_a_study(storage, objective):
    optuna.create_study(study_name="s", storage=storage())
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=work, args=(storage, objective, s)) for s in (1, 2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0]
    study = optuna.load_study(study_name="s", storage=storage())
    assert [t.state for t in study.trials] == [TrialState.COMPLETE] * 24
    assert objective is tree or len(set(points(study))) == 24


@pytest.mark.parametrize("pruner", [None, optuna.pruners.HyperbandPruner()])
def test_four_threads(pruner):
    def objective(trial):
        value = tree(trial)
        for step in range(3):
            trial.report(value + 1 / (1 + step), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    study = optuna.create_study(sampler=CoCaBOSampler(seed=1), pruner=pruner)
    study.optimize(objective, n_trials=48, n_jobs=4)
    assert len(study.trials) == 48
    assert all(t.state in (TrialState.COMPLETE, TrialState.PRUNED) for t in study.trials)
    assert len(set(points(study))) == 48


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_its_own_models():
    study = run(quadratic, 10)
    child = os.fork()
    if child == 0:
        try:
            study.optimize(quadratic, n_trials=3)
            os._exit(0 if len(study.trials) == 13 else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_trial_that_is_asked_again_stays_what_it_was():
    study = run(quadratic, 10)
    trial = study.ask()
    proposed = trial.relative_params
    again = optuna.Trial(study, trial._trial_id)
    assert again.relative_params == proposed
    study.sampler = pickle.loads(pickle.dumps(study.sampler))
    assert optuna.Trial(study, trial._trial_id).relative_params == proposed


@pytest.mark.filterwarnings("ignore")  # its class is experimental in 4 and renamed in 5
def test_a_retried_trial_is_no_failure():
    study = run(quadratic, 10)
    lost = study.ask()
    params = quadratic(lost) and lost.params
    study.tell(lost, state=TrialState.FAIL)
    retry = optuna.storages.RetryFailedTrialCallback()
    retry(study, study.trials[-1])  # as Optuna does when a heartbeat stops
    again = study.ask()
    assert again.number == 11
    value = quadratic(again)
    assert again.params == params
    inner = models(study)[0]._study
    quadratic(study.ask())
    assert models(study)[0]._study is inner
    assert (inner.count("failed"), inner.count("running")) == (0, 2)
    study.tell(again, value)
    quadratic(study.ask())
    assert (inner.count("complete"), inner.count("running")) == (11, 2)


def test_what_was_not_tried_as_proposed_is_proposed_again():
    study = run(quadratic, 10)
    study.enqueue_trial({"kind": "c"})  # x is proposed, with a kind that does not count
    trial = study.ask()
    proposed = dict(trial.relative_params)
    value = quadratic(trial)
    assert trial.params == {"x": proposed["x"], "kind": "c"}
    study.tell(trial, value)
    assert proposed["kind"] != "c"
    assert study.ask().relative_params == proposed
    assert models(study)[0]._study.count("complete") == 11


# ---- copies ------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_of_a_sampler_goes_on(copied):
    study = run(quadratic, 10)
    study.sampler = copied(study.sampler)
    assert len(study.sampler._studies) == 0
    study.optimize(quadratic, n_trials=5)
    assert len(models(study)[0]._study) == 15


def test_a_study_in_memory_can_be_pickled_with_its_sampler():
    study = run(tree, 10)
    trial = study.ask()
    value = tree(trial)
    study, trial = pickle.loads(pickle.dumps((study, trial)))  # as Ray's OptunaSearch does
    study.tell(trial, value)
    study.optimize(tree, n_trials=5)
    assert [t.state for t in study.trials] == [TrialState.COMPLETE] * 16


def test_reseeding_changes_what_is_proposed():
    def proposal(reseed):
        study = run(quadratic, 12)
        study.sampler = copy.deepcopy(study.sampler)  # both begin without a model
        if reseed:
            study.sampler.reseed_rng()
        return study.ask().relative_params

    assert proposal(False) == proposal(False)
    assert proposal(True) != proposal(False)


def test_one_sampler_serves_two_studies():
    sampler = CoCaBOSampler(seed=2)
    first = optuna.create_study(sampler=sampler)
    second = optuna.create_study(sampler=sampler, direction="maximize")
    for _ in range(8):
        first.optimize(quadratic, n_trials=1)
        second.optimize(tree, n_trials=1)
    assert models(first)[0].shape.space.keys() == {"x", "kind"}
    assert models(second)[0]._study.direction == "maximize"


# ---- arguments ---------------------------------------------------------------------------


def test_options_are_checked_when_the_sampler_is_made():
    with pytest.raises(cocabo.InvalidError, match="model_size"):
        CoCaBOSampler(model_size=3)
    with pytest.raises(cocabo.Error, match="sampler"):
        CoCaBOSampler(sampler="nonesuch")
    with pytest.raises(TypeError, match="no option 'n_init': want n_startup_trials"):
        CoCaBOSampler(n_init=3)
    with pytest.raises(cocabo.InvalidError, match="n_init"):
        CoCaBOSampler(n_startup_trials=-1)
    with pytest.raises(cocabo.InvalidError, match="seed"):
        CoCaBOSampler(seed=-1)


@pytest.mark.parametrize("name", ["tpe", "smac", "cocabo", "random"])
def test_other_samplers_of_cocabo(name):
    study = run(tree, 25, sampler=name)
    assert models(study)[0]._study.sampler == name
    assert all(t.state == TrialState.COMPLETE for t in study.trials)


def test_options_reach_the_study():
    study = run(quadratic, 3, deterministic_objective=False, model_size=123)
    inner = models(study)[0]._study
    assert (inner.option("model_size"), inner.option("deterministic")) == ("123", "false")


def test_shows_its_name():
    assert str(CoCaBOSampler()) == "CoCaBOSampler"
