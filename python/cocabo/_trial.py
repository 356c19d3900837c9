"""Trials: what is known of one evaluation, and the handle of one that is running."""

from __future__ import annotations

import math
from ctypes import byref, c_size_t
from typing import TYPE_CHECKING, Any, NamedTuple

from ._native import (
    ABSENT,
    RUN_STATES,
    STATES,
    InvalidError,
    StateError,
    Value,
    check,
    lib,
    shown,
)
from ._space import Choice, Domain, Float, Int, cell_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta
    from typing import Protocol

    class Sink(Protocol):
        """Where a running trial sends what it reports: its study, or a pipe to it."""

        def report(self, trial: int, value: float, step: int) -> None: ...
        def set_trial_attr(self, trial: int, name: str, value: str) -> None: ...


class Run(NamedTuple):
    """One evaluation of a trial that is evaluated run by run.

    ``state`` is "running", "ok", "failed", "capped" (ended at its cap: the value would have
    been more) or "discarded" (it says nothing: given back, a warm-up, or lost).
    """

    trial: int
    run: int  # 0, 1, ... of its trial
    instance: str | None
    seed: int  # 1, 2, ...
    cap: float  # where the value is a time: beyond this the trial cannot win; inf: none
    state: str
    value: float | None
    seconds: float | None  # that it took; None: not known


class FrozenTrial:
    """A snapshot of a trial. ``params`` holds what is active, in the order of the space.

    ``state`` is "waiting", "running", "complete", "failed", "interrupted" or "stale".
    ``value`` is None unless it is complete. ``feasible`` is None where that is not known.
    ``runs`` is empty unless the study is evaluated run by run; ``error`` is then the standard
    error of the value, None where there are fewer than two runs.
    """

    number: int
    state: str
    value: float | None
    params: dict[str, Any]
    metrics: dict[str, float]
    user_attrs: dict[str, str]
    intermediate_values: dict[int, float]
    reason: str  # of a failed one
    feasible: bool | None
    origin: str  # who chose its point: "design", "sampler" or "user"
    attempt: int  # how often it was handed out again
    seed: int  # for the evaluation's own randomness; the same in every attempt
    started: float | None  # seconds since 1970
    finished: float | None
    runs: list[Run]
    error: float | None

    def __init__(self, handle: int, domains: Mapping[str, Domain]):
        """Reads a trial of the library's, which stays the caller's."""
        self.number = lib.cocabo_trial_number(handle)
        self.state = STATES[lib.cocabo_trial_get_state(handle)]
        self.value = _known(lib.cocabo_trial_value(handle))
        self.params = _params(handle, domains)
        self.reason = shown(lib.cocabo_trial_reason(handle))
        self.origin = lib.cocabo_origin_name(lib.cocabo_trial_origin(handle)).decode()
        self.attempt = lib.cocabo_trial_attempt(handle)
        self.seed = lib.cocabo_trial_seed(handle)
        self.started = _known(lib.cocabo_trial_started(handle))
        self.finished = _known(lib.cocabo_trial_finished(handle))
        feasible = lib.cocabo_trial_feasible(handle)
        self.feasible = None if feasible < 0 else bool(feasible)
        n = c_size_t()
        metrics = lib.cocabo_trial_metrics(handle, byref(n))
        self.metrics = {m.name.decode(): m.value for m in metrics[: n.value]}
        attrs = lib.cocabo_trial_attrs(handle, byref(n))
        self.user_attrs = {a.name.decode(): shown(a.value) for a in attrs[: n.value]}
        reports = lib.cocabo_trial_reports(handle, byref(n))
        self.intermediate_values = {r.step: r.value for r in reports[: n.value]}
        runs = lib.cocabo_trial_runs(handle, byref(n))
        self.runs = [read_run(run) for run in runs[: n.value]]
        self.error = _known(lib.cocabo_trial_error(handle))

    @property
    def datetime_start(self) -> datetime | None:
        """When it was last handed out, in local time."""
        return _moment(self.started)

    @property
    def datetime_complete(self) -> datetime | None:
        return _moment(self.finished)

    @property
    def duration(self) -> timedelta | None:
        if self.started is None or self.finished is None:
            return None
        from datetime import timedelta

        return timedelta(seconds=self.finished - self.started)

    def __getitem__(self, name: str) -> Any:
        return self.params[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrozenTrial) and self._told() == other._told()

    __hash__ = None  # type: ignore[assignment]

    def _told(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if not k.startswith("_")}

    def __repr__(self) -> str:
        value = f", value={self.value!r}" if self.value is not None else ""
        return (
            f"{type(self).__name__}(number={self.number}, state={self.state!r}{value}, "
            f"params={self.params!r})"
        )


class _Nowhere:
    """Behind a trial that was sent to another process by other means than optimize."""

    def report(self, trial: int, value: float, step: int) -> None:
        raise StateError(f"trial {trial} is a copy: reports go to the study it came from")

    def set_trial_attr(self, trial: int, name: str, value: str) -> None:
        raise StateError(f"trial {trial} is a copy: attributes go to the study it came from")


class Trial(FrozenTrial):
    """A trial that was asked for and is to be evaluated.

    >>> import cocabo
    >>> study = cocabo.create_study({"x": cocabo.Float(0, 1)}, seed=1)
    >>> trial = study.ask()
    >>> 0 <= trial["x"] <= 1
    True
    """

    run: Run | None  # what is to be evaluated now; None: the trial as a whole
    _sink: Sink
    _domains: Mapping[str, Domain]

    def __init__(
        self,
        handle: int,
        domains: Mapping[str, Domain],
        sink: Sink,
        run: Run | None = None,
    ):
        super().__init__(handle, domains)
        self._sink = sink
        self._domains = domains
        self.run = run
        if run is not None:
            self.seed = run.seed

    @property
    def instance(self) -> str | None:
        """What the run is on; None where there are no instances."""
        return None if self.run is None else self.run.instance

    def report(self, value: float, step: int) -> None:
        """What the value is so far, at a step; kept with the trial."""
        self._sink.report(self.number, value, step)
        self.intermediate_values[step] = float(value)

    def set_user_attr(self, name: str, value: object) -> None:
        """Free text kept with the trial; other objects are kept as their str."""
        self._sink.set_trial_attr(self.number, name, str(value))
        self.user_attrs[name] = str(value)

    def should_prune(self) -> bool:
        """False: trials are not pruned. For objectives that were written for Optuna."""
        return False

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_sink"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _sink=_Nowhere())

    # An objective that was written for Optuna runs as it is where the domains agree.

    def suggest_float(
        self,
        name: str,
        low: float,
        high: float,
        *,
        step: float | None = None,
        log: bool = False,
    ) -> float:
        return float(self._suggest(name, Float(low, high, step=step, log=log)))

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> int:
        return int(self._suggest(name, Int(low, high, step=step, log=log)))

    def suggest_categorical(self, name: str, choices: Any) -> Any:
        return self._suggest(name, Choice(choices))

    def _suggest(self, name: str, wanted: Domain) -> Any:
        domain = self._domains.get(name)
        if domain is None:
            raise InvalidError(
                f"there is no parameter {name}, want one of {list(self._domains)!r}"
            )
        if domain._key()[:-1] != wanted._key()[:-1]:  # whatever its condition
            raise InvalidError(f"{name} is {domain!r} in this study, not {wanted!r}")
        if name not in self.params:
            raise InvalidError(f"{name} is inactive here: want {domain.when}")
        return self.params[name]


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number


def read_run(run: Any) -> Run:
    """A run of the library's as a tuple."""
    return Run(
        run.trial,
        run.run,
        None if run.instance is None else shown(run.instance),
        run.seed,
        run.cap,
        RUN_STATES[run.state],
        _known(run.value),
        run.seconds or None,
    )


def _moment(seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    from datetime import datetime

    return datetime.fromtimestamp(seconds)


def _params(handle: int, domains: Mapping[str, Domain]) -> dict[str, Any]:
    values = (Value * len(domains))()
    check(lib.cocabo_trial_values, handle, values, len(domains))
    return {
        name: domain._decode(cell_of(value))
        for (name, domain), value in zip(domains.items(), values)
        if value.type != ABSENT
    }
