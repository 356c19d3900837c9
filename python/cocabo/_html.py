"""A study in a notebook: what is best, and the curve of the best so far, as inline SVG."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from ._native import Error

if TYPE_CHECKING:
    from ._study import Study
    from ._trial import FrozenTrial

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 480, 200, 64, 24


def study_page(study: Study) -> str:
    """What a notebook shows of a study."""
    trials = study.trials
    states = {s: sum(t.state == s for t in trials) for s in ("complete", "failed", "running")}
    counts = ", ".join(f"{n} {state}" for state, n in states.items() if n) or "no trials"
    title = f"<b>{escape(study.name)}</b> ({escape(study.direction)}): {counts}"
    try:
        best: FrozenTrial | None = study.best_trial
    except Error:
        best = None
    parts = [f"<div style='margin:0 0 6px'>{title}</div>"]
    parts += [_table(best)] if best else []
    parts += [_curve(study, trials)]
    return f"<div style='font-family:sans-serif;font-size:13px'>{''.join(parts)}</div>"


def _table(best: FrozenTrial) -> str:
    infeasible = ", infeasible" if best.feasible is False else ""
    head = f"best trial {best.number}{infeasible}: <b>{best.value:.6g}</b>"
    rows = "".join(
        f"<tr><td style='text-align:left;color:#555'>{escape(name)}</td>"
        f"<td style='text-align:left'><code>{escape(_short(value))}</code></td></tr>"
        for name, value in best.params.items()
    )
    return f"<div>{head}</div><table>{rows}</table>"


def _short(value: object) -> str:
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _curve(study: Study, trials: list[FrozenTrial]) -> str:
    """Every value as a dot, and the best so far as a line; outliers are cut off."""
    known = [(t.number, t.value) for t in trials if t.value is not None and t.feasible is not False]
    if len(known) < 2:
        return ""
    better = min if study.direction == "minimize" else max
    values = sorted(value for _, value in known)
    far = values[int(0.9 * (len(values) - 1))], values[int(0.1 * (len(values) - 1))]
    low, high = (values[0], far[0]) if better is min else (far[1], values[-1])
    if not high > low:
        low, high = values[0], values[-1]
    span = high - low if math.isfinite(high - low) and high > low else 1.0
    last = max(known[-1][0], 1)

    def x(number: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 8) * number / last

    def y(value: float) -> float:
        part = min(max((value - low) / span, 0.0), 1.0)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - 10) * part

    dots = "".join(
        f"<circle cx='{x(n):.1f}' cy='{y(v):.1f}' r='2' fill='#8aa6c1'/>" for n, v in known
    )
    line, best = [], known[0][1]
    for number, value in known:
        was, best = best, better(best, value)
        line.append(f"{x(number):.1f},{y(was):.1f} {x(number):.1f},{y(best):.1f}")
    line.append(f"{x(last):.1f},{y(best):.1f}")
    axis = _HEIGHT - _BOTTOM
    labels = "".join(
        f"<text x='{_LEFT - 6}' y='{y(v) + 4:.1f}' text-anchor='end'>{v:.4g}</text>"
        for v in (low, high)
    ) + "".join(
        f"<text x='{x(n):.1f}' y='{axis + 16}' text-anchor='{a}'>{n}</text>"
        for n, a in ((0, "start"), (last, "end"))
    )
    return (
        f"<svg width='{_WIDTH}' height='{_HEIGHT}' viewBox='0 0 {_WIDTH} {_HEIGHT}' "
        "style='background:#fff' font-size='11' fill='#333' role='img' "
        f"aria-label='values of {len(known)} trials'>"
        f"<path d='M{_LEFT},8V{axis}H{_WIDTH - 8}' fill='none' stroke='#999'/>{dots}"
        f"<polyline points='{' '.join(line)}' fill='none' stroke='#b3401f' stroke-width='1.6'/>"
        f"{labels}</svg>"
    )
