"""cocabo finds the best setting of anything whose inputs are numbers and categories.

>>> import cocabo
>>> study = cocabo.create_study(
...     {"x": cocabo.Float(-2, 2), "kind": cocabo.Choice(["a", "b"])}, seed=1
... )
>>> study.optimize(lambda trial: (trial["x"] - 1) ** 2 + (trial["kind"] == "b"), n_trials=20)
>>> study.best_params["kind"]
'a'

``cocabo.optuna``, ``cocabo.ray``, ``cocabo.sklearn`` and ``cocabo.plot`` are modules of their own:
each needs the library that it is named after.
"""

from ._native import (
    BudgetError,
    BusyError,
    Error,
    ExhaustedError,
    ExistsError,
    InvalidError,
    NotFoundError,
    NumericError,
    StateError,
    StoreError,
    lib,
    version_text,
)
from ._optimize import TrialFailed
from ._space import Bool, Choice, Domain, Float, Int, Ordinal
from ._study import (
    Importance,
    Prediction,
    Report,
    Study,
    create_study,
    delete_study,
    load_study,
    study_names,
)
from ._trial import FrozenTrial, Run, Trial
from ._tune import Tuned, tune

_FRONTS = ("optuna", "plot", "ray", "sklearn")


def __getattr__(name: str) -> object:
    """``cocabo.plot`` and its like are imported when they are first named."""
    if name in _FRONTS:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__ = version_text(lib.cocabo_version())

__all__ = [
    "Bool",
    "BudgetError",
    "BusyError",
    "Choice",
    "Domain",
    "Error",
    "ExhaustedError",
    "ExistsError",
    "Float",
    "FrozenTrial",
    "Importance",
    "Int",
    "InvalidError",
    "NotFoundError",
    "NumericError",
    "Ordinal",
    "Prediction",
    "Report",
    "Run",
    "StateError",
    "StoreError",
    "Study",
    "Trial",
    "TrialFailed",
    "Tuned",
    "create_study",
    "delete_study",
    "load_study",
    "study_names",
    "tune",
]
