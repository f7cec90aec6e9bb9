"""Draws throughput by the number of workers, in SVG, beside what as many would do if nothing held them up."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence

from bench.scale.together import Cost

WIDTH, HEIGHT = 560, 380
LEFT, RIGHT, TOP, BOTTOM = 56, 536, 64, 316
QUARTERS = 4
MEASURED, IDEAL = "#2166ac", "#999999"


def svg(costs: Sequence[tuple[int, Cost]], seats: int) -> str:
    """Give the plot, which names the cores of the machine."""
    title = f"Answers a second by workers of {seats} seats each, on {os.cpu_count()} cores"
    single = costs[0][1].rate / costs[0][0]
    most = math.ceil(max(single * count for count, _ in costs) / QUARTERS) * QUARTERS
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
        "<style>text { font: 12px sans-serif }</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(LEFT, 24, title, anchor="start"),
        *_axes(most, costs),
        *_line([(count, single * count) for count, _ in costs], most, IDEAL, "4 3"),
        *_line([(count, cost.rate) for count, cost in costs], most, MEASURED, ""),
        _text(LEFT, 46, "measured", anchor="start", colour=MEASURED),
        _text(LEFT + 80, 46, "as many times the first", anchor="start", colour=IDEAL),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _place(count: int, rate: float, most: float, widest: int) -> tuple[float, float]:
    return LEFT + (RIGHT - LEFT) * count / widest, BOTTOM - (BOTTOM - TOP) * rate / most


def _line(points: Sequence[tuple[int, float]], most: float, colour: str, dashes: str) -> Iterator[str]:
    places = [_place(count, rate, most, points[-1][0]) for count, rate in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
    yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places)


def _axes(most: int, costs: Sequence[tuple[int, Cost]]) -> Iterator[str]:
    for quarter in range(QUARTERS + 1):
        y = BOTTOM - quarter / QUARTERS * (BOTTOM - TOP)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="#000" stroke-opacity="0.15"/>'
        yield _text(LEFT - 6, y + 4, f"{quarter * most / QUARTERS:g}", anchor="end")
    for count, _ in costs:
        x, _ = _place(count, 0, most, costs[-1][0])
        yield _text(x, BOTTOM + 18, str(count))
    yield _text((LEFT + RIGHT) / 2, BOTTOM + 40, "workers")


def _text(x: float, y: float, words: str, *, anchor: str = "middle", colour: str = "#000") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'
