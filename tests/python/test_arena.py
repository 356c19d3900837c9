"""bench/arena: the runs from the outside, as far as they need no environment of its own; the
report on runs that were made up; and, where bench/arena/setup was run, every method.

    COCABO_BUILD=build python -m pytest tests/python/test_arena.py
"""

import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time
from xml.etree import ElementTree

import pytest
from conftest import BUILD, ROOT

ARENA = ROOT / "bench/arena"
sys.path.append(str(ARENA))

import places  # noqa: E402  (and with it the path of bench/peers)
import figure  # noqa: E402
import players  # noqa: E402
import record  # noqa: E402
import report  # noqa: E402
from evaluator import Open  # noqa: E402
from families import FAMILIES, family  # noqa: E402
from families import coco, textbook  # noqa: E402
from results import Refused  # noqa: E402
from space import Space  # noqa: E402

BASE = os.access(places.python_of("base"), os.X_OK)


@pytest.fixture
def arena(tmp_path):
    return Arena(tmp_path / "results.jsonl")


class Arena:
    """bench/arena/run, into one file."""

    def __init__(self, path):
        self.path = path

    def command(self, *words, problem="textbook/branin", method="random,cocabo", seeds="0-1",
                n=8):
        return [sys.executable, str(ARENA / "arena.py"), "--problem", problem, "--method",
                method, "--seeds", seeds, "-n", str(n), "-o", str(self.path), *words]

    def run(self, *words, **kind):
        environment = {**os.environ, "COCABO_LIBRARY": str(BUILD / "libcocabo.so"),
                       "COCABO_BENCH": str(BUILD / "cocabo-bench")}
        return subprocess.run(self.command(*words, **kind), text=True, capture_output=True,
                              timeout=300, env=environment)

    def ok(self, *words, **kind):
        done = self.run(*words, **kind)
        assert (done.returncode, done.stdout) == (0, ""), done
        return done.stderr

    def refused(self, sentence, *words, **kind):
        done = self.run(*words, **kind)
        assert (done.returncode, done.stdout) == (2, ""), done
        assert done.stderr.count("\n") == 1 and sentence in done.stderr, done.stderr

    def runs(self):
        """Without what is never the same twice."""
        runs = sorted(record.read(str(self.path)), key=record.key_of)
        return [{key: value for key, value in run.items() if key != "cpu"} for run in runs]


# ---- runs ----------------------------------------------------------------------------

def test_a_run_is_a_line_with_its_values_and_its_points(arena):
    arena.ok(seeds="3")
    cocabo, random = arena.runs()
    assert (cocabo["method"], random["method"]) == ("cocabo", "random")
    for run in (cocabo, random):
        assert len(run["values"]) == len(run["points"]) == 8
        assert run["names"] == ["x1", "x2"]
        assert run["optimum"] == textbook.make("branin", 3).optimum
        for value, point in zip(run["values"], run["points"]):
            assert value == pytest.approx(textbook.branin(point), rel=1e-3)
    assert cocabo["build"]["options"] == {} and "build" not in random


def test_methods_are_told_what_is_to_be_minimised(arena):
    arena.ok(method="cocabo", seeds="0", n=30)
    [run] = arena.runs()
    first, last = run["values"][:6], run["values"][-10:]
    assert min(last) < 0.5 and statistics.median(last) < statistics.median(first)


def test_the_same_line_again_does_nothing_and_more_seeds_are_added(arena):
    assert "4 of 4 runs done, 0 were there" in arena.ok()
    before = arena.path.read_bytes()
    assert "0 of 4 runs done, 4 were there" in arena.ok()
    assert arena.path.read_bytes() == before
    assert "2 of 6 runs done, 4 were there" in arena.ok(seeds="0-2")
    assert arena.path.read_bytes().startswith(before)


def test_half_a_line_is_cut_off_and_its_run_played_again(arena):
    arena.ok(seeds="0-1")
    whole, text = arena.runs(), arena.path.read_text()
    arena.path.write_text(text[: text.rindex("values")])
    assert "1 of 4 runs done, 3 were there" in arena.ok(seeds="0-1")
    assert arena.runs() == whole


def test_a_killed_process_leaves_whole_lines_only(arena):
    child = subprocess.Popen(arena.command(method="random", seeds="0-999", n=200),
                             stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not arena.path.exists() or arena.path.read_bytes().count(b"\n") < 2:
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    data = arena.path.read_bytes()
    for line in data.split(b"\n")[:-1]:
        assert len(json.loads(line)["values"]) == 200
    there = len(record.parse("", data))
    said = arena.ok(method="random", seeds=f"0-{there + 2}", n=200)
    assert f"3 of {there + 3} runs done, {there} were there" in said


def test_ctrl_c_says_how_to_go_on(arena):
    child = subprocess.Popen(arena.command("--jobs", "2", method="random", seeds="0-999"),
                             stderr=subprocess.PIPE, text=True)
    while not arena.path.exists() or not arena.path.read_bytes():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[1]
    assert child.returncode == 130
    assert said.endswith("bench/arena/run: interrupted; the same line again goes on\n")
    assert len(arena.runs()) > 0


def test_two_jobs_make_the_same_runs_as_one(arena, tmp_path):
    other = Arena(tmp_path / "other.jsonl")
    arena.ok("--jobs", "2", seeds="0-3")
    other.ok(seeds="0-3")
    assert arena.runs() == other.runs()


def test_builds_have_names_options_and_checksums(arena, tmp_path):
    copy = tmp_path / "copy.so"
    copy.write_bytes((BUILD / "libcocabo.so").read_bytes() + b"\0")
    arena.ok("--library", f"new={copy}", "--set", "few:n_init=2", "--set", "acquisition=ei",
             method="cocabo@few,cocabo@new", seeds="0", n=6)
    few, new = arena.runs()
    assert few["build"]["options"] == {"acquisition": "ei", "n_init": "2"}
    assert new["build"]["options"] == {"acquisition": "ei"}
    assert few["build"]["library"] != new["build"]["library"]
    assert few["points"] != new["points"]
    arena.refused("the file has runs of another cocabo@few", method="cocabo@few", seeds="1")


def test_what_is_wrong_is_said_in_a_sentence(arena, tmp_path):
    arena.refused('unknown method "tpe"', method="tpe")
    arena.refused('unknown method "random@x"', method="random@x")
    arena.refused('there is no problem "textbook/brain"', problem="textbook/brain")
    arena.refused("there is no method cocabo@new", "--library", "new=x.so")
    arena.refused('--set is "n_init", want [NAME:]OPTION=VALUE', "--set", "n_init")
    arena.refused("cannot read the library", "--library", str(tmp_path / "none.so"))
    arena.path.write_text('{"problem": "x"}\n')
    arena.refused("line 1: this is no run of bench/arena")


def test_a_method_that_dies_is_reported_and_the_others_go_on(arena):
    done = arena.run("--set", "bad:n_init=many", method="cocabo@bad,random", seeds="0")
    assert done.returncode == 1
    assert "textbook/branin with cocabo@bad from seed 0 failed: " in done.stderr
    assert "n_init" in done.stderr
    assert [run["method"] for run in arena.runs()] == ["random"]


def test_choices_of_the_paper_are_listed_by_the_seed(monkeypatch):
    monkeypatch.setenv("COCABO_BENCH", str(BUILD / "cocabo-bench"))
    problems = [Open("paper/func-2c", seed, {}) for seed in range(4)]
    orders = {str(p.problem.parameters["h2"]["choices"]) for p in problems}
    assert len(orders) > 1
    values = {p.answer({"h1": "cam", "h2": "ros", "x1": 0.5, "x2": -1.0})["value"]
              for p in problems}
    assert len(values) == 1 and values.pop() >= problems[0].problem.optimum
    for p in problems:
        p.problem.close()


# ---- problems ------------------------------------------------------------------------

MINIMISERS = {
    "branin": [math.pi, 2.275], "six-hump": [0.0898420131, -0.7126564030],
    "hartmann-6": [0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730053],
    "levy-4": [1.0] * 4, "rastrigin-3": [0.0] * 3, "styblinski-tang-4": [-2.9035340277] * 4,
    "schwefel-2": [420.9687462275] * 2, "ackley-5": [0.0] * 5, "griewank-4": [0.0] * 4,
    "michalewicz-4": [2.2029055, 1.5707963, 1.2849916, 1.9230585],
}


@pytest.mark.parametrize("name", textbook.NAMES)
def test_optima_of_the_textbooks(name):
    problem, x = textbook.make(name, 0), MINIMISERS[name]

    def at(x):
        return problem.evaluate({f"x{i}": v for i, v in enumerate(x)})

    assert at(x) == pytest.approx(problem.optimum, abs=1e-6)
    boxes = [(entry["low"], entry["high"]) for entry in problem.parameters.values()]
    assert all(low < v < high for v, (low, high) in zip(x, boxes))
    assert any(abs(v - (low + high) / 2) > 1e-3 for v, (low, high) in zip(x, boxes))
    for i in range(len(x)):      # nothing beside it is better
        for step in (-1e-3, 1e-3):
            assert at([v + step * (k == i) for k, v in enumerate(x)]) > problem.optimum - 1e-9


def test_instances_for_choosing_and_for_reporting_have_nothing_in_common():
    choosing = {coco.instance(seed) for seed in range(100)}
    assert choosing == set(range(1, 6))
    assert [coco.instance(seed) for seed in (100, 101, 140)] == [11, 12, 51]


def test_inactive_values_are_left_out_and_failures_have_reasons():
    pytest.importorskip("sklearn")
    problem = Open("programs/xz-digits", 0, {})
    point = {"mode": "normal", "mf": "bt4", "dict_kb": 1024, "lc": 3, "lp": 0, "pb": 2,
             "nice_len": 64, "depth": 0, "delta": False}
    plain = problem.answer(point)
    other = problem.answer({**point, "dist": 7})
    assert plain == other and "dist" not in other["active"] and plain["value"] > 1000
    failed = problem.answer({**point, "lp": 4})
    assert failed["value"] is None and failed["reason"].startswith("LZMAError")


def test_noise_repeats_from_its_seed_and_has_the_mean_that_is_said():
    point = {"x1": 1.0, "x2": 2.0}
    first, again, other = (Open("noisy/branin", seed, {}) for seed in (0, 0, 1))
    told = [first.answer(point) for _ in range(400)]
    assert told == [again.answer(point) for _ in range(400)]
    assert told[0]["value"] != other.answer(point)["value"]
    assert {answer["mean"] for answer in told} == {textbook.branin([1.0, 2.0])}
    mean = sum(answer["value"] for answer in told) / 400
    assert mean == pytest.approx(told[0]["mean"], abs=4 * 3.0 / 20)


@pytest.mark.parametrize("name", FAMILIES)
def test_names_are_unique_and_need_no_package(name):
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import places; "
            "from families import family; print(*family(sys.argv[2]).NAMES)")
    done = subprocess.run([sys.executable, "-S", "-c", code, str(ARENA), name], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    assert len(set(names)) == len(names) == len(family(name).NAMES)


def test_cocabo_is_told_the_conditions():
    from players.cocabo_package import Package
    space = Space.read({
        "kind": {"type": "choice", "choices": ["a", "b", True]},
        "x": {"type": "float", "low": 0.1, "high": 1.0, "log": True, "if": {"kind": ["a"]}},
        "k": {"type": "int", "low": 1, "high": 9, "if": {"kind": ["b", True]}},
        "o": {"type": "ordinal", "choices": [8, 16], "if": {"kind": ["b"]}}})
    method = Package(space, 0, 20, {"noisy": False, "options": {}})
    seen = set()
    for i in range(20):
        point = method.ask()
        assert set(point) == {p.name for p in space.active(point)}
        seen.add(point["kind"])
        method.tell(point, None if i % 3 == 0 else float(i))
    assert seen == {"a", "b", True}
    assert method.best() == 19   # maximised


@pytest.mark.skipif(not BASE, reason="bench/arena/setup was not run")
@pytest.mark.parametrize("problem", ["programs/xz-digits", "programs/mlp-wine",
                                     "noisy/hartmann-6"])
def test_every_method_plays(arena, problem):
    methods = "hyperopt,optuna-tpe,optuna-tpe-group,smac3,cma"
    arena.ok(problem=problem, method=methods, seeds="0", n=25)
    runs = arena.runs()
    numbers = problem.startswith("noisy")
    assert [run["method"] for run in runs] == sorted(
        set(methods.split(",")) - (set() if numbers else {"cma"}))
    for run in runs:
        assert len(run["values"]) == 25
        if numbers:
            assert run["named"]["25"] in run["means"]
    arena.path.rename(arena.path.with_suffix(".first"))
    arena.ok(problem=problem, method=methods, seeds="0", n=25)
    assert arena.runs() == runs  # from the same seed


@pytest.mark.parametrize("method", ["hebo", "botorch"])
def test_slow_methods_play_from_their_own_points(arena, method):
    environment = players.entry(method).environment
    if not os.access(places.python_of(environment), os.X_OK):
        pytest.skip(f"the environment {environment} is not there")
    arena.ok(method=method, seeds="0,1", n=6)
    first, other = arena.runs()
    assert len(first["values"]) == 6 and first["points"] != other["points"]
    arena.path.rename(arena.path.with_suffix(".first"))
    arena.ok(method=method, seeds="0", n=6)
    assert arena.runs() == [first]


def test_who_cannot_play_is_not_asked_to():
    numbers = Space.read({"x": {"type": "float", "low": 0.0, "high": 1.0}})
    choices = {f"c{i}": {"type": "choice", "choices": list(range(15))} for i in range(2)}
    some = Space.read({"c0": choices["c0"]})
    many = Space.read(choices)   # 225 combinations
    able = {name: [players.can_play(name, space) for space in (numbers, some, many)]
            for name in players.PLAYERS}
    assert able.pop("cma") == [True, False, False]
    assert able.pop("botorch") == [True, True, False]
    assert all(map(all, able.values()))


# ---- the report ----------------------------------------------------------------------

def made_up(problem, method, seed, values, **more):
    return {"problem": problem, "method": method, "seed": seed, "total": len(values),
            "values": values, "cpu": [0.002] * len(values), "names": [], "points": [],
            "optimum": None, **more}


def reported(runs, ours="cocabo", times=(2, 4), known=None):
    found = report.build(report.families_of(runs, known or {}), ours, list(times))
    return found["families"]["f"]


def test_regrets_stuck_runs_ranks_and_pairs():
    found = reported([
        made_up("f/a", "random", 0, [9.0, 8.0, 7.0, 6.0]),
        made_up("f/a", "random", 1, [9.0, 6.0, 6.0, 4.0]),
        made_up("f/a", "random", 2, [9.0, None, 9.0, 8.0]),
        made_up("f/a", "cocabo", 0, [None, 2.0, 3.0, 1.0]),
        made_up("f/a", "cocabo", 1, [None, None, 9.0, 6.5]),
        made_up("f/a", "cocabo", 2, [7.0, 7.0, 7.0, 8.0]),
    ], known={"f/a": -1.0})
    ours = found["methods"]["cocabo"]
    # best -1, random's median 6 in the end: the scale is 7. Who has only failures has the
    # worst that was seen, 9.
    assert ours["regret"] == {2: pytest.approx((3 + 10 + 8) / 21),
                              4: pytest.approx((2 + 7.5 + 8) / 21)}
    assert found["methods"]["random"]["regret"][4] == pytest.approx((7 + 5 + 9) / 21)
    assert ours["stuck"] == {2: pytest.approx(1 / 3), 4: pytest.approx(2 / 3)}
    assert found["methods"]["random"]["stuck"][4] == pytest.approx(1 / 3)
    assert found["against"]["random"][2] == {"wins": 2, "ties": 0, "losses": 1, "p": None}
    assert found["against"]["random"][4] == {"wins": 2, "ties": 0, "losses": 1, "p": None}
    assert ours["rank"][4] == pytest.approx(4 / 3)
    assert ours["cpu_per_ask"] == pytest.approx(0.002)
    assert found["worst"][0] == {"problem": "f/a", "seed": 2, "regret": pytest.approx(8 / 7)}


def test_ties_share_ranks_and_are_neither_wins_nor_losses():
    found = reported([made_up("f/a", method, 0, [3.0, 1.0], optimum=0.0)
                      for method in ("random", "cocabo", "other")], times=(2,))
    assert found["against"]["other"][2] == {"wins": 0, "ties": 1, "losses": 0, "p": None}
    assert [m["rank"][2] for m in found["methods"].values()] == [2.0] * 3


def test_a_method_without_some_of_the_problems_has_no_rank():
    runs = [made_up(f"f/{name}", method, 0, [2.0, 1.0], optimum=0.0) for name in "ab"
            for method in ("random", "cocabo")]
    found = reported([*runs, made_up("f/a", "cma", 0, [2.0, 0.5], optimum=0.0)], times=(2,))
    assert {m: row["rank"][2] for m, row in found["methods"].items()} == {
        "cma": None, "cocabo": 1.5, "random": 1.5}
    assert found["methods"]["cma"]["regret"][2] == 0.5


def test_noisy_runs_are_judged_by_the_mean_of_what_was_named():
    noisy = dict(means=[4.0, 2.0], named={"2": 4.0}, optimum=0.0)
    found = reported([made_up("f/a", "cocabo", 0, [-9.0, 2.0], **noisy),
                      made_up("f/a", "random", 0, [1.0, 2.0], means=[3.0, 8.0],
                              named={"2": 8.0}, optimum=0.0)], times=(2,))
    assert found["methods"]["cocabo"]["regret"][2] == 0.5


def test_problems_that_random_solves_at_once_have_no_regret():
    found = reported([made_up("f/a", m, 0, [1.0, 1.0]) for m in ("random", "cocabo")])
    assert found["without_regret"] == ["f/a"]
    assert found["methods"]["cocabo"]["regret"] == {2: None}


def test_wilcoxon_agrees_with_scipy():
    # scipy.stats.wilcoxon(d, zero_method="wilcox", correction=True, method="asymptotic")
    d = [0.5, -0.1, 0.7, 0.2, -0.3, 0.9, 0.0, 0.2, 1.5, -0.2, 0.4]
    assert report.wilcoxon(d) == pytest.approx(0.0658396104945308, rel=1e-9)
    assert report.wilcoxon([-v for v in d]) == pytest.approx(0.0658396104945308, rel=1e-9)
    assert report.wilcoxon([1.0] * 5) is None


def test_the_report_of_a_file(arena, capsys):
    arena.ok(problem="textbook/branin,textbook/six-hump", seeds="0-2", n=26)
    assert report.main([str(arena.path), "--each", "--at", "10,25,100"]) == 0
    shown = capsys.readouterr().out
    assert "## textbook: 2 problems" in shown and "regret at 25" in shown
    assert "at 100" not in shown and "| textbook/six-hump | -1.03163 |" in shown
    assert report.main([str(arena.path), "--json", "--method", "random"]) == 0
    found = json.loads(capsys.readouterr().out)["families"]["textbook"]
    assert list(found["methods"]) == ["random"]
    assert found["methods"]["random"]["runs"] == 6
    assert report.main([str(arena.path), "--show", "textbook/branin:random:1"]) == 0
    assert capsys.readouterr().out.count("\n") == 29
    for words, sentence in ((["--at", "x"], '--at is "x"'), (["--seeds", "7"], "no runs"),
                            (["--show", "a:b:1"], "want PROBLEM:METHOD:SEED")):
        with pytest.raises(Refused, match=sentence):
            report.main([str(arena.path), *words])


def test_of_two_lengths_of_a_run_the_longer_counts(arena, capsys):
    arena.ok(method="random", n=5)
    arena.ok(method="random", n=9)
    report.main([str(arena.path), "--json", "--at", "9"])
    found = json.loads(capsys.readouterr().out)["families"]["textbook"]
    assert found["methods"]["random"]["runs"] == 2


# ---- the picture ---------------------------------------------------------------------

def falling(problem, method, seed, end, n=30):
    """From 2 down to `end` at the 20th evaluation; the optimum is 0."""
    return made_up(problem, method, seed, [2.0] * 19 + [end] * (n - 19), optimum=0.0)


def drawn(runs):
    families = report.families_of(runs, {})
    picture = figure.draw({name: list(found.values()) for name, found in families.items()})
    return ElementTree.fromstring(picture.encode())


def said(picture, kind):
    return [element.text for element in picture.iter(f"{{http://www.w3.org/2000/svg}}{kind}")]


def test_a_point_of_the_picture_is_the_mean_of_problems_with_its_error():
    runs = [falling("f/a", "random", 0, 1.0), falling("f/b", "random", 0, 0.5),
            falling("f/a", "cocabo", 0, 0.1), falling("f/a", "cocabo", 1, 0.3),
            falling("f/b", "cocabo", 0, 0.1), falling("f/b", "cocabo", 1, 0.2)]
    standings = list(report.families_of(runs, {})["f"].values())
    point = figure.point_at(standings, "cocabo", 25)
    # Regrets .1 and .3, and .2 and .4: variances .02 each, so .01 of each problem's mean.
    assert point.regret == pytest.approx(0.25)
    assert point.error == pytest.approx(math.sqrt(0.02) / 2)
    assert figure.point_at(standings, "random", 25).error is None
    assert figure.point_at(standings, "cocabo", 31) is None


def test_the_picture_has_a_panel_for_every_family_and_a_curve_for_whoever_played_all_of_it():
    runs = [falling(problem, method, 0, 1.0 if method == "random" else 0.5)
            for problem in ("textbook/a", "textbook/b", "programs/c", "strange/d")
            for method in ("random", "cocabo", "cocabo@x<y")]
    picture = drawn([*runs, falling("textbook/a", "cma", 0, 0.1)])
    words = [word for word in said(picture, "text") if ":" in word]
    assert words == ["programs: 1 problem", "textbook: 2 problems", "strange: 1 problem"]
    tips = said(picture, "title")
    assert tips.count("cocabo at 25: 0.5") == 3 and tips.count("random at 25: 1") == 3
    assert tips.count("cocabo@x<y at 25: 0.5") == 3
    assert "cma" not in said(picture, "text") and not any("cma" in tip for tip in tips)
    assert said(picture, "text")[-3:] == ["cocabo", "cocabo@x<y", "random"]


def test_who_is_better_is_drawn_lower():
    picture = drawn([falling("f/a", "random", 0, 1.0), falling("f/a", "cocabo", 0, 0.2)])
    space = "{http://www.w3.org/2000/svg}"
    ours = picture.find(f"{space}circle[{space}title]")
    theirs = [path for path in picture.iter(f"{space}path") if len(path)]
    assert ours[0].text == "cocabo at 25: 0.2" and theirs[0][0].text == "random at 25: 1"
    height = float(theirs[0].get("d")[1:].split()[0].split(",")[1])
    assert float(ours.get("cy")) > height + 50


def test_a_regret_of_nought_has_its_place_on_the_logarithmic_axis():
    picture = drawn([falling("f/a", "random", 0, 1.0), falling("f/a", "cocabo", 0, 0.0)])
    assert "cocabo at 25: 0" in said(picture, "title")
    assert {"0.001", "0.01", "0.1", "1"} <= set(said(picture, "text"))


def test_the_picture_goes_to_a_file_or_says_why_not(arena, tmp_path, capsys):
    arena.ok(seeds="0-2", n=26)
    path = tmp_path / "arena.svg"
    assert report.main([str(arena.path), "--figure", str(path)]) == 0
    assert "textbook: 1 problem" in said(ElementTree.parse(path), "text")
    for words, sentence in ((["--figure", str(tmp_path)], "cannot write"),
                            (["--figure", str(path), "--method", "cocabo"], "nothing to draw")):
        with pytest.raises(Refused, match=sentence):
            report.main([str(arena.path), *words])
