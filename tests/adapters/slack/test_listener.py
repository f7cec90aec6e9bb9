"""From Slack into the inbox: what people write to the bot, once, and nothing else."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from adapters.slack.api import open_session
from adapters.slack.listener import SlackHooks
from adapters.slack.people import People
from adapters.slack.workspaces import OneWorkspace
from core.community.routing import Company
from core.errors import PeopleUnavailable, StoreUnavailable
from core.messages import NOT_TAKEN, NOT_YOURS
from core.model import (
    NO_QUESTION,
    ChannelRef,
    Delivery,
    Inbound,
    Person,
    Readership,
    ReplyAddress,
    Stopped,
    Terms,
    ThreadRef,
    WorkspaceRef,
)
from tests.adapters.slack.ears import Place, listening, place_fixture
from tests.builders import question
from tests.fakes.box import Box
from tests.fakes.channel_cursor import MemoryChannelCursor
from tests.fakes.dedup import MemoryDedup
from tests.servers.slack import Reply, limit
from tests.waiting import at_once

__all__ = ["place_fixture"]

REPLIES = "conversations.replies"


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("mention_first", [True, False])
@pytest.mark.parametrize("first_is_lost", [True, False])
async def test_a_mention_is_one_question_however_it_comes(
    place: Place, mention_first: bool, first_is_lost: bool
) -> None:
    """As two events in any order, over two sockets, each of them again, whether or not the first ones were lost."""
    place.server.platform.mention_first = mention_first
    box = Box()
    async with listening(place, box, terms=Terms(top_k=3)):
        place.server.outbox.paused = first_is_lost
        message = place.ask("What is a robot?")
        place.server.outbox.paused = False
        await place.server.redeliver(*message.deliveries)
        asked = await box.question()
        await place.server.redeliver(*message.deliveries)
        await place.server.settled()

    thread = ThreadRef(platform="slack", workspace=place.workspace.team_id, channel=place.channel.id, thread=message.ts)
    assert (asked.question.text, asked.question.author) == ("What is a robot?", Person(id=place.ada.id))
    assert asked.address == ReplyAddress(thread=thread, message=asked.message)
    assert (asked.question.top_k, len(message.deliveries), box.signals, place.said()) == (3, 2, [], [])


async def test_what_is_not_for_the_bot_is_acknowledged_and_stays_out(place: Place) -> None:
    """Talk among people, other bots, events of which nothing comes, and what happens where the bot is no more."""
    box = Box()
    async with listening(place, box):
        place.server.post_as(place.ada, place.channel, "Who has eaten my lunch?")
        place.server.post_as(place.ada, place.channel, f"{place.bot.mention} What is it?", bot_id="B0OTHER")
        place.server.tell(place.workspace, {"type": "team_join", "user": {"id": "U9"}})
        place.server.open_home(place.ada, "about")
        elsewhere = place.server.add_workspace("Elsewhere")
        stranger = place.server.add_member(elsewhere, "eve")
        there = place.server.post_as(stranger, place.server.add_channel(elsewhere), f"{elsewhere.bot.mention} Hello?")
        place.ask("And now?")
        asked = await box.question()
        await place.server.settled()

    assert (asked.question.text, box.signals, len(there.deliveries)) == ("And now?", [], 2)


@pytest.mark.promise("acknowledged-when-kept")
async def test_a_question_that_cannot_be_kept_comes_again(place: Place) -> None:
    """It is acknowledged only once it is safe; nothing is said meanwhile."""
    box = Box()
    async with listening(place, box):
        box.fails = True
        message = place.ask("What is a robot?")
        await box.refused.wait()
        box.fails = False
        waiting = [one.acked for one in message.deliveries]
        await place.server.redeliver()
        asked = await box.question()
        await place.server.settled()

    assert (waiting, asked.message.id, place.said(), message.reactions) == ([False] * 2, message.ts, [], {})


@pytest.mark.promise("acknowledged-when-kept")
async def test_who_asks_in_vain_is_told_once_when_the_question_will_not_come_again(place: Place) -> None:
    """In a sentence in the thread, with a mark on the question; a post that was lost is not said twice, nor another."""
    box, dedup = Box(), MemoryDedup()
    dedup.fails = True
    async with listening(place, box, dedup=dedup, sleep=at_once):
        box.fails = True
        root = place.server.post_as(place.ada, place.channel, "Let us talk.")
        message = place.ask("What is a robot?", thread=root)
        place.server.faults.add("chat.postMessage", Reply(503, {}))
        for _ in range(3):
            await box.refused.wait()
            box.refused.clear()
            await place.server.redeliver()
        await place.server.settled()
        await place.server.until(lambda: place.said() and message.reactions, what="a reply and a mark")

    assert (place.said(), message.reactions) == ([f"⚠️ {NOT_TAKEN}"], {"warning": [place.bot.id]})
    assert place.server.messages(place.channel, by=place.bot)[0].thread_ts == root.ts


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("is_below", [False, True])
async def test_a_question_that_could_not_be_kept_is_kept_as_soon_as_it_can_be(place: Place, *, is_below: bool) -> None:
    """Whoever asks need not wait until Slack tells of it again, and is not told of that."""
    box = Box()

    async def back(_seconds: float) -> None:
        box.fails = False

    async with listening(place, box, sleep=back):
        box.fails = True
        root = place.server.post_as(place.ada, place.channel, "Let us talk.") if is_below else None
        message = place.ask("What is a robot?", thread=root)
        asked = await box.question()

    assert (asked.message.id, place.said(), message.reactions) == (message.ts, [], {})


@pytest.mark.promise("asked-once")
async def test_a_question_of_which_slack_cannot_say_what_was_answered_waits_for_it(place: Place) -> None:
    """A store that was emptied knows of no answer, and Slack, which sends the event for the last time, is away."""
    box, waits = Box(age=timedelta()), list[float]()

    async def back(seconds: float) -> None:
        waits.append(seconds)
        place.server.faults.mend()

    async with listening(place, box, sleep=back):
        place.server.outbox.paused = True
        message = place.ask("What is a robot?")
        place.server.outbox.paused = False
        place.server.faults.break_(REPLIES, Reply(503, {}))
        for times in range(1, 4):
            await place.server.redeliver(*message.deliveries)
            await place.server.until(lambda most=2 * times: len(place.server.requests_to(REPLIES)) >= most)
        asked = await box.question()

    assert (asked.message.id, (asked.delivery or Delivery()).messages, place.said()) == (message.ts, (), [])
    assert waits


async def test_a_mention_without_a_question_is_told_what_to_do_once(place: Place) -> None:
    """Although it comes as two events, and these come again."""
    box = Box()
    async with listening(place, box, dedup=MemoryDedup()):
        message = place.ask("")
        await place.server.settled()
        await place.server.redeliver(*message.deliveries)
        place.direct("hello")
        await box.question()
        await place.server.settled()
        await place.server.until(place.said, what="a reply")

    assert (place.said(), box.signals) == ([NO_QUESTION], [])
    assert place.server.requests_to("chat.postMessage")[0].body["unfurl_links"] is False


async def test_a_direct_message_needs_no_mention(place: Place) -> None:
    """It is answered in its thread; every thread there is a conversation."""
    box = Box()
    async with listening(place, box):
        message = place.direct("What is a robot?")
        asked = await box.question()
        again = place.server.post_as(place.ada, place.server.direct(place.workspace, place.ada), "And an arm?", message)
        later = await box.question()

    assert asked.address == ReplyAddress(thread=asked.message.thread)
    assert (later.message.thread, later.message.id) == (asked.message.thread, again.ts)


@pytest.mark.promise("only-when-asked")
async def test_in_threads_of_the_bot_no_mention_is_needed(place: Place) -> None:
    """Those that began with a question for it or with its own words, or that it remembers so; people are left alone."""
    bob = place.server.add_member(place.workspace, "bob")
    ours = list[str]()

    async def company(_: ThreadRef) -> Company:
        return Company({place.ada.id})

    async def owns(thread: ThreadRef) -> bool:
        return thread.thread in ours

    box = Box()
    async with listening(place, box, company=company, owns=owns):
        theirs = place.server.post_as(place.ada, place.channel, "Let us talk.")
        remembered = place.server.post_as(place.ada, place.channel, "What was that?")
        ours.append(remembered.ts)
        asked = place.ask("What is a robot?")
        begun = place.bot_says("Ada asks: What is an arm?")
        await box.question()
        place.ask("What do they mean?", thread=theirs)
        await box.question()
        heard: list[str] = []
        for root in (asked, begun, remembered):
            place.server.post_as(bob, place.channel, "Nice.", root)
            place.server.post_as(bob, place.channel, f"And you, {place.ada.mention}?", root)
            place.server.post_as(place.ada, place.channel, "Nobody mentions the bot here?", theirs)
            place.server.post_as(place.ada, place.channel, "Go on.", root)
            heard.append((await box.question()).message.thread.thread)
            await place.server.settled()

    assert (heard, box.signals) == ([asked.ts, begun.ts, remembered.ts], [])


async def test_a_word_that_stands_for_a_command_is_none_for_the_inbox(place: Place) -> None:
    """Where it is all that is said to the bot; in talk among people, and beside other words, it is a word."""
    taken: list[tuple[str, str, str]] = []

    async def said(inbound: Inbound) -> bool:
        taken.append((inbound.text, inbound.message.id, inbound.message.thread.workspace))
        return inbound.text in {"sources", "help"}

    box = Box()
    async with listening(place, box, hooks=SlackHooks(text_command=said)):
        place.server.post_as(place.ada, place.channel, "help")
        root = place.server.post_as(place.ada, place.channel, "Let us talk.")
        first, second = place.ask("sources", thread=root), place.direct("help")
        place.ask("sources of light?")
        asked = await box.question()
        place.direct("What are the sources of light in this room, and where?")
        await box.question()
        await place.server.settled()

    team = place.workspace.team_id
    assert {("sources", first.ts, team), ("help", second.ts, team)} < set(taken)
    assert {word for word, _, _ in taken} == {"sources", "help", "sources of light?"}
    assert (asked.question.text, box.signals) == ("sources of light?", [])


@pytest.mark.promise("stops-count")
async def test_whoever_asked_and_moderators_can_stop_an_answer(place: Place) -> None:
    """By Slack's own button; others are told that it is not theirs, and where nothing is written nothing is stopped."""
    bob, mia = (place.server.add_member(place.workspace, name) for name in ("bob", "mia"))

    async def is_moderator(workspace: str, user: str) -> bool:
        return (workspace, user) == (place.workspace.team_id, mia.id)

    box = Box()
    async with listening(place, box, hooks=SlackHooks(running=box.running, is_moderator=is_moderator)):
        place.server.stop(place.ada, place.server.post_as(place.ada, place.channel, "Let us talk."))
        first, second = place.ask("What is a robot?"), place.ask("What is an arm?")
        asked = {(await box.question()).message.id for _ in range(2)}
        place.server.stop(bob, first)
        await place.server.until(place.said, what="a refusal")
        place.server.stop(place.ada, first)
        stopped = await box.next()
        place.server.stop(mia, second)
        moderated = await box.next()
        await place.server.settled()

    refusal = place.server.messages(place.channel, by=place.bot)
    assert [(one.text, one.seen_by, one.thread_ts) for one in refusal] == [(NOT_YOURS, bob.id, first.ts)]
    assert isinstance(stopped, Stopped)
    assert isinstance(moderated, Stopped)
    assert [(one.message.id, one.by.id) for one in (stopped, moderated)] == [
        (first.ts, place.ada.id),
        (second.ts, mia.id),
    ]
    assert asked == {first.ts, second.ts}


@pytest.mark.promise("forget-workspace")
async def test_a_workspace_that_throws_the_bot_out_is_forgotten(place: Place) -> None:
    """What cannot be removed now is told again; tokens of people that are revoked forget nothing."""
    forgotten: list[WorkspaceRef] = []
    noted: list[str] = []

    async def purge(home: WorkspaceRef) -> None:
        forgotten.append(home)
        if len(forgotten) == 1:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")

    async def uninstalled(workspace: str) -> None:
        noted.append(workspace)

    async with listening(place, Box(), hooks=SlackHooks(uninstalled=uninstalled), purge=purge):
        place.server.tell(place.workspace, {"type": "tokens_revoked", "tokens": {"oauth": ["U1"]}})
        await place.server.settled()
        gone = place.server.uninstall(place.workspace)
        await place.server.until(lambda: any(one.acked for one in gone))
        await place.server.redeliver()
        await place.server.settled()

    team = place.workspace.team_id
    assert forgotten == [WorkspaceRef(platform="slack", workspace=team)] * 3
    assert noted == [team] * 2


class CountingCursor(MemoryChannelCursor):
    """Counts what is noted."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    async def note(self, channel: ChannelRef, at: datetime) -> None:
        """Count it."""
        self.count += 1
        await super().note(channel, at)


@pytest.mark.promise("catches-up")
async def test_when_a_channel_was_heard_is_noted_once_in_a_minute(place: Place) -> None:
    """Each message would be a write of its own, and whoever starts next reads a bit more than it has to anyway."""
    cursor, box = CountingCursor(), Box()
    counts = list[int]()
    async with listening(place, box, channel_cursor=cursor):
        for seconds in (0, 30, 31):
            place.server.clock.advance(seconds)
            place.ask("What is a robot?")
            await box.question()
            await place.server.settled()
            counts.append(cursor.count)

    assert counts == [1, 1, 2]


@pytest.mark.promise("members-only")
async def test_whoever_cannot_be_looked_up_is_no_member(place: Place) -> None:
    """Guests are known by their accounts, and a platform that does not say is asked again later."""
    guest = place.server.add_member(place.workspace, "gus", is_restricted=True)
    team = place.workspace.team_id
    asked = question()
    where = {"platform": "slack", "workspace": team, "channel": place.channel.id}
    thread = asked.message.thread.model_copy(update=where)
    message = asked.message.model_copy(update={"thread": thread})
    by = {
        user.id: asked.model_copy(update={"message": message, "author": Person(id=user.id)})
        for user in (guest, place.ada)
    }
    async with open_session() as session:
        one = OneWorkspace(session, place.workspace.token, place.server.api_url)
        guests = People(one)
        place.server.faults.add("users.info", limit(60))
        with pytest.raises(PeopleUnavailable):
            await guests.readership(by[place.ada.id].asker, ())

        assert [await guests.readership(by[user.id].asker, ()) for user in (guest, place.ada)] == [
            Readership(communities=frozenset([thread.home]), has_strangers=True),
            Readership(communities=frozenset([thread.home]), has_strangers=True),  # since the guest reads along
        ]


async def test_in_direct_messages_between_several_people_a_thread_of_the_bots_goes_on(place: Place) -> None:
    """Without a mention, as in a channel; what they say beside it is between them."""
    server, box = place.server, Box()
    talk = server.add_group_talk(place.workspace, place.ada, server.add_member(place.workspace, "bob"))
    async with listening(place, box):
        first = server.post_as(place.ada, talk, f"{place.bot.mention} What is a robot?")
        asked = [await box.question()]
        server.post_as(place.bot, talk, "A robot acts.", first, bot_id=place.workspace.installation.bot_id)
        server.post_as(place.ada, talk, "What is a drone?")
        server.post_as(place.ada, talk, "And what is a droid?", first)
        asked.append(await box.question())
        await server.settled()

    assert [each.question.text for each in asked] == ["What is a robot?", "And what is a droid?"]
    assert asked[0].message.thread == asked[1].message.thread
    assert box.signals == []
