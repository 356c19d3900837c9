#!/usr/bin/env python3
"""Draws a results file of cocabo-bench as SVG: mean best value, with standard errors.

    tools/plot_results.py results.csv -o figure.svg [--problem NAME] [--method A,B]
                          [--batch B] [--optimum Y] [--title TEXT]

One line a method: the mean over its runs of the best value after each iteration, and a
band of one standard error to each side. A method's line ends where its shortest run
does. Lines differ by dash, marker and lightness as well as by colour, so the picture
survives a printer without colours. Only the standard library is needed.
"""

import argparse
import csv
import math
import pathlib
import statistics
import sys
from html import escape

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 78, 20, 34, 54  # margins around the axes

# Colour, dash and marker of the first, second, ... method; dark to light.
STYLES = [("#000000", "", "circle"), ("#0072b2", "9 4", "square"),
          ("#d55e00", "2 3", "triangle"), ("#007a5a", "9 3 2 3", "diamond"),
          ("#9a4d80", "14 4", "circle"), ("#7a7a7a", "5 2", "square")]


# ---- data -------------------------------------------------------------------------

def read_runs(path):
    """{(problem, method, batch): {seed: {iteration: (rows, best after it)}}}"""
    runs = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = row["problem"], row["method"], int(row["batch"])
            run = runs.setdefault(key, {}).setdefault(row["seed"], {})
            iteration = int(row["iteration"])
            rows = run.get(iteration, (0, None))[0]
            run[iteration] = rows + 1, float(row["best"])
    return runs


def finished(run, batch):
    """[best after iteration 0, 1, ...] as far as iterations are complete."""
    bests = []
    while len(bests) in run:
        rows, best = run[len(bests)]
        if bests and rows < batch:
            break
        bests.append(best)
    return bests


def curve(runs, batch):
    """[(mean, standard error)] for iteration 0, 1, ... that every run has finished."""
    lists = [finished(run, batch) for run in runs.values()]
    points = []
    for bests in zip(*lists):
        spread = statistics.stdev(bests) if len(bests) > 1 else 0.0
        points.append((statistics.fmean(bests), spread / math.sqrt(len(bests))))
    return points


def only(values, what, wanted):
    """The wanted value, or the only one there is."""
    values = sorted(set(values))
    if wanted is None and len(values) == 1:
        return values[0]
    if wanted not in values:
        choices = ", ".join(map(str, values))
        sys.exit(f"plot_results: --{what} is {wanted}, want one of {choices}")
    return wanted


def choose(runs, args):
    """The problem, the batch size and {method: its runs} in the order asked for."""
    problem = only((key[0] for key in runs), "problem", args.problem)
    batch = only((key[2] for key in runs if key[0] == problem), "batch", args.batch)
    found = {key[1]: runs[key] for key in runs if key[0] == problem and key[2] == batch}
    wanted = args.method.split(",") if args.method else list(found)
    for method in wanted:
        if method not in found:
            sys.exit(f"plot_results: no method {method}, want one of {', '.join(found)}")
    if len(wanted) > len(STYLES):
        sys.exit(f"plot_results: {len(wanted)} methods, want at most {len(STYLES)}")
    return problem, batch, {method: found[method] for method in wanted}


# ---- axes -------------------------------------------------------------------------

def ticks(low, high, wanted=8):
    """Round numbers that cover low .. high inside."""
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


class Axes:
    """Data to picture, and the frame."""

    def __init__(self, last, low, high):
        margin = 0.04 * (high - low) or 1.0
        self.last, self.low, self.high = max(last, 1), low - margin, high + margin

    def x(self, iteration):
        return LEFT + iteration / self.last * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        share = (value - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def at(self, iteration, value):
        return f"{self.x(iteration):.1f},{self.y(value):.1f}"

    def draw(self, x_label, y_label):
        bottom, middle = HEIGHT - BOTTOM, (TOP + HEIGHT - BOTTOM) / 2
        parts = []
        for value in ticks(self.low, self.high):
            y = self.y(value)
            parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" '
                         f'y2="{y:.1f}" stroke="#e2e2e2"/>')
            parts.append(text(LEFT - 8, y + 4, f"{value + 0.0:.4g}", "end"))
        for value in ticks(0, self.last):
            x = self.x(value)
            parts.append(f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" '
                         f'y2="{bottom + 5}" stroke="#000"/>')
            parts.append(text(x, bottom + 20, f"{value:g}", "middle"))
        parts.append(f'<path d="M{LEFT},{TOP} V{bottom} H{WIDTH - RIGHT}" fill="none" '
                     f'stroke="#000"/>')
        parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_label, "middle"))
        parts.append(f'<g transform="rotate(-90 18 {middle:g})">'
                     + text(18, middle, y_label, "middle") + "</g>")
        return parts


# ---- marks ------------------------------------------------------------------------

def text(x, y, words, anchor="start", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>'
            f"{escape(words)}</text>")


def marker(kind, x, y, colour):
    shapes = {"square": "M-4,-4 H4 V4 H-4 Z", "triangle": "M0,-5 L5,4 H-5 Z",
              "diamond": "M0,-5.5 L5.5,0 L0,5.5 L-5.5,0 Z",
              "circle": "M-4,0 A4,4 0 1 0 4,0 A4,4 0 1 0 -4,0 Z"}
    return (f'<path d="{shapes[kind]}" transform="translate({x:.1f} {y:.1f})" '
            f'fill="#fff" stroke="{colour}" stroke-width="1.6"/>')


def draw_band(axes, points, style):
    colour, _, _ = style
    upper = [axes.at(t, mean + se) for t, (mean, se) in enumerate(points)]
    lower = [axes.at(t, mean - se) for t, (mean, se) in enumerate(points)]
    return (f'<path d="M{" L".join(upper + lower[::-1])} Z" fill="{colour}" '
            f'fill-opacity="0.14" stroke="{colour}" stroke-opacity="0.35" '
            f'stroke-width="0.6"/>')


def draw_line(axes, points, style, shift):
    """shift in [0,1) moves the markers along, so that those of two methods part."""
    colour, dash, kind = style
    path = " L".join(axes.at(t, mean) for t, (mean, _) in enumerate(points))
    every = max(len(points) // 8, 1)
    marks = [marker(kind, axes.x(t), axes.y(points[t][0]), colour)
             for t in range(int(shift * every), len(points), every)]
    return [f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash or "none"}"/>', *marks]


def draw_legend(entries):
    """At the lower right, where curves that rise leave room."""
    width = 64 + 7.2 * max(len(name) for name, _ in entries)
    left, top = WIDTH - RIGHT - width - 8, HEIGHT - BOTTOM - 22 * len(entries) - 14
    parts = [f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
             f'height="{22 * len(entries) + 6}" fill="#fff" fill-opacity="0.9" '
             f'stroke="#999"/>']
    for i, (name, (colour, dash, kind)) in enumerate(entries):
        y = top + 14 + 22 * i
        parts.append(f'<line x1="{left + 8:.1f}" y1="{y:.1f}" x2="{left + 44:.1f}" '
                     f'y2="{y:.1f}" stroke="{colour}" stroke-width="2" '
                     f'stroke-dasharray="{dash or "none"}"/>')
        parts.append(marker(kind, left + 26, y, colour))
        parts.append(text(left + 52, y + 4, name))
    return parts


def draw_optimum(axes, optimum):
    y = axes.y(optimum)
    return [f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" '
            f'stroke="#000" stroke-width="1" stroke-dasharray="1 4"/>',
            text(LEFT + 6, y - 5, "optimum")]


# ---- the picture ------------------------------------------------------------------

def picture(curves, title, x_label, optimum):
    edges = [mean + sign * se for points in curves.values() for mean, se in points
             for sign in (-1, 1)]
    edges += [] if optimum is None else [optimum]
    last = max(len(points) for points in curves.values()) - 1
    axes = Axes(last, min(edges), max(edges))
    styled = list(zip(curves.items(), STYLES))

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
             f'font-size="13" role="img">',
             f"<title>{escape(title)}</title>",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    parts += axes.draw(x_label, "best value so far")
    parts += [] if optimum is None else draw_optimum(axes, optimum)
    parts += [draw_band(axes, points, style) for (_, points), style in styled]
    for i, ((_, points), style) in enumerate(styled):
        parts += draw_line(axes, points, style, i / len(styled))
    parts += draw_legend([(name, style) for (name, _), style in styled])
    parts.append(text(LEFT, 20, title, more=' font-weight="bold"'))
    return "\n".join([*parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", help="CSV of cocabo-bench run")
    parser.add_argument("-o", required=True, metavar="FILE.svg")
    parser.add_argument("--problem", help="which problem, if the file has several")
    parser.add_argument("--batch", type=int, help="which batch size, if several")
    parser.add_argument("--method", metavar="A,B", help="which methods (all)")
    parser.add_argument("--optimum", type=float, metavar="Y", help="a line at the optimum")
    parser.add_argument("--title")
    args = parser.parse_args()

    runs = read_runs(args.results)
    if not runs:
        sys.exit(f"plot_results: {args.results} has no rows")
    problem, batch, methods = choose(runs, args)
    curves = {name: curve(found, batch) for name, found in methods.items()}
    counts = sorted({len(found) for found in methods.values()})
    title = args.title or (f"{problem}: mean of {'-'.join(map(str, counts))} runs, band "
                           f"of one standard error")
    each = f" of {batch} evaluations" if batch > 1 else ""
    x_label = f"iteration{each} after the initial points"
    svg = picture(curves, title, x_label, args.optimum)
    pathlib.Path(args.o).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
