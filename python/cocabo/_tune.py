"""tune: a function with its space, in one line."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._native import InvalidError
from ._space import Domain
from ._study import Study, create_study, option_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._trial import Trial

Result = TypeVar("Result")

_FOR_STUDY = ("direction", "storage", "name", "load_if_exists", "where", "constraints", "objective")
_FOR_RUN = ("n_trials", "timeout", "n_jobs", "catch", "callbacks", "show_progress_bar")


class Tuned(Generic[Result]):
    """A function that knows its space: call it as before, or tune it."""

    def __init__(
        self,
        function: Callable[..., Result],
        space: dict[str, Domain],
        study: dict[str, Any],
        run: dict[str, Any],
    ):
        self._function = function
        self._space = space
        self._for_study = study
        self._for_run = run
        self._study: Study | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        return self._function(*args, **kwargs)

    @property
    def study(self) -> Study:
        """Its study, made when it is first needed."""
        if self._study is None:
            self._study = create_study(self._space, **self._for_study)
        return self._study

    def tune(self, n_trials: int | None = None, **more: Any) -> Study:
        """Evaluates it so many times more, and returns the study."""
        run = {**self._for_run, **more}
        if n_trials is not None:
            run["n_trials"] = n_trials
        self.study.optimize(self._evaluate, **run)
        return self.study

    def _evaluate(self, trial: Trial) -> Any:
        return self._function(**trial.params)


def tune(
    space: dict[str, Domain] | None = None, **arguments: Any
) -> Callable[[Callable[..., Result]], Tuned[Result]]:
    """Says what a function's arguments may be, so that it can be tuned.

    Domains are arguments under the names of the function's own, or a dict of them. The others
    are those of create_study and Study.optimize.

    >>> import cocabo
    >>> @cocabo.tune(x=cocabo.Float(-3, 3), kind=cocabo.Choice(["a", "b"]), n_trials=25, seed=1)
    ... def loss(x, kind):
    ...     return (x - 1) ** 2 + (kind == "b")
    >>> loss(1, kind="b")
    1
    >>> study = loss.tune()
    >>> study.best_params["kind"], len(study)
    ('a', 25)
    """
    domains = dict(space or {})
    study: dict[str, Any] = {}
    run: dict[str, Any] = {}
    known = set(_FOR_STUDY) | set(option_names())
    for name, value in arguments.items():
        if isinstance(value, Domain):
            domains[name] = value
        elif name in _FOR_RUN:
            run[name] = value
        elif name in known:
            study[name] = value
        else:
            raise InvalidError(f"{name} is {value!r}, want a domain such as Float(0, 1)")

    def decorate(function: Callable[..., Result]) -> Tuned[Result]:
        return Tuned(function, domains, study, run)

    return decorate
