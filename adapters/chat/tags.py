"""Makes HTML plain: chat platforms show every tag as it was written."""

from __future__ import annotations

import re

_NAMES = (
    "a|abbr|article|aside|audio|b|big|blockquote|body|br|button|caption|center|cite|code|col|colgroup|dd|del|details|"
    "dfn|div|dl|dt|em|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|"
    "li|link|main|mark|meta|nav|object|ol|option|p|picture|pre|q|s|samp|script|section|select|small|source|span|"
    "strike|strong|style|sub|summary|sup|svg|table|tbody|td|textarea|tfoot|th|thead|time|title|tr|tt|u|ul|var|video"
)
_TAG = re.compile(rf"</?(?:{_NAMES})(?:[ \t/][^<>\n]{{0,2000}})?>", re.IGNORECASE)
_BREAK = re.compile(r"<br[ \t]{0,9}/?>", re.IGNORECASE)
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|#39);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "#39": "'", "nbsp": " "}
# Of several in a row, the first can be completed too, by what stands behind a comment.
_OPEN = re.compile(r"(?:<(?:[a-zA-Z/@#:&!][^<>\n]{0,2000})?){1,9}\Z|&[a-z#0-9]{0,5}\Z")


def plain(text: str) -> str:
    """Drop tags and comments, and give entities as the characters they stand for."""
    lines = _without_comments(text).split("\n")
    text = "\n".join(_BREAK.sub(" " if "|" in line else "\n", line) for line in lines)
    return _ENTITY.sub(lambda found: _CHARACTERS[found[1]], _TAG.sub("", text))


def complete(text: str) -> str:
    """Leave off a tag, a comment, a mention or an entity at the end that more text could complete."""
    before, opened, inside = text.rpartition("<!--")
    return _OPEN.sub("", before if opened and "-->" not in inside else text)


def _without_comments(text: str) -> str:
    first, *others = text.split("<!--")
    parted = [other.partition("-->") for other in others]
    return first + "".join(behind if end else f"<!--{inside}" for inside, end, behind in parted)
