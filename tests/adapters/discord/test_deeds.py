"""What people do on the server of these tests reaches the real client, and what the client does is in the state."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import aiohttp
import discord
import pytest

from tests.adapters.discord.conftest import Place
from tests.adapters.discord.eager import EagerClient, online
from tests.servers.discord import ChannelKind, DiscordServer, Fault, Hold, Permission, Reply, Reset
from tests.servers.discord.payloads import message_payload

CREATE = "POST /channels/{channel}/messages"


async def edited(client: EagerClient) -> discord.RawMessageUpdateEvent:
    """Give the next update that the client hears of."""
    async with asyncio.timeout(5):
        return await client.edits.get()


async def test_an_edit_is_told_apart_from_a_preview(server: DiscordServer, place: Place) -> None:
    """Both are updates; only what a person changed has a time of its own."""
    async with online(server) as client:
        message = server.post_as(place.ada, place.channel, "See https://a.example")
        server.unfurl(message, {"type": "link", "url": "https://a.example", "title": "A"})
        server.edit_as(place.ada, message, "Changed")
        preview, edit = await edited(client), await edited(client)
    assert (preview.message.content, preview.message.edited_at) == ("See https://a.example", None)
    assert (edit.message.content, edit.message.edited_at) == ("Changed", message.edited_at)


async def test_deletions_are_heard_of_one_by_one_and_in_bulk(server: DiscordServer, place: Place) -> None:
    """Also of messages that the client has never seen."""
    unseen = [server.post_as(place.ada, place.channel, text) for text in ("a", "b", "c")]
    heard = asyncio.Queue[set[int]]()

    async def one(event: discord.RawMessageDeleteEvent) -> None:
        heard.put_nowait({event.message_id})

    async def several(event: discord.RawBulkMessageDeleteEvent) -> None:
        heard.put_nowait(event.message_ids)

    async with online(server) as client:
        client.event(_named(one, "on_raw_message_delete"))
        client.event(_named(several, "on_raw_bulk_message_delete"))
        server.delete_as(place.ada, unseen[0])
        server.delete_as(place.ada, *unseen[1:])
        async with asyncio.timeout(5):
            found = [await heard.get(), await heard.get()]
    assert found == [{unseen[0].id}, {unseen[1].id, unseen[2].id}]
    assert server.platform.messages_in(place.channel) == []


def _named(listener: Any, name: str) -> Any:
    listener.__name__ = name
    return listener


async def test_a_menu_brings_the_whole_message(server: DiscordServer, place: Place) -> None:
    """Its text too, although the client may not read the channel; the answer is for one person only."""
    async with online(server, message_content=False) as client:
        tree = discord.app_commands.CommandTree(client)

        @tree.context_menu(name="Answer from this message")
        async def selected(interaction: discord.Interaction[Any], message: discord.Message) -> None:
            await interaction.response.send_message(f"About: {message.content}", ephemeral=True)

        assert [command.name for command in await tree.sync()] == [selected.name]
        message = server.post_as(place.ada, place.channel, "Robots act.")
        menu = server.menu(place.ada, message, "Answer from this message")
        await server.until(lambda: menu.original_id, what="the answer")
        answer = server.platform.messages[menu.original_id or 0]
    assert (answer.content, answer.seen_by) == ("About: Robots act.", place.ada.id)


async def test_subcommands_carry_who_uses_them(server: DiscordServer, place: Place) -> None:
    """With the permissions that the person has where the command is used."""
    moderator = server.add_member(place.guild, "Mo", permissions=Permission.MANAGE_GUILD)
    async with online(server) as client:
        tree = discord.app_commands.CommandTree(client)
        group = discord.app_commands.Group(name="footnote-admin", description="For moderators")

        @group.command(name="status", description="How it goes")
        async def status(interaction: discord.Interaction[Any]) -> None:
            await interaction.response.send_message(f"May manage: {interaction.permissions.manage_guild}")

        tree.add_command(group)
        await tree.sync()
        for person, answer in ((moderator, "May manage: True"), (place.ada, "May manage: False")):
            command = server.slash(person, place.channel, f"footnote-admin {status.name}")
            await server.until(lambda command=command: command.original_id, what="the answer")
            assert server.platform.messages[command.original_id or 0].content == answer


async def test_threads_are_renamed_and_archived_by_their_owner(server: DiscordServer, place: Place) -> None:
    """Whoever archives one, it is opened again by the next message, and the client hears of it."""
    async with online(server) as client:
        channel = client.text_channel(place.channel.id)
        assert isinstance(channel, discord.TextChannel)
        message = await channel.send("Robots")
        thread = await message.create_thread(name="First")
        await thread.edit(name="Second", archived=True)
        stored = server.platform.channels[thread.id]
        assert (stored.kind, stored.names, stored.archived) == (ChannelKind.PUBLIC_THREAD, ["First", "Second"], True)
        await thread.send("More")
        assert stored.archived is False
        server.change_thread(stored, locked=True, archived=True)
        with pytest.raises(discord.HTTPException) as refused:
            await thread.send("Still more")
    assert refused.value.code == 160005


async def test_files_reactions_typing_and_direct_messages_are_in_the_state(server: DiscordServer, place: Place) -> None:
    """As assertions want to read them."""
    async with online(server) as client:
        channel = client.text_channel(place.channel.id)
        sent = await channel.send(file=discord.File(io.BytesIO(b"# Long"), "answer.md"))
        await sent.add_reaction("⚠️")
        async with channel.typing():
            pass
        person = await client.fetch_user(place.ada.id)
        direct = await person.send("Between us")
    message = server.platform.messages[sent.id]
    assert (message.files, message.reactions) == (("answer.md",), {"⚠️": [server.bot.id]})
    assert [typing.channel_id for typing in server.platform.typing] == [place.channel.id]
    assert [one.id for one in server.platform.messages_in(server.dm(place.ada))] == [direct.id]


async def test_requests_show_no_text_where_the_switch_is_off(server: DiscordServer, place: Place) -> None:
    """The history is as blank as the events, but for what is the bot's to read."""
    server.platform.message_content = False
    server.post_as(place.ada, place.channel, "to nobody")
    server.post_as(place.ada, place.channel, "to the bot", mentions=[server.bot])
    async with online(server, message_content=False) as client:
        texts = [message.content async for message in client.text_channel(place.channel.id).history()]
    assert texts == [f"{server.bot.mention} to the bot", ""]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Reset(), (aiohttp.ClientError, OSError)),
        (Reply(503), discord.DiscordServerError),
        (Reply(429, {"retry_after": 0.01}), discord.HTTPException),
    ],
)
async def test_what_breaks_reaches_the_caller(server: DiscordServer, place: Place, fault: Fault, expected: Any) -> None:
    """A reset, an overloaded platform and a ban by the network in front of it are not hidden by the client."""
    async with online(server) as client:
        server.faults.add(CREATE, fault)
        with pytest.raises(expected):
            await client.text_channel(place.channel.id).send("x")
    assert server.platform.messages_in(place.channel) == []


async def test_a_request_can_be_held_up(server: DiscordServer, place: Place) -> None:
    """Until the test lets it go on."""
    go = asyncio.Event()
    async with online(server) as client:
        server.faults.add(CREATE, Hold(go))
        sending = asyncio.create_task(client.text_channel(place.channel.id).send("x"))
        await server.until(lambda: server.faults.met, what="the request")
        assert server.platform.messages_in(place.channel) == []
        go.set()
        sent = await sending
    assert message_payload(server.platform, server.platform.messages[sent.id])["content"] == "x"


@pytest.mark.promise("stays-connected")
async def test_a_gateway_that_refuses_is_tried_again(server: DiscordServer, place: Place) -> None:
    """The library waits five seconds, and then the client is there as if nothing had been."""
    server.gateway.refusing = True

    async def mended() -> None:
        # The network library repeats a request on its own, once, where a connection was open before.
        await server.until(lambda: server.gateway.refused >= 2, what="the refusals")
        server.gateway.refusing = False

    mending = asyncio.create_task(mended())
    async with asyncio.timeout(20), online(server, patience=15) as client:
        server.post_as(place.ada, place.channel, "Hello")
        assert (await client.messages.get()).content == "Hello"
    await mending
