"""The report of an evaluation as one HTML page, which loads nothing and runs no script."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources

from markdown_it import MarkdownIt

from bot.evaluation.cases import Result, missing, unwanted
from bot.evaluation.measures import MEASURES, SAID, Measured, Values, measured, times
from bot.evaluation.report import Comparison, EvaluationRun, differences, measures_of, shown

WIDTH, HEIGHT, RIGHT = 360, 44, 70  # of a plot, of a line with its name above, and beside the bars, in SVG's units
FULL = WIDTH - RIGHT
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link", "autolink"])


def page(run: EvaluationRun, comparison: Comparison | None) -> str:
    """Return the whole page."""
    style = resources.files("bot.evaluation").joinpath("page.css").read_text("utf-8")
    title = f"{run.passed} of {len(run.results)} cases passed"
    drafted = sum(bool(result.case.drafted) for result in run.results)
    note = f"<p>Cases that were drafted, and are easier than what people ask: {drafted}.</p>" if drafted else ""
    sections = {
        "Measures": _shares(run.measured) + _table(measures_of(run)),
        "Kinds of cases": _by_kind(run),
        "Time": _durations(run.results),
        "Compared": _table(differences(comparison)) + f"<p>{comparison.said}</p>" if comparison else "",
        "Cases": "".join(map(_case, sorted(run.results, key=lambda each: each.passed))),
    }
    body = "".join(f"<section><h2>{name}</h2>{inside}</section>" for name, inside in sections.items() if inside)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    top = f"<h1>{title}</h1><p>{run.at:%d %B %Y, %H:%M} UTC</p>{note}"
    return f'<!doctype html><html lang="en"><head>{head}<style>{style}</style></head><body>{top}{body}</body></html>\n'


def _table(rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the first row is its head, and the first cell of each row its name."""
    head, *body = [[escape(cell) for cell in row] for row in rows]
    cells = "".join(f"<th>{each}</th>" for each in head)
    lines = "".join(f"<tr><th>{name}</th>{''.join(f'<td>{each}</td>' for each in rest)}</tr>" for name, *rest in body)
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table></div>'


def _by_kind(run: EvaluationRun) -> str:
    """Return a table of what was measured of each kind, where there are several."""
    found = defaultdict[str, list[Values]](list)
    for result in run.results:
        found[result.case.kind].append(run.values[result.case.id])
    shares = [kind for kind in MEASURES if kind.is_share and kind.name in run.measured]
    rows = [["kind", "cases", *(kind.name for kind in shares)]]
    for name, those in found.items():
        of_kind = measured(those)
        cells = (shown(kind, of_kind[kind.name].mean) if kind.name in of_kind else "–" for kind in shares)
        rows.append([name.replace("_", " "), str(len(those)), *cells])
    return _table(rows) if len(found) > 1 else ""


def _shares(found: Mapping[str, Measured]) -> str:
    """Draw the shares as bars, each with its interval."""
    lines = list[tuple[str, str, str]]()
    for kind in MEASURES:
        if kind.is_share and (each := found.get(kind.name)):
            interval = ""
            if each.low is not None and each.high is not None:
                low, high = each.low * FULL, each.high * FULL
                interval = f'<line x1="{low:.1f}" x2="{high:.1f}" y1="30" y2="30" class="interval"/>'
            bar = _bar(each.mean, "good" if kind.is_better else "bad")
            lines.append((kind.name, bar + interval, shown(kind, each.mean)))
    return _plot("Shares, with 95% intervals", lines)


def _durations(results: Sequence[Result]) -> str:
    """Draw the median of each stage, and up to where the slowest of twenty lies."""
    found = times(results)
    longest = max(p95 for _, p95 in found.values()) or 1.0
    lines = [
        (f"{name}: {p50:,.0f}, up to {p95:,.0f} ms", _bar(p95 / longest, "pale") + _bar(p50 / longest, "good"), "")
        for name, (p50, p95) in found.items()
    ]
    return _plot("Median of each stage, and paler up to its 95th percentile", lines)


def _bar(share: float, kind: str) -> str:
    return f'<rect y="24" width="{min(share, 1.0) * FULL:.1f}" height="12" class="{kind}"/>'


def _plot(title: str, lines: Sequence[tuple[str, str, str]]) -> str:
    """Draw lines below each other, each with its name above and its value on the right: as legible on a phone."""
    drawn = ""
    for number, (name, marks, value) in enumerate(lines):
        above = f'<text y="17">{escape(name)}</text>'
        right = f'<text x="{FULL + 8}" y="35">{escape(value)}</text>'
        drawn += f'<g transform="translate(0 {HEIGHT * number})">{above}{marks}{right}</g>'
    size = f'viewBox="0 0 {WIDTH} {HEIGHT * len(lines)}"'
    return f'<figure><figcaption>{title}</figcaption><svg {size} role="img" aria-label="{title}">{drawn}</svg></figure>'


def _case(result: Result) -> str:
    """Draw a case, closed where all went well."""
    case, answer = result.case, result.answer
    said = [f"{each.support:.0%}{' (told)' if each.support < SAID else ''}: {each.text}" for each in answer.sentences]
    parts = {
        "Asked before": _list(case.before),
        "Not as expected": _list([name.replace("_", " ") for name, held in result.checks.items() if not held]),
        "Is not said": _list(missing(case, answer.text)),
        "Is said, and must not be": _list(unwanted(case, answer.text)),
        "Has to say": _list([each if isinstance(each, str) else " / ".join(each) for each in case.must_contain]),
        "Must not say": _list(case.must_not_contain),
        "Has to cite": _list([*case.chapters, *case.pages]),
        "Answer": _text(answer.text),
        "Reference": _text(case.reference),
        "Footnotes": _list([f"[{each.number}] {each.heading}: {each.url}" for each in answer.citations]),
        "Found": _list(result.found or ()),
        "How much of each sentence the passages hold": _list(said),
    }
    inside = "".join(f"<h3>{name}</h3>{each}" for name, each in parts.items() if each)
    sign, kind = ("✓", "good") if result.passed else ("✗", "bad")
    head = f'<span class="{kind}">{sign}</span> {escape(case.id)}: {escape(case.question)}'
    return f"<details{'' if result.passed else ' open'}><summary>{head}</summary>{inside}</details>"


def _list(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in items)}</ul>" if items else ""


def _text(written: str) -> str:
    return f'<div class="text">{MARKDOWN.render(written)}</div>' if written else ""
