"""Pictures by matplotlib: they show what the program shows of the same study."""

import inspect
import json
import math
import re
import subprocess
import sys

import pytest

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("Agg")

import cocabo
import pictures
from cocabo import Choice, Float, Int, plot
from cocabo._plot_data import PlotData, Range, range_of

KINDS = ["history", "slices", "parallel", "categories", "importance", "steps"]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A study in a file, so that the program can look at it too."""
    path = tmp_path_factory.mktemp("plot") / "study.db"
    return pictures.machine(storage=path)


@pytest.fixture(scope="module")
def hostile():
    return pictures.hostile()


def ask_program(program, study, kind):
    command = [program, "plot", "--storage", study.storage, "--kind", kind, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def dots(ax, kind):
    """Where the signs of a kind of trials are."""
    found = [c for c in ax.collections if c.get_label() == f"_{kind}"]
    return [tuple(p) for c in found for p in c.get_offsets().tolist()]


def line(ax, label):
    return next(ln for ln in ax.lines if ln.get_label() == label)


def words(ax):
    """All texts of the figure that are drawn."""
    figure = ax.figure
    figure.canvas.draw()
    found = [t.get_text() for t in figure.findobj(lambda o: hasattr(o, "get_text"))]
    return [text for text in found if text]


# ---- against the program -------------------------------------------------------------------


def test_there_is_a_function_for_each_kind_of_the_program(program):
    said = subprocess.run([program, "plot", "--help"], capture_output=True, text=True).stdout
    kinds = re.findall(r"(?m)^  (\w+)  ", said.split("Kinds:")[1].split("Failed")[0])
    assert ["slices" if kind == "slice" else kind for kind in kinds] == KINDS
    assert sorted(plot.__all__) == sorted(KINDS)


def test_history_shows_the_trials_that_the_program_shows(program, stored):
    rows = ask_program(program, stored, "history")
    ax = plot.history(stored)
    good = [(r["number"], r["value"]) for r in rows if r["feasible"]]
    apart = [(r["number"], r["value"]) for r in rows if r["feasible"] is False]
    assert dots(ax, "good") == good and dots(ax, "apart") == apart
    assert len(good) > 9 and len(apart) > 1
    failed = [r["number"] for r in rows if r["state"] == "failed"]
    assert [x for x, _ in dots(ax, "failed")] == failed and failed
    assert {y for _, y in dots(ax, "failed")} == {0.975}  # of the height: the bad edge


def test_the_line_of_the_best_is_the_programs(program, stored):
    rows = ask_program(program, stored, "history")
    xs, ys = line(plot.history(stored), "_best so far").get_data()
    for row in rows:
        if row["best"] is not None:
            assert ys[max(i for i, x in enumerate(xs) if x <= row["number"])] == row["best"]
    assert xs[-1] == rows[-1]["number"]


def test_the_sentence_is_the_programs(program, stored, tmp_path):
    command = [program, "plot", "--storage", stored.storage, "-o", tmp_path / "p.svg"]
    subprocess.run(command, check=True, capture_output=True)
    assert PlotData(stored).sentence() in (tmp_path / "p.svg").read_text()
    assert PlotData(stored).sentence() in words(plot.history(stored))


def test_importance_has_the_programs_shares(program, stored):
    rows = ask_program(program, stored, "importance")
    ax = plot.importance(stored)
    assert [bar.get_width() for bar in ax.patches] == [row["share"] for row in rows]
    assert [t.get_text() for t in ax.get_yticklabels()] == [row["parameter"] for row in rows]
    ends = [ln.get_xdata() for ln in ax.lines]
    assert ends[0][1] == pytest.approx(rows[0]["share"] + rows[0]["se"])
    explained = int(100 * rows[0]["explained"])
    assert any(f"explains {explained} % of the variance" in text for text in words(ax))


def test_categories_count_what_the_program_counts(program, stored):
    rows = ask_program(program, stored, "categories")
    said = words(plot.categories(stored))
    for row in rows:
        tried = f"{row['tried']}, {row['failed']} \u00d7" if row["failed"] else f"{row['tried']}"
        assert tried in said and f"{row['best']:.4g}" in said


# ---- each kind -----------------------------------------------------------------------------


def test_slices_have_the_scales_of_their_domains(stored):
    kernel, c, gamma, degree, *_ = plot.slices(stored)
    assert [ax.get_xscale() for ax in (kernel, c, gamma, degree)] == ["linear", "log", "log", "linear"]
    assert [t.get_text() for t in kernel.get_xticklabels()] == ["linear", "poly", "rbf"]
    degree.figure.canvas.draw()
    assert all(tick == int(tick) for tick in degree.get_xticks())
    xs = [x for kind in ("good", "apart", "failed") for x, _ in dots(c, kind)]
    assert sorted(xs) == sorted(t["C"] for t in stored.trials)


def test_slices_leave_out_and_count_where_a_parameter_is_inactive(stored):
    _, _, gamma, degree, *_ = plot.slices(stored)
    for ax, name in ((gamma, "gamma"), (degree, "degree")):
        active = [t for t in stored.trials if name in t.params]
        shown = sum(len(dots(ax, kind)) for kind in ("good", "apart", "failed", "beyond"))
        assert 0 < shown == len(active) < 60
        assert f"{60 - len(active)} inactive" in ax.get_title(loc="left")
    best = stored.best_params
    assert ("degree" in best) == any(ln.get_label() == "_best" for ln in degree.lines)


def test_trials_of_one_choice_stand_side_by_side(stored):
    kernel = plot.slices(stored, params=["kernel"])[0]
    xs = [x for x, _ in dots(kernel, "good")]
    assert len(set(xs)) == len(xs)
    assert all(abs(x - round(x)) <= 0.3 for x in xs)


def test_parallel_has_a_line_a_trial_and_a_lane_for_the_inactive(stored):
    ax = plot.parallel(stored, ["degree", "kernel"])
    failed, complete = (c.get_segments() for c in ax.collections[:2])
    assert len(failed) == stored.count("failed") > 0
    assert len(complete) == stored.count("complete")
    best = complete[-1].tolist()  # the last one drawn
    assert [x for x, _ in best] == [0, 1, 2]
    assert (best[1][1] < -0.05) == ("degree" not in stored.best_params)
    assert all(0 <= y <= 1 for _, y in (s[2] for s in complete))
    said = words(ax)
    assert "inactive" in said and "degree" in said and "gamma" not in said


def test_parallel_puts_failures_at_the_bad_end():
    for direction, y in (("minimize", 1.0), ("maximize", 0.0)):
        study = cocabo.create_study({"x": Float(0, 1)}, direction=direction)
        study.add_trials([{"params": {"x": 0.3}, "value": v} for v in (1.5, 2.5)])
        study.add_trial({"x": 0.6}, state="fail")
        failed = plot.parallel(study).collections[0].get_segments()
        assert failed[0][0].tolist() == [0, y]


def test_categories_have_a_sign_for_each_kind_of_trial(stored):
    ax = plot.categories(stored, ["kernel"])
    crosses = sum(len(ln.get_xdata()) for ln in ax.lines if ln.get_marker() == "x")
    strip = [ln for ln in ax.lines if ln.get_marker() == "o" and ln.get_markersize() == 4]
    apart = sum(t.feasible is False for t in stored.trials)
    assert crosses == stored.count("failed") and sum(len(ln.get_xdata()) for ln in strip) == apart


def test_steps_are_lines_of_what_was_reported(stored):
    ax = plot.steps(stored)
    best = stored.best_trial
    reported = sum(bool(t.intermediate_values) for t in stored.trials)
    xs, ys = line(ax, f"_trial {best.number}").get_data()
    assert dict(zip(xs, ys)) == pytest.approx(best.intermediate_values)
    assert sum(ln.get_label().startswith("_trial") for ln in ax.lines) == 40
    assert any(f"40 of {reported} lines" in text.replace("\n", " ") for text in words(ax))


def test_steps_show_what_is_running():
    study = cocabo.create_study({"x": Float(0, 1)}, name="live")
    study.ask().report(0.37, 5)
    ax = plot.steps(study)
    assert "unfinished (1)" in words(ax)
    assert line(ax, "_trial 0").get_data()[1][0] == 0.37


# ---- values --------------------------------------------------------------------------------


def test_values_far_out_are_at_the_edge_and_counted(hostile):
    ax = plot.history(hostile)
    far = [t.number for t in hostile.trials if t.value is not None and t.value < -1e5]
    assert [x for x, _ in dots(ax, "beyond")] == far and len(far) > 2
    assert f"worse than shown ({len(far)})" in words(ax)
    assert ax.get_ylim()[0] > -10
    assert {y for _, y in dots(ax, "failed")} == {0.025}  # maximised: the lower edge


def test_good_values_are_never_beyond():
    values = [1.0 + i / 100 for i in range(50)]
    assert range_of([*values, -1e9], maximize=False).holds(-1e9)
    assert range_of([*values, 1e9], maximize=True).holds(1e9)
    assert not range_of([*values, 1e9], maximize=False).holds(1e9)
    assert not range_of([*values, -1e9], maximize=True).holds(-1e9)


def test_values_over_a_decade_are_logarithmic():
    study = cocabo.create_study({"x": Float(0, 1)})
    study.add_trials([{"params": {"x": i / 40}, "value": 1.3**i} for i in range(30)])
    ax = plot.history(study)
    assert ax.get_yscale() == "log" and ax.get_ylabel() == "value (logarithmic)"
    assert range_of([3.0, 400.0], maximize=True).log is False
    assert range_of([-3.0, -400.0], maximize=True).log is False
    assert range_of([-3.0, 400.0, 500.0], maximize=False).log is False


@pytest.mark.parametrize("values", [[2.5], [0.0], [7.25] * 9, [-1e308, 1e308], [5e-324, 3e-320]])
def test_any_values_have_a_range(values):
    for maximize in (False, True):
        shown = range_of(values, maximize)
        assert shown.low < shown.high and math.isfinite(shown.low + shown.high)
        best = (max if maximize else min)(values)
        assert 0 <= shown.share(best) <= 1


def test_a_share_runs_from_low_to_high():
    assert Range(1.0, 100.0, True).share(10.0) == pytest.approx(0.5)
    assert Range(-2.0, 6.0, False).share(0.0) == 0.25
    assert Range(-2.0, 6.0, False).share(9.0) == 1.0


def test_noise_shows_what_is_expected_of_the_best(hostile):
    ax = plot.history(hostile)
    mean, _ = hostile.expected(hostile.best_trial)
    assert line(ax, "_expected").get_ydata()[0] == pytest.approx(mean)
    said = words(ax)
    assert "luckiest so far" in said and "expected of it" in said
    guesses = cocabo.create_study({"x": Float(0, 1)}, sampler="random", deterministic=False)
    guesses.optimize(lambda trial: trial["x"], n_trials=5)
    assert "luckiest" in words(plot.history(guesses))


# ---- any study -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_odd_names_are_drawn_as_they_are(hostile, kind, style, tmp_path):
    with plt.style.context(style):
        axes = getattr(plot, kind)(hostile)
        ax = axes[0] if isinstance(axes, list) else axes
        said = words(ax)  # a formula would raise here
        assert any("alert('\\$x_1\\$')" in text for text in said)
        plt.savefig(tmp_path / "p.png")
        assert (tmp_path / "p.png").stat().st_size > 10_000


def test_inks_are_seen_on_a_dark_ground(stored):
    light = line(plot.history(stored), "_best so far").get_color()
    with plt.style.context("dark_background"):
        dark = line(plot.history(stored), "_best so far").get_color()
    assert light == "#1a1a1a" and dark == "#f0f0f0"


@pytest.mark.parametrize("kind", ["history", "parallel", "categories", "importance", "steps"])
def test_a_picture_goes_where_it_is_told(stored, kind):
    figure, axes = plt.subplots(1, 2, layout="constrained", figsize=(11, 4))
    assert getattr(plot, kind)(stored, ax=axes[1]) is axes[1]
    assert plt.get_fignums() == [figure.number] and not axes[0].has_data()
    assert axes[1].get_title(loc="left").startswith("svm: ")
    figure.canvas.draw()


def test_global_settings_stay(stored):
    before = dict(plt.rcParams)
    for kind in KINDS:
        getattr(plot, kind)(stored)
    assert dict(plt.rcParams) == before


def test_one_trial_is_enough():
    study = cocabo.create_study({"x": Float(0, 1), "k": Choice(["a"]), "n": Int(2, 2)})
    study.optimize(lambda trial: 3.25, n_trials=1)
    for kind in ("history", "slices", "parallel", "categories"):
        getattr(plot, kind)(study)
        plt.gcf().canvas.draw()


def test_trials_without_a_bounded_metric_are_shown_without_a_best():
    study = cocabo.create_study({"x": Float(0, 1), "k": Choice(["a", "b"])}, constraints=["p99 < 1"])
    rows = [(0.1, "a"), (0.3, "b"), (0.6, "a"), (0.7, "b"), (0.9, "a")]
    study.add_trials([{"params": {"x": x, "k": k}, "value": x} for x, k in rows])
    ax = plot.history(study)
    assert len(dots(ax, "apart")) == 5 and "best" not in words(ax)
    for kind in ("slices", "parallel", "categories", "importance"):
        getattr(plot, kind)(study)
        plt.gcf().canvas.draw()


def test_what_cannot_be_shown_is_said(stored):
    empty = cocabo.create_study({"x": Float(0, 1)}, name="empty")
    for kind in KINDS[:5]:
        with pytest.raises(cocabo.StateError, match="study empty has no complete trial"):
            getattr(plot, kind)(empty)
    with pytest.raises(cocabo.StateError, match="trial.report"):
        plot.steps(empty)
    empty.add_trial({"x": 0.5}, 1.5)
    with pytest.raises(cocabo.StateError, match="no choices"):
        plot.categories(empty)
    with pytest.raises(cocabo.InvalidError, match="there is no parameter c, want"):
        plot.slices(stored, ["c"])
    with pytest.raises(cocabo.InvalidError, match="want a list of names"):
        plot.parallel(stored, "C")
    with pytest.raises(cocabo.InvalidError, match="C is Float.*want choices"):
        plot.categories(stored, ["C"])
    assert plt.get_fignums() == []  # nothing is left behind


def test_many_parameters_are_the_most_important_ones():
    study = cocabo.create_study({f"x{i:02}": Float(0, 1) for i in range(30)}, seed=2)
    study.optimize(lambda trial: (trial["x27"] - 0.4) ** 2 + 0.2 * trial["x13"], n_trials=60)
    ax = plot.parallel(study)
    said = words(ax)
    assert "x27" in said and sum(re.fullmatch(r"x\d\d", text) is not None for text in said) == 15
    assert any("the 15 most important of 30 parameters" in text for text in said)
    assert len(plot.slices(study)) == 24


def test_every_function_says_what_it_draws():
    for kind in KINDS:
        assert inspect.getdoc(getattr(plot, kind))


def test_without_matplotlib_there_is_one_sentence():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import cocabo\n"
        "try: import cocabo.plot\n"
        "except ImportError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith("cocabo.plot needs matplotlib, which cannot be imported")
