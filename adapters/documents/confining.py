"""What a process of its own for strangers' files is told, and may take; it is started often, so this imports little."""

from __future__ import annotations

import os
import resource
import time
from contextlib import suppress
from pathlib import Path

PACKAGES = Path(__file__).parents[2]
KEPT = ("LANG", "LC_", "LD_", "PATH", "PYTHON", "COVERAGE_")
"""What a reader of files is told of the environment; keys and tokens are nothing for it."""


def reader_environment() -> dict[str, str]:
    """Return what a reader of files is told of the environment."""
    return {name: value for name, value in os.environ.items() if name.startswith(KEPT)}


def limit(*, memory: int | None = None, seconds: float | None = None) -> None:
    """Have this process end where it takes more bytes of memory, or more seconds of the processor from now on."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is not None:
        with suppress(ValueError, OSError):  # where the system knows no such limit
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    if seconds is not None:
        until = int(time.process_time() + seconds) + 1
        _, most = resource.getrlimit(resource.RLIMIT_CPU)  # what somebody has set for all processes cannot be raised
        resource.setrlimit(resource.RLIMIT_CPU, (until if most == resource.RLIM_INFINITY else min(until, most), most))
