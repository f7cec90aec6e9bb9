"""The jobs with pydocket that looks for work every 10 ms in place of every 250."""

# pyright: basic, reportMissingImports=false
# The queue is no dependency of ours: it lives in the benchmark's own environment, which the checker does not see.

from __future__ import annotations

from datetime import timedelta
from functools import partial

from bench.inbox.contenders.docket_usual import docket_usual
from bench.inbox.job import contend

if __name__ == "__main__":
    contend(partial(docket_usual, minimum_check_interval=timedelta(milliseconds=10)))
