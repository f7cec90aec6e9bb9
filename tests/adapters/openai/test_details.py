"""What a service says reaches the operator, and nobody's words with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import quote

import pytest

from adapters.openai import OpenAIChat, checked
from adapters.vendors import ECHO, Sent
from core.errors import FootnoteError, ModelUnavailable
from core.events import Event, ServiceSaid, only
from core.model import Prompt
from tests.adapters.openai.asking import ask, model_of, turn_of
from tests.servers.openai import ERROR_EVENT, KEY, ChatServer, chunk
from tests.servers.service import Reply

SAID = 'My name is Grace "Hopper", my number is 0170-1234567.\nПочему робот двигается?\tWarum?'
PASSAGE = "Robots\\arms of the secret project Nightingale\n• move by 12.5 degrees."
CALL: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "search_documents", "arguments": '{"query": "Grace Hopper"}'},
}
PROMPT = Prompt(
    (
        {"role": "system", "content": "Answer from the documents alone."},
        {"role": "user", "content": SAID},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": json.dumps({"data": PASSAGE})},
    )
)
ECHOES: Mapping[str, Callable[[Any], str]] = {
    "as it is": lambda body: "\n".join(str(each["content"]) for each in body["messages"]),
    "as JSON": json.dumps,
    "as JSON with its characters": lambda body: json.dumps(body, ensure_ascii=False),
    "as Python": repr,
    "by its end": lambda body: repr(body)[-400:],
    "as JSON in JSON": lambda body: json.dumps(json.dumps(body)),
    "as bytes": lambda body: repr(json.dumps(body, ensure_ascii=False).encode()),
    "in an address": lambda body: quote(json.dumps(body, ensure_ascii=False)),
    "as HTML": lambda body: "\n".join(escape(str(each["content"])) for each in body["messages"]),
    "as XML": lambda body: str(body).encode("ascii", "xmlcharrefreplace").decode(),
    "in capitals": lambda body: str(body["messages"]).upper(),
    "with the key": lambda body: f"{KEY} sent {body['messages'][1]['content']}",
}


def runs(text: str) -> Iterator[str]:
    """Each run of characters that nobody may read again; those of blanks are nobody's."""
    flat = " ".join(text.split())
    return (flat[at : at + ECHO] for at in range(len(flat) - ECHO + 1))


def all_runs() -> set[str]:
    """Those of all that was sent, in the forms that a server may write them in."""
    texts = [
        KEY,
        SAID,
        PASSAGE,
        json.dumps(SAID),
        json.dumps({"data": PASSAGE}),
        repr(SAID),
        PROMPT.messages[0]["content"],
    ]
    return {run for text in (*texts, CALL["function"]["arguments"]) for run in runs(str(text))}


@pytest.mark.promise("refusals-told")
@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("status", [400, 401, 429, 500, 200])
async def test_a_server_that_repeats_all_tells_nobody(
    server: ChatServer, echo: Callable[[Any], str], status: int
) -> None:
    """What is left are its own code, type and words, in the log and in the error, and none of them for readers."""

    def rule(body: Mapping[str, Any]) -> Reply | None:
        error = {"message": f"Cannot: {echo(body)} Sorry!", "type": "odd_error", "code": "odd_7"}
        return Reply(status, {"error": error})

    server.rules.append(rule)
    seen: list[Event] = []
    model = model_of(server, observer=seen.append)
    with pytest.raises(ModelUnavailable) as caught:
        await ask(model, PROMPT)
    await model.aclose()

    details = [event.detail for event in seen if isinstance(event, ServiceSaid)]
    told = "\n".join((*details, caught.value.detail, repr(caught.value.__cause__)))
    assert {run for run in all_runs() if run in told} == set()
    assert details[0].startswith((f"status {status}, odd_error, odd_7: Cannot:", "odd_error, odd_7: Cannot:"))
    assert all(len(detail) <= 300 for detail in (*details, caught.value.detail))
    assert (details[-1], "odd_7" in str(caught.value)) == (caught.value.detail, False)


async def test_thoughts_that_were_sent_back_are_nobodys_words(server: ChatServer) -> None:
    """They go with the call that they led to, and come back in a refusal."""
    seen: list[ServiceSaid] = []
    model = model_of(server, observer=only(seen.append, ServiceSaid))
    thought = "Grace wants her salary raised."
    server.stream(chunk({"reasoning_content": thought}), chunk({"tool_calls": [CALL]}), chunk({}, finish="tool_calls"))
    turn = await turn_of(model)
    server.faults.append(Reply(400, {"error": {"message": f"Bad: {thought} Why?"}}))
    with pytest.raises(ModelUnavailable):
        await ask(model, Prompt((*PROMPT.messages[:2], turn.message(turn.tool_calls), *PROMPT.messages[3:])))
    await model.aclose()
    assert server.received[-1].body["messages"][2]["reasoning_content"] == thought
    assert [each.detail for each in seen] == ["status 400: Bad: … Why?"]


async def test_what_a_service_refuses_is_told_as_it_says_it(server: ChatServer) -> None:
    """Also what is met by asking in another way; at most 300 characters of it."""
    seen: list[ServiceSaid] = []
    model = model_of(server, observer=only(seen.append, ServiceSaid))
    error = {"message": "registry.ollama.ai/library/gemma3 does not support tools", "type": "api_error", "code": None}
    server.faults += [Reply(400, {"error": error}), Reply(503, "x" * 5_000), Reply(500, ["?"])]
    server.say("Yes.")
    await ask(model)
    await model.aclose()
    assert [event.detail for event in seen] == [
        "status 400, api_error: registry.ollama.ai/library/gemma3 does not support tools",
        f"status 503: {'x' * 288}",
        'status 500: ["?"]',
    ]


async def test_what_is_said_in_the_middle_of_a_stream_is_told(server: ChatServer) -> None:
    """Services have errors there, too."""
    seen: list[ServiceSaid] = []
    model = model_of(server, observer=only(seen.append, ServiceSaid))
    server.stream(chunk({"content": "Half"}), ERROR_EVENT)
    server.say("Yes.")
    await ask(model)
    await model.aclose()
    assert [event.detail for event in seen] == ["server_error: The server had an error."]


async def test_the_doctor_is_told_what_a_service_says(model: OpenAIChat, server: ChatServer) -> None:
    """The sentence is ours, and the detail is its."""
    server.broken = Reply(400, {"error": {"message": "Bad thing.", "code": "bad"}})
    with pytest.raises(FootnoteError) as caught:
        await checked(model)
    assert (caught.value.detail, "Bad thing" in str(caught.value)) == ("status 400, bad: Bad thing.", False)


@pytest.mark.parametrize(
    ("text", "sent", "left"),
    [
        ("abcdefgh", ["abcdefgh"], "…"),
        ("abcdefg", ["abcdefg"], "abcdefg"),
        ("no: 12345678 and 12345678!", ["12345678"], "no: … and …!"),
        ("one two three four", ["two three four", "one two three"], "…"),
        ("x\n\ny", [""], "x y"),
        ("Bearer abc sk-12", [], "Bearer … …"),
    ],
)
def test_an_echo_is_left_out(text: str, sent: list[str], left: str) -> None:
    """From eight characters on; two texts that were sent are no text together."""
    assert Sent(sent).cut_from(text) == left
