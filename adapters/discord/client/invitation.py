"""The link by which somebody invites the bot, with the least that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discord import Permissions

SCOPES = ("bot", "applications.commands")


def needed() -> Permissions:
    """Return what the bot has to be allowed to see questions, answer them in threads, and mark them."""
    from discord import Permissions

    return Permissions(
        view_channel=True,
        read_message_history=True,
        send_messages=True,
        create_public_threads=True,
        send_messages_in_threads=True,
        add_reactions=True,
    )


def invitation(application_id: int) -> str:
    """Return the link."""
    from discord.utils import oauth_url

    return oauth_url(application_id, permissions=needed(), scopes=SCOPES)
