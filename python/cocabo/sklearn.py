"""A search for hyperparameters in the manner of scikit-learn's own.

    from cocabo import Choice, Float, Int
    from cocabo.sklearn import CoCaBOSearchCV

    search = CoCaBOSearchCV(
        SVC(),
        {
            "C": Float(1e-3, 1e3, log=True),
            "kernel": Choice(["linear", "poly", "rbf"]),
            "degree": Int(2, 5, when="kernel == 'poly'"),
        },
        n_iter=40,
        cv=5,
    ).fit(X, y)
    search.best_params_, search.best_score_, search.cv_results_, search.study_

In place of GridSearchCV and RandomizedSearchCV, with fewer candidates for the same score.
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import FitFailedWarning  # type: ignore[import-untyped]
from sklearn.model_selection._search import BaseSearchCV  # type: ignore[import-untyped]
from sklearn.utils import check_random_state  # type: ignore[import-untyped]

from cocabo import (
    BudgetError,
    Choice,
    Domain,
    ExhaustedError,
    Float,
    Int,
    InvalidError,
    Study,
    Trial,
    create_study,
)

from ._freeze import freeze, thaw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

__all__ = ["CoCaBOSearchCV"]


# ---- spaces ------------------------------------------------------------------------------


def _domain(name: str, value: Any) -> Domain:
    if isinstance(value, Domain):
        return value
    if isinstance(value, (list, tuple, range, np.ndarray)):
        return Choice(list(value))
    family = getattr(getattr(value, "dist", None), "name", None)
    if family in _FAMILIES:
        low, high = map(float, value.support())  # with loc and scale; both ends are in
        if family == "randint":
            return Int(int(low), int(high))
        if family == "uniform":
            return Float(low, high)
        if math.isclose(value.median() ** 2, low * high, rel_tol=1e-6):  # its loc is 0
            return Float(low, high, log=True)
    raise InvalidError(
        f"{name} is {value if family is None else family!r}, want a domain of cocabo's, a list "
        "of choices, or one of scipy.stats: uniform, randint, loguniform without loc"
    )


_FAMILIES = ("uniform", "randint", "loguniform", "reciprocal")  # scipy has two names for one


def _domains(space: Any) -> dict[str, Domain]:
    if not isinstance(space, Mapping):
        raise InvalidError(
            f"space is {space!r}, want a dict of names and domains; what is there only for "
            "some values of others is said by a domain's when="
        )
    return {name: _domain(name, value) for name, value in space.items()}


def _seed(random_state: Any) -> int | None:
    if random_state is None:
        return None
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


# ---- the search --------------------------------------------------------------------------


class CoCaBOSearchCV(BaseSearchCV):  # type: ignore[misc]  # scikit-learn has no types
    """Searches hyperparameters by cross-validation; all else is as in GridSearchCV.

    space is a dict of domains: cocabo's own, lists of choices, and uniform, loguniform and
    randint of scipy.stats. Where a parameter's condition does not hold it is not set, and
    masked in ``cv_results_``. n_iter candidates are evaluated, n_points of them at a time:
    with n_jobs processors and f folds, n_jobs / f of them keep all busy. Of several
    metrics, that of ``refit`` is searched by. A candidate whose fits fail is a failed
    trial, which is learnt from; where all its folds fail and n_points is 1, it is in
    ``study_`` only and not in ``cv_results_``.

    storage and study_name keep the study (see create_study): the next fit with the same
    ones goes on with what is known there. ``cv_results_`` and ``best_params_`` are those of
    one fit. options is a dict of further arguments of create_study, such as
    ``{"where": ["C * gamma < 1"], "constraints": ["mean_fit_time < 2"]}``: the columns
    mean_test_... and mean_..._time of ``cv_results_`` are the metrics of a trial.

    Beside the attributes of GridSearchCV there is ``study_``, the study, and
    ``cv_results_["trial"]``, the numbers of its trials.

    >>> from cocabo import Int
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> search = CoCaBOSearchCV(DecisionTreeClassifier(), {"max_depth": Int(1, 20)},
    ...                         n_iter=6, random_state=1)
    >>> search = search.fit(*load_iris(return_X_y=True))
    >>> search.best_score_ == search.study_.best_value > 0.9
    True
    """

    study_: Study

    def __init__(
        self,
        estimator: Any,
        space: Mapping[str, Any],
        *,
        n_iter: int = 50,
        n_points: int = 1,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        storage: str | PathLike[str] | None = None,
        study_name: str | None = None,
        options: Mapping[str, Any] | None = None,
    ):
        self.space = space
        self.n_iter = n_iter
        self.n_points = n_points
        self.random_state = random_state
        self.storage = storage
        self.study_name = study_name
        self.options = options
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def _new_study(self) -> Study:
        return create_study(
            _domains(self.space),
            direction="maximize",
            storage=self.storage,
            name=self.study_name,
            load_if_exists=self.storage is not None,
            seed=_seed(self.random_state),
            **(self.options or {}),
        )

    def _run_search(
        self, evaluate_candidates: Callable[..., Mapping[str, Any]], *, callback_ctx: Any = None
    ) -> None:
        for name in "n_iter", "n_points":
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < 1:
                raise InvalidError(f"{name} is {value!r}, want an integer of at least 1")
        many = isinstance(self.scoring, (list, tuple, set, dict))
        if many and not isinstance(self.refit, str):
            raise InvalidError(
                f"refit is {self.refit!r}, want the one of several metrics to search by"
            )
        # scikit-learn may send the search to its workers with every fit: it has no study
        # before the end.
        if hasattr(self, "study_"):
            del self.study_
        study = self._new_study()
        evaluate = _Evaluation(self, evaluate_candidates, callback_ctx)
        try:
            for trials in _batches(study, int(self.n_iter), int(self.n_points)):
                evaluate(study, trials)
            evaluate.finish()
        finally:
            self.study_ = study

    # scikit-learn has it as a static method, and calls it on the search.
    def _select_best_index(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, refit: Any, refit_metric: str, results: Any
    ) -> Any:
        """Where there are constraints, the best candidate that keeps them."""
        best = BaseSearchCV._select_best_index(refit, refit_metric, results)
        if callable(refit) or not self.study_.constraints:
            return best
        feasible = np.array([self.study_.trial(int(n)).feasible is True for n in results["trial"]])
        ranks = np.where(feasible, results[f"rank_test_{refit_metric}"], np.iinfo(np.int32).max)
        return ranks.argmin() if feasible.any() else best

    # A pickled search has its study as data, wherever that was stored: a model that goes to
    # another machine must open there.

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        if "study_" in state:
            state = {**state, "study_": freeze(self.study_)}
        return dict(state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "study_" in state:
            self.study_ = thaw(state["study_"])


def _batches(study: Study, n_iter: int, n_points: int) -> Iterator[list[Trial]]:
    left = n_iter
    while left > 0:
        try:
            trials = study.ask(min(n_points, left))
        except (BudgetError, ExhaustedError):
            return
        yield trials
        left -= len(trials)


class _Evaluation:
    """Evaluates batches of trials with scikit-learn's folds, and tells what came of it."""

    def __init__(
        self,
        search: CoCaBOSearchCV,
        evaluate: Callable[..., Mapping[str, Any]],
        context: Any,
    ):
        self._search = search
        self._evaluate = evaluate
        self._failure: ValueError | None = None  # of a batch of which nothing came
        self._evaluated = 0
        self._some_failed = False
        self._task = _begin(context, search, "search", None)

    def __call__(self, study: Study, trials: list[Trial]) -> None:
        try:
            results = self._results(trials)
        except ValueError as e:
            if self._search.error_score == "raise" or "fits failed" not in str(e):
                _give_back(study, trials)
                raise
            # What scikit-learn takes for a mistake where it is all that it evaluates.
            warnings.warn(str(e), FitFailedWarning, stacklevel=2)
            self._failure = e
            for trial in trials:
                study.tell(trial, state="fail", reason=str(e).strip().splitlines()[-1])
        except BaseException:
            _give_back(study, trials)
            raise
        else:
            self._tell(study, trials, results)

    def _tell(self, study: Study, trials: list[Trial], results: Mapping[str, Any]) -> None:
        objective = self._objective(results)
        first = len(results["params"]) - len(trials)
        for i, trial in enumerate(trials, first):
            score = float(results[objective][i])
            if math.isfinite(score):
                study.tell(trial, score, metrics=_metrics(results, i))
            else:
                study.tell(trial, state="fail", reason=f"{objective} is {score}")
                self._some_failed = True
        self._evaluated += len(trials)

    def _results(self, trials: list[Trial]) -> Mapping[str, Any]:
        arguments: dict[str, Any] = {"more_results": {"trial": [t.number for t in trials]}}
        fits = len(trials) * self._search.n_splits_
        task = _begin(self._task, self._search, "candidates", fits)
        if task is not None:
            arguments["callback_ctx"] = task
        results = self._quietly([trial.params for trial in trials], arguments)
        if task is not None:
            task.call_on_fit_task_end(estimator=self._search)
        return results

    def _quietly(self, candidates: list[Any], arguments: dict[str, Any]) -> Mapping[str, Any]:
        """A warning about all candidates so far comes once, not with every further batch."""
        if not self._some_failed:
            return self._evaluate(candidates, **arguments)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "One or more of the .* scores are non-finite")
            return self._evaluate(candidates, **arguments)

    def _objective(self, results: Mapping[str, Any]) -> str:
        for objective in "mean_test_score", f"mean_test_{self._search.refit}":
            if objective in results:
                return objective
        found = [name[10:] for name in results if name.startswith("mean_test_")]
        raise InvalidError(f"refit is {self._search.refit!r}, want one of {found!r}")

    def finish(self) -> None:
        if not self._evaluated and self._failure:
            raise self._failure
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self._search)


def _begin(context: Any, search: CoCaBOSearchCV, name: str, fits: int | None) -> Any:
    """A task for the callbacks of scikit-learn, which has them from its version 1.9 on. One
    that has fits is told how many, and they may come in any order."""
    if context is None:
        return None
    task = context.subcontext(
        task_name=name, max_subtasks=fits, sequential_subtasks=fits is None
    )
    return task.call_on_fit_task_begin(estimator=search)


def _metrics(results: Mapping[str, Any], i: int) -> dict[str, float]:
    names = (name for name in results if name.startswith("mean_") and "_train_" not in name)
    found = {name: float(results[name][i]) for name in names}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _give_back(study: Study, trials: list[Trial]) -> None:
    for trial in trials:
        study.tell(trial, state="interrupted")
