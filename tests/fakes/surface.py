"""A surface without a screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

from core.answering.citations import Footnotes, Remembered
from core.answering.dialect import MARKDOWN
from core.answering.markup import MarkupReader
from core.model import (
    Citation,
    Claim,
    Delivery,
    Drafted,
    MessageRef,
    PartialAnswer,
    Progress,
    Reaction,
    Restarted,
    Withdrawal,
    WorkspaceRef,
)


class RecordingSurface:
    """Keeps all progress in `shown`, all refusals in `refused` and all reactions in `reactions`, in order.

    What moderators are told is in `alerts`, and what was answered in `claims`.

    With `breaks_after` it raises `ConnectionError` once so many items were shown, as a closed terminal does.
    """

    def __init__(self, *, breaks_after: int | None = None) -> None:
        self.shown: list[Progress] = []
        self.reactions: list[tuple[MessageRef, Reaction]] = []
        self.refused: list[str] = []
        self.alerts: list[tuple[WorkspaceRef, str]] = []
        self.withdrawn: list[Withdrawal] = []
        self.stands: Delivery | None = None
        self.claims: list[Claim] = []
        self._breaks_after = breaks_after

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Keep every item; the one message has the question's id with `-reply` behind it."""
        self.claims.append(claim)
        async for item in progress:
            self.shown.append(item)
            if len(self.shown) == self._breaks_after:
                raise ConnectionError("the surface was told to break")
        question = claim.question.message
        return Delivery(messages=(MessageRef(thread=question.thread, id=f"{question.id}-reply"),))

    async def standing(self, claim: Claim) -> Delivery | None:
        """Give what the test has set."""
        return self.stands

    async def refuse(self, claim: Claim, sentence: str) -> Delivery:
        """Keep the sentence; no message of an answer stands for it."""
        self.refused.append(sentence)
        return Delivery()

    async def react(self, claim: Claim, reaction: Reaction) -> None:
        """Keep the reaction."""
        self.reactions.append((claim.message, reaction))

    async def unreact(self, claim: Claim, reaction: Reaction) -> None:
        """Keep it no more."""
        self.reactions = [each for each in self.reactions if each != (claim.message, reaction)]

    async def alert(self, home: WorkspaceRef, sentence: str) -> None:
        """Keep what moderators are told."""
        self.alerts.append((home, sentence))

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Keep what was to be taken back."""
        self.withdrawn.append(withdrawal)


def drafted(text: str, *citations: Citation) -> Drafted:
    """Say that so much of an answer has been written."""
    reader = MarkupReader(Footnotes(Remembered(citations)))
    reader.feed(text)
    return Drafted(reader)


def text_of(draft: PartialAnswer) -> str:
    """Write down what is certain of an answer."""
    return MARKDOWN.write([block for blocks in draft.read() for block in blocks])


def seen(shown: Iterable[Progress]) -> list[Progress | str]:
    """Give what a reader has seen, in order: of each text its last state."""
    states: list[Progress | str] = []
    before: PartialAnswer | None = None
    for item in shown:
        if isinstance(item, Drafted):
            if item.answer is not before:
                states.append(text_of(item.answer))
            before = item.answer
        else:
            states.append(item)
    return states


def streamed(shown: Sequence[Progress]) -> str:
    """Give what a reader has before their eyes when the stream ends, without the final answer."""
    text = ""
    for item in shown:
        match item:
            case Drafted(draft):
                text = text_of(draft)
            case Restarted():
                text = ""
            case _:
                pass
    return text
