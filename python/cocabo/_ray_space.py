"""Ray Tune's search spaces: nested dicts and lists with domains among constants.

A nest that holds cocabo's domains in the place of Tune's is a *spec*. Each domain has a
path, the keys that lead to it, and a name, the path joined by "/".
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any

from ray.tune.search import sample

from cocabo import Choice, Domain, Float, Int, InvalidError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_log = logging.getLogger("cocabo.ray")
_ABSENT = object()

Path = tuple[Any, ...]


def name_of(path: Path) -> str:
    return "/".join(map(str, path))


# ---- Tune's domains ----------------------------------------------------------------------


def converted(nest: Any, path: Path = ()) -> Any:
    """The spec of a nest of Tune's, or of one that has cocabo's domains already."""
    if isinstance(nest, (Domain, sample.Domain)) or _is_written_out(nest):
        return _domain(name_of(path), nest)
    if isinstance(nest, dict):
        return {key: converted(value, (*path, key)) for key, value in nest.items()}
    if isinstance(nest, (list, tuple)):
        return _like(nest, [converted(value, (*path, i)) for i, value in enumerate(nest)])
    return nest


def _is_written_out(nest: Any) -> bool:
    """Tune's way to say a grid or a function in JSON."""
    return isinstance(nest, dict) and list(nest) in (["grid_search"], ["eval"])


def _like(nest: Any, values: list[Any]) -> Any:
    return tuple(values) if isinstance(nest, tuple) else values


def _domain(name: str, value: Any) -> Domain:
    if isinstance(value, Domain):
        return value
    if isinstance(value, (sample.Float, sample.Integer)):
        return _range(name, value)
    if isinstance(value, sample.Categorical) and not isinstance(value.sampler, sample.Grid):
        return Choice(value.categories)
    is_function = isinstance(value, sample.Function) or "eval" in value
    what = "tune.sample_from" if is_function else "tune.grid_search"
    raise InvalidError(
        f"{name} is {what}, which cannot be searched: want a domain such as tune.uniform(0, 1)"
    )


def _range(name: str, domain: Any) -> Domain:
    sampler, q = domain.get_sampler(), None
    if isinstance(sampler, sample.Quantized):
        q = sampler.q
        sampler = sampler.sampler
    log = isinstance(sampler, sample.LogUniform)
    if not log and not isinstance(sampler, sample.Uniform):
        raise InvalidError(
            f"{name} is sampled by {type(sampler).__name__.strip('_')}, want one that has "
            "bounds: tune.uniform, loguniform, randint, lograndint, or one of these with q"
        )
    if q is None or (q == 1 and isinstance(domain, sample.Integer)):
        if isinstance(domain, sample.Integer):
            return Int(domain.lower, domain.upper - 1, log=log)  # Tune's upper end is not in
        return Float(domain.lower, domain.upper, log=log)
    if log:
        _log.warning(
            "%s has a step on a logarithmic scale: the step is kept, the scale is linear", name
        )
    return _multiples(name, domain, q)


def _multiples(name: str, domain: Any, q: Any) -> Domain:
    """Tune's values are multiples of q; a bound is one up to rounding, or lies between two."""
    first = math.ceil(domain.lower / q - 1e-9)
    last = math.floor(domain.upper / q + 1e-9)
    if last < first:
        raise InvalidError(f"{name} is {domain.domain_str}, want a multiple of its q={q} in it")
    made = Int if isinstance(domain, sample.Integer) else Float
    return made(first * q, last * q, step=q)


# ---- specs -------------------------------------------------------------------------------


def domains(spec: Any, path: Path = ()) -> Iterator[tuple[Path, Domain]]:
    """The domains of a spec and where they are, in its order."""
    if isinstance(spec, Domain):
        yield path, spec
    elif isinstance(spec, dict):
        for key, value in spec.items():
            yield from domains(value, (*path, key))
    elif isinstance(spec, (list, tuple)):
        for i, value in enumerate(spec):
            yield from domains(value, (*path, i))


def flat(spec: Any) -> dict[str, Domain]:
    """The domains of a spec by name."""
    found: dict[str, Domain] = {}
    for path, domain in domains(spec):
        name = name_of(path)
        if name in found:
            raise InvalidError(f"the space has {name} twice, want other names")
        found[name] = domain
    return found


def without_constants(spec: dict[Any, Any]) -> dict[Any, Any]:
    """Only what leads to a domain. Lists are kept whole, since Tune replaces them whole."""
    kept = {key: value for key, value in spec.items() if next(domains(value), None)}
    return {k: without_constants(v) if isinstance(v, dict) else v for k, v in kept.items()}


def filled(spec: Any, params: Mapping[str, Any], path: Path = ()) -> Any:
    """A config: values in the place of domains. What is inactive is left out."""
    if isinstance(spec, Domain):
        return params.get(name_of(path), _ABSENT)
    if isinstance(spec, dict):
        items = {key: filled(value, params, (*path, key)) for key, value in spec.items()}
        return {key: value for key, value in items.items() if value is not _ABSENT}
    if isinstance(spec, (list, tuple)):
        values = (filled(value, params, (*path, i)) for i, value in enumerate(spec))
        return _like(spec, [value for value in values if value is not _ABSENT])
    return spec


def params_of(spec: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a config has for the domains, nested or under joined names."""
    found = ((name_of(path), _at(config, path)) for path, _ in domains(spec))
    return {name: value for name, value in found if value is not _ABSENT}


def _at(config: Any, path: Path) -> Any:
    if name_of(path) in config:
        return config[name_of(path)]
    for key in path:
        try:
            config = config[key]
        except (KeyError, IndexError, TypeError):
            return _ABSENT
    return config
