"""Trials as a table of pandas or polars, with Optuna's names for the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._native import InvalidError

if TYPE_CHECKING:
    from ._study import Study

_PLAIN = ("number", "value", "datetime_start", "datetime_complete", "duration")


def columns(study: Study) -> dict[str, list[Any]]:
    """A list a column; None where a trial has nothing there."""
    trials = study.trials
    table: dict[str, list[Any]] = {
        name: [getattr(trial, name) for trial in trials] for name in _PLAIN
    }
    for name in study.space:
        table[f"params_{name}"] = [trial.params.get(name) for trial in trials]
    for group in ("metrics", "user_attrs"):
        names = dict.fromkeys(name for trial in trials for name in getattr(trial, group))
        for name in names:
            table[f"{group}_{name}"] = [getattr(trial, group).get(name) for trial in trials]
    if study.has_runs:
        table["runs"] = [sum(r.value is not None for r in trial.runs) for trial in trials]
        table["error"] = [trial.error for trial in trials]
    if study.constraints:
        table["feasible"] = [trial.feasible for trial in trials]
    table["state"] = [trial.state for trial in trials]
    return table


def dataframe(study: Study, library: str | None) -> Any:
    if library not in (None, "pandas", "polars"):
        raise InvalidError(f"library is {library!r}, want 'pandas' or 'polars'")
    for name in (library,) if library else ("pandas", "polars"):
        try:
            module: Any = __import__(name)
        except ImportError:
            continue
        return module.DataFrame(columns(study))
    raise ImportError(f"a table needs {library or 'pandas or polars'}, which is not installed")
