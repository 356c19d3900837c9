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
import subprocess
import sys
import tempfile
import time
import unicodedata
import unittest
from xml.etree import ElementTree

COCABO = None
KINDS = ["history", "slice", "parallel", "categories", "importance"]
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

    def study(self, values, space=None, name="default", flags=()):
        """A study with these values at random points; NaN: a failed trial."""
        space = space or SPACE
        source = random.Random(len(values))
        params = [arg for key, domain in space.items() for arg in ("-p", f"{key}={domain}")]
        self.ok("create", "--study", name, "--sampler", "random", *params, *flags)
        told = [value for value in values if not math.isnan(value)]
        with open(self.folder / "known.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*space, "value"])
            for value in told:
                writer.writerow([*(draw(domain, source) for domain in space.values()),
                                 repr(value)])
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
            for kind in KINDS[:-1]:
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
        self.assertIn("failed", self.texts(self.svg("categories")))

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
                     "categories, importance", "plot", "--kind", "pie", "--text")
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
