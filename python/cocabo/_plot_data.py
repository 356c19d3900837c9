"""A study as pictures want it: finished trials, the best, the range of values, the words.

The same decisions as in cli/plot/plot_data.c, so that a study looks the same in the
program, in a notebook and in matplotlib. Nothing is imported from outside.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ._native import Error, InvalidError, StateError
from ._space import Choice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ._space import Domain
    from ._study import Study
    from ._trial import FrozenTrial


class Range(NamedTuple):
    """Values worth showing. Those far out on the bad side are left out when they would
    squeeze the rest together; those on the good side never are."""

    low: float
    high: float
    log: bool  # positive values over a decade

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def clip(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def share(self, value: float) -> float:
        """Where a value lies from low, 0, to high, 1."""
        low, high, at = self.low, self.high, self.clip(value)
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return (at / 2 - low / 2) / (high / 2 - low / 2)  # a half: the span may overflow


def range_of(values: Iterable[float], maximize: bool) -> Range:
    """The range of one value or more."""
    ranked = sorted(-value if maximize else value for value in values)
    most = int(0.9 * (len(ranked) - 1))
    log = not maximize and ranked[0] > 0 and ranked[most] / ranked[0] >= 10
    if log:
        ranked = [math.log(value) for value in ranked]
    best, worst = ranked[0], _worst_shown(ranked, most)
    if log:
        best, worst = math.exp(best), math.exp(worst)
    low, high = (-worst, -best) if maximize else (best, worst)
    return Range(*_widened(low, high, log), log)


def _worst_shown(ranked: Sequence[float], most: int) -> float:
    """Nine values in ten, and twice their range; where nearly all are equal, the next."""
    last = len(ranked) - 1
    while most < last and ranked[most] == ranked[0]:
        most += 1
    limit = ranked[0] + 2 * (ranked[most] - ranked[0])
    while most < last and ranked[most + 1] <= limit:
        most += 1
    return ranked[most]


def _widened(low: float, high: float, log: bool) -> tuple[float, float]:
    if log:
        factor = (high / low) ** 0.05 if low < high else 2.0
        return low / factor, high * factor
    size = max(abs(low), abs(high))
    margin = 0.1 * (high / 2 - low / 2)
    if not high - low > 1e-12 * size:
        margin = 0.05 * size or 1.0
    return low - margin, high + margin


class PlotData:
    """What pictures of a study share. Rows are complete and failed trials, by number."""

    def __init__(self, study: Study):
        self.source = study
        self.study = study.name
        self.space = study.space
        self.maximize = study.direction == "maximize"
        self.trials = study.trials
        self.rows = [t for t in self.trials if t.state in ("complete", "failed")]
        self.complete = [t for t in self.rows if t.state == "complete"]
        self.failed = [t for t in self.rows if t.state == "failed"]
        self.good = [t for t in self.complete if t.feasible]
        self.apart = [t for t in self.complete if not t.feasible]
        self.best = _best(study)
        self.noisy = study.option("deterministic") == "false"
        self.by_runs = study.has_runs  # values are of few runs or many
        self.expected = self._expected() if self.noisy and self.best else None

    def _expected(self) -> tuple[float, float] | None:
        """The mean and standard error that the model expects of the best trial."""
        assert self.best is not None
        try:
            return self.source.expected(self.best)
        except StateError:  # there is no model: the best one is the luckiest
            return None

    def need_values(self) -> None:
        if not self.complete:
            raise StateError(f"study {self.study} has no complete trial to show")

    def range(self) -> Range:
        return range_of([_value(t) for t in self.complete], self.maximize)

    def better(self, a: float, b: float) -> bool:
        return a > b if self.maximize else a < b

    def improvements(self) -> list[FrozenTrial]:
        """The trials that were better than all before, of those that are feasible."""
        found: list[FrozenTrial] = []
        for trial in self.good:
            if not found or self.better(_value(trial), _value(found[-1])):
                found.append(trial)
        return found

    def ranked(self) -> list[FrozenTrial]:
        """Complete trials: the best, the feasible ones by value, then the others."""
        sign = -1.0 if self.maximize else 1.0
        best = self.best.number if self.best else -1
        return sorted(
            self.complete,
            key=lambda t: (t.number != best, not t.feasible, sign * _value(t), t.number),
        )

    def inactive(self, name: str) -> int:
        """In how many trials a parameter is."""
        return sum(name not in t.params for t in self.rows)

    # -- parameters

    def choose(
        self, params: Sequence[str] | None, most: int, *, choices_only: bool = False
    ) -> list[str]:
        """Those asked for; else all, or the most important ones where there are more."""
        if params is not None:
            return self._named(params, choices_only)
        names = [n for n, d in self.space.items() if not choices_only or isinstance(d, Choice)]
        if len(names) <= most:
            return names
        try:
            by_share = [name for name in self.source.importances() if name in names]
        except Error:  # nothing to go by
            by_share = names
        kept = set(by_share[:most])
        return [name for name in names if name in kept]

    def _named(self, params: Sequence[str], choices_only: bool) -> list[str]:
        if isinstance(params, str):
            raise InvalidError(f"params is {params!r}, want a list of names")
        for name in params:
            if name not in self.space:
                raise InvalidError(f"there is no parameter {name}, want {list(self.space)!r}")
            if choices_only and not isinstance(self.space[name], Choice):
                raise InvalidError(f"{name} is {self.space[name]!r}, want choices")
        return list(params)

    def cell(self, name: str, trial: FrozenTrial) -> float:
        """The number, or the index of the choice; the parameter is active."""
        domain: Any = self.space[name]
        value = trial.params[name]
        return float(domain._index(name, value) if isinstance(domain, Choice) else value)

    def ends(self, name: str) -> tuple[float, float]:
        """Where the axis of a parameter begins and ends: half a step of a grid is room."""
        domain: Any = self.space[name]
        if isinstance(domain, Choice):
            return -0.5, len(domain.choices) - 0.5
        half = (domain.step or 0.0) / 2
        low, high = domain.low - half, domain.high + half
        return (low, high) if low < high else (low - 0.5, high + 0.5)

    def place(self, name: str, cell: float) -> float:
        """Where a cell lies in its domain, 0 .. 1, on the parameter's own scale."""
        low, high = self.ends(name)
        if is_log(self.space[name]) and low > 0:
            low, high, cell = math.log(low), math.log(high), math.log(cell)
        return (cell - low) / (high - low)

    # -- words

    def sentence(self, shown: int = 0, of: int = 0) -> str:
        """What was found, in one line."""
        way = "maximised" if self.maximize else "minimised"
        if self.best is None:
            lacking = "has every metric that is bounded" if self.complete else "is complete yet"
            return f"{way}; no trial {lacking}"
        rank = self.luckiest("best") if self.good else "none feasible, least violation"
        kind = "feasible" if self.good and self.apart else "complete"
        n = len(self.good or self.complete)
        value = number(_value(self.best))
        if self.expected:
            value = f"expected {measure(*self.expected)}, measured {value}"
        some = f"; the {shown} most important of {of} parameters" if shown < of else ""
        trials = "trial" if n == 1 else "trials"
        return f"{way}; {rank} of {n} {kind} {trials}: {value}, trial {self.best.number}{some}"

    def luckiest(self, word: str) -> str:
        """A noisy value without a model may be luck."""
        return "luckiest" if self.noisy and self.expected is None else word


def _best(study: Study) -> FrozenTrial | None:
    """None before a trial is complete with every metric that the constraints bound."""
    study.sync()  # a study that is closed says so here
    try:
        return study.best_trial
    except StateError:
        return None


def _value(trial: FrozenTrial) -> float:
    assert trial.value is not None  # it is complete
    return trial.value


def is_log(domain: Domain) -> bool:
    return bool(getattr(domain, "log", False))


def labels(domain: Choice) -> list[str]:
    """Choices as people write them; as Python does where two would look the same."""
    held = [cell[1] for cell in domain._cells]
    plain = [str(value) if value != "" else '""' for value in held]
    return plain if len(set(plain)) == len(plain) else [repr(value) for value in held]


def number(value: float) -> str:
    return f"{value:.6g}"


def measure(value: float, se: float) -> str:
    """A value with as many places as its standard error has meaning."""
    places = 1 - math.floor(math.log10(se)) if 0 < se < math.inf else 10
    if places > 9 or abs(value) >= 1e9:
        return f"{value:.6g} \u00b1 {se:.2g}"
    places = max(places, 0)
    return f"{value:.{places}f} \u00b1 {se:.{places}f}"


def jitter(number: int) -> float:
    """In [-0.5, 0.5), always the same for a trial: parts those that would lie on each
    other. Multiples of the golden ratio fill a range evenly, however many there are."""
    return (number * 0.6180339887498949) % 1.0 - 0.5


def shorten(text: str, most: int) -> str:
    """One line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}\u2026"
