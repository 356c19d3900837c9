"""The C library: its functions, its structs, and its failures as exceptions.

Everything that ctypes needs to know of include/cocabo.h and include/cocabo_store.h is in
this file; tests/python/test_native.py holds it against the headers. ctypes releases the
interpreter's lock during every call.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    Union,
    byref,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, Callable

# ---- failures ---------------------------------------------------------------------------


class Error(Exception):
    """A call of the library failed; its text is the library's own sentence.

    ``status`` is the library's number for it, a ``cocabo_status``.
    """

    status: int = 99  # COCABO_E_INTERNAL

    def __init__(self, message: str, status: int | None = None):
        super().__init__(message)
        if status is not None:
            self.status = status

    def __str__(self) -> str:  # KeyError would show its text in quotes
        return str(self.args[0]) if self.args else ""


class InvalidError(Error, ValueError):
    """A malformed argument, or a number outside its range."""

    status = 10


class NotFoundError(Error, KeyError):
    """No such study, trial, parameter or option."""

    status = 21


class StateError(Error):
    """Not allowed now, such as opening a study with another space."""

    status = 20


class ExistsError(Error):
    """The name is taken."""

    status = 22


class ExhaustedError(Error):
    """Every point of a finite space has been proposed."""

    status = 23


class BudgetError(Error):
    """The study's budget of trials (option ``trials``) is used up."""

    status = 24


class NumericError(Error):
    """A factorisation failed after every fallback."""

    status = 40


class StoreError(Error):
    """The store failed: a damaged file, a full disk, a missing folder."""

    status = 50


class BusyError(Error):
    """Others held the store for too long; try again."""

    status = 51


_ERRORS: dict[int, type[Error]] = {
    10: InvalidError,
    11: InvalidError,
    20: StateError,
    21: NotFoundError,
    22: ExistsError,
    23: ExhaustedError,
    24: BudgetError,
    40: NumericError,
    50: StoreError,
    51: BusyError,
}
NO_MEMORY, INTERRUPTED = 30, 60

# ---- structs ----------------------------------------------------------------------------

NULL, BOOL, INT, REAL, TEXT, ABSENT = range(6)
LOG, ORDERED = 1, 2
STORE_CREATE = 1
STATES = ("waiting", "running", "complete", "failed", "interrupted", "stale")
WAITING, RUNNING, COMPLETE, FAILED = range(4)
RUN_STATES = ("running", "ok", "failed", "capped", "discarded")


class ErrorBuffer(Structure):
    _fields_ = [("code", c_int), ("message", c_char * 252)]


class _As(Union):
    _fields_ = [
        ("boolean", c_int),
        ("integer", c_int64),
        ("real", c_double),
        ("text", c_char_p),
    ]


class Value(Structure):
    """A cocabo_value. Text is borrowed: whoever fills one in keeps the bytes alive."""

    _fields_ = [("type", c_int), ("held", _As)]


class Metric(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class Attr(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Step(Structure):
    _fields_ = [("step", c_int64), ("value", c_double)]


class Run(Structure):
    _fields_ = [
        ("trial", c_int64),
        ("run", c_int64),
        ("instance", c_char_p),
        ("seed", c_int64),
        ("cap", c_double),
        ("state", c_int),
        ("value", c_double),
        ("seconds", c_double),
        ("reserved", c_int64 * 4),
    ]


class Record(Structure):
    _fields_ = [
        ("value", POINTER(c_double)),
        ("metrics", POINTER(Metric)),
        ("n_metrics", c_size_t),
        ("reason", c_char_p),
        ("attrs", POINTER(Attr)),
        ("n_attrs", c_size_t),
        ("reserved", c_int64 * 4),
    ]


class Known(Structure):
    _fields_ = [
        ("values", POINTER(Value)),
        ("state", c_int),
        ("value", c_double),
        ("reason", c_char_p),
        ("added", c_int),
        ("metrics", POINTER(Metric)),
        ("n_metrics", c_size_t),
        ("attrs", POINTER(Attr)),
        ("n_attrs", c_size_t),
        ("reports", POINTER(Step)),
        ("n_reports", c_size_t),
        ("number", c_int64),
        ("reserved", c_int64 * 2),
    ]


class Report(Structure):
    _fields_ = [
        ("events", c_int64),
        ("trials", c_int64),
        ("replayed", c_int64),
        ("differing", c_int64),
        ("first_differing", c_int64),
        ("foreign", c_int64),
        ("foreign_differing", c_int64),
        ("unchecked", c_int64),
        ("passed_over", c_int64),
        ("reserved", c_int64 * 8),
    ]


InterruptFn = CFUNCTYPE(c_int, c_void_p)
LogFn = CFUNCTYPE(None, c_void_p, c_int, c_char_p)

# ---- functions --------------------------------------------------------------------------

_ERR = POINTER(ErrorBuffer)
_H = c_void_p  # a handle of any kind, or the place for one with POINTER

# Results and arguments, as in the headers. Those that end with _ERR return a status.
SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "cocabo_version": (c_uint32, ()),
    "cocabo_space_new": (_H, ()),
    "cocabo_space_free": (None, (_H,)),
    "cocabo_space_add_real": (
        c_int,
        (_H, c_char_p, c_double, c_double, c_double, c_uint, _ERR),
    ),
    "cocabo_space_add_int": (
        c_int,
        (_H, c_char_p, c_int64, c_int64, c_int64, c_uint, _ERR),
    ),
    "cocabo_space_add_choice": (
        c_int,
        (_H, c_char_p, POINTER(Value), c_size_t, c_uint, _ERR),
    ),
    "cocabo_space_condition": (c_int, (_H, c_char_p, c_char_p, _ERR)),
    "cocabo_space_rule": (c_int, (_H, c_char_p, _ERR)),
    "cocabo_space_get_condition": (c_char_p, (_H, c_size_t)),
    "cocabo_space_get_rule": (c_char_p, (_H, c_size_t)),
    "cocabo_space_count": (c_size_t, (_H,)),
    "cocabo_space_name": (c_char_p, (_H, c_size_t)),
    "cocabo_space_kind": (c_int, (_H, c_size_t)),
    "cocabo_space_get_range": (
        c_int,
        (
            _H,
            c_size_t,
            POINTER(c_double),
            POINTER(c_double),
            POINTER(c_double),
            POINTER(c_int),
            _ERR,
        ),
    ),
    "cocabo_space_choices": (c_size_t, (_H, c_size_t)),
    "cocabo_space_get_choice": (c_int, (_H, c_size_t, c_size_t, POINTER(Value), _ERR)),
    "cocabo_space_equal": (c_int, (_H, _H)),
    "cocabo_options_new": (_H, ()),
    "cocabo_options_free": (None, (_H,)),
    "cocabo_options_set": (c_int, (_H, c_char_p, c_char_p, _ERR)),
    "cocabo_option_name": (c_char_p, (c_size_t,)),
    "cocabo_sampler_name": (c_char_p, (c_size_t,)),
    "cocabo_trial_free": (None, (_H,)),
    "cocabo_trial_number": (c_int64, (_H,)),
    "cocabo_trial_get_state": (c_int, (_H,)),
    "cocabo_trial_value": (c_double, (_H,)),
    "cocabo_trial_reason": (c_char_p, (_H,)),
    "cocabo_trial_started": (c_double, (_H,)),
    "cocabo_trial_finished": (c_double, (_H,)),
    "cocabo_trial_attempt": (c_int64, (_H,)),
    "cocabo_trial_seed": (c_uint64, (_H,)),
    "cocabo_trial_origin": (c_int, (_H,)),
    "cocabo_origin_name": (c_char_p, (c_int,)),
    "cocabo_trial_values": (c_int, (_H, POINTER(Value), c_size_t, _ERR)),
    "cocabo_trial_metrics": (POINTER(Metric), (_H, POINTER(c_size_t))),
    "cocabo_trial_feasible": (c_int, (_H,)),
    "cocabo_trial_attrs": (POINTER(Attr), (_H, POINTER(c_size_t))),
    "cocabo_trial_reports": (POINTER(Step), (_H, POINTER(c_size_t))),
    "cocabo_trial_runs": (POINTER(Run), (_H, POINTER(c_size_t))),
    "cocabo_trial_error": (c_double, (_H,)),
    "cocabo_store_new_memory": (_H, ()),
    "cocabo_store_free": (None, (_H,)),
    "cocabo_store_studies": (c_int, (_H, POINTER(_H), _ERR)),
    "cocabo_names_count": (c_size_t, (_H,)),
    "cocabo_names_at": (c_char_p, (_H, c_size_t)),
    "cocabo_names_free": (None, (_H,)),
    "cocabo_store_delete": (c_int, (_H, c_char_p, _ERR)),
    "cocabo_owner_name": (c_int, (c_char_p, _ERR)),
    "cocabo_store_renew": (c_int, (_H, c_char_p, c_char_p, c_double, _ERR)),
    "cocabo_store_open": (c_int, (POINTER(_H), c_char_p, c_uint, _ERR)),
    "cocabo_study_create": (c_int, (POINTER(_H), c_char_p, _H, _H, _H, _ERR)),
    "cocabo_study_open": (c_int, (POINTER(_H), c_char_p, _H, _ERR)),
    "cocabo_study_open_or_create": (
        c_int,
        (POINTER(_H), c_char_p, _H, _H, _H, POINTER(c_int), _ERR),
    ),
    "cocabo_study_free": (None, (_H,)),
    "cocabo_study_name": (c_char_p, (_H,)),
    "cocabo_study_space": (_H, (_H,)),
    "cocabo_study_option": (c_char_p, (_H, c_char_p)),
    "cocabo_study_change": (
        c_int,
        (_H, POINTER(c_char_p), POINTER(c_char_p), c_size_t, _ERR),
    ),
    "cocabo_study_set_attr": (c_int, (_H, c_char_p, c_char_p, _ERR)),
    "cocabo_study_attr": (c_char_p, (_H, c_char_p)),
    "cocabo_study_lease": (c_int, (_H, c_char_p, c_double, _ERR)),
    "cocabo_study_ask_up_to": (
        c_int,
        (_H, c_size_t, POINTER(_H), POINTER(c_size_t), _ERR),
    ),
    "cocabo_study_ask_run": (c_int, (_H, POINTER(_H), POINTER(Run), _ERR)),
    "cocabo_study_tell_run": (
        c_int,
        (_H, POINTER(Run), POINTER(Metric), c_size_t, c_char_p, _ERR),
    ),
    "cocabo_study_runs": (c_int64, (_H, POINTER(c_int64))),
    "cocabo_study_report": (c_int, (_H, c_int64, c_int64, c_double, _ERR)),
    "cocabo_study_record": (c_int, (_H, c_int64, POINTER(Record), _ERR)),
    "cocabo_study_fail_attempt": (c_int, (_H, c_int64, c_int64, c_char_p, _ERR)),
    "cocabo_study_interrupt": (c_int, (_H, c_int64, _ERR)),
    "cocabo_study_interrupt_attempt": (c_int, (_H, c_int64, c_int64, _ERR)),
    "cocabo_study_retry": (c_int, (_H, c_int64, _ERR)),
    "cocabo_study_add_many": (c_int, (_H, POINTER(Known), c_size_t, _ERR)),
    "cocabo_study_best": (c_int, (_H, POINTER(_H), _ERR)),
    "cocabo_study_expected": (
        c_int,
        (_H, c_int64, POINTER(c_double), POINTER(c_double), _ERR),
    ),
    "cocabo_study_predict": (
        c_int,
        (
            _H,
            POINTER(Value),
            c_size_t,
            POINTER(c_double),
            POINTER(c_double),
            POINTER(c_double),
            _ERR,
        ),
    ),
    "cocabo_study_importance": (
        c_int,
        (
            _H,
            c_size_t,
            POINTER(c_double),
            POINTER(c_double),
            POINTER(c_double),
            _ERR,
        ),
    ),
    "cocabo_study_count": (c_int64, (_H,)),
    "cocabo_study_trial": (c_int, (_H, c_int64, POINTER(_H), _ERR)),
    "cocabo_study_sync": (c_int, (_H, _ERR)),
    "cocabo_study_count_state": (c_int64, (_H, c_int)),
    "cocabo_study_verify": (c_int, (_H, c_int64, POINTER(Report), _ERR)),
    "cocabo_study_on_interrupt": (None, (_H, InterruptFn, c_void_p)),
    "cocabo_study_on_log": (None, (_H, LogFn, c_void_p)),
}

_OWNER_SIZE = 192  # COCABO_OWNER_SIZE

# The interface that this package was written for: 0.MINOR may break until 1.0.
_SERIES = (0, 2)


def _load() -> ctypes.CDLL:
    """The library beside this file, or the one that COCABO_LIBRARY names."""
    path = os.environ.get("COCABO_LIBRARY") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "libcocabo.so"
    )
    try:
        lib = ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(
            f"cocabo: its library cannot be loaded ({e}); "
            "a build of it can be named by COCABO_LIBRARY"
        ) from None
    for name, (result, arguments) in SIGNATURES.items():
        try:
            function = getattr(lib, name)
        except AttributeError:
            raise ImportError(
                f"cocabo: {path} has no {name}: it is of another version"
            ) from None
        function.restype = result
        function.argtypes = arguments
    version = lib.cocabo_version()
    if (version >> 16, version >> 8 & 255) != _SERIES:
        raise ImportError(
            f"cocabo: {path} is version {version_text(version)}, "
            f"this package wants {_SERIES[0]}.{_SERIES[1]}"
        )
    return lib


def version_text(version: int) -> str:
    return f"{version >> 16}.{version >> 8 & 255}.{version & 255}"


lib = _load()


def check(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function that returns a status; a failure becomes an exception."""
    err = ErrorBuffer()
    code = function(*arguments, byref(err))
    if code:
        raise failure(code, err.message.decode(errors="replace"))


def owner_name() -> bytes:
    """Who this process is, to be the owner of leases: when it is no more, its trials are
    offered again at once."""
    out = ctypes.create_string_buffer(_OWNER_SIZE)
    check(lib.cocabo_owner_name, out)
    return out.value


def failure(code: int, message: str) -> BaseException:
    """The exception that stands for a status."""
    if code == NO_MEMORY:
        return MemoryError(message)
    if code == INTERRUPTED:
        return KeyboardInterrupt(message)
    return _ERRORS.get(code, Error)(message, code)


def text(value: str, what: str) -> bytes:
    """UTF-8 for the library, which takes C strings."""
    if not isinstance(value, str):
        raise InvalidError(f"{what} is {value!r}, want a str")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise InvalidError(f"{what} is {value!r}, which is no valid Unicode") from None
    if b"\0" in data:
        raise InvalidError(f"{what} is {value!r}, want no NUL character in it")
    return data


def shown(data: bytes | None) -> str:
    return "" if data is None else data.decode(errors="replace")
