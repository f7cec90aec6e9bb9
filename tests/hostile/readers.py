"""Readers of what was shown, none of which the product uses; what they do not know counts as a link.

GitHub's own reader of Markdown, one of Discord's dialect from the package index, and two written from documentations:
Slack's, which finds addresses without a scheme too, and a terminal's, which finds what a program has marked as a link,
and what looks like one.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import unquote

import cmarkgfm
from discord_markdown_ast_parser.lexer import TokenType, lex

CODE = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
BLOCK = re.compile(r"^(`{3,})[^\n`]*\n.*?(?:^\1`*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
BARE = re.compile(  # a scheme, www., or a name with a path, a port or an @
    r"[a-z][a-z0-9+.-]*:/{1,3}[^\s/]\S*|(?<![\w.])www\.\w\S*|\S*\w@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}"
    r"|(?<![\w@.-])(?:[\w-]+[.。．｡])+[^\W\d_]{2,}(?:/\S+|:\d+)|(?<![\w.])\d+(?:\.\d+){3}[/:]\S",
    re.IGNORECASE,
)
MARK = re.compile(r"[\[［【〔⟦⁅❲〘〚﹝〖⟬]\s*\^?\d[\d\s,;^–—/&†*-]*[\]］】〕⟧⁆❳〙〛﹞〗⟭]")
MENTION = re.compile(r"@(?:everyone|here)\b|<(?:[@#!+]|/\w|id:|t:-?\d|a?:\w)[^<>\n]*>", re.IGNORECASE)
_NAMES = (
    "sources? references? citations quellen quellenverzeichnis literaturverzeichnis works fuentes bibliograph[iy]e?"
    " bibliograf[ií]a nearest.sections 参考文献 참고문헌 参照 参考リンク स्रोत πηγές"
    " แหล่งที่มา nguồn sumber izvori viri surse"
    " források allikad avoti šaltiniai източници ссылки литературы المراجع منابع"
    " ｓｏｕｒｃｅｓ 𝐒𝐨𝐮𝐫𝐜𝐞𝐬 ⓢⓞⓤⓡⓒⓔⓢ só?urces"
    " ѕоurсеs s.o.u.r.c.e.s"
)
TITLE = re.compile(  # with some words around it, but for that by which the product says what code is
    r"^\W*+(?!Code: )(?:\w\. )?(?:[^\W_]+[ &/,]+){0,3}(?:" + "|".join(_NAMES.split()) + r")"
    r"(?:[^\w\n…]+[^\W_]+){0,4}\W*(?:\[\d+\].*)?$",  # words that trail off and go on are none
    re.IGNORECASE | re.MULTILINE,
)
SMALL = re.compile(r"^-# (?!\[\[?\d+\]|To continue).*$", re.MULTILINE)  # what looks like the product's own small print
UNSEEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001fffe\U0001ffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
    "|(?<![\u2000-\u32ff\U0001f000-\U0001ffff0-9])\ufe0f|(?<![\u0250-\U0010ffff])[\u200c\u200d]"
)
MASKED = re.compile(
    r"\[((?:\\.|\[[^\[\]]*\]|[^\[\]\\])*)\]"
    r"\(<?((?:https?|discord|slack|ftp|mailto|file)[^\s<>)]*)>?\)",
    re.IGNORECASE,
)
AS_IT_IS = 1 << 17  # with HTML and any scheme
URLS = {TokenType.URL_WITH_PREVIEW, TokenType.URL_WITHOUT_PREVIEW}
CALLS = {TokenType.USER_MENTION, TokenType.ROLE_MENTION, TokenType.CHANNEL_MENTION, TokenType.EMOJI_CUSTOM}
GAP = "\u200b"  # the product's own, which keeps characters apart


@dataclass(frozen=True)
class Seen:
    """What a reader has found: where it can be led, the words outside of code and links, and whom it calls."""

    links: frozenset[str]
    prose: str
    calls: frozenset[str] = frozenset()

    def wrongs(self, urls: Iterable[str], numbers: Iterable[int], *, at_end: bool = False) -> Iterator[str]:
        """Say what must not be there; *at_end* an own list of sources neither."""
        known = {_plain(url) for url in urls if re.match(r"(?:https?|file)://", url)}
        yield from (f"link: {url}" for url in self.links if _plain(url) not in known)
        prose = self.prose
        for url in sorted(known, key=len, reverse=True):  # a terminal shows where its sources are
            prose = prose.replace(url, " ")
        prose = _with_plain_letters(prose)
        yield from (f"address: {found[0]}" for found in BARE.finditer(prose) if _plain(found[0]) not in known)
        shown = "".join(one for one in unicodedata.normalize("NFKC", self.prose) if unicodedata.category(one) != "Mn")
        marks = (found[0] for found in MARK.finditer(shown))
        yield from (f"mark: {mark}" for mark in marks if not {int(n) for n in re.findall(r"\d+", mark)} <= {*numbers})
        yield from (f"mention: {one}" for one in self.calls)
        yield from (f"sources: {found[0]}" for found in TITLE.finditer(self.prose) if at_end)


def _with_plain_letters(text: str) -> str:
    """Give a text with Latin letters for what browsers take for one."""
    if text.isascii():
        return text
    alike = {one: unicodedata.normalize("NFKC", one) for one in {*text}}
    return text.translate({ord(one): plain for one, plain in alike.items() if plain.isalpha() and plain.isascii()})


def unseen(text: str) -> list[str]:
    """Give the characters that nobody sees and that the product has not set."""
    return [f"unseen: {found[0]!r}" for found in UNSEEN.finditer(text.replace(GAP, ""))]


def _plain(url: str) -> str:
    """Give an address without what clients take off, and with what is written as codes."""
    return html.unescape(unquote(url)).strip().rstrip("/")


class _Html(HTMLParser):
    """Collects links and words; what is in code, or belongs to a link, is no prose."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.prose: list[str] = []
        self.quiet = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count what leads somewhere."""
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "onload", "style")]
        self.links += [f"<{tag}>"] if tag in ("script", "iframe", "svg", "object", "form") else []
        self.quiet += tag in ("a", "code")
        self.prose.append("\n" if tag in ("p", "li", "br", "tr", "h1", "h2", "blockquote") else "")

    def handle_endtag(self, tag: str) -> None:
        """Leave it."""
        self.quiet -= tag in ("a", "code")
        self.prose += "\ufffc" if tag in ("a", "code", "td", "th") else ""

    def handle_data(self, data: str) -> None:
        """Keep words."""
        if not self.quiet:
            self.prose.append(data)


def commonmark(text: str, *, github: bool = False) -> Seen:
    """Read Markdown as CommonMark's own reader does, or as GitHub's, which makes links of bare addresses too."""
    write: Callable[..., str] = cmarkgfm.github_flavored_markdown_to_html if github else cmarkgfm.markdown_to_html  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - it has no types
    page = _Html()
    page.feed(write(text, options=AS_IT_IS))
    page.close()
    return Seen(frozenset(page.links), "".join(page.prose).replace(GAP, "\u2063"))


def words_alone(text: str) -> Seen:
    """Read a text that nobody draws; what is in backticks is code."""
    bare = CODE.sub("\ufffc", BLOCK.sub("\ufffc", text))
    return Seen(frozenset(found[2] for found in MASKED.finditer(bare)), MASKED.sub("\ufffc", bare))


def discord(text: str) -> Seen:
    """Read a message as Discord does: masked links first, which that reader does not know, and no escaped marks."""
    bare = CODE.sub("\ufffc", BLOCK.sub("\ufffc", text))
    links = {found[2] for found in MASKED.finditer(bare)}
    tokens = list(lex(re.sub(r"\\[^\w\s]", "\u2064", MASKED.sub("\ufffc", bare))))
    links |= {token.value.strip("<>") for token in tokens if token.token_type in URLS}
    calls = {token.value for token in tokens if token.token_type in CALLS}
    prose = re.sub(r"<(https?://[^\s<>]+)>", " ", MASKED.sub("\ufffc", bare))
    invites = set(re.findall(r"discord(?:app)?\.(?:gg|com/invite)/\w+", text, re.IGNORECASE))
    everyone = set(re.findall(r"@(?:everyone|here)", text, re.IGNORECASE))  # its servers know no code
    calls |= {*MENTION.findall(bare), *SMALL.findall(bare)}
    return Seen(
        frozenset(links | invites),
        re.sub(r"\\([^\w\s])", r"\1", prose).replace(GAP, "\u2063"),
        frozenset(calls | everyone),
    )


class SmallPrint(str):
    """Words below a message of Slack's, in the dialect that it had before it knew Markdown."""

    __slots__ = ()


class NotVerbatim(SmallPrint):
    """The same where Slack makes links of the names of channels and people."""

    __slots__ = ()


class Spoken(str):
    """The words of a message of Slack's, which stand there where its blocks do not, and have no marks."""

    __slots__ = ()


def slack(text: str) -> Seen:
    """Read Slack's Markdown or small print: angle brackets mean something everywhere, and names with a path too.

    In small print, links are these and bare addresses, and its other marks join no words to one.
    """
    tokens = re.findall(r"<([^<>]*)>", text)
    calls = {f"<{token}>" for token in tokens if token[:1] in "@#!"}
    links = {token.partition("|")[0] for token in tokens if token[:1] not in "@#!"}
    bare = re.sub(r"<[^<>]*>", "\ufffc", text)
    if isinstance(text, Spoken):
        return Seen(frozenset(links), bare, frozenset(calls))
    if isinstance(text, NotVerbatim):
        calls |= {*re.findall(r"(?<!\w)[@#]\w[\w-]*", bare)}
    if isinstance(text, SmallPrint):
        return Seen(frozenset(links), CODE.sub("\ufffc", bare), frozenset(calls))
    markdown = commonmark(bare, github=True)
    return Seen(frozenset(links) | markdown.links, markdown.prose, frozenset(calls))


ESCAPE = re.compile(r"\x1b\]8;[^;]*;(.*?)\x1b\\|\x1b\[([\d;]*)m|\x1b\[[?\d;]*[A-Za-z]")


def terminal(written: str) -> Seen:
    """Read what a screen was sent: links of its own, and words in no colour, since what has one is code."""
    links, prose, at, is_plain, link = set[str](), list[str](), 0, True, ""
    for found in [*ESCAPE.finditer(written), None]:
        end = found.start() if found else len(written)
        prose.append(written[at:end] if is_plain and not link else "\ufffc")
        if found is None:
            break
        at = found.end()
        if found[1] is not None:
            link = found[1]
            links |= {link} - {""}
        elif found[2] is not None:
            codes = found[2].split(";")
            is_plain = not ({"36", "38"} & {*codes}) if codes != ["0"] else True
    return Seen(frozenset(links), "".join(prose).replace(GAP, "\u2063"))
