"""The job with our own agent, which does not hold what the model writes against the passages."""

from __future__ import annotations

from functools import partial

from bench.agent.contenders.ours import ours
from bench.agent.job import contend

if __name__ == "__main__":
    contend(partial(ours, are_checked=False))
