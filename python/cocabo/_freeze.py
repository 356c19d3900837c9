"""A study as plain data that can be pickled, and a study in memory made from it.

For the front ends whose objects are pickled by others: Ray saves its searchers and
scikit-learn's users their fitted searches. A study in a storage is kept there; this is for
the one that has no other place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._space import Choice
from ._study import Study, create_study

if TYPE_CHECKING:
    from ._trial import FrozenTrial

# What a new study can be told of a trial. One that was given back waits to be tried.
_STATES = {
    "waiting": "waiting",
    "running": "running",
    "complete": "complete",
    "failed": "fail",
    "interrupted": "waiting",
    "stale": "waiting",
}


def freeze(study: Study) -> dict[str, Any]:
    """The space, the options and the trials. Attributes of the study are left out."""
    trials = study.trials
    options: dict[str, Any] = dict(study.options)
    options["n_init"] = _design_left(study, trials)
    options["seed"] = int(options["seed"])
    options["constraints"] = study.constraints
    return {
        "space": study.space,
        "where": study.where,
        "name": study.name,
        "objective": study.objective,
        "options": options,
        "trials": [_row(trial) for trial in trials],
    }


def thaw(frozen: dict[str, Any]) -> Study:
    """A study in memory that goes on where the frozen one was, under the same numbers.

    What runs stays pending. Since the generator's key has the trial's number in it, no
    random stream is used twice.
    """
    study = create_study(
        frozen["space"],
        where=frozen["where"],
        name=frozen["name"],
        objective=frozen["objective"],
        **frozen["options"],
    )
    study.add_trials(frozen["trials"])
    return study


def _design_left(study: Study, trials: list[FrozenTrial]) -> int:
    """Design points that are still to come: trials that are added do not count as such."""
    wanted = study.option("n_init")
    # The library's own rule, see cocabo help options.
    short = study.option("sampler") == "mixed" and _has_choices(study)
    most = 10 if short else 24
    n_init = min(most, 2 * len(study.space) + 2) if wanted == "auto" else int(wanted)
    return max(0, n_init - sum(trial.origin == "design" for trial in trials))


def _has_choices(study: Study) -> bool:
    return any(type(domain) is Choice for domain in study.space.values())


def _row(trial: FrozenTrial) -> dict[str, Any]:
    return {
        "params": trial.params,
        "value": trial.value,
        "metrics": trial.metrics,
        "state": _STATES[trial.state],
        "reason": trial.reason,
        "user_attrs": trial.user_attrs,
        "intermediate_values": trial.intermediate_values,
    }
