"""A study in a notebook: what is best, and the curve of the best so far, as inline SVG.

All inks are the surroundings' own or are seen on light and on dark ground, for nobody
knows a notebook's theme. Everything that a study's author wrote is escaped.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ._native import STATES, StateError
from ._plot_data import PlotData, Range, number, shorten

if TYPE_CHECKING:
    from ._study import Study
    from ._trial import FrozenTrial

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 520, 200, 64, 10, 8, 24
_PALE, _MARKED = "#8fa3b8", "#d55e00"
_MOST_ROWS = 30  # of the table


def study_page(study: Study) -> str:
    """What a notebook shows of a study."""
    try:
        data = PlotData(study)
    except StateError:  # closed: the text has all there is to say
        return f"<code>{escape(repr(study))}</code>"
    heading = f"<b>{escape(shorten(data.study, 80))}</b>: {escape(data.sentence())}"
    parts = [f"<div>{heading}</div>", f"<div style='opacity:.7'>{_counts(data)}</div>"]
    if data.complete:
        parts += [
            "<div style='display:flex;flex-wrap:wrap;gap:4px 24px;align-items:flex-start'>",
            _table(data.best) if data.best else "",
            _curve(data) if len(data.complete) > 1 else "",
            "</div>",
        ]
    style = "font-family:sans-serif;font-size:13px;line-height:1.5"
    return f"<div style='{style}'>{''.join(parts)}</div>"


def _counts(data: PlotData) -> str:
    states = [trial.state for trial in data.trials]
    said = [f"{states.count(state)} {state}" for state in STATES if state in states]
    said += [f"{len(data.apart)} of the complete infeasible"] if data.apart else []
    return ", ".join(said) or "no trials yet"


def _table(best: FrozenTrial) -> str:
    """The parameters of the best trial, and what was measured beside its value."""
    items = [*best.params.items(), *best.metrics.items()]
    rows = [_row(name, _short(value)) for name, value in items[:_MOST_ROWS]]
    if len(items) > _MOST_ROWS:
        rows.append(_row("\u2026", f"{len(items) - _MOST_ROWS} more"))
    # Old pages do not hand a table the inks around it.
    style = "margin:4px 0;border-collapse:collapse;color:inherit;font-size:inherit"
    return f"<table style='{style}'>{''.join(rows)}</table>"


def _row(name: str, value: str) -> str:
    cell = "text-align:left;padding:1px 12px 1px 0;background:none"
    return (
        f"<tr style='background:none'><td style='{cell};opacity:.7'>"
        f"{escape(shorten(name, 40))}</td><td style='{cell}'>{escape(value)}</td></tr>"
    )


def _short(value: object) -> str:
    return shorten(number(value) if isinstance(value, float) else str(value), 60)


# ---- the curve ---------------------------------------------------------------------------


class _Curve:
    """Values over trial numbers, in pixels. Failed trials and those that are worse than
    the range lie at the bad edge."""

    def __init__(self, data: PlotData, shown: Range):
        self.data, self.shown = data, shown
        self.last = max(data.rows[-1].number, 1)
        self.strip = 10 if data.failed else 0

    def x(self, trial_number: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * trial_number / self.last

    def y(self, value: float) -> float:
        top, bottom = _TOP, _HEIGHT - _BOTTOM
        if self.data.maximize:
            bottom -= self.strip
        else:
            top += self.strip
        return bottom - (bottom - top) * self.shown.share(value)

    def at(self, trial: FrozenTrial) -> tuple[float, float]:
        if trial.value is None:
            edge = _HEIGHT - _BOTTOM - 6 if self.data.maximize else _TOP + 2
            return self.x(trial.number), edge
        return self.x(trial.number), self.y(trial.value)


def _curve(data: PlotData) -> str:
    curve = _Curve(data, data.range())
    feet = _HEIGHT - _BOTTOM
    what = f"values of {len(data.complete)} complete trials"
    return (
        f"<svg width='{_WIDTH}' height='{_HEIGHT}' viewBox='0 0 {_WIDTH} {_HEIGHT}' "
        f"style='max-width:100%;height:auto' font-size='11' fill='none' role='img' "
        f"aria-label='{what}'><title>{what}</title>"
        f"<path d='M{_LEFT},{_TOP}V{feet}H{_WIDTH - _RIGHT}' stroke='currentColor' "
        f"opacity='.5'/>{_labels(curve)}"
        + _points(curve, data.good, "m0,0h0", f"stroke='{_PALE}' stroke-width='4.5'")
        + _points(curve, data.apart, _RING, "stroke='currentColor' opacity='.6'")
        + _points(curve, data.failed, _CROSS, f"stroke='{_MARKED}' stroke-width='1.4'")
        + f"{_best_line(curve)}{_diamond(curve)}</svg>"
    )


_RING = "m-2.2,0a2.2,2.2 0 1 0 4.4,0a2.2,2.2 0 1 0 -4.4,0"
_CROSS = "m-3,-3l6,6m0,-6l-6,6"


def _points(curve: _Curve, trials: list[FrozenTrial], sign: str, style: str) -> str:
    """All signs of a kind as one path: small, however many; those at one place are one."""
    places = dict.fromkeys("M{:.0f},{:.0f}".format(*curve.at(trial)) for trial in trials)
    if not places:
        return ""
    path = "".join(place + sign for place in places)
    return f"<path stroke-linecap='round' {style} d='{path}'/>"


def _best_line(curve: _Curve) -> str:
    """A step at each trial that is better than all before."""
    steps = curve.data.improvements()
    if not steps:
        return ""
    x, y = curve.at(steps[0])
    path = f"M{x:.1f},{y:.1f}"
    for trial in steps[1:]:
        x, y = curve.at(trial)
        path += f"H{x:.1f}V{y:.1f}"
    path += f"H{curve.x(curve.last):.1f}"
    return f"<path stroke='currentColor' stroke-width='1.6' d='{path}'/>"


def _diamond(curve: _Curve) -> str:
    if curve.data.best is None:
        return ""
    x, y = curve.at(curve.data.best)
    return f"<path fill='{_MARKED}' d='M{x:.1f},{y - 5:.1f}l5,5l-5,5l-5,-5z'/>"


def _labels(curve: _Curve) -> str:
    """The ends of both axes."""
    values = [v.value for v in curve.data.complete if v.value is not None]
    held = [value for value in values if curve.shown.holds(value)]
    ends = dict.fromkeys((min(held), max(held)))
    feet = _HEIGHT - _BOTTOM + 15.0
    texts = [(_LEFT - 6.0, curve.y(v) + 4, "end", f"{v:.4g}") for v in ends]
    texts += [(curve.x(0), feet, "start", "0")]
    texts += [(curve.x(curve.last), feet, "end", f"trial {curve.last}")]
    if curve.shown.log:
        texts += [(_LEFT + 40.0, feet, "start", "values are on a logarithmic scale")]
    return "".join(
        f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='currentColor'>{text}</text>"
        for x, y, anchor, text in texts
    )
