"""cocabo.ray: spaces, the searcher's contract with Ray Tune, saving, and real runs.

The runs on a local Ray, one of them with a driver that is killed, are marked "ray".
"""

import copy
import doctest
import importlib.util
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

ray = pytest.importorskip("ray")

import numpy as np
from ray import tune
from ray.tune.search import ConcurrencyLimiter, Searcher

from conftest import SANITIZED

import cocabo
from cocabo.ray import CoCaBOSearch

XY = {"x": cocabo.Float(-1, 1), "kind": cocabo.Choice(["a", "b", "c"])}


def search(space=XY, **more):
    return CoCaBOSearch(space, **{"metric": "loss", "mode": "min", "seed": 7, **more})


def complete(searcher, names, value=lambda config: config["x"] ** 2):
    """Suggests and tells."""
    for name in names:
        searcher.on_trial_complete(name, {"loss": value(searcher.suggest(name))})


# ---- spaces ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (tune.uniform(-1, 2.5), cocabo.Float(-1, 2.5)),
        (tune.loguniform(1e-4, 0.1), cocabo.Float(1e-4, 0.1, log=True)),
        (tune.quniform(0.2, 1, 0.2), cocabo.Float(0.2, 1, step=0.2)),
        (tune.quniform(-0.3, 0.3, 0.1), cocabo.Float(-3 * 0.1, 3 * 0.1, step=0.1)),
        (tune.qloguniform(0.01, 1, 0.01), cocabo.Float(0.01, 1, step=0.01)),
        (tune.randint(3, 9), cocabo.Int(3, 8)),
        (tune.lograndint(1, 1000), cocabo.Int(1, 999, log=True)),
        (tune.qrandint(8, 64, 8), cocabo.Int(8, 64, step=8)),
        (tune.qrandint(5, 30, 8), cocabo.Int(8, 24, step=8)),
        (tune.qrandint(5, 30, 1), cocabo.Int(5, 29)),
        (tune.qlograndint(16, 512, 16), cocabo.Int(16, 512, step=16)),
        (tune.choice([1, 1.0, True, "1", None]), cocabo.Choice([1, 1.0, True, "1", None])),
        (cocabo.Ordinal(["low", "high"]), cocabo.Ordinal(["low", "high"])),
    ],
)
def test_domains_of_tune_become_ours(theirs, ours):
    assert CoCaBOSearch.convert_search_space({"p": theirs}) == {"p": ours}


@pytest.mark.parametrize("domain", [tune.qrandint(5, 30, 8), tune.quniform(0.1, 0.7, 0.1)])
def test_quantised_values_are_those_that_tune_draws(domain):
    """Every value that one of the two draws, the other has too."""
    drawn = {round(domain.sample(), 9) for _ in range(300)}
    searcher = search({"p": domain}, deterministic=False)
    ours = {round(searcher.suggest(str(i))["p"], 9) for i in range(60)}
    assert ours == drawn


@pytest.mark.parametrize(
    ("domain", "word"),
    [
        (tune.sample_from(lambda config: 1), "sample_from"),
        ({"eval": "1 + 1"}, "sample_from"),
        (tune.grid_search([1, 2]), "grid_search"),
        (tune.randn(0, 1), "Normal"),
        (tune.qrandn(0, 1, 0.1), "Normal"),
        (tune.qrandint(9, 15, 8), "multiple"),
    ],
)
def test_what_cannot_be_searched_is_refused_by_name(domain, word):
    with pytest.raises(ValueError, match=f"net/p is .*{word}"):
        CoCaBOSearch.convert_search_space({"net": {"p": domain}})


def test_nests_lists_and_constants_come_back_as_they_were():
    space = {
        "net": {"layers": [tune.randint(1, 9), {"width": tune.choice([8, 16])}], "bias": True},
        "lr": tune.loguniform(1e-3, 1),
        "shape": (3, tune.choice([[1, 2], [3]])),
        "epochs": 5,
    }
    names = ["net/layers/0", "net/layers/1/width", "lr", "shape/1"]
    assert list(CoCaBOSearch.convert_search_space(space)) == names
    config = search(space).suggest("a")
    depth, width = config["net"]["layers"]
    assert 1 <= depth <= 8 and width["width"] in (8, 16)
    assert isinstance(config["shape"], tuple) and config["shape"][1] in ([1, 2], [3])
    assert config["net"]["bias"] is True and config["epochs"] == 5
    with pytest.raises(ValueError, match="a/b twice"):
        search({"a": {"b": tune.uniform(0, 1)}, "a/b": tune.uniform(0, 1)})


def test_inactive_parameters_are_not_in_the_config():
    space = {
        "net": {"kind": cocabo.Choice(["tree", "net"])},
        "depth": cocabo.Int(1, 9, when="`net/kind` == 'tree'"),
    }
    searcher = search(space, deterministic=False)
    for i in range(12):
        config = searcher.suggest(str(i))
        assert ("depth" in config) == (config["net"]["kind"] == "tree")


def test_the_example_of_its_docstring():
    assert doctest.testmod(sys.modules["cocabo.ray"]).failed == 0


# ---- suggesting and telling --------------------------------------------------------------


def test_results_of_every_kind():
    searcher = search()
    for name in "abcdefgh":
        searcher.suggest(name)
    searcher.on_trial_complete("a", {"loss": np.float32(0.5)})
    searcher.on_trial_complete("b", {"loss": np.nan})
    searcher.on_trial_complete("c", error=True)
    searcher.on_trial_complete("d", {"other": 1.0})
    searcher.on_trial_complete("e", {"loss": "much"})
    searcher.on_trial_complete("f", {"loss": np.array(2)})
    searcher.on_trial_complete("nobody", {"loss": 1.0})
    trials = searcher.study.trials
    assert [t.state for t in trials] == ["complete"] + ["failed"] * 4 + ["complete"] + [
        "running"
    ] * 2
    assert [t.value for t in trials if t.state == "complete"] == [0.5, 2.0]
    assert trials[1].reason == "loss is nan"
    assert trials[3].reason == "loss was not reported"
    assert trials[4].reason == "loss is 'much'"
    assert trials[0].user_attrs["ray_trial"] == "a"


def test_an_errored_trial_that_is_resumed_may_still_complete():
    searcher = search()
    searcher.suggest("a")
    searcher.on_trial_complete("a", error=True)
    searcher.on_trial_complete("a", {"loss": 1.5})
    assert searcher.study.trial(0).value == 1.5


def test_the_same_trial_gets_the_same_config():
    searcher = search()
    assert searcher.suggest("a") == searcher.suggest("a") != searcher.suggest("b")


def test_reports_are_kept_and_count_where_a_scheduler_stops_a_paused_trial(caplog):
    searcher = search()
    searcher.suggest("a")
    searcher.suggest("b")
    for step, loss in enumerate([3.0, math.nan, np.float64(1.0)], 1):
        searcher.on_trial_result("a", {"loss": loss, "training_iteration": step})
    searcher.on_trial_result("a", {"training_iteration": 4})
    searcher.on_trial_result("nobody", {"loss": 1.0, "training_iteration": 1})
    assert searcher.study.trial(0).intermediate_values == {1: 3.0, 3: 1.0}
    assert not caplog.records  # neither a NaN nor a missing metric is worth a word
    searcher.on_trial_complete("a")
    assert searcher.study.trial(0).value == 1.0


def test_a_trial_that_never_began_is_offered_again():
    searcher = search()
    first = searcher.suggest("a")
    searcher.on_trial_complete("a")
    assert searcher.suggest("b") == first
    searcher.on_trial_complete("a", {"loss": 9.0})  # it is b's now
    searcher.on_trial_complete("b", {"loss": 1.0})
    searcher.on_trial_complete("b")  # and once more, which changes nothing
    assert [t.value for t in searcher.study.trials] == [1.0]


@pytest.mark.parametrize("more", [{}, {"trials": 3}])
def test_finished_when_nothing_is_left(more):
    searcher = search({"k": tune.choice(["a", "b", "c"])}, **more)
    seen = [searcher.suggest(name)["k"] for name in "xyz"]
    assert sorted(seen) == ["a", "b", "c"]
    assert searcher.suggest("w") == Searcher.FINISHED


def test_points_to_try_first():
    points = [{"x": 0.25, "kind": "b"}, {"x": -0.5, "kind": "c"}]
    searcher = search(points_to_evaluate=points)
    assert [searcher.suggest("a"), searcher.suggest("b")] == points


def test_known_points():
    searcher = search(
        {"net": {"x": tune.uniform(0, 1)}, "n": 3},
        points_to_evaluate=[{"net": {"x": 0.25}}, {"net/x": 0.5}, {"net": {"x": 0.75}}],
        evaluated_rewards=[np.float64(2.0), 1.0, math.nan],
    )
    searcher.add_evaluated_point({"net": {"x": 0.1}, "n": 3}, 4.0, intermediate_values=[9.0, 4.0])
    searcher.add_evaluated_point({"net": {"x": 0.9}}, None, error=True)
    trials = searcher.study.trials
    assert [t.value for t in trials] == [2.0, 1.0, None, 4.0, None]
    assert [t.state for t in trials][2::2] == ["failed", "failed"]
    assert trials[3].intermediate_values == {0: 9.0, 1: 4.0}
    assert searcher.study.best_params == {"net/x": 0.5}
    with pytest.raises(ValueError, match="there are 1 evaluated_rewards, want .* each of the 2"):
        search(points_to_evaluate=[{}, {}], evaluated_rewards=[1.0])


def test_metrics_that_constraints_name_are_told():
    searcher = search(constraints=["p99 < 200", "`gpu/mem` <= 8"])
    for name, p99 in ("a", 100), ("b", 300):
        searcher.suggest(name)
        searcher.on_trial_complete(name, {"loss": p99, "p99": p99, "gpu/mem": 7, "pid": 1})
    searcher.suggest("c")
    searcher.on_trial_complete("c", {"loss": 1})
    trials = searcher.study.trials
    assert [t.feasible for t in trials] == [True, False, None]
    assert trials[0].metrics == {"p99": 100, "gpu/mem": 7}


def test_mode_max_is_maximised():
    searcher = search(mode="max", n_init=6)
    complete(searcher, map(str, range(25)), lambda config: -((config["x"] - 0.4) ** 2))
    assert searcher.study.direction == "maximize"
    assert abs(searcher.study.best_params["x"] - 0.4) < 0.05


def test_a_limiter_limits_and_batches():
    limited = ConcurrencyLimiter(search(), max_concurrent=2, batch=True)
    assert limited.suggest("a") and limited.suggest("b")
    assert limited.suggest("c") is None
    limited.on_trial_complete("a", {"loss": 1.0})
    assert limited.suggest("c") is None  # a batch is told as a whole
    limited.on_trial_complete("b", {"loss": 2.0})
    assert limited.suggest("c")
    assert [t.value for t in limited.searcher.study.trials] == [1.0, 2.0, None]


# ---- what Tune hands over ----------------------------------------------------------------


def test_space_metric_and_mode_may_come_from_tune():
    searcher = CoCaBOSearch(seed=1)
    with pytest.raises(cocabo.StateError, match="has no space yet"):
        searcher.suggest("a")
    config = {"net": {"x": tune.uniform(0, 1), "bias": 1}, "epochs": 3}
    assert searcher.set_search_properties("loss", "max", config)
    assert list(searcher.suggest("a")) == ["net"]  # constants are Tune's to keep
    assert list(searcher.suggest("a")["net"]) == ["x"]
    assert (searcher.metric, searcher.mode) == ("loss", "max")
    assert searcher.set_search_properties("loss", "max", config)  # a second fit
    with pytest.raises(ValueError, match="param_space is .*the searcher's study has"):
        searcher.set_search_properties("loss", "max", {"y": tune.uniform(0, 1)})


def test_a_space_of_its_own_is_kept():
    searcher = CoCaBOSearch(XY)
    with pytest.raises(cocabo.StateError, match="has no mode yet"):
        searcher.suggest("a")
    assert not searcher.set_search_properties(None, "min", {"y": tune.uniform(0, 1)})
    assert set(searcher.suggest("a")) == set(XY)
    assert searcher.metric == "_metric"  # Tune's name for what has none
    searcher.set_search_properties("loss", "min", {"constant": 1})
    assert searcher.metric == "loss"


def test_contradictions_and_mistakes_are_named():
    with pytest.raises(ValueError, match="mode is 'min' in CoCaBOSearch and 'max' in Tune"):
        search(None).set_search_properties("loss", "max", {"x": tune.uniform(0, 1)})
    with pytest.raises(ValueError, match="param_space has nothing to search"):
        search(None).set_search_properties("loss", "min", {"x": 1})
    with pytest.raises(ValueError, match="d has a condition"):
        search(None).set_search_properties(
            "loss", "min", {"k": cocabo.Bool(), "d": cocabo.Int(1, 2, when="k")}
        )
    with pytest.raises(ValueError, match=r"metric is \['a', 'b'\], want the name of one"):
        CoCaBOSearch(metric=["a", "b"], mode=["min", "max"])
    with pytest.raises(ValueError, match="mode is 'least'"):
        CoCaBOSearch(metric="a", mode="least")
    with pytest.raises(KeyError, match='no option "horizont", did you mean "horizon"'):
        search(horizont=3)


# ---- saving and restoring ----------------------------------------------------------------


def halfway(**more):
    searcher = search(**more)
    complete(searcher, "abcdefghijkl")
    searcher.suggest("m")
    searcher.on_trial_result("m", {"loss": 5.0, "training_iteration": 1})
    searcher.suggest("n")
    searcher.on_trial_complete("n", error=True)
    return searcher


def told(trial):
    return trial.params, trial.state, trial.value, trial.reason, trial.intermediate_values


@pytest.mark.parametrize("way", ["file", "folder", "pickle", "copy", "state"])
def test_a_restored_searcher_goes_on(tmp_path, way):
    before = halfway()
    if way == "file":
        before.save(str(tmp_path / "state.pkl"))
        after = CoCaBOSearch()
        after.restore(str(tmp_path / "state.pkl"))
    elif way == "folder":
        before.save_to_dir(str(tmp_path))
        after = CoCaBOSearch()
        after.restore_from_dir(str(tmp_path))
    elif way == "state":
        after = CoCaBOSearch()
        after.set_state(before.get_state())
    else:
        after = copy.deepcopy(before) if way == "copy" else pickle.loads(pickle.dumps(before))
    assert list(map(told, after.study.trials)) == list(map(told, before.study.trials))
    assert after.study.options["seed"] == "7" == before.study.options["seed"]
    assert after.suggest("m") == before.suggest("m")  # it is pending, under the same number
    after.on_trial_complete("m", {"loss": 0.125})
    assert after.study.trial(12).value == 0.125 and before.study.trial(12).state == "running"
    new = after.suggest("o")
    assert after.study.trial(14).origin == "sampler"  # the design is over and stays so
    assert new["x"] not in {t.params["x"] for t in before.study.trials}
    assert before.suggest("o") and len(before.study) == 15  # it is a study of its own


def test_the_design_is_not_begun_again(tmp_path):
    """However often it is restored, n_init points are random ones, the library's own number."""
    plain, often, n_init = search(), search(), 0
    for i in range(12):
        complete(plain, [str(i)])
        n_init += plain.study.trial(i).origin == "design"
        often = pickle.loads(pickle.dumps(often))
        often.suggest(str(i))
        assert often.study.trial(i).origin == plain.study.trial(i).origin
        often.on_trial_complete(str(i), {"loss": 1.0})
    assert 0 < n_init < 12


def test_a_searcher_is_saved_before_it_has_a_space():
    after = pickle.loads(pickle.dumps(CoCaBOSearch(metric="loss", mode="min")))
    assert after.set_search_properties(None, None, {"x": tune.uniform(0, 1)})
    assert after.suggest("a")


def test_everything_about_the_study_is_restored():
    before = search(
        {**XY, "y": cocabo.Float(0, 1, when="kind == 'a'")},
        mode="max",
        where=["x < 0.5"],
        constraints=["p99 < 200"],
        sampler="random",
        deterministic=False,
    )
    before.suggest("a")
    before.on_trial_complete("a", {"loss": 1, "p99": 100})
    after = pickle.loads(pickle.dumps(before)).study
    assert after.space == before.study.space and after.where == before.study.where
    assert after.trial(0).metrics == {"p99": 100} and after.trial(0).feasible
    ours, theirs = after.options, before.study.options
    assert {k for k in ours if ours[k] != theirs[k]} == {"n_init"}


def test_a_study_in_a_storage_keeps_what_came_after_the_save(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    points = [{"x": 0.5, "kind": "a"}]
    before = halfway(storage=storage, name="tuned", points_to_evaluate=points)
    before.suggest("running")
    before.save(str(tmp_path / "state.pkl"))
    lost = before.suggest("o")  # neither this one nor the result is in the state
    before.on_trial_complete("m", {"loss": 0.125})
    foreign = cocabo.load_study("tuned", storage=storage, space=XY).ask()
    pickle.loads(pickle.dumps(before))  # a copy of a living searcher takes nothing from it
    assert before.study.trial(15).state == "running"
    del before

    after = CoCaBOSearch()
    after.restore(str(tmp_path / "state.pkl"))
    assert after.study.trial(12).value == 0.125
    assert len(after.study) == 17  # the points to evaluate are not added again
    assert after.study.trial(foreign.number).state == "running"  # somebody else's
    assert after.study.trial(14).state == "running"  # Ray's checkpoint has it
    assert after.suggest("p") == lost
    assert after.study.trial(15).attempt == 1
    after.on_trial_complete("m", {"loss": 0.125})  # Ray evaluated it again
    assert after.study.count("complete") == 13


# ---- runs on a local Ray -----------------------------------------------------------------


def on_ray(test):
    """Marks a test. Ray's own processes are no place for a sanitizer."""
    return pytest.mark.ray(pytest.mark.skipif(SANITIZED, reason="a sanitized library")(test))


def tuner(trainable, folder, space=None, **config):
    # Ray needs a second to start a worker: each serves many trials.
    return tune.Tuner(
        trainable,
        param_space=space,
        tune_config=tune.TuneConfig(reuse_actors=True, **config),
        run_config=tune.RunConfig(storage_path=str(folder), verbose=0),
    )


@on_ray
def test_a_run_of_tune_with_its_own_space_and_failures(cluster, tmp_path):
    def train(config):
        assert config["epochs"] == 3
        if config["net"]["kind"] == "broken":
            raise RuntimeError("out of memory")
        tune.report({"loss": (config["net"]["x"] - 0.3) ** 2 + (config["net"]["kind"] == "b")})

    searcher = CoCaBOSearch(seed=3, n_init=5)
    space = {
        "net": {"x": tune.uniform(-1, 1), "kind": tune.choice(["a", "b", "broken"])},
        "epochs": 3,
    }
    more = {"metric": "loss", "mode": "min", "num_samples": 14, "max_concurrent_trials": 2}
    results = tuner(train, tmp_path, space, search_alg=searcher, **more).fit()
    study = searcher.study
    assert len(study) == 14 == len(results)
    failed = study.count("failed")
    assert 0 < failed == len(results.errors) < 9  # they are learnt from
    assert study.count("complete") == 14 - failed
    best = results.get_best_result()
    assert best.metrics["loss"] == study.best_value < 0.05
    assert best.config["net"] == {k[4:]: v for k, v in study.best_params.items()}


@on_ray
def test_a_run_of_tune_with_our_space_and_a_scheduler(cluster, tmp_path):
    def train(config):
        for step in range(4):
            score = -abs(config["x"] - 0.5) - (config["kind"] == "net") * config.get("depth", 9)
            tune.report({"score": score - 1 / (step + 1)})

    space = {
        "kind": cocabo.Choice(["tree", "net"]),
        "depth": cocabo.Int(1, 5, when="kind == 'net'"),
        "x": cocabo.Float(0, 1),
        "constant": [1, 2],
    }
    searcher = CoCaBOSearch(space, metric="score", mode="max", seed=1, n_init=4)
    scheduler = tune.schedulers.ASHAScheduler(
        metric="score", mode="max", max_t=4, grace_period=1, reduction_factor=2
    )
    more = {"search_alg": searcher, "num_samples": 10, "scheduler": scheduler}
    results = tuner(train, tmp_path, **more).fit()
    assert not results.errors and searcher.study.count("complete") == 10
    best = results.get_best_result("score", "max")
    assert best.config["kind"] == "tree" and "depth" not in best.config
    assert best.config["constant"] == [1, 2]
    steps = [len(t.intermediate_values) for t in searcher.study.trials]
    assert min(steps) < 3 <= max(steps)  # some were stopped early


DRIVER = """
import os, pathlib, sys, time
import ray
from ray import tune
from cocabo.ray import CoCaBOSearch

def train(config):
    time.sleep(0.2)
    with open(os.path.join(config["folder"], "evaluated"), "a") as file:
        file.write(f"{config['x']!r}\\n")
    tune.report({"loss": (config["x"] - 0.3) ** 2})

if __name__ == "__main__":
    folder, what = sys.argv[1:]
    ray.init(log_to_driver=False)  # that of RAY_ADDRESS
    if what == "restore":
        tuner = tune.Tuner.restore(f"{folder}/run", trainable=train)
    else:
        searcher = CoCaBOSearch(metric="loss", mode="min", seed=5, n_init=4)
        tuner = tune.Tuner(
            train,
            param_space={"x": tune.uniform(-1, 1), "folder": folder},
            tune_config=tune.TuneConfig(
                search_alg=searcher, num_samples=14, max_concurrent_trials=2, reuse_actors=True
            ),
            run_config=tune.RunConfig(storage_path=folder, name="run", verbose=0),
        )
    results = tuner.fit()
    assert not results.errors and len(results) == 14, (len(results), results.errors)
"""


@on_ray
def test_a_killed_driver_loses_no_completed_trial(cluster, tmp_path):
    (tmp_path / "driver.py").write_text(DRIVER)
    env = {**os.environ, "TUNE_GLOBAL_CHECKPOINT_S": "0.5", "RAY_AIR_NEW_OUTPUT": "0"}
    line = [sys.executable, str(tmp_path / "driver.py"), str(tmp_path)]
    with open(tmp_path / "log", "wb") as log:
        driver = subprocess.Popen([*line, "start"], env=env, stdout=log, stderr=log)
        wait_for(lambda: saved(tmp_path) >= 4 and halted(driver, tmp_path), driver)
        driver.kill()
        driver.wait()
    known = restored(tmp_path)
    done = [t for t in known.study.trials if t.state == "complete"]
    assert 4 <= len(done) < 14

    after = subprocess.run([*line, "restore"], env=env, capture_output=True, text=True, timeout=300)
    assert after.returncode == 0, after.stdout + after.stderr
    study = restored(tmp_path).study
    assert study.count("complete") == 14 == len(study)  # none was lost, none stayed pending
    for trial in done:
        assert study.trial(trial.number).params == trial.params
        assert study.trial(trial.number).value == trial.value
    evaluated = (tmp_path / "evaluated").read_text().split()
    again = [x for x in {repr(t.params["x"]) for t in done} if evaluated.count(x) > 1]
    assert not again  # Ray did not evaluate what the searcher knew
    assert study.best_value < 0.01


def restored(folder):
    searcher = CoCaBOSearch()
    searcher.restore_from_dir(str(folder / "run"))
    return searcher


def saved(folder):
    """How many complete trials the driver's last checkpoint has."""
    try:
        return restored(folder).study.count("complete")
    except (RuntimeError, EOFError, OSError):  # none yet, or one that is being copied
        return 0


def halted(driver, folder):
    """Stops the driver, unless Ray is copying its checkpoint: a half copied one is Ray's loss."""
    driver.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, driver.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    states = [*folder.glob("run/searcher-state-*.pkl"), *folder.glob("run/search_gen_state-*.json")]
    try:
        for state in states:
            ray.cloudpickle.loads(state.read_bytes())
        for state in folder.glob("run/experiment_state-*.json"):
            json.loads(state.read_text())
    except (EOFError, pickle.UnpicklingError, ValueError):
        driver.send_signal(signal.SIGCONT)
        return False
    assert len(states) == 2, states
    return True


def wait_for(condition, process):
    deadline = time.monotonic() + 150
    while not condition():
        assert process.poll() is None, "the driver ended by itself"
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.1)


@on_ray
@pytest.mark.skipif(
    not (importlib.util.find_spec("optuna") and importlib.util.find_spec("cocabo.optuna")),
    reason="no optuna here",
)
def test_rays_optuna_searcher_takes_our_sampler(cluster, tmp_path):
    from cocabo.optuna import CoCaBOSampler
    from ray.tune.search.optuna import OptunaSearch

    def train(config):
        tune.report({"loss": (config["x"] - 0.3) ** 2 + (config["kind"] == "b")})

    space = {"x": tune.uniform(-1, 1), "kind": tune.choice(["a", "b"])}
    sampler = OptunaSearch(sampler=CoCaBOSampler(seed=1))
    more = {"metric": "loss", "mode": "min", "search_alg": sampler, "num_samples": 14}
    assert tuner(train, tmp_path, space, **more).fit().get_best_result().metrics["loss"] < 0.1
