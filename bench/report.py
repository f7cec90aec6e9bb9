"""Tables of what was measured, each with its bar and the machine's load, since machines are noisy."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; `bar` says in words what it has to reach, `held` whether it did (None: there is no bar)."""

    what: str
    figure: str
    bar: str = ""
    held: bool | None = None


def print_rows(title: str, rows: list[Row]) -> None:
    """Print a table that can be pasted into Markdown."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"\n{title} ({os.cpu_count()} cores, load {load})\n")
    print("| what | measured | bar | |\n|---|---|---|---|")
    for row in rows:
        verdict = {True: "held", False: "MISSED", None: ""}[row.held]
        print(f"| {row.what} | {row.figure} | {row.bar} | {verdict} |")


def at_least(what: str, value: float, bar: float, unit: str = "") -> Row:
    """A figure that must not be smaller than the bar."""
    return Row(what, f"{value:.3g}{unit}", f"at least {bar:g}{unit}", value >= bar)


def at_most(what: str, value: float, bar: float, unit: str = "") -> Row:
    """A figure that must not be larger than the bar."""
    return Row(what, f"{value:.3g}{unit}", f"at most {bar:g}{unit}", value <= bar)


def shown(what: str, value: float, unit: str = "") -> Row:
    """A figure without a bar."""
    return Row(what, f"{value:.3g}{unit}")
