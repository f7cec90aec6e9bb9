"""The tag "answered" of a forum's post, which a forum may have, however it is spelt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.discord.poster import translated

if TYPE_CHECKING:
    from discord import Client

TAG = "answered"
MOST_TAGS = 5  # Discord takes no more on a post


def is_for_answered(name: str) -> bool:
    """Return whether a tag has that name."""
    return name.strip().casefold() == TAG


async def tag_answered(client: Client, forum: str, post: str, *, by: str = "", on: bool = True) -> None:
    """Put the tag on a post, or take it off and reopen the post; *by* is whose post it has to be, if that matters.

    Nothing is done where the channel is no forum with such a tag, the post has it already, or has no room for it.
    Raises `PostingFailed`.
    """
    tags: Any = (await translated(client.http.get_channel(int(forum)))).get("available_tags") or ()
    names = {str(one["id"]): str(one.get("name", "")) for one in tags}
    tag = next((each for each, name in names.items() if is_for_answered(name)), None)
    if tag is None:
        return
    found: Any = await translated(client.http.get_channel(int(post)))
    has = [str(each) for each in found.get("applied_tags") or () if str(each) in names]  # the forum may have lost some
    others = [each for each in has if each != tag]
    if (tag in has) == on or (on and len(others) >= MOST_TAGS) or by not in ("", str(found.get("owner_id"))):
        return
    changed: Any = {"applied_tags": [*has, tag]} if on else {"applied_tags": others, "archived": False}
    reason = "The question was answered" if on else "The answer did not help"
    await translated(client.http.edit_channel(int(post), **changed, reason=reason))
