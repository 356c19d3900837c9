"""The page's modules one by one, in the browser: what they compute, without a server."""

import pytest
from conftest import ROOT

PAGE = ROOT / "http/page"
PLACE = "http://modules.test/"


@pytest.fixture(scope="module")
def run(chromium):
    """run(module, body, argument): body is a function of the module and the argument."""
    context = chromium.new_context()
    page = context.new_page()

    def serve(route):
        name = route.request.url.removeprefix(PLACE)
        if name == "":
            return route.fulfill(body="<!doctype html>", content_type="text/html")
        return route.fulfill(path=PAGE / name, content_type="text/javascript")

    page.route(PLACE + "**", serve)
    page.goto(PLACE)

    def call(module, body, argument=None):
        code = f"async (a) => {{ const m = await import('./{module}'); return ({body})(m, a); }}"
        return page.evaluate(code, argument)

    yield call
    context.close()


def test_numbers_are_short_and_exact(run):
    values = [0, 1, -2.5, 480772, 0.0314159265, 1.25e-7, 123456789, 1e300, None]
    texts = run("numbers.js", "(m, a) => a.map((v) => m.number(v))", values)
    assert texts == ["0", "1", "−2.5", "480772", "0.0314159", "1.25e-7", "1.23457e8", "1e300", "–"]
    seconds = run("numbers.js", "(m, a) => a.map((v) => m.duration(v))", [0.0314, 7.25, 75, 4000, 1e6])
    assert seconds == ["31 ms", "7.3 s", "1 min 15 s", "1 h 6 min", "12 days"]
    choices = run("numbers.js", "(m, a) => a.map(m.choiceText)", ["a", "", 1, True, None, "1", "null", "1 a"])
    assert choices == ["a", '""', "1", "true", "null", '"1"', '"null"', "1 a"]


def test_scales_are_inverse_and_their_ticks_are_round(run):
    body = """(m, [low, high, log]) => {
      const s = new m.NumberScale(low, high, log).span(300, 20);
      const there = [low, (low + high) / 3, high].map((v) => s.back(s.at(v)));
      return [there, s.at(low), s.at(high), s.ticks(5).map((t) => t.text)];
    }"""
    for low, high, log in [(0, 7.3, False), (-3, 1e4, False), (1e-5, 0.1, True), (2, 9, True)]:
        there, bottom, top, ticks = run("scale.js", body, [low, high, log])
        wanted = [low, (low + high) / 3, high]
        assert there == pytest.approx(wanted, rel=1e-9)
        assert (bottom, top) == pytest.approx((300, 20))
        assert 2 <= len(ticks) <= 8
    assert run("scale.js", body, [1e-5, 0.1, True])[3] == ["1e-5", "0.0001", "0.001", "0.01", "0.1"]
    whole = "(m) => new m.NumberScale(2, 5, false, true).ticks(6).map((t) => t.value)"
    assert run("scale.js", whole) == [2, 3, 4, 5]


def test_one_far_value_does_not_squeeze_the_others(run):
    body = "(m, [v, good]) => m.valueRange(Float64Array.from(v).sort(), good)"
    values = [1, 1.1, 1.2, 1.4, 1.5, 1.7, 2, 2.1, 1e6]
    low, high = run("scale.js", body, [values, -1])
    assert low < 1 and 2.1 < high < 10
    assert run("scale.js", body, [values, 0])[1] > 1e6
    low, high = run("scale.js", body, [[-v for v in values], 1])
    assert -10 < low < -2.1 and high > -1


def test_order_by_is_stable_and_puts_what_is_not_known_last(run):
    keys = [3, 1, None, 2, 1, 3, -5]
    body = "(m, a) => [...m.orderBy(a.map((v) => (v === null ? NaN : v)))]"
    assert run("trials.js", body, keys) == [6, 1, 4, 3, 0, 5, 2]


TRIALS = """(values, more = {}) => {
  const t = new m.Trials([{ name: "x" }]);
  const n = values.length;
  t.apply({ seq: n, next: n, count: n, number: values.map((_, i) => i),
    state: values.map((v) => (v === null ? 3 : 2)), origin: values.map(() => 2),
    attempt: values.map(() => 0), value: values, feasible: values.map(() => 1),
    started: values.map((_, i) => i), finished: values.map((_, i) => i + 1),
    params: [values.map((_, i) => i % 3)], metrics: {}, reasons: {}, ...more });
  return t;
}"""


def test_trials_that_change_are_written_over_their_rows(run):
    body = """(m) => {
      const t = (%s)([5, null, 7]);
      t.apply({ seq: 9, next: 9, count: 4, number: [3, 1], state: [1, 2], origin: [2, 2],
        attempt: [0, 1], value: [null, 4], feasible: [null, 0], started: [9, 9],
        finished: [null, 10], params: [[0.5, 0.25]], metrics: { ms: [null, 12] } });
      return [t.n, [...t.value.slice(0, 4)].map(String), [...t.state.slice(0, 4)],
        [...t.feasible.slice(0, 4)], t.params[0][1], [...t.metrics.get("ms").slice(0, 4)].map(String),
        t.next, m.improvements(t, m.rowsByNumber(t), 1).value];
    }""" % TRIALS
    n, values, states, feasible, x, ms, after, best = run("trials.js", body)
    assert n == 4 and values == ["5", "4", "7", "NaN"] and states == [2, 2, 2, 1]
    assert feasible == [1, 0, 1, -1] and x == 0.25 and ms == ["NaN", "12", "NaN", "NaN"]
    assert after == 9 and best == [5]  # the 4 breaks a constraint


def test_goodness_is_the_rank_in_either_direction(run):
    body = "(m, s) => { const g = m.goodness((%s)([5, null, 1, 3]), s); return [[...g.good].map(String), [...g.sorted], [...g.ranked]]; }"
    assert run("trials.js", body % TRIALS, 1) == [["0", "NaN", "1", "0.5"], [1, 3, 5], [0, 3, 2]]
    assert run("trials.js", body % TRIALS, -1) == [["1", "NaN", "0", "0.5"], [1, 3, 5], [2, 3, 0]]


def test_the_median_of_repeats_may_get_worse_again(run):
    # x is the number modulo 3; point 0 has 5, 3, 9, point 1 has 4, 6.
    body = "(m, a) => { const t = (%s)(a); return m.medianSoFar(t, m.rowsByNumber(t), 1); }"
    curve = run("trials.js", body % TRIALS, [5, 4, None, 3, 6, None, 9])
    assert curve["x"] == [3, 6] and curve["median"] == [4, 5]
    assert curve["low"] == [3.5, 4] and curve["high"] == [4.5, 7]


def test_steps_come_to_one_axis(run):
    data = run("curves.js", "(m, a) => m.alignSteps(a)",
               [{"x": [1, 4], "y": [9, 7], "end": 6}, {"x": [0, 2], "y": [5, 1], "end": 4}])
    assert data == [[0, 1, 2, 4, 6], [None, 9, 9, 7, 7], [5, 5, 1, 1, None]]


def test_repeats_are_told_by_their_names_and_become_quartiles(run):
    names = ["svm-seed-3", "svm_4", "a run 7", "svm", "12", "beam-v2"]
    stems = run("compare.js", "(m, a) => a.map(m.stemOf)", names)
    assert stems == ["svm", "svm", "a", "svm", "12", "beam-v"]
    q = run("compare.js", "(m, a) => m.quartiles(a)", [
        {"x": [0], "y": [4], "end": 9}, {"x": [0, 2], "y": [8, 2], "end": 5}, {"x": [0], "y": [6], "end": 7}])
    assert q["x"] == [0, 2, 5] and q["median"] == [6, 4, 4] and q["low"] == [5, 3, 3]


def test_the_front_is_what_nobody_beats(run):
    points = [[1, 9], [2, 5], [3, 6], [4, 1], [1, 8], [5, 0.5], [4, 2]]
    body = "(m, a) => m.paretoFront(a.map((_, i) => i), (i) => a[i][0], (i) => a[i][1])"
    front = run("scatter.js", body, points)
    beaten = [any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points) for p in points]
    assert sorted(front) == [i for i, b in enumerate(beaten) if not b]


def test_constraints_are_read(run):
    body = "(m, a) => a.map(m.parseConstraint)"
    assert run("scatter.js", body, ["p99 < 200", "`a b` >= -1.5e3", "odd"]) == [
        {"name": "p99", "sense": 1, "bound": 200}, {"name": "a b", "sense": -1, "bound": -1500}, None]


def test_lanes_hold_one_trial_at_a_time(run):
    started, ended = [0, 0, 1, 2, 2.5, 4], [2, 1, 3, 4, 5, 6]
    body = """(m, [s, e]) => { const { lanes, used } =
      m.assignLanes(s.map((_, i) => i), s, (i) => e[i]); return [[...lanes], used]; }"""
    lanes, used = run("timeline.js", body, [started, ended])
    assert used == 3
    for i in range(6):
        for j in range(i):
            if lanes[i] == lanes[j]:
                assert ended[j] <= started[i]


def test_an_isoline_lies_where_the_field_has_its_level(run):
    body = """(m, rows) => { const found = []; m.isoline(rows, 3, (a, b) => found.push(a, b));
      return found; }"""
    rows = [[x + 2 * y for x in range(5)] for y in range(4)]
    found = run("contour.js", body, rows)
    assert len(found) >= 8
    assert all(x + 2 * y == pytest.approx(3) for x, y in found)


PARAMETERS = [{"name": n, "kind": k} for n, k in [("x", "float"), ("depth", "int"), ("mode", "choice")]]


@pytest.mark.parametrize(("command", "params", "line"), [
    (["prog", "--x", "{x}", "--depth", "{depth}"], {"x": 0.5}, "prog --x 0.5"),
    (["prog", "--depth={depth}", "-v", "{x}"], {"x": 0.5}, "prog -v 0.5"),
    (["prog", "{depth:-7}", "{{x}}", "${x}"], {"x": 0.5}, "prog 7 '{x}' '$0.5'"),
    (["sh", "-c", "run {x} {depth}"], {"x": 0.5}, "sh -c 'run 0.5 '"),
    (["p", "{mode}"], {"mode": "it's"}, "p 'it'\\''s'"),
    (None, {"x": 0.5, "mode": "a b"}, "--x=0.5 '--mode=a b'"),
])
def test_command_lines_have_the_parameters_in_their_places(run, command, params, line):
    body = "(m, [c, p, all]) => m.commandLine(c, p, all)"
    assert run("words.js", body, [command, params, PARAMETERS]) == line


def test_python_keeps_types_apart(run):
    text = run("words.js", "(m, [p, all]) => m.pythonDict(p, all)",
               [{"x": 1, "depth": 1, "mode": None}, PARAMETERS])
    assert text == 'params = {\n    "x": 1.0,\n    "depth": 1,\n    "mode": None,\n}'


def test_a_sparkline_is_one_path(run):
    body = """(m, p) => { const s = m.sparkline(p, 10);
      return [s.querySelector("path").getAttribute("d"), s.children.length]; }"""
    path, children = run("list.js", body, [[0, 4], [3, 2], [7, 1]])
    assert path.startswith("M3.0,4.0H") and path.count("V") == 2 and children == 2
    rising, _ = run("list.js", body, [[0, 1], [3, 2], [7, 4]])  # of a study that maximises
    assert rising.startswith("M3.0,24.0H") and "V4.0H" in rising


def test_events_are_heard_whole_however_they_arrive(run):
    body = """async (m) => {
      const text = 'event: change\\ndata: {"seq":1}\\n\\n: still here\\n\\nevent: gone\\ndata: {}\\n\\n';
      const bytes = new TextEncoder().encode(text);
      const pieces = new ReadableStream({ start(c) {
        for (let i = 0; i < bytes.length; i += 7) c.enqueue(bytes.slice(i, i + 7));
        c.close(); } });
      window.fetch = async () => new Response(pieces);
      const heard = [];
      await m.openDoor().follow("/x", undefined, (e, d) => heard.push([e, d]));
      return heard;
    }"""
    assert run("api.js", body) == [["change", {"seq": 1}], ["gone", {}]]


@pytest.mark.parametrize("ends", [
    (3, 10, 43, 10), (3, 10, 43, 31), (43, 31, 3, 10), (20, 5, 26, 55), (26, 55, 20, 5), (9, 9, 9, 9)])
def test_a_thin_line_lies_where_it_should_and_is_a_pixel_wide(run, ends):
    body = """(m, ends) => {
      const p = new m.Pixels().start(64, 64, "#ffffff");
      p.ink("rgb(0,55,255)");
      p.line(...ends);
      return [...p.words].map((w) => [w & 255, (w >> 8) & 255, (w >> 16) & 255, w >>> 24]);
    }"""
    x0, y0, x1, y1 = ends
    steps = max(abs(x1 - x0), abs(y1 - y0))
    covered = 0
    for at, (red, green, blue, alpha) in enumerate(run("pixels.js", body, ends)):
        x, y = at % 64, at // 64
        assert (alpha, blue) == (255, 255)
        assert abs((255 - green) / 200 - (255 - red) / 255) < 0.02  # one colour, thinned
        if red == 255:
            continue
        apart = abs((x - x0) * (y1 - y0) - (y - y0) * (x1 - x0)) / (steps or 1)
        assert apart < 1.02 and min(x0, x1) - 1 <= x <= max(x0, x1) + 1
        covered += (255 - red) / 255
    assert covered == pytest.approx(steps, rel=0.01)
