"""Counts what a server of Redis or Valkey is asked to do, by clients and within scripts, as its MONITOR tells."""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from tests.servers.valkey import Node

POLLS = (
    "overdue",
    "kept_for",
    "sweep",
    "promote_due",
    "due_removals",
)  # scripts that run every second or two, whoever asks
BEGIN, END = "footnote-begin", "footnote-end"
LINE = re.compile(r"\+[\d.]+ \[\d+ (?P<client>\S+)\] (?P<words>.*)")
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')
OF_CONNECTIONS = frozenset({"HELLO", "CLIENT", "ECHO", "PING"})

Call: TypeAlias = tuple[str, int]
"""A command of a client, or the script that it runs, and how many commands of the server that is."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What clients asked for, in order; what is asked for over and over although nobody asks anything is apart."""

    calls: tuple[Call, ...]

    @property
    def commands(self) -> int:
        """How many commands the question took, those within scripts included."""
        return sum(count for name, count in self.calls if name not in POLLS)

    @property
    def of_clients(self) -> int:
        """How many of them clients sent."""
        return sum(1 for name, _ in self.calls if name not in POLLS)

    @property
    def polls(self) -> int:
        """How many came beside it."""
        return sum(count for name, count in self.calls if name in POLLS)

    def by_name(self) -> Iterable[tuple[str, int]]:
        """Return how many commands each script took in all, and how often each other command came; most first."""
        sums = Counter[str]()
        for name, count in self.calls:
            sums[name] += count
        return sums.most_common()


class CommandCounter:
    """What came between `begin` and `end`, in place of the tracer of a journey."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._told = ""

    def begin(self, way: str) -> None:
        """Count from now on what is done for a question that is asked in this *way*."""
        self._node.say("ECHO", f"{BEGIN} {way}")

    def end(self) -> None:
        """Count nothing more."""
        self._node.say("ECHO", END)

    def leave_out(self) -> None:
        """Do nothing: whoever asks sends no commands."""

    @contextmanager
    def installed(self) -> Generator[None]:
        """Have the server tell all that it does while the block runs."""
        with socket.create_connection(("127.0.0.1", self._node.port)) as telling:
            telling.sendall(b"MONITOR\r\n")
            yield
            self._node.say("ECHO", "footnote-over")
            with telling.makefile(encoding="utf-8", errors="replace") as lines:
                told = list[str]()
                for line in lines:
                    told.append(line)
                    if "footnote-over" in line:
                        break
        self._told = "".join(told)

    def spent(self) -> Mapping[str, Spent]:
        """Return what came between the two by way, each the least of the times that it was gone."""
        times, is_on = list[tuple[str, list[Call]]](), False
        for line in LINE.finditer(self._told):
            words = WORD.findall(line["words"])
            if words[-1].startswith(BEGIN):
                times.append((words[-1].removeprefix(f"{BEGIN} "), []))
            if words[0].upper() == "ECHO":
                is_on = words[-1].startswith(BEGIN)
            elif is_on and line["client"] == "lua":
                name, count = times[-1][1][-1]
                times[-1][1][-1] = name, count + 1
            elif is_on and words[0].upper() not in OF_CONNECTIONS:
                times[-1][1].append((_name(words), 1))
        by_cost = sorted((Spent(tuple(calls)).commands, way, calls) for way, calls in times)
        return {way: Spent(tuple(calls)) for _, way, calls in reversed(by_cost)}


def _name(words: Sequence[str]) -> str:
    """Return what a command is called: a script by the name that is its first argument after the keys."""
    command = words[0].upper()
    return words[3 + int(words[2])] if command in ("EVALSHA", "EVAL") else command
