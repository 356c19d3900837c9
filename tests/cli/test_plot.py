#!/usr/bin/env python3
"""cocabo plot from the outside: what the pictures hold, where they go, and what is
refused.

    python3 tests/cli/test_plot.py PATH/TO/cocabo [unittest arguments]
"""

import csv
import json
import math
import os
import pathlib
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unicodedata
import unittest
from xml.etree import ElementTree

COCABO = None
KINDS = ["history", "slice", "parallel", "categories", "importance", "steps"]
SVG = "{http://www.w3.org/2000/svg}"
SPACE = {"lr": "float(1e-5,0.1,log)", "depth": "int(1,9)", "rate": "float(0,1,step=0.25)",
         "opt": "choice(adam,sgd,rmsprop)", "size": "ordinal(small,medium,large)"}
# Names and choices that would be commands or tags in the wrong hands.
HOSTILE = {"`touch pwned`": "float(0,1)", "</text><b>&amp;'\"": "float(0,1)",
           "'; system('touch pwned'); '": "float(0,1)",
           "naïve 名前 ∞": 'choice("`touch pwned`","$(touch pwned)","it\'s",'
                            '"line\\nbreak","\\\\","<i>","%n%s")'}


def draw(domain, source):
    """A value of a domain of SPACE or HOSTILE, as a column of CSV wants it."""
    kind, inside = domain[:-1].split("(", 1)
    if kind in ("choice", "ordinal"):
        return source.choice(json.loads(f"[{inside}]") if '"' in inside
                             else inside.split(","))
    low, high, *more = inside.split(",")
    if kind == "int":
        return source.randint(int(low), int(high))
    if more == ["log"]:
        return math.exp(source.uniform(math.log(float(low)), math.log(float(high))))
    if more:
        return source.choice([0.0, 0.25, 0.5, 0.75, 1.0])
    return source.uniform(float(low), float(high))


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cocabo-plot-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("COCABO_", "LC_", "COLUMNS", "LANG"))}
        self.environment["LC_ALL"] = "C.UTF-8"

    def cocabo(self, *args, **more):
        more = {"env": self.environment, "stdin": subprocess.DEVNULL, **more}
        return subprocess.run([COCABO, *map(str, args)], cwd=self.folder, text=True,
                              encoding="utf-8", capture_output=True, timeout=120, **more)

    def ok(self, *args, **more):
        done = self.cocabo(*args, **more)
        self.assertEqual(done.returncode, 0, (args, done.stdout, done.stderr))
        return done.stdout

    def refused(self, status, sentence, *args, **more):
        done = self.cocabo(*args, **more)
        self.assertEqual(done.returncode, status, (args, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "", args)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(f"cocabo plot: {sentence}", done.stderr)

    def study(self, values, space=None, name="default", flags=(),
              reports=lambda value: [[1, value]]):
        """A study with these values at random points; NaN: a failed trial."""
        space = space or SPACE
        source = random.Random(len(values))
        params = [arg for key, domain in space.items() for arg in ("-p", f"{key}={domain}")]
        self.ok("create", "--study", name, "--sampler", "random", *params, *flags)
        told = [value for value in values if not math.isnan(value)]
        with open(self.folder / "known.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*space, "value", "reports"])
            for value in told:
                writer.writerow([*(draw(domain, source) for domain in space.values()),
                                 repr(value), json.dumps(reports(value))])
        if told:
            self.ok("import", "--study", name, "--format", "csv", "known.csv")
        for _ in range(len(values) - len(told)):
            number = json.loads(self.ok("ask", "--json", "--study", name))["number"]
            self.ok("tell", "--study", name, number, "--fail", "no reason")

    def files(self):
        """All but the database's."""
        return sorted(name for name in os.listdir(self.folder)
                      if not name.startswith("cocabo.db"))

    def svg(self, kind, name="default", path="picture.svg"):
        self.ok("plot", "--kind", kind, "--study", name, "-o", path)
        return ElementTree.parse(self.folder / path).getroot()

    def assert_sound(self, root):
        width, height = map(float, root.get("viewBox").split()[2:])
        self.assertEqual(root.get("font-family"), "sans-serif")
        self.assertTrue(root.find(f"{SVG}title").text)
        self.assertTrue(root.find(f"{SVG}desc").text)
        for element in root.iter():
            for name, value in element.attrib.items():
                self.assertNotRegex(value.lower(), r"\b(nan|inf)", (name, value))
            for x, y in re.findall(r"[ML ](-?[\d.]+),(-?[\d.]+)", element.get("d", "")):
                self.assertTrue(-1 <= float(x) <= width + 1, (x, width))
                self.assertTrue(-1 <= float(y) <= height + 1, (y, height))
            if element.tag == f"{SVG}text" and element.get("x"):
                self.assertTrue(0 <= float(element.get("x")) <= width)
                self.assertTrue(0 <= float(element.get("y")) <= height)

    def texts(self, root):
        return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]

    def marks(self, root):
        """{trial: (x, y)} of the dots of a history."""
        found = {}
        for circle in root.iter(f"{SVG}circle"):
            title = circle.find(f"{SVG}title")
            if title is not None:
                number = int(re.match(r"trial (\d+): ", title.text).group(1))
                found[number] = float(circle.get("cx")), float(circle.get("cy"))
        return found


def curve(n):
    """Values as an optimiser finds them."""
    source = random.Random(n)
    return [1.0 + 2.0 / (1 + i) + 0.3 * source.random() for i in range(n)]


class Files(Case):
    def test_every_kind_is_a_sound_picture(self):
        self.study([*curve(40), 1e9, math.nan, math.nan])
        for kind in KINDS:
            with self.subTest(kind):
                root = self.svg(kind)
                self.assert_sound(root)
                self.assertIn("default", root.find(f"{SVG}title").text)
        self.assertEqual(self.files(), ["known.csv", "picture.svg"])

    def test_few_and_strange_values_are_drawn_too(self):
        big = 1.7e308
        for i, values in enumerate([[3.5], [0.0, 0.0], [1e-300, 2e-300], [big, -big],
                                    [0.0, math.nan], [5.0] * 30, [1.0] * 30 + [1e300],
                                    [-7.0, 1e-12], [big] * 3]):
            self.study(values, name=f"s{i}", flags=["--maximize"] if i % 2 else [])
            for kind in sorted(set(KINDS) - {"importance"}):
                with self.subTest(values=values[-2:], kind=kind):
                    self.assert_sound(self.svg(kind, f"s{i}"))
                    self.ok("plot", "--kind", kind, "--study", f"s{i}", "--text")

    def test_the_same_study_gives_the_same_bytes(self):
        self.study(curve(30))
        for kind in KINDS:
            self.svg(kind, path="a.svg")
            self.svg(kind, path="b.svg")
            self.assertEqual(*((self.folder / name).read_bytes()
                               for name in ("a.svg", "b.svg")))

    def test_names_are_text_whatever_they_say(self):
        self.study(curve(12), HOSTILE, name="<study> & `touch pwned`")
        for kind in KINDS:
            with self.subTest(kind):
                root = self.svg(kind, "<study> & `touch pwned`")
                self.assert_sound(root)
                self.assertIn("<study> & `touch pwned`", self.texts(root)[0])
                for ending in "png", "pdf":
                    if shutil.which("gnuplot"):
                        self.ok("plot", "--kind", kind, "-o", f"p.{ending}", "--study",
                                "<study> & `touch pwned`")
        self.assertNotIn("pwned", os.listdir(self.folder))

    def test_many_parameters_leave_the_important_ones(self):
        space = {f"p{i}": "choice(a,b)" if i % 3 == 0 else "float(0,1)" for i in range(90)}
        self.study(curve(40), space)
        for kind, shown in ("slice", 24), ("parallel", 15), ("categories", 20):
            root = self.svg(kind)
            self.assertIn(f"the {shown} most important of", root.find(f"{SVG}desc").text)
            self.assert_sound(root)
        self.assertTrue(any("others together" in text
                            for text in self.texts(self.svg("importance"))))

    def test_ten_thousand_trials_are_no_trouble(self):
        self.study(curve(10000))
        for kind in KINDS:
            with self.subTest(kind):
                start = time.monotonic()
                self.assert_sound(self.svg(kind))
                # Below a second; the rest is for a loaded machine and sanitizers.
                self.assertLess(time.monotonic() - start, 20)
                self.assertLess((self.folder / "picture.svg").stat().st_size, 1 << 20)

    def test_a_picture_replaces_the_old_one_at_one_stroke(self):
        self.study(curve(10))
        path = self.folder / "picture.svg"
        path.write_text("old")
        path.chmod(0o640)
        before = path.stat().st_ino
        self.svg("history")
        self.assertNotEqual(path.stat().st_ino, before)
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)
        (self.folder / "link.SVG").symlink_to("picture.svg")
        self.svg("slice", path="link.SVG")
        self.assertTrue((self.folder / "link.SVG").is_symlink())
        self.assertIn("against parameters", path.read_text(encoding="utf-8"))

    def test_it_says_what_it_wrote_unless_quiet(self):
        self.study(curve(5))
        done = self.cocabo("plot", "-o", "a.svg")
        self.assertEqual((done.stdout, done.stderr), ("", "cocabo plot: wrote a.svg\n"))
        done = self.cocabo("plot", "-q", "-o", "a.svg")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Meaning(Case):
    def test_history_shows_each_trial_at_its_value(self):
        values = [3.0, 1.0, 2.0, 1.5, 0.75]
        self.study(values)
        marks = self.marks(self.svg("history"))
        self.assertEqual(sorted(marks), [0, 1, 2, 3, 4])
        self.assertEqual(sorted(marks, key=lambda i: marks[i][0]), [0, 1, 2, 3, 4])
        # The picture's y points down.
        self.assertEqual(sorted(marks, key=lambda i: -marks[i][1]),
                         sorted(range(5), key=values.__getitem__))

    def test_the_line_of_the_best_knows_the_direction(self):
        self.study([3.0, 1.0, 2.0, 4.0])
        self.study([3.0, 1.0, 2.0, 4.0], name="max", flags=["--maximize"])
        for name, steps, best in ("default", 4, "1, trial 1"), ("max", 4, "4, trial 3"):
            root = self.svg("history", name)
            self.assertTrue(root.find(f"{SVG}desc").text.endswith(best))
            lines = [path.get("d") for group in root.iter(f"{SVG}g")
                     if group.get("stroke-width") == "2" for path in group]
            self.assertEqual(len(lines[-1].split()), steps, lines[-1])

    def test_outliers_do_not_flatten_the_rest(self):
        self.study([*(2.0 + math.sin(i) for i in range(60)), 1e9, 3e12])
        root = self.svg("history")
        heights = [y for _, y in self.marks(root).values()]
        self.assertGreater(max(heights) - min(heights), 200)
        self.assertIn("worse than shown (2)", self.texts(root))

    def test_failed_trials_are_marked(self):
        self.study([*curve(10), math.nan, math.nan, math.nan])
        root = self.svg("history")
        self.assertIn("failed (3)", self.texts(root))
        tips = {title.text for title in root.iter(f"{SVG}title")}
        self.assertTrue({f"trial {i}: failed" for i in (10, 11, 12)} <= tips, tips)

    def test_slice_has_a_panel_for_each_parameter(self):
        self.study(curve(20))
        texts = self.texts(self.svg("slice"))
        for name in "lr (logarithmic)", "depth", "rate", "opt", "size", "adam", "large":
            self.assertIn(name, texts)

    def test_parallel_names_axes_and_choices(self):
        self.study(curve(20))
        texts = self.texts(self.svg("parallel"))
        for name in "value", *SPACE, "rmsprop", "small":
            self.assertIn(name, texts)

    def test_categories_count_what_was_tried(self):
        self.study([*curve(20), math.nan])
        rows = [json.loads(line) for line in
                self.ok("plot", "--kind", "categories", "--json").splitlines()]
        self.assertEqual([(row["parameter"], row["choice"]) for row in rows],
                         [("opt", "adam"), ("opt", "sgd"), ("opt", "rmsprop"),
                          ("size", "small"), ("size", "medium"), ("size", "large")])
        trials = [json.loads(line) for line in self.ok("trials", "--json").splitlines()]
        for row in rows:
            mine = [trial for trial in trials
                    if trial["params"][row["parameter"]] == row["choice"]]
            good = [trial for trial in mine if trial["state"] == "complete"]
            best = min(good, key=lambda trial: trial["value"], default=None)
            self.assertEqual(row["tried"], len(mine))
            self.assertEqual(row["failed"], len(mine) - len(good))
            self.assertEqual(row["best"], best and best["value"])
            self.assertEqual(row["best_number"], best and best["number"])
        texts = self.texts(self.svg("categories"))
        for row in rows:
            self.assertIn(row["choice"], texts)

    def test_history_as_json_has_the_best_so_far(self):
        self.study([3.0, 1.0, 2.0, math.nan])
        rows = [json.loads(line) for line in self.ok("plot", "--json").splitlines()]
        self.assertEqual(rows, [
            {"number": 0, "state": "complete", "value": 3.0, "best": 3.0},
            {"number": 1, "state": "complete", "value": 1.0, "best": 1.0},
            {"number": 2, "state": "complete", "value": 2.0, "best": 1.0},
            {"number": 3, "state": "failed", "value": None, "best": 1.0}])

    def test_importance_finds_what_matters(self):
        source = random.Random(3)
        with open(self.folder / "known.csv", "w", encoding="utf-8") as file:
            file.write("x,y,c,value\n")
            for _ in range(120):
                x, y = source.uniform(0, 1), 10 ** source.uniform(-3, 3)
                file.write(f"{x},{y},{source.choice('ab')},"
                           f"{10 * x + math.log10(y) / 6}\n")
        self.ok("import", "--format", "csv", "known.csv", "-p", "x=float(0,1)", "-p",
                "y=float(1e-3,1e3,log)", "-p", "c=choice(a,b)")
        rows = [json.loads(line) for line in
                self.ok("plot", "--kind", "importance", "--json").splitlines()]
        self.assertEqual({row["parameter"] for row in rows}, {"x", "y", "c"})
        self.assertEqual(rows[0]["parameter"], "x")
        self.assertAlmostEqual(sum(row["share"] for row in rows), 1.0)
        self.assertGreater(rows[0]["share"], 0.95)
        self.assertGreater(rows[0]["explained"], 0.9)
        self.assertIn("x", self.texts(self.svg("importance")))


LONG = {"very_long_parameter_name_of_the_encoder_in_the_first": "int(1,1000000,log)",
        "batch_size_in_bytes_per_worker": "int(100000,900000)",
        "momentum_of_the_optimiser": "float(0.123456,0.987654)",
        "optimiser": "choice(stochastic_gradient_descent_with_momentum,"
                     "adam_with_decoupled_weight_decay,rmsprop)"}
LONG_STUDY = "a-study-with-a-really-rather-long-name-that-somebody-will-choose-one-day"


class Labels(Case):
    """Names that are too long, numbers that are too large, and both ends of an axis."""

    def setUp(self):
        super().setUp()
        source = random.Random(4)
        self.study([2e5 + 1e5 * source.random() for _ in range(60)] + [math.nan] * 3, LONG,
                   name=LONG_STUDY)

    def page(self, kind, **more):
        return self.ok("plot", "--text", "--kind", kind, "--study", LONG_STUDY,
                       env={**self.environment, **more})

    def assert_cut(self, text, name):
        start, end = text.split("…")
        self.assertTrue(start and end, text)
        self.assertTrue(name.startswith(start) and name.endswith(end), (text, name))
        self.assertLessEqual(abs(len(start) - len(end)), 4, text)

    def test_long_names_are_cut_in_the_middle(self):
        for kind, names in ("slice", [*LONG][:1]), ("parallel", [*LONG][:3]), \
                ("importance", [*LONG][:1]), \
                ("categories", ["stochastic_gradient_descent_with_momentum",
                                "adam_with_decoupled_weight_decay"]):
            texts = self.texts(self.svg(kind, LONG_STUDY))
            page = self.page(kind)
            for name in names:
                with self.subTest(kind=kind, name=name):
                    found = [text for text in texts if text[:4] == name[:4]]
                    self.assertEqual(len(found), 1, texts)
                    self.assert_cut(found[0].removesuffix(" (log)"), name)
                    self.assertRegex(page, rf"{name[:3]}\w*(…\w*{name[-3:]}\b|{name[-3:]})")
        self.assertRegex(self.page("importance", LC_ALL="C"), r"very_\w+~\w+_first")

    def test_the_title_says_what_is_shown_however_long_the_study(self):
        for kind, what in ("history", "values of the trials"), \
                ("slice", "values against parameters"), ("categories", "choices over time"), \
                ("parallel", "trials across parameters"), \
                ("importance", "importance of the parameters"):
            title = self.texts(self.svg(kind, LONG_STUDY))[0]
            study, shown = title.split(": ")
            self.assertEqual(shown, what)
            self.assert_cut(study, LONG_STUDY)

    def test_whole_numbers_below_ten_million_are_written_out(self):
        for kind in "history", "slice", "parallel", "categories":
            texts = [*self.texts(self.svg(kind, LONG_STUDY)), *self.page(kind).split()]
            self.assertEqual([text for text in texts if re.search(r"\de\+?\d", text)], [],
                             kind)

    def test_both_ends_of_a_number_are_labelled(self):
        for kind in "slice", "parallel":
            texts = self.texts(self.svg(kind, LONG_STUDY))
            page = self.page(kind, COLUMNS="120")
            for end in "1", "1000000", "100000", "900000", "0.123456", "0.987654":
                self.assertIn(end, texts, kind)
                self.assertRegex(page, rf"(?<![\d.]){re.escape(end)}(?![\d.])", kind)

    def boxes(self, root):
        """What the texts take up: (left, right, top, bottom, text), on the small side."""
        for text in root.iter(f"{SVG}text"):
            if not text.get("x"):
                continue
            words, size = "".join(text.itertext()), float(text.get("font-size"))
            width = sum(0.25 if c in "ijlIftr1.,:' " else 0.5 for c in words) * size
            x, y = float(text.get("x")), float(text.get("y"))
            left = {"middle": x - width / 2, "end": x - width}.get(text.get("text-anchor"), x)
            yield left, left + width, y - 0.7 * size, y, words

    def test_texts_neither_meet_nor_leave_the_picture(self):
        """With one parameter, and with many, whose panels are narrow."""
        wide = {f"{name}_{k}": domain for k in range(4) for name, domain in LONG.items()}
        self.study(curve(30), wide, name="many")
        self.study(curve(30), {"x": "float(-1.234567e-10,9.876543e10)"}, name="one")
        for name in LONG_STUDY, "many", "one":
            for kind in KINDS:
                if (name, kind) == ("one", "categories"):
                    continue
                root = self.svg(kind, name)
                boxes = sorted(self.boxes(root))
                width, height = map(float, root.get("viewBox").split()[2:])
                for i, (left, right, top, bottom, text) in enumerate(boxes):
                    self.assertTrue(0 <= left and right <= width and bottom <= height,
                                    (name, kind, text))
                    for other in boxes[i + 1:]:
                        meet = other[0] < right and other[2] < bottom and top < other[3]
                        self.assertFalse(meet, (name, kind, text, other))


class Failures(Case):
    def test_every_picture_of_trials_shows_them_and_says_how_many(self):
        for name, flags in ("default", []), ("max", ["--maximize"]):
            self.study([*curve(20), *[math.nan] * 3], name=name, flags=flags)
            for kind in "history", "slice", "parallel", "categories":
                with self.subTest(kind=kind, name=name):
                    self.assertIn("failed (3)", self.texts(self.svg(kind, name)))
                    page = self.ok("plot", "--text", "--kind", kind, "--study", name)
                    self.assertIn("failed (3)", page)

    def test_slice_has_them_at_the_bad_edge_of_every_panel(self):
        for name, flags in ("default", []), ("max", ["--maximize"]):
            self.study([*curve(20), *[math.nan] * 3], name=name, flags=flags)
            root = self.svg("slice", name)
            crosses, values = [], []
            for path in root.iter(f"{SVG}path"):
                if path.find(f"{SVG}title") is not None and \
                        path.find(f"{SVG}title").text.endswith("failed"):
                    crosses.append(float(path.get("d").split(",")[1].split()[0]))
            for circle in root.iter(f"{SVG}circle"):
                values.append(float(circle.get("cy")))
            self.assertEqual(len(crosses), 2 * 3 * len(SPACE))
            # The panels of the first row: all crosses on the bad side of all values.
            first = [y for y in values if y < min(values) + 150]
            crossed = [y for y in crosses if y < min(values) + 150]
            if flags:
                self.assertGreater(min(crossed), max(first))
            else:
                self.assertLess(max(crossed), min(first))

    def test_categories_count_them_in_a_terminal(self):
        self.study([*curve(20), *[math.nan] * 3])
        page = self.ok("plot", "--text", "--kind", "categories")
        rows = [json.loads(line) for line in
                self.ok("plot", "--kind", "categories", "--json").splitlines()]
        for row in rows:
            line = next(line for line in page.splitlines()
                        if line.startswith(f"  {row['choice']} "))
            counts = re.findall(r"(?<![\d.])\d+(?![\d.])", line)
            self.assertEqual(counts[:2], [str(row["tried"]), str(row["failed"])], line)


class Errors(Case):
    """Importance says how sure it is."""

    def test_shares_have_errors_that_shrink(self):
        errors = []
        for n in 20, 320:
            source = random.Random(5)
            with open(self.folder / "known.csv", "w", encoding="utf-8") as file:
                file.write("x,y,c,value\n")
                for _ in range(n):
                    x, y = source.uniform(0, 1), source.uniform(0, 1)
                    file.write(f"{x},{y},{source.choice('ab')},"
                               f"{3 * x + 2 * y + source.gauss(0, 1)}\n")
            self.ok("import", "--study", f"n{n}", "--format", "csv", "known.csv", "-p",
                    "x=float(0,1)", "-p", "y=float(0,1)", "-p", "c=choice(a,b)")
            rows = [json.loads(line) for line in
                    self.ok("plot", "--study", f"n{n}", "--kind", "importance",
                            "--json").splitlines()]
            self.assertTrue(all(0 < row["se"] < 1 for row in rows), rows)
            errors.append(max(row["se"] for row in rows))
            largest = rows[0]
        self.assertLess(errors[1], 0.6 * errors[0])
        root = self.svg("importance", "n320")
        shown = [text for text in self.texts(root) if "±" in text]
        self.assertEqual(len(shown), 3, self.texts(root))
        percent, error = re.match(r"([\d.]+) ± ([\d.]+) %", shown[0]).groups()
        self.assertAlmostEqual(float(percent), 100 * largest["share"], delta=0.6)
        self.assertAlmostEqual(float(error), 100 * largest["se"], delta=0.6)
        page = self.ok("plot", "--study", "n320", "--kind", "importance", "--text")
        self.assertIn(shown[0], page)
        page = self.ok("plot", "--study", "n320", "--kind", "importance", "--text",
                       env={**self.environment, "LC_ALL": "C"})
        self.assertIn(shown[0].replace("±", "+-"), page)


class Steps(Case):
    """What programs report of their values so far."""

    def steps(self, rows, name="default", flags=()):
        """Trials (result, [[step, value], ...]): a number, "failed" or None, no result."""
        lines = [{"state": "complete" if isinstance(result, float) else "failed",
                  "value": result if isinstance(result, float) else None,
                  "params": {"x": i / len(rows)}, "reports": reports}
                 for i, (result, reports) in enumerate(rows) if result is not None]
        self.ok("create", "--study", name, "--sampler", "random", "-p", "x=float(0,1)", *flags)
        (self.folder / "known.json").write_text(json.dumps(lines))
        if lines:
            self.ok("import", "--study", name, "--format", "json", "known.json")
        for _, reports in (row for row in rows if row[0] is None):
            number = json.loads(self.ok("ask", "--json", "--study", name))["number"]
            for step, value in reports:
                self.ok("tell", "--study", name, number, value, "--step", step)

    def lines(self, root, width=None):
        """{tip: points} of the lines, or those of a width, in the order of drawing."""
        return {path.find(f"{SVG}title").text:
                [tuple(map(float, at)) for at in
                 re.findall(r"(-?[\d.]+),(-?[\d.]+)", path.get("d"))]
                for group in root.iter(f"{SVG}g") for path in group
                if path.find(f"{SVG}title") is not None and group.get("fill") == "none"
                and group.get("stroke-width") in ([width] if width else ["1.2", "2.5"])}

    def json_rows(self, *args):
        return [json.loads(line) for line in
                self.ok("plot", "--kind", "steps", "--json", *args).splitlines()]

    def test_a_program_reports_while_it_runs(self):
        # From another folder: what run says about the storage is no path to guess at.
        (self.folder / "sub").mkdir()
        (self.folder / "train.sh").write_text(
            'cd sub || exit 1\n'
            'for step in 1 2 3; do\n'
            '  "$PROGRAM" tell "$COCABO_TRIAL" "$((COCABO_TRIAL + 30 / step))" --step "$step" '
            '|| exit 1\n'
            'done\n'
            '[ "$COCABO_TRIAL" = 2 ] && exit 7\n'
            'echo "$COCABO_TRIAL"\n')
        (self.folder / "100% a?b").mkdir()
        environment = {**self.environment, "PROGRAM": COCABO}
        for i, storage in enumerate([[], ["--storage", "bare.db"], ["--storage", "./a b.db"],
                                     ["--storage", "sqlite:///100%25 a%3Fb/url%20x.db"],
                                     ["--storage", f"sqlite:///{self.folder}/absolute.db"]]):
            with self.subTest(storage=storage):
                self.ok("run", "-n", 3, "-j", 2, "--sampler", "random", "-p", "x=float(0,1)",
                        "--study", f"a study {i}", *storage, "--", "sh", "train.sh",
                        env=environment)
                self.assertEqual(self.json_rows(*storage), [
                    {"number": number, "state": "failed" if number == 2 else "complete",
                     "step": step, "value": number + 30 // step}
                    for number in range(3) for step in (1, 2, 3)])
        self.assertEqual(os.listdir(self.folder / "sub"), [])

    def test_a_strange_folder_is_no_obstacle(self):
        self.folder = self.folder / "50% of: ?#"
        self.folder.mkdir()
        (self.folder / "sub").mkdir()
        line = f'cd sub && "{COCABO}" tell $COCABO_TRIAL 5 --step 1 && echo 1'
        for more in [], ["--storage", "bare.db"]:
            self.ok("run", "-n", 1, "-p", "x=float(0,1)", *more, "--", "sh", "-c", line)
            self.assertEqual(len(self.json_rows(*more)), 1)

    def test_a_line_a_trial(self):
        self.steps([(3.0, [[0, 9], [1, 5], [4, 3]]), (1.0, [[0, 8], [1, 4], [4, 1]]),
                    (2.0, []), ("failed", [[0, 7], [1, 7]]), (None, [[0, 6], [4, 6.5]])])
        root = self.svg("steps")
        lines = self.lines(root)
        # Unfinished and failed ones below, the best on top.
        self.assertEqual(list(lines), ["trial 4: running", "trial 3: failed", "trial 0: 3",
                                       "trial 1: 1"])
        self.assertEqual([len(points) for points in lines.values()], [2, 2, 3, 3])
        (x0, y0), (x1, y1), (x4, y4) = lines["trial 1: 1"]
        self.assertAlmostEqual(x4 - x0, 4 * (x1 - x0), delta=0.2)
        self.assertAlmostEqual((y4 - y0) * 4, (y1 - y0) * 7, delta=1)
        self.assertGreater(y4, y0)
        texts = self.texts(root)
        for text in ("default: values over steps", "best", "failed (1)", "unfinished (1)",
                     "step", "value"):
            self.assertIn(text, texts)
        self.assertEqual(list(self.lines(root, "2.5")), ["trial 1: 1"])

    def test_only_the_best_and_the_newest_of_many(self):
        source = random.Random(5)
        values = [100.0 + source.random() for _ in range(200)]
        values[7], values[11] = 1.0, 2.0
        self.steps([(value, [[step, value + 5.0 / (1 + step)] for step in range(420)])
                    for value in values[:60]] +
                   [(value, [[0, value], [1, value]]) for value in values[60:]])
        root = self.svg("steps")
        self.assertLess((self.folder / "picture.svg").stat().st_size, 1 << 20)
        numbers = [int(re.match(r"trial (\d+)", tip)[1]) for tip in self.lines(root)]
        self.assertEqual(len(numbers), 40)
        self.assertEqual(numbers[-2:], [11, 7])
        best = sorted(range(200), key=values.__getitem__)[:20]
        rest = [i for i in range(199, -1, -1) if i not in best][:20]
        self.assertEqual(sorted(numbers), sorted(best + rest))
        note = "40 of 200 lines, the best and the newest"
        self.assertIn(f"({note})", self.texts(root))
        self.assertIn(note, " ".join(self.ok("plot", "--kind", "steps").split()))
        self.assertEqual(len(self.json_rows()), 60 * 420 + 140 * 2)

    def test_long_lines_keep_their_ends_and_peaks(self):
        reports = [[step, 5.0] for step in range(100, 9100)]
        reports[4321][1] = 9.0
        self.steps([(5.0, reports), (6.0, [[100, 5], [9099, 6]])])
        lines = self.lines(self.svg("steps"))
        long, short = lines["trial 0: 5"], lines["trial 1: 6"]
        self.assertLess(len(long), 500)
        self.assertEqual((long[0][0], long[-1][0]), (short[0][0], short[-1][0]))
        self.assertEqual([x for x, _ in long], sorted(x for x, _ in long))
        self.assertEqual(len({y for _, y in long}), 2)

    def test_the_first_trial_can_be_watched(self):
        self.steps([(None, [[1, 3], [2, 2]])])
        root = self.svg("steps")
        self.assertEqual(root.find(f"{SVG}desc").text, "minimised; no trial is complete yet")
        self.assertIn("no trial is complete yet", self.ok("plot", "--kind", "steps"))
        self.assertEqual(self.json_rows(),
                         [{"number": 0, "state": "running", "step": 1, "value": 3.0},
                          {"number": 0, "state": "running", "step": 2, "value": 2.0}])

    def test_few_and_strange_reports_are_drawn_too(self):
        big, late = 1.7e308, 2 ** 63 - 1
        for i, rows in enumerate([[(1.0, [[0, 0]])], [(1.0, [[late, 3]])],
                                  [(1.0, [[0, big], [late, -big]]), (2.0, [[5, 1e-300]])],
                                  [("failed", [[3, 1], [4, 1]]), (1.0, [])],
                                  [(1.0, [[k, 10.0 ** -k] for k in range(9)])],
                                  [(1.0, [[k, 1.0 + k % 3] for k in range(30)] + [[30, -1e300]])]]):
            self.steps(rows, f"s{i}", ["--maximize"] if i % 2 else [])
            with self.subTest(i):
                self.assert_sound(self.svg("steps", f"s{i}"))
                for locale in "C", "C.UTF-8":
                    page = self.ok("plot", "--kind", "steps", "--study", f"s{i}",
                                   env={**self.environment, "LC_ALL": locale})
                    self.assertNotRegex(page, r"\b(nan|inf)\b")
        self.assertIn("value (logarithmic)", self.texts(self.svg("steps", "s4")))
        for name, some in ("s4", False), ("s5", True):
            note = "worse values are at the edge"
            self.assertEqual(note in self.texts(self.svg("steps", name)), some, name)
            self.assertEqual(note in self.ok("plot", "--kind", "steps", "--study", name), some)
        self.assertIn("(trial 1, the best, reported nothing)", self.texts(self.svg("steps", "s3")))

    def test_without_reports_it_says_how_to_make_them(self):
        self.study(curve(5), reports=lambda value: [])
        for more in ["-o", "p.svg"], ["--text"], ["--json"]:
            self.refused(2, "no trial of study default has reported values: a program reports "
                         "with cocabo tell $COCABO_TRIAL VALUE --step STEP while it runs",
                         "plot", "--kind", "steps", *more)
        self.assertFalse((self.folder / "p.svg").exists())

    def test_completion_knows_the_kinds(self):
        offered = self.ok("--complete", "plot", "--kind", "")
        self.assertEqual([line.split("\t")[0] for line in offered.splitlines()], KINDS)


class Noisy(Case):
    """Where values are noisy everything names the trial that the model expects most of."""

    def noisy(self, sampler, name="default", n=30):
        (self.folder / "noisy.py").write_text(
            "import os, random, sys\n"
            "x, kind, seed = float(sys.argv[1]), sys.argv[2], os.environ['COCABO_SEED']\n"
            "print((x - 0.3) ** 2 + 0.6 * (kind == 'b') + "
            "random.Random(seed).gauss(0, 0.3))\n")
        return self.cocabo("run", "--study", name, "-n", n, "--sampler", sampler, "--set",
                           "deterministic=false", "--set", "seed=3", "-p", "x=float(-1,1)",
                           "-p", "kind=choice(a,b)", "--", sys.executable, "noisy.py",
                           "{x}", "{kind}")

    def test_everything_names_the_same_trial(self):
        done = self.noisy("mixed")
        self.assertEqual(done.returncode, 0, done.stderr)
        best = json.loads(self.ok("best", "--json"))
        trials = [json.loads(line) for line in self.ok("trials", "--json").splitlines()]
        lucky = min(trials, key=lambda trial: trial["value"])
        self.assertNotEqual(best["number"], lucky["number"], "noise that decides nothing")
        self.assertGreater(best["expected_se"], 0)
        self.assertLess(abs(best["expected"]), 0.5)
        number, measured = best["number"], best["value"]
        measure = r"(-?[\d.]+) \+- ([\d.]+)"
        for text, form in \
                (done.stdout, rf"best trial {number}: expected {measure}, measured (\S+)\n"), \
                (self.ok("best"), rf"value   expected {measure}, measured (\S+)\n"
                                  rf"trial   {number}, the best of 30"):
            found = re.search(form, text)
            self.assertTrue(found, text)
            self.assertAlmostEqual(float(found[1]), best["expected"], places=2)
            self.assertAlmostEqual(float(found[2]), best["expected_se"], places=2)
            self.assertAlmostEqual(float(found[3]), measured, places=4)
        self.assertRegex(done.stderr, rf"30/30, best {measure} \(trial {number}\)")
        for kind in "history", "slice", "parallel", "categories":
            root = self.svg(kind)
            self.assertRegex(root.find(f"{SVG}desc").text, rf"trial {number}$")
            self.assertIn(f"trial {number}", self.ok("plot", "--text", "--kind", kind))
        rows = [json.loads(line) for line in
                self.ok("plot", "--kind", "categories", "--json").splitlines()]
        self.assertIn(number, [row["best_number"] for row in rows])

    def test_a_run_that_is_interrupted_names_it_too(self):
        (self.folder / "noisy.sh").write_text("echo $(((COCABO_TRIAL * 7919) % 101))\nsleep 0.1\n")
        run = subprocess.Popen(
            [COCABO, "run", "-n", "1000", "--set", "deterministic=false", "-p", "x=float(-1,1)",
             "--", "bash", "noisy.sh"], cwd=self.folder, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            done = self.cocabo("studies", "--json")
            if done.stdout and json.loads(done.stdout)["complete"] >= 6:  # the file comes first
                break
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        stdout, stderr = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, stderr)
        number = re.search(r"best trial (\d+): expected", stdout)[1]
        last = [line for line in stderr.splitlines() if "(trial " in line][-1]
        self.assertRegex(last, rf"best \S+ \+- \S+ \(trial {number}\)")

    def test_without_a_model_it_is_the_luckiest(self):
        done = self.noisy("random", n=8)
        best = json.loads(self.ok("best", "--json"))
        self.assertEqual((best["expected"], best["expected_se"]), (None, None))
        self.assertRegex(done.stderr, r"8/8, luckiest \S+ \(trial \d+\)")
        self.assertRegex(done.stdout, r"best trial \d+: \S+, the luckiest\n")
        self.assertRegex(self.ok("best"), r"value   \S+, the luckiest\n")
        self.assertIn("luckiest", self.svg("history").find(f"{SVG}desc").text)

    def test_exact_values_are_as_they_were(self):
        self.study(curve(9))
        self.assertNotIn("expected", self.ok("best", "--json"))
        self.assertNotIn("expected", self.ok("best"))


class Text(Case):
    def page(self, kind, *args, columns=None, locale="C.UTF-8"):
        environment = {**self.environment, "LC_ALL": locale}
        if columns is not None:
            environment["COLUMNS"] = str(columns)
        return self.ok("plot", "--text", "--kind", kind, *args, env=environment)

    def test_pages_fit_their_width(self):
        space = {**SPACE, "名前が長いパラメータ": "choice(一,二)", "n" * 60: "int(1,3)"}
        self.study([*curve(90), 1e9, math.nan], space)
        for kind in KINDS:
            for columns, room in (None, 80), (40, 40), (7, 40), (80, 80), (133, 133), \
                    ("x", 80):
                with self.subTest(kind=kind, columns=columns):
                    page = self.page(kind, columns=columns)
                    widest = max(sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
                                     for c in line) for line in page.splitlines())
                    self.assertLessEqual(widest, room, page)
                    self.assertNotRegex(page, r"(?m)[ \t]$")

    def test_without_utf8_there_is_only_ascii(self):
        self.study([*curve(50), 1e9, math.nan])
        for kind in KINDS:
            self.assertTrue(self.page(kind, locale="C").isascii(), kind)
            self.assertFalse(self.page(kind).isascii(), kind)
            self.assertFalse(self.page(kind, locale="de_DE.utf8").isascii(), kind)

    def test_the_best_line_falls_when_minimised_and_rises_when_maximised(self):
        self.study([3.0, 2.0, 1.0])
        self.study([1.0, 2.0, 3.0], name="max", flags=["--maximize"])
        self.assertIn("╮", self.page("history"))
        self.assertNotIn("╯", self.page("history"))
        self.assertIn("╯", self.page("history", "--study", "max"))
        self.assertNotIn("╮", self.page("history", "--study", "max"))

    def test_a_terminal_gets_text_without_being_asked(self):
        self.study(curve(10))
        main, other = pty.openpty()
        self.addCleanup(os.close, main)
        done = subprocess.run([COCABO, "plot"], cwd=self.folder, stdout=other,
                              stderr=subprocess.PIPE, env=self.environment, timeout=60)
        os.close(other)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("default: values of the trials",
                      os.read(main, 1 << 16).decode("utf-8"))

    def test_text_and_file_go_together(self):
        self.study(curve(10))
        self.assertIn("values of the trials", self.page("history", "-o", "a.svg"))
        self.assertTrue((self.folder / "a.svg").exists())


class Gnuplot(Case):
    def fake(self, script):
        """A program of that name, first in the path."""
        folder = self.folder / "bin"
        folder.mkdir()
        if script is not None:
            (folder / "gnuplot").write_text(f"#!/bin/sh\n{script}\n")
            (folder / "gnuplot").chmod(0o755)
        self.environment["PATH"] = str(folder)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_png_and_pdf_are_drawn_by_gnuplot(self):
        self.study([*curve(40), 1e9, math.nan])
        # Nobody's start-up file has a say.
        (self.folder / ".gnuplot").write_text("print 'hello'\nexit status 7\n")
        self.environment["HOME"] = str(self.folder)
        for kind in KINDS:
            for ending, start in ("png", b"\x89PNG\r\n"), ("PDF", b"%PDF-"):
                with self.subTest(kind=kind, ending=ending):
                    self.ok("plot", "--kind", kind, "-o", f"p.{ending}")
                    picture = (self.folder / f"p.{ending}").read_bytes()
                    self.assertTrue(picture.startswith(start), picture[:20])
                    self.assertGreater(len(picture), 5000)

    def test_a_missing_gnuplot_is_named(self):
        self.study(curve(5))
        (self.folder / "p.png").write_text("old")
        self.fake(None)
        self.refused(1, "PNG and PDF are drawn by gnuplot, which is not installed "
                     "(Debian: gnuplot-nox)", "plot", "-o", "p.png")
        self.assertEqual((self.folder / "p.png").read_text(), "old")
        self.refused(1, "PNG and PDF", "plot", "-o", "p.pdf")
        self.assertFalse((self.folder / "p.pdf").exists())

    def test_a_failing_gnuplot_is_quoted(self):
        self.study(curve(5))
        self.fake('echo >&2\necho "  ^" >&2\necho "line 3: unknown terminal" >&2\nexit 1')
        self.refused(1, "gnuplot failed: line 3: unknown terminal", "plot", "-o", "p.png")
        self.assertFalse((self.folder / "p.png").exists())

    def test_a_silent_gnuplot_is_a_failure_too(self):
        self.study(curve(5))
        self.fake("exit 0")
        self.refused(1, "gnuplot failed: it said nothing", "plot", "-o", "p.png")


class Refusals(Case):
    def test_bad_arguments(self):
        self.study(curve(5))
        self.refused(2, 'unknown --kind "histori", did you mean history?',
                     "plot", "--kind", "histori", "--text")
        self.refused(2, 'unknown --kind "pie", want one of history, slice, parallel, '
                     "categories, importance, steps", "plot", "--kind", "pie", "--text")
        for name in "p.gif", "svg", "a.svg/b", "a.svg.txt", ".":
            self.refused(2, f'-o is "{name}", want a name that ends in .svg, .png or .pdf',
                         "plot", "-o", name)
        self.refused(2, 'unexpected argument "history"', "plot", "history", "--text")
        self.refused(2, "the numbers behind slice are the trials: see cocabo trials --json",
                     "plot", "--kind", "slice", "--json")
        self.refused(2, 'no study "defualt" in', "plot", "--study", "defualt", "--text")

    def test_studies_without_what_is_wanted(self):
        sentence = 'no trial of study "default" is complete yet'
        self.study([])
        for kind in KINDS:
            self.refused(3, sentence, "plot", "--kind", kind, "-o", "p.svg")
            self.refused(3, sentence, "plot", "--kind", kind, "--text")
        number = json.loads(self.ok("ask", "--json"))["number"]
        self.ok("tell", number, "--fail", "x")
        self.refused(3, sentence, "plot", "-o", "p.svg")
        self.assertFalse((self.folder / "p.svg").exists())

        self.study(curve(6), {"x": "float(0,1)"}, name="numbers")
        for more in ["-o", "p.svg"], ["--text"], ["--json"]:
            self.refused(2, "study numbers has no choices to show, want --kind slice",
                         "plot", "--study", "numbers", "--kind", "categories", *more)
        self.study([1.0], name="one")
        self.study([2.5] * 9, name="same")
        for more in ["-o", "p.svg"], ["--text"], ["--json"]:
            self.refused(2, "importance needs 4 complete trials, and there is 1", "plot",
                         "--study", "one", "--kind", "importance", *more)
            self.refused(2, "all values are equal, so no parameter has a share", "plot",
                         "--study", "same", "--kind", "importance", *more)

    def test_paths_that_cannot_be_written(self):
        self.study(curve(5))
        self.refused(1, "cannot write nowhere/p.svg: No such file", "plot", "-o",
                     "nowhere/p.svg")
        (self.folder / "folder.svg").mkdir()
        self.refused(1, "cannot write folder.svg: Is a directory", "plot", "-o",
                     "folder.svg")
        self.assertEqual(self.files(), ["folder.svg", "known.csv"])

    def test_a_plot_changes_nothing(self):
        self.study(curve(5))
        before = (self.folder / "cocabo.db").read_bytes()
        for kind in KINDS:
            self.ok("plot", "--kind", kind, "--text")
        self.assertEqual((self.folder / "cocabo.db").read_bytes(), before)


if __name__ == "__main__":
    COCABO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
