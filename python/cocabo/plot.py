"""Pictures of a study, drawn by matplotlib: the kinds of ``cocabo plot``, in its design.

Every function takes a study and returns the Axes that it drew on; without ``ax`` it makes
a figure of pyplot's, so that ``matplotlib.pyplot.savefig`` and ``show`` know it.

    import matplotlib.pyplot as plt
    from cocabo import plot

    plot.history(study)
    plt.savefig("history.png")

Failed trials are crosses at the bad edge, infeasible ones rings, the best one a diamond.
On a dark ground, such as that of ``plt.style.use("dark_background")``, inks are light.
"""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

try:
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb, to_rgba
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator
except ImportError as e:
    raise ImportError(f"cocabo.plot needs matplotlib, which cannot be imported: {e}") from e

from ._native import InvalidError, StateError
from ._plot_data import (
    PlotData,
    Range,
    is_log,
    jitter,
    labels,
    number,
    range_of,
    shorten,
)
from ._space import Choice, Int

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._study import Study
    from ._trial import FrozenTrial

__all__ = ["categories", "history", "importance", "parallel", "slices", "steps"]

_MOST_PANELS, _MOST_AXES, _MOST_BLOCKS, _MOST_ROWS, _MOST_BARS = 24, 15, 20, 20, 30
_MOST_LINES, _MOST_STEP_LINES = 500, 40
_STRIP = 0.05  # of the height: a row of failed trials, or of those beyond the range
_LABEL = 16  # characters of a choice
_STEPS = [1, 2, 2.5, 5, 10]  # of ticks
_SMALL, _TEXT, _TITLE = 8.0, 9.0, 11.0  # points


# ---- inks --------------------------------------------------------------------------------


class _Inks(NamedTuple):
    """What differs in colour differs in lightness or shape too."""

    ground: str
    ink: str
    quiet: str
    grid: str
    pale: str  # trials among many
    bar: str
    marked: str
    lost: str  # lines of failed trials
    apart: str  # lines of infeasible ones
    shades: Any  # 0: faint, 1: strong

    def shade(self, strength: float) -> str:
        return to_hex(self.shades(strength))


_STOPS = ["#d6e4f2", "#a3c6e2", "#5fa2d0", "#2575b0", "#0b4a8a", "#061f47"]
_LIGHT = _Inks(
    *("#ffffff", "#1a1a1a", "#5c5c5c", "#e4e4e4", "#8fa3b8"),
    *("#5fa2d0", "#d55e00", "#f2cdb0", "#dddddd"),
    LinearSegmentedColormap.from_list("cocabo", _STOPS),
)
_DARK = _Inks(
    *("#000000", "#f0f0f0", "#a8a8a8", "#3c3c3c", "#8fa3b8"),
    *("#3d84bb", "#ff8c3a", "#6b4526", "#4a4a4a"),
    LinearSegmentedColormap.from_list("cocabo_dark", ["#173049", *_STOPS[3::-1], "#f2f7fc"]),
)


def _inks_on(ax: Axes) -> _Inks:
    """Inks that are seen on the figure's ground, which may be transparent: then light."""
    ground = ax.figure.get_facecolor()
    red, green, blue = to_rgb(ground)
    seen = to_rgba(ground)[3] >= 0.5
    if seen and 0.3 * red + 0.59 * green + 0.11 * blue < 0.5:
        return _DARK._replace(ground=to_hex(ground))
    return _LIGHT._replace(ground=to_hex(ground) if seen else _LIGHT.ground)


# ---- what pictures share -----------------------------------------------------------------


class _Room(ConstrainedLayoutEngine):
    """Of the figures that are made here: their heads stand at the very left."""


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    return _figure(width, height).add_subplot() if ax is None else ax


def _figure(width: float, height: float) -> Figure:
    """In inches."""
    room = _Room(w_pad=0.12, h_pad=0.1, hspace=0.04)
    return plt.figure(figsize=(width, height), layout=room)


def _plain(text: str) -> str:
    """Text of a study is never a formula."""
    return text.replace("$", r"\$")


class _Head(NamedTuple):
    """The title, a sentence, and a legend of signs."""

    title: str
    text: str
    signs: Sequence[Any] = ()

    def put(self, ax: Axes, inks: _Inks) -> None:
        """Above a picture, or above the only figure."""
        figure = ax.figure
        room = figure.get_layout_engine()
        if isinstance(room, _Room):
            self._put_over(ax.figure, room, inks)
        else:
            self._put_above(ax, inks)

    def _put_over(self, figure: Any, room: _Room, inks: _Inks) -> None:
        width, height = (float(inches) for inches in figure.get_size_inches())
        text, lines, a_line = self._rows(width)
        inches = 0.31 + 0.17 * lines

        def y(down: float) -> float:
            return 1.0 - down / height

        x = 0.12 / width
        title = _plain(self.title)
        figure.text(x, y(0.25), title, size=_TITLE, weight="bold", color=inks.ink)
        figure.text(x, y(0.31), text, size=_TEXT, color=inks.quiet, va="top")
        if self.signs:
            inches += 0.08 + 0.2 * math.ceil(len(self.signs) / a_line)
            legend = self._legend(inks, a_line)
            figure.legend(loc="lower left", bbox_to_anchor=(x, y(inches)), **legend)
        room.set(rect=(0.0, 0.0, 1.0, y(inches)))

    def _put_above(self, ax: Axes, inks: _Inks) -> None:
        width = ax.get_position().width * ax.figure.bbox.width / ax.figure.dpi
        text, lines, a_line = self._rows(width)
        up = 8.0  # points
        if self.signs:
            up += 14.0 * math.ceil(len(self.signs) / a_line)
            legend = self._legend(inks, a_line)
            legend.update(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.7)
            ax.legend(**legend).set_in_layout(False)
        above: dict[str, Any] = dict(xycoords="axes fraction", textcoords="offset points")
        above.update(xytext=(0.0, up + 3), va="bottom", fontsize=_TEXT, color=inks.quiet)
        ax.annotate(text, (0.0, 1.0), **above).set_in_layout(False)
        pad = up + 7 + 12.5 * lines
        bold: dict[str, Any] = dict(fontsize=_TITLE, fontweight="bold", color=inks.ink)
        ax.set_title(_plain(self.title), loc="left", pad=pad, **bold)

    def _rows(self, width: float) -> tuple[str, int, int]:
        """For inches of width: the wrapped sentence, its lines, and signs a line."""
        wrapped = textwrap.wrap(self.text, max(int(width * 15.5), 20))
        return _plain("\n".join(wrapped)), len(wrapped), max(int(width / 1.15), 1)

    def _legend(self, inks: _Inks, a_line: int) -> dict[str, Any]:
        return dict(
            handles=list(self.signs),
            ncols=min(a_line, len(self.signs)),
            frameon=False,
            fontsize=_TEXT,
            labelcolor=inks.quiet,
            borderpad=0.0,
            borderaxespad=0.0,
            handlelength=1.4,
            handletextpad=0.5,
            columnspacing=1.6,
        )


def _title(data: PlotData, what: str) -> str:
    return f"{shorten(data.study, 40)}: {what}"


def _sign(marker: str, colour: str, label: str, **more: Any) -> Line2D:
    """A sign of the legend."""
    style: dict[str, Any] = dict(linestyle="none", markersize=5.5, label=label)
    return Line2D([], [], marker=marker, color=colour, **{**style, **more})


def _best_sign(inks: _Inks, word: str) -> Line2D:
    return _sign("D", inks.marked, word, markeredgecolor=inks.ground, markersize=7)


def _lost_signs(data: PlotData, inks: _Inks) -> list[Line2D]:
    signs = []
    if data.apart:
        ring: dict[str, Any] = dict(markerfacecolor="none", markeredgewidth=0.8)
        signs.append(_sign("o", inks.quiet, f"infeasible ({len(data.apart)})", **ring))
    if data.failed:
        signs.append(_sign("x", inks.marked, f"failed ({len(data.failed)})"))
    return signs


def _trial_signs(data: PlotData, inks: _Inks, shown: Range | None) -> list[Line2D]:
    signs = [_best_sign(inks, data.luckiest("best"))] if data.best else []
    if data.expected and shown:
        signs.append(_sign("_", inks.marked, "expected of it", markersize=10, mew=2.2))
    beyond = sum(not shown.holds(_value(t)) for t in data.complete) if shown else 0
    if beyond:
        up_or_down = "v" if data.maximize else "^"
        signs.append(_sign(up_or_down, inks.quiet, f"worse than shown ({beyond})"))
    return signs + _lost_signs(data, inks)


def _shade_signs(inks: _Inks, faint: str, strong: str) -> list[Any]:
    """The ends of the scale of shades."""
    return [
        Patch(facecolor=inks.shade(0.0), label=faint),
        Patch(facecolor=inks.shade(0.9), label=strong),
    ]


def _value(trial: FrozenTrial) -> float:
    assert trial.value is not None  # it is complete
    return trial.value


def _frame(ax: Axes, inks: _Inks) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(inks.ink)
    ax.tick_params(colors=inks.ink, labelsize=_TEXT)
    ax.set_axisbelow(True)
    ax.grid(False)
    ax.grid(True, axis="y", color=inks.grid, linewidth=0.8)


def _bare(ax: Axes, right: float, low: float, high: float) -> None:
    """For pictures that draw their own axes."""
    ax.set_axis_off()
    ax.set_xlim(0.0, right)
    ax.set_ylim(low, high)


def _round(label: Any) -> str:
    return f"{label:.4g}"


# ---- values of trials, upright -----------------------------------------------------------


class _Upright:
    """The axis of values, to the left. Rows for trials that failed or are beyond the range
    lie between the bad edge, the upper one if values are minimised, and the values."""

    def __init__(self, ax: Axes, data: PlotData, inks: _Inks, shown: Range):
        self.ax, self.data, self.inks, self.shown = ax, data, inks, shown
        beyond = any(not shown.holds(_value(t)) for t in data.complete)
        strips = _STRIP * (bool(data.failed) + beyond)
        ax.set_yscale("log" if shown.log else "linear")
        ax.set_ylim(*self._limits(strips))
        self._failed_y = self._from_edge(_STRIP / 2)
        self._beyond_y = self._from_edge(_STRIP / 2 + (_STRIP if data.failed else 0.0))

    def _limits(self, strips: float) -> tuple[float, float]:
        low, high = self.shown.low, self.shown.high
        if self.shown.log:
            return low, high * (high / low) ** (strips / (1 - strips))
        more = (high - low) * strips / (1 - strips)
        return (low - more, high) if self.data.maximize else (low, high + more)

    def _from_edge(self, share: float) -> float:
        return share if self.data.maximize else 1.0 - share

    def put(
        self, trials: Sequence[FrozenTrial], x: Sequence[float], colours: Sequence[str]
    ) -> None:
        """Trials of any kind, each where it belongs; colours are for those that count."""
        inks, n = self.inks, len(self.data.rows)
        size = 22.0 if n <= 300 else 12.0 if n <= 1000 else 6.0 if n <= 4000 else 3.0
        kinds: dict[str, list[int]] = {"failed": [], "beyond": [], "apart": [], "good": []}
        for i, trial in enumerate(trials):
            kinds[self._kind(trial)].append(i)
        edge = self.ax.get_xaxis_transform()
        for kind, rows in kinds.items():
            xs = [x[i] for i in rows]
            if kind == "failed":
                ys = [self._failed_y] * len(rows)
                style: dict[str, Any] = dict(marker="x", c=inks.marked, transform=edge)
            elif kind == "beyond":
                ys = [self._beyond_y] * len(rows)
                marker = "v" if self.data.maximize else "^"
                style = dict(marker=marker, c=inks.quiet, linewidths=0, transform=edge)
            else:
                ys = [_value(trials[i]) for i in rows]
                ring = dict(facecolors="none", edgecolors=inks.quiet, linewidths=0.8)
                good = dict(c=[colours[i] for i in rows], linewidths=0)
                style = dict(marker="o", **(ring if kind == "apart" else good))
            self.ax.scatter(xs, ys, s=size, label=f"_{kind}", zorder=2.5, **style)

    def _kind(self, trial: FrozenTrial) -> str:
        if trial.state == "failed":
            return "failed"
        if not self.shown.holds(_value(trial)):
            return "beyond"
        return "good" if trial.feasible else "apart"

    def put_best(self, x: float) -> None:
        """The best trial and, where values are noisy, what is expected of it."""
        data, inks, clip = self.data, self.inks, self.shown.clip
        assert data.best is not None
        if data.expected:
            mean, se = data.expected
            ends = [clip(mean - se), clip(mean + se)]
            self.ax.plot([x, x], ends, color=inks.ink, lw=1.3, marker="_", ms=8, zorder=3)
            middle: dict[str, Any] = dict(color=inks.marked, marker="_", ms=12, mew=2.4)
            self.ax.plot([x], [clip(mean)], zorder=3.1, label="_expected", **middle)
        self.ax.plot(
            [x],
            [clip(_value(data.best))],
            "D",
            color=inks.marked,
            markeredgecolor=inks.ground,
            markersize=7.5,
            zorder=3.2,
            label="_best",
        )

    def label(self) -> None:
        name = "value (logarithmic)" if self.shown.log else "value"
        self.ax.set_ylabel(name, fontsize=_TEXT, color=self.inks.ink)


# ---- history -----------------------------------------------------------------------------


def history(study: Study, ax: Axes | None = None) -> Axes:
    """The value of each trial, and the best so far.

    Values far out on the bad side are triangles at the edge, so that the others are seen.
    """
    data = PlotData(study)
    data.need_values()
    ax = _axes(ax, 7.6, 4.6)
    inks, shown = _inks_on(ax), data.range()
    upright = _Upright(ax, data, inks, shown)
    _frame(ax, inks)
    upright.label()
    numbers = [float(t.number) for t in data.rows]
    last = max(numbers[-1], 1.0)
    ax.set_xlim(-0.02 * last, 1.02 * last)
    ax.xaxis.set_major_locator(MaxNLocator(10, integer=True, steps=_STEPS))
    ax.set_xlabel("trial", fontsize=_TEXT, color=inks.ink)
    upright.put(data.rows, numbers, [inks.pale] * len(numbers))
    steps = data.improvements()
    if steps:
        xs = [*(t.number for t in steps), last]
        ys = [shown.clip(_value(t)) for t in (*steps, steps[-1])]
        style: dict[str, Any] = dict(color=inks.ink, lw=1.6, solid_joinstyle="miter")
        ax.plot(xs, ys, drawstyle="steps-post", label="_best so far", **style)
    if data.best:
        upright.put_best(data.best.number)
    so_far = "luckiest so far" if data.noisy or data.by_runs else "best so far"
    signs = [
        _sign("o", inks.pale, "trial"),
        Line2D([], [], color=inks.ink, lw=1.6, label=so_far),
        *_trial_signs(data, inks, shown),
    ]
    _Head(_title(data, "values of the trials"), data.sentence(), signs).put(ax, inks)
    return ax


# ---- slices ------------------------------------------------------------------------------


def slices(study: Study, params: Sequence[str] | None = None) -> list[Axes]:
    """Values against each parameter, a panel each; early trials faint, late ones strong.

    params: which ones; without, all, or the 24 most important.
    """
    data = PlotData(study)
    data.need_values()
    names = data.choose(params, _MOST_PANELS)
    if not names:
        raise InvalidError("params is [], want at least one name")
    n = len(names)
    columns = n if n <= 3 else 2 if n == 4 else 3 if n <= 9 else 4
    rows = [names[i : i + columns] for i in range(0, n, columns)]
    height = 0.76 + sum(2.1 + max(_standing(data, name) for name in row) for row in rows)
    grid = _figure(7.6, height).subplots(len(rows), columns, sharey=True, squeeze=False)
    panels: list[Axes] = list(grid.flat)
    for spare in panels[n:]:
        spare.remove()
    inks, shown = _inks_on(panels[0]), data.range()
    for i, (panel, name) in enumerate(zip(panels, names)):
        upright = _panel(panel, data, inks, shown, name)
        if i % columns == 0:
            upright.label()
    first, last = "trial 0", f"trial {data.rows[-1].number}"
    signs = [*_shade_signs(inks, first, last), *_trial_signs(data, inks, shown)]
    of = len(names) if params is not None else len(data.space)
    text = data.sentence(n, of)
    _Head(_title(data, "values against parameters"), text, signs).put(panels[0], inks)
    return panels[:n]


def _panel(ax: Axes, data: PlotData, inks: _Inks, shown: Range, name: str) -> _Upright:
    upright = _Upright(ax, data, inks, shown)
    _frame(ax, inks)
    ax.spines[["top", "right"]].set_visible(True)
    ax.spines[:].set_color(inks.quiet)
    ax.spines[:].set_linewidth(0.6)
    _param_axis(ax, data, name)
    active = [t for t in data.rows if name in t.params]
    last = max(data.rows[-1].number, 1)
    shades = [inks.shade(t.number / last) for t in active]
    upright.put(active, [_spread(data, name, t) for t in active], shades)
    if data.best and name in data.best.params:
        upright.put_best(_spread(data, name, data.best))
    notes = ["log"] if is_log(data.space[name]) else []
    notes += [f"{data.inactive(name)} inactive"] if data.inactive(name) else []
    note = f" ({', '.join(notes)})" if notes else ""
    title = _plain(shorten(name, 28 - len(note)) + note)
    ax.set_title(title, loc="left", fontsize=_TEXT, fontweight="bold", pad=4)
    ax.title.set_color(inks.ink)
    return upright


def _spread(data: PlotData, name: str, trial: FrozenTrial) -> float:
    """Where a trial stands along a parameter; those of one choice stand side by side."""
    cell = data.cell(name, trial)
    is_choice = isinstance(data.space[name], Choice)
    return cell + 0.6 * jitter(trial.number) if is_choice else cell


def _param_axis(ax: Axes, data: PlotData, name: str) -> None:
    domain: Any = data.space[name]
    low, high = data.ends(name)
    if isinstance(domain, Choice):
        ax.set_xlim(low, high)
        _choice_ticks(ax, labels(domain))
        return
    if is_log(domain):
        room = (high / low) ** 0.03
        ax.set_xscale("log")
        ax.set_xlim(low / room, high * room)
        ax.xaxis.set_minor_locator(NullLocator())
        if high / low < 100:
            ax.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
            ax.xaxis.set_major_formatter(lambda value, _: _round(value))
        return
    room = 0.03 * (high - low)
    ax.set_xlim(low - room, high + room)
    if domain.low == domain.high:
        ax.set_xticks([domain.low], [_round(domain.low)])
        return
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=isinstance(domain, Int), steps=_STEPS))


def _choice_ticks(ax: Axes, texts: Sequence[str]) -> None:
    """Labels lie if there is room for them, else they stand; of very many, some."""
    lie = _lie(texts)
    at = range(0, len(texts), 1 if lie else math.ceil(len(texts) / 14))
    ax.set_xticks(list(at), [_plain(shorten(texts[i], _LABEL)) for i in at])
    if not lie:
        ax.tick_params(axis="x", rotation=90)


def _lie(texts: Sequence[str]) -> bool:
    return max(len(text) for text in texts) * len(texts) <= 26


def _standing(data: PlotData, name: str) -> float:
    """Inches that labels need more than others do because they stand."""
    domain = data.space[name]
    if not isinstance(domain, Choice) or _lie(labels(domain)):
        return 0.0
    return 0.075 * min(max(len(text) for text in labels(domain)), _LABEL)


# ---- parallel ----------------------------------------------------------------------------

_LANE = -0.1  # below an axis: trials where it is inactive


def parallel(
    study: Study, params: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """One line a trial across the values and the parameters; the better, the stronger.

    params: which ones, in this order; without, all, or the 15 most important.
    """
    data = PlotData(study)
    data.need_values()
    names = data.choose(params, _MOST_AXES)
    if not names:
        raise InvalidError("params is [], want at least one name")
    ax = _axes(ax, max(7.6, 1.2 + 1.16 * len(names)), 4.6)
    inks, shown = _inks_on(ax), data.range()
    lane = any(data.inactive(name) for name in names)
    _bare(ax, len(names) + 0.75, _LANE - 0.14 if lane else -0.12, 1.02)
    ax.set_xlim(-0.35, len(names) + 0.75)
    sheet = _Lines(ax, data, inks, shown, names)
    sheet.put_failed()
    sheet.put_complete()
    sheet.put_axes()
    signs = [
        *_shade_signs(inks, "worst trial", data.luckiest("best")),
        *_lost_signs(data, inks),
    ]
    of = len(names) if params is not None else len(data.space)
    text = data.sentence(len(names), of)
    if len(data.complete) > _MOST_LINES:
        text += f" ({_MOST_LINES} of {len(data.complete)} lines)"
    _Head(_title(data, "trials across parameters"), text, signs).put(ax, inks)
    return ax


class _Lines:
    """Parallel coordinates: the values stand at 0, the parameters at 1, 2, ..."""

    def __init__(
        self, ax: Axes, data: PlotData, inks: _Inks, shown: Range, names: list[str]
    ):
        self.ax, self.data, self.inks = ax, data, inks
        self.shown, self.names = shown, names
        # Where trials failed, theirs is a place of its own at the bad end.
        self.strip = 0.06 if data.failed else 0.0

    def value_y(self, value: float) -> float:
        share = self.shown.share(value) * (1.0 - self.strip)
        return share + self.strip if self.data.maximize else share

    def line(self, trial: FrozenTrial, y: float) -> list[tuple[float, float]]:
        return [(0.0, y), *((i, self.y(n, trial)) for i, n in enumerate(self.names, 1))]

    def y(self, name: str, trial: FrozenTrial) -> float:
        """Those of one choice are side by side in the middle of its part of the axis."""
        part = jitter(trial.number)
        if name not in trial.params:
            return _LANE + 0.03 * part
        place = self.data.place(name, self.data.cell(name, trial))
        domain = self.data.space[name]
        return place + 0.5 * part / len(domain.choices) if isinstance(domain, Choice) else place

    def put_failed(self) -> None:
        failed = self.data.failed
        if not failed:
            return
        y = 0.0 if self.data.maximize else 1.0
        some = failed[:: len(failed) // 60 + 1]  # evenly taken if there are many
        lines = [self.line(t, y) for t in some]
        self.ax.add_collection(LineCollection(lines, colors=self.inks.lost, linewidths=0.7))
        self.ax.plot([0], [y], "x", color=self.inks.marked, ms=6, zorder=4, clip_on=False)

    def put_complete(self) -> None:
        """Few lines are really strong, or they would hide each other."""
        inks, ranked = self.inks, _thinned(self.data.ranked())
        last = max(len(ranked) - 1, 1)
        lines, colours, widths = [], [], []
        for i in range(len(ranked) - 1, -1, -1):
            trial, strength = ranked[i], 1.0 - i / last
            lines.append(self.line(trial, self.value_y(_value(trial))))
            colours.append(inks.shade(strength**4) if trial.feasible else inks.apart)
            widths.append(2.2 if i == 0 else 1.1 if strength >= 0.9 else 0.7)
        self.ax.add_collection(LineCollection(lines, colors=colours, linewidths=widths))
        apart = [self.value_y(_value(t)) for t in ranked if not t.feasible]
        ring: dict[str, Any] = dict(facecolors="none", edgecolors=inks.quiet, linewidths=0.8)
        self.ax.scatter([0.0] * len(apart), apart, s=18, marker="o", zorder=4, **ring)

    def put_axes(self) -> None:
        inks = self.inks
        foot = min(self.ax.get_ylim()) + 0.02
        for i, name in enumerate(("value", *self.names)):
            self.ax.plot([i, i], [0, 1], color=inks.ink, lw=0.9, zorder=3)
            title = _plain(shorten(name, 18))
            self.ax.text(i, foot, title, ha="center", size=_TEXT, weight="bold", color=inks.ink)
        ticks = _ticks(self.shown.low, self.shown.high, self.shown.log, False)
        for tick in ticks:
            self.put_tick(0, self.value_y(tick), _round(tick))
        for i, name in enumerate(self.names, 1):
            self.put_param(i, name)

    def put_param(self, x: float, name: str) -> None:
        domain: Any = self.data.space[name]
        if isinstance(domain, Choice):
            n = len(domain.choices)
            every = math.ceil(n / 20)
            for k, text in enumerate(labels(domain)):
                y, half = self.data.place(name, k), 0.25 / n
                self.put_part(x, y - half, y + half)
                if k % every == 0:
                    self.put_label(x, y, shorten(text, _LABEL))
        else:
            for tick in _ticks(domain.low, domain.high, domain.log, isinstance(domain, Int)):
                self.put_tick(x, self.data.place(name, tick), _round(tick))
        if self.data.inactive(name):
            self.put_part(x, _LANE - 0.018, _LANE + 0.018)
            self.put_label(x, _LANE, "inactive")

    def put_part(self, x: float, low: float, high: float) -> None:
        style: dict[str, Any] = dict(color=self.inks.ink, lw=2.4, solid_capstyle="butt")
        self.ax.plot([x, x], [low, high], zorder=3, **style)

    def put_tick(self, x: float, y: float, text: str) -> None:
        self.ax.plot([x], [y], "_", color=self.inks.ink, ms=6, zorder=3)
        self.put_label(x, y, text)

    def put_label(self, x: float, y: float, text: str) -> None:
        """On the ground's colour, because lines run below."""
        box = dict(facecolor=self.inks.ground, edgecolor="none", pad=0.8, alpha=0.85)
        self.ax.annotate(
            _plain(text),
            (x, y),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            size=_SMALL,
            color=self.inks.ink,
            bbox=box,
            zorder=3.5,
        )


def _thinned(ranked: list[FrozenTrial]) -> list[FrozenTrial]:
    """All trials, or the best 50 and of the others evenly taken ones."""
    if len(ranked) <= _MOST_LINES:
        return ranked
    others, most = ranked[50:], _MOST_LINES - 50
    return ranked[:50] + [others[i * len(others) // most] for i in range(most)]


def _ticks(low: float, high: float, log: bool, whole: bool) -> list[float]:
    if not low < high:
        return [low]
    if not log:
        found = MaxNLocator(6, integer=whole, steps=_STEPS).tick_values(low, high)
    else:
        subs = (1.0,) if high / low >= 100 else (1.0, 2.0, 5.0)
        found = LogLocator(10, subs=subs, numticks=8).tick_values(low, high)
    room = 1e-9 * (high - low)
    return [float(tick) for tick in found if low - room <= tick <= high + room]


# ---- categories --------------------------------------------------------------------------

# Hundredths of an inch from the left, of a picture that is 7.6 inches wide.
_STRIP_X, _STRIP_WIDTH, _TRIED_X, _TRIED_WIDTH, _BEST_X, _BEST_WIDTH = 150, 300, 466, 44, 594, 70
_ROW, _BLOCK_HEAD, _GAP = 20.0, 26.0, 18.0


def categories(
    study: Study, params: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Which choice was tried when, how often, and the best value that it had.

    params: which ones; without, all that have choices, or the 20 most important of them.
    """
    data = PlotData(study)
    data.need_values()
    names = data.choose(params, _MOST_BLOCKS, choices_only=True)
    if not names:
        raise StateError(f"study {data.study} has no choices to show, want slices or history")
    blocks = [_Block(data, name) for name in names]
    height = 20.0 + sum(block.height for block in blocks)
    ax = _axes(ax, 7.6, (height + 80) / 100)
    inks = _inks_on(ax)
    _bare(ax, 740, height, 0.0)
    heads = {_STRIP_X: "trials in their order", _TRIED_X: "tried", _BEST_X: "best value"}
    for x, head in heads.items():
        ax.text(x, 8, head, size=_TEXT, color=inks.quiet, va="center")
    y = 20.0
    for block in blocks:
        block.put(ax, inks, data.range(), y)
        y += block.height
    signs = _trial_signs(data, inks, None)
    if len(data.rows) > _STRIP_WIDTH // 2:
        signs = [*_shade_signs(inks, "tried seldom", "often"), *signs]
    of = sum(isinstance(d, Choice) for d in data.space.values())
    text = data.sentence(len(names), len(names) if params is not None else of)
    _Head(_title(data, "choices over time"), text, signs).put(ax, inks)
    return ax


class _Block:
    """The choices of one parameter, a row each."""

    def __init__(self, data: PlotData, name: str):
        domain: Any = data.space[name]
        self.data, self.name, self.labels = data, name, labels(domain)
        self.cells = [data.cell(name, t) if name in t.params else -1.0 for t in data.rows]
        self.tried: list[list[FrozenTrial]] = [[] for _ in self.labels]
        for cell, trial in zip(self.cells, data.rows):
            if cell >= 0:
                self.tried[int(cell)].append(trial)
        order = {t.number: i for i, t in enumerate(data.ranked())}
        self.best = [
            min(
                (t for t in tried if t.number in order),
                key=lambda t: order[t.number],
                default=None,
            )
            for tried in self.tried
        ]
        self.rows = list(range(len(self.labels)))
        if len(self.rows) > _MOST_ROWS:
            last = len(order)
            ranks = [order[b.number] if b else last for b in self.best]
            self.rows = sorted(self.rows, key=lambda k: ranks[k])[:_MOST_ROWS]
        self.height = _BLOCK_HEAD + _ROW * len(self.rows) + _GAP

    def put(self, ax: Axes, inks: _Inks, shown: Range, top: float) -> None:
        some = f": {len(self.rows)} best of {len(self.labels)}"
        title = shorten(self.name, 40) + (some if len(self.rows) < len(self.labels) else "")
        bold: dict[str, Any] = dict(size=_TEXT, weight="bold", va="center", color=inks.ink)
        ax.text(0, top + 10, _plain(title), **bold)
        most = max(len(tried) for tried in self.tried)
        for i, choice in enumerate(self.rows):
            y = top + _BLOCK_HEAD + _ROW * (i + 0.5)
            label = _plain(shorten(self.labels[choice], 22))
            ax.text(8, y, label, size=_TEXT, color=inks.ink, va="center")
            self.put_strip(ax, inks, choice, y)
            self.put_tried(ax, inks, choice, most, y)
            self.put_best(ax, inks, shown, choice, y)

    def put_strip(self, ax: Axes, inks: _Inks, choice: int, y: float) -> None:
        """Finished trials, a bin each, or several in a bin; strength is the share of the
        bin's trials that had the choice, its foot says that some of them failed. A bin of
        which no trial is feasible has a ring or, where all failed, a cross."""
        rows = self.data.rows
        bins = min(len(rows), _STRIP_WIDTH // 2)
        width = _STRIP_WIDTH / bins
        ax.plot([_STRIP_X, _STRIP_X + _STRIP_WIDTH], [y, y], color=inks.grid, lw=0.8, zorder=1)
        bars, colours, feet, crosses, rings = [], [], [], [], []
        for b in range(bins):
            here = range(b * len(rows) // bins, (b + 1) * len(rows) // bins)
            tried = [rows[i] for i in here if self.cells[i] == choice]
            failed = sum(t.state == "failed" for t in tried)
            x = _STRIP_X + width * b
            bar = (x, width - 0.6 if width > 3 else width)
            if failed and failed == len(tried):
                crosses.append(x + width / 2)
            elif tried and not any(t.feasible for t in tried):
                rings.append(x + width / 2)
            elif tried:
                bars.append(bar)
                colours.append(inks.shade(0.25 + 0.6 * len(tried) / len(here)))
                feet += [bar] if failed else []
        ax.broken_barh(bars, (y - 7, 14), facecolors=colours, zorder=2)
        ax.broken_barh(feet, (y + 5, 3), facecolors=inks.marked, zorder=2.1)
        ax.plot(crosses, [y] * len(crosses), "x", color=inks.marked, ms=5, zorder=2.2)
        hollow: dict[str, Any] = dict(markerfacecolor="none", markeredgewidth=0.8, ms=4)
        ax.plot(rings, [y] * len(rings), "o", color=inks.quiet, zorder=2.2, **hollow)
        best = self.best[choice]
        if best and self.data.best and best.number == self.data.best.number:
            place = next(i for i, t in enumerate(rows) if t.number == best.number)
            self.put_diamond(ax, inks, _STRIP_X + _STRIP_WIDTH * (place + 0.5) / len(rows), y)

    def put_diamond(self, ax: Axes, inks: _Inks, x: float, y: float) -> None:
        edge: dict[str, Any] = dict(markeredgecolor=inks.ground, markersize=7.5)
        ax.plot([x], [y], "D", color=inks.marked, zorder=3, **edge)

    def put_tried(self, ax: Axes, inks: _Inks, choice: int, most: int, y: float) -> None:
        tried = self.tried[choice]
        failed = sum(t.state == "failed" for t in tried)
        width = _TRIED_WIDTH * len(tried) / max(most, 1)
        text = f"{len(tried)}, {failed} \u00d7" if failed else f"{len(tried)}"
        ax.broken_barh([(_TRIED_X, width)], (y - 5, 10), facecolors=inks.pale)
        ax.text(_TRIED_X + width + 4, y, text, size=_TEXT, color=inks.ink, va="center")

    def put_best(self, ax: Axes, inks: _Inks, shown: Range, choice: int, y: float) -> None:
        ax.plot([_BEST_X, _BEST_X + _BEST_WIDTH], [y, y], color=inks.grid, lw=0.8, zorder=1)
        best = self.best[choice]
        if best is None:
            return
        x = _BEST_X + _BEST_WIDTH * shown.share(_value(best))
        if self.data.best and best.number == self.data.best.number:
            self.put_diamond(ax, inks, x, y)
        else:
            ring: dict[str, Any] = {} if best.feasible else dict(markerfacecolor=inks.ground)
            ax.plot([x], [y], "o", color=inks.shade(0.8), ms=5, zorder=2, **ring)
        text = f"{_value(best):.4g}"
        ax.text(_BEST_X + _BEST_WIDTH + 8, y, text, size=_TEXT, color=inks.ink, va="center")


# ---- importance --------------------------------------------------------------------------


def importance(study: Study, ax: Axes | None = None) -> Axes:
    """Each parameter's share in the variance of the values, with its standard error."""
    data = PlotData(study)
    data.need_values()
    shares, explained = _shares(study)
    bars = _bars(shares)
    ax = _axes(ax, 7.6, 1.0 + 0.28 * len(bars))
    inks = _inks_on(ax)
    at = range(len(bars))
    ax.barh(at, [share for _, share, _ in bars], height=0.64, color=inks.bar)
    for i, (_, share, se) in enumerate(bars):
        low, high = max(share - se, 0.0), min(share + se, 1.0)
        if se > 0:
            style: dict[str, Any] = dict(color=inks.ink, lw=1.2, marker="|", ms=6)
            ax.plot([low, high], [i, i], **style)
        beside: dict[str, Any] = dict(textcoords="offset points", xytext=(7, 0), va="center")
        percent = _percent(share, se)
        ax.annotate(percent, (high, i), fontsize=_TEXT, color=inks.ink, **beside)
    most = max(min(share + se, 1.0) for _, share, se in bars)
    ax.set_xlim(0.0, 1.2 * most or 1.0)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.set_yticks(list(at), [_plain(shorten(name, 36)) for name, _, _ in bars])
    ax.set_xticks([])
    _frame(ax, inks)
    ax.grid(False)
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    text = _caveat(len(data.complete), explained)
    _Head(_title(data, "importance of the parameters"), text).put(ax, inks)
    return ax


def _shares(study: Study) -> tuple[list[tuple[str, float, float]], float]:
    """Names, shares and errors, the largest first, and how much the model explains."""
    found = study.importance()
    bars = [(name, share, found.errors[name]) for name, share in found.shares.items()]
    return bars, found.explained


def _bars(shares: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """All that have a share worth naming, and a few more; the others share a bar."""
    shown = min(len(shares), 10)
    while shown < min(len(shares), _MOST_BARS) and shares[shown][1] >= 0.001:
        shown += 1
    rest = shares[shown:]
    if len(rest) < 2:
        return shares
    return [*shares[:shown], (f"{len(rest)} others together", sum(s for _, s, _ in rest), 0.0)]


def _percent(share: float, se: float) -> str:
    places = 0 if share >= 0.0995 and not 0 < se < 0.00995 else 1
    error = f" \u00b1 {100 * se:.{places}f}" if se > 0 else ""
    return f"{100 * share:.{places}f}{error} %"


def _caveat(n: int, explained: float) -> str:
    """What the shares are shares of, and whether they mean anything."""
    if explained < 0.01:
        return (
            f"no model predicts the {n} values: they look like noise, "
            "and these shares mean nothing"
        )
    return (
        f"a model of {n} trials explains {int(100 * explained)} % of the variance of the values; "
        "shares in it, with standard errors"
    )


# ---- steps -------------------------------------------------------------------------------


def steps(study: Study, ax: Axes | None = None) -> Axes:
    """What trials reported of their values on the way, one line a trial.

    Of more than 40 trials the 20 best and the newest are shown.
    """
    data = PlotData(study)
    reported = [t for t in data.trials if t.intermediate_values]
    if not reported:
        raise StateError(
            f"no trial of study {data.study} has reported values: "
            "call trial.report(value, step) in the function that is tuned"
        )
    lines = _chosen(data, reported)
    ax = _axes(ax, 7.6, 4.6)
    inks = _inks_on(ax)
    values = [v for t in lines for v in t.intermediate_values.values() if math.isfinite(v)]
    shown = range_of(values, data.maximize) if values else Range(0.0, 1.0, False)
    ax.set_yscale("log" if shown.log else "linear")
    ax.set_ylim(shown.low, shown.high)
    _frame(ax, inks)
    ax.set_ylabel("value (logarithmic)" if shown.log else "value", fontsize=_TEXT)
    ax.set_xlabel("step", fontsize=_TEXT)
    ax.yaxis.label.set_color(inks.ink)
    ax.xaxis.label.set_color(inks.ink)
    ax.xaxis.set_major_locator(MaxNLocator(10, integer=True, steps=_STEPS))
    for trial in reversed(lines):
        _put_steps(ax, data, inks, shown, trial)
    text = data.sentence()
    if len(lines) < len(reported):
        text += f" ({len(lines)} of {len(reported)} lines, the best and the newest)"
    if not all(shown.holds(value) for value in values):
        text += "; worse values are at the edge"
    signs = _step_signs(data, inks, lines)
    _Head(_title(data, "values over steps"), text, signs).put(ax, inks)
    return ax


def _chosen(data: PlotData, reported: list[FrozenTrial]) -> list[FrozenTrial]:
    """The best first, then those with values by them, then the others."""
    order = {t.number: i for i, t in enumerate(data.ranked())}
    ranked = sorted(reported, key=lambda t: (order.get(t.number, len(order)), -t.number))
    best, others = ranked[: _MOST_STEP_LINES // 2], ranked[_MOST_STEP_LINES // 2 :]
    newest = sorted(others, key=lambda t: -t.number)[: _MOST_STEP_LINES // 2]
    kept = {t.number for t in (*best, *newest)}
    return [t for t in ranked if t.number in kept]


def _put_steps(
    ax: Axes, data: PlotData, inks: _Inks, shown: Range, trial: FrozenTrial
) -> None:
    """Its last point has a sign, so that one of a single point is seen too."""
    items = sorted(trial.intermediate_values.items())
    xs = [step for step, _ in items]
    ys = [shown.clip(value) if math.isfinite(value) else math.nan for _, value in items]
    best = data.best is not None and trial.number == data.best.number
    colour = inks.ink if best else inks.bar if trial.state == "complete" else inks.pale
    sign: dict[str, Any] = dict(color=colour, marker="o", markersize=3.5)
    if best:
        edge = dict(markeredgecolor=inks.ground, markersize=7.5)
        sign = dict(color=inks.marked, marker="D", **edge)
    elif trial.state == "failed":
        sign = dict(color=inks.marked, marker="x", markersize=5)
    ax.plot(xs, ys, color=colour, lw=2.0 if best else 0.9, label=f"_trial {trial.number}")
    ax.plot(xs[-1:], ys[-1:], linestyle="none", label="_end", clip_on=False, zorder=3, **sign)


def _step_signs(data: PlotData, inks: _Inks, lines: list[FrozenTrial]) -> list[Line2D]:
    states = [t.state for t in lines]
    signs = []
    if "complete" in states:
        signs.append(Line2D([], [], color=inks.bar, lw=1.2, label="trial"))
    if data.best and data.best.number == lines[0].number:
        sign: dict[str, Any] = dict(marker="D", markersize=7, markerfacecolor=inks.marked)
        sign.update(markeredgecolor=inks.ground, label=data.luckiest("best"))
        signs.append(Line2D([], [], color=inks.ink, lw=2.0, **sign))
    if "failed" in states:
        signs.append(_sign("x", inks.marked, f"failed ({states.count('failed')})"))
    unfinished = sum(state not in ("complete", "failed") for state in states)
    if unfinished:
        label = f"unfinished ({unfinished})"
        signs.append(Line2D([], [], color=inks.pale, lw=1.2, label=label))
    return signs
