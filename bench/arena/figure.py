"""figure.py - the picture of a report: normalised regret over evaluations as SVG, a panel for
every family, a curve for every method that has runs on all its problems.

A curve is the mean over problems of the mean over seeds, as in the tables; its band is one
standard error by the seeds, where every problem has two runs or more. Looks are those of
the figures of cocabo-bench: what is ours is vermilion, random search grey and dotted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import mean, variance
from xml.sax.saxutils import escape

FIRST = 10                       # evaluations; before them everybody draws at random
FLOOR = 1e-4                     # of regrets: below it nobody cares who is ahead
WIDTH, HEIGHT = 330.0, 210.0     # of a panel, inside its axes
LEFT, RIGHT, TOP, BOTTOM = 58.0, 22.0, 40.0, 46.0
INK, GRID = "#1a1a1a", "#e4e4e4"
ORDER = ("programs", "coco", "textbook", "noisy", "paper")


@dataclass(frozen=True)
class Look:
    colour: str
    dash: str
    mark: str
    filled: bool


LOOKS = {
    "cocabo": Look("#d55e00", "", "dot", True),
    "optuna-tpe": Look("#0072b2", "", "square", False),
    "optuna-tpe-group": Look("#3f9fd8", "7 3", "down", False),
    "optuna-gp": Look("#009e73", "4 2", "diamond", False),
    "hyperopt": Look("#882255", "9 3 2 3", "dot", False),
    "smac3": Look("#8a8a2b", "4 2", "up", True),
    "cma": Look("#e69f00", "7 3", "square", True),
    "hebo": Look("#cc79a7", "9 3 2 3", "diamond", True),
    "botorch": Look("#332288", "9 3 2 3", "up", False),
    "random": Look("#7a7a7a", "2 2.4", "cross", False),
}
SPARES = (Look("#000000", "4 2", "square", True), Look("#117733", "9 3 2 3", "diamond", True),
          Look("#661100", "7 3", "up", False), Look("#aa4499", "", "down", False))


# ---- what is drawn -------------------------------------------------------------------

@dataclass(frozen=True)
class Point:
    t: int
    regret: float
    error: float | None          # None: some problem has one run only


@dataclass(frozen=True)
class Panel:
    family: str
    problems: int
    curves: dict[str, list[Point]]

    @property
    def last(self) -> int:
        return max(point.t for curve in self.curves.values() for point in curve)

    @property
    def span(self) -> tuple[float, float]:
        """Of the regrets that are drawn, with some air; FLOOR at the least."""
        drawn = [max(point.regret, FLOOR) for curve in self.curves.values()
                 for point in curve]
        return min(drawn) / 1.25, max(drawn) * 1.25


def point_at(standings: list, method: str, t: int) -> Point | None:
    """None: there is a problem on which the method has no run of that length."""
    found = [list(standing.regrets(method, t).values()) for standing in standings]
    if not all(found):
        return None
    error = None
    if all(len(some) > 1 for some in found):
        error = math.sqrt(sum(variance(some) / len(some) for some in found)) / len(found)
    return Point(t, mean(map(mean, found)), error)


def panel_of(family: str, standings: list) -> Panel | None:
    counted = [standing for standing in standings if standing.scale > 0]
    methods = sorted({name for standing in counted for name, _ in standing.runs},
                     key=lambda name: (rank(name), name))
    last = max((run["total"] for standing in counted for run in standing.runs.values()),
               default=0)
    curves = {}
    for method in methods:
        points = [point_at(counted, method, t) for t in range(FIRST, last + 1)]
        if some := [point for point in points if point]:
            curves[method] = some
    return Panel(family, len(counted), curves) if curves else None


def rank(method: str) -> int:
    """Its place in legends; other builds of ours come after cocabo."""
    return list(LOOKS).index(method) if method in LOOKS else 0


def looks_of(panels: list[Panel]) -> dict[str, Look]:
    methods = sorted({m for panel in panels for m in panel.curves},
                     key=lambda name: (rank(name), name))
    strangers = [m for m in methods if m not in LOOKS]
    return {m: LOOKS.get(m) or SPARES[strangers.index(m) % len(SPARES)] for m in methods}


# ---- SVG -----------------------------------------------------------------------------

def text(x: float, y: float, words: str, size: int = 12, anchor: str = "middle",
         more: str = "") -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{INK}" '
            f'text-anchor="{anchor}"{more}>{escape(words)}</text>')


def line(points: list[tuple[float, float]], stroke: str, width: float = 1.0,
         dash: str = "") -> str:
    d = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path d="M{d}" fill="none" stroke="{stroke}" stroke-width="{width}"{dashes}/>'


def band(upper: list[tuple[float, float]], lower: list[tuple[float, float]],
         colour: str) -> str:
    d = " ".join(f"{x:.1f},{y:.1f}" for x, y in upper + lower[::-1])
    return f'<path d="M{d}Z" fill="{colour}" fill-opacity="0.14"/>'


SHAPES = {                       # corners in units of the mark's size
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    "up": [(0, -1.2), (1.1, 0.9), (-1.1, 0.9)],
    "down": [(0, 1.2), (1.1, -0.9), (-1.1, -0.9)],
}


def mark(look: Look, x: float, y: float, tip: str = "") -> str:
    size = 3.6
    title = f"<title>{escape(tip)}</title>" if tip else ""
    fill = look.colour if look.filled else "#ffffff"
    style = f'fill="{fill}" stroke="{look.colour}" stroke-width="1.4"'
    if look.mark == "dot":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" {style}>{title}</circle>'
    if look.mark == "cross":
        a, b, c, d = x - size, y - size, x + size, y + size
        return (f'<path d="M{a:.1f},{b:.1f} {c:.1f},{d:.1f}M{a:.1f},{d:.1f} {c:.1f},{b:.1f}" '
                f'{style}>{title}</path>')
    corners = " ".join(f"{x + size * u:.1f},{y + size * v:.1f}"
                       for u, v in SHAPES[look.mark])
    return f'<path d="M{corners}Z" {style}>{title}</path>'


# ---- a panel -------------------------------------------------------------------------

def ticks(low: float, high: float) -> list[float]:
    """Powers of ten, and where they are few their double and fivefold too."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < 60 else (1,)
    # From their digits, so that 0.1 is 0.1.
    return [v for k in powers for s in steps if low <= (v := float(f"{s}e{k}")) <= high]


class Axes:
    """Where a panel lies, and where in it a number of evaluations and a regret are."""

    def __init__(self, panel: Panel, left: float, top: float) -> None:
        self.panel, self.left, self.top = panel, left, top
        self._low, self._high = panel.span

    def x(self, t: float) -> float:
        return self.left + WIDTH * (t - FIRST) / max(1, self.panel.last - FIRST)

    def y(self, regret: float) -> float:
        held = min(max(regret, self._low), self._high)
        return self.top + HEIGHT * math.log(self._high / held) / math.log(
            self._high / self._low)

    def frame(self) -> list[str]:
        right, bottom = self.left + WIDTH, self.top + HEIGHT
        count = self.panel.problems
        title = f"{self.panel.family}: {count} problem{'s' if count > 1 else ''}"
        parts = [text(self.left + WIDTH / 2, self.top - 12, title, 13,
                      more=' font-weight="bold"')]
        for value in ticks(self._low, self._high):
            y = self.y(value)
            parts.append(line([(self.left, y), (right, y)], GRID))
            parts.append(text(self.left - 7, y + 4.2, f"{value:g}", anchor="end"))
        parts.append(line([(self.left, self.top), (self.left, bottom), (right, bottom)], INK))
        for t in self._marked():
            parts.append(line([(self.x(t), bottom), (self.x(t), bottom + 5)], INK))
            parts.append(text(self.x(t), bottom + 18, str(t)))
        return parts

    def _marked(self) -> list[int]:
        return [t for t in (FIRST, 25, 50, 100, 150, 200) if t <= self.panel.last]

    def curve(self, method: str, look: Look) -> list[str]:
        points = self.panel.curves[method]
        parts = []
        if all(point.error is not None for point in points):
            parts.append(band([(self.x(p.t), self.y(p.regret + p.error)) for p in points],
                              [(self.x(p.t), self.y(p.regret - p.error)) for p in points],
                              look.colour))
        parts.append(line([(self.x(p.t), self.y(p.regret)) for p in points], look.colour,
                          1.8, look.dash))
        parts += [mark(look, self.x(p.t), self.y(p.regret),
                       f"{method} at {p.t}: {p.regret:.3g}")
                  for p in points if p.t in self._marked()[1:]]
        return parts


# ---- the page ------------------------------------------------------------------------

def legend_step(looks: dict[str, Look]) -> float:
    return 50 + 6.4 * max(map(len, looks))


def legend_columns(looks: dict[str, Look], width: float) -> int:
    return max(1, min(len(looks), int((width - 20) // legend_step(looks))))


def legend(looks: dict[str, Look], width: float, top: float) -> list[str]:
    columns, step = legend_columns(looks, width), legend_step(looks)
    begin = (width - columns * step) / 2 + 8
    parts = []
    for i, (method, look) in enumerate(looks.items()):
        x, y = begin + i % columns * step, top + i // columns * 20
        parts.append(line([(x, y), (x + 32, y)], look.colour, 1.8, look.dash))
        parts.append(mark(look, x + 16, y))
        parts.append(text(x + 38, y + 4.2, method, anchor="start"))
    return parts


def draw(families: dict[str, list]) -> str:
    """The picture of {family: its standings}; empty if there is no regret to show."""
    names = sorted(families, key=lambda f: (ORDER.index(f) if f in ORDER else len(ORDER), f))
    panels = [panel for name in names if (panel := panel_of(name, families[name]))]
    if not panels:
        return ""
    looks = looks_of(panels)
    columns = min(2, len(panels))
    cell, row = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM
    width, body = columns * cell + 14, math.ceil(len(panels) / columns) * row
    parts = []
    for i, panel in enumerate(panels):
        axes = Axes(panel, 14 + i % columns * cell + LEFT, i // columns * row + TOP)
        parts += axes.frame()
        for method in [m for m in reversed(looks) if m in panel.curves]:
            parts += axes.curve(method, looks[method])  # ours last, on top
        parts.append(text(axes.left + WIDTH / 2, axes.top + HEIGHT + 35, "evaluations"))
    parts.append(text(0, 0, "mean normalised regret", more=(
        f' transform="translate(20 {body / 2:.1f}) rotate(-90)"')))
    parts += legend(looks, width, body + 18)
    rows = math.ceil(len(looks) / legend_columns(looks, width))
    return page(width, body + 18 + rows * 20, parts)


def page(width: float, height: float, parts: list[str]) -> str:
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-family="sans-serif" role="img">')
    said = ["<title>Normalised regret over evaluations</title>",
            "<desc>Mean over problems; 0 is the best known, 1 what random search gets with "
            "the whole budget; bands: one standard error by the seeds</desc>",
            f'<path d="M0,0 {width:.0f},0 {width:.0f},{height:.0f} 0,{height:.0f}Z" '
            'fill="#ffffff"/>']
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *said, *parts,
                      "</svg>"]) + "\n"
