"""Reads files in a process of its own, which ends where one takes too much: nothing else is lost with it."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter

from adapters.documents.page import NotReadable
from adapters.documents.reader import LENGTH, PACKAGES, TOO_BIG, ReadRequest, reader_environment
from core.errors import Misconfigured
from core.model import Document, Unreadable

START, END = 60.0, 5.0  # seconds for a process to say its first word, and for one that has said its last
STALLED = 6  # times the processor's seconds, after which a file counts as too slow whoever is to blame
TOO_SLOW = "takes longer than {:.0f} seconds to read; split it, or take it out."
NO_READER = (
    "The process that reads files does not start. Free some memory, check the variables PYTHONHOME and PYTHONPATH,"
    " and read the documents again."
)
Reply = Document | Unreadable | None
"""A page, a file that could not be read, or nothing for a page that its author hides."""
REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What one file may take: *seconds* of the processor, and more for each of its *megabytes*; bytes of *memory*."""

    seconds: float = 10.0
    more_seconds: float = 0.5
    memory: int = 1_000_000_000

    def time_for(self, size: int) -> float:
        """Return the seconds for a file of so many bytes."""
        return self.seconds + self.more_seconds * size / 1e6


DEFAULT_LIMITS = ReadingLimits()


class ReadingProcess:
    """A process that reads one file at a time; another one is started where it has ended."""

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._process: Process | None = None

    async def read(self, request: ReadRequest) -> Reply:
        """Return what a file holds.

        Raises `NotReadable` where it takes more than it may, and `Misconfigured` where no process starts.
        """
        process = self._process or await self._started()
        try:
            async with asyncio.timeout(STALLED * request.seconds):
                return await self._answer(request, process)
        except TimeoutError as error:
            await self.aclose()
            raise NotReadable(TOO_SLOW.format(request.seconds)) from error
        except (asyncio.IncompleteReadError, ConnectionError, ValueError) as error:  # it has ended, or says nonsense
            is_slow = await self.aclose(within=END) == -signal.SIGXCPU
            raise NotReadable(TOO_SLOW.format(request.seconds) if is_slow else TOO_BIG) from error

    @staticmethod
    async def _answer(request: ReadRequest, process: Process) -> Reply:
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        process.stdin.write(json.dumps(asdict(request)).encode() + b"\n")
        await process.stdin.drain()
        length = int.from_bytes(await process.stdout.readexactly(LENGTH), "big")
        return REPLY.validate_json(await process.stdout.readexactly(length))

    async def _started(self) -> Process:
        words = (sys.executable, "-m", "adapters.documents.reader", str(self._limits.memory))
        try:
            # A session of its own, so that Ctrl-C does not reach it: whoever reads ends it.
            process = self._process = await asyncio.create_subprocess_exec(
                *words,
                cwd=PACKAGES,
                env=reader_environment(),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                start_new_session=True,
            )
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            async with asyncio.timeout(START):
                await process.stdout.readexactly(LENGTH)  # an empty reply, by which it says that it is there
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            await self.aclose()
            raise Misconfigured(NO_READER) from error
        return process

    async def aclose(self, *, within: float = 0.0) -> int | None:
        """End it, whatever it is doing, and return how it ended; one that ends by itself may take some seconds."""
        process, self._process = self._process, None
        if process is None:
            return None
        try:
            async with asyncio.timeout(within):  # a signal to one that has just ended would have it forgotten how
                return await process.wait()
        except TimeoutError:
            return None
        finally:  # also where whoever waits is stopped
            if process.returncode is None:
                process.kill()
            assert process.stdin is not None  # noqa: S101 - it is a pipe
            process.stdin.close()  # where the process has ended, uvloop refuses to write even nothing to it
            await process.communicate()  # its pipes end with it, and not when the loop is closed
