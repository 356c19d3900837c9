"""A study in a notebook: well-formed, harmless, and readable on any ground."""

import xml.etree.ElementTree as xml

import pytest

import cocabo
import pictures
from cocabo import Float


def page(study):
    """The page as a tree; it is XML as well as HTML."""
    return xml.fromstring(study._repr_html_())


def text(study):
    return " ".join(page(study).itertext())


def counts(study):
    apart = sum(t.feasible is False for t in study.trials)
    found = study.count("complete"), study.count("failed"), apart
    assert all(found)
    return found


@pytest.fixture(scope="module")
def machine():
    return pictures.machine()


def test_it_shows_the_best_and_the_counts(machine):
    best = machine.best_trial
    complete, failed, apart = counts(machine)
    said = text(machine)
    good = f"best of {complete - apart} feasible trials"
    assert f"{good}: {best.value:.6g}, trial {best.number}" in said
    assert f"{complete} complete, {failed} failed, {apart} of the complete infeasible" in said
    cells = [cell.text for cell in page(machine).iter("td")]
    assert dict(zip(cells[::2], cells[1::2]))["kernel"] == best.params["kernel"]
    assert cells[::2] == [*best.params, "ms"]


def test_every_kind_of_trial_has_its_sign(machine):
    paths = [p.get("d") for p in page(machine).iter("path")]
    _, failed, apart = counts(machine)
    assert sum(d.count("l6,6m0,-6") for d in paths) == failed  # crosses
    assert sum(d.count("a2.2,2.2") for d in paths) == 2 * apart  # rings, of two arcs
    assert sum(d.endswith("z") for d in paths) == 1  # the diamond


def test_the_line_never_gets_worse(machine):
    line = next(p for p in page(machine).iter("path") if p.get("stroke-width") == "1.6")
    ys = [float(part.split("V")[1]) for part in line.get("d").split("H") if "V" in part]
    assert len(ys) > 3 and ys == sorted(ys)  # minimised: down the page


def test_names_are_never_markup():
    study = pictures.hostile()
    html = study._repr_html_()
    tree = page(study)
    assert {node.tag for node in tree.iter()} <= {"div", "b", "table", "tr", "td", "svg", "title", "path", "text"}
    assert "<script" not in html and "<i>" not in html and "&amp;amp;" in html
    assert "<script>alert('$x_1$')</script> & \"more\" of it" in " ".join(tree.itertext())
    assert all(not name.startswith("on") for node in tree.iter() for name in node.attrib)


def test_no_ink_hides_on_a_dark_ground(machine):
    html = machine._repr_html_()
    assert "background:#" not in html and "color:#" not in html
    for node in page(machine).iter():
        for ink in (node.get("stroke"), node.get("fill")):
            assert ink in (None, "none", "currentColor", "#8fa3b8", "#d55e00")


def test_a_study_without_values_has_a_page():
    study = cocabo.create_study({"x": Float(0, 1)}, name="new")
    assert "no trial is complete yet" in text(study) and "no trials yet" in text(study)
    trial = study.ask()
    assert "1 running" in text(study)
    study.tell(trial, state="fail")
    assert "1 failed" in text(study)
    study.add_trial({"x": 0.5}, 2.25)
    assert "best of 1 complete trial: 2.25, trial 1" in text(study)
    assert page(study).find(".//svg") is None  # one value is no curve


def test_equal_values_have_a_curve():
    study = cocabo.create_study({"x": Float(0, 1)})
    study.add_trials([{"params": {"x": i / 9}, "value": 7.5} for i in range(9)])
    labels = [t.text for t in page(study).iter("text")]
    assert labels == ["7.5", "0", "trial 8"]


def test_all_infeasible_is_said():
    study = cocabo.create_study({"x": Float(0, 1)}, constraints=["p99 < 1"])
    for x in (0.25, 0.75):
        study.add_trial({"x": x}, metrics={"value": x, "p99": 5.5})
    assert "none feasible, least violation" in text(study)


def test_a_metric_that_nobody_measured_is_said():
    study = cocabo.create_study({"x": Float(0, 1)}, constraints=["p99 < 1"])
    study.add_trials([{"params": {"x": x}, "value": x} for x in (0.25, 0.75)])
    assert "no trial has every metric that is bounded" in text(study)
    assert page(study).find(".//svg") is not None  # the values are there to be seen


def test_a_closed_study_is_its_repr():
    study = cocabo.create_study({"x": Float(0, 1)})
    study.close()
    assert text(study) == "<cocabo.Study, closed>"


def test_thousands_of_trials_make_a_small_page():
    study = cocabo.create_study({"x": Float(0, 1)}, sampler="random")
    study.add_trials([{"params": {"x": (i * 0.618) % 1}, "value": (i * 0.381) % 1} for i in range(5000)])
    assert len(study._repr_html_()) < 100_000
