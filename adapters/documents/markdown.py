"""Markdown and MDX: what a website makes of them, minus what only a website can show.

Code, formulas and comments are set aside while the rest is rewritten, so that they are never altered: each piece is
replaced by a token between NUL characters, which no loaded text contains.
"""

from __future__ import annotations

import re

from adapters.documents import frontmatter
from adapters.documents.mdx import open_admonitions, open_tags, replaced
from adapters.documents.page import Page, decode, first_heading

OPAQUE = re.compile(  # to "(?!)", see core/answering/inline.py
    r"""
    (?P<comment> <!--.*?--> )
  | (?P<fence>
        ^ (?P<lead> [ \t]* (?: (?: > | [-*+] | \d{1,9}[.)] ) [ \t]+ | > )*+ )
        (?P<marks> `{3,} (?=[^`\n]*$) | ~{3,} ) (?P<language> [^\n]*+ ) (?: \n | \Z )
        (?P<body> (?: [^\n]* \n )*? ) (?: [ \t>]* (?P=marks) [`~]* [ \t]* $ | [^\n]* \Z )
    )
  | (?P<display> \$\$ (?: [^$] | \$(?!\$) | (?!) )++ \$\$ )
  | (?P<code> (?<![\\`]) (?P<ticks> `+ ) (?!`)
        (?: [^`\n]++ | \n(?![ \t]*\n) | (?! (?P=ticks)(?!`) ) `++ | (?!) )*+ (?P=ticks) )
  | (?P<formula> (?<! [\\$\w] ) \$ (?![\s$]) [^$\n]* [^\s$\\] \$ (?![\d$]) )
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
FENCE = re.compile(r"^([^\n\x00]*)\x00f(\d+)\x00", re.MULTILINE)
INLINE = re.compile(r"\x00c(\d+)\x00")
LIVE = "mdx-code-block"  # a fence that Docusaurus renders instead of showing it


class Opaque:
    """The pieces that were set aside from one page."""

    def __init__(self) -> None:
        self._inline: list[str] = []
        self._fences: list[tuple[int, str]] = []

    def hide(self, text: str) -> str:
        """Put a token in the place of every fence, code span and formula, and nothing in that of a comment."""
        last = text.rfind("-->")
        return OPAQUE.sub(self._token, text[: last + 3] + text[last + 3 :].replace("<!--", "&lt;!--"))

    def show(self, text: str) -> str:
        """Put everything back; a fence that was moved to another indentation takes its lines along."""
        return self.show_inline(FENCE.sub(self._fence, text))

    def show_inline(self, text: str) -> str:
        """Put code spans and formulas back."""
        return INLINE.sub(lambda match: self._inline[int(match[1])], text)

    def _token(self, match: re.Match[str]) -> str:
        if match["comment"]:
            return ""
        if match["code"] and not match["code"].strip("` "):
            return " "  # how JSX writes a blank that counts
        if match["fence"] is None:
            self._inline.append(match[0])
            return f"\x00c{len(self._inline) - 1}\x00"
        if match["language"].strip() == LIVE:
            return "\n" + self.hide(match["body"]) + "\n"
        self._fences.append((len(match["lead"]), match[0][len(match["lead"]) :]))
        return f"{match['lead']}\x00f{len(self._fences) - 1}\x00"

    def _fence(self, match: re.Match[str]) -> str:
        width, fence = self._fences[int(match[2])]
        moved = len(match[1]) - width
        if moved > 0:
            fence = re.sub(r"\n(?=[^\n])", "\n" + " " * moved, fence)
        elif moved < 0:
            fence = re.sub(rf"\n[ \t]{{1,{-moved}}}", "\n", fence)
        return match[1] + fence


COMMENTED_ANCHOR = re.compile(r"^( {0,3}#{1,6} [^\n]*?)\{/\*[ \t]*(#[^\s*]+)[ \t]*\*/\}[ \t]*$", re.MULTILINE)
IMPORT = re.compile(
    r"^import\s+(?:[\w*{$][^;'\"\n]*(?:\n[^;'\"\n]+){0,60}\sfrom\s+)?['\"][^'\"\n]+['\"];?[ \t]*$", re.MULTILINE
)
EXPORT = re.compile(
    r"^export\s+(?:const|let|var|function|async|class|default|\{|\*)[^\n]*(?:\n(?![ \t]*\n)[^\n]+)*", re.MULTILINE
)
CONSTANT = re.compile(
    r"""^export[ ]+const[ ]+(\w+)[ ]*=[ ]*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|(-?\d[\d.]*))[ ]*;?[ \t]*$""", re.MULTILINE
)
SHORTCODE = re.compile(r"\{\{[<%][^\n]{0,500}?[%>]\}\}")
BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


def read(content: bytes) -> Page:
    """Read Markdown; components and expressions are left alone unless they can only be HTML."""
    return read_text(decode(content), is_mdx=False)


def read_mdx(content: bytes) -> Page:
    """Read MDX: every tag is a component, and braces hold JavaScript."""
    return read_text(decode(content), is_mdx=True)


def read_text(text: str, *, is_mdx: bool) -> Page:
    """Take the front matter off, and rewrite the rest as plain Markdown."""
    meta, body = frontmatter.split(text)
    body = rewritten(body, is_mdx=is_mdx)
    return Page(text=body, title=frontmatter.word(meta, "title") or first_heading(body), meta=meta)


def rewritten(text: str, *, is_mdx: bool) -> str:
    """Open admonitions and components, and drop comments and code that only a build would run."""
    opaque = Opaque()
    text = opaque.hide(text)
    text = COMMENTED_ANCHOR.sub(lambda match: f"{match[1].rstrip()} {{{match[2]}}}", text)
    known = {name: one or other or number for name, one, other, number in CONSTANT.findall(text)}
    text = EXPORT.sub("", IMPORT.sub("", text))
    text = open_admonitions(SHORTCODE.sub("", text))
    for name in ("table", "pre"):
        text = replaced(text, name, lambda match: _converted(match[0], opaque))
    text = open_tags(text, is_mdx=is_mdx, known=known)
    return opaque.show(BLANK_LINES.sub("\n\n", text)).strip("\n") + "\n"


def _converted(block: str, opaque: Opaque) -> str:
    """Turn a table or a listing that is written in HTML into Markdown, unless it has fences inside."""
    from adapters.documents.html import to_markdown

    if "\x00f" in block:
        return block
    return "\n\n" + opaque.hide(to_markdown(opaque.show_inline(block))) + "\n\n"
