"""optimize: asks, evaluates and tells, several trials at a time.

Every job is a loop in a thread: take a trial, evaluate it, tell its result. Evaluating
is a call in that thread or, with backend="process", a message to a process of the
thread's own, which may crash without harm. A single job of threads runs in the caller's
thread, so that Ctrl-C reaches the function.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ._native import BudgetError, BusyError, Error, ExhaustedError, InvalidError, lib, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._study import Study
    from ._trial import FrozenTrial, Trial

LEASE_SECONDS = 60.0


class TrialFailed(Exception):
    """Raised by a function that is tuned: this trial has no value, and that is no bug."""


class Outcome(NamedTuple):
    """What came of an evaluation: a result, or an exception with its sentence."""

    result: Any = None
    error: BaseException | None = None


def optimize(
    study: Study,
    func: Callable[[Trial], Any],
    *,
    n_trials: int | None,
    timeout: float | None,
    n_jobs: int,
    n_runs: int | None,
    backend: str,
    catch: tuple[type[Exception], ...],
    callbacks: Sequence[Callable[[Study, FrozenTrial], None]],
    show_progress_bar: bool,
) -> None:
    if backend not in ("thread", "process"):
        raise InvalidError(f"backend is {backend!r}, want 'thread' or 'process'")
    if n_jobs == -1:
        n_jobs = os.cpu_count() or 1
    if n_jobs < 1:
        raise InvalidError(f"n_jobs is {n_jobs}, want at least 1, or -1")
    if n_trials is not None and n_trials < 0:
        raise InvalidError(f"n_trials is {n_trials}, want at least 0")
    if n_runs is not None and (n_runs < 0 or not study.has_runs):
        raise InvalidError(f"n_runs is {n_runs}, want at least 0, and a study with runs")
    budget = study.option("trials") != "0" or study.option("runs") != "0"
    if n_trials is None and n_runs is None and timeout is None and not budget:
        _warn_endless()
    study._stopped = False
    take = _Runs if study.has_runs else _Run
    run = take(study, n_runs if study.has_runs else n_trials, timeout, catch, callbacks)
    if isinstance(run, _Runs) and n_trials is not None:
        run.until = run.count_over() + n_trials
    bar = _Bar(study, n_trials) if show_progress_bar else None
    run.bar = bar
    with _Lease(study):
        try:
            if backend == "thread" and n_jobs == 1:
                run.loop(func)
            else:
                _run_jobs(run, func, n_jobs, backend)
        finally:
            run.give_back()
    if bar:
        bar.close()
    if run.raised is not None:
        raise run.raised


def _warn_endless() -> None:
    import warnings

    warnings.warn(
        "optimize has neither n_trials nor a timeout and runs until it is stopped",
        stacklevel=4,
    )


class _Run:
    """What the jobs share: how much is left to do, and what went wrong."""

    def __init__(
        self,
        study: Study,
        left: int | None,
        timeout: float | None,
        catch: tuple[type[Exception], ...],
        callbacks: Sequence[Callable[[Study, FrozenTrial], None]],
    ):
        self.study = study
        self.raised: BaseException | None = None
        self.bar: _Bar | None = None
        self._left = left
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._catch = (*catch, TrialFailed)
        self._callbacks = callbacks
        self._lock = threading.Lock()
        self._open: dict[int, Trial] = {}  # by id: asked for, and not yet told

    def take(self) -> Trial | None:
        """The next trial; None if this run is over."""
        with self._lock:
            late = self._deadline is not None and time.monotonic() >= self._deadline
            if self.study._stopped or late or self._left == 0:
                return None
            if self._left is not None:
                self._left -= 1
        try:
            trial = self.ask()
            if trial is not None:
                self._open[id(trial)] = trial
            return trial
        except (BudgetError, ExhaustedError) as e:
            import logging

            logging.getLogger("cocabo").info("optimize ends: %s", e)
            self.study.stop()
            return None

    def ask(self) -> Trial | None:
        return self.study.ask()

    def loop(self, evaluate: Callable[[Trial], Any]) -> None:
        """One job: takes trials until there are no more."""
        while (trial := self.take()) is not None:
            try:
                outcome = Outcome(evaluate(trial))
            except Exception as e:
                outcome = Outcome(error=e)
            if not isinstance(outcome.error, _GivenUp):
                self.finish(trial, outcome)

    def finish(self, trial: Trial, outcome: Outcome) -> None:
        error = outcome.error
        if error is None:
            error = self._tell(trial, outcome.result)
        if error is not None:
            self.study.tell(trial, state="fail", reason=_reason(error))
            if not isinstance(error, self._catch):
                self.fail(error)
        self._open.pop(id(trial), None)
        with self._lock:
            done = self.study._snapshot(trial.number)
            if self.bar:
                self.bar.draw()
            for callback in self._callbacks:
                callback(self.study, done)

    def _tell(self, trial: Trial, result: Any) -> Exception | None:
        """Tells what a function returned; what is no result is the function's error."""
        try:
            if hasattr(result, "items"):
                self.study.tell(trial, metrics=result)
            else:
                self.study.tell(trial, result)
        except InvalidError as e:
            return InvalidError(f"trial {trial.number} returned {result!r}: {e}")
        return None

    def give_back(self) -> None:
        """What Ctrl-C or an exit left without a result is offered again."""
        for trial in self._open.values():
            try:
                self.study.tell(trial, state="interrupted")
            except Error:  # it was told in the last moment
                pass

    def fail(self, error: BaseException) -> None:
        """The first exception ends the run, after the trials that are running."""
        if self.raised is None:
            self.raised = error
        self.study.stop()


class _Runs(_Run):
    """The same of a study that is evaluated run by run: what is left are runs."""

    until: int | None = None  # complete and failed trials

    def count_over(self) -> int:
        return self.study.count("complete") + self.study.count("failed")

    def ask(self) -> Trial | None:
        """Where nothing is to be done as long as others run, it waits for them."""
        while self.until is None or self.count_over() < self.until:
            try:
                return self.study.ask_run()
            except BudgetError:
                late = self._deadline is not None and time.monotonic() >= self._deadline
                if self.study._stopped or late or not self._open:
                    raise
            time.sleep(0.02)
        self.study.stop()
        return None


def _reason(error: BaseException) -> str:
    said = str(error)
    if isinstance(error, TrialFailed):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


# ---- several jobs ------------------------------------------------------------------------


def _run_jobs(run: _Run, func: Callable[[Trial], Any], n_jobs: int, backend: str) -> None:
    children = [_Child(func, run.study) for _ in range(n_jobs)] if backend == "process" else []

    def job(i: int) -> None:
        try:
            run.loop(children[i].evaluate if children else func)
        except BaseException as e:
            run.fail(e)
        finally:
            if children:
                children[i].close()

    threads = [
        threading.Thread(target=job, args=(i,), name=f"cocabo-{i}", daemon=True)
        for i in range(n_jobs)
    ]
    try:
        for thread in threads:  # Ctrl-C may come while the first has a trial already
            thread.start()
        for thread in threads:
            while thread.is_alive():  # a join without end would not hear of Ctrl-C
                thread.join(0.1)
    except BaseException:
        run.study.stop()
        for child in children:
            child.give_up()
        for thread in threads:
            if thread.ident is not None:  # it was started
                thread.join()
        raise


class _GivenUp(Exception):
    """In place of a result: the process was ended with the run."""


class _Child:
    """A process that evaluates trials for one job, made anew after a crash."""

    def __init__(self, func: Callable[[Trial], Any], study: Study):
        import multiprocessing
        import pickle

        self._context = multiprocessing.get_context("spawn")
        self._study = study
        self._func = func
        self._process: Any = None
        self._given_up = False
        try:
            pickle.dumps(func)
        except Exception as e:
            raise InvalidError(
                f"{getattr(func, '__qualname__', func)} cannot be sent to a process ({e}): "
                "want a function of a module, or backend='thread'"
            ) from None

    def _start(self) -> Any:
        self._pipe, theirs = self._context.Pipe()
        self._process = self._context.Process(
            target=_serve, args=(self._func, theirs), daemon=True
        )
        self._process.start()
        theirs.close()
        return self._process

    def evaluate(self, trial: Trial) -> Any:
        process = self._process
        if process is None or not process.is_alive():
            process = self._start()
        if self._given_up:  # while it was starting
            process.kill()
        try:
            self._pipe.send(trial)
            while True:
                kind, *said = self._pipe.recv()
                if kind == "report":
                    self._study.report(trial, *said)
                elif kind == "attr":
                    self._study.set_trial_attr(trial, *said)
                elif kind == "raised":
                    raise said[0]
                else:
                    return said[0]
        except (EOFError, ConnectionError):
            process.join()
            if self._given_up:
                raise _GivenUp from None
            raise TrialFailed(_how_it_ended(process.exitcode)) from None

    def give_up(self) -> None:
        self._given_up = True
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        if self._process is None:
            return
        self._pipe.close()  # the process hears the end and leaves
        self._process.join(1.0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        import signal

        try:
            return f"the process was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"the process was ended by signal {-code}"
    return f"the process ended with exit status {code}"


class _PipeSink:
    """Reports of a trial go through the pipe to the process that has the study."""

    def __init__(self, pipe: Any):
        self._pipe = pipe

    def report(self, trial: int, value: float, step: int) -> None:
        self._pipe.send(("report", float(value), int(step)))

    def set_trial_attr(self, trial: int, name: str, value: str) -> None:
        self._pipe.send(("attr", name, value))


def _serve(func: Callable[[Trial], Any], pipe: Any) -> None:
    """The life of a child: trials in, results out, until the pipe ends."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent to answer
    while True:
        try:
            trial = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        trial._sink = _PipeSink(pipe)
        try:
            message: tuple[Any, ...] = ("result", func(trial))
        except Exception as e:
            message = ("raised", e)
        try:
            pipe.send(message)
        except BrokenPipeError:
            return
        except Exception:  # what it raised or returned cannot be sent: its text can
            pipe.send(("raised", RuntimeError(f"{_reason_of(message)}")))


def _reason_of(message: tuple[Any, ...]) -> str:
    kind, said = message
    return _reason(said) if kind == "raised" else f"returned {said!r}, which cannot be sent"


# ---- leases ------------------------------------------------------------------------------


class _Lease:
    """Leases for what is asked for, renewed by a thread: should this process die, its
    trials are offered again. What is in memory dies with it and needs none."""

    def __init__(self, study: Study):
        self._study = study

    def __enter__(self) -> None:
        self._over = threading.Event()
        if self._study.storage is None:
            return
        from ._native import owner_name

        self._owner = owner_name()
        self._study._call(lib.cocabo_study_lease, self._owner, LEASE_SECONDS)
        self._thread = threading.Thread(target=self._renew, name="cocabo-lease", daemon=True)
        self._thread.start()

    def _renew(self) -> None:
        """Uses the store alone: the study may be thinking. A renewal that fails is tried
        again soon; it is no reason to stop, for late results are welcome."""
        from ._native import check

        store, name = self._study._store, text(self._study.name, "name")
        pause = LEASE_SECONDS / 3
        while not self._over.wait(pause):
            try:
                check(lib.cocabo_store_renew, store.handle, name, self._owner, LEASE_SECONDS)
                pause = LEASE_SECONDS / 3
            except (BusyError, Error):
                pause = LEASE_SECONDS / 15

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._study.storage is not None:
            self._thread.join()
            self._study._call(lib.cocabo_study_lease, self._owner, 0.0)


# ---- the bar -----------------------------------------------------------------------------


class _Bar:
    """One line on standard error, drawn again after every trial."""

    def __init__(self, study: Study, n_trials: int | None):
        self._study = study
        self._n = n_trials
        self._done = 0
        self._start = time.monotonic()

    def draw(self) -> None:
        self._done += 1
        rate = self._done / max(time.monotonic() - self._start, 1e-9)
        line = f"{self._done} trials"
        if self._n:
            filled = 20 * self._done // self._n
            line = f"[{'#' * filled}{'.' * (20 - filled)}] {self._done}/{self._n}"
        line += f"{self._best()}, {rate:.3g}/s"
        if self._n:
            left = int((self._n - self._done) / rate)
            line += f", ETA {left // 3600}:{left // 60 % 60:02}:{left % 60:02}"
        sys.stderr.write(f"\r{line:<78}")
        sys.stderr.flush()

    def _best(self) -> str:
        try:
            best = self._study.best_trial
        except Error:
            return ""
        return f", best {best.value:.6g} (trial {best.number})"

    def close(self) -> None:
        if self._done:
            sys.stderr.write("\n")
