"""What somebody used, pressed or sent on Discord: by whom and where, and how that is acknowledged and answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import discord
from discord import AllowedMentions, AutoShardedClient, HTTPException, InteractionResponseType, Thread
from discord.http import Route
from discord.utils import format_dt

from adapters.chat.registry import CommandContext, carried_out
from adapters.discord.dialect import DISCORD
from adapters.discord.events import DIRECT, DIRECT_MESSAGES, HAVE_THREADS, PLATFORM, SETTINGS, ChannelInfo
from adapters.discord.poster import NAMES, translated
from adapters.discord.registering import ADMIN
from adapters.discord.responses import SUPPRESS_EMBEDS
from adapters.discord.tags import TAG, is_for_answered
from adapters.retry import ACKNOWLEDGEMENT, NOT_NOW, QUICK
from core.errors import Gone, PostingFailed, Rejected, Unreachable
from core.messages import Drawing, Forms
from core.model import (
    Actor,
    Asker,
    Inbound,
    Interaction,
    MessageRef,
    Person,
    Question,
    ReplyAddress,
    Setting,
    ThreadRef,
    WorkspaceRef,
)

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices
    from adapters.discord.moderators import DiscordModerators

DiscordInteraction: TypeAlias = discord.Interaction[Any]

DRAWING = Drawing(
    plain=DISCORD.on_one_line,
    moment=partial(format_dt, style="R"),
    bullet="-",
    resume=f"`/{ADMIN} resume`",
    page=f"`/{ADMIN} status page:{{}}`",
)
ON_DISCORD = partial(CommandContext, drawing=DRAWING, forms=Forms(), dialect=DISCORD)

UNKNOWN = -1  # a type of channel
TOKEN_LIFE = timedelta(minutes=15) - timedelta(seconds=30)  # Discord's, less what a clock or a call may be late
DIRECT_HOME = WorkspaceRef(platform=PLATFORM, workspace=DIRECT_MESSAGES)
ORIGINAL = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
NO_INTERACTION = frozenset({10008, 10015, 50027})  # no such message or webhook, and a token that has expired
ACKNOWLEDGED = 40060  # the interaction was answered before
LOADING = 1 << 7


@dataclass(frozen=True, slots=True)
class DiscordServices:
    """What all that people use works with: the services of every platform, and who moderates on Discord."""

    chat: ChatServices
    moderators: DiscordModerators


def context_of(services: DiscordServices, interaction: DiscordInteraction) -> CommandContext:
    """Return who uses something, and where."""
    place = message_of(interaction).thread
    home = place.home

    async def actor() -> Actor:
        is_here = interaction.guild_id is not None and not is_outside(interaction)
        is_admin = is_here and interaction.permissions.manage_guild
        may_moderate = is_admin or (
            is_here and await services.moderators.may_moderate(interaction, home, place.channel)
        )
        return Actor(person=person_of(interaction), home=home, may_moderate=may_moderate, is_admin=is_admin)

    return ON_DISCORD(
        services=services.chat,
        person=person_of(interaction),
        homes=tuple(dict.fromkeys((home, DIRECT_HOME))),
        thread=_thread_of(interaction),
        is_direct=interaction.guild_id is None and not is_outside(interaction),
        actor=actor,
        asker=Asker(home=home, person_id=str(interaction.user.id), channel=place.channel, is_alone=True),
        may_manage=interaction.permissions.manage_messages,
        lacking=_lacking(interaction),
    )


def _lacking(interaction: DiscordInteraction) -> list[str]:
    """Return what the bot would need where somebody is and may not, as Discord calls it."""
    post, needs = interaction.channel, NAMES
    if isinstance(post, Thread) and any(
        is_for_answered(tag.name) for tag in getattr(post.parent, "available_tags", ())
    ):
        needs = NAMES | {"manage_threads": f'Manage Threads (for the tag "{TAG}")'}
    return [words for name, words in needs.items() if not getattr(interaction.app_permissions, name)]


def by_word(services: ChatServices, inbound: Inbound) -> CommandContext:
    """Return who has said a word that stands for a command, and where; it is none that moderators have."""
    home, person = inbound.message.thread.home, inbound.author or Person(id="")
    is_direct = inbound.setting is Setting.DIRECT

    async def actor() -> Actor:
        return Actor(person=person, home=home, may_moderate=False)

    return ON_DISCORD(
        services=services,
        person=person,
        homes=(home,),
        thread=None if inbound.setting is Setting.CHANNEL else inbound.message.thread,
        is_direct=is_direct,
        actor=actor,
        asker=Asker(home=home, person_id=person.id, channel=inbound.message.thread.channel, is_alone=is_direct),
    )


def is_outside(interaction: DiscordInteraction) -> bool:
    """Return whether somebody has brought the bot along who installed it for themselves, to where it is not.

    There they count as in direct messages, and all that they are told is for them alone. In direct messages with the
    bot itself nobody has to bring it.
    """
    if interaction.guild_id is None:
        return bool(interaction.context.private_channel)
    return interaction.is_user_integration() and not interaction.is_guild_integration()


def person_of(interaction: DiscordInteraction) -> Person:
    """Return who did it, under the name that others see here."""
    return Person(id=str(interaction.user.id), name=interaction.user.display_name)


def message_of(interaction: DiscordInteraction, channel: str = "", thread: str = "", message: str = "") -> MessageRef:
    """Return the message of these ids in the server where something was used.

    Without them that is what only one person sees: it is in no thread, and goes by the interaction's own id.
    """
    place = _place_of(interaction)
    ref = ThreadRef(
        platform=PLATFORM,
        workspace=DIRECT_MESSAGES if is_outside(interaction) else str(interaction.guild_id or DIRECT_MESSAGES),
        channel=channel or place.parent_id or place.id,
        thread=thread or str(interaction.id),
    )
    return MessageRef(thread=ref, id=message or str(interaction.id))


def _place_of(interaction: DiscordInteraction) -> ChannelInfo:
    channel = interaction.channel
    kind = DIRECT if interaction.guild_id is None else channel.type.value if channel else UNKNOWN
    kind = UNKNOWN if is_outside(interaction) else kind
    parent = str(channel.parent_id) if isinstance(channel, discord.Thread) else ""
    return ChannelInfo(str(interaction.channel_id), kind, parent)


def _thread_of(interaction: DiscordInteraction) -> ThreadRef | None:
    """Return the conversation that goes on here; a channel of a server holds many, and is none."""
    place = _place_of(interaction)
    return message_of(interaction, thread=place.id).thread if place.type in SETTINGS else None


def address_of(interaction: DiscordInteraction, question: Question) -> ReplyAddress:
    """Return where the answer goes: in the interaction's name while that may be, afterwards in the bot's own.

    The message that Discord will show for it takes the place of the question's, and its thread where none goes on here
    and where the bot may open one and write in it.
    """
    token = Interaction(id=str(interaction.id), token=interaction.token, expires_at=interaction.created_at + TOKEN_LIFE)
    if question.visibility == "private":
        return ReplyAddress(thread=question.message.thread, interaction=token)
    mine = interaction.app_permissions
    may_open = mine.view_channel and mine.create_public_threads and mine.send_messages_in_threads
    opens = interaction.guild_id is not None and _place_of(interaction).type in HAVE_THREADS and may_open
    thread = _thread_of(interaction) or question.message.thread
    return ReplyAddress(thread=thread, message=question.message if opens else None, interaction=token)


async def privately(interaction: DiscordInteraction, act: Callable[[], Awaitable[str]]) -> None:
    """Acknowledge, do what was wanted, and say how it went, all of which one person sees."""
    if await deferred(interaction, private=True):
        await carried_out(act, partial(tell, interaction))


async def deferred(interaction: DiscordInteraction, *, private: bool) -> str | None:
    """Show that an answer is on its way, and return its message's id.

    None if it is too late or was answered before, as with interactions that come again: then nothing must follow.
    """
    try:
        receipt = await ACKNOWLEDGEMENT.call(
            lambda: translated(interaction.response.defer(ephemeral=private, thinking=True))
        )
    except Unreachable:
        pass
    except PostingFailed as failure:
        cause = failure.__cause__
        if not isinstance(cause, HTTPException) or cause.code != ACKNOWLEDGED:
            return None  # otherwise it was by a try before, of ours or of the library
    else:
        return str(receipt.message_id) if receipt and receipt.message_id else None
    with suppress(PostingFailed):
        return await awaited(interaction.client, interaction.token)
    return None


async def awaited(client: AutoShardedClient, token: str) -> str | None:
    """Return the id of the message with which Discord shows for an interaction that an answer is on its way.

    None where that was never so, is over, or something has been said in its place. Raises `PostingFailed` where Discord
    does not say.
    """
    route = Route("GET", ORIGINAL, webhook_id=client.application_id or 0, webhook_token=token)
    try:
        found = await translated(client.http.request(route), gone=NO_INTERACTION)
    except (Gone, Rejected):
        return None
    return str(found["id"]) if found["flags"] & LOADING else None


async def is_taken(reply: Awaitable[object]) -> bool:
    """Return whether Discord takes the first reply to something; False if it is too late or was done before."""
    try:
        await translated(reply)
    except PostingFailed:
        return False
    return True


async def tell(interaction: DiscordInteraction, text: str) -> bool:
    """Show words to the one person who did it, in whatever way is left; nothing is raised if there is none.

    Returns False where Discord cannot be reached now.
    """
    first, limit = text, DISCORD.limit
    if len(text) > limit:  # as many whole lines as fit, or the beginning of the first one
        first = text[:limit].rpartition("\n")[0] or text[: limit - 1] + "…"
    try:
        await QUICK.call(lambda: translated(_say(interaction, first)))
    except PostingFailed as failure:
        return not isinstance(failure, NOT_NOW)
    return True


async def _say(interaction: DiscordInteraction, text: str) -> None:
    nobody = AllowedMentions.none()
    if not interaction.response.is_done():
        try:
            await interaction.response.send_message(text, ephemeral=True, suppress_embeds=True, allowed_mentions=nobody)
        except HTTPException as refused:
            if refused.code != ACKNOWLEDGED:
                raise
            if not await awaited(interaction.client, interaction.token):
                return
        else:
            return
    elif interaction.response.type is not InteractionResponseType.deferred_channel_message:
        await interaction.followup.send(text, ephemeral=True, suppress_embeds=True, allowed_mentions=nobody)
        return
    # It takes the place of the sign that an answer is on its way; the library's own edit cannot suppress previews.
    route = Route("PATCH", ORIGINAL, webhook_id=interaction.application_id, webhook_token=interaction.token)
    body: dict[str, object] = {"content": text, "flags": SUPPRESS_EMBEDS, "allowed_mentions": {"parse": []}}
    await interaction.client.http.request(route, json=body)
