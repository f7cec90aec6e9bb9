"""Writes a conversation on Slack down: names, threads, small print, buttons, and links by their labels."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from tests.end_to_end.transcript import EDITED, PRIVATE, Line, News, drawn, message, thread
from tests.servers.slack import Message, SlackServer
from tests.servers.slack.shape import Json

SMALL, BULLET = "· ", "• "
BULLETS = ("- ", "* ", BULLET)
THUMBS = {"positive_button": "👍", "negative_button": "👎"}
_CODE = re.compile(r"(`[^`\n]+`)")
_LINK = re.compile(r"(?<!\\)\[(?P<label>(?:\[\d+\]|[^\[\]\n])+)\]\((?P<url>[^()\s]+)\)")
_SMALL_LINK = re.compile(r"<(?P<url>[a-z]+:[^<>|\s]+)\|(?P<label>[^<>]*)>")
_EMPHASIS = re.compile(r"(?<![\\\w])(\*\*|[*_])(?=\S)(.+?)(?<=[^\s\\])\1(?!\w)")
_ESCAPED = re.compile(r"\\([^a-zA-Z0-9\s])")
_MENTION = re.compile(r"<@([A-Z0-9]+)>")
_MOMENT = re.compile(r"<!date\^[^<>]*>")
_WIDTHLESS = re.compile("[\u200b\u2060]")


class SlackTranscript:
    """A `Transcript` of a workspace. A thread, which has no name, is called by the words that it is on."""

    def __init__(self, server: SlackServer) -> None:
        self._platform = server.platform
        self._news = News()

    def news(self, asked: str) -> list[str]:
        """Read a message, and what stands below it."""
        root = next(one for one in self._platform.messages.values() if one.ts == asked)
        channel = self._platform.channels[root.channel_id]
        lines = self._new(root)
        below = [one for one in self._platform.messages_in(channel, thread_ts=asked) if one is not root]
        said = [self._new(one) for one in below if not one.ephemeral]
        return [*lines, *(thread(self._line(root.text).text, said) if said else [])]

    def told(self, who: str) -> list[str]:
        """Read the last message that only this person sees."""
        seen = (one for one in self._platform.messages.values() if one.seen_by and not one.deleted)
        return self._new([one for one in seen if self._name(one.seen_by or "") == who][-1])

    def _new(self, one: Message) -> list[str]:
        return self._news.of(one.ts, message(self._head(one), self._body(one)))

    def _head(self, one: Message) -> str:
        is_edited = one.edited and one.bot_id is None
        return f"{self._name(one.user_id)}{EDITED if is_edited else ''}{PRIVATE if one.ephemeral else ''}"

    def _body(self, one: Message) -> Iterator[str]:
        yield from drawn(list(self._lines(one)))
        yield from (" ".join(buttons) for buttons in map(_buttons, one.blocks) if buttons)
        if one.reactions:
            yield " ".join(f"[:{name}: {len(who)}]" for name, who in one.reactions.items())

    def _lines(self, one: Message) -> Iterator[Line]:
        """Give the lines of Markdown, and of the small print, which stands apart from it."""
        markdown = [one.markdown, *(block["text"] for block in one.blocks if block["type"] == "markdown")]
        text = "\n".join(filter(None, markdown)) or ("" if one.blocks else one.text)
        yield from map(self._line, text.split("\n"))
        for block in one.blocks:
            if block["type"] == "context":
                yield Line("")
                for element in block["elements"]:
                    yield from (self._line(line, SMALL) for line in element["text"].split("\n"))

    def _line(self, line: str, mark: str = "") -> Line:
        """Draw a line of Markdown, or of the dialect of small print."""
        bullet = next((bullet for bullet in BULLETS if line.startswith(bullet)), "")
        links = [link["url"] for pattern in (_LINK, _SMALL_LINK) for link in pattern.finditer(line)]
        labels = _SMALL_LINK.sub(r"\g<label>", _LINK.sub(r"\g<label>", line.removeprefix(bullet)))
        pieces = _CODE.split(labels)
        text = "".join(piece if at % 2 else self._prose(piece) for at, piece in enumerate(pieces))
        return Line(html.unescape(text), links, BULLET if bullet else mark)

    def _prose(self, text: str) -> str:
        text = _EMPHASIS.sub(r"\2", _WIDTHLESS.sub("", text))
        text = _MENTION.sub(lambda found: f"@{self._name(found[1])}", text)
        return _ESCAPED.sub(r"\1", _MOMENT.sub("just now", text))

    def _name(self, user_id: str) -> str:
        user = self._platform.users[user_id]
        return user.name.capitalize() if user.is_bot else user.name


def _buttons(block: Json) -> list[str]:
    return [label for element in block.get("elements", ()) for label in _labels(element)]


def _labels(element: Json) -> Iterator[str]:
    match element["type"]:
        case "feedback_buttons":
            yield from (f"[{thumb} {element[name]['text']['text']}]" for name, thumb in THUMBS.items())
        case "button":
            yield f"[{element['text']['text']}]"
        case _:
            pass
