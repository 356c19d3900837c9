"""space.py - the inputs of a problem, as `cocabo-bench evaluate --describe` says them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

Point = dict[str, Any]


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str                    # float, int, choice or ordinal
    low: float = 0.0             # float and int
    high: float = 0.0
    log: bool = False
    step: float = 0.0            # float; 0: continuous
    choices: list[Any] = field(default_factory=list)  # choice and ordinal
    parent: str = ""             # a choice, and those of its values that make this
    values: list[Any] = field(default_factory=list)   # one active; "": it always is

    @staticmethod
    def read(name: str, entry: dict[str, Any]) -> Parameter:
        words = {key: value for key, value in entry.items() if key not in ("type", "if")}
        [(parent, values)] = entry.get("if", {"": []}).items()
        return Parameter(name=name, kind=entry["type"], parent=parent, values=values,
                         **words)

    @property
    def is_choice(self) -> bool:
        return self.kind == "choice"

    @property
    def is_grid(self) -> bool:
        """Levels in an order: what most libraries only know as whole numbers."""
        return self.kind in ("int", "ordinal") or self.step > 0

    @property
    def bounds(self) -> tuple[float, float]:
        """Of the number that stands for it: a value of its own, or of a grid the level."""
        if self.kind == "ordinal":
            return 0, len(self.choices) - 1
        if self.step > 0:
            return 0, round((self.high - self.low) / self.step)
        return self.low, self.high

    def number(self, value: Any) -> float:
        """The number in `bounds` that stands for the value; of a choice its index."""
        if self.choices:
            return self.index(value)
        if self.step > 0:
            return round((value - self.low) / self.step)
        return value

    def value(self, number: float) -> Any:
        """The value that a number stands for, clipped and rounded as it must be."""
        if self.choices:
            return self.choices[min(max(round(number), 0), len(self.choices) - 1)]
        low, high = self.bounds
        number = min(max(number, low), high)
        if self.step > 0:
            return self.low + round(number) * self.step
        return round(number) if self.kind == "int" else float(number)

    def index(self, value: Any) -> int:
        """1, 1.0 and True are three choices, so the type counts."""
        for k, choice in enumerate(self.choices):
            if type(choice) is type(value) and choice == value:
                return k
        raise ValueError(f"{self.name} has no choice {value!r}")


@dataclass(frozen=True)
class Space:
    parameters: list[Parameter]

    @staticmethod
    def read(entries: dict[str, dict[str, Any]]) -> Space:
        return Space([Parameter.read(name, entry) for name, entry in entries.items()])

    def __iter__(self):
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def combinations(self) -> int:
        """Of the unordered choices."""
        return math.prod(len(p.choices) for p in self if p.is_choice)

    @property
    def has_conditions(self) -> bool:
        return any(p.parent for p in self)

    def active(self, point: Point) -> list[Parameter]:
        """Those that the point has, whatever values it holds for the others; of a point
        in the making, those that depend on none that it lacks."""
        names: set[str] = set()
        for p in self:
            awake = p.parent in names and p.parent in point
            if not p.parent or (awake and point[p.parent] in p.values):
                names.add(p.name)
        return [p for p in self if p.name in names]

    def numbers(self, point: Point) -> list[float]:
        return [p.number(point[p.name]) for p in self]

    def point(self, numbers) -> Point:
        return {p.name: p.value(number) for p, number in zip(self, numbers)}
