"""A surface without a screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from core.model import (
    Claim,
    Delivery,
    Message,
    MessageRef,
    Progress,
    Reaction,
    Restarted,
    TextDelta,
    ThreadRef,
    Withdrawal,
)


class RecordingSurface:
    """Keeps all progress in `shown` and all reactions in `reactions`, in order.

    With `breaks_after` it raises `ConnectionError` once so many items were shown, as a closed terminal does. `recall`
    gives the newest of the *messages* that it was made with.
    """

    def __init__(self, *, breaks_after: int | None = None, messages: Sequence[Message] = ()) -> None:
        self.shown: list[Progress] = []
        self.reactions: list[tuple[MessageRef, Reaction]] = []
        self.withdrawn: list[Withdrawal] = []
        self._breaks_after = breaks_after
        self._messages = tuple(messages)

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Keep every item; the one message has the question's id with `-reply` behind it."""
        async for item in progress:
            self.shown.append(item)
            if len(self.shown) == self._breaks_after:
                raise ConnectionError("the surface was told to break")
        question = claim.question.message
        return Delivery(messages=(MessageRef(thread=question.thread, id=f"{question.id}-reply"),))

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Keep the reaction."""
        self.reactions.append((to, reaction))

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Keep it no more."""
        self.reactions = [each for each in self.reactions if each != (to, reaction)]

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Keep what was to be taken back."""
        self.withdrawn.append(withdrawal)

    async def recall(self, thread: ThreadRef, *, limit: int) -> Sequence[Message]:
        """Give the newest messages, oldest first."""
        return self._messages[max(len(self._messages) - limit, 0) :]


def streamed(shown: Sequence[Progress]) -> str:
    """Join what a reader has before their eyes when the stream ends, without the final answer."""
    text = ""
    for item in shown:
        match item:
            case TextDelta(piece):
                text += piece
            case Restarted():
                text = ""
            case _:
                pass
    return text
