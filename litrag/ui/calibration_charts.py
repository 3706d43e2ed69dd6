"""Plots of a calibration in the palette of the verdicts, for the light and the dark theme.

In: reliability bins, a risk–coverage curve. Out: Altair charts; the same numbers stand in a table beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from litrag.confidence import Reliability, RiskPoint
from litrag.stylesheet import PALETTE

SIZE = 300

#: Text and lines that aren't data, by theme (light, dark): as in the answer view.
_MUTED = ("#525C69", "#A9B2BF")
_GRID = ("#D8DEE6", "#343C48")


def reliability_chart(before: Reliability, after: Reliability, *, dark: bool) -> alt.LayerChart:
    """Stated confidence against the share that was right; on the diagonal a confidence means what it says."""
    rows = [
        {"what": what, "confidence": b.confidence, "right": b.right.value, "low": b.right.low, "high": b.right.high, "n": b.n}
        for what, found in (("as stated", before), ("calibrated", after))
        for b in found.bins if b.confidence is not None and b.right.value is not None
    ]
    base = alt.Chart(alt.InlineData(values=rows))
    x = alt.X("confidence:Q", title="Confidence", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("right:Q", title="Share that was right", scale=alt.Scale(domain=[0, 1]))
    colour = alt.Color("what:N", title=None, legend=alt.Legend(orient="top"), scale=alt.Scale(
        domain=["as stated", "calibrated"], range=[_text("partial", dark), _text("supports", dark)]))
    shape = alt.Shape("what:N", title=None, scale=alt.Scale(domain=["as stated", "calibrated"], range=["triangle-up", "circle"]))
    told = [
        alt.Tooltip("what:N", title="confidence"), alt.Tooltip("confidence:Q", title="mean", format=".2f"),
        alt.Tooltip("right:Q", title="right", format=".0%"), alt.Tooltip("n:Q", title="verdicts"),
    ]
    diagonal = alt.InlineData(values=[{"confidence": 0, "right": 0}, {"confidence": 1, "right": 1}])
    ideal = alt.Chart(diagonal).mark_line(color=_MUTED[dark], strokeDash=[4, 4]).encode(x=x, y=y)
    low = alt.Y("low:Q", title="Share that was right")
    whiskers = base.mark_rule(strokeWidth=1.5, opacity=.55).encode(x=x, y=low, y2="high:Q", color=colour)
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=x, y=y, color=colour, shape=shape, tooltip=told)
    return _framed(ideal + whiskers + points, "Reliability on the test split: confidence against the share that was right", dark)


def risk_coverage_chart(curve: Sequence[RiskPoint], bound: float, *, dark: bool) -> alt.LayerChart:
    """What share of the shown verdicts is wrong when only the most confident ones are shown."""
    rows = [{"coverage": p.coverage, "risk": p.risk, "threshold": p.threshold, "n": p.n} for p in curve]
    told = [
        alt.Tooltip("threshold:Q", title="from confidence", format=".2f"), alt.Tooltip("coverage:Q", title="shown", format=".0%"),
        alt.Tooltip("risk:Q", title="wrong", format=".1%"), alt.Tooltip("n:Q", title="verdicts"),
    ]
    top = min(1.0, max([0.1, bound, *(p.risk for p in curve)]) * 1.1)
    percent = alt.Axis(format="%")
    y = alt.Y("risk:Q", title="Share of shown verdicts that is wrong", axis=percent, scale=alt.Scale(domain=[0, top]))
    x = alt.X("coverage:Q", title="Share of verdicts shown", axis=percent, scale=alt.Scale(domain=[0, 1]))
    line = alt.Chart(alt.InlineData(values=rows)).mark_line(
        interpolate="step-after", color=_text("supports", dark), point=alt.OverlayMarkDef(size=25, color=_text("supports", dark)),
    ).encode(x=x, y=y, tooltip=told)
    limit = alt.Chart(alt.InlineData(values=[{"risk": bound, "said": f"bound {bound:.0%}"}]))
    rule = limit.mark_rule(color=_text("contradicts", dark), strokeDash=[4, 4]).encode(y=y)
    words = limit.mark_text(align="left", dx=4, dy=-6, color=_text("contradicts", dark)).encode(
        x=alt.value(0), y=y, text="said:N")
    return _framed(line + rule + words, "Risk–coverage curve on the test split", dark)


def _text(state: str, dark: bool) -> str:
    return PALETTE[state].text[dark]


def _framed(chart: Any, said: str, dark: bool) -> alt.LayerChart:
    framed: alt.LayerChart = chart.properties(height=SIZE, width="container", description=said).configure_view(
        strokeWidth=0).configure_axis(
        gridColor=_GRID[dark], domainColor=_MUTED[dark], labelColor=_MUTED[dark], titleColor=_MUTED[dark],
    ).configure_legend(labelColor=_MUTED[dark])
    return framed
