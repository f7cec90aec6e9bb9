"""Questions that were given up go by short references, and what is said of them stays in its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.commands.inbox import LATER, NONE, FailedQuestions, dropped, listed, retried, shown
from bot.wiring.services import Advice
from bot.wiring.stores import verdict
from core.errors import InvalidInput, Unavailable
from core.model import Backlog, DeadLetter, MessageRef
from tests.builders import NOON, question, thread


class Letters:
    """Implements `DeadLetters` over a list."""

    def __init__(self, *letters: DeadLetter) -> None:
        self._letters = {letter.message: letter for letter in letters}

    async def dead(self, *, limit: int) -> Sequence[DeadLetter]:
        """Give them without their words."""
        return [replace(letter, question=None) for letter in self._letters.values()][:limit]

    async def dead_letter(self, message: MessageRef) -> DeadLetter | None:
        """Give one."""
        return self._letters.get(message)

    async def revive(self, message: MessageRef) -> bool:
        """Take one out."""
        return self._letters.pop(message, None) is not None

    async def drop(self, message: MessageRef) -> bool:
        """Take one out."""
        return self._letters.pop(message, None) is not None


def dead(name: str, reason: str = "It broke.") -> DeadLetter:
    """A question that was given up at noon."""
    return DeadLetter(MessageRef(thread=thread(), id=name), NOON, attempts=3, reason=reason, can_be_retried=True)


async def test_a_reference_is_short_and_fits_one_question() -> None:
    """Its beginning is enough, and so is the message's id or whole name; upper case is no matter."""
    failed = await FailedQuestions.of(Letters(*(dead(str(number)) for number in range(50))))
    refs = list(failed.letters)

    assert len({len(ref) for ref in refs}) == 1
    assert len(refs[0]) <= 8
    for ref, letter in failed.letters.items():
        for words in (ref, ref.upper(), letter.message.id, str(letter.message)):
            assert failed.find(words) == (ref, letter)


@pytest.mark.promise("says-what-to-do")
async def test_a_reference_that_is_unclear_is_refused() -> None:
    """The ones that it fits are named; nothing, and what fits none, is told too."""
    failed = await FailedQuestions.of(Letters(*(dead(f"m{number}") for number in range(50))))
    shared = next(ref[0] for ref in failed.letters if sum(each.startswith(ref[0]) for each in failed.letters) > 1)

    with pytest.raises(InvalidInput, match=r"^. matches several questions: [0-9a-f]{7,}, .*\. Type more of it\.$"):
        failed.find(shared)
    for words in ("", "zzz", "m99"):
        with pytest.raises(InvalidInput, match=r"^No failed question .* Type footnote inbox list to see them\.$"):
            failed.find(words)


async def test_what_is_said_stays_in_its_columns() -> None:
    """A reason and a question with line breaks and control characters can move nothing on the screen."""
    wide = dead("1", reason="One\nline \x1b[2Jonly.")
    asked = question("What is a robot?\nAnd what\x1b[31m not?", id="2")
    kept = DeadLetter(asked.message, NOON, 3, "It broke.", can_be_retried=True, question=asked)
    inbox = Letters(wide, kept)

    lines = (await listed(inbox))[0].splitlines()
    story = (await shown(inbox, "2"))[0].splitlines()

    starts = [line.index(word) for line, word in zip(lines, ("reason", "One line [2Jonly.", "It broke."), strict=True)]
    assert len(set(starts)) == 1
    assert story[-2:] == ["question  What is a robot?", "          And what[31m not?"]
    assert NOON.astimezone().isoformat(" ", "seconds") in story[3]


@pytest.mark.promise("given-up-is-seen-to")
async def test_what_happens_next_is_told() -> None:
    """Who will answer depends on whether workers share the inbox; what has no words left stays, and is counted."""
    inbox = Letters(dead("1"), dead("2"), replace(dead("3"), can_be_retried=False))
    one, two, three = (await FailedQuestions.of(inbox)).letters

    first = await retried(inbox, one, is_shared=False)
    with pytest.raises(InvalidInput, match=rf"^The text of {three} is no longer stored, .* inbox drop {three} "):
        await retried(inbox, three, is_shared=True)
    others = await retried(inbox, None, is_shared=True)

    assert first == (f"One question is to be tried again. {LATER.format('it')}", {"retried": [one], "left": []})
    assert others == (
        (
            "One question is to be tried again. A worker will answer it. "
            "One question is left as before: the text is no longer stored."
        ),
        {"retried": [two], "left": [three]},
    )
    assert await dropped(inbox, None) == ("One question is removed, including the text.", {"dropped": [three]})


async def test_that_nothing_was_given_up_is_told() -> None:
    """In words, and for programs as an empty list."""
    assert await listed(Letters()) == (NONE, {"questions": []})
    assert await retried(Letters(), None, is_shared=True) == (NONE, {"retried": [], "left": []})
    assert await dropped(Letters(), None) == (NONE, {"dropped": []})


@pytest.mark.promise("doctor-counts")
@pytest.mark.parametrize(
    ("backlog", "is_shared", "says"),
    [
        (Backlog(), True, "0 questions waiting, 0 being answered"),
        (Backlog(waiting=1, running=2, oldest=60.0), True, "1 question waiting, 2 being answered"),
        (Backlog(dead=1), True, Advice("1 question failed: footnote inbox list")),
        (
            Backlog(waiting=2, oldest=61.2),
            True,
            "2 questions waiting, the oldest for 61 seconds. Is a worker running? `footnote run worker`",
        ),
        (
            Backlog(waiting=1, dead=2, oldest=timedelta(hours=1).total_seconds()),
            False,
            (
                "1 question waiting, the oldest for 3600 seconds. Is a worker running? `footnote run`. "
                "2 questions failed: footnote inbox list"
            ),
        ),
    ],
)
def test_the_doctor_judges_what_there_is_to_do(backlog: Backlog, is_shared: bool, says: str) -> None:
    """Waiting for long is wrong, what was given up is worth a look, and all else is well."""
    try:
        found = verdict(backlog, is_shared=is_shared)
    except Unavailable as error:
        found = str(error)
        assert backlog.oldest > 60

    assert (found, type(found)) == (says, type(says))
