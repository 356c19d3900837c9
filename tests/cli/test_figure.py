#!/usr/bin/env python3
"""cocabo-bench figure and report from the outside: the pictures and the page they write.

    python3 tests/cli/test_figure.py PATH/TO/cocabo-bench [unittest arguments]

Positions are read back through the labels of the axes, as a reader of the figure would.
"""

import base64
import html.parser
import json
import math
import os
import re
import statistics
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import test_bench
from test_bench import HEADER, OPTIMUM, Case, run_args

SVG = "{http://www.w3.org/2000/svg}"
DROP = 0.35 * 12  # from the middle of a label to its base line


def row(problem, method, batch, seed, iteration, evaluation, value, best):
    return (f"{problem},{method},{batch},{seed},{iteration},{evaluation},{value!r},"
            f"{best!r},0.002")


def results(runs):
    """The text of a file: {(problem, method, batch, seed): [[value, ...], ...]}, a list
    of values for each iteration; nan: failed."""
    lines = [HEADER]
    for key, iterations in runs.items():
        best, evaluation = -math.inf, 0
        for t, values in enumerate(iterations):
            for value in values:
                evaluation += 1
                best = value if value > best else best
                lines.append(row(*key, t, evaluation, value, best))
    return "\n".join(lines) + "\n"


class Picture:
    """An SVG file: its texts, and its paths with the style of the group they are in."""

    def __init__(self, path):
        self.root = ElementTree.parse(path).getroot()
        self.size = [float(x) for x in self.root.get("viewBox").split()[2:]]
        self.texts = [t for t in self.root.iter(SVG + "text")]
        self.paths = []
        for group in self.root.iter(SVG + "g"):
            for path in group.iter(SVG + "path"):
                title = path.find(SVG + "title")
                self.paths.append({**group.attrib, "points": points(path.get("d")),
                                   "tip": title.text if title is not None else None})

    def words(self):
        return [t.text for t in self.texts]

    def lines(self, tip):
        """The pieces of lines with such a tip; marks have other ones."""
        return [p for p in self.paths if p["tip"] and re.search(tip, p["tip"])
                and p["fill"] == "none" and "iteration" not in p["tip"]]

    def bands(self):
        return [p for p in self.paths if "fill-opacity" in p]

    def labels(self, anchor, attribute):
        """[(pixel, number)] of the labels of an axis."""
        found = []
        for t in self.texts:
            if t.get("text-anchor") == anchor and re.fullmatch(r"-?[\d.]+(e-?\d+)?", t.text):
                found.append((float(t.get(attribute)), float(t.text)))
        return found

    def y_axis(self, log=False):
        """Pixel -> value, by the two outermost labels on the left."""
        ticks = sorted((y - DROP, v) for y, v in self.labels("end", "y"))
        f, inverse = (math.log, math.exp) if log else (float, float)
        (y0, v0), (y1, v1) = ticks[0], ticks[-1]
        return lambda y: inverse(f(v0) + (y - y0) / (y1 - y0) * (f(v1) - f(v0)))

    def x_axis(self):
        ticks = sorted(self.labels("middle", "x"))
        (x0, v0), (x1, v1) = ticks[0], ticks[-1]
        return lambda x: v0 + (x - x0) / (x1 - x0) * (v1 - v0)


def points(d):
    return [tuple(map(float, p.split(","))) for p in re.findall(r"-?[\d.]+,-?[\d.]+", d)]


class FigureCase(Case):
    def setUp(self):
        super().setUp()
        self.svg = self.folder / "figure.svg"

    def write(self, runs, name="results.csv"):
        path = self.folder / name
        path.write_text(results(runs))
        return path

    def draw(self, *args):
        self.assertEqual(self.ok("figure", *args, "-o", self.svg), "")
        return Picture(self.svg)


def rising(start, steps):
    return [[start]] + [[start + s] for s in steps]


class Curves(FigureCase):
    def test_a_panel_for_each_problem_and_a_curve_for_each_method(self):
        self.ok(*run_args(self.file, problem="func-2c,ackley-2c,func-3c",
                          method="random,mixed", iterations=4))
        picture = self.draw(self.file)
        words = picture.words()
        for problem in ["func-2c", "ackley-2c", "func-3c"]:
            self.assertEqual(words.count(problem), 1)
            for method in ["random", "mixed"]:
                self.assertGreaterEqual(len(picture.lines(f"^{method} on {problem}, 3 ")), 1)
        self.assertEqual((words.count("random"), words.count("mixed")), (1, 1))
        self.assertEqual(len(picture.bands()), 6)
        self.assertEqual(words.count("best value"), 1)  # once a row of panels
        self.assertEqual(words.count("iteration"), 3)
        for t in picture.texts:
            if t.get("x"):
                self.assertTrue(0 <= float(t.get("x")) <= picture.size[0])

    def test_values_stand_where_the_axes_say(self):
        runs = {("mine", "random", 1, s): rising(0.3 * s - 1.1, [0.4 * s, 0.9, 2.3 + s])
                for s in range(4)}
        picture = self.draw(self.write(runs))
        x, y = picture.x_axis(), picture.y_axis()
        (line,), (band,) = picture.lines("^random on mine"), picture.bands()
        best = [[max(v[0] for v in run[:t + 1]) for run in runs.values()]
                for t in range(4)]
        means = [statistics.fmean(b) for b in best]
        errors = [statistics.stdev(b) / 2 for b in best]
        for t in range(4):
            self.assertAlmostEqual(x(line["points"][t][0]), t, delta=0.01)
            self.assertAlmostEqual(y(line["points"][t][1]), means[t], delta=0.015)
            self.assertAlmostEqual(y(band["points"][t][1]), means[t] + errors[t],
                                   delta=0.015)
            self.assertAlmostEqual(y(band["points"][7 - t][1]), means[t] - errors[t],
                                   delta=0.015)

    def test_agrees_with_table_for_batches(self):
        self.ok(*run_args(self.file, iterations=5, batch=3))
        picture = self.draw(self.file)
        y = picture.y_axis()
        (line,) = picture.lines("^random on func-2c, 3 runs")
        table = [json.loads(text) for text in
                 self.ok("table", self.file, "--at", "0,1,2,3,4,5", "--json").splitlines()]
        self.assertEqual(len(line["points"]), 6)
        for entry, (_, pixel) in zip(table, line["points"]):
            self.assertAlmostEqual(y(pixel), entry["mean"], delta=0.003)
        self.assertIn("iteration (3 evaluations each)", picture.words())

    def test_first_iterations_far_below_are_cut_off(self):
        runs = {("mine", "random", 1, s):
                rising(-1e6, [1e6 + 0.01 * t + s for t in range(40)]) for s in range(2)}
        picture = self.draw(self.write(runs))
        lowest = min(v for _, v in picture.labels("end", "y"))
        self.assertGreater(lowest, -10)
        (line,) = picture.lines("^random on mine")
        bottom = max(y for _, y in line["points"])
        self.assertEqual(line["points"][0][1], bottom)  # comes in through the frame
        self.assertIn("left out", picture.words()[-1])

    def test_a_curve_begins_where_all_runs_have_a_value(self):
        nan = math.nan
        runs = {("mine", "random", 1, 0): [[nan], [nan], [0.25], [0.75], [nan]],
                ("mine", "random", 1, 1): [[0.5], [0.625], [nan], [nan], [1.5]],
                ("mine", "mixed", 1, 0): [[nan], [nan], [nan], [nan], [nan]]}
        picture = self.draw(self.write(runs))
        (line,) = picture.lines("^random on mine")
        x, y = picture.x_axis(), picture.y_axis()
        self.assertEqual([round(x(p[0])) for p in line["points"]], [2, 3, 4])
        self.assertAlmostEqual(y(line["points"][0][1]), (0.25 + 0.625) / 2, delta=0.01)
        self.assertEqual(picture.lines("^mixed"), [])
        self.assertNotIn("nan", self.svg.read_text())
        self.assertNotIn("inf", self.svg.read_text())

    def test_a_curve_ends_with_its_shortest_run(self):
        runs = {("mine", "random", 1, 0): rising(0.1, [0.2, 0.3, 0.4]),
                ("mine", "random", 1, 1): rising(0.2, [0.3])}
        (line,) = self.draw(self.write(runs)).lines("^random")
        self.assertEqual(len(line["points"]), 2)

    def test_one_run_has_no_band(self):
        picture = self.draw(self.write({("mine", "random", 1, 7): rising(1, [2, 3])}))
        self.assertEqual(picture.bands(), [])
        self.assertIn("One run of each", picture.words())

    def test_a_run_of_initial_points_only(self):
        picture = self.draw(self.write({("mine", "random", 1, 7): [[0.5, 0.7]]}))
        self.assertTrue(any(p["tip"] and "iteration 0: 0.7" in p["tip"]
                            for p in picture.paths))

    def test_sizes_of_batch_are_told_apart(self):
        self.ok(*run_args(self.file))
        self.ok(*run_args(self.folder / "four.csv", batch=4))
        picture = self.draw(self.file, self.folder / "four.csv")
        one, four = (picture.lines(f"^random, b = {b} on")[0] for b in (1, 4))
        self.assertEqual(one["stroke"], four["stroke"])
        self.assertNotEqual(one.get("stroke-dasharray"), four.get("stroke-dasharray"))
        self.assertIn("random, b = 4", picture.words())

    def test_a_method_looks_the_same_whoever_is_beside_it(self):
        methods = ["random", "cocabo-0.0", "cocabo-0.5", "cocabo-1.0", "cocabo-auto",
                   "mixed", "onehot", "exp3bo", "tpe", "smac", "sobol"]
        runs = {("mine", m, 1, 0): rising(0.1 * i, [1, 2])
                for i, m in enumerate(methods + ["peer-a", "peer-b"])}
        path = self.write(runs)
        together = self.draw(path)
        looks = {}
        for method in methods:
            (all_of_them,) = together.lines(f"^{re.escape(method)} on")
            (alone,) = self.draw(path, "--method", method).lines(f"^{re.escape(method)} on")
            look = {k: v for k, v in alone.items() if k.startswith("stroke")}
            self.assertEqual(look, {k: v for k, v in all_of_them.items()
                                    if k.startswith("stroke")})
            looks[method] = look
        self.assertEqual(len({v["stroke"] for v in looks.values()}), len(methods))
        a, b = (together.lines(f"^peer-{x} on")[0] for x in "ab")
        self.assertNotIn(a["stroke"], [v["stroke"] for v in looks.values()])
        self.assertNotEqual(a["stroke"], b["stroke"])

    def test_problems_in_the_order_asked_for(self):
        runs = {(p, "random", 1, 0): rising(0.1, [0.2]) for p in ["a", "b", "c"]}
        words = self.draw(self.write(runs), "--problem", "c,a").words()
        self.assertNotIn("b", words)
        self.assertLess(words.index("c"), words.index("a"))

    def test_title_and_names_are_escaped(self):
        runs = {("a<b>&c", 'x"y</text>', 1, 0): rising(0.1, [0.2])}
        words = self.draw(self.write(runs), "--title", "R&D <1>").words()
        for text in ["R&D <1>", "a<b>&c", 'x"y</text>']:
            self.assertIn(text, words)

    def test_results_with_workers_are_drawn_over_time(self):
        self.ok(*run_args(self.file, more=["--async", "3"]))
        picture = self.draw(self.file)
        self.assertIn("simulated time", picture.words())
        x, y = picture.x_axis(), picture.y_axis()
        (line,) = picture.lines("^random on func-2c")
        places = [(x(px), y(py)) for px, py in line["points"]]
        time = 2
        entry = json.loads(self.ok("table", self.file, "--time", time, "--json"))
        nearest = min(places, key=lambda p: abs(p[0] - time))
        self.assertAlmostEqual(nearest[1], entry["mean"], delta=0.02)

    def test_the_picture_is_the_same_each_time(self):
        self.ok(*run_args(self.file))
        self.draw(self.file)
        first = self.svg.read_bytes()
        self.draw(self.file)
        self.assertEqual(self.svg.read_bytes(), first)


class Regret(FigureCase):
    def test_on_a_logarithmic_scale(self):
        optimum = OPTIMUM["func-2c"]
        gaps = [0.7, 0.05, 0.0031, 0.00042]
        runs = {("func-2c", "mixed", 1, 0): [[optimum - g] for g in gaps]}
        picture = self.draw(self.write(runs), "--regret")
        y = picture.y_axis(log=True)
        (line,) = picture.lines("^mixed on func-2c")
        for gap, (_, pixel) in zip(gaps, line["points"]):
            self.assertAlmostEqual(y(pixel) / gap, 1.0, delta=0.02)
        self.assertIn("optimum \u2212 best value", picture.words())

    def test_no_regret_at_all_is_no_problem(self):
        optimum = OPTIMUM["func-2c"]
        runs = {("func-2c", "mixed", 1, s): [[optimum - 0.5], [optimum], [optimum + 1e-15]]
                for s in range(2)}
        self.draw(self.write(runs), "--regret")
        runs = {("func-2c", "mixed", 1, 0): [[optimum], [optimum]]}
        self.draw(self.write(runs), "--regret")
        self.assertNotIn("nan", self.svg.read_text())

    def test_wants_a_problem_that_is_ours(self):
        path = self.write({("mine", "mixed", 1, 0): rising(0.1, [0.2])})
        self.refused(2, "the optimum is not known", "figure", path, "--regret",
                     "-o", self.svg)


class Categories(FigureCase):
    def draw_run(self, *args):
        return self.draw("--kind", "categories", "-q", *args)

    def test_choices_histogram_and_chances(self):
        picture = self.draw_run("--iterations", 40, "--init", 10, "--seed", 3)
        words = picture.words()
        for text in ["h1", "h2", "chosen when", "how often", "chance of being drawn"]:
            self.assertIn(text, words)
        dots = sum(path.get("d").count("h0") for path in picture.root.iter(SVG + "path"))
        self.assertEqual(dots, 2 * 40)
        counts = [int(t.text) for t in picture.texts if re.fullmatch(r"\d+", t.text)
                  and t.get("text-anchor") is None]
        self.assertEqual(sum(counts), 2 * 40)

    def test_chances_start_equal_and_sum_to_one(self):
        """h1 of func-2c has three categories, and its axis comes first."""
        picture = self.draw_run("--iterations", 30, "--init", 10)
        ticks = [(y - DROP, v) for y, v in picture.labels("end", "y")]
        end = next(i for i, (_, v) in enumerate(ticks) if i and v < ticks[i - 1][1])
        (y0, v0), (y1, v1) = ticks[0], ticks[end - 1]
        lines = [p["points"] for p in picture.paths if p["tip"] and p["fill"] == "none"][:3]
        chances = [[v0 + (y - y0) / (y1 - y0) * (v1 - v0) for _, y in line]
                   for line in lines]
        self.assertEqual([len(c) for c in chances], [30] * 3)
        for chance in chances:
            self.assertAlmostEqual(chance[0], 1 / 3, delta=0.005)
        for three in zip(*chances):
            self.assertAlmostEqual(sum(three), 1.0, delta=0.01)

    def test_is_the_run_that_run_makes(self):
        self.ok(*run_args(self.file, method="cocabo-0.5", seeds="5", init=10,
                          iterations=20))
        best = max(float(r["value"]) for r in test_bench.rows(self.file))
        picture = self.draw_run("--iterations", 20, "--init", 10, "--seed", 5)
        self.assertIn(f"best value {best:.5g},", " ".join(picture.words()))
        again = self.draw_run(self.file)
        self.assertEqual(again.words(), picture.words())
        self.assertEqual(again.paths, picture.paths)

    def test_one_run_of_a_file(self):
        self.ok(*run_args(self.file, method="cocabo-0.5,random", seeds="2-3", init=6,
                          iterations=5))
        picture = self.draw_run(self.file, "--seed", 3, "--method", "random")
        self.assertIn("func-2c by random, seed 3: categories chosen", picture.words())
        figure = ["figure", "--kind", "categories", self.file, "-o", self.svg]
        self.refused(2, "has 4 such runs, want one", *figure)
        self.refused(2, "has 0 such runs, want one", *figure, "--method", "mixed")
        self.refused(2, "has its own", *figure, "--iterations", 9)
        text = self.file.read_text()
        head, one = text.splitlines()[0], [line for line in text.splitlines()
                                           if ",random,1,3," in line]
        for field, new, status, sentence in [
                (1, "peer", 2, "cannot be made again"),
                (7, "7.5", 1, "with other settings or on another machine")]:
            cells = [line.split(",") for line in one]
            for row in cells:
                row[field] = new
            self.file.write_text("\n".join([head, *map(",".join, cells)]) + "\n")
            done = test_bench.bench(*figure, "-q")
            self.assertEqual(done.returncode, status, done)
            self.assertIn(sentence, done.stderr)

    def test_methods_without_bandits_show_best_values(self):
        picture = self.draw_run("--method", "random", "--problem", "ackley-5c",
                                "--iterations", 30)
        words = picture.words()
        self.assertIn("best value with the category so far", words)
        self.assertTrue({"h1", "h2", "h3", "h4", "h5"} <= set(words))

    def test_bad_input(self):
        self.refused(2, "want at most one for --kind", "figure", "--kind", "categories",
                     "x.csv", "y.csv", "-o", self.svg)
        self.refused(2, "cannot read x.csv", "figure", "--kind", "categories", "x.csv",
                     "-o", self.svg)
        self.refused(2, "want one for --kind categories", "figure", "--kind", "categories",
                     "--method", "random,mixed", "-o", self.svg)
        self.refused(2, "unknown problem", "figure", "--kind", "categories", "--problem",
                     "nonesuch", "-o", self.svg)
        self.refused(2, "--seed", "figure", "--kind", "categories", "--seed", "x",
                     "-o", self.svg)
        self.refused(2, "--regret is not for", "figure", "--kind", "categories",
                     "--regret", "-o", self.svg)
        self.assertFalse(self.svg.exists())


class BadInput(FigureCase):
    def test_sentences(self):
        path = self.write({("mine", "random", 1, 0): rising(0.1, [0.2])})
        other = self.write({("mine", "random", 1, 1): rising(0.1, [0.2])}, "other.csv")
        cases = [("no file given", []), ("cannot read", ["none.csv"]),
                 ('no run of method "mixed"', [path, "--method", "mixed"]),
                 ('no run of problem "func-2c"', [path, "--problem", "mine,func-2c"]),
                 ('unknown --kind "curve", did you mean curves', [path, "--kind", "curve"]),
                 ("in two places", [path, other, path]),
                 ("are for --kind categories", [path, "--seed", "1"])]
        for sentence, args in cases:
            self.refused(2, sentence, "figure", *args, "-o", self.svg)
        self.refused(2, "-o is missing", "figure", path)
        self.refused(2, "want a name that ends in .svg", "figure", path, "-o", "x.png")
        self.refused(1, "no/such/folder", "figure", path, "-o", "no/such/folder/x.svg")
        self.assertFalse(self.svg.exists())

    def test_files_without_anything_to_draw(self):
        for text, sentence in [("", "is not a file of results"), ("x,y\n1,2\n", "is not a file"),
                               (HEADER + "\n", "no runs to draw"),
                               (HEADER + "\nfunc-2c,random", "cut in its last line")]:
            self.file.write_text(text)
            self.refused(2, sentence, "figure", self.file, "-o", self.svg)
        nan = math.nan
        self.write({("mine", "random", 1, 0): [[nan], [nan]]})
        self.refused(2, "no method has a value in all its runs", "figure", self.file,
                     "-o", self.svg)

    def test_files_of_two_kinds_are_not_mixed(self):
        self.ok(*run_args(self.file))
        timed = self.folder / "timed.csv"
        self.ok(*run_args(timed, method="mixed", iterations=2, more=["--async", "3"]))
        self.refused(2, "timed.csv has 3 simulated workers", "figure", self.file, timed,
                     "-o", self.svg)


class Page(html.parser.HTMLParser):
    """Checks that tags are closed in order, and keeps tables and images."""

    EMPTY = {"meta", "img"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tables, self.images, self.text, self.bold = [], [], [], "", []
        self.tags = set()
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "img":
            self.images.append(dict(attributes))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data
        if "b" in self.open[-1:]:
            self.bold.append(data)
        if any(tag in ("td", "th") for tag in self.open):
            self.tables[-1][-1][-1] += data


class Report(FigureCase):
    def report(self, *args):
        done = test_bench.bench("report", *args, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        path = args[args.index("-o") + 1] if "-o" in args else args[0] / "report.html"
        text = path.read_text(encoding="utf-8")
        self.assertIn(f"wrote {path}", done.stderr)
        page = Page(text)
        self.assertNotIn("script", page.tags)
        self.assertFalse(re.search(r'(src|href)="(?!data:|#)', text))
        self.assertEqual(len(set(re.findall(r'\bid="([^"]*)"', text))),
                         len(re.findall(r'\bid="', text)))
        return text, page

    def test_tables_agree_with_table_and_compare(self):
        self.ok(*run_args(self.file, problem="func-2c,ackley-2c",
                          method="random,cocabo-0.5", seeds="0-4", iterations=12))
        text, page = self.report(self.folder)
        self.assertEqual(text.count("<svg "), 2)
        self.assertEqual(len(page.tables), 2)
        table = [json.loads(line) for line in
                 self.ok("table", self.file, "--at", "0,12", "--json").splitlines()]
        for shown, problem in zip(page.tables, ["func-2c", "ackley-2c"]):
            self.assertEqual(shown[0][:4], ["method", "runs", "t = 0", "t = 12"])
            means = {}
            for cells in shown[1:]:
                self.assertEqual(cells[1], "5")
                for at, cell in zip((0, 12), cells[2:]):
                    entry = next(e for e in table if e["problem"] == problem and
                                 e["method"] == cells[0] and e["at"] == at)
                    self.assertEqual(cell, f"{entry['mean']:.4g} ({entry['se']:.2g})")
                means[cells[0]] = entry["mean"]
            leader, other = sorted(means, key=means.get, reverse=True)
            self.assertIn(f"{means[leader]:.4g}", page.bold)
            self.assertNotIn(f"{means[other]:.4g}", page.bold)
            pair = next(e for e in map(json.loads, self.ok(
                "compare", self.file, "--method", f"{leader},{other}",
                "--json").splitlines()) if e["problem"] == problem)
            beaten = next(r for r in shown if r[0] == other)
            self.assertEqual(beaten[-2:], [f"{pair['wins_b']}\u2013{pair['ties']}\u2013"
                                           f"{pair['wins_a']}", f"{pair['p']:.3g}"])

    def test_ask_times(self):
        self.write({("mine", "random", 1, 0): rising(0.1, [0.2, 0.3])})
        _, page = self.report(self.folder)
        self.assertEqual(page.tables[0][1][-3], "2")  # milliseconds

    def test_names_are_escaped(self):
        self.write({('a<b>&"c', "<script>x</script>", 1, 0): rising(0.1, [0.2])},
                   "a & <b>.csv")
        text, page = self.report(self.folder)
        self.assertIn('a<b>&"c', page.text)
        self.assertEqual(page.tables[0][1][0], "<script>x</script>")
        self.assertIn("a & <b>.csv", page.text)

    def test_surrogates_and_pictures(self):
        lines = [{"problem": "func-2c", "model": m, "scale": "standard", "mean": mean,
                  "se": 0.5, "repeats": 4} for m, mean in [("one", -12.25), ("two", -7.5)]]
        (self.folder / "t.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
        picture = b"<svg xmlns='http://www.w3.org/2000/svg'><script>x</script></svg>\n"
        (self.folder / "p.svg").write_bytes(picture)
        out = self.folder / "page.html"
        _, page = self.report(self.folder, "-o", out)
        self.assertEqual(page.tables[0], [["problem", "scale", "one", "two", "repeats"],
                                          ["func-2c", "standard", "-12.25 (0.5)",
                                           "-7.5 (0.5)", "4"]])
        self.assertEqual(page.bold, ["Surrogates", "-7.5"])
        kind, data = page.images[0]["src"].split(",")
        self.assertEqual(kind, "data:image/svg+xml;base64")
        self.assertEqual(base64.b64decode(data), picture)

    def test_lines_of_other_commands_are_a_table_too(self):
        (self.folder / "l.jsonl").write_text(
            '{"method": "a<b", "n": 50, "p50": 0.00123456, "refit_p50": null}\n'
            '{"n": 100, "method": "c", "p50": 2.5, "ok": true}\n')
        _, page = self.report(self.folder)
        self.assertEqual(page.tables[0], [["method", "n", "p50", "refit_p50"],
                                          ["a<b", "50", "0.001235", "\u2013"],
                                          ["c", "100", "2.5", "\u2013"]])

    def test_base64_of_every_remainder(self):
        for size in range(5):
            (self.folder / f"{size}.svg").write_bytes(b"\xffsvg\x00"[:size])
        _, page = self.report(self.folder)
        for size, image in enumerate(page.images):
            self.assertEqual(base64.b64decode(image["src"].split(",")[1]),
                             b"\xffsvg\x00"[:size])

    def test_files_that_are_something_else_are_named(self):
        self.ok(*run_args(self.file))
        (self.folder / "other.csv").write_text("a,b\n1,2\n")
        (self.folder / "empty.csv").write_text(HEADER + "\n")
        (self.folder / "l.jsonl").write_text('{"n": 50}\n\n{"n": [50]}\n')
        text, page = self.report(self.folder)
        self.assertEqual(page.text.count("Not shown: "), 3)
        self.assertIn("is not a file of results", page.text)
        self.assertIn("empty.csv has no runs", page.text)
        self.assertIn("l.jsonl line 3 is no line of --json", page.text)
        self.assertEqual(text.count("<table>"), 1)

    def test_origin(self):
        self.ok(*run_args(self.file))
        _, page = self.report(self.folder)
        version = self.ok("--version").strip()
        self.assertRegex(page.text, r"\d{4}-\d\d-\d\d \d\d:\d\d UTC, " + re.escape(version))
        self.assertIn(f"cocabo-bench report {self.folder}", page.text)

    def test_workers_failures_and_strangers(self):
        self.ok(*run_args(self.folder / "timed.csv", more=["--async", "3"]))
        nan = math.nan
        self.write({("mine", "random", 1, 0): [[nan], [nan]],
                    ("mine", "peer", 1, 0): [[0.25], [0.5]]})
        text, page = self.report(self.folder)
        self.assertIn("with 3 simulated workers", page.text)
        self.assertIn("time = ", page.text)
        self.assertIn("0.5", [row[3] for table in page.tables for row in table[1:]
                              if row[0] == "peer"])

    def test_bad_input(self):
        self.refused(2, "0 folders given", "report")
        self.refused(2, "cannot read the folder nowhere", "report", "nowhere")
        self.refused(2, "has no results (*.csv)", "report", self.folder)
        self.ok(*run_args(self.file))
        self.refused(1, "no/such", "report", self.folder, "-o", "no/such/page.html")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    test_bench.BENCH = os.path.abspath(sys.argv.pop(1))
    unittest.main()
