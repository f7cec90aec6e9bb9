"""Unpacks what a git server has sent, in a process of its own that ends where that takes too much.

Nothing of a repository is run, and nothing is written but its files, below one folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.documents.reader import PACKAGES, limit, reader_environment

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

MEMORY, SECONDS = 2_000_000_000, 600  # bytes, and seconds of the processor
MOST_BYTES, MOST_FILES = 2_000_000_000, 200_000
FILE, LINK, MODES = 0o100000, 0o120000, 0o170000
PACK, REFUSAL = 1, 3  # bands
BROKEN = "is damaged, or broke off."
TOO_BIG = f"holds more than {MOST_BYTES // 1_000_000_000} GB or {MOST_FILES:,} files; name a folder of it."
NO_FOLDER = "has no folder or file {!r}."


class NotUnpacked(Exception):
    """What came from a server cannot be unpacked; the message is a sentence that follows the repository's name."""


async def unpack(answer: Path, commit: str, folder: str, target: Path) -> None:
    """Write the files of a commit that are below a folder to the *target*. Raises `NotUnpacked` and `OSError`."""
    import asyncio  # which the process itself would load in vain
    from asyncio.subprocess import DEVNULL, PIPE

    words = (sys.executable, "-P", "-m", "adapters.documents.checkout", str(answer), commit, folder, str(target))
    process = await asyncio.create_subprocess_exec(
        *words,
        cwd=PACKAGES,
        env=reader_environment(),
        stdin=PIPE,  # nothing is written there: the kernel closes it where this process is killed, and the other ends
        stdout=PIPE,
        stderr=DEVNULL,
        start_new_session=True,
    )
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    try:
        said = await process.stdout.read()
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise NotUnpacked(said.decode(errors="replace").strip() or BROKEN)


def _unpacked(answer: Path, commit: bytes, folder: str, target: Path) -> None:
    from dulwich.object_store import DiskObjectStore
    from dulwich.objects import Commit, ObjectID

    with tempfile.TemporaryDirectory(dir=answer.parent) as place:
        store = DiskObjectStore.init(place)
        pack, keep, _ = store.add_pack()
        for piece in _pieces(answer):
            pack.write(piece)
        keep()
        found = store[ObjectID(commit)]
        if not isinstance(found, Commit):
            raise NotUnpacked(BROKEN)
        _write(store, found.tree, folder, target)
        store.close()


def _pieces(answer: Path) -> Iterator[bytes]:
    """Yield the bytes of the pack that an answer of the second version of git's protocol holds."""
    from dulwich.protocol import Protocol

    with answer.open("rb") as file:
        lines = Protocol(file.read, lambda _: None)
        while (line := lines.read_pkt_line()) != b"packfile\n":
            if line is not None and line.startswith(b"ERR "):
                raise NotUnpacked(BROKEN)
        while line := lines.read_pkt_line():
            if line[0] == REFUSAL:
                raise NotUnpacked(BROKEN)
            if line[0] == PACK:
                yield line[1:]


def _write(store: DiskObjectStore, tree: bytes, folder: str, target: Path) -> None:
    """Write all files, then all folders, and then the links, so that nothing is ever written through a link."""
    from dulwich.index import validate_path
    from dulwich.objects import Blob, ObjectID

    prefix, links, size, count = folder.encode(), list[tuple[Path, str]](), 0, 0
    for entry in store.iter_tree_contents(ObjectID(tree)):
        assert entry.path is not None and entry.sha is not None and entry.mode is not None  # noqa: S101, PT018
        kind = entry.mode & MODES
        is_meant = not prefix or entry.path.startswith(prefix + b"/") or (entry.path == prefix and kind == FILE)
        if not is_meant or kind not in (FILE, LINK) or not validate_path(entry.path):
            continue
        blob = store[entry.sha]
        assert isinstance(blob, Blob)  # noqa: S101 - anything else ends this process
        path, size, count = target / os.fsdecode(entry.path), size + blob.raw_length(), count + 1
        if size > MOST_BYTES or count > MOST_FILES:
            raise NotUnpacked(TOO_BIG)
        if kind == LINK:
            links.append((path, os.fsdecode(blob.data)))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(blob.data)
    if prefix and not count:
        raise NotUnpacked(NO_FOLDER.format(folder))
    for path, _ in links:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
    for path, leads_to in links:
        with suppress(OSError, ValueError):  # a name that is taken, or a link that cannot be one
            path.symlink_to(leads_to)


def _end_with_owner() -> None:
    os.read(0, 1)  # past `sys.stdin`, whose lock a process that ends must be able to take
    os._exit(1)


def main() -> int:
    """Unpack what the command line names; what is wrong stands on standard output, in a sentence."""
    threading.Thread(target=_end_with_owner, daemon=True).start()
    answer, commit, folder, target = sys.argv[1:]
    limit(memory=MEMORY, seconds=SECONDS)
    try:
        _unpacked(Path(answer), commit.encode(), folder, Path(target))
    except NotUnpacked as error:
        sys.stdout.write(str(error))
    except Exception:  # noqa: BLE001 - whatever a library stumbles over is damaged
        sys.stdout.write(BROKEN)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
