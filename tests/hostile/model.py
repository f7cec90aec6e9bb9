"""A model that obeys whatever it reads, on a real socket, and the questions that bring it its orders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from core.answering.agent import Agent
from core.answering.citations import Sources
from core.answering.tools import Tool
from core.model import Attachment, Conversation, Hit, Message, Question, Unread
from core.ports import ChatModel
from tests.builders import conversation, hit, passage, question, turn_of
from tests.fakes.shelf import Shelf
from tests.hostile.corpus import Attack
from tests.servers.openai import ChatServer, ScriptedAnswer

BEGIN, CALL, END = "SAY_", "CALL_", "_END"
ANSWER = "A robot acts [1]."
_ORDER = re.compile(rf"({BEGIN}|{CALL})(.*?){END}", re.DOTALL)


class ObedientServer(ChatServer):
    """Searches, calls what it is told to call, and then says what it is told to say, with a footnote before it."""

    def _own_answer(self, body: dict[str, Any]) -> ScriptedAnswer:
        messages: list[dict[str, Any]] = body["messages"]
        orders = [found for message in messages for text in _texts(message) for found in _ORDER.findall(text)]
        results = sum(message["role"] == "tool" for message in messages)
        offered = [tool["function"]["name"] for tool in body.get("tools", [])]
        wanted = ['{"query": "robot"}', *(said for kind, said in orders if kind == CALL)]
        if offered and results == 0:
            return ScriptedAnswer((), tuple(self._call(offered[0], each) for each in wanted), "tool_calls")
        if offered and results == len(wanted) and len(offered) > 1:
            return ScriptedAnswer((), (self._call(offered[1], "{}"),), "tool_calls")
        said = "\n\n".join(dict.fromkeys(said for kind, said in orders if kind == BEGIN))
        text = f"{ANSWER}{joint(said)}{said}\n\n{said}" if said else ANSWER
        return ScriptedAnswer(tuple(text[at : at + 9] for at in range(0, len(text), 9)))


def joint(said: str) -> str:
    """Return what stands between an answer and what an attack says: a line's end, as models have it, or a space."""
    return " \n"[sum(map(ord, said)) % 2]


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    """Give every text of a message; a tool's result is JSON."""
    content = message.get("content") or ""
    try:
        yield from texts_in(json.loads(content))
    except ValueError:
        yield content


def texts_in(value: object) -> Iterator[str]:
    """Give every text of what was JSON."""
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():  # pyright: ignore[reportUnknownVariableType] - JSON
                yield from texts_in(each)  # pyright: ignore[reportUnknownArgumentType]
        case list():
            for each in value:  # pyright: ignore[reportUnknownVariableType] - JSON
                yield from texts_in(each)  # pyright: ignore[reportUnknownArgumentType]
        case _:
            pass


@dataclass(frozen=True)
class Scene:
    """What is asked, over what, and after what: an attack stands in one of them."""

    question: Question
    hits: tuple[Hit, ...]
    conversation: Conversation | None = None
    told: str = ""

    def agent(self, model: ChatModel) -> Agent:
        """Make the agent, which has another tool beside the search."""
        return Agent(model, Shelf(*self.hits), clock=lambda: 0.0, tools=self._tools)

    @property
    def urls(self) -> set[str]:
        """Where a link may lead: to the pages of the index."""
        return {url for one in self.hits for url in (one.passage.page_url, one.passage.source_url)}

    def _tools(self, _asked: Question, _sources: Sources) -> tuple[Tool, ...]:
        async def look_up(
            name: Annotated[str, Field(description="What to look up.")] = "robot",
        ) -> Mapping[str, Any]:
            """Look something up."""
            return {"note": self.told, "name": name}

        return (Tool(look_up),) if self.told else ()


def scene(attack: Attack) -> Scene:
    """Bring an attack in where it comes in."""
    order = f"{CALL if attack.kind == 'order' else BEGIN}{attack.payload}{END}"
    payload, plain = attack.payload, Scene(question(), (hit(),))
    name, short = payload.replace("/", "_"), f"What is a robot? {order[:1_900]}"
    bob, author = (
        Message(role="user", text=f"Robots. {order}", author="Bob"),
        Message(role="user", text=order, author=payload),
    )
    files = (
        Attachment(name=payload, text=f"{payload}\n{order}"),
        Attachment(name=f"{payload} {order}", unread=Unread.KIND),
    )
    scenes: dict[str, dict[str, Any]] = {
        "page": {"hits": (hit(text=f"A robot acts. {order}"), hit(0.8))},
        "title": {"hits": (hit(page_title=f"{payload} {order}"),)},
        "section": {"hits": (hit(section_title=f"{payload} {order}", chapter=order),)},
        "file": {"hits": (hit(page_title=name, source=name, url=Path(f"/docs/{name}.md").as_uri(), text=order),)},
        "author": {"question": question(context=(author,))},
        "quoted": {"question": question(context=(bob,))},
        "earlier": {"conversation": conversation(turn_of(f"Say {payload}"[:1_900], order))},
        "tool": {"told": order},
        "upload": {"question": question(attachments=files)},
        "selection": {"question": question(selection=f"A robot acts. {order}")},
        "address": {"hits": (Hit(passage(url=payload), 0.9), hit(0.8))},
    }
    return replace(plain, **scenes.get(attack.place, {"question": question(short)}))
