"""Finds addresses in a text, and says where one leads, and whether a label names another place than that."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

LONGEST_URL = 800  # characters of a link: two of them leave room for words in a message

URL = re.compile(r"""(?:[a-zA-Z][a-zA-Z0-9+.-]{1,30}://|www\.)[^\s<>"'`\\^{}|\[\]]+""")
_TRAILING = ".,;:!?*_~"
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]{1,30}:)?//|(?=www\.)", re.IGNORECASE)
_PLACE = re.compile(r"(?<![\w.@-])((?:[\w-]{1,63}\.){1,8}[a-z]{2,24})(?![\w.-]*\w)(/\S*|:\d\S*)?", re.IGNORECASE)
_ENDINGS = re.compile(  # the ones that people know an address by; with all of them, `asyncio.run` would look like one
    r"\.(?:com|org|net|edu|gov|mil|int|info|biz|example|io|dev|app|ai|co|gg|me|tv|xyz|site|online|shop"
    r"|eu|us|uk|de|fr|ch|at|nl|it|es|pl|se|no|ru|ua|cn|jp|kr|in|pk|br|ca|au)\Z"
)


def trim_url(url: str) -> str:
    """Leave off the punctuation that belongs to the sentence, and a closing bracket that was not opened inside."""
    while url:
        if url[-1] in _TRAILING or (url[-1] == ")" and url.count("(") < url.count(")")):
            url = url[:-1]
        else:
            break
    return url


def can_be_link(url: str) -> bool:
    """Return whether an address can be a link: a short one, with a scheme and a place."""
    return len(url) <= LONGEST_URL and "://" in url


def host(url: str) -> str:
    """Return the name of the place that an address leads to, without `www.`; empty if it has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def names_another_place(label: str, url: str) -> bool:
    """Return whether a label looks like an address with another host than *url*; a name in code does not."""
    home = host(url)
    has_scheme = bool(_SCHEME.search(label))
    for found in _PLACE.finditer(label):
        place = found[1].lower().removeprefix("www.")
        if place != home and (has_scheme or found[2] or _ENDINGS.search(place)):
            return True
    return has_scheme and home not in label.lower()


def without_scheme(url: str) -> str:
    """Leave off the scheme of an address: platforms make no link of a label that has one."""
    return re.sub(r"^[a-z][a-z0-9+.-]{1,30}://", "", url, flags=re.IGNORECASE)
