"""A clock of its own for a server: a library that is loaded before its own tells it another time of day."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long ahead(void) {
    long seconds = 0;
    FILE *file = fopen(getenv("SECONDS_AHEAD"), "r");
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += ahead();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *kept) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (kept) *kept = exact.tv_sec;
    return exact.tv_sec;
}
"""


class ServerClock:
    """The clock of a process started with `environment`; without a compiler its tests are skipped, but not in CI."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            message = "There is no compiler (cc) to make a clock that can be set."
            if os.environ.get("CI") == "true":
                pytest.fail(message)
            pytest.skip(message)
        folder.mkdir(parents=True)
        self._ahead, library = folder / "ahead", folder / "clock.so"
        (folder / "clock.c").write_text(SOURCE)
        command = [compiler, "-shared", "-fPIC", "-o", library, folder / "clock.c", "-ldl"]
        subprocess.run(command, check=True)
        self.environment = {"LD_PRELOAD": os.fspath(library), "SECONDS_AHEAD": os.fspath(self._ahead)}

    def put(self, *, ahead: int) -> None:
        """Let it be so many seconds ahead of what it is; a negative number is behind."""
        written = self._ahead.with_suffix(".new")
        written.write_text(str(ahead))
        written.replace(self._ahead)
