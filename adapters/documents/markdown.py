"""Markdown and MDX: what a website makes of them, minus what only a website can show."""

from __future__ import annotations

import re

from adapters.documents import admonitions, frontmatter, mdx
from adapters.documents.code import Opaque
from adapters.documents.elements import replaced
from adapters.documents.page import Page, first_heading
from adapters.documents.text import decode

COMMENTED_ANCHOR = re.compile(r"^( {0,3}#{1,6} [^\n]*?)\{/\*[ \t]*(#[^\s*]+)[ \t]*\*/\}[ \t]*$", re.MULTILINE)
IMPORT = re.compile(
    r"^import\s+(?:[\w*{$][^;'\"\n]*(?:\n[^;'\"\n]+){0,60}\sfrom\s+)?['\"][^'\"\n]+['\"];?[ \t]*$", re.MULTILINE
)
EXPORT = re.compile(
    r"^export\s+(?:const|let|var|function|async|class|default|\{|\*)[^\n]*(?:\n(?![ \t]*\n)[^\n]+)*", re.MULTILINE
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
    text = EXPORT.sub("", IMPORT.sub("", text))
    text = admonitions.opened(SHORTCODE.sub("", text))
    for name in ("table", "pre"):
        text = replaced(text, name, lambda match: _converted(match[0], opaque))
    text = mdx.opened(text, is_mdx=is_mdx)
    return opaque.show(BLANK_LINES.sub("\n\n", text)).strip("\n") + "\n"


def _converted(block: str, opaque: Opaque) -> str:
    """Turn a table or a listing that is written in HTML into Markdown, unless it has fences inside."""
    from adapters.documents.html import to_markdown

    if "\x00f" in block:
        return block
    return "\n\n" + opaque.hide(to_markdown(opaque.show_inline(block))) + "\n\n"
