"""What a command is on every platform: its name, its options, who may use it, and where it was used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from adapters.chat.dialect import ChatDialect
from core import messages
from core.errors import (
    InvalidInput,
    NotAllowed,
    PeopleUnavailable,
    PolicyUnreadable,
    RetrievalUnavailable,
    StoreUnavailable,
)
from core.model import Actor

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices
    from core.messages import Drawing, Forms
    from core.model import Asker, Person, ThreadRef, WorkspaceRef

Tell: TypeAlias = Callable[[str], Awaitable[object]]
Values: TypeAlias = Mapping[str, Any]
"""What was chosen, by the names of the options: a text, a number, a bool, or an id; what was left out is not there."""

MOST_PAGES = 100  # of a list


class Kind(StrEnum):
    """What an option takes."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    PERSON = "person"
    CHANNEL = "channel"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Option:
    """Something to choose; `choices` are values with the words that people see, and `most` is the highest number."""

    name: str
    description: str
    kind: Kind = Kind.TEXT
    is_required: bool = False
    choices: Mapping[str, str] = field(default_factory=dict[str, str])
    most: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """Somebody who uses a command, a button or a word, and where.

    `homes` are the server or workspace, then other places where something of the person is kept, each once. `thread` is
    the conversation that goes on there; None in a channel, which holds many. It `is_direct` where only one person is.
    They `may_manage` others' messages where the platform says so.
    `actor` returns who uses it, with the right to moderate, and raises `PostingFailed` where the platform does not say.
    `lacking` are the permissions that the bot lacks there, in the platform's words; None where there are none to lack.
    `asker` is who reads what they are told. `drawing`, `forms` and `dialect` are how the platform writes things.
    """

    services: ChatServices
    person: Person
    homes: Sequence[WorkspaceRef]
    thread: ThreadRef | None
    actor: Callable[[], Awaitable[Actor]]
    asker: Asker
    drawing: Drawing
    forms: Forms
    dialect: ChatDialect
    is_direct: bool = False
    may_manage: bool = False
    lacking: Sequence[str] | None = None


Act: TypeAlias = Callable[[CommandContext, Values], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Command:
    """A command; without an `act` it asks a question. It is on every platform, unless it is `only_on` one.

    What one that *is personal* says is told only where nobody else can see it.
    """

    name: str
    description: str
    act: Act | None
    options: tuple[Option, ...] = ()
    for_moderators: bool = False
    only_on: str = ""
    is_personal: bool = False


async def carried_out(act: Callable[[], Awaitable[str | None]], tell: Tell) -> None:
    """Do what was wanted, and *tell* how it went if there is anything to say: the error boundary of all commands.

    What breaks is told without its reason, and raised for the log.
    """
    try:
        sentence = await act()
    except Exception as error:
        sentence = told_instead(error)
        if not sentence:
            await tell(f"{messages.WARNING} {messages.BROKEN}")
            raise
    if sentence:
        await tell(sentence)


def told_instead(error: Exception) -> str:
    """Return what people are told in place of what they wanted; nothing for a mistake of ours."""
    match error:
        case InvalidInput() | NotAllowed() | PolicyUnreadable():
            return str(error)
        case PeopleUnavailable():
            return f"{messages.WARNING} {error}"
        case RetrievalUnavailable():
            return f"{messages.WARNING} {messages.UNAVAILABLE}"
        case StoreUnavailable():
            return f"{messages.WARNING} {messages.AWAY}"
        case _:
            return ""
