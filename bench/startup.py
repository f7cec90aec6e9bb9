"""What it costs to start: `footnote --help`, and one question to an existing index without any key.

`python -m bench.startup`
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.corpora import CACHE, need
from bench.report import Row, at_most, print_rows

ROUNDS = 7


def run(*words: str) -> tuple[float, float]:
    """Run the command; give seconds of CPU and by the clock."""
    env = {**os.environ, "FOOTNOTE_DATA_DIR": str(CACHE / "startup")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "bot", *words], env=env, check=True, capture_output=True)
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """Measure both, several times."""
    docs = Path(__file__).resolve().parents[1] / "docs"
    run("ingest", str(docs if any(docs.glob("*.md")) else need("docusaurus-textbook")))
    helps = [run("--help") for _ in range(ROUNDS)]
    asks = [run("ask", "What is a footnote?") for _ in range(ROUNDS)]
    print_rows(
        f"Starting, median of {ROUNDS}",
        [
            at_most("footnote --help, CPU", statistics.median(cpu for cpu, _ in helps), 0.5, " s"),
            at_most("footnote ask, start to exit", statistics.median(wall for _, wall in asks), 2, " s"),
            Row("footnote ask, CPU", f"{statistics.median(cpu for cpu, _ in asks):.2f} s"),
        ],
    )


if __name__ == "__main__":
    main()
