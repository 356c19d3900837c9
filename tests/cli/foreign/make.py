#!/usr/bin/env python3
"""Writes the files of ConfigSpace in this folder, and points with ConfigSpace's word on
whether they are legal: tests/cli/test_foreign.py holds ours against it. Once with
ConfigSpace 0.7 and numpy below 2, once with 1.x:

    python3 tests/cli/foreign/make.py
"""

import importlib.metadata
import json
import pathlib
import random

import ConfigSpace as CS
from ConfigSpace import hyperparameters as H

HERE = pathlib.Path(__file__).resolve().parent
OLD = importlib.metadata.version("ConfigSpace").startswith("0.")
N = 60  # points of either kind


def add(space, parameters, conditions, forbidden):
    if OLD:
        space.add_hyperparameters(parameters)
        space.add_conditions(conditions)
        space.add_forbidden_clauses(forbidden)
    else:
        space.add(*parameters, *conditions, *forbidden)


def everything():
    """All kinds of parameters, conditions and clauses."""
    step, whole_step = ({"q": 0.25}, {"q": 4}) if OLD else ({}, {})
    size = H.UniformIntegerHyperparameter("size", 1, 64, log=True)
    width = H.UniformFloatHyperparameter("width", 0.0, 2.0, **step)
    units = H.UniformIntegerHyperparameter("units", 8, 32, **whole_step)
    kernel = H.CategoricalHyperparameter("kernel", ["linear", "poly", "rbf"],
                                         weights=[1, 2, 1])
    degree = H.UniformIntegerHyperparameter("degree", 2, 5)
    gamma = H.UniformFloatHyperparameter("gamma:scale", 1e-3, 1.0, log=True)
    level = H.OrdinalHyperparameter("level", ["low", "mid", "high", "top"])
    order = H.OrdinalHyperparameter("order", [8, 1, 4, 2])
    extra = H.UniformFloatHyperparameter("extra", -1.0, 1.0)
    shrink = H.CategoricalHyperparameter("shrink", [True, False])
    tolerance = H.UniformFloatHyperparameter("tol", 0.0, 0.5)
    code = H.CategoricalHyperparameter("code", [1, 2, 3])
    late = H.UniformIntegerHyperparameter("a-late", 0, 3)
    others = [H.UniformFloatHyperparameter("rate", 1e-5, 1.0, log=True),
              H.NormalFloatHyperparameter("normal", 0.0, 1.0, lower=-2.0, upper=2.0),
              H.BetaIntegerHyperparameter("beta", 2, 3, lower=1, upper=9),
              H.Constant("fixed", "yes")]
    conditions = [
        CS.EqualsCondition(degree, kernel, "poly"),
        CS.InCondition(gamma, kernel, ["poly", "rbf"]),
        CS.AndConjunction(CS.NotEqualsCondition(extra, kernel, "linear"),
                          CS.GreaterThanCondition(extra, level, "low"),
                          CS.LessThanCondition(extra, order, 2)),
        CS.OrConjunction(CS.EqualsCondition(tolerance, shrink, True),
                         CS.GreaterThanCondition(tolerance, degree, 3)),
        CS.LessThanCondition(late, extra, 0.25)]
    forbidden = [
        CS.ForbiddenAndConjunction(CS.ForbiddenEqualsClause(kernel, "rbf"),
                                   CS.ForbiddenInClause(level, ["low", "top"])),
        CS.ForbiddenAndConjunction(CS.ForbiddenEqualsClause(degree, 2),
                                   CS.ForbiddenEqualsClause(code, 3)),
        CS.ForbiddenGreaterThanRelation(size, units)]
    if not OLD:
        forbidden.append(CS.ForbiddenOrConjunction(
            CS.ForbiddenAndConjunction(CS.ForbiddenGreaterThanClause(width, 1.5),
                                       CS.ForbiddenEqualsClause(shrink, False)),
            CS.ForbiddenEqualsClause(code, 2)))
    space = CS.ConfigurationSpace(name="everything", seed=3)
    add(space, [size, width, units, kernel, degree, gamma, level, order, extra, shrink,
                tolerance, code, late, *others], conditions, forbidden)
    return space


def for_pcs():
    """What SMAC's format knows."""
    mode = H.CategoricalHyperparameter("mode", ["a", "b", "c"])
    solver = H.CategoricalHyperparameter("sp-solver", [0, 1, 2])
    rate = H.UniformFloatHyperparameter("rate", 1e-5, 1.0, log=True)
    size = H.UniformIntegerHyperparameter("size", 1, 64)
    depth = H.UniformIntegerHyperparameter("depth", 1, 9)
    level = H.OrdinalHyperparameter("level", ["low", "mid", "high"])
    conditions = [CS.AndConjunction(CS.InCondition(depth, mode, ["a", "b"]),
                                    CS.GreaterThanCondition(depth, level, "low")),
                  CS.NotEqualsCondition(size, mode, "c")]
    forbidden = [CS.ForbiddenAndConjunction(CS.ForbiddenEqualsClause(mode, "b"),
                                            CS.ForbiddenEqualsClause(solver, 2))]
    space = CS.ConfigurationSpace(seed=4)
    add(space, [mode, solver, rate, size, depth, level], conditions, forbidden)
    return space


def plain(value):
    return value.item() if hasattr(value, "item") else value


def is_legal(space, params):
    try:
        point = CS.Configuration(space, values=params)
        (point.is_valid_configuration if OLD else point.check_valid_configuration)()
        return True
    except Exception:
        return False


def points(space):
    """Some that ConfigSpace drew, and neighbours of those that it does not take: with a
    value of another point, or with one too few or too many."""
    draw = random.Random(5)
    legal = [{k: plain(v) for k, v in dict(point).items()}
             for point in space.sample_configuration(40 * N)]
    found = [{"params": p, "legal": True} for p in legal[:N]]
    wrong = []
    while len(wrong) < N:
        params, other = dict(draw.choice(legal)), draw.choice(legal)
        name = draw.choice(sorted(set(params) | set(other)))
        if name in other:
            params[name] = other[name]
        else:
            del params[name]
        if not is_legal(space, params):
            wrong.append({"params": params, "legal": False})
        elif draw.random() < 0.05:
            found.append({"params": params, "legal": True})
    return found + wrong


def write_points(name, space):
    lines = [json.dumps(point) for point in points(space)]
    (HERE / name).write_text("\n".join(lines) + "\n")


def main():
    if OLD:
        from ConfigSpace.read_and_write import json as writer, pcs, pcs_new
        (HERE / "configspace-0.7.json").write_text(writer.write(everything()) + "\n")
        text = pcs_new.write(for_pcs())
        (HERE / "new.pcs").write_text(text + "\n")
        write_points("configspace-0.7.points", everything())
        write_points("new.points", pcs_new.read(text.splitlines()))
    else:
        everything().to_json(HERE / "configspace-1.json", indent=1)
        everything().to_yaml(HERE / "configspace-1.yaml")
        write_points("configspace-1.points", everything())


main()
