"""The two things that are said to a server without a client: whether it answers, and that it has to go."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from core.errors import StoreUnavailable

Reply = bytes


def ping(path: Path, *, patience: float) -> Reply:
    """Return the server's answer: `+PONG`, `-LOADING ...`, or nothing if nobody listens."""
    try:
        return _say(b"PING", path, patience=patience)
    except OSError:
        return b""


def shut_down(path: Path, *, patience: float) -> None:
    """End the server that listens at *path*, its data written, or take away the socket that a crash left behind."""
    try:
        _say(b"SHUTDOWN NOSAVE NOW FORCE", path, patience=patience)  # the append-only file is written all the same
    except TimeoutError as error:
        raise StoreUnavailable(
            f"A store from an earlier run still works in {path.parent} and does not end. "
            "End the process valkey-server there and try again."
        ) from error
    except (FileNotFoundError, ConnectionError):
        pass  # nobody was there, or they hung up when they went
    path.unlink(missing_ok=True)


def _say(words: bytes, path: Path, *, patience: float) -> Reply:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(patience)
        line.connect(os.fspath(path))
        line.sendall(words + b"\r\n")
        return line.recv(512)
