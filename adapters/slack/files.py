"""Finds the files of messages on Slack, and reads them with the bot's token, which goes to Slack alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from adapters.chat.files import Download, FileLink, NotRead, origin
from adapters.slack.api import Denied, ask
from core.errors import Gone
from core.model import Unread

if TYPE_CHECKING:
    from adapters.slack.workspaces import Workspace

HOSTS = ("https://files.slack.com", "https://files.slack-gov.com")  # the second for governments
LONGEST_FILE = 1.5  # seconds; Slack waits for three in all until it hears that the question has arrived
STUB = "check_file_info"  # of a shared channel, where events leave out all but the id
NOT_THERE = frozenset({"file_not_found", "file_deleted"})

Json: TypeAlias = Mapping[str, Any]


def shares_in(said: Json) -> Sequence[Json]:
    """Return the messages that one forwards; previews of pages and messages are nobody's words."""
    return [each for each in cast("Sequence[Json]", said.get("attachments") or ()) if each.get("is_share")]


def files_in(said: Json, *, is_quoted: bool = False) -> Sequence[FileLink]:
    """Return the files of a message, and then those of what it forwards, which others have written."""
    return [
        replace(_link(each), is_quoted=is_quoted or one is not said)
        for one in (said, *shares_in(said))
        for each in cast("Sequence[Json]", one.get("files") or ())
    ]


def _link(file: Json) -> FileLink:
    access, mode = file.get("file_access"), file.get("mode")
    why = None
    if mode in ("tombstone", "hidden_by_limit") or access in NOT_THERE:
        why = Unread.GONE
    elif file.get("is_external") or access == "access_denied":
        why = Unread.DENIED
    return FileLink(
        name=str(file.get("name") or file.get("title") or ""),
        url="" if access == STUB else str(file.get("url_private") or ""),
        size=int(file.get("size") or 0),
        kind=str(file.get("mimetype") or ""),
        id=str(file.get("id") or ""),
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
