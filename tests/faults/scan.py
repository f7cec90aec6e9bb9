"""Looks through everything that an installation leaves behind for what people wrote, their names, and secrets.

Redis writes every key and value to its file as it is given them, so that its folder is read like any other; what a
replica is given at once is a snapshot, which is not compressed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.faults.audit import Kind, Wrong

ANSWERS = rb"q[a-j]+w[a-j]+\s+q[a-j]+w[a-j]+"  # two words of an answer: one may come about by chance


def leaks(folder: Path, secrets: Iterable[str]) -> Iterator[Wrong]:
    """Give each file in which a secret, or words of an answer, can be read."""
    found = re.compile(b"|".join([ANSWERS, *(re.escape(each.encode()) for each in sorted(set(secrets)))]))
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        for hit in sorted({match[0] for match in found.finditer(path.read_bytes())}):
            yield Wrong(Kind.LEAKED, f"{path.relative_to(folder)}: {hit.decode()!r}")
