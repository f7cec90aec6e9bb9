"""The use case: one question in one thread, with memory where there is one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import pytest

from core.answering.agent import Agent
from core.answering.attention import Attention
from core.answering.responder import Responder
from core.community.admission import Admission
from core.errors import ModelUnavailable
from core.events import Answered, BudgetAlerted, Charged, Event, MemoryFailed, Passed, State, StateChanged, Step
from core.messages import PAUSED, budget_alert
from core.model import (
    Answer,
    Budget,
    BudgetAlert,
    Claim,
    Conversation,
    Cost,
    Delivery,
    Holder,
    Measure,
    MessageRef,
    Period,
    Person,
    Policy,
    Progress,
    Question,
    Reaction,
    Status,
    Turn,
    Usage,
)
from tests.builders import NOON, hit, question, thread, turn_of
from tests.fakes.chat import Script, ScriptedChatModel, asked_of, search, turn
from tests.fakes.clock import Clock
from tests.fakes.conversations import MemoryConversations
from tests.fakes.dedup import MemoryDedup
from tests.fakes.inbox import MemoryInbox
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.quota import MemoryQuota
from tests.fakes.shelf import Shelf
from tests.fakes.surface import RecordingSurface
from tests.fakes.visibility import visibility

ANSWERED = (turn("Robots act [1]."),)


class ClosedSurface(RecordingSurface):
    """Takes no posts."""

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Mark the question, as no answer can be read."""
        await super().reply(claim, progress)
        await self.react(claim, Reaction.WARNING)
        return Delivery()


class Desk:
    """A responder with everything around it, to look at afterwards."""

    def __init__(
        self,
        model: ScriptedChatModel,
        *,
        shelf: Shelf | None = None,
        inbox: MemoryInbox | None = None,
        remembers: bool = True,
        paused: bool = False,
        budgets: Sequence[Budget] = (),
        judges: bool = False,
    ) -> None:
        self.store = MemoryConversations(ttl=timedelta(hours=1), now=Clock().now)
        self.surface = RecordingSurface()
        self.events: list[Event] = []
        agent, visible = Agent(model, shelf := shelf or Shelf(hit()), clock=Clock()), visibility(shelf)
        conversations, self.quota = self.store if remembers else None, MemoryQuota(now=lambda: NOON)
        policies = MemoryPolicies({"test:w": Policy(paused_by=Person(id="mod"))} if paused else {})
        self._responder = Responder(
            agent,
            conversations,
            now=lambda: NOON,
            deliveries=inbox,
            admission=Admission(visible, policies, self.quota, MemoryDedup(), now=lambda: NOON, budgets=budgets),
            attention=Attention(agent) if judges else None,
            observer=self.events.append,
        )

    async def ask(self, asked: Question | None = None, *, attempt: int = 1) -> Answer:
        """Put a question."""
        return await self.answer(Claim(asked or question(), attempt=attempt))

    async def answer(self, claim: Claim) -> Answer:
        """Answer a question that is held."""
        return await self._responder.respond(claim, self.surface)

    async def apologize(self, claim: Claim) -> None:
        """Give a question up."""
        await self._responder.apologize(claim, self.surface)

    async def repeat(self, remembered: Turn, *, attempt: int) -> None:
        """Have an answer shown again."""
        await self._responder.repeat(Claim(question(), attempt=attempt), self.surface, remembered)


async def test_the_answer_is_drawn_and_remembered(script: Script) -> None:
    """The turn holds what was asked, said, cited and done, with its time."""
    desk = Desk(script(*ANSWERED))
    answer = await desk.ask()

    assert desk.surface.shown[-1] == answer
    assert await desk.store.load(thread()) == Conversation(
        thread=thread(),
        turns=(
            Turn(
                question_ref=question().message,
                question="What is a robot?",
                answer="Robots act [1].",
                citations=answer.citations,
                tool_calls=answer.tool_calls,
                at=NOON,
                author_id="p1",
                asked_at=NOON,
                messages=(MessageRef(thread=thread(), id="m1-reply"),),
                quoted=(),
            ),
        ),
    )
    assert desk.events == [
        StateChanged(question().message, State.RECEIVED),
        StateChanged(question().message, State.VALIDATING),
        Passed(question().message, Step.SHOWN),
        Passed(question().message, Step.REMEMBERED),
        Charged(question().message, Cost(questions=1)),
        Answered.of(question().message, answer),
        StateChanged(question().message, State.COMPLETE),
    ]
    assert desk.surface.reactions == []


async def test_the_next_question_is_asked_with_what_was_said(script: Script) -> None:
    """The prompt of the second question has the first one without its passages, and the answer without its marks."""
    model = script(*ANSWERED, *ANSWERED)
    desk = Desk(model)

    await desk.ask()
    await desk.ask(question("And its arm?", id="m2"))

    first, second = model.prompts[0].messages, model.prompts[1].messages
    assert second[:1] == first[:1]
    assert [asked_of(message) for message in second[1:]] == ["What is a robot?", "Robots act.", "And its arm?"]


@pytest.mark.promise("edits-count")
async def test_a_question_that_is_answered_anew_is_asked_as_if_for_the_first_time(script: Script) -> None:
    """Neither its former words nor the former answer are part of what was said before, also not for the search."""
    model, shelf = script(*ANSWERED, *ANSWERED), Shelf(hit())
    desk = Desk(model, shelf=shelf)

    await desk.ask(question("What is a robt?"))
    await desk.ask(question("What is a robot?"))

    assert [asked_of(message) for message in model.prompts[1].messages[1:]] == ["What is a robot?"]
    assert [asked.earlier for asked in shelf.asked] == ["", ""]


async def test_another_thread_knows_nothing_of_it(script: Script) -> None:
    """What was said stays where it was said."""
    model = script(*ANSWERED, *ANSWERED)
    desk = Desk(model)

    await desk.ask()
    await desk.ask(question("And its arm?", in_thread="2"))

    assert len(model.prompts[1].messages) == 2


@pytest.mark.parametrize("fields", [{"visibility": "private"}, {"selection": "Robots act."}])
async def test_private_questions_and_selections_neither_read_nor_write_memory(
    fields: dict[str, str], script: Script
) -> None:
    """They stand alone."""
    model = script(turn("Hi [1]."))
    desk = Desk(model)
    await desk.store.append(thread(), turn_of("What came before?"))

    answer = await desk.ask(question("Hello!", **fields))

    conversation = await desk.store.load(thread())
    assert answer.status is Status.ANSWERED
    assert len(model.prompts[0].messages) == 2
    assert conversation == Conversation(thread=thread(), turns=(turn_of("What came before?"),))


@pytest.mark.promise("paused")
async def test_a_refusal_is_said_once_and_neither_searched_nor_remembered(script: Script) -> None:
    """The model is not asked; somebody who has just been told hears nothing more."""
    model = script()
    desk = Desk(model, paused=True)

    answers = [await desk.ask(), await desk.ask(question(id="m2"))]

    assert [answer.status for answer in answers] == [Status.REFUSED, Status.REFUSED]
    assert (desk.surface.refused, desk.surface.shown) == ([answers[0].text], [])
    assert answers[0].text == PAUSED
    assert desk.surface.reactions == []
    assert not (await desk.store.load(thread())).turns
    assert StateChanged(question().message, State.ERROR, "validation") in desk.events


class Shut(RecordingSurface):
    """A surface that may post nothing; it finds that out with the answer in hand, or *knows* it before."""

    def __init__(self, *, knows: bool) -> None:
        super().__init__()
        self._knows = knows

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Post nothing."""
        if not self._knows:
            await super().reply(claim, progress)
        return Delivery()


@pytest.mark.promise("refusals-end")
@pytest.mark.parametrize(("knows", "status", "calls"), [(False, Status.ANSWERED, 1), (True, Status.REFUSED, 0)])
async def test_what_nobody_could_read_is_not_remembered(
    script: Script, knows: bool, status: Status, calls: int
) -> None:
    """A surface that knows beforehand that it can show nothing costs no model."""
    model = script(*ANSWERED[:calls])
    desk = Desk(model)
    desk.surface = Shut(knows=knows)

    answer = await desk.ask()

    assert (answer.status, len(model.prompts)) == (status, calls)
    assert not (await desk.store.load(thread())).turns
    assert desk.events[-2] == Answered.of(question().message, answer)


async def test_without_a_store_there_is_an_answer_without_memory(script: Script) -> None:
    """One question in the terminal needs none."""
    desk = Desk(script(*ANSWERED), remembers=False)

    assert (await desk.ask()).status is Status.ANSWERED
    assert not (await desk.store.load(thread())).turns


async def test_a_store_that_is_down_costs_the_memory_and_not_the_answer(script: Script) -> None:
    """Both losses are told to observers; the reader sees the answer without a warning."""
    desk = Desk(script(*ANSWERED))
    desk.store.fails = True

    answer = await desk.ask()

    about = question().message
    assert (answer.status, desk.surface.reactions) == (Status.ANSWERED, [])
    assert desk.events == [
        StateChanged(about, State.RECEIVED),
        StateChanged(about, State.VALIDATING),
        MemoryFailed(about, "load"),
        Passed(about, Step.SHOWN),
        MemoryFailed(about, "append"),
        Charged(about, Cost(questions=1)),
        Answered.of(about, answer),
        StateChanged(about, State.COMPLETE),
    ]


async def test_nothing_found_is_no_warning_and_is_remembered(script: Script) -> None:
    """It is an honest end; its state tells why there is no answer."""
    desk = Desk(script(turn("")), shelf=Shelf(hit(0.3)))

    answer = await desk.ask()

    conversation = await desk.store.load(thread())
    assert [one.answer for one in conversation.turns] == [answer.text]
    assert desk.surface.reactions == []
    assert desk.events[-1] == StateChanged(question().message, State.ERROR, "no_context")


async def test_an_index_that_is_down_is_a_warning_and_not_remembered(script: Script) -> None:
    """The mark is on the question, once."""
    shelf = Shelf()
    shelf.fails_on = [question().text]
    desk = Desk(script(), shelf=shelf)

    await desk.ask()

    assert desk.surface.reactions == [(question().message, Reaction.WARNING)]
    assert not (await desk.store.load(thread())).turns
    assert desk.events[-1] == StateChanged(question().message, State.ERROR, "retrieval")


async def test_a_model_that_is_down_is_a_warning_and_not_remembered(script: Script) -> None:
    """The mark is on the question, once."""
    desk = Desk(script(turn(ModelUnavailable("down"))))

    await desk.ask()

    assert desk.surface.reactions == [(question().message, Reaction.WARNING)]
    assert not (await desk.store.load(thread())).turns
    assert desk.events[-1] == StateChanged(question().message, State.ERROR, "generation")


async def test_a_later_try_that_finds_an_answer_takes_the_warning_away(script: Script) -> None:
    """The first one left it, and the sentence below the question."""
    shelf = Shelf(hit())
    shelf.fails_on = [question().text]
    desk = Desk(script(*ANSWERED), shelf=shelf)
    await desk.ask()
    shelf.fails_on = ()

    answer = await desk.ask(attempt=2)

    assert (answer.status, desk.surface.reactions) == (Status.ANSWERED, [])


async def test_an_answer_that_is_shown_again_takes_the_warning_away(script: Script) -> None:
    """A second process found no answer while the first one, which had one, was frozen."""
    desk = Desk(script())
    await desk.surface.react(Claim(question()), Reaction.WARNING)
    await desk.repeat(turn_of("What is a robot?", id="m1"), attempt=2)

    [shown] = desk.surface.shown
    assert isinstance(shown, Answer)
    assert (shown.text, desk.surface.reactions) == ("It acts.", [])


async def test_a_first_try_looks_for_no_warning(script: Script) -> None:
    """There is none yet, and every call to a platform counts."""
    desk = Desk(script(*ANSWERED))
    await desk.surface.react(Claim(question()), Reaction.WARNING)

    await desk.ask()

    assert desk.surface.reactions == [(question().message, Reaction.WARNING)]


async def test_a_warning_that_the_surface_leaves_in_a_later_try_stays(script: Script) -> None:
    """It could not show the answer that was found."""
    desk = Desk(script(*ANSWERED))
    desk.surface = ClosedSurface()

    await desk.ask(attempt=2)

    assert desk.surface.reactions == [(question().message, Reaction.WARNING)]


async def test_a_search_by_words_alone_is_a_warning_and_remembered(script: Script) -> None:
    """It is an answer all the same."""
    shelf = Shelf(hit())
    shelf.lexical_only = True
    desk = Desk(script(*ANSWERED), shelf=shelf)

    await desk.ask()

    assert desk.surface.reactions == [(question().message, Reaction.WARNING)]
    assert (await desk.store.load(thread())).turns
    assert desk.events[-1] == StateChanged(question().message, State.COMPLETE)


async def test_a_surface_that_breaks_ends_the_models_work_and_the_error_comes_out(script: Script) -> None:
    """Nothing is remembered that nobody has seen whole."""
    model = script(turn("Robots ", "sense ", "and act [1]."))
    desk = Desk(model)
    desk.surface = RecordingSurface(breaks_after=3)

    with pytest.raises(ConnectionError):
        await desk.ask()

    assert model.closed_early == 1
    assert not (await desk.store.load(thread())).turns
    assert desk.events[-1] == StateChanged(question().message, State.ERROR, "generation")


@pytest.mark.promise("budgets-are-told")
async def test_moderators_hear_what_their_community_has_used_up_once_an_answer_is_there(script: Script) -> None:
    """An answer that broke costs what it has cost, and leaves the telling to the next one."""
    tokens = Budget(holder=Holder.COMMUNITY, measure=Measure.TOKENS, most=20)
    dear, cheap = (turn(search("robot"), usage=Usage(prompt_tokens=used)) for used in (17, 1))
    written = turn("Robots ", "sense ", "and act [1].")
    desk = Desk(script(dear, written, cheap, written), budgets=[tokens])
    desk.surface = RecordingSurface(breaks_after=4)
    with pytest.raises(ConnectionError):
        await desk.ask()
    broken, desk.surface = desk.surface, RecordingSurface()

    await desk.ask(question(id="m2"))

    alert = BudgetAlert(tokens, 80, Period.DAY.around(NOON)[1])
    home = thread().home
    assert (broken.alerts, desk.surface.alerts) == ([], [(home, budget_alert(alert))])
    assert BudgetAlerted(str(home), "community 20 tokens day", 80) in desk.events
