"""cocabo.sklearn: scikit-learn's own checks of estimators, and what the search does."""

import doctest
import os
import pickle
import signal
import sys
import threading
import warnings

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # these matrices are too small for more

sklearn = pytest.importorskip("sklearn")

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import RandomizedSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import cocabo
from cocabo import Choice, Float, Int
from cocabo.sklearn import CoCaBOSearchCV

X, y = load_iris(return_X_y=True)
C = {"C": Float(1e-4, 1, log=True)}
CLF = LogisticRegression(max_iter=1000)


class Fragile(ClassifierMixin, BaseEstimator):
    """A classifier that cannot be fitted with some settings."""

    def __init__(self, a=0.0, kind="good"):
        self.a = a
        self.kind = kind

    def fit(self, X, y):
        if self.kind == "bad":
            raise MemoryError("too large")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        if self.kind == "unknown":
            return float("nan")
        return -((self.a - 0.3) ** 2) - (self.kind == "worse")


def fragile(kinds, **more):
    space = {"a": Float(0, 1), "kind": Choice(kinds)}
    return CoCaBOSearchCV(Fragile(), space, **{"cv": 2, "random_state": 1, **more})


# ---- scikit-learn's checks ---------------------------------------------------------------

# As for scikit-learn's own searches. It is not about how candidates are found.
EXCLUDED = {
    "check_supervised_y_2d": "BaseSearchCV leaves it to Ridge to warn of a y that is a column"
}


def searches():
    """Of a plain regressor by a range, and of a pipeline with a classifier by a list."""
    more = {"cv": 2, "error_score": "raise", "random_state": 0, "n_iter": 3}
    logistic = Pipeline([("pca", PCA()), ("clf", LogisticRegression())])
    return [
        CoCaBOSearchCV(Ridge(), {"alpha": Float(0.1, 1)}, **more),
        CoCaBOSearchCV(logistic, {"clf__C": [0.1, 1.0]}, **more),
    ]


def excluded(search):
    return EXCLUDED if "Ridge" in repr(search.estimator) else {}


if "expected_failed_checks" in parametrize_with_checks.__code__.co_varnames:

    @parametrize_with_checks(searches(), expected_failed_checks=excluded)
    def test_conforms_to_scikit_learn(estimator, check):
        check(estimator)


# ---- what it finds -----------------------------------------------------------------------


def test_in_place_of_another_search():
    """The same arguments and the same columns, and closer to the best with the same budget."""
    ours, theirs = [], []
    for seed in range(3):
        arguments = (Fragile(), {"a": stats.uniform(0, 1), "kind": ["good", "worse"]})
        more = {"n_iter": 15, "cv": StratifiedKFold(2), "random_state": seed}
        mine = CoCaBOSearchCV(*arguments, **more).fit(X, y)
        other = RandomizedSearchCV(*arguments, **more).fit(X, y)
        assert set(mine.cv_results_) == {*other.cv_results_, "trial"}
        ours.append(mine.best_score_)
        theirs.append(other.best_score_)
    assert np.mean(ours) > 0.1 * np.mean(theirs)  # both are negative


def test_results_attributes_and_study_agree():
    search = CoCaBOSearchCV(CLF, C, n_iter=8, cv=3, random_state=1)
    search.fit(X, y)
    study, results = search.study_, search.cv_results_
    assert study.direction == "maximize" and len(study) == 8
    assert [t.value for t in study.trials] == list(results["mean_test_score"])
    assert [t.params for t in study.trials] == results["params"]
    assert list(results["trial"]) == list(range(8))
    assert search.best_params_ == study.best_params and search.best_score_ == study.best_value
    assert search.best_index_ == study.best_trial.number
    assert search.score(X, y) > 0.9 and search.n_features_in_ == 4
    assert study.trial(0).metrics.keys() == {"mean_test_score", "mean_fit_time", "mean_score_time"}


def test_the_same_random_state_gives_the_same_search():
    def params(random_state):
        search = CoCaBOSearchCV(CLF, C, n_iter=7, cv=2, random_state=random_state)
        return search.fit(X, y).cv_results_["params"]

    assert params(4) == params(4) != params(5)
    assert params(np.random.RandomState(4)) == params(np.random.RandomState(4))
    assert params(None) != params(None)


def test_inactive_parameters_are_not_set_and_masked():
    space = {
        "kernel": Choice(["linear", "poly"]),
        "degree": Int(2, 5, when="kernel == 'poly'"),
        "C": Float(0.1, 10, log=True),
    }
    search = CoCaBOSearchCV(SVC(), space, n_iter=12, cv=2, random_state=1).fit(X, y)
    results = search.cv_results_
    linear = results["param_kernel"] == "linear"
    assert 0 < sum(linear) < 12
    assert list(np.ma.getmaskarray(results["param_degree"])) == list(linear)
    assert all(("degree" in p) == (p["kernel"] == "poly") for p in results["params"])


def test_estimators_are_choices():
    pipe = Pipeline([("scale", StandardScaler()), ("clf", SVC())])
    space = {
        "clf": Choice({"svc": SVC(), "tree": DecisionTreeClassifier(random_state=0)}),
        "clf__C": Float(0.1, 10, log=True, when="clf == 'svc'"),
        "clf__max_depth": Int(1, 4, when="clf == 'tree'"),
        "scale": Choice([StandardScaler(), "passthrough"]),
    }
    search = CoCaBOSearchCV(pipe, space, n_iter=10, cv=2, random_state=2).fit(X, y)
    kinds = {type(p["clf"]) for p in search.cv_results_["params"]}
    assert kinds == {SVC, DecisionTreeClassifier}
    assert search.best_score_ > 0.9
    assert search.study_.trial(0).params["clf"] is search.space["clf"].choices[
        search.space["clf"].choices.index(search.study_.trial(0).params["clf"])
    ]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_candidates_in_batches(n_jobs):
    search = CoCaBOSearchCV(
        CLF, C, n_iter=7, n_points=3, cv=2, n_jobs=n_jobs, random_state=1
    ).fit(X, y)
    assert len(search.study_) == 7 == len(search.cv_results_["params"])
    assert len({p["C"] for p in search.cv_results_["params"]}) == 7
    search.fit(X, y)  # with a study of an earlier fit there
    assert len(search.study_) == 7


def test_a_finite_space_is_searched_through_and_no_more():
    search = CoCaBOSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2, None]}, n_iter=9, cv=2)
    assert len(search.fit(X, y).cv_results_["params"]) == 3
    assert {p["max_depth"] for p in search.cv_results_["params"]} == {1, 2, None}


def test_spaces_of_scipy_and_lists():
    space = {
        "u": stats.uniform(2, 3),
        "l": stats.loguniform(1e-3, 10),
        "r": stats.randint(1, 5),
        "list": ["a", None],
        "array": np.array([1, 2]),
        "range": range(2),
    }
    search = CoCaBOSearchCV(None, space)
    assert search._new_study().space == {
        "u": Float(2, 5),
        "l": Float(1e-3, 10, log=True),
        "r": Int(1, 4),
        "list": Choice(["a", None]),
        "array": Choice([1, 2]),
        "range": Choice([0, 1]),
    }


def test_the_example_of_its_docstring():
    assert doctest.testmod(sys.modules["cocabo.sklearn"]).failed == 0


# ---- metrics and constraints -------------------------------------------------------------


def both(estimator, X, y):
    found = estimator.predict(X)
    return {"acc": accuracy_score(y, found), "f1": f1_score(y, found, average="macro")}


@pytest.mark.parametrize("scoring", [{"acc": "accuracy", "f1": "f1_macro"}, both])
def test_of_several_metrics_refit_names_the_objective(scoring):
    more = {"n_iter": 4, "cv": 2, "random_state": 1, "scoring": scoring}
    search = CoCaBOSearchCV(CLF, C, refit="f1", **more).fit(X, y)
    f1 = search.cv_results_["mean_test_f1"]
    assert [t.value for t in search.study_.trials] == list(f1)
    assert search.study_.trial(0).metrics["mean_test_acc"] == search.cv_results_["mean_test_acc"][0]
    with pytest.raises(ValueError, match="refit is False, want .*one of"):
        CoCaBOSearchCV(CLF, C, refit=False, **more).fit(X, y)


def test_a_refit_function_chooses():
    search = CoCaBOSearchCV(
        CLF, C, n_iter=4, cv=2, refit=lambda results: 2, random_state=1
    ).fit(X, y)
    assert search.best_index_ == 2 and search.best_params_ == search.study_.trial(2).params


def cost_and_score(estimator, X, y):
    return {"score": estimator.a, "cost": 10 * estimator.a}


def test_constraints_are_kept_by_what_is_best():
    search = CoCaBOSearchCV(
        Fragile(),
        {"a": Float(0, 1)},
        n_iter=15,
        cv=2,
        random_state=1,
        scoring=cost_and_score,
        refit="score",
        options={"constraints": ["mean_test_cost < 4"], "n_init": 5},
    ).fit(X, y)
    assert max(search.cv_results_["mean_test_score"]) > 0.4  # some break it
    assert 0.35 < search.best_params_["a"] < 0.4
    assert search.best_params_ == search.study_.best_params
    assert search.best_score_ == search.study_.best_value


# ---- failures ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_points", [1, 3])
def test_failing_fits_are_failed_trials(n_points):
    search = fragile(["good", "bad", "unknown"], n_iter=18, n_points=n_points, random_state=4)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        search.fit(X, y)
    study = search.study_
    assert len(study) == 18
    for trial in study.trials:
        assert (trial.state == "complete") == (trial.params["kind"] == "good")
    bad = [t for t in study.trials if t.params["kind"] == "bad"]
    assert 0 < len(bad) < 9  # they are learnt from
    assert all(t.reason in ("MemoryError: too large", "mean_test_score is nan") for t in bad)
    assert abs(search.best_params_["a"] - 0.3) < 0.1 and search.best_params_["kind"] == "good"
    assert any(w.category is FitFailedWarning for w in seen)
    assert sum("non-finite" in str(w.message) for w in seen) == 1  # not with every batch
    listed = set(search.cv_results_["trial"])
    missing = {t.number for t in study.trials} - listed
    assert missing <= {t.number for t in bad}  # as the class says, where all of a batch failed


def test_where_everything_fails_scikit_learn_says_so():
    with pytest.raises(ValueError, match="All the 2 fits failed"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fragile(["bad"], n_iter=3).fit(X, y)


def test_error_score_raise_raises_and_gives_the_trial_back(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    search = fragile(["bad"], n_iter=3, error_score="raise", storage=storage)
    with pytest.raises(MemoryError):
        search.fit(X, y)
    assert [t.state for t in search.study_.trials] == ["interrupted"]


def test_a_name_that_the_estimator_does_not_have():
    with pytest.raises(ValueError, match="Invalid parameter 'D' for estimator"):
        CoCaBOSearchCV(LogisticRegression(), {"D": [1, 2]}, cv=2).fit(X, y)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"n_iter": 0}, "n_iter is 0, want an integer of at least 1"),
        ({"n_points": 1.5}, "n_points is 1.5, want"),
        ({"space": [C, C]}, "space is .* want a dict of names and domains"),
        ({"space": {"C": stats.norm(0, 1)}}, "C is 'norm', want"),
        ({"space": {"C": stats.loguniform(1, 2, loc=1)}}, "C is 'loguniform', want"),
        ({"space": {"C": "abc"}}, "C is 'abc', want"),
        ({"space": {}}, "parameter"),
    ],
)
def test_mistakes_are_named(more, sentence):
    search = CoCaBOSearchCV(CLF, **{"space": C, "n_iter": 2, "cv": 2, **more})
    with pytest.raises(ValueError, match=sentence):
        search.fit(X, y)


# ---- copies, pickles, storages -----------------------------------------------------------


def test_parameters_are_kept_as_they_were_given():
    space = {**C, "penalty": Choice(["l2", None])}
    search = CoCaBOSearchCV(LogisticRegression(), space, options={"n_init": 3}, storage="x.db")
    assert search.space is space and search.get_params()["options"] == {"n_init": 3}
    twin = clone(search)
    assert twin.get_params(deep=False).keys() == search.get_params(deep=False).keys()
    assert twin.space == space and not hasattr(twin, "study_")
    assert twin.set_params(n_iter=3, estimator__tol=0.1).estimator.tol == 0.1


@pytest.mark.parametrize("stored", [False, True])
def test_a_fitted_search_is_pickled_with_its_study(tmp_path, stored):
    storage = f"sqlite:///{tmp_path}/study.db" if stored else None
    search = fragile(["good", "bad"], n_iter=6, n_points=2, storage=storage)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)
    data = pickle.dumps(search)
    for file in tmp_path.iterdir():  # it opens where the storage is not
        file.unlink()
    again = pickle.loads(data)
    assert [(t.params, t.state, t.value) for t in again.study_.trials] == [
        (t.params, t.state, t.value) for t in search.study_.trials
    ]
    assert (again.predict(X) == search.predict(X)).all()
    assert again.study_.storage is None


def test_a_storage_keeps_what_is_known_for_the_next_fit(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    more = {"n_iter": 6, "cv": 2, "storage": storage, "study_name": "iris", "random_state": 1}
    first = CoCaBOSearchCV(CLF, C, **more).fit(X, y)
    second = CoCaBOSearchCV(CLF, C, **more).fit(X, y)
    assert list(second.cv_results_["trial"]) == list(range(6, 12))
    assert len(cocabo.load_study("iris", storage=storage)) == 12
    assert not {p["C"] for p in first.cv_results_["params"]} & {
        p["C"] for p in second.cv_results_["params"]
    }


class Slow(Fragile):
    def fit(self, X, y):
        if self.a > 0.5:
            signal.raise_signal(signal.SIGINT)
        return super().fit(X, y)


def test_an_interrupted_search_keeps_its_study():
    assert threading.current_thread() is threading.main_thread()
    search = CoCaBOSearchCV(Slow(), {"a": Float(0, 1)}, cv=2, random_state=1)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert search.study_.trials[-1].state == "interrupted"
    assert search.study_.trials[-1].params["a"] > 0.5


class Tasks:
    """A callback of scikit-learn's that keeps what it was called for."""

    def __init__(self):
        self.calls = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **more):
        self.calls.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, **more):
        self.calls.append(("end", context.task_name))


@pytest.mark.skipif(not hasattr(CoCaBOSearchCV, "set_callbacks"), reason="before 1.9")
def test_callbacks_see_the_tasks_of_a_search():
    tasks = Tasks()
    search = fragile(["good"], n_iter=3, n_points=2)
    search.set_callbacks(tasks)
    search.fit(X, y)
    fold = [("begin", "candidate-split-evaluation"), ("end", "candidate-split-evaluation")]
    batches = [
        [("begin", "candidates"), *fold * (2 * n), ("end", "candidates")] for n in (2, 1)
    ]
    inside = [("begin", "search"), *batches[0], *batches[1], ("end", "search")]
    assert [call for call in tasks.calls if call in inside] == inside
