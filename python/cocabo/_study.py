"""Studies: ask and tell, what came of it, and how studies are made and found.

A Study owns a handle of the library, which is for one thread at a time: a lock sees to
that. While the library thinks, the interpreter's lock is released and signals are looked
at, so that Ctrl-C ends an ask.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import weakref
from ctypes import byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from . import _native
from ._native import (
    COMPLETE,
    FAILED,
    RUN_STATES,
    RUNNING,
    STATES,
    STORE_CREATE,
    WAITING,
    Attr,
    InvalidError,
    Known,
    Metric,
    NotFoundError,
    Record,
    StateError,
    Step,
    check,
    lib,
    text,
)
from ._space import (
    ABSENT_CELL,
    Cell,
    Domain,
    Space,
    Values,
    read_domains,
    read_rules,
    values_of,
)
from ._trial import FrozenTrial, Trial, read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence


class Prediction(NamedTuple):
    """What the model expects at a point."""

    mean: float
    sd: float  # the model's own uncertainty, without noise
    p_feasible: float  # 1 where there are neither constraints nor failures


class Importance(NamedTuple):
    """How much of the variation of the values each parameter accounts for."""

    shares: dict[str, float]  # the largest first; their sum is 1
    errors: dict[str, float]  # their standard errors
    explained: float  # of the variance of unseen trials; near 0 the shares mean nothing


class Report(NamedTuple):
    """What verify found; ``ok`` if every proposal came out as it was."""

    events: int
    trials: int
    replayed: int
    differing: int
    first_differing: int  # a trial's number, or -1
    foreign: int  # proposals of another version of a sampler
    foreign_differing: int
    unchecked: int  # events without a checksum, from before there were any
    passed_over: int  # events that only a later version knows

    @property
    def ok(self) -> bool:
        return self.differing == 0


# ---- stores ------------------------------------------------------------------------------


class _Store:
    """The library's store of a URL, or one in memory."""

    def __init__(self, storage: str | os.PathLike[str] | None, *, create: bool = True):
        self.storage = None if storage is None else os.fspath(storage)
        self.pid = os.getpid()
        handle = c_void_p()
        if self.storage is None:
            handle.value = lib.cocabo_store_new_memory()
            if not handle.value:
                raise MemoryError("no memory for a store")
        else:
            url = text(self.storage, "storage")
            flags = STORE_CREATE if create else 0
            check(lib.cocabo_store_open, byref(handle), url, flags)
        self.handle = _owned(handle)
        self._free = weakref.finalize(self, _free_store, self.handle, self.pid)

    def close(self) -> None:
        self._free()


def _free_store(handle: int, pid: int) -> None:
    if os.getpid() == pid:  # a forked child must leave SQLite's files alone
        lib.cocabo_store_free(handle)


class _Signals:
    """Looks at signals while the library is at work, and keeps what a handler raised.

    The library calls ``poll`` and ``hear``, sends of generators: these go on inside a try,
    whereas a handler may run, and raise, before the first line of a function; ctypes would
    print that and lose it. ``hear`` is max, because that is written in C and sends each of
    its arguments.
    """

    def __init__(self) -> None:
        self._raised: list[BaseException] = []
        poller, listener = _poll(self._raised), _listen(self._raised)
        next(poller)
        next(listener)
        self.poll = poller.send
        self.hear = functools.partial(max, key=listener.send)

    def __enter__(self) -> None:
        self._raised.clear()

    def __exit__(self, kind: object, value: BaseException | None, _: object) -> None:
        if self._raised and (value is None or isinstance(value, KeyboardInterrupt)):
            raise self._raised.pop() from None


def _poll(raised: list[BaseException]) -> Generator[int, object, None]:
    """Yields 0 as long as nothing was raised."""
    while True:
        try:
            while True:
                yield len(raised)
                _check_signals()
        except GeneratorExit:
            return
        except BaseException as e:
            raised.append(e)


def _listen(raised: list[BaseException]) -> Generator[int, object, None]:
    """Logs what the library says: is sent a pointer, a level and a sentence, in turn."""
    level = 0
    while True:
        try:
            while True:
                told = yield 0
                if isinstance(told, int):
                    level = told
                elif isinstance(told, bytes):
                    _log(level, told)
        except GeneratorExit:
            return
        except BaseException as e:
            raised.append(e)


def _signals_by_bytecode() -> None:
    """PyPy looks at signals between any two of its instructions, at a jump at the latest."""
    for _ in range(2):
        pass


_check_signals: Callable[[], object] = getattr(
    getattr(ctypes, "pythonapi", None), "PyErr_CheckSignals", _signals_by_bytecode
)


# ---- arguments ---------------------------------------------------------------------------


def _option_text(name: str, value: object) -> str:
    if name == "instances" and not isinstance(value, str):
        return _lines(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (str, int, float)):
        return str(value)
    raise InvalidError(f"{name} is {value!r}, want a str, a number or a bool")


def _lines(instances: Any) -> str:
    """A list of instances as the library takes them, one a line."""
    if not hasattr(instances, "__iter__"):
        raise InvalidError(f"instances is {instances!r}, want a list of them")
    lines = [str(instance) for instance in instances]
    for line in lines:
        if not line or "\n" in line:
            raise InvalidError(f"an instance is {line!r}, want a line of text")
    return "\n".join(lines)


def _listed(what: str, items: Iterable[str]) -> list[str]:
    if isinstance(items, str):
        raise InvalidError(f"{what} is {items!r}, want a list of them")
    return list(items)


class _Options:
    """The library's handle of options, for the time of a ``with``."""

    def __init__(self, options: Mapping[str, object]):
        self._options = options

    def __enter__(self) -> int:
        self._handle = lib.cocabo_options_new()
        if not self._handle:
            raise MemoryError("no memory for options")
        try:
            for name, value in self._options.items():
                said = text(_option_text(name, value), name)
                check(lib.cocabo_options_set, self._handle, text(name, "an option"), said)
        except BaseException:
            lib.cocabo_options_free(self._handle)
            raise
        return int(self._handle)

    def __exit__(self, *_: object) -> None:
        lib.cocabo_options_free(self._handle)


def _metrics_array(metrics: Mapping[str, float]) -> Any:
    array = (Metric * len(metrics))()
    for item, (name, value) in zip(array, metrics.items()):
        item.name = text(name, "the name of a metric")
        item.value = _measured(name, value)
    return array


def _measured(name: str, value: Any) -> float:
    try:
        if isinstance(value, (str, bytes)):  # float would read it
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise InvalidError(f"{name} is {value!r}, want a number") from None


def _attrs_array(attrs: Mapping[str, object]) -> Any:
    array = (Attr * len(attrs))()
    for item, (name, value) in zip(array, attrs.items()):
        item.name = text(name, "the name of an attribute")
        item.value = text(str(value), f"attribute {name}")
    return array


_KNOWN_STATES = {
    "complete": COMPLETE,
    "fail": FAILED,
    "failed": FAILED,
    "waiting": WAITING,
    "running": RUNNING,
}


def _known_state(state: str) -> int:
    if not isinstance(state, str) or state.lower() not in _KNOWN_STATES:
        raise InvalidError(f"state is {state!r}, want one of {list(_KNOWN_STATES)!r}")
    return _KNOWN_STATES[state.lower()]


class _Rows:
    """Known trials as the library takes them, and all that they borrow."""

    def __init__(self, study: Study, rows: Sequence[Mapping[str, Any]]):
        self._kept: list[object] = []
        self.array = (Known * len(rows))()
        for row, known in zip(rows, self.array):
            unknown = set(row) - _ROW_KEYS
            if unknown:
                raise InvalidError(
                    f"a trial has {sorted(unknown)!r}, want only {sorted(_ROW_KEYS)!r}"
                )
            self._fill(study, known, **row)

    def _fill(
        self,
        study: Study,
        known: Any,
        *,
        params: Mapping[str, Any],
        value: float | None = None,
        metrics: Mapping[str, float] | None = None,
        state: str = "complete",
        reason: str | None = None,
        user_attrs: Mapping[str, object] | None = None,
        intermediate_values: Mapping[int, float] | None = None,
    ) -> None:
        known.state = _known_state(state)
        values = study._point(params)
        known.values = values.array
        self._kept.append(values)
        if known.state == COMPLETE:
            value, metrics = study._result(value, metrics)
            known.value = value
        known.reason = text(reason or "", "reason")
        if metrics and known.state == COMPLETE:
            known.metrics = self._keep(_metrics_array(metrics))
            known.n_metrics = len(metrics)
        if user_attrs:
            known.attrs = self._keep(_attrs_array(user_attrs))
            known.n_attrs = len(user_attrs)
        if intermediate_values:
            steps = (Step * len(intermediate_values))()
            for step, (number, so_far) in zip(steps, intermediate_values.items()):
                step.step, step.value = number, so_far
            known.reports = self._keep(steps)
            known.n_reports = len(steps)

    def _keep(self, array: Any) -> Any:
        self._kept.append(array)
        return array


_ROW_KEYS = {
    "params",
    "value",
    "metrics",
    "state",
    "reason",
    "user_attrs",
    "intermediate_values",
}

# ---- studies -----------------------------------------------------------------------------


class Study:
    """A search for the best point of a space; made by create_study or load_study.

    It may be used from several threads. What other processes did to the same study is
    learnt by ask, tell and sync.

    >>> import cocabo
    >>> study = cocabo.create_study({"x": cocabo.Float(-2, 2)}, seed=1)
    >>> for _ in range(20):
    ...     trial = study.ask()
    ...     study.tell(trial, (trial["x"] - 1) ** 2)
    >>> abs(study.best_params["x"] - 1) < 0.1
    True
    """

    def __init__(self, store: _Store, handle: int, space: Mapping[str, Domain] | None):
        """For this module: owns the store and the handle from here on."""
        self._free = weakref.finalize(self, _free_study, handle, store)
        self._lock = threading.RLock()
        self._store = store
        self._handle: int | None = handle
        self._c_space: int = lib.cocabo_study_space(handle)
        self._space = dict(read_domains(self._c_space) if space is None else space)
        self._signals = _Signals()
        self._on_interrupt = _native.InterruptFn(self._signals.poll)
        lib.cocabo_study_on_interrupt(handle, self._on_interrupt, None)
        self._on_log = _native.LogFn(self._signals.hear)
        lib.cocabo_study_on_log(handle, self._on_log, None)
        self._busy = False
        self._stopped = False

    # -- what it is

    @property
    def name(self) -> str:
        return self._text(lib.cocabo_study_name) or ""

    @property
    def storage(self) -> str | None:
        """The URL or path that it was opened with; None: in memory."""
        return self._store.storage

    @property
    def space(self) -> dict[str, Domain]:
        return dict(self._space)

    @property
    def where(self) -> list[str]:
        """The rules, as the library writes them."""
        with self._lock:
            self._open()
            return read_rules(self._c_space)

    @property
    def direction(self) -> str:
        return self.option("direction")

    @property
    def sampler(self) -> str:
        return self.option("sampler")

    @property
    def constraints(self) -> list[str]:
        return [c.strip() for c in self.option("constraints").split(",") if c.strip()]

    @property
    def instances(self) -> list[str]:
        """What every trial is run on; empty where there are none."""
        return [line for line in self.option("instances").split("\n") if line]

    @property
    def has_runs(self) -> bool:
        """Whether trials are evaluated run by run: by instances, seeds or repeats."""
        pairs = self.option("instances") != "" or self.option("seeds") != "0"
        return pairs or self.option("repeats") != "1"

    @property
    def objective(self) -> str:
        """The metric that is the value, "value" unless it was named otherwise."""
        return self._text(lib.cocabo_study_attr, b"objective") or "value"

    @property
    def options(self) -> dict[str, str]:
        """All options and their present values, as text."""
        return {name: self.option(name) for name in option_names()}

    def option(self, name: str) -> str:
        """The present value of an option, as text."""
        value = self._text(lib.cocabo_study_option, text(name, "an option"))
        if value is None:
            raise NotFoundError(f"there is no option {name}")
        return value

    def change(self, **options: object) -> None:
        """Changes options of the living study, for everybody who works on it.

        Constraints may be a list, as in create_study.
        """
        said = dict(options)
        if not isinstance(said.get("constraints", ""), str):
            said["constraints"] = ", ".join(said["constraints"])  # type: ignore[arg-type]
        names = (c_char_p * len(said))(*(text(name, "an option") for name in said))
        values = (c_char_p * len(said))(
            *(text(_option_text(name, value), name) for name, value in said.items())
        )
        self._call(lib.cocabo_study_change, names, values, len(said))

    def user_attr(self, name: str) -> str | None:
        """Text kept with the study under a name; None if there is none."""
        return self._text(lib.cocabo_study_attr, text(name, "the name of an attribute"))

    def set_user_attr(self, name: str, value: object) -> None:
        said = text(str(value), f"attribute {name}")
        self._call(lib.cocabo_study_set_attr, text(name, "the name of an attribute"), said)

    # -- ask and tell

    @overload
    def ask(self) -> Trial: ...
    @overload
    def ask(self, n: None) -> Trial: ...
    @overload
    def ask(self, n: int) -> list[Trial]: ...
    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """A trial to evaluate; with n a list of up to n, chosen jointly.

        There are fewer than n where the budget or a finite space is nearly used up, and
        BudgetError or ExhaustedError where nothing is left.
        """
        if n is not None and n < 1:
            raise InvalidError(f"n is {n}, want at least 1")
        if self.has_runs:
            raise StateError(f"study {self.name} is evaluated run by run, want ask_run()")
        wanted = 1 if n is None else n
        handles = (c_void_p * wanted)()
        got = c_size_t()
        with self._lock:
            try:
                self._call(lib.cocabo_study_ask_up_to, wanted, handles, byref(got))
                made = [handle for handle in handles[: got.value] if handle]
                trials = [Trial(handle, self._space, self) for handle in made]
            except BaseException:  # Ctrl-C after the fact: nobody will know of them
                for handle in handles[: got.value]:
                    number = lib.cocabo_trial_number(handle)
                    lib.cocabo_study_interrupt(self._handle, number, None)
                raise
            finally:
                for handle in handles:
                    lib.cocabo_trial_free(handle)
        return trials[0] if n is None else trials

    def ask_run(self) -> Trial:
        """The next run of a study that is evaluated run by run; it belongs to a new trial or
        to one that there is.

        The trial's ``run`` says which: ``trial.instance``, ``trial.seed``, ``trial.run.cap``.
        BudgetError where nothing is to be done, now or at all.

        >>> import cocabo
        >>> study = cocabo.create_study(
        ...     {"x": cocabo.Float(0, 1)}, instances=["easy", "hard"], runs=2, seed=1
        ... )
        >>> for _ in range(2):
        ...     trial = study.ask_run()
        ...     study.tell_run(trial, trial["x"] + (trial.instance == "hard"))
        >>> sorted(run.instance for run in study.best_trial.runs)
        ['easy', 'hard']
        """
        handle, run = c_void_p(), _native.Run()
        with self._lock:
            try:
                self._call(lib.cocabo_study_ask_run, byref(handle), byref(run))
                return Trial(_owned(handle), self._space, self, read_run(run))
            except BaseException:  # Ctrl-C after the fact: nobody will know of it
                if handle.value is not None:
                    run.state = RUN_STATES.index("discarded")
                    lib.cocabo_study_tell_run(self._handle, byref(run), None, 0, None, None)
                raise
            finally:
                lib.cocabo_trial_free(handle)

    def tell_run(
        self,
        trial: FrozenTrial | int,
        value: float | None = None,
        *,
        run: int | None = None,
        metrics: Mapping[str, float] | None = None,
        seconds: float = 0.0,
        state: str | None = None,
        reason: str | None = None,
    ) -> None:
        """How a run ended; when it returns, the store has it.

        trial is what ask_run gave or, with the run's number, any trial. A value, or metrics
        among which the objective is; state="capped" with a value that was cut off: it would
        have been more. state="fail" with a reason makes its trial failed. state="interrupted"
        gives the run back. The first result of a run counts.
        """
        said = _native.Run(trial=_number_of(trial), run=_run_of(trial, run))
        word = ("ok" if reason is None else "fail") if state is None else state
        if word not in _RUN_WORDS:
            raise InvalidError(f"state is {state!r}, want one of {list(_RUN_WORDS)!r}")
        said.state = RUN_STATES.index(_RUN_WORDS[word])
        said.seconds = _measured("seconds", seconds)
        others: dict[str, float] = {}
        if _RUN_WORDS[word] in ("ok", "capped"):
            said.value, others = self._result(value, metrics)
        elif value is not None or metrics is not None:
            raise InvalidError(f"a run that is {word} has no value and no metrics")
        why = None if reason is None else text(reason, "reason")
        array = _metrics_array(others) if others else None
        self._call(lib.cocabo_study_tell_run, byref(said), array, len(others), why)

    def count_runs(self, *, running: bool = False) -> int:
        """How many runs there are but for discarded ones, or are not over."""
        flying = c_int64()
        n = int(self._plain(lib.cocabo_study_runs, byref(flying)))
        return flying.value if running else n

    def tell(
        self,
        trial: FrozenTrial | int,
        value: float | None = None,
        *,
        metrics: Mapping[str, float] | None = None,
        state: str | None = None,
        reason: str | None = None,
        user_attrs: Mapping[str, object] | None = None,
    ) -> None:
        """The result of a trial; when it returns, the store has it.

        A value, or metrics among which the objective is ("value" unless it was named
        otherwise); or state="fail" with a reason; or state="interrupted", and the same point
        is offered again. A value that is not finite makes the trial failed. The first result
        of a trial counts. Of a trial that ask_run gave it is the result of that run.
        """
        if isinstance(trial, Trial) and trial.run is not None:
            if user_attrs:
                self._note(trial.number, user_attrs)
            self.tell_run(trial, value, metrics=metrics, state=state, reason=reason)
            return
        number = _number_of(trial)
        if state is None:
            state = "complete" if reason is None else "fail"
        said = state.lower() if isinstance(state, str) else state
        if said == "interrupted":
            self._give_back(trial)
            return
        record = Record()
        if said == "complete":
            value, others = self._result(value, metrics)
            record.value = ctypes.pointer(c_double(value))
            if others:
                record.metrics, record.n_metrics = _metrics_array(others), len(others)
        elif said in ("fail", "failed"):
            if value is not None or metrics is not None:
                raise InvalidError("a failed trial has no value and no metrics")
            if isinstance(trial, FrozenTrial) and not user_attrs:
                why = text(reason or "", "reason")
                self._call(lib.cocabo_study_fail_attempt, number, trial.attempt, why)
                return
            record.reason = text(reason or "", "reason")
        else:
            raise InvalidError(
                f"state is {state!r}, want 'complete', 'fail' or 'interrupted'"
            )
        if user_attrs:
            record.attrs, record.n_attrs = _attrs_array(user_attrs), len(user_attrs)
        self._call(lib.cocabo_study_record, number, byref(record))

    def _give_back(self, trial: FrozenTrial | int) -> None:
        if isinstance(trial, FrozenTrial):
            check_attempt = lib.cocabo_study_interrupt_attempt
            self._call(check_attempt, trial.number, trial.attempt)
        else:
            self._call(lib.cocabo_study_interrupt, _number_of(trial))

    def _result(
        self, value: float | None, metrics: Mapping[str, float] | None
    ) -> tuple[float, dict[str, float]]:
        """The value, and what was measured beside it."""
        others = dict(metrics or {})
        if value is None:
            name = self.objective
            if name not in others:
                raise InvalidError(
                    f"there is no value: want a number, or {name!r} among the metrics"
                )
            value = others.pop(name)
        return _measured("value", value), others

    def report(self, trial: FrozenTrial | int, value: float, step: int) -> None:
        """What the value of a trial is so far, at a step."""
        number = _measured("value", value)
        self._call(lib.cocabo_study_report, _number_of(trial), step, number)

    def set_trial_attr(self, trial: FrozenTrial | int, name: str, value: object) -> None:
        """Text kept with a trial under a name."""
        self._note(_number_of(trial), {name: value})

    def _note(self, number: int, attrs: Mapping[str, object]) -> None:
        record = Record()
        record.attrs, record.n_attrs = _attrs_array(attrs), len(attrs)
        self._call(lib.cocabo_study_record, number, byref(record))

    def retry(self, trial: FrozenTrial | int) -> None:
        """Puts a failed trial back: its point is offered again, under its number."""
        self._call(lib.cocabo_study_retry, _number_of(trial))

    # -- what is known from elsewhere

    def enqueue_trial(
        self,
        params: Mapping[str, Any],
        *,
        user_attrs: Mapping[str, object] | None = None,
        skip_if_exists: bool = False,
    ) -> int:
        """A point that the next ask hands out: all that is active; returns its number.

        With skip_if_exists, the number of the trial that has this very point, if there is one.
        """
        if skip_if_exists:
            for trial in self.trials:
                if trial.params == dict(params):
                    return trial.number
        return self.add_trial(params, state="waiting", user_attrs=user_attrs)

    def add_trial(
        self,
        params: Mapping[str, Any],
        value: float | None = None,
        *,
        metrics: Mapping[str, float] | None = None,
        state: str = "complete",
        reason: str | None = None,
        user_attrs: Mapping[str, object] | None = None,
        intermediate_values: Mapping[int, float] | None = None,
    ) -> int:
        """A trial that was made elsewhere; returns its number.

        state is "complete", "fail", "waiting" (to be tried) or "running" (somebody else is
        at it: it counts, and is never offered).
        """
        row: dict[str, Any] = dict(params=params, value=value, metrics=metrics, state=state)
        row.update(reason=reason, user_attrs=user_attrs)
        return self.add_trials([{**row, "intermediate_values": intermediate_values}])[0]

    def add_trials(self, trials: Iterable[Mapping[str, Any]]) -> list[int]:
        """Many of them at one stroke, all or none: dicts of add_trial's arguments.

        >>> import cocabo
        >>> study = cocabo.create_study({"x": cocabo.Float(0, 1)})
        >>> study.add_trials([{"params": {"x": 0.25}, "value": 3.0},
        ...                   {"params": {"x": 0.5}, "state": "fail"}])
        [0, 1]
        """
        rows = _Rows(self, list(trials))
        if len(rows.array):
            self._call(lib.cocabo_study_add_many, rows.array, len(rows.array))
        return [known.number for known in rows.array]

    def _point(self, params: Mapping[str, Any]) -> Values:
        """The values of a point in the order of the space; inactive ones are left out."""
        unknown = [name for name in params if name not in self._space]
        if unknown:
            raise InvalidError(
                f"there is no parameter {unknown[0]}, want {list(self._space)!r}"
            )
        cells: list[Cell] = [
            domain._encode(name, params[name]) if name in params else ABSENT_CELL
            for name, domain in self._space.items()
        ]
        return values_of(cells, "a value")

    # -- what came of it

    def __len__(self) -> int:
        return int(self._plain(lib.cocabo_study_count))

    def __bool__(self) -> bool:  # a study without trials is a study
        return True

    def __iter__(self) -> Iterator[FrozenTrial]:
        return iter(self.trials)

    @property
    def trials(self) -> list[FrozenTrial]:
        """All trials by number, those of other processes included."""
        with self._lock:
            self._call(lib.cocabo_study_sync)
            return [self._snapshot(number) for number in range(len(self))]

    def get_trials(self, states: Iterable[str] | None = None) -> list[FrozenTrial]:
        """All trials, or those in one of the states."""
        wanted = STATES if states is None else _listed("states", states)
        for state in wanted:
            _check_state(state)
        return [trial for trial in self.trials if trial.state in wanted]

    def trial(self, number: int) -> FrozenTrial:
        with self._lock:
            self._call(lib.cocabo_study_sync)
            return self._snapshot(number)

    def _snapshot(self, number: int) -> FrozenTrial:
        handle = c_void_p()
        self._call(lib.cocabo_study_trial, number, byref(handle))
        return self._frozen(handle)

    def count(self, state: str | None = None) -> int:
        """How many trials there are, or are in a state."""
        if state is None:
            return len(self)
        _check_state(state)
        return int(self._plain(lib.cocabo_study_count_state, STATES.index(state)))

    @property
    def best_trial(self) -> FrozenTrial:
        """The best complete trial that is feasible; StateError until there is one.

        While none is feasible, the one with the least violation. Where values are noisy,
        the one whose point has the best mean in the model.
        """
        handle = c_void_p()
        with self._lock:
            self._call(lib.cocabo_study_sync)
            try:
                self._call(lib.cocabo_study_best, byref(handle))
            except NotFoundError as e:
                raise StateError(str(e)) from None
            return self._frozen(handle)

    @property
    def best_params(self) -> dict[str, Any]:
        return self.best_trial.params

    @property
    def best_value(self) -> float:
        value = self.best_trial.value
        assert value is not None
        return value

    def expected(self, trial: FrozenTrial | int) -> tuple[float, float]:
        """The mean of a noisy trial's point in the model, and its standard error."""
        mean, se = c_double(), c_double()
        number = _number_of(trial)
        self._call(lib.cocabo_study_expected, number, byref(mean), byref(se))
        return mean.value, se.value

    def importances(self) -> dict[str, float]:
        """Each parameter's share in the variation of the values, the largest first."""
        return self._importance(errors=False).shares

    def importance(self) -> Importance:
        """The same with standard errors, and how well it is founded; takes longer."""
        return self._importance(errors=True)

    def _importance(self, *, errors: bool) -> Importance:
        n = len(self._space)
        shares, se, explained = (c_double * n)(), (c_double * n)(), c_double()
        with self._lock:
            self._call(lib.cocabo_study_sync)
            self._call(
                lib.cocabo_study_importance,
                *(n, shares, se if errors else None, byref(explained)),
            )
        found = sorted(zip(self._space, shares, se), key=lambda item: -item[1])
        return Importance(
            {name: share for name, share, _ in found},
            {name: error for name, _, error in found},
            explained.value,
        )

    @overload
    def predict(self, params: Mapping[str, Any]) -> Prediction: ...
    @overload
    def predict(self, params: Sequence[Mapping[str, Any]]) -> list[Prediction]: ...
    def predict(
        self, params: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> Prediction | list[Prediction]:
        """What the sampler's model expects at a point, or at each of a list of points."""
        one = hasattr(params, "items")
        points: Any = [params] if one else params
        n, width = len(points), len(self._space)
        if n == 0:
            return []
        values = [self._point(point) for point in points]  # they hold the texts
        array = (_native.Value * (n * width))()
        for i, row in enumerate(values):
            for j in range(width):
                array[i * width + j] = row.array[j]
        mean, sd, p = (c_double * n)(), (c_double * n)(), (c_double * n)()
        self._call(lib.cocabo_study_predict, array, n, mean, sd, p)
        found = [Prediction(*row) for row in zip(mean, sd, p)]
        return found[0] if one else found

    def trials_dataframe(self, library: str | None = None) -> Any:
        """All trials as a table of pandas or, where that is not there, of polars."""
        from ._frame import dataframe

        return dataframe(self, library)

    def verify(self, proposals: int | None = None) -> Report:
        """Checks the log, and makes all proposals, or the last so many, again."""
        report = _native.Report()
        batches = -1 if proposals is None else proposals
        self._call(lib.cocabo_study_verify, batches, byref(report))
        return Report(*(getattr(report, name) for name in Report._fields))

    def sync(self) -> None:
        """Learns what other processes did to the study."""
        self._call(lib.cocabo_study_sync)

    # -- optimize

    def optimize(
        self,
        func: Callable[[Trial], Any],
        n_trials: int | None = None,
        timeout: float | None = None,
        n_jobs: int = 1,
        *,
        n_runs: int | None = None,
        backend: str = "thread",
        catch: type[Exception] | Iterable[type[Exception]] = (),
        callbacks: Sequence[Callable[[Study, FrozenTrial], None]] = (),
        show_progress_bar: bool = False,
    ) -> None:
        """Asks, evaluates and tells, n_trials times or until the timeout (seconds).

        func takes a trial and returns its value, or a dict of metrics with the objective
        among them. An exception makes the trial failed and is raised again, unless it is
        one of ``catch``. n_jobs trials are evaluated at a time, -1: one a processor; by
        threads, or with backend="process" by processes of their own, which may crash: that
        fails their trial only. func and its module must then be importable by others.

        Where trials are evaluated run by run, func is called for each run: ``trial.instance``
        and ``trial.seed`` say which it is. It ends after n_runs of them, or when n_trials more
        are complete or failed.
        """
        from ._optimize import optimize

        optimize(
            self,
            func,
            n_trials=n_trials,
            timeout=timeout,
            n_jobs=n_jobs,
            n_runs=n_runs,
            backend=backend,
            catch=_exceptions(catch),
            callbacks=callbacks,
            show_progress_bar=show_progress_bar,
        )

    def stop(self) -> None:
        """Ends optimize after the trials that are running; for callbacks and functions."""
        self._stopped = True

    # -- its life

    def close(self) -> None:
        """Releases the study and, of a file, its connection; further calls fail."""
        with self._lock:
            self._handle = None
            self._free()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self.storage is None:
            raise TypeError(
                f"study {self.name} is in memory and cannot be sent elsewhere: "
                "create it with a storage"
            )
        return _reopen, (self.name, self.storage, self._space)

    def __repr__(self) -> str:
        if self._handle is None:
            return "<cocabo.Study, closed>"
        where = f", {self.storage}" if self.storage else ""
        return f"<cocabo.Study {self.name!r}, {len(self)} trials{where}>"

    def _repr_html_(self) -> str:
        from ._html import study_page

        return study_page(self)

    # -- how the library is called

    def _open(self) -> int:
        if self._handle is None:
            raise StateError("the study is closed")
        if self._store.pid != os.getpid():
            raise StateError("the study belongs to the process that opened it: open it again")
        return self._handle

    def _call(self, function: Callable[..., int], *arguments: Any) -> None:
        with self._lock:
            handle = self._open()
            if self._busy:
                raise StateError("the study is at work: a signal's handler must not use it")
            self._busy = True
            try:
                with self._signals:
                    check(function, handle, *arguments)
            finally:
                self._busy = False

    def _plain(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with self._lock:
            return function(self._open(), *arguments)

    def _text(self, function: Callable[..., Any], *arguments: Any) -> str | None:
        value = self._plain(function, *arguments)
        return None if value is None else _native.shown(value)

    def _frozen(self, handle: c_void_p) -> FrozenTrial:
        """A snapshot of a trial of the library's, which is freed."""
        try:
            return FrozenTrial(_owned(handle), self._space)
        finally:
            lib.cocabo_trial_free(handle)


def _free_study(handle: int, store: _Store) -> None:
    if os.getpid() == store.pid:
        lib.cocabo_study_free(handle)
    store.close()


def _log(level: int, sentence: bytes) -> None:
    import logging

    logging.getLogger("cocabo").log(level, "%s", _native.shown(sentence))


def _exceptions(
    catch: type[Exception] | Iterable[type[Exception]],
) -> tuple[type[Exception], ...]:
    kinds = (catch,) if isinstance(catch, type) else tuple(catch)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise InvalidError(f"catch has {kind!r}, want classes of exceptions")
    return kinds


def _check_state(state: str) -> None:
    if state not in STATES:
        raise InvalidError(f"state is {state!r}, want one of {list(STATES)!r}")


def _number_of(trial: FrozenTrial | int) -> int:
    if isinstance(trial, FrozenTrial):
        return trial.number
    if isinstance(trial, bool) or not isinstance(trial, int):
        raise InvalidError(f"trial is {trial!r}, want a trial or its number")
    return trial


# What a run may be told to be, and the library's name for it.
_RUN_WORDS = {
    "ok": "ok",
    "complete": "ok",
    "capped": "capped",
    "fail": "failed",
    "failed": "failed",
    "interrupted": "discarded",
    "discarded": "discarded",
}


def _run_of(trial: FrozenTrial | int, run: int | None) -> int:
    if run is not None:
        return run
    if isinstance(trial, Trial) and trial.run is not None:
        return trial.run.run
    raise InvalidError("which run? Want what ask_run gave, or run=")


def _reopen(name: str, storage: str, space: Mapping[str, Domain]) -> Study:
    return load_study(name, storage=storage, space=space)


def option_names() -> list[str]:
    names: list[str] = []
    while (name := lib.cocabo_option_name(len(names))) is not None:
        names.append(name.decode())
    return names


# ---- making and finding studies ----------------------------------------------------------


def create_study(
    space: Mapping[str, Domain],
    *,
    direction: str = "minimize",
    storage: str | os.PathLike[str] | None = None,
    name: str | None = None,
    load_if_exists: bool = False,
    sampler: str = "mixed",
    seed: int | None = None,
    where: Sequence[str] = (),
    constraints: Sequence[str] = (),
    objective: str | None = None,
    **options: object,
) -> Study:
    """A new study; with load_if_exists, the one of that name if the storage has it.

    storage is a path or URL, such as "study.db" or "sqlite:///study.db"; None: memory. where
    are rules that every proposal keeps, constraints bounds on metrics ("p99 < 200"). With
    instances (a list), seeds or repeats trials are evaluated run by run: see ask_run;
    repeats mean deterministic=False unless that is given. The other options are those of ``cocabo help options``. Without a seed there is one by chance,
    which is kept with the study. A study that is there keeps the options that it has.

    >>> import cocabo
    >>> study = cocabo.create_study(
    ...     {
    ...         "kernel": cocabo.Choice(["linear", "poly", "rbf"]),
    ...         "C": cocabo.Float(1e-3, 1e3, log=True),
    ...         "degree": cocabo.Int(2, 5, when="kernel == 'poly'"),
    ...     },
    ...     direction="maximize",
    ...     where=["degree <= 3 or C < 10"],
    ...     seed=7,
    ... )
    >>> sorted(study.ask().params) in (["C", "kernel"], ["C", "degree", "kernel"])
    True
    """
    _check_names(sampler, options)
    if seed is None:
        seed = int.from_bytes(os.urandom(4), "little")
    said: dict[str, object] = {"direction": direction, "sampler": sampler, "seed": seed}
    if str(options.get("repeats", 1)) != "1":  # what is repeated has noise
        said["deterministic"] = False
    said.update(options)
    if constraints:
        said["constraints"] = ", ".join(_listed("constraints", constraints))
    store = _Store(storage)
    handle, created = c_void_p(), c_int(1)
    title = text("default" if name is None else name, "name")
    try:
        with Space(space, where) as c_space, _Options(said) as c_options:
            arguments = (title, c_space, c_options, store.handle)
            if load_if_exists:
                check(
                    lib.cocabo_study_open_or_create,
                    *(byref(handle), *arguments, byref(created)),
                )
            else:
                check(lib.cocabo_study_create, byref(handle), *arguments)
    except BaseException:
        store.close()
        raise
    study = Study(store, _owned(handle), space)
    if objective is not None:
        _name_objective(study, objective, bool(created.value))
    return study


# What Optuna calls otherwise, or has and we have not.
_OPTUNAS = {
    "study_name": "want name=",
    "n_trials": "want optimize(f, n_trials=...), or trials= for the whole study",
    "directions": "want direction=: there is one objective",
    "pruner": "trials report values but are not pruned",
    "n_startup_trials": "want n_init=",
}


def _check_names(sampler: object, options: Mapping[str, object]) -> None:
    for name in options:
        if name in _OPTUNAS:
            raise InvalidError(f"there is no option {name}: {_OPTUNAS[name]}")
    if not isinstance(sampler, str):
        raise InvalidError(f"sampler is {sampler!r}, want the name of one, such as 'mixed'")


def _owned(handle: c_void_p) -> int:
    assert handle.value is not None
    return handle.value


def _name_objective(study: Study, objective: str, created: bool) -> None:
    if created:
        study.set_user_attr("objective", objective)
    elif study.objective != objective:
        raise StateError(
            f"the objective of study {study.name} is {study.objective}, not {objective}"
        )


def load_study(
    name: str | None = None,
    *,
    storage: str | os.PathLike[str],
    space: Mapping[str, Domain] | None = None,
) -> Study:
    """A study that is there; name may be left out where the storage has only one.

    Without its space, choices that are no scalars are their texts. With it, the domains must
    be those of the study.
    """
    store = _Store(storage, create=False)
    handle = c_void_p()
    try:
        title = text(_only_study(store) if name is None else name, "name")
        check(lib.cocabo_study_open, byref(handle), title, store.handle)
    except BaseException:
        store.close()
        raise
    study = Study(store, _owned(handle), space)
    if space is not None:
        with Space(space, study.where) as c_space:
            same = lib.cocabo_space_equal(c_space, study._c_space)
        if not same:
            theirs = read_domains(study._c_space)
            study.close()
            raise StateError(f"the space of study {title.decode()} is {theirs!r}")
    return study


def _only_study(store: _Store) -> str:
    names = _names(store)
    if len(names) != 1:
        listed = ", ".join(names[:10]) or "none"
        raise NotFoundError(f"which study of {store.storage}? There are {listed}")
    return names[0]


def _names(store: _Store) -> list[str]:
    found = c_void_p()
    check(lib.cocabo_store_studies, store.handle, byref(found))
    try:
        n = lib.cocabo_names_count(found)
        return [lib.cocabo_names_at(found, i).decode() for i in range(n)]
    finally:
        lib.cocabo_names_free(found)


def study_names(storage: str | os.PathLike[str]) -> list[str]:
    """The studies of a storage, in the order they were created."""
    store = _Store(storage, create=False)
    try:
        return _names(store)
    finally:
        store.close()


def delete_study(name: str, *, storage: str | os.PathLike[str]) -> None:
    """Deletes a study with all its trials."""
    store = _Store(storage, create=False)
    try:
        check(lib.cocabo_store_delete, store.handle, text(name, "name"))
    finally:
        store.close()

