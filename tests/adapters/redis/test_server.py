"""The private server: it lives and dies with its owner, and no crash costs what was stored."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from adapters.redis.connection import connect, translated
from adapters.redis.server import SOCKET, PrivateServer
from core.errors import FootnoteError, Misconfigured, StoreUnavailable
from tests.adapters.redis import owner
from tests.fixtures.redis import say
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def owned(folder: Path) -> Generator[tuple[int, int], None, None]:
    """Run an owner in a process of its own; give its process id and the server's."""
    command = [sys.executable, "-m", owner.__name__, os.fspath(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        assert process.stdout
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()


def runs(process: int) -> bool:
    """Whether a process is there; one that has ended and was not collected is not."""
    state = subprocess.run(["ps", "-o", "state=", "-p", str(process)], capture_output=True, check=False).stdout
    return bool(state.strip()) and not state.startswith(b"Z")


async def whole_end(process: int) -> None:
    """Wait for the end of a process of ours, with all its threads: until then it keeps its locks."""
    await asyncio.to_thread(os.waitid, os.P_PID, process, os.WEXITED | os.WNOWAIT)


def children(process: int) -> list[int]:
    """The processes that *process* started, without the one that looks."""
    with subprocess.Popen(["ps", "-A", "-o", "ppid=,pid="], stdout=subprocess.PIPE, text=True) as looking:
        pairs = [line.split() for line in looking.communicate()[0].splitlines()]
    return [int(child) for parent, child in pairs if int(parent) == process and int(child) != looking.pid]


def listed(process: int) -> bytes:
    """What anybody who lists processes can see of one: its command and its environment."""
    command = ["ps", "eww", "-o", "command=", "-p", str(process)]
    return subprocess.run(command, capture_output=True, check=True).stdout


async def stored(folder: Path) -> bytes:
    """Start a server on a folder and read what an owner stored."""
    async with PrivateServer(folder) as url:
        client = connect(url)
        value = cast("bytes", await client.get("key"))
        await client.aclose()
    return value


@pytest.mark.promise("data-survives")
async def test_data_survives_an_orderly_stop(tmp_path: Path) -> None:
    """What was written is there after the next start, and the socket and the link to it are gone meanwhile."""
    async with PrivateServer(tmp_path / "store") as url:
        client = connect(url)
        await client.set("key", "value", ex=600)
        await client.aclose()

    assert not (tmp_path / "store" / SOCKET).exists()
    assert await stored(tmp_path / "store") == b"value"


async def test_a_stop_leaves_no_process(tmp_path: Path) -> None:
    """Neither the server nor its watcher is left, also when it is stopped twice."""
    before = children(os.getpid())
    server = PrivateServer(tmp_path)
    await asyncio.to_thread(server.start)
    [started] = set(children(os.getpid())) - set(before)
    [watcher] = children(started)
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.stop)

    assert children(os.getpid()) == before
    await wait_until(lambda: not runs(watcher), what="the end of the watcher")


@pytest.mark.promise("store-goes-with-owner")
async def test_the_server_goes_when_its_owner_is_killed(tmp_path: Path) -> None:
    """SIGKILL of the owner ends the server, and the data is there for the next one."""
    with owned(tmp_path) as (process, server):
        os.kill(process, signal.SIGKILL)

        await wait_until(lambda: not runs(server), what="the end of the server")
    assert await stored(tmp_path) == b"value"


async def test_ctrl_c_in_the_terminal_does_not_reach_the_server(tmp_path: Path) -> None:
    """The server is in a session of its own, so that its owner can finish first."""
    with owned(tmp_path) as (process, server):
        assert os.getsid(server) == server != os.getsid(process)


async def test_a_server_that_outlived_its_owner_is_taken_over(tmp_path: Path) -> None:
    """When the watcher was killed as well, the next start ends the old server and has its data."""
    with owned(tmp_path) as (process, server):
        for watcher in children(server):
            os.kill(watcher, signal.SIGKILL)
        os.kill(process, signal.SIGKILL)
        await whole_end(process)
        assert runs(server)

        assert await stored(tmp_path) == b"value"
        await wait_until(lambda: not runs(server), what="the end of the orphan")


async def test_an_orphan_that_does_not_end_is_named(tmp_path: Path) -> None:
    """A server that hangs is not fought with; the message says where it is and what to do."""
    with owned(tmp_path) as (process, server):
        os.kill(server, signal.SIGSTOP)
        os.kill(process, signal.SIGKILL)
        await whole_end(process)
        with pytest.raises(StoreUnavailable, match=f"is still running in {tmp_path} .* Stop the process valkey-server"):
            await asyncio.to_thread(PrivateServer(tmp_path, timeout=0.1).start)
        os.kill(server, signal.SIGCONT)

        await wait_until(lambda: not runs(server), what="the end of the server")


async def test_a_server_that_hangs_is_ended_all_the_same(tmp_path: Path) -> None:
    """A stop has an end, whatever the server does."""
    before = children(os.getpid())
    server = PrivateServer(tmp_path, timeout=1.0)
    await asyncio.to_thread(server.start)
    [started] = set(children(os.getpid())) - set(before)
    os.kill(started, signal.SIGSTOP)
    await asyncio.to_thread(server.stop)

    assert children(os.getpid()) == before


async def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    """A second owner is refused with the folder's name, and the first goes on undisturbed."""
    async with PrivateServer(tmp_path) as url:
        with pytest.raises(Misconfigured, match=str(tmp_path)):
            await asyncio.to_thread(PrivateServer(tmp_path).start)
        client = connect(url)
        assert await say(client, "PING")
        await client.aclose()


async def test_a_killed_server_is_unavailable_until_it_is_started_again(tmp_path: Path) -> None:
    """A client sees `StoreUnavailable`, then after a new start the data."""
    server = PrivateServer(tmp_path)
    client = connect(await asyncio.to_thread(server.start))
    await client.set("key", "value", ex=600)
    os.kill(await owner.server_process(client), signal.SIGKILL)

    with pytest.raises(StoreUnavailable), translated():
        await client.get("key")
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
    assert await client.get("key") == b"value"
    await client.aclose()
    await asyncio.to_thread(server.stop)


@pytest.mark.promise("data-survives")
async def test_a_half_written_last_line_is_cut_off(tmp_path: Path) -> None:
    """A crash in the middle of a write costs that write only."""
    async with PrivateServer(tmp_path) as url:
        client = connect(url)
        await client.set("key", "value", ex=600)
        await client.aclose()
    [log] = (tmp_path / "appendonlydir").glob("*.incr.aof")
    log.write_bytes(log.read_bytes() + b"*3\r\n$3\r\nSET\r\n$3\r\nke")

    assert await stored(tmp_path) == b"value"


async def test_a_stale_socket_is_in_nobody_s_way(tmp_path: Path) -> None:
    """A file that a crash of the whole machine left behind is replaced."""
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(os.fspath(tmp_path / SOCKET))

    async with PrivateServer(tmp_path) as url:
        client = connect(url)
        assert await say(client, "PING")
        await client.aclose()


async def test_a_folder_of_any_name_and_length_works(tmp_path: Path) -> None:
    """A path too long for a socket is reached by a short link, which is gone after the stop."""
    folder = tmp_path / 'it\'s a "long" name; $HOME % 파일' / ("x" * 200)
    async with PrivateServer(folder) as url:
        client = connect(url)
        await say(client, "SET", "key", "value", "EX", "600")
        await client.aclose()
        link = Path(url.removeprefix("unix://").split("?")[0]).parent
        assert link.resolve() == folder

    assert not link.parent.exists()
    assert await stored(folder) == b"value"


@pytest.mark.promise("store-is-private")
def test_only_the_owner_can_reach_the_data(tmp_path: Path) -> None:
    """Socket and files are closed to others, also in a folder that is not."""
    (tmp_path / "store").mkdir(mode=0o755)
    server = PrivateServer(tmp_path / "store")
    server.start()
    modes = {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / "store").rglob("*")}
    server.stop()

    assert modes == dict.fromkeys(modes, 0)


async def test_the_server_does_not_see_the_secrets_of_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner's environment is not handed on, where anybody who lists processes could find it."""
    monkeypatch.setenv("FOOTNOTE_SECRET_KEY", "xyzzy-planted")
    async with PrivateServer(tmp_path) as url:
        client = connect(url)
        process = await owner.server_process(client)
        await client.aclose()
        seen = listed(process)

    assert b"valkey-server" in seen
    assert b"xyzzy-planted" not in seen


async def test_a_cancelled_start_leaves_no_process(tmp_path: Path) -> None:
    """Whoever stops waiting for the server does not leave one behind, and the folder is free again."""
    before = children(os.getpid())
    server = PrivateServer(tmp_path)
    entering = asyncio.create_task(server.__aenter__())
    await asyncio.sleep(0)
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering

    assert children(os.getpid()) == before
    async with PrivateServer(tmp_path):
        pass


def refusal(folder: Path) -> FootnoteError:
    """What a start on *folder* says."""
    with pytest.raises(FootnoteError) as caught:
        PrivateServer(folder).start()
    return caught.value


def test_a_file_in_the_folder_s_place_is_named(tmp_path: Path) -> None:
    """The message says what stands where and what to do."""
    (tmp_path / "store").write_text("")
    error = refusal(tmp_path / "store")

    assert isinstance(error, Misconfigured)
    assert f"{tmp_path / 'store'}: there is a file in its place" in str(error)


def test_damaged_data_is_refused_and_kept(tmp_path: Path) -> None:
    """The message names the folder and the log and quotes nothing of it, and the files stay as they are."""
    server = PrivateServer(tmp_path)
    server.start()
    server.stop()
    [log] = (tmp_path / "appendonlydir").glob("*.incr.aof")
    log.write_bytes(b"this was something else once\r\n" * 9)
    error = refusal(tmp_path)

    assert isinstance(error, Misconfigured)
    assert "what it stored is damaged" in str(error)
    assert "valkey.log" in str(error)
    assert log.read_bytes().startswith(b"this was something else once")
