"""Draws how delivery degrades as a plot of bars and lines, in SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bench.cohere import percentile
from bench.slack.ladder import Rung
from bench.slack.load import Way

TITLE = "How answers are shown by questions a minute in one workspace"
WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 56, 664, 64, 356
COLOURS = {Way.STREAMED: "#7fbf7b", Way.EDITED: "#d9f0d3", Way.POSTED: "#e7e7e7"}
LINES = (("first text, p95", "#2166ac", "4 3"), ("whole answer, p95", "#b2182b", ""))
BAR = 0.6  # of the room for one rate
QUARTERS = 4


def svg(rungs: Sequence[Rung]) -> str:
    """Give the plot: shares as bars, times as lines over them."""
    times = [
        [percentile(list(rung.first), 0.95) if rung.first else 0.0 for rung in rungs],
        [percentile(list(rung.whole), 0.95) if rung.whole else 0.0 for rung in rungs],
    ]
    longest = math.ceil(max(max(each, default=1.0) for each in times) / QUARTERS) * QUARTERS
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{TITLE}">',
        "<style>text { font: 12px sans-serif }</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *_bars(rungs),
        *(line for each, look in zip(times, LINES, strict=True) for line in _line(each, longest, look)),
        *_axes(longest),
        *_legend(),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _bars(rungs: Sequence[Rung]) -> Iterator[str]:
    room = (RIGHT - LEFT) / len(rungs)
    for place, rung in enumerate(rungs):
        x, y = LEFT + room * (place + (1 - BAR) / 2), float(BOTTOM)
        for share, colour in zip(rung.shares, COLOURS.values(), strict=True):
            height = share * (BOTTOM - TOP)
            y -= height
            yield f'<rect x="{x:.1f}" y="{y:.1f}" width="{room * BAR:.1f}" height="{height:.1f}" fill="{colour}"/>'
        yield _text(x + room * BAR / 2, BOTTOM + 18, str(rung.rate))
    yield _text((LEFT + RIGHT) / 2, BOTTOM + 40, "questions a minute in one workspace")


def _line(values: Sequence[float], longest: int, look: tuple[str, str, str]) -> Iterator[str]:
    _, colour, dashes = look
    room = (RIGHT - LEFT) / len(values)
    points = [
        (LEFT + room * (place + 0.5), BOTTOM - value / longest * (BOTTOM - TOP)) for place, value in enumerate(values)
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
    yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points)


def _axes(longest: int) -> Iterator[str]:
    for quarter in range(QUARTERS + 1):
        y = BOTTOM - quarter / QUARTERS * (BOTTOM - TOP)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="#000" stroke-opacity="0.15"/>'
        yield _text(LEFT - 6, y + 4, f"{quarter * 100 // QUARTERS} %", anchor="end")
        yield _text(RIGHT + 6, y + 4, f"{quarter * longest // QUARTERS} s", anchor="start")


def _legend() -> Iterator[str]:
    x = float(LEFT)
    for name, colour in [*COLOURS.items(), *((name, colour) for name, colour, _ in LINES)]:
        yield f'<rect x="{x:.0f}" y="24" width="12" height="12" fill="{colour}"/>'
        yield _text(x + 17, 34, name, anchor="start")
        x += 34 + 6.6 * len(name)


def _text(x: float, y: float, words: str, *, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'
