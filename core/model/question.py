"""The question, with the limits of what can be asked, and what happened on a platform before anything is decided."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Literal, LiteralString, TypeAlias

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from core.errors import InvalidInput
from core.model.refs import Message, MessageRef, Person, Value, WorkspaceRef

QUESTION_LIMIT = 2_000  # characters: as long as one Discord message
SELECTION_LIMIT = 20_000  # characters: as long as the longest message that a platform lets a person select
NAME_LIMIT = 100  # characters of an author's name; platforms allow fewer
CONTEXT_LIMIT = 20  # quoted messages: what a reader sees of a thread without scrolling far
ATTACHMENTS_LIMIT = 20_000  # characters of all files that come with a question
MOST_ATTACHMENTS = 10  # as many as a message has on Discord
NOT_KEPT = "[...]"  # stands for what holds words of somebody else, where it is remembered
LEFT_OUT = "\n[...]\n"  # stands for the middle of a file that is too long
_KEPT = frozenset("\n\t\u200c\u200d")
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs"})
_HIDDEN = re.compile(  # they have no width, and yet are marks, letters or not assigned
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0d\uffa0\ufff0-\ufff8\ufffe"
    "\uffff\U0001fffe\U0001ffff\U000e0000-\U000e0fff]"
)
_SELECTORS = re.compile(  # which choose how an emoji looks, and are nothing behind anything else
    "(?<![\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff])(?<![0-9#*](?=.\u20e3))[\ufe0e\ufe0f]"
)
_JOINERS = re.compile("[\u200c\u200d]+")
_LAST_LATIN = "\u024f"  # up to here letters are never joined
NO_QUESTION = "Please provide a question to ask about the documents."
LONG_QUESTION = "The question has {length} characters; the limit is {limit}. Please shorten it and ask again."
NO_SELECTION = "The selected text is empty. Select some text, or ask without a selection."
LONG_SELECTION = "The selected text has {length} characters; the limit is {limit}. Please select less."
_RANGES = {"greater_than_equal", "less_than_equal", "finite_number"}
OUT_OF_RANGE = {
    "top_k": "The number of passages (top_k) is {:g}; it has to be between 1 and 20.",
    "relevance_threshold": "The relevance threshold is {:g}; it has to be between 0 and 1.",
}


class Scope(Value):
    """What may be searched, and no more: no `sources` at all find nothing, and None means every one.

    Empty `chapters` mean all; `open_at` hides what is released later.
    """

    sources: tuple[str, ...] | None = None
    chapters: tuple[str, ...] = ()
    open_at: datetime | None = None

    def within(self, sources: Collection[str]) -> Scope:
        """Return what is left of it in these sources; what somebody picks never adds one."""
        picked = sources if self.sources is None else [name for name in self.sources if name in sources]
        return self.model_copy(update={"sources": tuple(picked)})


EVERYTHING = Scope()


def without_controls(text: str) -> str:
    """Drop characters that nobody sees and that change what others mean; keep line breaks and tabs.

    These are control, format and private-use characters, fillers, selectors and half surrogate pairs. Joiners stay
    between letters that are written joined, and both stay in emoji.
    """
    if text.isascii() and text.replace("\n", " ").replace("\t", " ").isprintable():
        return text  # as nearly everything is, which is seen much sooner
    text = _HIDDEN.sub("", text.replace("\u2028", "\n").replace("\u2029", "\n"))
    if not text.replace("\n", " ").replace("\t", " ").isprintable():
        text = _JOINERS.sub(_joiner, "".join(c for c in text if c in _KEPT or unicodedata.category(c) not in _UNSEEN))
    return _SELECTORS.sub("", text)


def _joiner(found: re.Match[str]) -> str:
    around = found.string[max(found.start() - 1, 0) : found.start()] + found.string[found.end() : found.end() + 1]
    return found[0][0] if len(around) > 1 and min(around) > _LAST_LATIN else ""


def _stripped(text: str, *, limit: int, blank: LiteralString, too_long: LiteralString) -> str:
    text = without_controls(text).strip()
    if not text:
        raise PydanticCustomError("blank", blank)
    if len(text) > limit:
        raise PydanticCustomError("too_long", too_long, {"length": f"{len(text):,}", "limit": f"{limit:,}"})
    return text


QuestionText: TypeAlias = Annotated[
    str, AfterValidator(partial(_stripped, limit=QUESTION_LIMIT, blank=NO_QUESTION, too_long=LONG_QUESTION))
]
SelectionText: TypeAlias = Annotated[
    str, AfterValidator(partial(_stripped, limit=SELECTION_LIMIT, blank=NO_SELECTION, too_long=LONG_SELECTION))
]


def _newest(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Keep the newest messages that fit, each cut to a question's length and all to a selection's, oldest first.

    They are cut and not refused, since whoever asks can do nothing about what others wrote.
    """
    kept: list[Message] = []
    room = SELECTION_LIMIT
    for message in reversed(messages[-CONTEXT_LIMIT:]):
        text = without_controls(message.text).strip()[:QUESTION_LIMIT].rstrip()
        author = " ".join(without_controls(message.author).split())[:NAME_LIMIT].rstrip()
        room -= len(text) + len(author)
        if room < 0:
            break
        if text:
            kept.append(message.model_copy(update={"text": text, "author": author}))
    return tuple(reversed(kept))


def _picked(scope: Scope) -> Scope:
    """Nobody picks no source at all, and earlier versions have stored an empty list for every one."""
    return scope if scope.sources != () else scope.model_copy(update={"sources": None})


class Unread(StrEnum):
    """Why a file was not read."""

    KIND = "kind"
    SIZE = "size"
    EMPTY = "empty"
    GONE = "gone"
    DENIED = "denied"
    NUMBER = "number"
    FAILED = "failed"


class Attachment(Value):
    """A file that came with a question, or with a message that it refers to: what it says, or why that is not known.

    Of one that `is_cut` the middle is left out, and one that `is_quoted` belongs to somebody else.
    """

    name: str
    text: str = ""
    unread: Unread | None = None
    is_cut: bool = False
    is_quoted: bool = False


def _shared_out(attachments: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
    """Clean the files, and cut those that are longer than their share of the room; what others leave is theirs too.

    Of a file that is too long, both ends are kept: a log says at its end what went wrong.
    """
    kept: list[Attachment] = []
    room, left = ATTACHMENTS_LIMIT, sum(1 for each in attachments[:MOST_ATTACHMENTS] if each.text)
    for each in attachments[:MOST_ATTACHMENTS]:
        name = " ".join(without_controls(each.name).split())[:NAME_LIMIT].rstrip() or "file"
        text = without_controls(each.text).strip("\n")
        share = room // max(left, 1)
        is_cut = len(text) > share
        if is_cut:
            half = (share - len(LEFT_OUT)) // 2
            text = f"{text[:half]}{LEFT_OUT}{text[-half:]}"
        room, left = room - len(text), left - bool(each.text)
        unread = each.unread or (None if text.strip() else Unread.EMPTY)
        known = {"name": name, "text": "" if unread else text, "unread": unread, "is_cut": each.is_cut or is_cut}
        kept.append(each.model_copy(update=known))
    return tuple(kept)


Attachments: TypeAlias = Annotated[tuple[Attachment, ...], AfterValidator(_shared_out)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Somebody who wants to know something at a `home`; who asks `alone` is the only one to read what is said.

    The `channel` is empty where there is none, as in a form.
    """

    home: WorkspaceRef
    person_id: str
    channel: str = ""
    is_alone: bool = False


class Question(Value):
    """What somebody wants to know, with everything that the answer depends on; the `scope` is what they have picked.

    One that `is_unasked` was not said to the bot: nobody hears of it but by an answer with sources. Where it
    `is_doubtful`, that is so only if a model judges that it is asked of whoever can tell.
    """

    message: MessageRef
    revision: int = 0
    text: QuestionText
    author: Person
    selection: SelectionText | None = None
    context: Annotated[tuple[Message, ...], AfterValidator(_newest)] = ()
    attachments: Attachments = ()
    reply_to: MessageRef | None = None
    visibility: Literal["thread", "private"] = "thread"
    asked_at: datetime
    is_unasked: bool = False
    is_doubtful: bool = False
    words_of: str | None = None
    scope: Annotated[Scope, AfterValidator(_picked)] = Scope()
    top_k: int = Field(default=5, ge=1, le=20)
    relevance_threshold: float = Field(default=0.5, ge=0.0, le=1.0, allow_inf_nan=False)

    @property
    def alone(self) -> Question:
        """The question without messages and files quoted to it, which are others' words."""
        own = tuple(each for each in self.attachments if not each.is_quoted)
        return self.model_copy(update={"context": (), "attachments": own})

    @property
    def quoted(self) -> frozenset[str]:
        """Whose words it has or quotes, by their ids; an empty one is nobody knows whose, as of files."""
        said = {each.author_id for each in self.context if each.role == "user"}
        files = {"" for each in self.attachments if each.is_quoted}
        return frozenset(said | files | ({self.words_of} if self.words_of is not None else set()))

    def is_by(self, person_id: str | None, before: datetime | None = None) -> bool:
        """Return whether somebody, or anybody, asked it, or its words may be theirs, and, if given, *before* a time."""
        is_theirs = person_id in (None, self.author.id, self.words_of) or self.words_of == ""
        return is_theirs and (before is None or self.asked_at <= before)

    def quotes(self, person_id: str) -> bool:
        """Return whether words of somebody are in it or quoted to it; so may be those of nobody knows whom."""
        return not self.quoted.isdisjoint(("", person_id))

    @property
    def asker(self) -> Asker:
        """Who asks where."""
        place, is_alone = self.message.thread, self.visibility == "private"
        return Asker(home=place.home, person_id=self.author.id, channel=place.channel, is_alone=is_alone)

    @classmethod
    def create(cls, **fields: Any) -> Question:
        """Build a question, or raise `InvalidInput` with a sentence that names the limit and what to do."""
        try:
            return cls(**fields)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = str(first["loc"][0])
            is_out = field in OUT_OF_RANGE and first["type"] in _RANGES
            message = OUT_OF_RANGE[field].format(float(first["input"])) if is_out else first["msg"]
            raise InvalidInput(message, field=field) from error


class Terms(Value):
    """How questions are asked where nobody says otherwise."""

    top_k: int = 5
    relevance_threshold: float = 0.5


class Reaction(StrEnum):
    """A mark on somebody's message."""

    WARNING = "warning"
    LIMIT = "limit"


class InboundKind(StrEnum):
    """What was done to a message."""

    WRITTEN = "written"
    EDITED = "edited"
    DELETED = "deleted"


class Setting(StrEnum):
    """The kind of place that a message stands in."""

    CHANNEL = "channel"
    THREAD = "thread"
    DIRECT = "direct"


class Inbound(Value):
    """What a platform's event means; of a deleted message no more than its place is known.

    `message` names the thread that an answer would belong to, also where that has yet to be opened. `revision` grows
    with each edit. `mentions` are the ids of those who are named in `text`. `is_reply_to` is the id of whoever wrote
    the message replied to, empty where it is no reply; `quoted` is that message and those before it, oldest first, and
    then what it forwards. `attachments` are its own files, and then theirs, once they are read. What it `carries` may
    be its words where it has none: a file that may be text, or a forward. Then `words_of` is who wrote them, empty if
    nobody knows, and None if whoever asks did.
    """

    kind: InboundKind
    message: MessageRef
    setting: Setting
    revision: int = 0
    author: Person | None = None
    text: str = ""
    mentions: tuple[str, ...] = ()
    is_reply_to: str = ""
    reply_to: MessageRef | None = None
    quoted: tuple[Message, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    carries: bool = False
    words_of: str | None = None
    at: datetime | None = None
