"""What never ends is ended, on the wire."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from adapters.openai import OpenAIChat, OpenAILimits
from adapters.openai.calls import MOST_ARGUMENTS, MOST_DRAFTS
from adapters.openai.reading import LONGEST_EVENT, Reading
from core.answering.agent import Agent
from core.errors import ModelUnavailable
from core.events import Event, ServiceSaid
from core.messages import CUT
from core.model import ModelTurn, TextDelta
from tests.adapters.openai.asking import QUICK, ask, model_of, shown, turn_of
from tests.builders import hit, question
from tests.fakes.shelf import Shelf
from tests.servers.openai import DONE, KEY, MODEL, ChatServer, Forever, Stall, chunk
from tests.servers.service import Reply

FOREVER = b'data: {"choices": [{"delta": {"content": "and on "}}]}\n\n' * 50  # as networks bring them
UNSUPPORTED = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)
TOO_LARGE = "max_tokens is too large: 8192. This model supports at most 4096 completion tokens."
BEDROCK = "BedrockException: The maximum tokens you requested exceeds the model limit of 4096."
NO_ROOM = (
    "This model's maximum context length is 131072 tokens. However, you requested 131180 tokens (122988 in the "
    "messages, 8192 in the completion)."
)


async def test_a_model_that_loops_is_hung_up_on_at_once(model: OpenAIChat, server: ChatServer) -> None:
    """And what it has said until then stands."""
    server.call("search_documents", {"query": "robot"})
    server.say("Robots act [1]. ", then=Forever(FOREVER))
    async with asyncio.timeout(20):
        answer = await Agent(model, Shelf(hit()), clock=time.monotonic).answer(question())
        await server.hung_up.wait()

    assert answer.text.startswith("Robots act [1]. and on")
    assert (answer.text.endswith(f"and on\n\n_{CUT}_"), len(answer.text) < 12_100) == (True, True)
    assert (answer.usage.completion_tokens > 2_900, answer.model) == (True, MODEL)


@pytest.mark.parametrize("finish", ["length", "max_tokens"])
async def test_an_answer_that_the_service_has_cut_is_told_as_one(
    model: OpenAIChat, server: ChatServer, finish: str
) -> None:
    """With the tokens that it counts."""
    server.say("A robot acts", finish=finish)
    turn = await turn_of(model)
    assert (turn.is_cut, turn.usage.completion_tokens > 0) == (True, True)


async def test_an_answer_that_is_cut_before_its_first_word_is_not_asked_for_again(
    model: OpenAIChat, server: ChatServer
) -> None:
    """Its thoughts would take as long again."""
    server.say("<think>Hm", finish="length")
    with pytest.raises(ModelUnavailable, match="Set OPENAI_MAX_TOKENS"):
        await ask(model)
    assert len(server.received) == 1


async def test_an_answer_that_its_server_takes_for_thoughts_is_told_as_none(
    model: OpenAIChat, server: ChatServer
) -> None:
    """A server that is started with the wrong parser does so each time, and nothing of it is shown."""
    for _ in range(3):
        server.stream(chunk({"reasoning_content": "A robot acts."}), chunk({}, finish="stop"), DONE)
    with pytest.raises(ModelUnavailable, match="wrote thoughts and no answer"):
        await ask(model)


@pytest.mark.parametrize(
    ("refusals", "asked"),
    [
        ((), "max_tokens"),
        ((UNSUPPORTED,), "max_completion_tokens"),
        ((TOO_LARGE, TOO_LARGE.replace("max_", "max_completion_")), None),
        ((BEDROCK, BEDROCK), None),
    ],
)
async def test_no_more_tokens_are_asked_for_than_is_set(
    server: ChatServer, refusals: tuple[str, ...], asked: str | None
) -> None:
    """In the words that the endpoint understands, and without where the model cannot write as many."""
    model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, limits=OpenAILimits(tokens=8_192), retries=QUICK)
    server.faults.extend(Reply(400, {"error": {"message": refusal}}) for refusal in refusals)
    for _ in range(2):
        server.say("Yes.")
        assert (await turn_of(model)).text == "Yes."
    bounds = [{name: sent for name, sent in one.body.items() if name.startswith("max_")} for one in server.received]
    assert bounds[len(refusals) :] == [{asked: 8_192} if asked else {}] * 2
    await model.aclose()


async def test_a_long_conversation_leaves_the_bound_to_shorter_ones(server: ChatServer) -> None:
    """It is asked again without one, since the service knows what room is left."""
    model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, limits=OpenAILimits(tokens=8_192), retries=QUICK)
    server.faults.append(Reply(400, {"error": {"message": NO_ROOM}}))
    for _ in range(2):
        server.say("Yes.")
        assert (await turn_of(model)).text == "Yes."
    assert [one.body.get("max_tokens") for one in server.received] == [8_192, None, 8_192]
    await model.aclose()


SMALL = (
    "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 4096 tokens "
    "and your request has 19 input tokens (8192 > 4096 - 19)."
)
OF_A_MINUTE = (
    "Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 4096, Requested 8211, please "
    "reduce your message size and try again."
)


@pytest.mark.parametrize(("status", "says"), [(400, SMALL), (413, OF_A_MINUTE)], ids=["vLLM", "Groq"])
async def test_a_small_context_is_met_once(server: ChatServer, status: int, says: str) -> None:
    """It stands in the refusal, and from then on no more is asked for than there is room for."""
    model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, limits=OpenAILimits(tokens=8_192), retries=QUICK)
    refusal = Reply(status, {"error": {"message": says}})
    server.rules.append(lambda body: refusal if body["max_tokens"] > 4077 else None)
    for _ in range(2):
        server.say("Yes.")
        assert (await turn_of(model)).text == "Yes."
    assert [one.body.get("max_tokens") for one in server.received] == [8_192, 1_024, 1_024]
    assert model.context_tokens == 4_096
    await model.aclose()


async def test_a_long_conversation_has_an_answer_whatever_its_bound_is_called(server: ChatServer) -> None:
    """Where the service wants another name for it first."""
    model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, limits=OpenAILimits(tokens=8_192), retries=QUICK)
    server.faults.extend(Reply(400, {"error": {"message": said}}) for said in (UNSUPPORTED, NO_ROOM))
    server.say("Yes.")
    async with asyncio.timeout(20):
        assert (await turn_of(model)).text == "Yes."
    assert not any(name.startswith("max_") for name in server.received[-1].body)
    assert len(server.received) == 3
    await model.aclose()


async def test_an_event_without_an_end_is_refused(model: OpenAIChat, server: ChatServer) -> None:
    """Long before it is as long as the longest answer, and each of its bytes is looked at once."""
    server.stream(b"data: ", Forever(b"a" * 16_384))
    with pytest.raises(ModelUnavailable, match="did not finish"):
        await ask(model)
    assert len(server.received) == 1

    reading, piece = Reading(MODEL, ()), b"a" * 16_384
    troubles = [reading.read(piece)[2] for _ in range(LONGEST_EVENT // len(piece) + 1)]
    assert [trouble is None for trouble in troubles] == [True] * (len(troubles) - 1) + [False]


async def test_tool_calls_without_an_end_are_refused(model: OpenAIChat, server: ChatServer) -> None:
    """Each piece of them is looked at as the beginning of another call."""
    function = {"name": "search_documents", "arguments": "}"}
    server.stream(
        *[chunk({"tool_calls": [{"index": 0, "id": "a", "function": function}]})] * (MOST_ARGUMENTS // 17 + 9)
    )
    with pytest.raises(ModelUnavailable, match="did not finish"):
        await ask(model)
    assert len(server.received) == 1


async def test_more_calls_than_anybody_makes_are_refused(model: OpenAIChat, server: ChatServer) -> None:
    """Each of them, however short, is looked for whenever a piece comes."""
    calls = [
        {"index": at, "id": f"call{at}", "function": {"name": "a", "arguments": ""}} for at in range(MOST_DRAFTS + 1)
    ]
    server.stream(chunk({"tool_calls": calls}))
    with pytest.raises(ModelUnavailable, match="did not finish"):
        await ask(model)
    assert len(server.received) == 1


@pytest.mark.parametrize("reason", ["content_filter", "content_filter: SAFETY", "sensitive", "RECITATION"])
async def test_an_answer_that_is_held_back_is_no_whole_one(model: OpenAIChat, server: ChatServer, reason: str) -> None:
    """Half of it is told as cut; before the first word it fails once, and the operator is told why."""
    server.say("A robot", finish=reason)
    turn = await turn_of(model)
    assert (turn.text, turn.is_cut) == ("A robot", True)

    server.say("", finish=reason)
    with pytest.raises(ModelUnavailable, match="content filter") as caught:
        await ask(model)
    assert (len(server.received), caught.value.is_final) == (2, True)


@pytest.mark.parametrize("reason", ["insufficient_system_resource", "network_error", "abort", "timeout"])
async def test_an_answer_that_its_service_gave_up_is_asked_for_again(
    model: OpenAIChat, server: ChatServer, reason: str
) -> None:
    """It has an end, and is half an answer."""
    server.say("A robot", finish=reason)
    server.say("A robot acts.")
    assert (await turn_of(model)).text == "A robot acts."
    assert len(server.received) == 2


async def test_a_call_that_its_service_could_not_read_is_asked_for_again(model: OpenAIChat, server: ChatServer) -> None:
    """As Gemini says it, itself and through OpenRouter; it is no outage, and the third time there are no tools."""
    native = chunk({}, finish="error")
    native["choices"][0]["native_finish_reason"] = "MALFORMED_FUNCTION_CALL"
    server.say("", finish="function_call_filter: MALFORMED_FUNCTION_CALL")
    server.call("search_documents", {"query": "robot"})
    assert [call.name for call in (await turn_of(model)).tool_calls] == ["search_documents"]
    server.stream(native)
    server.stream(native)
    server.say("A robot acts.")
    assert (await turn_of(model)).text == "A robot acts."
    assert ["tools" in received.body for received in server.received] == [True, True, True, True, False]


CALL = chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "search_documents", "arguments": "{}"}}]})


async def test_the_end_of_a_stream_is_the_end_of_an_answer(model: OpenAIChat, server: ChatServer) -> None:
    """Also where nobody has said why, as long as there is an answer."""
    server.stream(chunk({"content": "A robot acts."}), DONE)
    server.stream(CALL, DONE)
    turns = [await turn_of(model) for _ in range(2)]
    assert ([turn.text for turn in turns], len(turns[1].tool_calls)) == (["A robot acts.", ""], 1)
    assert len(server.received) == 2


@pytest.mark.parametrize("finish", [None, ""])
async def test_a_whole_answer_needs_no_reason_to_end(model: OpenAIChat, server: ChatServer, finish: str | None) -> None:
    """It is there."""
    whole = {"choices": [{"message": {"content": "A robot acts."}, "finish_reason": finish}]}
    server.faults.append(Reply(200, whole))
    assert ((await turn_of(model)).text, len(server.received)) == ("A robot acts.", 1)


async def test_the_end_of_a_stream_is_that_of_what_was_held_back(model: OpenAIChat, server: ChatServer) -> None:
    """A call in words, and the answer of a model that was heard thinking before."""
    server.stream(chunk({"content": '{"name": "search_documents", "arguments": {"query": "arms"}}'}), DONE)
    assert [call.arguments for call in (await turn_of(model)).tool_calls] == ['{"query": "arms"}']
    server.say("I know.\n</think>\nYes.")
    await turn_of(model)
    server.stream(chunk({"content": "A robot acts."}), DONE)
    assert ((await turn_of(model)).text, len(server.received)) == ("A robot acts.", 3)


@pytest.mark.parametrize("reason", ["OTHER", "unknown"])
async def test_an_answer_of_which_nobody_knows_whether_it_is_whole_is_told_as_cut(
    model: OpenAIChat, server: ChatServer, reason: str
) -> None:
    """What is there stands; with nothing written, it is asked for again."""
    server.say("", finish=reason)
    server.say("A robot", finish=reason)
    turn = await turn_of(model)
    assert (turn.text, turn.is_cut, len(server.received)) == ("A robot", True, 2)


@pytest.mark.parametrize(
    "said",
    [
        {"object": "error", "message": "The engine is overloaded.", "type": "InternalServerError", "code": 500},
        {"code": 50505, "message": "The engine is overloaded.", "data": None},
    ],
)
async def test_an_error_in_the_middle_is_no_end(server: ChatServer, said: dict[str, object]) -> None:
    """Also in the shape that has nothing around it, and with an end right behind it; the operator is told."""
    error = f"event: error\ndata: {json.dumps(said)}\n\n".encode()
    server.stream(chunk({"content": "A robot"}), error, DONE)
    server.say("A robot acts.")
    events = list[Event]()
    model = model_of(server, observer=events.append)
    items = await ask(model)
    await model.aclose()
    assert (shown(items), len(server.received)) == ("A robot acts.", 2)
    assert ["overloaded" in event.detail for event in events if isinstance(event, ServiceSaid)] == [True]


@pytest.mark.parametrize("steps", [(), (chunk({"content": " "}),), (chunk({"reasoning_content": "Hm."}),)])
async def test_the_end_of_a_stream_without_an_answer_is_none(
    model: OpenAIChat, server: ChatServer, steps: tuple[dict[str, object], ...]
) -> None:
    """Blanks and thoughts are nothing to show."""
    server.stream(*steps, DONE)
    server.say("A robot acts.")
    assert (await turn_of(model)).text == "A robot acts."


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/event-stream"])
@pytest.mark.parametrize("streams", [True, False])
async def test_an_answer_is_read_as_what_it_is(model: OpenAIChat, server: ChatServer, kind: str, streams: bool) -> None:
    """Whatever it is called."""
    whole = {"choices": [{"message": {"content": "A robot acts."}, "finish_reason": "stop"}]}
    events = [json.dumps(each) for each in (chunk({"content": "A robot acts."}), chunk({}, finish="stop"))]
    stream = "".join(f"data: {event}\n\n" for event in events)
    server.faults.append(Reply(200, stream if streams else whole, {"Content-Type": kind}))
    assert (await turn_of(model)).text == "A robot acts."
    assert len(server.received) == 1


@pytest.mark.parametrize("last", [[], [{**chunk({}), "choices": [], "usage": {"prompt_tokens": 9}}]])
async def test_a_line_that_is_left_open_delays_nothing(
    model: OpenAIChat, server: ChatServer, last: list[dict[str, object]]
) -> None:
    """What an answer has cost comes right behind it, or not at all."""
    server.stream(chunk({"content": "A robot acts."}), chunk({}, finish="stop"), *last, Stall())
    async with asyncio.timeout(5):
        turn = await turn_of(model)
    assert (turn.text, turn.usage.prompt_tokens) == ("A robot acts.", 9 if last else 0)


HALVES = [b'"A \\ud83e"', b'"\\udd16 acts "', b'"\\ud83d"', b'"."']


async def test_half_an_emoji_waits_for_its_other_half(model: OpenAIChat, server: ChatServer) -> None:
    """Some services cut between them; what has no other half is no character."""
    events = [b'data: {"choices": [{"delta": {"content": ' + half + b"}}]}\n\n" for half in HALVES]
    server.stream(*events, chunk({}, finish="stop"), DONE)
    items = await ask(model)
    assert items[0] == TextDelta("A 🤖 acts .")
    assert isinstance(items[-1], ModelTurn)
    assert items[-1].text.encode() == "A 🤖 acts .".encode()


async def test_arguments_are_characters_too(model: OpenAIChat, server: ChatServer) -> None:
    """They go back to the service."""
    event = (
        b'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"arguments": %b}}]}}]}\n\n'
    )
    first = event % b'"{\\"query\\": \\"\\ud83e", "name": "search_documents"'
    rest = event % b'"\\udd16\\"}"'
    server.stream(first, rest, chunk({}, finish="tool_calls"), DONE)
    assert (await turn_of(model)).tool_calls[0].arguments == '{"query": "🤖"}'
