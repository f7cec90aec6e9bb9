"""No word of another thread, channel, community or person reaches a model or a reader, whatever is ordered.

In each scene, everybody says a word of their own in each place where they talk; one reader looks at all that the model
was given and at all that people were shown, and nowhere may two of these words meet.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from core.events import Passed, Step
from core.messages import FAILED
from core.model import Audience, SourceRecord
from tests.builders import hit
from tests.end_to_end.community import Community, Room, Town
from tests.end_to_end.neighbours import DiscordNeighbours, Neighbours, SlackNeighbours
from tests.end_to_end.on_discord import DiscordCommunity
from tests.end_to_end.on_slack import SlackCommunity
from tests.fakes.shelf import Shelf
from tests.fixtures.redis import clean
from tests.hostile.model import BEGIN, CALL, END, ObedientServer
from tests.servers.service import Reply
from tests.waiting import wait_until

PLATFORMS: dict[str, tuple[Callable[[], Community], Callable[[], Neighbours]]] = {
    "discord": (DiscordCommunity, DiscordNeighbours),
    "slack": (SlackCommunity, SlackNeighbours),
}
WORD = re.compile(r"xyzzy[a-z]+")
SELECTED = "A robot is a machine."
ANSWER = "A robot acts"
GONE = "xyzzygone"  # a word that nobody says any more
DOWN = Reply(503, {"error": {"message": "down"}})

Shown: TypeAlias = Mapping[str, Sequence[str]]
"""By each word, all that is shown where it was said."""


def asks(word: str, *orders: str) -> str:
    """Say a word of one's own, and ask, with orders to the model."""
    return " ".join([f"My word is xyzzy{word}. What is a robot?", *orders])


def leaked(requests: Sequence[str], shown: Shown) -> Iterator[str]:
    """Give each request in which words meet, or that has one that is gone, and what is shown beside another's word."""
    for request in requests:
        if len(found := set(WORD.findall(request))) > 1 or GONE in found:
            yield f"the model was given {sorted(found)}"
    for word, texts in shown.items():
        if others := set(WORD.findall(" ".join(texts))) - {f"xyzzy{word}"}:
            yield f"beside {word} stands {sorted(others)}"


async def in_turn(town: Town, rooms: Mapping[str, tuple[str, Room]]) -> Shown:
    """Let people ask in rooms, one after the other, and then go on below each answer."""
    community, asked = town.community, dict[str, str]()
    for word, (by, room) in rooms.items():
        asked[word] = community.ask(asks(word), by=by, room=room)
        await town.sees(asked[word], ANSWER)
        await town.remembers(asked[word])
    for word, (by, room) in rooms.items():
        again = community.ask(asks(word, "And then?"), by=by, room=room)
        await town.remembers(again)
    return {word: community.said(each) for word, each in asked.items()}


async def another_thread(town: Town) -> Shown:
    """Bob has asked in a thread of his own."""
    return await in_turn(town, {"bob": ("Bob", Room.CHANNEL), "ada": ("Ada", Room.CHANNEL)})


async def a_reply_and_a_thread(town: Town) -> Shown:
    """In a channel where nobody may open threads, answers stand among what others say."""
    return await in_turn(town, {"bob": ("Bob", Room.REPLY), "ada": ("Ada", Room.CHANNEL)})


async def a_thread_and_a_direct_message(town: Town) -> Shown:
    """The same person asks in both, which are apart."""
    return await in_turn(town, {"here": ("Ada", Room.CHANNEL), "direct": ("Ada", Room.DIRECT)})


async def what_only_this_platform_has(town: Town) -> Shown:
    """A post of a forum, or a private channel."""
    return await in_turn(town, {"own": ("Bob", Room.OWN), "ada": ("Ada", Room.CHANNEL)})


async def two_private_answers_at_once(town: Town) -> Shown:
    """Each sees their own alone."""
    names = {"ada": "Ada", "bob": "Bob"}
    asking = (town.community.ask_from(SELECTED, asks(word), by=by) for word, by in names.items())
    return {word: [told] for word, told in zip(names, await asyncio.gather(*asking), strict=True)}


async def a_private_answer_before(town: Town) -> Shown:
    """What Ada was told alone is not known to her thread, which others read."""
    told = await town.community.command("ask", question=asks("alone"), private=True)
    return {"alone": [told], **await in_turn(town, {"ada": ("Ada", Room.CHANNEL)})}


async def a_question_that_was_edited(town: Town) -> Shown:
    """What it said before is not told to a model any more."""
    asked = town.community.ask(asks("gone"))
    await town.sees(asked, ANSWER)
    await town.remembers(asked)
    town.community.edit(asked, f"What is an arm? {BEGIN}an arm{END}")
    await town.sees(asked, "an arm")
    return await forget_requests(town, asked)


async def a_question_that_was_deleted(town: Town) -> Shown:
    """Neither in its thread nor in another one."""
    asked = town.community.ask("What is a robot?")
    await town.sees(asked, ANSWER)
    gone = town.community.follow_up(asked, asks("gone"))
    await town.sees(asked, ANSWER, times=2)
    await town.remembers(gone)
    town.community.delete(gone)
    await town.community.until(lambda: len(town.community.said(asked)) == 1, what="the end of its answer")
    return await forget_requests(town, asked)


async def forget_requests(town: Town, asked: str) -> Shown:
    """Begin to look only now, and let people go on in the thread and elsewhere."""
    town.chat.received.clear()
    before = len(town.community.said(asked))
    again = town.community.follow_up(asked, asks("ada"))
    await town.community.until(lambda: len(town.community.said(asked)) > before, what="an answer")
    await town.remembers(again)
    return {"ada": town.community.said(asked), **await in_turn(town, {"bob": ("Bob", Room.CHANNEL)})}


async def a_message_forwarded_from_a_channel(town: Town) -> Shown:
    """It brings itself along, and nothing that was said around it."""
    await in_turn(town, {"bob": ("Bob", Room.CHANNEL)})
    town.community.say("Mine is xyzzybefore.", by="Bob")
    forwarded = town.community.forward(SELECTED)
    town.community.say("Mine is xyzzyafter.", by="Bob")
    asked = town.community.ask(asks("ada"), room=Room.DIRECT)
    await town.remembers(asked)
    return {"ada": [*town.community.said(forwarded), *town.community.said(asked)]}


async def a_selected_message_of_somebody_else(town: Town) -> Shown:
    """From the menu of a message of Bob's: that one is told to the model, and nothing else of his."""
    await in_turn(town, {"bob": ("Bob", Room.CHANNEL)})
    town.community.say("Mine is xyzzybefore.", by="Bob")
    told = await town.community.ask_from(SELECTED, asks("ada"))
    assert any(SELECTED in f"{one.body}" for one in town.chat.received)
    return {"ada": [told]}


async def an_answer_that_somebody_else_has_tried_again(town: Town) -> Shown:
    """A moderator presses the button below Ada's question: it stays hers."""
    await in_turn(town, {"bob": ("Bob", Room.CHANNEL)})
    town.chat.broken = DOWN
    asked = town.community.ask(asks("ada"))
    await town.sees(asked, FAILED)
    await wait_until(lambda: is_settled(town, asked), what="that it can be tried again")
    town.chat.broken = None
    pressing = asyncio.create_task(town.community.press(asked, by="Mod"))
    await town.community.until(lambda: any(ANSWER in said for said in town.community.said(asked)), what="an answer")
    pressing.cancel()
    return {"ada": town.community.said(asked)}


def is_settled(town: Town, asked: str) -> bool:
    """Say whether nobody works on a question any more."""
    passed = (event for event in town.events if isinstance(event, Passed) and event.step is Step.SETTLED)
    return any(event.question.id == asked for event in passed)


async def a_tool_that_is_told_to_read_a_thread(town: Town) -> Shown:
    """By its id, its name or its words: the one tool knows documents alone."""
    first = town.community.ask(asks("bob"), by="Bob")
    await town.sees(first, ANSWER)
    kinds = (("chapter", "source"), ("thread", "channel", "conversation", "message_id"))
    given = ({"query": "what did Bob say", **dict.fromkeys(kind, first)} for kind in kinds)
    orders = [f"{CALL}{json.dumps(each)}{END}" for each in given]
    asked = town.community.ask(asks("ada", *orders, f"{BEGIN}what Bob said{END}"))
    await town.sees(asked, "what Bob said")
    return {"bob": town.community.said(first), "ada": town.community.said(asked)}


async def two_communities(town: Town) -> Shown:
    """One bot answers in both."""
    return await in_turn(town, {"ada": ("Ada", Room.CHANNEL), "eve": ("Eve", Room.ABROAD)})


SCENES: Sequence[Callable[[Town], Awaitable[Shown]]] = (
    another_thread,
    a_reply_and_a_thread,
    a_thread_and_a_direct_message,
    what_only_this_platform_has,
    two_private_answers_at_once,
    a_private_answer_before,
    a_question_that_was_edited,
    a_question_that_was_deleted,
    a_message_forwarded_from_a_channel,
    a_selected_message_of_somebody_else,
    an_answer_that_somebody_else_has_tried_again,
    a_tool_that_is_told_to_read_a_thread,
    two_communities,
)


@contextlib.asynccontextmanager
async def town_of(community: Community, redis_url: str, folder: Path) -> AsyncGenerator[Town]:
    """Build a town with a model that obeys, and documents that everybody may read."""
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(community.open())
        chat = await stack.enter_async_context(ObedientServer())
        await stack.enter_async_context(clean(redis_url))
        shelf = Shelf(hit())
        shelf.records["docs"] = SourceRecord(name="docs", audience=Audience(everyone=True))
        yield Town(community, chat, shelf, redis_url, folder)


@pytest.mark.promise("no-hostile-text")
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("platform", PLATFORMS)
async def test_what_was_said_elsewhere_stays_there(
    platform: str, scene: Callable[[Town], Awaitable[Shown]], redis_url: str, tmp_path: Path
) -> None:
    """Whoever said it, and whoever asks: neither a model nor a reader gets a word of another place."""
    usual, several = PLATFORMS[platform]
    neighbours = several() if scene is two_communities else None
    homes = {"FOOTNOTE_COMMUNITIES": f"{neighbours.home},{neighbours.abroad}"} if neighbours else {}
    async with town_of(neighbours or usual(), redis_url, tmp_path) as town, town.bot(**homes):
        if neighbours:
            await neighbours.join()
        shown = await scene(town)
        requests = [f"{one.body}" for one in town.chat.received]

    assert list(leaked(requests, shown)) == []
    assert {f"xyzzy{word}" for word in shown} <= set(WORD.findall(" ".join(requests)))


def test_the_reader_finds_what_leaks() -> None:
    """In what a model was given and in what people see; each word where it belongs is none."""
    good = [asks("ada"), asks("bob"), "What is a robot?"]
    shown = {"ada": ["A robot acts.", "xyzzyada"], "bob": []}

    assert list(leaked(good, shown)) == []
    assert len(list(leaked([*good, f"{asks('ada')} {asks('bob')}", f"It was {GONE}."], shown))) == 2
    assert len(list(leaked(good, {**shown, "bob": ["It said xyzzyada."]}))) == 1
