"""What the finished trials of an Optuna study say of its space: for cocabo.optuna.

An objective of Optuna's asks for parameters as it runs, so which there are shows in the
trials only. Evidence reads the newest range of each and the condition under which it is
asked for: a parameter that some trials lack is explained by categories and small ints that
explain all of its presences and absences, such as "momentum is there where solver is sgd"
or "units2 where layers >= 3". A trial that contradicts makes it infer anew.

A value is called its code when it is a number: the index of a category, and any other value
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, TrialState

import cocabo

Code = Union[int, float]
Codes = dict[str, Code]

_MOST_LEVELS = 64  # of an int that may be a condition's parent
_MOST_TERMS = 3  # of a condition
_FEW_CHANGES = 2  # of a range are the user's
_TRIALS_A_CHANGE = 5  # fewer: the range depends on the trial


def code_of(distribution: BaseDistribution, value: Any) -> Code:
    if isinstance(distribution, CategoricalDistribution):
        return int(distribution.to_internal_repr(value))
    return value  # type: ignore[no-any-return]


def suggested(trial: FrozenTrial) -> Codes:
    """The codes of all that the trial asked for."""
    return {name: code_of(trial.distributions[name], v) for name, v in trial.params.items()}


def domain_of(distribution: BaseDistribution, when: str | None = None) -> cocabo.Domain:
    """Categories are their indices, and a float with a step the number of its steps: so
    nothing depends on how choices compare and steps round."""
    if isinstance(distribution, CategoricalDistribution):
        return cocabo.Choice(range(len(distribution.choices)), when=when)
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    low, high, log = distribution.low, distribution.high, distribution.log
    if isinstance(distribution, IntDistribution):
        return cocabo.Int(int(low), int(high), log=log, step=distribution.step, when=when)
    if distribution.step is None:
        return cocabo.Float(low, high, log=log, when=when)
    return cocabo.Int(0, round((high - low) / distribution.step), when=when)


def constraints_of(trial: FrozenTrial) -> dict[str, float]:
    """As Optuna 5 reads them: a list, or an attribute each. Optuna 4 only has the list."""
    attrs = trial.system_attrs
    listed: Sequence[float] = attrs.get("constraints") or ()
    found = {str(i): value for i, value in enumerate(listed)}
    for key, value in attrs.items():
        if key.startswith("constraints:"):
            found[key.partition(":")[2]] = value
    return found


# ---- conditions --------------------------------------------------------------------------


class Term(NamedTuple):
    """The parent is there and has one of the values, or lies between low and high."""

    parent: str
    values: frozenset[Code] | None  # None: it is an int
    low: Code | None = None  # None: no bound
    high: Code | None = None

    def holds(self, codes: Mapping[str, Code]) -> bool:
        code = codes.get(self.parent)
        if code is None:
            return False
        if self.values is not None:
            return code in self.values
        low_enough = self.high is None or code <= self.high
        return low_enough and (self.low is None or code >= self.low)

    def text(self, name: str) -> str:
        """In cocabo's language, where the parent has that name."""
        if self.values is not None:
            return f"{name} in ({', '.join(map(str, sorted(self.values)))})"
        bounds = [(">=", self.low), ("<=", self.high)]
        return " and ".join(f"{name} {op} {b}" for op, b in bounds if b is not None)


Condition = tuple[Term, ...]  # all terms hold; without any: always


def holds(condition: Condition, codes: Mapping[str, Code]) -> bool:
    return all(term.holds(codes) for term in condition)


def _narrowest(
    parent: str, ordered: bool, present: Sequence[Codes], absent: Sequence[Codes]
) -> Term:
    """The term that holds for all that are present and else for as little as possible; of
    an int the bounds that some absent one needs."""
    values = [codes[parent] for codes in present]
    if not ordered:
        return Term(parent, frozenset(values))
    low, high = min(values), max(values)
    others = [codes[parent] for codes in absent if parent in codes]
    bound_above = any(other > high for other in others)
    bound_below = any(other < low for other in others) or not bound_above
    return Term(parent, None, low if bound_below else None, high if bound_above else None)


def _explain(
    parents: Mapping[str, bool], present: Sequence[Codes], absent: Sequence[Codes], most: int
) -> Condition | None:
    """Up to so many terms that hold for all that are present and together for none of the
    absent. Of the parents, each with whether it is an int, the likelier come first."""
    terms: list[Term] = []
    while absent and len(terms) < most:
        best, left = None, absent
        for parent, ordered in parents.items():
            if all(parent in codes for codes in present):
                term = _narrowest(parent, ordered, present, absent)
                still = [codes for codes in absent if term.holds(codes)]
                if len(still) < len(left):
                    best, left = term, still
        if best is None:
            return None
        terms.append(best)
        absent = left
    return None if absent else tuple(terms)


# ---- the evidence ------------------------------------------------------------------------


class Range:
    """The newest distribution of a parameter."""

    def __init__(self, distribution: BaseDistribution, number: int):
        self._newest = number  # of the trials that have the parameter
        self._trials, self._changes = 1, 0
        self._take(distribution)

    def _take(self, distribution: BaseDistribution) -> None:
        self.distribution = distribution
        self._refusal = ""
        try:
            cocabo.create_study({"p": domain_of(distribution)}).close()
        except (cocabo.InvalidError, OverflowError) as e:  # thousands of choices, say
            self._refusal = str(e).replace('parameter "p":', "its")
            self._refusal = self._refusal.replace('parameter "p"', "it")

    def follow(self, distribution: BaseDistribution, number: int) -> None:
        self._trials += 1
        if number > self._newest:
            self._newest = number
            if distribution != self.distribution:
                self._changes += 1
                self._take(distribution)

    @property
    def complaint(self) -> str:
        """Why no model can serve it, or nothing."""
        often = self._changes > max(_FEW_CHANGES, self._trials / _TRIALS_A_CHANGE)
        return "its range keeps changing" if often else self._refusal

    @property
    def served(self) -> bool:
        return not self.distribution.single() and not self.complaint

    @property
    def is_int(self) -> bool:
        return isinstance(self.distribution, IntDistribution)

    @property
    def levels(self) -> int:
        """How many values there are; 0: too many for a condition's parent."""
        d = self.distribution
        if isinstance(d, CategoricalDistribution):
            return len(d.choices)
        levels = (d.high - d.low) // d.step + 1 if isinstance(d, IntDistribution) else 0
        return levels if levels <= _MOST_LEVELS else 0


class Evidence:
    """The parameters, ranges, conditions and constraints that finished trials show."""

    def __init__(self) -> None:
        self.ranges: dict[str, Range] = {}
        self.conditions: dict[str, Condition] = {}  # parents first; not the unexplained
        self.constraints: tuple[str, ...] = ()
        self._complete: list[Codes] = []
        self._ended: list[Codes] = []  # pruned or failed: what they lack says nothing
        self._seen: set[int] = set()

    def update(self, trials: Iterable[FrozenTrial]) -> None:
        surprised = False
        for trial in trials:
            if trial.state.is_finished() and trial.number not in self._seen:
                self._seen.add(trial.number)
                surprised |= self._learn(trial)
        if surprised:
            self._infer()

    def _learn(self, trial: FrozenTrial) -> bool:
        """Whether the trial contradicts what was inferred."""
        codes, complete = suggested(trial), trial.state == TrialState.COMPLETE
        (self._complete if complete else self._ended).append(codes)
        surprised = not codes.keys() <= self.ranges.keys()
        for name, condition in self.conditions.items():
            there = holds(condition, codes)
            surprised |= not there if name in codes else there and complete
        for name, distribution in trial.distributions.items():
            if name in self.ranges:
                self.ranges[name].follow(distribution, trial.number)
            else:
                self.ranges[name] = Range(distribution, trial.number)
        constraints = constraints_of(trial).keys() | set(self.constraints)
        if len(constraints) > len(self.constraints):
            self.constraints = tuple(sorted(constraints))
        return surprised

    def _infer(self) -> None:
        """Conditions for as many parameters as possible, from the root of the tree on."""
        self.conditions = {}
        unexplained = {}
        for name in sorted(self.ranges):
            absent = [codes for codes in self._complete if name not in codes]
            if absent:
                every = self._complete + self._ended
                unexplained[name] = [codes for codes in every if name in codes], absent
            else:
                self.conditions[name] = ()
        most = 1
        while unexplained and most <= _MOST_TERMS:
            parents = self._parents()
            found = {}
            for name, (present, absent) in unexplained.items():
                condition = _explain(parents, present, absent, most)
                if condition is not None:
                    found[name] = condition
            self.conditions.update(found)
            unexplained = {n: both for n, both in unexplained.items() if n not in found}
            most = 1 if found else most + 1  # what was found may be the parent of others

    def _parents(self) -> dict[str, bool]:
        """Those that are always there first, and those with few values: by chance they
        explain the least."""
        ranges = {n: self.ranges[n] for n in self.conditions if self.ranges[n].served}
        names = [name for name, r in ranges.items() if r.levels]
        names.sort(key=lambda name: (bool(self.conditions[name]), ranges[name].levels))
        return {name: ranges[name].is_int for name in names}

    def parts(self, names: Iterable[str]) -> list[dict[str, Condition]]:
        """Which parameters share a model: all whose condition is known, and of the others
        those that always come together."""
        wanted = set(names)
        main: dict[str, Condition] = {}
        for name, condition in self.conditions.items():
            if name in wanted and all(term.parent in main for term in condition):
                main[name] = condition
        groups: dict[tuple[bool, ...], dict[str, Condition]] = {}
        for name in sorted(wanted - main.keys()):
            where = tuple(name in codes for codes in self._complete)
            groups.setdefault(where, {})[name] = ()
        return [part for part in (main, *groups.values()) if part]
