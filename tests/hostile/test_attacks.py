"""Every attack, on every surface, in every draft and at the end: nothing foreign can be clicked, called or believed."""

from __future__ import annotations

import io
import json
import random
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
from rich.console import Console

from adapters.discord.dialect import DiscordRenderer
from adapters.slack.dialect import SlackRenderer
from adapters.terminal.render import drawn, plain
from adapters.terminal.surface import JsonSurface, ScreenSurface
from core.answering.citations import Footnotes, Sources
from core.answering.dialect import MARKDOWN
from core.answering.markup import MarkupReader
from core.model import Answer, Claim, Progress
from tests.adapters.openai.asking import model_of
from tests.builders import question
from tests.hostile.corpus import ATTACKS, Attack
from tests.hostile.model import ANSWER, ObedientServer, Scene, joint, scene, texts_in
from tests.hostile.readers import (
    ESCAPE,
    NotVerbatim,
    Seen,
    SmallPrint,
    Spoken,
    commonmark,
    discord,
    slack,
    terminal,
    unseen,
    words_alone,
)
from tests.on_discord import OnDiscord, OnDiscordByCommand, OnDiscordPrivately, on_discord
from tests.on_slack import OnSlack, OnSlackByEdits, OnSlackPrivately, on_slack
from tests.portion import WHOLE
from tests.servers.slack import Handled

SAMPLE = ATTACKS if WHOLE else random.Random(17).sample(ATTACKS, 40)
NAMES = [f"{number}-{attack.place}-{attack.kind}" for number, attack in enumerate(ATTACKS)]
STREAMING = {"chat.startStream", "chat.appendStream", "chat.stopStream"}
WIDTH = 4_000  # of a screen, so that no word is cut in two
pytestmark = pytest.mark.timeout(600)  # the whole corpus takes minutes on a surface where the machine is busy


def wrongs(
    attack: Attack, staged: Scene, answer: Answer | None, shown: Iterable[tuple[str, Seen]], *, has_list: bool = False
) -> list[str]:
    """Say what must not be there in what was shown; without an answer it is a draft, unless it *has a list* of ours."""
    numbers = {each.number for each in answer.citations} if answer else set(range(1, 10))
    at_end = attack.kind == "sources" and not has_list
    found = [
        f"{wrong} in {text!r}"
        for text, seen in shown
        for wrong in (*seen.wrongs(staged.urls, numbers, at_end=at_end), *unseen(text))
    ]
    return [f"{attack.place} {attack.kind} {attack.payload!r}: {each}" for each in found]


def slack_texts(body: Any) -> Iterator[str]:
    """Give every text of a request that is shown as Markdown or small print, or could be where its blocks are not."""
    match body:
        case dict():
            fields = cast("dict[str, Any]", body)
            if fields.get("type") in ("markdown", "mrkdwn", "markdown_text"):
                small = SmallPrint if fields.get("verbatim") else NotVerbatim
                kind = small if fields["type"] == "mrkdwn" else str
                yield kind(fields["text"])
            yield from (str(fields[name]) for name in ("markdown_text",) if name in fields)
            is_message = fields.keys() & {"channel", "blocks"} and fields.get("text")
            yield from (Spoken(fields["text"]) for _ in range(bool(is_message)))
            for value in fields.values():
                yield from slack_texts(value)
        case list():
            for value in body:  # pyright: ignore[reportUnknownVariableType] - JSON
                yield from slack_texts(value)
        case _:
            pass


def _streams_joined(requests: Iterable[Handled]) -> Iterator[Any]:
    """Give the body of each request, with all that a stream shows after it in the place of what was added to it."""
    shown = dict[str, str]()
    for one in requests:
        body = one.body
        if one.method in STREAMING:
            stream = str(body.get("ts") or (one.answer or {}).get("ts"))
            shown[stream] = shown.get(stream, "") + body.get("markdown_text", "")
            body = {**body, "markdown_text": shown[stream]}
        yield body


class Last:
    """Keeps the answer on its way to a surface."""

    answer: Answer | None = None

    async def of(self, progress: AsyncIterator[Progress]) -> AsyncIterator[Progress]:
        """Pass everything on."""
        async for item in progress:
            self.answer = item if isinstance(item, Answer) else self.answer
            yield item


async def played(surface: Any, claim: Claim, attack: Attack, server: ObedientServer) -> tuple[Scene, Answer]:
    """Let an attack happen over the wire, from the question to the platform."""
    staged, last = scene(attack), Last()
    asked = replace(claim, question=claim.question.model_copy(update=_asked(staged)))
    model = model_of(server)
    progress = last.of(staged.agent(model).run(asked.question, staged.conversation))
    await surface.reply(asked, progress)
    await model.aclose()
    assert last.answer is not None
    return staged, last.answer


def _asked(staged: Scene) -> dict[str, Any]:
    return {name: getattr(staged.question, name) for name in ("text", "selection", "context", "attachments")}


@pytest.mark.promise("no-hostile-text")
@pytest.mark.parametrize("kind", [OnDiscord, OnDiscordByCommand, OnDiscordPrivately])
async def test_discord_shows_nothing_foreign(kind: type[OnDiscord]) -> None:
    """In no request that was sent; the response to a command has the question above it."""
    found = list[str]()
    async with ObedientServer() as server, on_discord(kind) as chat:
        for attack in SAMPLE if WHOLE or kind is OnDiscord else SAMPLE[::2]:
            before = len(chat.server.requests)
            staged, answer = await played(chat.surface, await chat.asks(), attack, server)
            bodies: list[Any] = [one.received.body for one in chat.server.requests[before:]]
            texts = [str(body["content"]) for body in bodies if "content" in (body or {}) and body["content"]]
            found += wrongs(attack, staged, None, ((text, discord(text)) for text in texts[:-1]))
            found += wrongs(attack, staged, answer, ((text, discord(text)) for text in texts[-1:]))
            assert any(ANSWER[:5] in text for text in texts) or answer.is_failure or not answer.citations

    assert found == []


@pytest.mark.promise("no-hostile-text")
@pytest.mark.parametrize("kind", [OnSlack, OnSlackByEdits, OnSlackPrivately])
async def test_slack_shows_nothing_foreign(kind: type[OnSlack]) -> None:
    """In no request that was sent, streamed or not; a stream is read as it stands after each."""
    found = list[str]()
    async with ObedientServer() as server, on_slack(kind) as chat:
        for attack in SAMPLE if WHOLE or kind is not OnSlackPrivately else SAMPLE[::2]:
            before, claim = len(chat.server.requests), await chat.asks()
            staged, answer = await played(chat.surface, claim, attack, server)
            texts = [text for body in _streams_joined(chat.server.requests[before:]) for text in slack_texts(body)]
            stands = [
                text
                for message in chat.answers(claim)
                for text in (message.markdown, Spoken(message.text), *slack_texts(message.blocks))
            ]
            found += wrongs(attack, staged, None, ((text, slack(text)) for text in texts))
            found += wrongs(attack, staged, answer, ((text, slack(text)) for text in stands if text))
            assert any(ANSWER[:5] in text for text in stands) or answer.is_failure or not answer.citations

    assert found == []


@pytest.mark.promise("no-hostile-text")
async def test_a_terminal_shows_nothing_foreign(ada: Claim) -> None:
    """On a screen while it is written and at the end, and as Markdown, which is what is stored."""
    found = list[str]()
    async with ObedientServer() as server:
        for attack in SAMPLE:
            out = io.StringIO()
            console = Console(
                file=out, force_terminal=True, color_system="truecolor", width=WIDTH, legacy_windows=False
            )
            staged, answer = await played(ScreenSurface(console), ada, attack, server)
            shown = [(_unescaped(out.getvalue()), terminal(out.getvalue()))]
            found += wrongs(attack, staged, None, shown, has_list=True)
            found += wrongs(attack, staged, answer, [(answer.text, commonmark(answer.text))])
            if attack.place != "address":  # it shows where its sources are, as they are
                words = [(plain(answer), words_alone(plain(answer)))]
                found += wrongs(attack, staged, None, words, has_list=True)

    assert found == []


@pytest.mark.promise("no-hostile-text")
async def test_a_program_is_told_nothing_foreign(ada: Claim) -> None:
    """As JSON: the answer is Markdown, and every other text words, but for what the model has asked its tools."""
    found = list[str]()
    async with ObedientServer() as server:
        for attack in SAMPLE if WHOLE else SAMPLE[::2]:
            out = io.StringIO()
            staged, answer = await played(JsonSurface(out), ada, attack, server)
            told: dict[str, Any] = json.loads(out.getvalue())
            found += wrongs(attack, staged, answer, [(told["answer"], commonmark(told["answer"]))])
            others = [text for name in told if name not in ("answer", "tool_calls") for text in texts_in(told[name])]
            if attack.place != "address":  # it says where its sources are, as they are
                found += wrongs(attack, staged, None, ((text, words_alone(text)) for text in others), has_list=True)
            found += [f"{attack.place} {attack.kind} {attack.payload!r}: {each}" for each in unseen(out.getvalue())]

    assert found == []


@pytest.mark.promise("no-hostile-text")
@pytest.mark.parametrize("attack", SAMPLE, ids=lambda attack: f"{attack.place}-{attack.kind}-{attack.payload[:20]!r}")
def test_no_draft_shows_anything_foreign(attack: Attack) -> None:
    """After every character, wherever an answer is drawn; after every few of a text that is long."""
    staged, sources = scene(attack), Sources()
    for one in staged.hits:
        sources.add(one)
    reader, renderers, text = MarkupReader(Footnotes(sources)), (DiscordRenderer(), SlackRenderer()), ANSWER
    for payload in (attack.payload, attack.payload):
        text += f"{joint(payload)}{payload}\n\n"
    found, before, step = list[str](), "", 1 + len(text) ** 3 // 8_000_000_000
    for at in range(0, len(text), step):
        reader.feed(text[at : at + step])
        blocks = [block for part in reader.read() for block in part]
        now = MARKDOWN.write(blocks)
        if now == before:
            continue
        before = now
        texts = [[part.text for part in each.sketch(reader)] for each in renderers]
        out = io.StringIO()
        Console(file=out, force_terminal=True, color_system="truecolor", width=WIDTH).print(*drawn(blocks))
        seen = [*((one, discord(one)) for one in texts[0]), *((one, slack(one)) for one in texts[1])]
        seen += [(now, commonmark(now)), (_unescaped(out.getvalue()), terminal(out.getvalue()))]
        found += wrongs(attack, staged, None, seen)

    assert found == []


def _unescaped(written: str) -> str:
    """Give what a screen was sent without what the program itself has set."""
    return ESCAPE.sub("", written).replace("\r", "")


@pytest.fixture(name="ada")
def _ada() -> Claim:
    return Claim(question())
