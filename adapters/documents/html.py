"""HTML: the part of a page that people came to read, as Markdown that keeps the anchors of its headings."""

from __future__ import annotations

import re

from adapters.documents.page import NotReadable, Page, first_heading
from adapters.documents.text import decode

MAIN = (".theme-doc-markdown", "article", "[role=main]", "main", "body")
NOISE = (
    "script, style, noscript, template, iframe, nav, footer, svg, button, form, head, "
    "[role=navigation], [role=search], .headerlink, .hash-link, .anchor-link, .heading-anchor, "
    ".sr-only, .visually-hidden, .breadcrumbs, .theme-doc-breadcrumbs, .theme-doc-footer, .pagination-nav, "
    ".table-of-contents, .theme-doc-toc-mobile, .toctree-wrapper, .skip-link, .katex-html"
)
ASIDE = "aside:not([class*=admonition]):not([class*=aside]):not([class*=callout]):not([class*=note])"
INVISIBLE = "[hidden]:not([role=tabpanel]), [aria-hidden=true], [style*='display:none'], [style*='display: none']"
CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)


def read(content: bytes) -> Page:
    """Read the main part of a page, without navigation, side notes and what is hidden."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(_decoded(content))
    title_node = tree.css_first("title")
    title = title_node.text().strip() if title_node else ""
    for selector in (NOISE, ASIDE, INVISIBLE):
        for node in tree.css(selector):
            if node.tag not in ("html", "body"):
                node.decompose()
    main = next((node for selector in MAIN if (node := tree.css_first(selector)) and node.text(strip=True)), None)
    if main is None or not main.html:
        return Page(text="", title=title)
    text = to_markdown(main.html)
    return Page(text=text, title=first_heading(text) or title)


def _decoded(content: bytes) -> str:
    """Trust the page's own word on its encoding where its bytes are not UTF-8."""
    declared = CHARSET.search(content[:2_000])
    try:
        content.decode()
    except UnicodeDecodeError:
        if declared:
            try:
                return decode(content.decode(declared[1].decode()).encode())
            except (LookupError, UnicodeDecodeError) as error:
                raise NotReadable("is not in the encoding that it names; save it as UTF-8.") from error
    return decode(content)


def to_markdown(html: str) -> str:
    """Turn HTML into Markdown; a heading's id follows it as `{#id}`."""
    from adapters.documents.converter import convert

    return convert(html).strip("\n") + "\n"
