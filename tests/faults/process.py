"""`python -m tests.faults.process`: starts processes of the bot as `footnote run` does, and tells what becomes of them.

What it is told to start comes as lines of JSON on standard input, and what happens goes out as such. The product is
loaded once and each process is a fork of that, so that a rig can break hundreds of them. All of them end with it.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import sys
import traceback
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from tests.faults.points import Obedient

LOADED = (
    "adapters.beside",
    "adapters.cohere",
    "adapters.chat.delivery",
    "adapters.discord.platform",
    "adapters.discord.connection",
    "adapters.discord.commands",
    "adapters.discord.gateway",
    "adapters.openai.chat",
    "adapters.qdrant.server",
    "adapters.redis.community",
    "adapters.redis.conversations",
    "adapters.redis.inbox",
    "adapters.redis.secrets",
    "adapters.redis.server",
    "adapters.slack.platform",
    "adapters.slack.commands",
    "adapters.slack.listener",
    "adapters.slack.sockets",
    "anyio.streams.tls",
    "bot.app",
    "bot.wiring.discord",
    "bot.wiring.slack",
    "cohere.client",
    "cohere.v2.client",
    "core.documents.retrieval",
    "cryptography.hazmat.primitives.ciphers.aead",
    "cryptography.hazmat.primitives.kdf.hkdf",
    "h2.connection",
    "httpcore",
    "httpcore2",
    "openai.resources.chat",
    "qdrant_client",
    "redis.asyncio",
    "structlog",
)
"""What the product loads when it needs it; a process that began with nothing would take seconds for that."""

LOOK = 0.02  # seconds between two looks for processes that have ended


def tell(kind: str, **more: Any) -> None:
    """Say what has happened, as one line that no other process can come into."""
    os.write(1, json.dumps({"kind": kind, "pid": os.getpid(), **more}).encode() + b"\n")


def main() -> None:
    """Start what is asked for until standard input ends, then end everything."""
    for name in LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    tell("loaded")
    running: dict[int, str] = {}
    pending = b""
    while True:
        _reap(running)
        if not select.select([0], [], [], LOOK)[0]:
            continue
        read = os.read(0, 65_536)
        if not read:
            break
        *lines, pending = (pending + read).split(b"\n")
        for line in lines:
            order: dict[str, Any] = json.loads(line)
            running[_start(order)] = str(order["name"])
    for pid in running:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _reap(running: dict[int, str]) -> None:
    """Tell of processes that have ended."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        tell("ended", of=pid, name=running.pop(pid), code=os.waitstatus_to_exitcode(status))


def _start(order: dict[str, Any]) -> int:
    pid = os.fork()
    if not pid:
        _become(order)
    tell("started", of=pid, name=order["name"])
    return pid


def _become(order: dict[str, Any]) -> NoReturn:
    """Be a process of the bot from here on, with nothing in its environment but what was ordered."""
    code = 1
    try:
        os.environ.clear()
        os.environ.update(order["env"])
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout = sys.stderr  # the other one is for what has happened
        from bot.app import run_bot
        from bot.outcome import report
        from bot.roles import Role

        observer = Obedient(Path(order["orders"]), partial(tell, name=order["name"]))
        code = report(lambda: run_bot([Role(role) for role in order["roles"]], observer=observer))
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - nothing of the parent's may go on here
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
