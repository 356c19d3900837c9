"""Domains: what they take, what comes back, and what is refused with which sentence."""

import decimal
import enum
import pickle

import pytest

import cocabo
from cocabo import Bool, Choice, Float, Int, Ordinal


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Adam:
    pass


def propose(domain, n=30, **more):
    study = cocabo.create_study({"p": domain}, sampler="random", seed=3, deterministic=False, **more)
    return [trial["p"] for trial in study.ask(n)]


def test_five_choices_that_python_takes_for_fewer():
    given = [1, 1.0, True, "1", None]
    seen = propose(Choice(given), 60)
    for value in seen:
        assert any(value is choice for choice in given)
    assert {repr(value) for value in seen} == {"1", "1.0", "True", "'1'", "None"}


@pytest.mark.parametrize("given", [[(1, 2), (3,)], [Colour.RED, Colour.BLUE], [Adam, dict],
                                   [decimal.Decimal("0.1"), 2]])
def test_objects_come_back_themselves(given):
    for value in propose(Choice(given)):
        assert any(value is choice for choice in given)


def test_named_objects_are_stored_by_their_names(storage):
    space = {"opt": Choice({"adam": Adam(), "other": object()})}
    study = cocabo.create_study(space, storage=storage, seed=1)
    study.tell(study.ask(), 1.5)
    assert isinstance(study.trials[0]["opt"], object)
    again = cocabo.load_study(storage=storage)
    assert again.trials[0]["opt"] in ("adam", "other")
    assert again.space == {"opt": Choice(["adam", "other"])}


def test_values_are_found_by_what_they_are():
    adam = Adam()
    study = cocabo.create_study(
        {"p": Choice({"a": adam, "b": 10}), "q": Choice([1, 1.0, True, (2, 3)])}
    )
    study.add_trial({"p": adam, "q": True}, 1.25)
    study.add_trial({"p": "a", "q": (2, 3)}, 1.5)
    study.add_trial({"p": 10, "q": 1.0}, 1.75)
    assert [t.params for t in study.trials] == [
        {"p": adam, "q": True}, {"p": adam, "q": (2, 3)}, {"p": 10, "q": 1.0}]
    assert type(study.trials[2]["q"]) is float
    with pytest.raises(ValueError, match="q is 2, want one of"):
        study.add_trial({"p": 10, "q": 2}, 1)


def test_an_address_is_refused():
    with pytest.raises(ValueError, match="address in its repr.*Choice\\({'name': object}\\)"):
        Choice([Adam(), 3])


def test_equal_texts_are_refused():
    with pytest.raises(ValueError, match="choices 0 and 1 are both"):
        Choice(["(1, 2)", (1, 2)])


def test_numpy_scalars():
    numpy = pytest.importorskip("numpy")
    study = cocabo.create_study({"f": Float(0, numpy.float32(1)), "i": Int(numpy.int64(1), 5),
                                 "c": Choice([numpy.int64(3), numpy.bool_(True), "x"])})
    study.add_trial({"f": numpy.float64(0.25), "i": numpy.int32(2), "c": 3}, numpy.float64(1.5))
    params = study.trials[0].params
    assert type(params["f"]) is float and type(params["i"]) is int
    assert params["c"] == 3 and isinstance(params["c"], numpy.int64)


@pytest.mark.parametrize("domain", [
    Float(0.5, 2.5), Float(1e-3, 10, log=True), Float(0, 1, step=0.25), Int(3, 9), Int(1, 99, log=True),
    Int(8, 64, step=8), Choice(["a", 2, None]), Ordinal(["s", "m", "l"]), Bool()])
def test_a_domain_comes_back_from_the_library(domain, storage):
    cocabo.create_study({"p": domain}, storage=storage)
    assert cocabo.load_study(storage=storage).space == {"p": domain}
    assert eval(repr(domain)) == domain
    assert pickle.loads(pickle.dumps(domain)) == domain
    assert hash(pickle.loads(pickle.dumps(domain))) == hash(domain)


def test_bounds_are_included():
    assert set(propose(Int(3, 5))) == {3, 4, 5}
    assert set(propose(Int(8, 24, step=8))) == {8, 16, 24}
    assert all(type(v) is int for v in propose(Int(3, 5)))
    assert {round(v, 9) for v in propose(Float(0, 0.3, step=0.1))} == {0, 0.1, 0.2, 0.3}


@pytest.mark.parametrize("space, sentence", [
    ({"lr": Float(1, 0)}, "lr"), ({"lr": Float(0, 1, log=True)}, "lr"),
    ({"n": Int(1, 10, step=0)}, "n: step is 0, want at least 1"),
    ({"lr": 3}, "the domain of lr is 3, want Float"),
    ({"c": Choice([])}, "c"), ({3: Float(0, 1)}, "the name of a parameter is 3, want a str"),
    ({"a\0b": Float(0, 1)}, "NUL"),
    ({"x": Float(0, 1, when="y > 1")}, "y"),
    ([("x", Float(0, 1))], "space is"),
])
def test_what_is_wrong_is_named(space, sentence):
    with pytest.raises(ValueError) as raised:
        cocabo.create_study(space)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("made, sentence", [
    (lambda: Float("a", 1), "low is 'a', want a number"),
    (lambda: Int(0.5, 1), "low is 0.5, want an integer"),
    (lambda: Int(0, 2**70), "64 bits"),
    (lambda: Choice("abc"), "choices are 'abc', want a sequence"),
    (lambda: Choice({1: 2}), "the name of a choice is 1, want a str")])
def test_domains_that_cannot_be(made, sentence):
    with pytest.raises(ValueError, match=sentence):
        made()


def test_conditions_and_rules():
    space = {"kernel": Choice(["linear", "poly", "rbf"]),
             "degree": Int(2, 5, when="kernel == 'poly'"),
             "gamma": Float(1e-3, 1, log=True, when="kernel in ('poly', 'rbf')"),
             "c": Float(0, 1)}
    study = cocabo.create_study(space, where=["degree <= 3 or c < 0.5"], seed=2)
    for trial in study.ask(40):
        kernel = trial["kernel"]
        assert ("degree" in trial.params) == (kernel == "poly")
        assert ("gamma" in trial.params) == (kernel != "linear")
        assert trial.params.get("degree", 0) <= 3 or trial["c"] < 0.5
    assert study.where == ["degree <= 3 or c < 0.5"]
    with pytest.raises(ValueError, match="where is 'c < 1', want a list"):
        cocabo.create_study(space, where="c < 1")
    with pytest.raises(ValueError, match="rule|point"):
        cocabo.create_study({"c": Float(0, 1)}, where=["c > 2"])
