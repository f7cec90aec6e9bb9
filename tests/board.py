"""A platform that only posts text, as somebody would add it: its functions, a dialect, and nothing else."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from aiohttp import ClientError, ClientSession

from adapters.chat.dialect import ChatDialect, MessageRenderer
from adapters.chat.pager import MOST_PARTS
from adapters.chat.platform import Barred, ChatPlatform, Destination, Part, Posted, nonce
from adapters.retry import retry_after
from core.answering.dialect import GAP
from core.errors import Gone, RateLimited, Rejected, Unreachable
from core.model import Answer, Claim, MessageRef, Reaction, Task, Withdrawal
from core.model.markup import Emphasis, Strike, Strong


class BoardDialect(ChatDialect):
    """Plain text; an at sign in front of a word would call somebody."""

    marks = {Strong: "", Emphasis: "", Strike: ""}  # noqa: RUF012 - it is never changed
    fence = ""
    links_footnotes = False  # the list of sources explains them
    marker = None
    nearest_title = "Nearest sections"

    def text(self, text: str) -> str:
        """Return words that call nobody."""
        return re.sub(r"@(?=\w|\Z)", f"@{GAP}", text)

    def code(self, text: str) -> str:
        """Return code as words."""
        return self.text(text)

    def code_line(self, text: str) -> str:
        """Return a line of code as words."""
        return self.text(text)

    def heading(self, level: int, text: str) -> str:
        """Return a heading as a line."""
        return text

    def link(self, url: str, label: str) -> str:
        """Return the words of a link, and where it leads."""
        return f"{label} ({self.text(url)})"

    def small_link(self, url: str, label: str) -> str:
        """Return the same in a list."""
        return f"{label} {self.text(url)}"


class BoardRenderer(MessageRenderer):
    """Draws one answer, with its sources and a remark below."""

    def __init__(self, remark: str) -> None:
        self._board = BoardDialect()
        super().__init__(self._board)
        self._remark = remark

    def whole(self, answer: Answer) -> Sequence[Part]:
        """Return the messages of a whole answer."""
        lines = [*self._board.sources(answer.citations), *self._board.sources(answer.nearest, are_near=True)]
        return self.drawn(answer, "\n".join(filter(None, [*(line.text for line in lines), self._remark])))


class BoardPoster:
    """A `Poster` for a thread."""

    def __init__(self, session: ClientSession, url: str, root: str) -> None:
        self._session = session
        self._url = url
        self._root = root

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message, or get the one with the same nonce."""
        body = {"root": self._root, "text": part.text, "nonce": nonce}
        said = await call(self._session, "POST", f"{self._url}/posts", body)
        return Posted(said["id"], part if said["text"] == part.text else None)

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace its text."""
        await call(self._session, "PUT", f"{self._url}/posts/{message_id}", {"text": part.text})

    async def delete(self, message_id: str) -> None:
        """Remove it."""
        await call(self._session, "DELETE", f"{self._url}/posts/{message_id}")


class BoardChat(ChatPlatform):
    """A board as a platform; its session asks for the lease before it changes anything."""

    def __init__(self, session: ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def destination(self, claim: Claim, remark: str) -> Destination:
        """Return the thread of the question."""
        return Destination(
            poster=BoardPoster(self._session, self._url, claim.message.thread.thread),
            renderer=BoardRenderer(remark),
            place=claim.message.thread,
            posted=[Posted(message.id) for message in claim.delivery.messages],
        )

    async def delete(self, message: MessageRef) -> None:
        """Remove a post."""
        await call(self._session, "DELETE", f"{self._url}/posts/{message.id}")

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a post."""
        await call(self._session, "PUT", f"{self._url}/posts/{to.id}/marks/{reaction}")

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Take the mark away."""
        await call(self._session, "DELETE", f"{self._url}/posts/{to.id}/marks/{reaction}")

    async def has_replies(self, withdrawal: Withdrawal) -> bool:
        """Return whether others have posted after the answer."""
        if not withdrawal.delivery.messages:
            return False
        said = await call(self._session, "GET", f"{self._url}/posts?root={withdrawal.message.thread.thread}")
        after = int(withdrawal.delivery.messages[0].id)
        ours = ("bot", withdrawal.asker_id)
        return any(int(one["id"]) > after and one["author"] not in ours for one in said)

    async def unknown(self, task: Task) -> Sequence[MessageRef]:
        """Return further posts of the answer that arrived although nobody knows."""
        said = await call(self._session, "GET", f"{self._url}/posts?root={task.message.thread.thread}")
        marks, known = {nonce(task.message, at) for at in range(MOST_PARTS)}, {one.id for one in task.delivery.standing}
        found = [one["id"] for one in said if one["nonce"] in marks and one["id"] not in known]
        return [MessageRef(thread=task.message.thread, id=each) for each in found]


async def call(session: ClientSession, method: str, url: str, body: Any = None) -> Any:
    """Return what the board answers. Raises `PostingFailed`."""
    try:
        async with session.request(method, url, json=body) as response:
            match response.status:
                case 200:
                    return await response.json()
                case 403:
                    raise Barred("the thread is closed")
                case 410:
                    raise Gone("somebody deleted it")
                case 429:
                    raise RateLimited(retry_after(response.headers) or 1.0)
                case status:
                    raise Unreachable(f"status {status}") if status >= 500 else Rejected(f"status {status}")
    except (ClientError, OSError, TimeoutError) as error:
        raise Unreachable(type(error).__name__) from error
