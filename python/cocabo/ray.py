"""A searcher for Ray Tune: cocabo proposes, Ray evaluates.

    from ray import tune
    from cocabo.ray import CoCaBOSearch

    tuner = tune.Tuner(
        train,
        param_space={"lr": tune.loguniform(1e-5, 1e-1), "opt": tune.choice(["sgd", "adam"])},
        tune_config=tune.TuneConfig(
            search_alg=CoCaBOSearch(metric="loss", mode="min"), num_samples=50
        ),
    )

Every trial of Ray's is a trial of one study. Those that run are pending, so that proposals
keep away from each other; those that fail are failed trials, which are learnt from.
"""

from __future__ import annotations

import logging
import math
import re
import uuid
from typing import TYPE_CHECKING, Any

import ray.cloudpickle as pickle
from ray.tune.result import DEFAULT_METRIC
from ray.tune.search import Searcher

from cocabo import (
    BudgetError,
    BusyError,
    Error,
    ExhaustedError,
    InvalidError,
    StateError,
    Study,
    create_study,
)

from ._freeze import freeze, thaw
from ._ray_space import converted, domains, filled, flat, name_of, params_of, without_constants

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from cocabo import Domain

__all__ = ["CoCaBOSearch"]

_log = logging.getLogger(__name__)
_STEP = "training_iteration"  # the key of Ray's results


def _number(value: Any) -> float:
    """Python's float of what a trainable reported; NaN if it is no number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


class CoCaBOSearch(Searcher):
    """Proposes with cocabo what Ray Tune evaluates.

    space is a dict of Tune's domains, or of cocabo's own, which may have conditions; it may
    be nested and hold constants. Without it, it is the ``param_space`` of the Tuner.
    points_to_evaluate are tried first or, with evaluated_rewards, are known results.
    storage is where the study lives (see create_study), None: in memory and in Ray's own
    checkpoints. The options are those of create_study: name, sampler, where, constraints,
    n_init, ... Metrics that constraints name are taken from Ray's results.

    >>> import cocabo
    >>> search = CoCaBOSearch({"lr": cocabo.Float(1e-5, 1, log=True), "epochs": 3},
    ...                       metric="loss", mode="min", seed=1)
    >>> config = search.suggest("trial-a")
    >>> sorted(config)
    ['epochs', 'lr']
    >>> search.on_trial_complete("trial-a", {"loss": 0.25})
    >>> search.study.best_value
    0.25
    """

    def __init__(
        self,
        space: Mapping[str, Any] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        evaluated_rewards: Sequence[float] | None = None,
        seed: int | None = None,
        storage: str | PathLike[str] | None = None,
        **options: Any,
    ):
        if metric is not None and not isinstance(metric, str):
            raise InvalidError(f"metric is {metric!r}, want the name of one metric")
        if mode not in (None, "min", "max"):
            raise InvalidError(f"mode is {mode!r}, want 'min' or 'max'")
        points = list(points_to_evaluate or ())
        rewards = None if evaluated_rewards is None else list(evaluated_rewards)
        if rewards is not None and len(rewards) != len(points):
            raise InvalidError(
                f"there are {len(rewards)} evaluated_rewards, want one for each of the "
                f"{len(points)} points_to_evaluate"
            )
        super().__init__(metric=metric, mode=mode)
        self._spec = None if space is None else converted(dict(space))
        self._own_space = space is not None  # not the Tuner's param_space
        self._points, self._rewards = points, rewards
        self._seed, self._storage, self._options = seed, storage, options
        self._numbers: dict[str, int] = {}  # of the study's trials, by Ray's ids
        self._owner = uuid.uuid4().hex
        self._study: Study | None = None
        self._open()

    @property
    def study(self) -> Study:
        """All that is known so far; StateError until the space and the mode are known."""
        if self._study is None:
            lacking = "space" if self._spec is None else "mode"
            raise StateError(
                f"CoCaBOSearch has no {lacking} yet: give it metric=, mode= and space=, "
                "or the Tuner a param_space and a TuneConfig with metric and mode"
            )
        return self._study

    @staticmethod
    def convert_search_space(spec: dict[str, Any]) -> dict[str, Domain]:
        """Tune's domains as cocabo's, those of nested dicts under joined names.

        >>> from ray import tune
        >>> CoCaBOSearch.convert_search_space({"net": {"layers": tune.randint(1, 5)}})
        {'net/layers': Int(1, 4)}
        """
        return flat(converted(spec))

    def _open(self) -> None:
        """Makes the study as soon as all is known that it takes."""
        if self._study is not None or self._spec is None or self._mode is None:
            return
        self._metric = self._metric or DEFAULT_METRIC
        self._study = create_study(
            flat(self._spec),
            direction="minimize" if self._mode == "min" else "maximize",
            storage=self._storage,
            load_if_exists=self._storage is not None,
            seed=self._seed,
            **self._options,
        )
        if len(self._study) == 0:
            rewards: Sequence[float | None] = self._rewards or [None] * len(self._points)
            self._study.add_trials(map(self._known, self._points, rewards))

    def _known(self, config: Mapping[str, Any], value: Any) -> dict[str, Any]:
        """A trial to add: with None one to be tried, with NaN a failed one."""
        params = params_of(self._spec, config)
        if value is None:
            return {"params": params, "state": "waiting"}
        if not math.isfinite(_number(value)):
            return {"params": params, "state": "fail", "reason": f"{self.metric} is {value!r}"}
        return {"params": params, "value": _number(value)}

    def set_search_properties(
        self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any
    ) -> bool:
        named = None if self._metric == DEFAULT_METRIC else self._metric
        for what, own, theirs in ("metric", named, metric), ("mode", self._mode, mode):
            if own and theirs and own != theirs:
                raise InvalidError(f"{what} is {own!r} in CoCaBOSearch and {theirs!r} in Tune")
        self._metric, self._mode = named or metric or self._metric, self._mode or mode
        if not self._own_space:
            self._take_param_space(config)
        self._open()
        return not self._own_space

    def _take_param_space(self, config: dict[str, Any]) -> None:
        spec = without_constants(converted(config))
        for path, domain in domains(spec):
            if domain.when is not None:
                raise InvalidError(
                    f"{name_of(path)} has a condition, and Tune would leave its domain in the "
                    "config where it is inactive: give the space to CoCaBOSearch(space=...)"
                )
        if not spec:
            raise InvalidError(
                "param_space has nothing to search: want a domain such as tune.uniform(0, 1)"
            )
        if self._study is not None and flat(spec) != self._study.space:
            raise InvalidError(
                f"param_space is {flat(spec)!r}, the searcher's study has {self._study.space!r}"
            )
        self._spec = spec

    # -- what Tune asks and tells

    def suggest(self, trial_id: str) -> Any:
        study = self.study
        if trial_id in self._numbers:
            return filled(self._spec, study.trial(self._numbers[trial_id]).params)
        try:
            trial = study.ask()
        except (BudgetError, ExhaustedError):
            return Searcher.FINISHED
        except BusyError:
            return None  # Tune asks again
        self._numbers[trial_id] = trial.number
        trial.set_user_attr("ray_trial", trial_id)
        trial.set_user_attr("ray_searcher", self._owner)
        return filled(self._spec, trial.params)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        number = self._numbers.get(trial_id)
        value, step = _number(result.get(self.metric)), result.get(_STEP)
        if number is None or step is None or not math.isfinite(value):
            return
        try:
            self.study.report(number, value, int(step))
        except Error as e:  # nothing depends on it
            _log.warning("trial %s: %s", trial_id, e)

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        number = self._numbers.get(trial_id)
        if number is None:
            _log.warning("trial %s was not suggested by this searcher", trial_id)
        elif error:
            self.study.tell(number, state="fail", reason="the trial failed in Ray")
        elif result is not None and self.metric in result:
            self._tell(number, result)
        else:
            self._stopped(trial_id, number, result)

    def _tell(self, number: int, result: dict[str, Any]) -> None:
        said = result[self.metric]
        value = _number(said)
        if not math.isfinite(value):
            self.study.tell(number, state="fail", reason=f"{self.metric} is {said!r}")
            return
        named = (re.split("[<>]", text)[0].strip(" `") for text in self.study.constraints)
        measured = {name: _number(result.get(name)) for name in named}
        metrics = {name: x for name, x in measured.items() if math.isfinite(x)}
        self.study.tell(number, value, metrics=metrics)

    def _stopped(self, trial_id: str, number: int, result: dict[str, Any] | None) -> None:
        """It ended without the metric: a scheduler stopped it while it was paused or pending,
        or it never reported one. What it reported last counts."""
        trial = self.study.trial(number)
        if trial.state != "running":
            return
        if trial.intermediate_values:
            self.study.tell(number, trial.intermediate_values[max(trial.intermediate_values)])
        elif result is None:  # it has not begun: the point is offered again, to another
            self.study.tell(number, state="interrupted")
            del self._numbers[trial_id]
        else:
            self.study.tell(number, state="fail", reason=f"{self.metric} was not reported")

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        row = self._known(parameters, math.nan if error or value is None else value)
        row["intermediate_values"] = dict(enumerate(intermediate_values or ()))
        self.study.add_trials([row])

    # set_max_concurrency is Ray's: it says that a ConcurrencyLimiter is to count by itself.

    # -- saving and restoring: the whole study, or where it lives

    def get_state(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_study"}
        state["_numbers"] = dict(self._numbers)
        in_memory = self._study is not None and self._storage is None
        state["_frozen"] = freeze(self.study) if in_memory else None
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        state = dict(state)
        frozen = state.pop("_frozen")
        self.__dict__.update(state)
        self._study = None if frozen is None else thaw(frozen)
        self._open()

    __getstate__ = get_state
    __setstate__ = set_state

    def save(self, checkpoint_path: str) -> None:
        with open(checkpoint_path, "wb") as file:
            pickle.dump(self.get_state(), file)  # type: ignore[no-untyped-call]

    def restore(self, checkpoint_path: str) -> None:
        with open(checkpoint_path, "rb") as file:
            self.set_state(pickle.load(file))
        if self._study is not None and self._storage is not None:
            self._give_back_lost(self._study)

    def _give_back_lost(self, study: Study) -> None:
        """A storage has trials that were asked for after the state was saved: Ray has
        forgotten them, and their points are offered again."""
        known = set(self._numbers.values())
        for trial in study.trials:
            mine = trial.user_attrs.get("ray_searcher") == self._owner
            if mine and trial.state == "running" and trial.number not in known:
                study.tell(trial, state="interrupted")
