"""What every command does around its work: settings, the data folder and its log, the app, and an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import stat
import sys
import time
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args

import uvloop

from bot.logs import log_events, logger_to, targets_of
from bot.outcome import OK
from bot.settings import Settings, read_settings, slips_of_settings
from bot.version import version
from bot.wiring import DEFAULT_TIMING, App, RetryTiming, assemble
from bot.wiring.communities import SEES, words_for
from core.errors import Misconfigured, Unavailable
from core.events import (
    CommunitiesFound,
    CommunitiesSee,
    CommunityBack,
    CommunityLost,
    Connected,
    ConnectionLost,
    MemoryFailed,
    Observer,
    PlatformFailed,
    ServiceFailed,
    Shortcoming,
    SourceFailed,
    everyone,
    only,
    unobserved,
)
from core.messages.wording import listed
from core.model import without_controls

if TYPE_CHECKING:
    from adapters.beside import OwnerClient
    from bot.wiring.stores import Stores

RUN = "footnote run"
LONGEST_START = 5.0  # seconds until a bot that has just begun offers its socket
PAUSE = 0.05  # seconds between two looks
OTHER_VERSION = "The bot that runs here is version {}, and this command is version {}. Restart the bot."
IN_USE = (
    "The data folder {} is in use by {}. Wait until it ends or stop it, or set FOOTNOTE_DATA_DIR to another folder."
)
SILENT = "{} It has not answered for some seconds; if that goes on, restart it."


class DataFolderInUse(Unavailable):
    """Another process works with the data folder; the message says which and what to do, and `command` what it is."""

    def __init__(self, message: str, command: str) -> None:
        super().__init__(message)
        self.command = command


@contextlib.contextmanager
def hold(folder: Path, *, command: str, alone: bool = True) -> Generator[Path]:
    """Own *folder* until the end, which no other user can read; the kernel lets go even when this process is killed.

    Processes that need not be *alone*, since what they share lies on servers, own it together.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _make_private(folder)
        descriptor = os.open(folder / "owner.json", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Misconfigured(
            f"The data folder {folder} cannot be written ({os.strerror(error.errno or 0)}). "
            "Set FOOTNOTE_DATA_DIR to a folder that you may write to."
        ) from error
    try:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError as error:
            who, other = "another process", ""
            with contextlib.suppress(ValueError, KeyError, TypeError):
                owner = json.loads(os.read(descriptor, 1_000))
                other = str(owner["command"])
                who = f"`{other}` (process {owner['pid']})"
            raise DataFolderInUse(IN_USE.format(folder, who), other) from error
        with contextlib.suppress(OSError):  # a full disk: the lock holds, only its owner stays unnamed
            os.ftruncate(descriptor, 0)
            os.write(descriptor, json.dumps({"pid": os.getpid(), "command": command}).encode())
        for parent, _, files in os.walk(folder):  # an earlier version may have made them
            for path in (Path(parent), *(Path(parent, file) for file in files)):
                _make_private(path)
        yield folder
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def private_files() -> Generator[None]:
    """Make files that nobody else can read, until the end."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def _make_private(path: Path) -> None:
    """Take from others what they may do with a file or folder, unless it is somebody else's, who has let us in."""
    with contextlib.suppress(OSError):
        mode = path.lstat().st_mode
        if mode & 0o077 and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & 0o700)


async def _reach(folder: Path, opened: contextlib.AsyncExitStack) -> OwnerClient | None:
    """Return the bot that offers itself in *folder*, until *opened* ends. Raises `Misconfigured`."""
    from adapters.beside import reached

    owner = await opened.enter_async_context(reached(folder))
    if owner is not None and owner.welcome.version != (ours := version()):
        raise Misconfigured(OTHER_VERSION.format(owner.welcome.version, ours))
    return owner


def _join(own: Callable[[], object], reach: Callable[[], OwnerClient | None]) -> OwnerClient | None:
    """Own the data folder, or return the bot that does, which may have to start or to end first.

    Raises `DataFolderInUse` where another command does, or it takes too long.
    """
    deadline = time.monotonic() + LONGEST_START
    while True:
        try:
            own()
        except DataFolderInUse as refused:
            if refused.command != RUN:
                raise
            if (owner := reach()) is not None:
                return owner
            if time.monotonic() > deadline:
                raise DataFolderInUse(SILENT.format(refused), RUN) from refused
            time.sleep(PAUSE)
        else:
            return None


WITHOUT_MEMORY = "Answered without memory: the data store does not answer. `footnote doctor` says why."
NOT_READ = "The source {} could not be read: {} To see more: footnote sources show {}"
LONGEST_NAME = 60  # characters of a community's
MAY = "{}: these may use the bot: {}. To remove one: footnote communities remove {}"
MAY_NOT = "{}: these may not use the bot: {}. To allow one: footnote communities allow {}"
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Session:
    """An open app and the loop that runs its work; where a bot has the data folder, it is the *owner*."""

    settings: Settings
    app: App
    runner: asyncio.Runner
    observer: Observer
    owner: OwnerClient | None = None

    @property
    def stores(self) -> Stores:
        """What is remembered, in a session with memory."""
        assert self.app.stores is not None  # noqa: S101 - whoever asks has opened it so
        return self.app.stores

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do asynchronous work; Ctrl-C cancels it and raises `KeyboardInterrupt`."""
        return self.runner.run(work)


@contextlib.contextmanager
def session(
    command: str,
    *,
    memory: bool = False,
    tells_slips: bool = True,
    timing: RetryTiming = DEFAULT_TIMING,
    observer: Observer = unobserved,
) -> Generator[Session]:
    """Open everything a command needs, and close it again however the command ends; *observer* hears of events too."""
    if tells_slips:
        tell_slips()
    settings = read_settings()
    folder, opened = settings.data_dir, contextlib.AsyncExitStack()
    with private_files(), contextlib.ExitStack() as held, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:

        def own() -> None:
            held.enter_context(hold(folder, command=command, alone=not settings.is_shared))

        def reach() -> OwnerClient | None:
            return None if command == RUN else runner.run(_reach(folder.absolute(), opened))

        try:
            owner = _join(own, reach)
            targets = targets_of(settings.log, is_bot=command == RUN)
            logger = logger_to(folder, settings.log_level, targets)
            teller = unobserved if "stderr" in targets else _teller()  # nothing is said twice in one place
            told = everyone(log_events(logger), teller, observer)
            opening = assemble(settings, memory=memory, observer=told, timing=timing, owner=owner)
            app = runner.run(opened.enter_async_context(opening))
            yield Session(settings, app, runner, told, owner)
        finally:
            runner.run(opened.aclose())


def say(words: str, facts: object = None, *, as_json: bool = False) -> int:
    """Print what came of a command, in words or as *facts* for a program, and return the code of success."""
    line = json.dumps(facts, ensure_ascii=False) if as_json else words
    sys.stdout.write(f"{without_controls(line)}\n")
    sys.stdout.flush()
    return OK


def tell_slips() -> None:
    """Print on standard error which settings seem to be misspelt; others may be somebody else's."""
    for slip in slips_of_settings():
        if slip.meant:
            sys.stderr.write(f"{slip}\n")


Told: TypeAlias = (
    Connected
    | ConnectionLost
    | CommunityLost
    | CommunityBack
    | PlatformFailed
    | Shortcoming
    | CommunitiesFound
    | CommunitiesSee
    | MemoryFailed
    | ServiceFailed
    | SourceFailed
)
REPEATED = (Connected, ConnectionLost, CommunityLost, CommunityBack, PlatformFailed)  # what is told each time


def _teller() -> Observer:
    """Return an observer that prints what somebody at the terminal wants to see; everything else is in the log.

    At the terminal, reader and operator are the same: what else went wrong is told them too, once.
    """
    told: set[str] = set()
    known: set[str] = set()  # platforms

    def tell(event: Told) -> None:
        line = _line(event, known)
        if isinstance(event, REPEATED) or line not in told:
            told.add(line)
            sys.stderr.write(f"{without_controls(line)}\n")

    return only(tell, *get_args(Told))


TROUBLES = {
    ConnectionLost: "{}: no connection ({}). Trying again.",
    PlatformFailed: "{}: not connected. {}",
    Shortcoming: "{}: {}",
}


def _line(event: Told, known: set[str]) -> str:
    """Return what is told; *known* are the platforms that were connected before."""
    match event:
        case Connected(platform, name):
            is_first = bool(name) and platform not in known
            known.add(platform)
            return f"{platform}: connected as {name}. Ctrl-C stops." if is_first else f"{platform}: connected again."
        case ConnectionLost(platform, said) | PlatformFailed(platform, said) | Shortcoming(platform, said):
            return TROUBLES[type(event)].format(platform, said) if platform else said
        case CommunitiesFound() | CommunitiesSee() | CommunityLost() | CommunityBack():
            return "\n".join(_of_communities(event))
        case ServiceFailed(reason=reason):
            return reason
        case SourceFailed():
            return NOT_READ.format(event.source, event.reason, event.source)
        case MemoryFailed():
            return WITHOUT_MEMORY


def _of_communities(event: CommunitiesFound | CommunitiesSee | CommunityLost | CommunityBack) -> Iterator[str]:
    """Yield who may use the bot, who may not, and what each sees, or where the platform refuses it."""
    match event:
        case CommunityLost(platform, _, name, reason):
            yield f"{platform}: no connection in {name} ({reason}). Trying again."
        case CommunityBack(platform, _, name, has_left):
            yield f"{platform}: {'removed from' if has_left else 'connected again in'} {name}."
        case CommunitiesFound(platform, allowed, refused):
            for template, found in ((MAY, allowed), (MAY_NOT, refused)):
                if found:
                    yield template.format(platform, _shown(found), list(found)[-1])
        case CommunitiesSee(_, sources):
            for each, names in sources.items():
                yield SEES.format(each, words_for(names))


def _shown(communities: Mapping[str, str]) -> str:
    """Name communities as commands take them, and as their people do."""
    names = {ref: " ".join(name.split())[:LONGEST_NAME] for ref, name in communities.items()}
    return listed([f"{ref} ({name})" if name else ref for ref, name in names.items()])
