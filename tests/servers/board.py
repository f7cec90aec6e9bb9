"""A board where people post text in threads: a small platform over HTTP, with nonces and nothing else to help a bot.

`POST /posts`, `PUT` and `DELETE /posts/{id}`, `GET /posts?root={id}`, `PUT` and `DELETE /posts/{id}/marks/{mark}`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.faults import Faults, met
from tests.servers.listener import Listener

BOT = "bot"
JSON = "application/json"


@dataclass
class Post:
    """A post; the first one of a thread is its own root."""

    id: str
    root: str
    author: str
    text: str
    nonce: str = ""
    is_deleted: bool = False
    marks: set[str] = field(default_factory=set[str])


@dataclass(frozen=True, slots=True)
class Handled:
    """A request as it came, by its route."""

    route: str
    body: Any


class BoardServer(Listener):
    """One board, on a port of this machine; in threads that are `closed` the bot may do nothing."""

    def __init__(self) -> None:
        super().__init__(self._handle)
        self.faults = Faults()
        self.posts: dict[str, Post] = {}
        self.closed: set[str] = set()
        self.requests: list[Handled] = []

    def post_as(self, author: str, text: str, root: str = "", nonce: str = "") -> Post:
        """Post something, in a thread if one is named."""
        name = str(len(self.posts) + 1)
        post = self.posts[name] = Post(name, root or name, author, text, nonce)
        return post

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        parts = request.path.strip("/").split("/")
        route = " ".join([request.method, *("{id}" if part in self.posts else part for part in parts)])
        body: Any = await request.json() if request.can_read_body else {}
        self.requests.append(Handled(route, body))
        return await met(self.faults.take(route), request, lambda: self._answer(request, parts, body), JSON)

    def _answer(self, request: web.Request, parts: list[str], body: Any) -> web.Response:
        """Carry out a request of the bot's."""
        if request.method == "GET":
            root = request.query["root"]
            return web.json_response([_shown(post) for post in self.posts.values() if post.root == root])
        post = self.posts.get(parts[1]) if len(parts) > 1 else self._known(body["nonce"])
        root = post.root if post else str(body.get("root", ""))
        if root in self.closed:
            return web.json_response({"error": "closed"}, status=403)
        if (post is not None and post.is_deleted) or (post is None and len(parts) > 1):
            return web.json_response({"error": "gone"}, status=410)
        if post is None:
            post = self.post_as(BOT, body["text"], root, body["nonce"])
        elif len(parts) > 2:
            (post.marks.add if request.method == "PUT" else post.marks.discard)(parts[3])
        elif request.method == "DELETE":
            post.is_deleted = True
        elif request.method == "PUT":
            post.text = body["text"]
        return web.json_response(_shown(post))

    def _known(self, nonce: str) -> Post | None:
        return next((post for post in self.posts.values() if post.nonce == nonce), None)


def _shown(post: Post) -> dict[str, Any]:
    return {"id": post.id, "author": post.author, "text": post.text, "nonce": post.nonce, "is_deleted": post.is_deleted}
