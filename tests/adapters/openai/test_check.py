"""Whether the endpoint works, for the person who runs the bot; and what never gets into an error."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import pytest

from adapters.openai import Degraded, OpenAIChat, Overloaded, checked, checking
from adapters.openai.client import place
from core.errors import FootnoteError, Misconfigured, ModelUnavailable
from tests.adapters.openai.asking import ask, model_of
from tests.servers.openai import DONE, KEY, MODEL, ChatServer, Stall, chunk
from tests.servers.openai_refusals import LOADING, SLIPS, TOO_MANY
from tests.servers.openai_shapes import WITHOUT_TOOLS, Rule, bedrock, deepseek, kimi, mistral, without_choice
from tests.servers.service import Hang, Reply

SECRET = "hunter2-planted-0123456789"


async def test_a_good_endpoint_is_named_with_its_model(model: OpenAIChat, server: ChatServer) -> None:
    """Two small requests prove the address, the key and the model, and that it answers with what a tool has found."""
    assert await checked(model) == f"{MODEL} at {server.url.removeprefix('http://')}, calls tools"
    assert [one.method for one in server.received] == ["POST", "POST", "GET"]


@pytest.mark.parametrize(
    ("status", "error", "setting"),
    [
        (401, {"message": "Incorrect API key."}, "OPENAI_API_KEY"),
        (402, {"message": "Insufficient credits."}, "OPENAI_API_KEY"),
        (403, {"message": "No."}, "OPENAI_API_KEY"),
        (404, {"message": "No such model."}, "OPENAI_MODEL"),
        (429, {"message": "x", "code": "insufficient_quota"}, "OPENAI_API_KEY"),
        (400, {"message": "x"}, "OPENAI_MODEL"),
        (405, {"message": "x"}, "OPENAI_BASE_URL"),
    ],
)
async def test_what_an_operator_has_to_change_is_named(
    model: OpenAIChat, server: ChatServer, status: int, error: dict[str, Any], setting: str
) -> None:
    """Only they can end it."""
    server.broken = Reply(status, {"error": error})
    with pytest.raises(Misconfigured, match=setting):
        await checked(model)


async def test_the_server_itself_refuses_a_wrong_key_and_an_unknown_model(server: ChatServer) -> None:
    """The two mistakes that are made most often."""
    wrong_key = model_of(server, api_key=SECRET)
    with pytest.raises(Misconfigured, match="OPENAI_API_KEY"):
        await checked(wrong_key)
    server.models = ("another",)
    wrong_model = model_of(server)
    with pytest.raises(Misconfigured, match="'gpt-4o-mini' is not known"):
        await checked(wrong_model)
    await wrong_key.aclose()
    await wrong_model.aclose()


async def test_a_web_page_is_most_likely_a_wrong_address(model: OpenAIChat, server: ChatServer) -> None:
    """The path behind the host is easily forgotten, and many services have a page for people there."""
    server.broken = Reply(200, "<html>Welcome!</html>", {"Content-Type": "text/html"})
    with pytest.raises(Misconfigured, match="check OPENAI_BASE_URL"):
        await checked(model)


async def test_what_may_pass_is_no_mistake_in_the_settings(model: OpenAIChat, server: ChatServer) -> None:
    """A check asks once, because whoever runs it can run it again."""
    server.broken = Reply(500)
    with pytest.raises(ModelUnavailable):
        await checked(model)
    assert len(server.received) == 1


@pytest.mark.promise("plain-errors")
@pytest.mark.parametrize(
    "said",
    [
        f"Incorrect API key provided: {SECRET}.",
        f"Header was Bearer {SECRET}",
        f"Calling https://user:{SECRET}@example.com/v1?key={SECRET}&x=1 failed",
        "Incorrect API key provided: sk-hunter2-something-else",
    ],
)
@pytest.mark.parametrize("status", [200, 400, 401, 500])
async def test_no_secret_gets_into_an_error_or_a_log(
    server: ChatServer, status: int, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the sentence nor its causes hold the key, even where the service repeats it."""
    caplog.set_level(logging.DEBUG)
    server.broken = Reply(status, {"error": {"message": said}})
    model = model_of(server, api_key=SECRET)
    for asking in (ask(model), checked(model)):
        with pytest.raises(FootnoteError) as caught:
            await asking
        assert "hunter2" not in "".join(traceback.format_exception(caught.value))
        assert caught.value.__context__ is None
        assert "hunter2" not in f"{caught.value!r}{caught.value.__cause__!r}{model!r}{vars(caught.value)}"
    assert "hunter2" not in caplog.text
    await model.aclose()


async def test_an_address_with_a_secret_is_named_by_its_host_alone(server: ChatServer) -> None:
    """The key is sent, and the secret is not."""
    address = server.base_url.replace("//", f"//user:{SECRET}@")
    model = OpenAIChat(MODEL, api_key=KEY, base_url=address)
    assert await checked(model) == f"{MODEL} at {server.url.removeprefix('http://')}, calls tools"
    await model.aclose()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (None, "api.openai.com"),
        ("https://user:pass@gateway.example/v1?key=x", "gateway.example"),
        ("http://[::1]:11434/v1", "[::1]:11434"),
        ("nonsense", "an unnamed host"),
    ],
)
def test_places_are_named_without_anything_secret(address: str | None, said: str) -> None:
    """Where the service is, for people."""
    assert place(address) == said


def _follow(rule: Rule, server: ChatServer) -> None:
    server.rules.append(rule)


def _without_results(body: Mapping[str, Any], says: str = "No.", status: int = 400) -> Reply | None:
    is_result = body["messages"][-1]["role"] == "tool"
    return Reply(status, {"error": {"message": says}}) if is_result else None


Prepare: TypeAlias = Callable[[ChatServer], object]
THINKING = (
    chunk({"reasoning_content": "Hm."}),
    chunk({"tool_calls": [{"id": "a", "function": {"name": "look_up", "arguments": "{}"}}]}),
    {**chunk({}, finish="stop"), "usage": {"prompt_tokens": 9, "completion_tokens": 3}},
    DONE,
)
IN_TEXT = '{"name": "look_up", "arguments": {"word": "ready"}}'
CAN: Mapping[str, tuple[Prepare, str]] = {
    "all": (lambda _: None, "gpt-4o-mini at {}, calls tools"),
    "a context that is told": (
        lambda server: server.listed.update(max_model_len=32_768),
        "gpt-4o-mini at {}, calls tools, reads 32,768 tokens",
    ),
    "calls in its text": (lambda server: server.say(IN_TEXT), "gpt-4o-mini at {}, calls tools, in its text"),
    "thoughts": (lambda server: server.stream(*THINKING), "gpt-4o-mini at {}, calls tools, thinks first"),
    "thoughts that DeepSeek wants back": (
        lambda server: (server.rules.append(deepseek), server.stream(*THINKING)),
        "gpt-4o-mini at {}, calls tools, thinks first",
    ),
    "thoughts that Kimi wants back": (
        lambda server: (server.rules.append(kimi), server.stream(*THINKING)),
        "gpt-4o-mini at {}, calls tools, thinks first",
    ),
    "thoughts in its text": (
        lambda server: server.say(f"<think>Hm.</think>{IN_TEXT}"),
        "gpt-4o-mini at {}, calls tools, in its text, thinks first",
    ),
    "thoughts that the template has opened": (
        lambda server: server.say("Hm.", f"</think>{IN_TEXT}"),
        "gpt-4o-mini at {}, calls tools, in its text, thinks first",
    ),
    "tools that stay in the request": (lambda server: server.rules.append(bedrock), "gpt-4o-mini at {}, calls tools"),
    "ids of nine letters": (lambda server: server.rules.append(mistral), "gpt-4o-mini at {}, calls tools"),
    "options that it refuses": (
        lambda server: server.rules.append(without_choice("auto")),
        "gpt-4o-mini at {}, calls tools",
    ),
    "a failed call": (
        lambda server: server.faults.append(SLIPS["Groq"]),
        "gpt-4o-mini at {}, calls tools",
    ),
    "an end without a reason": (
        lambda server: server.stream(THINKING[1], {**chunk({}), "usage": {"prompt_tokens": 9}}, DONE),
        "gpt-4o-mini at {}, calls tools",
    ),
}
LACKS: Mapping[str, tuple[Prepare, str]] = {
    **{name: (partial(_follow, rule), checking.NO_TOOLS) for name, rule in WITHOUT_TOOLS.items()},
    "a call": (lambda server: server.say("OK."), checking.DID_NOT_CALL),
    "a call that works": (
        lambda server: server.faults.extend([SLIPS["Groq"]] * 2),
        checking.DID_NOT_CALL,
    ),
    "a choice": (lambda server: server.rules.append(without_choice("none")), checking.NO_CHOICE),
    "a template for results": (
        lambda server: server.rules.append(partial(_without_results, says="Unexpected role 'tool'.")),
        checking.NO_TOOLS,
    ),
    "an answer to the result": (lambda server: server.rules.append(_without_results), checking.NO_SECOND),
    "a template that takes results": (
        lambda server: server.rules.append(partial(_without_results, status=500)),
        f"{checking.NO_SECOND}. It said: status 500: No.",
    ),
    "a stream": (lambda server: setattr(server, "streams", False), checking.NO_STREAM),
    "usage": (lambda server: setattr(server, "reports_usage", False), checking.NO_USAGE),
}


@pytest.mark.parametrize(("prepare", "says"), CAN.values(), ids=CAN)
async def test_what_a_model_can_do_is_told(model: OpenAIChat, server: ChatServer, prepare: Prepare, says: str) -> None:
    """It is asked for the call of a tool, as a stream, since that is what answers are made with."""
    prepare(server)
    found = await checked(model)
    assert (found, isinstance(found, Degraded)) == (says.format(server.url.removeprefix("http://")), False)
    assert {"tools", "stream"} <= server.received[0].body.keys()


@pytest.mark.parametrize(("prepare", "lacks"), LACKS.values(), ids=LACKS)
async def test_what_a_model_lacks_is_told(model: OpenAIChat, server: ChatServer, prepare: Prepare, lacks: str) -> None:
    """It works all the same, so that this is advice."""
    prepare(server)
    found = await checked(model)
    assert (lacks in found, isinstance(found, Degraded)) == (True, True)


@pytest.mark.parametrize("after", [0, 1], ids=["at once", "once it has called a tool"])
@pytest.mark.parametrize(
    "reply",
    [
        LOADING,
        Reply(429, {"error": {"message": "Slow down.", "code": "rate_limit_exceeded"}}),
        TOO_MANY["Groq"][0],
    ],
)
async def test_a_busy_service_is_not_away(model: OpenAIChat, server: ChatServer, reply: Reply, after: int) -> None:
    """It says so, for how long if it knows, and will answer later; that says nothing about what its model can do."""
    server.rules.append(lambda body: reply if not after or _without_results(body) else None)
    found = await checked(model)
    assert (isinstance(found, Overloaded), "can be reached, but is overloaded" in found) == (True, True)
    assert reply.body["error"]["message"][:60] in found
    assert ("asks to be left alone for about 3 minutes" in found) == ("2m52" in str(reply.body))


async def test_a_service_that_breaks_down_says_nothing_about_its_model(model: OpenAIChat, server: ChatServer) -> None:
    """A gateway failed at the second request."""
    server.rules.append(partial(_without_results, status=502))
    with pytest.raises(ModelUnavailable, match="service failed"):
        await checked(model)


@pytest.mark.parametrize("comment", [b"", b": OPENROUTER PROCESSING\n\n"], ids=["silent", "comments"])
async def test_a_slow_service_is_not_away(model: OpenAIChat, server: ChatServer, comment: bytes) -> None:
    """It has taken the request, and may be loading its model; nobody waits for that."""
    server.stream(comment, Stall()) if comment else server.faults.append(Hang())
    found = await checked(model, patience=0.3)
    assert (isinstance(found, Overloaded), "has not begun to answer within 0.3 seconds" in found) == (True, True)
    assert found.endswith("a question waits 30 seconds for it")


async def test_an_answer_to_a_result_is_not_waited_for(model: OpenAIChat, server: ChatServer) -> None:
    """That it calls tools is known by then."""
    server.call("look_up", {"word": "ready"})
    server.stream(Stall())
    found = await checked(model, patience=0.5)
    assert (found.endswith(", calls tools"), isinstance(found, Degraded)) == (True, False)


async def test_a_service_that_is_away_is_told_as_one(model: OpenAIChat, server: ChatServer) -> None:
    """Nobody listens there."""
    await server.down()
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await checked(model)
