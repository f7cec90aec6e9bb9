"""What the doctor finds out about a chat model: whether it is there, and what it can do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import aclosing, suppress
from datetime import timedelta

from adapters.openai.asking import Asking
from adapters.openai.chat import OpenAIChat
from adapters.openai.client import place
from adapters.openai.failures import diagnose, failures
from adapters.openai.refusals import refusal_of
from core.errors import Misconfigured, ModelUnavailable
from core.messages.wording import about
from core.model import ModelTurn, Prompt, ToolSpec

PATIENCE = 14.0  # seconds for a model that is there; one that is loaded first takes longer
LOOK_UP = ToolSpec(
    "look_up",
    "Look up a word.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
FAILED = 500  # the status of a server that cannot write the prompt, by its template, and of others
SLIPS = 2  # failed tool calls, after which it is asked without tools
TRIED = Prompt(({"role": "user", "content": "Call the tool look_up with the word 'ready'. Say OK if you cannot."},))
GREETED = Prompt(({"role": "user", "content": "Say OK."},))

NO_TOOLS = "It calls no tools, so each question is searched only once, in the words of the person who asks"
DID_NOT_CALL = "It did not call the tool that it was asked to call, so it may not search again by itself"
NO_CHOICE = "It cannot be told not to call tools, so it is given none for the last part of an answer"
NO_SECOND = "It does not answer once it has called a tool, so questions for which it searches again may fail"
NO_STREAM = "It answers in one piece, so readers see nothing until the end"
NO_USAGE = "It does not say how many tokens it used, so they are estimated"
BUSY = "{where} can be reached, but is overloaded{until}. It said: {detail}"
UNTIL, AT_THE_MOMENT = " and asks to be left alone for {}", " at the moment, or still loading the model"
SLOW = (
    "{where} can be reached, but has not begun to answer within {seconds:g} seconds. It may be loading the model, or "
    "be overloaded; a question waits {most:g} seconds for it"
)


class Degraded(str):
    """A line for the operator about something that works, though less well than it might."""

    __slots__ = ()


class Overloaded(Degraded):
    """A line about a model that answers nobody at the moment."""

    __slots__ = ()


async def checked(model: OpenAIChat, *, calls: bool = True, patience: float = PATIENCE) -> str:
    """Return a line about what a model can do, for the operator; a `Degraded` one where it does less than others.

    It has to call a tool, and answer with the result: so the address, the key, the model and what it can do are known.
    One that makes no *calls* only has to speak, and one that is busy is not away.
    Raises `Misconfigured` where an operator has to change something, and `ModelUnavailable` where the service is away.
    """
    asking = Asking(TRIED, (LOOK_UP,)) if calls else Asking(GREETED, ())
    where = f"{model.model} at {place(model.base_url)}"
    await model.connection.load()  # which is our time, and not the model's
    try:
        async with asyncio.timeout(patience) as limit:
            turn, until = await _asked(model, asking), limit.when()
        lacks = await _answers(model, turn, until) if turn.tool_calls else ()
    except TimeoutError:
        most = min(model.limits.first, model.limits.patience)
        return Overloaded(SLOW.format(where=where, seconds=patience, most=most))
    except failures() as error:
        trouble = error
    else:
        model.dialect.learn_context(model.dialect.context or await model.connection.listed_context())
        return _found(where, model, asking, turn, lacks)
    failure = diagnose(trouble, model.model)
    unavailable = await model.unavailable(asking, trouble)
    if failure.is_busy and unavailable.detail:
        until = UNTIL.format(about(timedelta(seconds=unavailable.wait))) if unavailable.wait else AT_THE_MOMENT
        return Overloaded(BUSY.format(where=where, until=until, detail=unavailable.detail))
    error = Misconfigured(failure.sentence) if failure.lasting else ModelUnavailable(failure.sentence)
    error.detail = unavailable.detail
    raise error from model.cause(trouble)


async def _asked(model: OpenAIChat, asking: Asking) -> ModelTurn:
    """Return what the model says, asked again only without what its endpoint does not understand."""
    while True:
        try:
            async with aclosing(model.attempt(asking)) as pieces:
                *_, turn = [piece async for piece in pieces]
        except failures() as error:
            is_slip = diagnose(error, model.model).is_slip and asking.slips < SLIPS
            asking.slips += is_slip
            if not (is_slip or model.learns(asking, error)):
                raise
        else:
            assert isinstance(turn, ModelTurn)  # noqa: S101 - an attempt ends with it
            return turn


async def _answers(model: OpenAIChat, turn: ModelTurn, until: float | None) -> tuple[str, ...]:
    """Return what is missing if the model has called a tool, and is given the result, as after a second search.

    What it writes, and when, does not matter. Raises what says nothing about the model, as that its service is busy.
    """
    results = ({"role": "tool", "tool_call_id": call.id, "content": "It is an adjective."} for call in turn.tool_calls)
    asking = Asking(Prompt((*TRIED.messages, turn.message(turn.tool_calls), *results)), (LOOK_UP,), may_call=False)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await _asked(model, asking)
    except failures() as error:
        failure, refusal = diagnose(error, model.model), refusal_of(error)
        if failure.passing and not failure.is_slip and (refusal is None or refusal.status != FAILED):
            raise
        detail = (await model.unavailable(asking, error)).detail
        return (f"{NO_SECOND}. It said: {detail}" if detail else NO_SECOND,)
    return () if model.dialect.takes_no_calls else (NO_CHOICE,)


def _found(where: str, model: OpenAIChat, asking: Asking, turn: ModelTurn, more: Iterable[str]) -> str:
    lacks = (*_lacks(model, asking, turn), *more)
    can = [f"reads {model.dialect.context:,} tokens"] if model.dialect.context else []
    if turn.tool_calls and model.dialect.has_tools:
        can.insert(0, "calls tools, in its text" if asking.reading and asking.reading.is_written else "calls tools")
    if asking.reading and (asking.reading.thoughts or asking.reading.filter.has_thought):
        can.append("thinks first")
    says = ". ".join([", ".join([where, *can]), *lacks])
    return Degraded(says) if lacks else says


def _lacks(model: OpenAIChat, asking: Asking, turn: ModelTurn) -> Iterator[str]:
    """Yield a sentence for each thing that works less well with this model."""
    if asking.tools and not model.dialect.has_tools:
        yield NO_TOOLS
    elif asking.tools and not turn.tool_calls:
        yield DID_NOT_CALL
    if asking.reading and asking.reading.is_whole:
        yield NO_STREAM
    if not turn.usage.prompt_tokens:
        yield NO_USAGE
