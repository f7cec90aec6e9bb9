"""Makes HTML plain: Discord would show every tag as it was written."""

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
_COMMENT = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|#39);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "#39": "'", "nbsp": " "}
_OPEN = re.compile(r"<!--(?:(?!-->).){0,2000}\Z|<(?:[a-zA-Z/@#:&!][^<>\n]{0,2000})?\Z|&[a-z#0-9]{0,5}\Z", re.DOTALL)


def plain(text: str) -> str:
    """Drop tags and comments, and give entities as the characters they stand for."""
    text = _COMMENT.sub("", text)
    text = "\n".join(_BREAK.sub(" " if "|" in line else "\n", line) for line in text.split("\n"))
    return _ENTITY.sub(lambda found: _CHARACTERS[found[1]], _TAG.sub("", text))


def complete(text: str) -> str:
    """Leave off a tag, a comment, a mention or an entity at the end that more text could complete."""
    return _OPEN.sub("", text)
