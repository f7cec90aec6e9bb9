"""Cuts a conversation down to what fits in front of a question: at most 50 messages, and a budget of tokens."""

from __future__ import annotations

from core.answering.dialect import without_marks
from core.model import ChatMessage, Conversation, Turn

MESSAGE_LIMIT = 50
BYTES_PER_TOKEN = 4.0  # of UTF-8, for mixed text; counts 6,500 where a large model's tokenizer counts 6,401


class TokenEstimate:
    """Estimates tokens from bytes, and learns the real ratio from what the model's service reports.

    Nothing is downloaded for it, as exact tokenizers would have to be.
    """

    def __init__(self) -> None:
        self._bytes_per_token = BYTES_PER_TOKEN

    def tokens(self, *texts: str) -> int:
        """Estimate the tokens of all *texts* together."""
        return round(sum(len(text.encode(errors="replace")) for text in texts) / self._bytes_per_token)

    def learn(self, size: int, tokens: int) -> None:
        """Take in that *size* bytes were counted as *tokens*; one odd report does not turn the estimate over."""
        if size > 0 and tokens > 0:
            ratio = min(max(size / tokens, 1.0), 8.0)
            self._bytes_per_token += 0.2 * (ratio - self._bytes_per_token)


def history(conversation: Conversation | None, *, budget: int, estimate: TokenEstimate) -> tuple[ChatMessage, ...]:
    """Return the newest whole turns that fit, oldest first, in the chat format.

    Marks are taken out, since their numbers mean nothing in a new answer; tool calls are not replayed.
    """
    kept: list[ChatMessage] = []
    for turn in reversed(conversation.turns if conversation else ()):
        messages = _messages(turn)
        budget -= estimate.tokens(*(message["content"] for message in messages))
        if budget < 0 or len(kept) + len(messages) > MESSAGE_LIMIT:
            break
        kept[:0] = messages
    return tuple(kept)


def _messages(turn: Turn) -> list[ChatMessage]:
    return [
        {"role": "user", "content": turn.question},
        {"role": "assistant", "content": without_marks(turn.answer)},
    ]
