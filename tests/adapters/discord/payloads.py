"""Gateway events in the shape in which Discord documents them; only what matters to a test has to be named."""

from __future__ import annotations

from typing import Any, TypeAlias

from adapters.chat.platform import BotIdentity
from adapters.discord.events import ChannelInfo

Json: TypeAlias = dict[str, Any]

BOT, BOT_ROLE, ADA, BOB = "900", "901", "80351110224678912", "53908232506183680"
GUILD, CHANNEL, THREAD, MESSAGE = "290926798626357999", "290926798999357250", "334385199974967042", "334385199974967099"
AT = "2017-07-11T17:27:07.299000+00:00"
EDITED_AT = "2017-07-11T17:28:00.500000+00:00"

ME = BotIdentity(user_id=BOT, role_ids=frozenset({BOT_ROLE}))
IN_CHANNEL = ChannelInfo(id=CHANNEL, type=0)
IN_THREAD = ChannelInfo(id=THREAD, type=11, parent_id=CHANNEL)
IN_DIRECT = ChannelInfo(id=CHANNEL, type=1)


def user(user_id: str = ADA, name: str = "ada", **fields: Any) -> Json:
    """A user object."""
    standard = {
        "id": user_id,
        "username": name,
        "discriminator": "0",
        "global_name": name.capitalize(),
        "avatar": "a_bab14f271d565501444b2ca3be944b25",
        "public_flags": 0,
    }
    return {**standard, **fields}


ROBOT = user(BOT, "footnote", bot=True)


def message(content: str = "What is a robot?", **fields: Any) -> Json:
    """A message object with the fields that the gateway adds in a guild."""
    standard: Json = {
        "id": MESSAGE,
        "type": 0,
        "channel_id": CHANNEL,
        "guild_id": GUILD,
        "content": content,
        "author": user(),
        "member": {"nick": "Ada L.", "roles": [], "joined_at": AT, "deaf": False, "mute": False},
        "timestamp": AT,
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "components": [],
        "pinned": False,
        "flags": 0,
        "nonce": "1000000000000000000",
    }
    return {**standard, **fields}


def created(content: str = "What is a robot?", **fields: Any) -> Json:
    """The event of a new message."""
    return {"op": 0, "s": 42, "t": "MESSAGE_CREATE", "d": message(content, **fields)}


def updated(content: str = "What is a robot?", **fields: Any) -> Json:
    """The event of a message that somebody edited."""
    return {"op": 0, "s": 43, "t": "MESSAGE_UPDATE", "d": message(content, **{"edited_timestamp": EDITED_AT, **fields})}


def mentioning(content: str = f"<@{BOT}> What is a robot?", **fields: Any) -> Json:
    """The event of a message that mentions the bot."""
    return created(content, **{"mentions": [ROBOT], **fields})


def replying(content: str, to: Json, *, ping: bool, **fields: Any) -> Json:
    """The event of a reply."""
    reference = {"type": 0, "message_id": to["id"], "channel_id": to["channel_id"], "guild_id": to["guild_id"]}
    reply = {
        "type": 19,
        "message_reference": reference,
        "referenced_message": to,
        "mentions": [to["author"]] if ping else [],
    }
    return created(content, **{**reply, **fields})


def deleted(**fields: Any) -> Json:
    """The event of a message that is gone."""
    return {"t": "MESSAGE_DELETE", "d": {"id": MESSAGE, "channel_id": CHANNEL, "guild_id": GUILD, **fields}}
