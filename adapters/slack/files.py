"""Finds the files of messages on Slack, and reads them with the bot's token, which goes to Slack alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from adapters.chat.files import Download, FileLink, NotRead, origin
from adapters.slack.api import Denied, ask
from core.errors import Gone
from core.model import Unread, without_controls

if TYPE_CHECKING:
    from adapters.slack.workspaces import Workspace

HOSTS = ("https://files.slack.com", "https://files.slack-gov.com")  # the second for governments
LONGEST_FILE = 1.5  # seconds; Slack waits for three in all until it hears that the question has arrived
STUB = "check_file_info"  # of a shared channel, where events leave out all but the id
NOT_THERE = frozenset({"file_not_found", "file_deleted"})

Json: TypeAlias = Mapping[str, Any]


def parts_of(said: Json, name: str) -> Sequence[Json]:
    """Return the parts of a message under a name; other apps may have made them, and what is none is left out."""
    parts: object = said.get(name)
    return [each for each in cast("list[Json]", parts) if isinstance(each, dict)] if isinstance(parts, list) else []


def words_of(part: Json, *names: str) -> str:
    """Return the first text in a part of a message under one of the names, without what nobody sees."""
    found = (part.get(name) for name in names)
    return without_controls(next((each for each in found if isinstance(each, str) and each), ""))


def shares_in(said: Json) -> Sequence[Json]:
    """Return the messages that one forwards; previews of pages and messages are nobody's words."""
    return [each for each in parts_of(said, "attachments") if each.get("is_share")]


def files_in(said: Json, *, is_quoted: bool = False) -> Sequence[FileLink]:
    """Return the files of a message, and then those of what it forwards, which others have written."""
    return [
        replace(_link(each), is_quoted=is_quoted or one is not said)
        for one in (said, *shares_in(said))
        for each in parts_of(one, "files")
    ]


def _link(file: Json) -> FileLink:
    access, size = words_of(file, "file_access"), file.get("size")
    why = None
    if file.get("mode") in ("tombstone", "hidden_by_limit") or access in NOT_THERE:
        why = Unread.GONE
    elif file.get("is_external") or access == "access_denied":
        why = Unread.DENIED
    return FileLink(
        name=words_of(file, "name", "title"),
        url="" if access == STUB else words_of(file, "url_private"),
        size=size if isinstance(size, int) else 0,
        kind=words_of(file, "mimetype"),
        id=words_of(file, "id"),
        why=why,
    )


async def fetch(workspace: Workspace, link: FileLink) -> tuple[str, bytes]:
    """Return the name of a file and what is in it, looked up first where an event left that out.

    Raises `NotRead`, or another `PostingFailed`.
    """
    client = workspace.client
    if not link.url:
        try:
            found = await ask(client, "files.info", file=link.id)
        except Gone:
            raise NotRead(Unread.GONE) from None
        except Denied as refused:
            raise NotRead(Unread.GONE if refused.code in NOT_THERE else Unread.DENIED) from refused
        link = _link(cast("Json", found.get("file") or {}))
        if link.unread is not None:
            raise NotRead(link.unread)
    session = client.session
    download = Download(
        session.connector if session else None,
        {*map(origin, HOSTS), origin(client.base_url)},
        {"Authorization": f"Bearer {client.token}"},
        proxy=client.proxy,
    )
    return link.name, await download(link.url, kind=link.kind)
