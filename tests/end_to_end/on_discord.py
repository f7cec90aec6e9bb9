"""A community on Discord: a guild with one channel, where people reply, press buttons and use commands."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from adapters.chat.commands import command_named
from adapters.chat.platform import Controls
from adapters.discord.responses import FILLED
from core import messages
from tests.end_to_end.community import PATIENCE, Abroad, Room
from tests.servers.discord import TOKEN, Channel, DiscordServer, Interaction, Message, Permission, Upload, User

NONCES_GONE = 400.0  # seconds
UNREACT = "DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/@me"


@dataclass
class DiscordCommunity:
    """A guild with one channel."""

    server: DiscordServer = field(default_factory=DiscordServer)
    help: str = messages.help_text(messages.Forms())
    hides_answers: bool = False
    reads_direct: bool = False
    tells_alone: bool = False

    def __post_init__(self) -> None:
        """Let people in."""
        self.guild = self.server.add_guild()
        self.channel = self.server.add_channel(self.guild)
        self.ada, self.bob = (self.server.add_member(self.guild, name) for name in ("Ada", "Bob"))
        self.moderator = self.server.add_member(self.guild, "Mod", permissions=Permission.MANAGE_GUILD)
        self.people = {"Ada": self.ada, "Bob": self.bob, "Mod": self.moderator}
        self.forum = self.server.add_channel(self.guild, "help", forum=True)
        begun = self.server.post_as(self.bob, self.channel, "Let us talk about robots.")
        bare = self.server.add_channel(self.guild, "bare")
        self.server.deny(bare, Permission.CREATE_PUBLIC_THREADS)
        talk, direct = self.server.thread_as(self.bob, begun), self.server.dm(self.ada)
        self.rooms: dict[Room | Abroad, Channel] = {Room.SHARED: talk, Room.REPLY: bare, Room.DIRECT: direct}
        self._places: dict[str, Channel] = {}

    def open(self) -> contextlib.AbstractAsyncContextManager[object]:
        """Run the platform while the block runs."""
        return self.server

    def settings(self) -> dict[str, str]:
        """Give the settings with which the bot is there."""
        return {
            "DISCORD_TOKEN": self.server.token,
            "DISCORD_API_URL": self.server.api_url,
            "DISCORD_GATEWAY_URL": self.server.gateway_url,
            "DISCORD_MESSAGE_CONTENT": "true",
        }

    async def ready(self) -> None:
        """Wait until the bot hears what is written."""
        await self.server.connected(seconds=PATIENCE)

    async def until(self, is_true: Callable[[], object], *, what: str) -> None:
        """Return as soon as *is_true* says so."""
        await self.server.until(is_true, what=what, seconds=PATIENCE)

    def ask(
        self,
        text: str = "What is a robot?",
        *,
        by: str = "Ada",
        below: str | None = None,
        room: Room | Abroad = Room.CHANNEL,
    ) -> str:
        """Mention the bot, in a reply if something is below it."""
        said, place = self.server.post_as(self.bob, self.channel, below) if below else None, self.rooms.get(room)
        if room is Room.OWN:
            words = f"{self.server.bot.mention} {text}"
            post, first = self.server.post_in_forum_as(self.people[by], self.forum, "Stuck", words)
            self._places[str(first.id)] = post
            return str(first.id)
        mentions = [] if room in (Room.DIRECT, Abroad.DIRECT) else [self.server.bot]
        where = place or self.channel
        posted = self.server.post_as(self.people[by], where, text, mentions=mentions, reply_to=said)
        if place is not None and room is not Room.ABROAD:
            self._places[str(posted.id)] = place
        return str(posted.id)

    def attach(self, *uploads: Upload, text: str = "", direct: bool = False) -> str:
        """Put them beside it."""
        place = self.rooms[Room.DIRECT] if direct else self.channel
        words = text if direct else f"{self.server.bot.mention} {text}"
        posted = self.server.upload_as(self.ada, place, *uploads, text=words)
        if direct:
            self._places[str(posted.id)] = place
        return str(posted.id)

    def forward(self, text: str, *uploads: Upload) -> str:
        """Forward it to direct messages."""
        place, said = self.rooms[Room.DIRECT], self.server.upload_as(self.bob, self.channel, *uploads, text=text)
        posted = self.server.forward_as(self.ada, place, said)
        self._places[str(posted.id)] = place
        return str(posted.id)

    def quoted(self, text: str) -> str:
        """Give it with his name."""
        return f"{self.bob.name}: {text}"

    def follow_up(self, asked: str, text: str, *, by: str = "Ada") -> str:
        """Write in the thread."""
        return str(self.server.post_as(self.people[by], self._thread(asked), text).id)

    def address(self, asked: str, text: str, *, by: str = "Ada") -> None:
        """Mention it in the thread."""
        self.server.post_as(self.people[by], self._thread(asked), text, mentions=[self.server.bot])

    def say(self, text: str, *, by: str = "Ada") -> str:
        """Write in the channel."""
        return str(self.server.post_as(self.people[by], self.channel, text).id)

    async def answer_unasked(self, *, on: bool = True) -> str:
        """Use the moderators' command."""
        return await self.command("auto-answer", moderates=True, on=on, channel=self.channel)

    def chat(self, asked: str, text: str) -> None:
        """Write to Ada."""
        self.server.post_as(self.bob, self._thread(asked), text, mentions=[self.ada])

    def edit(self, asked: str, text: str) -> None:
        """Change the question, the mention included."""
        message = self._message(asked)
        author = self.server.platform.users[message.author_id]
        self.server.edit_as(author, message, f"{self.server.bot.mention} {text}")

    def delete(self, asked: str) -> None:
        """Delete the question."""
        message = self._message(asked)
        self.server.delete_as(self.server.platform.users[message.author_id], message)

    def delete_answer(self, asked: str, *, part: int = 0) -> None:
        """Delete it, and another one with it, as moderators do with several."""
        place, gone = self._thread(asked), [self._of_bot(asked)[part]]
        if place.guild_id is not None:  # in direct messages, it would be a question to the bot
            gone.append(self.server.post_as(self.bob, place, "Nothing of this.", mentions=[self.ada]))
        self.server.delete_as(self.moderator, *gone)

    def repeat(self, asked: str) -> None:
        """Tell of it as after a reconnect."""
        self.server.repeat(self._message(asked))

    def tell_again(self, asked: str) -> None:
        """Tell of it as after a reconnect, once the nonces of what was posted have expired."""
        self.server.clock.advance(NONCES_GONE)
        self.repeat(asked)

    def said(self, asked: str) -> list[str]:
        """Read the thread on the question."""
        return [message.content for message in self._of_bot(asked)]

    def told(self, asked: str) -> list[str]:
        """Read the replies outside of a thread on the question."""
        place = self._message(asked).channel_id
        said = [one for one in self.server.platform.messages.values() if one.channel_id == place and not one.deleted]
        return [one.content for one in said if one.reference and one.reference[1] == int(asked)]

    def has_thread(self, asked: str) -> bool:
        """Look for it."""
        return int(asked) in self.server.platform.channels

    def public(self) -> list[str]:
        """Read the channel."""
        said = [one for one in self.server.platform.messages.values() if one.channel_id == self.channel.id]
        return [
            one.content or "…"
            for one in said
            if one.author_id == self.server.bot.id and not one.deleted and not one.ephemeral
        ]

    def everything(self) -> list[str]:
        """Read the one guild that there is."""
        said = self.server.platform.messages.values()
        return [one.content for one in said if one.author_id == self.server.bot.id and not one.deleted]

    def warned(self, asked: str) -> bool:
        """Look at the reactions."""
        return "⚠️" in self._message(asked).reactions

    def unmark(self, asked: str) -> None:
        """Take all reactions away, of which nobody hears."""
        self._message(asked).reactions.clear()

    def is_limited(self, asked: str) -> bool:
        """Look at the reactions."""
        return messages.LIMIT in self._message(asked).reactions

    def unwarned(self) -> int:
        """Count the requests."""
        return len(self.server.requests_to(UNREACT))

    def signs(self) -> list[str]:
        """Look for words about waiting; that the bot types ends by itself."""
        said = [one.content for one in self.server.platform.messages.values() if not one.deleted]
        return [text for text in said if text.startswith(messages.BUSY)]

    def controls(self, asked: str) -> Controls:
        """Look at the buttons."""
        ids = self._of_bot(asked)[-1].custom_ids if self._of_bot(asked) else []
        return _offered(ids[0]) if ids else Controls.NONE

    async def press(self, asked: str, *, by: str = "Ada") -> str:
        """Press the first button."""
        message = self._of_bot(asked)[-1]
        return await self._told(self.server.press(self.people[by], message, message.custom_ids[0]))

    async def command(self, name: str, *, at: str | None = None, moderates: bool = False, **options: Any) -> str:
        """Use a slash command; the moderators' ones have a name in front."""
        place = self._thread(at) if at else self.channel
        who, whole = self.moderator if moderates else self.ada, _whole(name, moderates=moderates)
        await self.until(lambda: self.server.platform.commands.get(None), what="the commands")
        known = command_named(name, for_moderators=moderates)
        choices = {option.name: option.choices for option in known.options} if known else {}
        given = {option: choices.get(option, {}).get(str(value), value) for option, value in options.items()}
        return await self._told(self.server.slash(who, place, whole, **given))

    async def forget_bob(self) -> str:
        """Use the command."""
        await self.until(lambda: self.server.platform.commands.get(None), what="the commands")
        return await self._told(self.server.slash(self.bob, self.channel, "forget", what="everything about me"))

    def typed(self, name: str, *, moderates: bool = False, **options: Any) -> str:
        """Give the command with the names of what goes with it."""
        given = (f"{option}: {value}" for option, value in options.items())
        return " ".join([f"/{_whole(name, moderates=moderates)}", *given])

    async def ask_from(self, text: str, question: str, *, by: str = "Ada", room: Abroad | None = None) -> str:
        """Use the message's menu, and fill in the form."""
        who = self.people[by]
        message = self.server.post_as(who if room else self.bob, self.rooms[room] if room else self.channel, text)
        await self.until(lambda: self.server.platform.commands.get(None), what="the commands")
        shown = self.server.menu(who, message, "Answer from this message")
        await self.until(lambda: shown.modal, what="a form")
        return await self._told(self.server.submit(who, shown, {"question": question}))

    def alerts(self) -> list[str]:
        """Read what was said to the owner, who is told of which guild it is."""
        place, beginning = self.server.dm(self.server.platform.owner).id, f"{self.guild.name}: "
        said = [one.content for one in self.server.platform.messages.values() if one.channel_id == place]
        return [text.removeprefix(beginning) for text in said if text.startswith(beginning)]

    def refuse(self, *, the_token: bool) -> None:
        """Give the bot another one."""
        self.server.token = "another token" if the_token else TOKEN

    def refused(self) -> int:
        """Look at the requests."""
        return [handled.status for handled in self.server.requests].count(401)

    def remove(self, asked: str) -> None:
        """Delete the thread, and the channel that it is in."""
        for place in (int(asked), self.channel.id):
            self.server.delete_channel(self.server.platform.channels[place])

    def shut_out(self) -> None:
        """Take the permission to see it."""
        self.server.deny(self.channel, Permission.VIEW_CHANNEL)

    def hide_history(self) -> None:
        """Deny a permission."""
        self.server.deny(self.channel, Permission.READ_MESSAGE_HISTORY)

    def expel(self) -> None:
        """Kick it from the guild."""
        self.server.kick_bot(self.guild)

    async def _told(self, interaction: Interaction) -> str:
        """Wait for the end of what the bot says to an interaction: it has words, and none that stop it."""
        await self.until(lambda: interaction.acknowledged, what="a sign of life")
        if interaction.acknowledged and interaction.acknowledged.kind in (6, 7):
            return ""
        await self.until(lambda: self._words(interaction), what="a reply")
        return self._words(interaction)

    def _words(self, interaction: Interaction) -> str:
        ids = [interaction.original_id, *interaction.follow_ups]
        found = [self.server.platform.messages[one] for one in ids if one is not None]
        is_written = not any(_offered(name) is Controls.STOP for one in found for name in one.custom_ids)
        said = [one.content for one in found if one.content not in ("", FILLED.text) and not one.deleted]
        return "\n".join(said) if is_written else ""

    def _thread(self, asked: str) -> Channel:
        return self._places.get(asked) or self.server.platform.channels[int(asked)]

    def _message(self, asked: str) -> Message:
        return self.server.platform.messages[int(asked)]

    def _of_bot(self, asked: str) -> list[Message]:
        bot: User = self.server.bot
        place = self._places[asked].id if asked in self._places else int(asked)
        return [
            one
            for one in self.server.platform.messages.values()
            if one.channel_id == place and one.author_id == bot.id and one.content and not one.deleted
        ]


def _whole(name: str, *, moderates: bool) -> str:
    return f"footnote-admin {name}" if moderates else name


def _offered(custom_id: str) -> Controls:
    """Say what a button is for."""
    what = custom_id.split(":")[1]
    return Controls.VOTE if what in ("up", "down") else Controls(what)
