"""What every test can rely on: a clean environment, no network beyond this machine, real corpora where present."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
import socket
import zlib
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.portion import WHOLE

pytest_plugins = ["tests.fixtures.commands", "tests.fixtures.redis"]

SETTINGS = ("FOOTNOTE_", "OPENAI_", "COHERE_", "QDRANT_", "REDIS_", "DISCORD_", "SLACK_")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
LOCAL = ("127.0.0.1", "::1", "localhost")
LONG = (
    "test_every_step",
    "test_services",
    "test_run",
    "test_beside",
    "test_passage_index",
    "test_doctor",
    "test_packaging",
    "test_journeys",
    "test_emptied_store",
    "test_textbook",
    "test_chat",
    "test_ask",
    "test_ingest",
    "test_path",
    "test_recording",
)
"""Modules that begin first, so that none of them is what everything waits for at the end."""


def pytest_configure() -> None:
    """Let whatever tests start hear Ctrl-C, which what a shell runs in the background ignores."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the long modules in front, the longest first; behind them the order stays random.

    What reads whole corpora passes the same lines thousands of times, and to count them would take minutes.
    """
    if not WHOLE:
        one_store_of_two(config, items)
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))
    if config.getoption("cov_source"):
        for item in items:
            if "shared_data" in getattr(item, "fixturenames", ()):
                item.add_marker("no_cover")


def one_store_of_two(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of tests that are there for one server and for a cluster, keep either by turns; `make soak` runs both.

    The scripts are the same, and what only a cluster refuses, such as keys on two nodes, shows in any of them.
    """
    stores, kept = ("redis", "cluster"), list[pytest.Item]()
    forms = defaultdict[str, dict[str, pytest.Item]](dict)
    for item in items:
        test, _, ids = item.nodeid.rstrip("]").partition("[")
        form = next((each for each in stores if each in ids.split("-")), "")
        forms["-".join([test, *(each for each in ids.split("-") if each != form)])][form] = item
    for test, found in forms.items():
        turn = stores[zlib.crc32(test.encode()) % len(stores)]
        kept += [found[turn]] if found.keys() == set(stores) else found.values()
    config.hook.pytest_deselected(items=list({*items}.difference(kept)))
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Let one process of a run import all modules before the others do, which then find them compiled.

    Nothing that is made for the collection goes before the end of the run, so that nothing is looked for in it.
    """
    gc.disable()
    with Path(__file__).open() as lock:
        if hasattr(session.config, "workerinput"):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                fcntl.flock(lock, fcntl.LOCK_SH)
        return (yield)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave the modules and the tests out of what is looked through for garbage from here on."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """No test sees the settings of whoever runs it, or writes into their data folder.

    It gets the name of another one, which is there only if something is written: to make and remove a folder for each
    of thousands of tests takes longer than most of them.
    """
    data = tmp_path_factory.getbasetemp() / "footnote"
    for name in list(os.environ):
        if name.upper() in PROXIES or (name.startswith(SETTINGS) and name != "FOOTNOTE_SHARED_DATA"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(data))
    yield
    if data.exists():
        shutil.rmtree(data)


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> None:
    """A test that reaches beyond this machine fails at once, wherever it runs."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in LOCAL:
            pytest.fail(f"a test tried to reach {address[0]}")
        connect(self, address)

    socket.socket.connect = guarded


@pytest.fixture(name="shared_data", scope="session")
def _shared_data() -> Path:
    """Give the folder with the real corpora; skip where it is absent, but never where CI=true."""
    here = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("FOOTNOTE_SHARED_DATA", here))
    if not folder.is_dir():
        message = "the real corpora are absent; name their folder in FOOTNOTE_SHARED_DATA"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder
