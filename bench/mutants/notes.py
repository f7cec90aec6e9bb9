"""Plugins of pytest that note what a run shows: which lines each test runs, and which test failed."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from coverage import Coverage


class Touched:
    """Writes into a file how long each test took, and which tests run each line of the sources."""

    def __init__(self, sources: Sequence[str], into: Path) -> None:
        self._coverage = Coverage(
            data_file=None, config_file=False, include=[str(Path(each).resolve()) for each in sources]
        )
        self._sources, self._into = sources, into
        self._seconds: dict[str, float] = {}

    def pytest_collection_finish(self) -> None:  # noqa: D102 - pytest's hooks
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:  # noqa: D102
        self._coverage.switch_context(item.nodeid)
        begun = time.monotonic()
        told = yield
        self._seconds[item.nodeid] = time.monotonic() - begun
        return told

    def pytest_sessionfinish(self) -> None:  # noqa: D102
        self._coverage.stop()
        data = self._coverage.get_data()
        lines = {each: data.contexts_by_lineno(str(Path(each).resolve())) for each in self._sources}
        self._into.write_text(json.dumps([self._seconds, lines]))


class Chosen:
    """Leaves in a run only some tests, in this order, and writes into a file which of them failed."""

    def __init__(self, order: Sequence[str], into: Path) -> None:
        self._nth = {test: nth for nth, test in enumerate(order)}
        self._into = into

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:  # noqa: D102
        items[:] = sorted((each for each in items if each.nodeid in self._nth), key=lambda each: self._nth[each.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:  # noqa: D102
        if report.failed:
            self._into.write_text(report.nodeid)
