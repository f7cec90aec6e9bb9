"""What the inbox is told of an answer, so that later edits, deletions and attempts find what stands there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from core.answering.agent import Agent
from core.answering.responder import Responder
from core.errors import ModelUnavailable
from core.events import Answered
from core.model import Answer, Asked, Claim, Deleted, Delivery, Message, MessageRef, Progress, Reaction
from tests.builders import NOON, hit, question, thread
from tests.fakes.chat import Script, ScriptedChatModel, asked_of, turn
from tests.fakes.clock import Clock
from tests.fakes.conversations import MemoryConversations
from tests.fakes.inbox import MemoryInbox
from tests.fakes.shelf import Shelf
from tests.fakes.surface import RecordingSurface
from tests.inboxes import WRITTEN
from tests.unit.test_responder import Desk

ANSWERED = (turn("Robots act [1]."),)


class InChannel(RecordingSurface):
    """Answers in the channel, where somebody deletes the answer at once: its event calls it the begin of a thread."""

    def __init__(self, inbox: MemoryInbox) -> None:
        super().__init__()
        self._inbox = inbox

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Post it."""
        await super().reply(claim, progress)
        await self._inbox.put(Deleted(message=MessageRef(thread=thread("9"), id="9")))
        return Delivery(messages=(MessageRef(thread=thread("c"), id="9"),))


def responder(model: ScriptedChatModel, inbox: MemoryInbox, store: MemoryConversations | None = None) -> Responder:
    """Make one that has something to search."""
    return Responder(Agent(model, Shelf(hit()), clock=Clock()), store, now=lambda: NOON, deliveries=inbox)


async def test_a_warning_is_noted_and_an_edit_that_is_answered_takes_it_away(script: Script) -> None:
    """Though an edit is no further attempt."""
    inbox, surface, about = MemoryInbox(), RecordingSurface(), question().message
    answering = responder(script(turn(ModelUnavailable("down")), *ANSWERED), inbox)
    await inbox.put(Asked(question=question()))
    async with inbox.claim() as task:
        assert isinstance(task, Claim)
        await answering.respond(task, surface)
        noted, marks = await inbox.delivered(about), list(surface.reactions)
        await answering.respond(Claim(task.question, fence=task.fence, delivery=noted), surface)

    assert (noted.is_marked, marks) == (True, [(about, Reaction.WARNING)])
    assert ((await inbox.delivered(about)).is_marked, surface.reactions) == (False, [])


async def test_an_answer_in_a_channel_that_is_deleted_while_it_is_written_is_not_remembered(script: Script) -> None:
    """By whichever name the platform calls it."""
    inbox, store = MemoryInbox(), MemoryConversations(ttl=timedelta(hours=1), now=Clock().now)
    await inbox.put(Asked(question=question()))
    async with inbox.claim() as task:
        assert isinstance(task, Claim)
        await responder(script(*ANSWERED), inbox, store).respond(task, InChannel(inbox))

    assert not (await store.load(thread())).turns


@pytest.mark.promise("paused")
@pytest.mark.parametrize("paused", [False, True])
async def test_what_was_written_by_whoever_died_counts_as_an_answer_and_is_refused_like_one(
    script: Script, *, paused: bool
) -> None:
    """A moderator may have paused the bot while nobody was at it."""
    desk = Desk(script(), paused=paused)
    answer = await desk.answer(Claim(question(), attempt=2, delivery=WRITTEN))

    assert (answer == WRITTEN.answer, WRITTEN.answer in desk.surface.shown) == (not paused, not paused)
    assert (not (await desk.store.load(thread())).turns) == paused
    assert sum(isinstance(each, Answered) for each in desk.events) == 1


async def test_a_failure_takes_no_whole_answers_place(script: Script) -> None:
    """A store that went back in time knows of the message, and not that the answer in it had come to its end."""
    inbox, surface = MemoryInbox(), RecordingSurface()
    answering = responder(script(turn(ModelUnavailable("down"))), inbox)
    posted = Delivery(messages=(MessageRef(thread=thread(), id="5"),))
    whole = Delivery(messages=(*posted.messages, MessageRef(thread=thread(), id="6")))
    await inbox.put(Asked(question=question()))
    async with inbox.claim() as task:
        surface.stands = posted
        claim = Claim(question(), fence=task.fence, attempt=2)
        await answering.respond(claim, surface)
        noted = await inbox.delivered(question().message)
        surface.stands = whole
        await surface.react(claim, Reaction.WARNING)  # by an apology that somebody was late to write over
        await answering.apologize(claim, surface)
        after = await inbox.delivered(question().message)

    assert (noted, after) == (posted, whole)
    assert ([each for each in surface.shown if isinstance(each, Answer)], surface.reactions) == ([], [])


async def test_nothing_is_drawn_over_a_whole_answer_before_there_is_another(script: Script) -> None:
    """No draft of the next one, and no word of one that breaks off; nor is its last message looked for once more."""
    inbox, surface = MemoryInbox(), RecordingSurface()
    surface.stands = Delivery(messages=(MessageRef(thread=thread(), id="5"),))
    await inbox.put(Asked(question=question()))
    async with inbox.claim() as task:
        claim = Claim(question(), fence=task.fence, attempt=2, delivery=Delivery(trying=Clock().now()))
        await responder(script(*ANSWERED), inbox).respond(claim, surface)

    assert [type(each) for each in surface.shown] == [Answer]
    assert [each.delivery for each in surface.claims] == [surface.stands]


async def test_what_was_written_before_is_shown_while_the_index_is_away(script: Script) -> None:
    """What may be read was asked before it was written, and a failure would take its place."""
    desk = Desk(script(), shelf=(shelf := Shelf(hit())))
    shelf.fails = True

    assert WRITTEN.answer is not None
    answer = await desk.answer(Claim(question(), attempt=2, delivery=WRITTEN))

    assert (answer.text, desk.surface.shown[-1:]) == (WRITTEN.answer.text, [answer])
    assert (await desk.store.load(thread())).turns


@pytest.mark.promise("forget-person")
async def test_an_answer_is_kept_with_whose_words_it_may_hold(script: Script) -> None:
    """Those that were quoted to its question, and to those before; without them no model is told what was answered."""
    model = script(*ANSWERED, *ANSWERED, *ANSWERED)
    desk, theirs = Desk(model), Message(role="user", text="Robots rest.", author_id="p2")

    await desk.ask(question(context=(theirs,)))
    await desk.ask(question("And its arm?", id="m2"))
    found = await desk.store.load(thread())
    await desk.store.unquote(thread().home, "p2")
    await desk.ask(question("And its leg?", id="m3"))

    assert [each.quoted for each in found.turns] == [("p2",), ("p2",)]
    assert [asked_of(message) for message in model.prompts[2].messages[1:]] == ["And its leg?"]
