"""`footnote inbox`: the failed questions, for whoever runs the bot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeAlias

from bot.commands.session import say, session
from core.errors import InvalidInput
from core.model import DeadLetter, MessageRef, without_controls
from core.ports import DeadLetters

MOST = 1_000
GAP = 2  # characters between columns
SHORTEST = 7  # characters of a reference, more where two begin with the same ones
NONE = "There are no failed questions."
UNKNOWN = "No failed question is called {}. Type footnote inbox list to see them."
UNCLEAR = "{} matches several questions: {}. Type more of it."
WHICH = "Say which question: give its REF, as footnote inbox list prints it, or --all."
GONE = (
    "The text of {} is no longer stored, so only the person who asked it can ask it again. "
    "Type footnote inbox drop {} to remove it."
)
LATER = "Nothing will happen until footnote run is started: then a worker answers {}."

COLUMNS = ("REF", "failed", "where", "tries", "retry", "reason")

Action: TypeAlias = Literal["list", "show", "retry", "drop"]
Report = tuple[str, Mapping[str, object]]
"""What there is to say, for a person and for a program."""


@dataclass(frozen=True, slots=True)
class FailedQuestions:
    """The questions that failed, newest first, each with a short reference of its own."""

    letters: Mapping[str, DeadLetter]

    @classmethod
    async def of(cls, inbox: DeadLetters) -> FailedQuestions:
        """Read them."""
        letters = await inbox.dead(limit=MOST)
        names = [_digest(letter.message) for letter in letters]
        length = next(size for size in range(SHORTEST, 65) if len({name[:size] for name in names}) == len(names))
        return cls({name[:length]: letter for name, letter in zip(names, letters, strict=True)})

    def find(self, words: str) -> tuple[str, DeadLetter]:
        """Return the one that is meant by the beginning of its reference, its message's id, or its whole name."""
        fitting = [ref for ref, each in self.letters.items() if words in (ref, each.message.id, str(each.message))]
        if words and not fitting:
            begun = words.lower()
            fitting = [ref for ref, each in self.letters.items() if _digest(each.message).startswith(begun)]
        if not fitting:
            raise InvalidInput(UNKNOWN.format(words or "nothing"), field="ref")
        if len(fitting) > 1:
            raise InvalidInput(UNCLEAR.format(words, ", ".join(fitting)), field="ref")
        return fitting[0], self.letters[fitting[0]]

    def chosen(self, words: str | None) -> Mapping[str, DeadLetter]:
        """Return the one that is meant, or all of them."""
        return self.letters if words is None else dict([self.find(words)])


def do(what: Action, words: str | None = None, *, every: bool = False, as_json: bool) -> int:
    """Carry out a command, and print what came of it: about one question or, with *every*, about all of them."""
    if what in ("retry", "drop") and (words is not None) == every:  # nothing is done by accident
        raise InvalidInput(WHICH, field="ref")

    async def run() -> Report:
        async with opened.stores.inbox() as inbox:
            match what:
                case "list":
                    return await listed(inbox)
                case "show":
                    return await shown(inbox, words or "")
                case "retry":
                    return await retried(inbox, words, is_shared=opened.settings.is_shared or opened.owner is not None)
                case "drop":
                    return await dropped(inbox, words)

    with session("footnote inbox", memory=True) as opened:
        says, facts = opened.run(run())
    return say(says, facts, as_json=as_json)


async def listed(inbox: DeadLetters) -> Report:
    """Return a report on all of them."""
    failed = await FailedQuestions.of(inbox)
    facts = {"questions": [_facts(ref, letter) for ref, letter in failed.letters.items()]}
    rows = [tuple(map(_said(ref, letter).__getitem__, COLUMNS)) for ref, letter in failed.letters.items()]
    return (aligned([COLUMNS, *rows]) if rows else NONE), facts


async def shown(inbox: DeadLetters, words: str) -> Report:
    """Return a report on the one that is meant."""
    ref, found = (await FailedQuestions.of(inbox)).find(words)
    letter = await inbox.dead_letter(found.message) or found
    text = letter.question.text if letter.question else None
    said = {**_said(ref, letter), "question": "its text is no longer stored" if text is None else text}
    return aligned([*said.items()]), {**_facts(ref, letter), "text": text}


async def retried(inbox: DeadLetters, words: str | None, *, is_shared: bool) -> Report:
    """Have the one that is meant tried again, or all whose words are kept."""
    chosen = (await FailedQuestions.of(inbox)).chosen(words)
    revived = [ref for ref, letter in chosen.items() if letter.can_be_retried and await inbox.revive(letter.message)]
    left = [ref for ref in chosen if ref not in revived]
    facts = {"retried": revived, "left": left}
    if not chosen:
        return NONE, facts
    if words is not None and left:
        raise InvalidInput(GONE.format(left[0], left[0]), field="ref")
    says: list[str] = []
    if revived:
        whom = "it" if len(revived) == 1 else "them"
        says.append(f"{_count(revived)} to be tried again.")
        says.append(f"A worker will answer {whom}." if is_shared else LATER.format(whom))
    if left:
        says.append(f"{_count(left)} left as before: the text is no longer stored.")
    return " ".join(says), facts


async def dropped(inbox: DeadLetters, words: str | None) -> Report:
    """Remove the one that is meant, or all."""
    chosen = (await FailedQuestions.of(inbox)).chosen(words)
    gone = [ref for ref, letter in chosen.items() if await inbox.drop(letter.message)]
    says = f"{_count(gone)} removed, including the text." if gone else NONE
    return says, {"dropped": gone}


def _said(ref: str, letter: DeadLetter) -> dict[str, str]:
    """Return what a person may want to know of a question, by the names of the columns."""
    thread, asked = letter.message.thread, letter.question and letter.question.asked_at
    return {
        "REF": ref,
        "message": str(letter.message),
        "where": f"{thread.platform} {thread.workspace}/{thread.channel}",
        **({"asked": _when(asked)} if asked else {}),
        "failed": _when(letter.died_at),
        "tries": str(letter.attempts),
        "reason": " ".join(letter.reason.split()),
        "retry": "yes" if letter.can_be_retried else "no",
    }


def _facts(ref: str, letter: DeadLetter) -> dict[str, object]:
    thread = letter.message.thread
    return {
        "ref": ref,
        "message": str(letter.message),
        "platform": thread.platform,
        "workspace": thread.workspace,
        "channel": thread.channel,
        "thread": thread.thread,
        "died_at": letter.died_at.isoformat(),
        "attempts": letter.attempts,
        "reason": letter.reason,
        "can_be_retried": letter.can_be_retried,
    }


def aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Put columns below each other; the last one is as long as it is, and may have several lines."""
    from rich.cells import cell_len

    clean = [tuple(map(without_controls, row)) for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*(row[:-1] for row in clean), strict=True)]
    margin = "\n" + " " * sum(width + GAP for width in widths)
    return "\n".join(
        "".join(cell + " " * (width - cell_len(cell) + GAP) for cell, width in zip(row[:-1], widths, strict=True))
        + row[-1].replace("\n", margin)
        for row in clean
    )


def _digest(message: MessageRef) -> str:
    return sha256(str(message).encode()).hexdigest()


def _count(refs: Sequence[str]) -> str:
    return "One question is" if len(refs) == 1 else f"{len(refs)} questions are"


def _when(moment: datetime) -> str:
    return moment.astimezone().isoformat(" ", "seconds")
