"""CoCaBOSampler: cocabo's model of numbers, categories and conditions as a sampler of Optuna.

    study = optuna.create_study(sampler=cocabo.optuna.CoCaBOSampler(seed=7))
    study.optimize(objective, n_trials=100)

Optuna's studies have no space: it shows in what trials ask for. So a suggestion has two
parts. Evidence (_optuna_space.py) reads from the finished trials which parameters there are
and under which conditions. A _Model is a cocabo study in memory of these parameters. It is
told what is new, running trials of other workers included, and asked once; it is made anew
only when the space turns out to be another.

What no condition explains is served as TPESampler(group=True) does: parameters that always
come together have a model of their own. What has no fixed range is left to the independent
sampler, as is everything in a study's first trial.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

import cocabo

from ._optuna_space import (
    Code,
    Codes,
    Condition,
    Evidence,
    constraints_of,
    domain_of,
    holds,
    suggested,
)

__all__ = ["CoCaBOSampler"]

_PROPOSED = "cocabo:proposed"  # system attribute of a trial: the codes proposed for it
_MOST_METRICS = 64  # of a trial, COCABO_MAX_METRICS
_MOST_PARAMETERS = 200  # of a space, COCABO_MAX_PARAMETERS

_MOST_MEETINGS = 10  # with other workers at one point

_ELSEWHERE: dict[str, str] = dict.fromkeys(
    ("storage", "name", "load_if_exists", "direction", "objective", "where", "trials"),
    "that is for the study of Optuna's",
)
_ELSEWHERE["n_init"] = "want n_startup_trials"
_ELSEWHERE["deterministic"] = "want deterministic_objective"
_ELSEWHERE["constraints"] = "want constraints_func, or trial.set_constraint"

_logger = logging.getLogger(__name__)


# ---- the model ---------------------------------------------------------------------------


def _codes(trial: FrozenTrial) -> Codes:
    """What the trial asked for and, unless it came to its end, what it would have."""
    if trial.state == TrialState.COMPLETE:
        return suggested(trial)
    return {**trial.system_attrs.get(_PROPOSED, {}), **suggested(trial)}


def _inner(distribution: BaseDistribution, code: Code) -> Code:
    """A code as the model's domain has it (see domain_of), and back."""
    if isinstance(distribution, FloatDistribution) and distribution.step is not None:
        return round((code - distribution.low) / distribution.step)
    return code


def _outer(distribution: BaseDistribution, inner: Any) -> Code:
    if isinstance(distribution, FloatDistribution) and distribution.step is not None:
        return min(distribution.low + float(inner) * distribution.step, distribution.high)
    return inner  # type: ignore[no-any-return]


class _Shape(NamedTuple):
    """What a model is of; another shape is another model."""

    space: dict[str, BaseDistribution]  # parents first
    conditions: dict[str, Condition]
    constraints: tuple[str, ...]
    deterministic: bool

    def domains(self) -> dict[str, cocabo.Domain]:
        """Parameters are called p0, p1, ...: Optuna's names may be anything."""
        inner = {name: f"p{i}" for i, name in enumerate(self.space)}
        domains = {}
        for name, distribution in self.space.items():
            terms = [term.text(inner[term.parent]) for term in self.conditions[name]]
            domains[inner[name]] = domain_of(distribution, " and ".join(terms) or None)
        return domains

    def point(self, codes: Mapping[str, Code]) -> Codes | None:
        """Those of the codes that are active; None if the trial is none of this space."""
        point: Codes = {}
        for name, distribution in self.space.items():
            if not holds(self.conditions[name], point):
                continue
            code = codes.get(name)
            if code is None or not distribution._contains(code):
                return None
            point[name] = code
        return point


class _Pending(NamedTuple):
    number: int  # the model's own
    point: Codes


class _Model:
    """A cocabo study in memory that follows a study of Optuna's."""

    def __init__(self, shape: _Shape, study: Study, n_startup: int | None, **options: Any):
        self.shape = shape
        default = min(2 * len(shape.space) + 2, 24)  # as the library's own
        self._n_startup = default if n_startup is None else n_startup
        self._maximize = study.direction == StudyDirection.MAXIMIZE
        self._metrics = {key: f"c{i}" for i, key in enumerate(shape.constraints)}
        if len(self._metrics) > _MOST_METRICS:  # then the worst of them stands for all
            self._metrics = dict.fromkeys(shape.constraints, "c0")
        self._study = cocabo.create_study(
            shape.domains(),
            direction="maximize" if self._maximize else "minimize",
            constraints=[f"{name} <= 0" for name in dict.fromkeys(self._metrics.values())],
            deterministic=shape.deterministic,
            n_init=self._n_startup,
            **options,
        )
        self._designing = True
        self._settled: set[int] = set()  # Optuna's finished trials that it knows
        self._pending: dict[int, _Pending] = {}  # its own, by the number of Optuna's
        self._unwanted: list[_Pending] = []  # those that were not tried after all
        self._best = -math.inf if self._maximize else math.inf

    def follow(self, trials: Sequence[FrozenTrial]) -> None:
        """Learns what became of the trials, and which are running."""
        new = [t for t in trials if t.number not in self._settled]
        retried = {n for t in new for n in t.system_attrs.get("retry_history", ())}
        rows: list[dict[str, Any]] = []
        running: list[tuple[int, int, Codes]] = []  # row, number, point
        for trial in new:
            self._take_over(trial)
            point = self.shape.point(_codes(trial))
            if trial.state.is_finished():
                self._settled.add(trial.number)
                if trial.number not in retried:
                    rows += self._finish(trial, point)
            elif trial.state == TrialState.RUNNING and point is not None:
                if self._is_news(trial.number, point):
                    running.append((len(rows), trial.number, point))
                    rows.append({"params": self._params(point), "state": "running"})
        numbers = self._study.add_trials(rows)
        for row, number, point in running:
            self._pending[number] = _Pending(numbers[row], point)
        self._give_back(trials)

    def _take_over(self, trial: FrozenTrial) -> None:
        """A trial that Optuna repeats since its worker died goes on under a new number."""
        for before in trial.system_attrs.get("retry_history", ()):
            if before in self._pending and before in self._settled:
                self._pending[trial.number] = self._pending.pop(before)

    def _is_news(self, number: int, point: Codes) -> bool:
        """Whether a trial is at another point than that which is pending, if any is."""
        pending = self._pending.get(number)
        if pending is not None and _same(point, pending.point):
            return False
        self._abandon(number)
        return True

    def _finish(self, trial: FrozenTrial, point: Codes | None) -> list[dict[str, Any]]:
        """Tells what was asked for, and returns what is to be added."""
        result, pending = self._result(trial), self._pending.get(trial.number)
        if pending is not None and point is not None and _same(point, pending.point):
            self._study.tell(pending.number, **result)
            del self._pending[trial.number]
            return []
        self._abandon(trial.number)
        return [] if point is None else [{"params": self._params(point), **result}]

    def _abandon(self, number: int) -> None:
        """What was proposed for Optuna's trial is not tried in it."""
        pending = self._pending.pop(number, None)
        if pending is not None:
            self._unwanted.append(pending)

    def _give_back(self, trials: Sequence[FrozenTrial]) -> None:
        """One point that was not tried is for the next ask, unless another trial has seen to
        it: then it stays pending, where it does no harm."""
        while self._unwanted:
            unwanted = self._unwanted.pop()
            points = (self.shape.point(_codes(trial)) for trial in trials)
            tried = any(p is not None and _same(p, unwanted.point) for p in points)
            if not (tried and self.shape.deterministic):
                self._study.tell(unwanted.number, state="interrupted")
                break

    def _result(self, trial: FrozenTrial) -> dict[str, Any]:
        value = trial.value if trial.state == TrialState.COMPLETE else self._pruned(trial)
        if value is None or not math.isfinite(value):
            return {"state": "fail", "reason": f"{trial.state.name.lower()}, value {value}"}
        better = max if self._maximize else min
        if trial.state == TrialState.COMPLETE:
            self._best = better(self._best, value)
        metrics: dict[str, float] = {}
        for key, measured in constraints_of(trial).items():
            name = self._metrics[key]
            metrics[name] = max(measured, metrics.get(name, -math.inf))
        if any(measured == math.inf for measured in metrics.values()):
            return {"state": "fail", "reason": "a constraint is infinite"}
        finite = {name: m for name, m in metrics.items() if math.isfinite(m)}
        return {"value": value, "metrics": finite}

    def _pruned(self, trial: FrozenTrial) -> float | None:
        """Its last report, which is no record: it was pruned for it. None: it failed."""
        if trial.state != TrialState.PRUNED or not trial.intermediate_values:
            return None
        value = trial.intermediate_values[max(trial.intermediate_values)]
        worse = min if self._maximize else max
        return worse(value, self._best) if math.isfinite(self._best) else value

    def ask(self, number: int) -> Codes:
        """The codes to try in Optuna's trial of that number."""
        if number in self._pending:  # asked again: the same trial in another process
            return self._pending[number].point
        if self._designing and len(self._study) >= self._n_startup:
            self._study.change(n_init=0)  # the trials of others count as initial ones
            self._designing = False
        try:
            trial = self._study.ask()
        except cocabo.ExhaustedError:  # all that is left to do is to measure again
            self._study.change(deterministic=False)
            trial = self._study.ask()
        names = {f"p{i}": name for i, name in enumerate(self.shape.space)}
        point: Codes = {}
        for inner, value in trial.params.items():
            point[names[inner]] = _outer(self.shape.space[names[inner]], value)
        self._pending[number] = _Pending(trial.number, point)
        return point

    def yields(self, number: int, trials: Iterable[FrozenTrial]) -> bool:
        """Whether another worker, who could not know, proposed the same point as ask(number)
        did, and it matters. Then it is theirs, and this trial needs another one."""
        mine = self._pending[number]
        for trial in trials if self.shape.deterministic else ():
            if trial.number == number or trial.number in self._settled:
                continue
            theirs = self.shape.point(_codes(trial))
            if theirs is None or not _same(theirs, mine.point):
                continue
            if self._is_news(trial.number, theirs):
                self._pending[trial.number] = self._pending.pop(number)
                return True
        return False

    def _params(self, point: Codes) -> Codes:
        space = self.shape.space
        return {
            f"p{i}": _inner(space[name], point[name])
            for i, name in enumerate(space)
            if name in point
        }


def _same(a: Codes, b: Codes) -> bool:
    """But for what a database may do to the last digits."""
    return a.keys() == b.keys() and all(
        math.isclose(a[name], b[name], rel_tol=1e-9, abs_tol=1e-12) for name in a
    )


# ---- the sampler -------------------------------------------------------------------------


class _Known:
    """What the sampler remembers of one study of Optuna's."""

    def __init__(self) -> None:
        self.evidence = Evidence()
        self.models: list[_Model] = []


class CoCaBOSampler(BaseSampler):
    """Bayesian optimisation of numbers, categories and conditional parameters, in
    milliseconds a suggestion.

    One Gaussian process serves the whole define-by-run space: the conditions under which a
    parameter is suggested are inferred from the trials. Running trials of other workers are
    pending points. Failed trials are avoided, and pruned ones count with their last report.
    Constraints, by ``trial.set_constraint`` or ``constraints_func``, are modelled as measured
    quantities. One objective only.

    Args:
        seed: names the random streams; None: one by chance.
        n_startup_trials: trials before the model is asked; None: two a parameter plus two,
            at most 24.
        independent_sampler: for a study's first trial and for parameters that no model
            serves; None: a TPESampler with the same seed, one parameter at a time.
        constraints_func: as in Optuna's own samplers: from a trial to numbers, of which
            those above 0 are violations.
        deterministic_objective: True: the same parameters always give the same value, so
            none are proposed twice, which in a small space is what one wants. False: values
            are noisy, and what looks best is measured again.
        warn_independent_sampling: whether to say that a parameter is left to the independent
            sampler for good.
        sampler: cocabo's: "mixed", or another of ``cocabo help options``.
        **options: more of these, such as ``model_size=500``.

    >>> import optuna, cocabo.optuna
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> def objective(trial):
    ...     kind = trial.suggest_categorical("kind", ["a", "b"])
    ...     x = trial.suggest_float("x", -2, 2)
    ...     return (x - 1) ** 2 + (kind == "b")
    >>> study = optuna.create_study(sampler=cocabo.optuna.CoCaBOSampler(seed=1))
    >>> study.optimize(objective, n_trials=25)
    >>> study.best_params["kind"]
    'a'
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        n_startup_trials: int | None = None,
        independent_sampler: BaseSampler | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        deterministic_objective: bool = True,
        warn_independent_sampling: bool = True,
        sampler: str = "mixed",
        **options: Any,
    ):
        for name in options:
            if name in _ELSEWHERE:
                raise TypeError(f"CoCaBOSampler has no option {name!r}: {_ELSEWHERE[name]}")
        self._options = {"sampler": sampler, **options}
        said = {**self._options, "seed": seed, "n_init": n_startup_trials}
        probe = {name: value for name, value in said.items() if value is not None}
        cocabo.create_study({"p": cocabo.Float(0, 1)}, **probe).close()  # says what is wrong
        self._seed = seed
        self._n_startup_trials = n_startup_trials
        self._independent_sampler = independent_sampler or TPESampler(
            seed=seed, multivariate=False
        )
        self._constraints_func = constraints_func
        self._deterministic = deterministic_objective
        self._warn_independent_sampling = warn_independent_sampling
        self._warned: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._studies: WeakKeyDictionary[Any, dict[int, _Known]] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """Without models: they are in memory, and made again from the trials."""
        dropped = ("_lock", "_pid", "_studies")
        return {key: value for key, value in self.__dict__.items() if key not in dropped}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()

    def reseed_rng(self) -> None:
        with self._lock:
            self._seed = None
            self._studies.clear()
        self._independent_sampler.reseed_rng()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        self._raise_error_if_multi_objective(study)
        with self._knowing(study) as known:
            known.evidence.update(study._get_trials(deepcopy=False))
            ranges = sorted(known.evidence.ranges.items())
            return {name: r.distribution for name, r in ranges if r.served}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        with self._knowing(study) as known:  # until others can see what is proposed
            trials = study._get_trials(deepcopy=False)
            known.evidence.update(trials)
            known.models = self._models(study, known, search_space)
            for model in known.models:
                model.follow(trials)
            codes = self._propose(study, trial, known.models)
        return {name: search_space[name].to_external_repr(c) for name, c in codes.items()}

    def _propose(self, study: Study, trial: FrozenTrial, models: list[_Model]) -> Codes:
        """For all to see; and again, if another worker did the same at the same time.

        Of two, one at least sees the other. If both do, both propose again, and may meet
        again: hence a limit.
        """
        codes: Codes = {}
        for _ in range(_MOST_MEETINGS):
            codes = {}
            for model in models:
                codes.update(model.ask(trial.number))
            study._storage.set_trial_system_attr(trial._trial_id, _PROPOSED, codes)
            trials = study._get_trials(deepcopy=False)
            if not any(model.yields(trial.number, trials) for model in models):
                break
        return codes

    @contextmanager
    def _knowing(self, study: Study) -> Iterator[_Known]:
        """What is known of a study; forgotten if something goes wrong on the way."""
        if self._pid != os.getpid():
            self._forget()  # a forked child: its parent's handles are not its own
        with self._lock:
            studies = self._studies.setdefault(study._storage, {})
            try:
                yield studies.setdefault(study._study_id, _Known())
            except BaseException:
                studies.clear()
                raise

    def _models(
        self, study: Study, known: _Known, search_space: dict[str, BaseDistribution]
    ) -> list[_Model]:
        """One a part of the space, those that there are if they still fit."""
        evidence = known.evidence
        parts = evidence.parts(search_space)
        varying = {n for n, r in evidence.ranges.items() if not r.distribution.single()}
        spaces = [{n: search_space[n] for n in list(p)[:_MOST_PARAMETERS]} for p in parts]
        # What depends on parameters that a model does not see looks noisy to it.
        exact = self._deterministic and len(spaces) == 1 and varying <= spaces[0].keys()
        models = []
        for space, part in zip(spaces, parts):
            shape = _Shape(space, part, evidence.constraints, exact)
            model = next((m for m in known.models if m.shape == shape), None)
            models.append(model or self._model(shape, study))
        return models

    def _model(self, shape: _Shape, study: Study) -> _Model:
        if self._seed is None:
            self._seed = int.from_bytes(os.urandom(4), "little")
        return _Model(shape, study, self._n_startup_trials, seed=self._seed, **self._options)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        self._raise_error_if_multi_objective(study)
        with self._knowing(study) as known:
            seen = known.evidence.ranges.get(param_name)
            if seen is not None and seen.complaint:
                self._warn(param_name, seen.complaint)
        return self._independent_sampler.sample_independent(
            study, trial, param_name, param_distribution
        )

    def _warn(self, name: str, complaint: str) -> None:
        if self._warn_independent_sampling and name not in self._warned:
            self._warned.add(name)
            _logger.warning(
                "parameter %s is left to %s: %s (or say warn_independent_sampling=False)",
                *(name, self._independent_sampler, complaint),
            )

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        self._independent_sampler.before_trial(study, trial)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        self._independent_sampler.after_trial(study, trial, state, values)
