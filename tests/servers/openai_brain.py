"""How the chat model's service answers when nobody has told it what to say: it quotes what it is given.

Where a question comes without passages it searches first.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

NOTHING, NOTHING_GIVEN = "I could not find that.", "NOT_IN_DOCUMENTS"
SEARCH = "search_documents"
PASSAGES = re.compile(r'<data kind="passages">\n(.*?)\n</data>\n\nQuestion: (.*)', re.DOTALL)
PASSAGE = re.compile(r"^\[(\d+)\] \d\.\d\d .*\n((?:  .*\n?)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """Text in pieces, or a query for the tool."""

    texts: tuple[str, ...] = ()
    query: str | None = None
    tool: str = SEARCH


def answer_by_itself(body: dict[str, Any]) -> OwnAnswer:
    """Quote the first of the passages for the newest question and mark the first two; without any, search for it."""
    messages: list[dict[str, Any]] = body["messages"]
    last = max((place for place, message in enumerate(messages) if message["role"] == "user"), default=0)
    answers = [message for message in messages[last:] if message["role"] == "tool"]
    offered: list[dict[str, Any]] = body.get("tools", [])
    tools: list[str] = [tool["function"]["name"] for tool in offered]
    given = PASSAGES.match(_text(messages[last]))
    if tools and not answers and not given:
        return OwnAnswer(query=_text(messages[last]), tool=SEARCH if SEARCH in tools else tools[0])
    results = [result for message in (messages[last], *answers) for result in passages_in(_text(message))]
    if not results:
        return OwnAnswer(tuple(_words(NOTHING_GIVEN if given else NOTHING if answers else "OK.")))
    marks = " ".join(f"[{result['number']}]" for result in results[:2])
    return OwnAnswer(tuple(_words(f"{first_sentence(results[0]['text'])} {marks}.")))


def passages_in(text: str) -> list[dict[str, Any]]:
    """Read the passages that stand in front of a question, or are what a tool has found."""
    if given := PASSAGES.match(text):
        return [{"number": int(each[1]), "text": each[2]} for each in PASSAGE.finditer(given[1])]
    try:
        return json.loads(text)["data"]["results"]
    except (ValueError, KeyError, TypeError):  # a tool that failed has no data
        return []


def first_sentence(text: str) -> str:
    """Give the start of a text, without what would look like a mark or break the line."""
    plain = " ".join(re.sub(r"\[\d+\]", "", text).split())
    return re.split(r"(?<=[.!?])\s", plain, maxsplit=1)[0][:200].rstrip(" .!?")


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType] - JSON
    return content or ""


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)
