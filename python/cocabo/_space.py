"""Domains: what a parameter may be, and how its values go to the library and back.

A space is a mapping of names to domains. Numbers are numbers on both sides. A choice is
kept by the library as a JSON scalar, and here as the very object that the user gave:
``1``, ``1.0``, ``True``, ``"1"`` and ``None`` are five choices; any other object is stored as
a text, its key in ``Choice({"adam": Adam})`` or else its repr.
"""

from __future__ import annotations

import operator
import re
from abc import ABC, abstractmethod
from ctypes import byref, c_double, c_int
from typing import TYPE_CHECKING, Any, Union

from ._native import (
    ABSENT,
    BOOL,
    INT,
    LOG,
    NULL,
    ORDERED,
    REAL,
    TEXT,
    InvalidError,
    Value,
    check,
    lib,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# What the library keeps: a type and what it holds (None for null).
Cell = tuple[int, Union[bool, int, float, str, None]]
ABSENT_CELL: Cell = (ABSENT, None)


class Domain(ABC):
    """What a parameter may be. ``when`` is the condition under which there is one."""

    when: str | None
    _shown: tuple[str, ...] = ()  # attributes that make it what it is, in order

    def _key(self) -> tuple[Any, ...]:
        return (type(self), *(getattr(self, name) for name in self._shown), self.when)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Domain) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _extras(self) -> str:
        return f", when={self.when!r}" if self.when is not None else ""

    @abstractmethod
    def _add(self, space: int, name: bytes) -> None:
        """Adds itself to a space of the library's under a name."""

    @abstractmethod
    def _encode(self, name: str, value: Any) -> Cell:
        """What the library is told; whether it lies in the domain is for it to say."""

    def _decode(self, cell: Cell) -> Any:
        return cell[1]


def _number(what: str, value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise InvalidError(f"{what} is {value!r}, want a number")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"{what} is {value!r}, want a number") from None


def _whole(what: str, value: Any) -> int:
    """An integer, also one that comes as 3.0 or as a scalar of numpy's."""
    try:
        if isinstance(value, float) and value.is_integer():
            number = int(value)
        else:
            number = operator.index(value)  # pyright: ignore
    except TypeError:
        raise InvalidError(f"{what} is {value!r}, want an integer") from None
    if not -(2**63) <= number < 2**63:
        raise InvalidError(f"{what} is {value!r}, want an integer of 64 bits")
    return number


class Float(Domain):
    """A real number from low to high, both included.

    >>> Float(1e-5, 0.1, log=True)
    Float(1e-05, 0.1, log=True)
    >>> Float(0, 1, step=0.25)
    Float(0.0, 1.0, step=0.25)
    """

    _shown = ("low", "high", "log", "step")

    def __init__(
        self,
        low: float,
        high: float,
        *,
        log: bool = False,
        step: float | None = None,
        when: str | None = None,
    ):
        self.low = _number("low", low)
        self.high = _number("high", high)
        self.log = bool(log)
        self.step = None if step is None else _number("step", step)
        self.when = when

    def __repr__(self) -> str:
        extras = ", log=True" if self.log else ""
        extras += f", step={self.step!r}" if self.step is not None else ""
        return f"Float({self.low!r}, {self.high!r}{extras}{self._extras()})"

    def _add(self, space: int, name: bytes) -> None:
        flags = LOG if self.log else 0
        if self.step is not None and not self.step > 0:
            raise InvalidError(f"step is {self.step!r}, want more than 0, or None")
        check(
            lib.cocabo_space_add_real,
            *(space, name, self.low, self.high, self.step or 0.0, flags),
        )

    def _encode(self, name: str, value: Any) -> Cell:
        return REAL, _number(name, value)


class Int(Domain):
    """An integer from low to high, both included.

    >>> Int(16, 1024, log=True)
    Int(16, 1024, log=True)
    >>> Int(8, 64, step=8, when="model == 'net'")
    Int(8, 64, step=8, when="model == 'net'")
    """

    _shown = ("low", "high", "log", "step")

    def __init__(
        self,
        low: int,
        high: int,
        *,
        log: bool = False,
        step: int = 1,
        when: str | None = None,
    ):
        self.low = _whole("low", low)
        self.high = _whole("high", high)
        self.log = bool(log)
        self.step = _whole("step", step)
        self.when = when

    def __repr__(self) -> str:
        extras = ", log=True" if self.log else ""
        extras += f", step={self.step}" if self.step != 1 else ""
        return f"Int({self.low}, {self.high}{extras}{self._extras()})"

    def _add(self, space: int, name: bytes) -> None:
        flags = LOG if self.log else 0
        if self.step < 1:
            raise InvalidError(f"step is {self.step}, want at least 1")
        check(
            lib.cocabo_space_add_int,
            *(space, name, self.low, self.high, self.step, flags),
        )

    def _encode(self, name: str, value: Any) -> Cell:
        return INT, _whole(name, value)


_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def _scalar(value: Any) -> Cell | None:
    """A JSON scalar as the library keeps it; None for any other object."""
    if type(value).__module__ == "numpy" and hasattr(value, "item") and not value.shape:
        value = value.item()
    if value is None:
        return NULL, None
    if isinstance(value, bool):
        return BOOL, value
    if isinstance(value, int):
        return INT, _whole("a choice", int(value))
    if isinstance(value, float):
        return REAL, float(value)
    if isinstance(value, str):
        return TEXT, str(value)
    return None


def _cell_of_choice(value: Any) -> Cell:
    cell = _scalar(value)
    if cell is not None:
        return cell
    shown = repr(value)
    if _ADDRESS.search(shown):
        raise InvalidError(
            f"choice {shown} has an address in its repr, which no other process can know: "
            "want a name for it, as in Choice({'name': object})"
        )
    return TEXT, shown


def _same(choice: Any, value: Any) -> bool:
    if choice is value:
        return True
    try:
        return type(choice) is type(value) and bool(choice == value)
    except Exception:  # what compares element by element is the same only if it is it
        return False


class Choice(Domain):
    """One of several things without an order: scalars, or objects by name.

    >>> Choice(["adam", "sgd", None])
    Choice(['adam', 'sgd', None])
    >>> Choice({"short": range(3), "long": range(30)}).choices
    (range(0, 3), range(0, 30))
    """

    choices: tuple[Any, ...]

    def __init__(
        self,
        choices: Sequence[Any] | Iterable[Any] | Mapping[str, Any],
        *,
        when: str | None = None,
    ):
        if isinstance(choices, (str, bytes)):
            raise InvalidError(f"choices are {choices!r}, want a sequence of them")
        self.when = when
        items = getattr(choices, "items", None)
        if items is not None:
            pairs = list(items())
            for name, _ in pairs:
                if not isinstance(name, str):
                    raise InvalidError(f"the name of a choice is {name!r}, want a str")
            self._cells: tuple[Cell, ...] = tuple((TEXT, name) for name, _ in pairs)
            self.choices = tuple(value for _, value in pairs)
        else:
            self.choices = tuple(choices)
            self._cells = tuple(_cell_of_choice(value) for value in self.choices)
        self._named = items is not None
        self._places: dict[Cell, int] = {}
        for i, cell in enumerate(self._cells):
            first = self._places.setdefault(cell, i)
            if first != i:
                raise InvalidError(
                    f"choices {first} and {i} are both {self._cells[i][1]!r} when stored, "
                    "want different ones"
                )

    def _key(self) -> tuple[Any, ...]:
        return type(self), self._cells, self.when

    def __repr__(self) -> str:
        listed = (
            repr({cell[1]: value for cell, value in zip(self._cells, self.choices)})
            if self._named
            else repr(list(self.choices))
        )
        return f"{type(self).__name__}({listed}{self._extras()})"

    def _add(self, space: int, name: bytes) -> None:
        values = values_of(self._cells, f"a choice of {name.decode()}")
        flags = ORDERED if isinstance(self, Ordinal) else 0
        check(
            lib.cocabo_space_add_choice,
            *(space, name, values.array, len(self._cells), flags),
        )

    def _index(self, name: str, value: Any) -> int:
        for i, choice in enumerate(self.choices):
            if _same(choice, value):
                return i
        cell = _scalar(value)  # a scalar of numpy's, or the name of an object
        if cell is not None and cell in self._places:
            return self._places[cell]
        raise InvalidError(f"{name} is {value!r}, want one of {list(self.choices)!r}")

    def _encode(self, name: str, value: Any) -> Cell:
        return self._cells[self._index(name, value)]

    def _decode(self, cell: Cell) -> Any:
        return self.choices[self._places[cell]]


class Ordinal(Choice):
    """One of several levels of a scale, from the lowest to the highest.

    >>> Ordinal(["small", "medium", "large"])
    Ordinal(['small', 'medium', 'large'])
    """


def Bool(*, when: str | None = None) -> Choice:
    """The choices ``False`` and ``True``.

    >>> Bool()
    Choice([False, True])
    """
    return Choice([False, True], when=when)


# ---- values, as arrays of the library's --------------------------------------------------


class Values:
    """An array of cocabo_value, and the texts that it borrows."""

    def __init__(self, n: int):
        self.array = (Value * n)()
        self._texts: list[bytes] = []

    def put(self, i: int, cell: Cell, what: str) -> None:
        kind, held = cell
        value = self.array[i]
        value.type = kind
        if kind == TEXT:
            data = text(str(held), what)
            self._texts.append(data)
            value.held.text = data
        elif kind == REAL:
            value.held.real = held
        elif kind == INT:
            value.held.integer = held
        elif kind == BOOL:
            value.held.boolean = held


def values_of(cells: Sequence[Cell], what: str) -> Values:
    values = Values(len(cells))
    for i, cell in enumerate(cells):
        values.put(i, cell, what)
    return values


def cell_of(value: Any) -> Cell:
    """What a cocabo_value holds."""
    kind: int = value.type
    if kind == REAL:
        return kind, value.held.real
    if kind == INT:
        return kind, value.held.integer
    if kind == TEXT:
        return kind, value.held.text.decode()
    if kind == BOOL:
        return kind, bool(value.held.boolean)
    return kind, None


# ---- spaces ------------------------------------------------------------------------------


class Space:
    """The library's handle of a space, for the time of a ``with``."""

    def __init__(self, domains: Mapping[str, Domain], where: Sequence[str]):
        if not hasattr(domains, "items"):
            raise InvalidError(f"space is {domains!r}, want a dict of names and domains")
        if isinstance(where, str):
            raise InvalidError(f"where is {where!r}, want a list of rules")
        self._domains = domains
        self._where = where

    def __enter__(self) -> int:
        self._handle = lib.cocabo_space_new()
        if not self._handle:
            raise MemoryError("no memory for a space")
        try:
            for name, domain in self._domains.items():
                self._add(name, domain)
            for rule in self._where:
                check(lib.cocabo_space_rule, self._handle, text(rule, "a rule"))
        except BaseException:
            lib.cocabo_space_free(self._handle)
            raise
        return int(self._handle)

    def __exit__(self, *_: object) -> None:
        lib.cocabo_space_free(self._handle)

    def _add(self, name: str, domain: Domain) -> None:
        data = text(name, "the name of a parameter")
        if not isinstance(domain, Domain):
            raise InvalidError(
                f"the domain of {name} is {domain!r}, want Float, Int, Choice, Ordinal or Bool"
            )
        try:
            domain._add(self._handle, data)
        except InvalidError as e:  # what is wrong with it does not know its name
            named = re.search(rf"\b{re.escape(name)}\b", str(e))
            raise e if named else InvalidError(f"{name}: {e}", e.status) from None
        if domain.when is not None:
            check(
                lib.cocabo_space_condition,
                *(self._handle, data, text(domain.when, f"the condition of {name}")),
            )


def read_domains(space: int) -> dict[str, Domain]:
    """The domains of a study that is opened without them: scalars for choices."""
    domains: dict[str, Domain] = {}
    for i in range(lib.cocabo_space_count(space)):
        name = lib.cocabo_space_name(space, i).decode()
        condition = lib.cocabo_space_get_condition(space, i)
        when = None if condition is None else condition.decode()
        kind = lib.cocabo_space_kind(space, i)
        if kind >= 2:
            made = Ordinal if kind == 3 else Choice
            domains[name] = made(_read_choices(space, i), when=when)
        else:
            domains[name] = _read_range(space, i, kind == 1, when)
    return domains


def _read_choices(space: int, i: int) -> list[Any]:
    choices = []
    for k in range(lib.cocabo_space_choices(space, i)):
        value = Value()
        check(lib.cocabo_space_get_choice, space, i, k, byref(value))
        choices.append(cell_of(value)[1])
    return choices


def _read_range(space: int, i: int, whole: bool, when: str | None) -> Domain:
    low, high, step, log = c_double(), c_double(), c_double(), c_int()
    check(
        lib.cocabo_space_get_range,
        *(space, i, byref(low), byref(high), byref(step), byref(log)),
    )
    if whole:
        return Int(
            int(low.value),
            int(high.value),
            log=bool(log.value),
            step=int(step.value) or 1,
            when=when,
        )
    return Float(
        low.value, high.value, log=bool(log.value), step=step.value or None, when=when
    )


def read_rules(space: int) -> list[str]:
    rules: list[str] = []
    while (rule := lib.cocabo_space_get_rule(space, len(rules))) is not None:
        rules.append(rule.decode())
    return rules
