"""HTML: the part of a page that people came to read, as Markdown that keeps the anchors of its headings; and Word."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

from bs4.element import Tag
from markdownify import ATX, MarkdownConverter

from adapters.documents.formulas import with_formulas
from adapters.documents.page import NotReadable, Page, cleaned, decode, first_heading

LANGUAGE = re.compile(
    r"\b(?:language|highlight|lang)-([\w+#-]+)|(?<![\w-])code (?!language)([\w+#-]+)|\bsourceCode (\w[\w+#-]*)"
)
NO_LANGUAGE = frozenset(("default", "none", "text", "notranslate", "literal-block", "plaintext"))
SIGNATURE = re.compile(r"^(?:sig-(?:pre)?name|desc(?:class)?name)$")  # as Sphinx marks the name of what it describes
STRUCTURE = re.compile(r"^( {0,3})(#{1,6}(?=[ \t]|$)|(?:=+|-+)(?=[ \t]*$))", re.MULTILINE)
LONGEST_NAME = 120  # characters
PLAIN: Any = MarkdownConverter  # its conversions take what its own tree gives them


class Converter(MarkdownConverter):
    """The rules that differ from markdownify's own; the names of the methods are its contract."""

    is_shown_as_is = False

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: N802 - its name there
        """Append the anchor to a heading; in what is shown as it is, one that has none gets none later either."""
        heading = str(PLAIN.convert_hN(self, n, el, text, parent_tags))
        anchor = _anchor(el)
        is_named = (anchor or self.is_shown_as_is) and heading.strip("# \n")
        return f"{heading.rstrip()} {{#{anchor}}}\n\n" if is_named else heading

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Break a line; in a listing without the blanks that mean a break elsewhere."""
        return "\n" if "pre" in parent_tags else str(PLAIN.convert_br(self, el, text, parent_tags))

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Keep a bar in a cell from ending it."""
        return str(PLAIN.convert_td(self, el, text.replace("|", r"\|"), parent_tags))

    convert_th = convert_td

    def convert_p(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Show the title of an admonition as a bold line; words that look like a heading of Markdown stay words."""
        text = STRUCTURE.sub(r"\1\\\2", text)
        is_title = "admonition-title" in _classes(el) and text.strip()
        return str(PLAIN.convert_p(self, el, f"**{text.strip()}**" if is_title else text, parent_tags))

    def convert_div(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Show the title of a Docusaurus admonition as a bold line."""
        words = text.strip().capitalize() if text.islower() else text.strip()
        is_title = any(name.startswith("admonitionHeading") for name in _classes(el)) and words
        return str(PLAIN.convert_div(self, el, f"**{words}**" if is_title else text, parent_tags))

    def convert_span(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Show what docutils marks as literal as code."""
        return str(PLAIN.convert_code(self, el, text, parent_tags)) if "literal" in _classes(el) else text

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Keep the description of a picture, unless it is only its address."""
        words = str(el.get("alt") or "").strip()
        return "" if "/" in words or words == el.get("src") else words

    def convert_dt(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Show a defined term as a bold line; one with an anchor, such as a function, opens a section of its own."""
        words = " ".join(text.split())
        anchor = _usable(el.get("id"))
        if not words or not anchor or parent_tags & {"td", "th", "li"}:
            return f"\n\n**{words}**\n\n" if words else ""
        name = "".join(part.get_text() for part in el.find_all(class_=SIGNATURE)).strip() or el.get_text()
        name = " ".join(name.split())[:LONGEST_NAME]
        signature = "" if name == " ".join(el.get_text().split()) else f"`{' '.join(el.get_text().split())}`\n\n"
        mark = "``" if "`" in name else "`"  # else `<file>` would be a tag, and `__init__` bold
        return f"\n\n###### {mark}{name}{mark} {{#{anchor}}}\n\n{signature}"

    def convert_dd(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Show a definition as text."""
        return f"\n\n{text.strip()}\n\n"

    def convert_math(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Show a formula once, by its source if it has one."""
        source = el.find("annotation")
        return f"${source.get_text().strip()}$" if source else " ".join(el.get_text().split())


def _classes(el: Tag) -> list[str]:
    value = el.get("class")
    return [value] if isinstance(value, str) else list(value or [])


def _anchor(heading: Tag) -> str:
    """Find the id that leads to a heading: its own, of an anchor in it, or of the section that it opens."""
    if heading.get("id"):
        return _usable(heading.get("id"))
    inner = heading.find(id=True) or heading.find("a", attrs={"name": True})
    if inner is not None:
        return _usable(inner.get("id") or inner.get("name"))
    parent, before = heading.parent, heading.find_previous_siblings()
    if parent is not None and parent.name in ("section", "div", "header") and not any(el.get_text() for el in before):
        return _usable(parent.get("id"))
    return ""


def _usable(identifier: Any) -> str:
    return identifier if isinstance(identifier, str) and not re.search(r"[\s{}]", identifier) else ""


def _language(pre: Tag) -> str:
    """Read the language of a listing off the classes around it."""
    around = [pre, *pre.find_all("code", limit=1), *list(pre.parents)[:2]]
    for match in LANGUAGE.finditer(" ; ".join(" ".join(_classes(el)) for el in around)):
        language = next(group for group in match.groups() if group)
        if language not in NO_LANGUAGE:
            return language
    return ""


MAIN = (".theme-doc-markdown", "article", "[role=main]", "main", "body")
NOISE = (
    "script, style, noscript, template, iframe, nav, footer, svg, button, form, head, "
    "[role=navigation], [role=search], .headerlink, .hash-link, .anchor-link, .heading-anchor, "
    ".sr-only, .visually-hidden, .breadcrumbs, .theme-doc-breadcrumbs, .theme-doc-footer, .pagination-nav, "
    ".viewcode-link, .table-of-contents, .theme-doc-toc-mobile, .toctree-wrapper, .skip-link, .katex-html"
)
ASIDE = "aside:not([class*=admonition]):not([class*=aside]):not([class*=callout]):not([class*=note])"
INVISIBLE = "[hidden]:not([role=tabpanel]), [aria-hidden=true], [style*='display:none'], [style*='display: none']"
CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)


CHANGED = tuple(
    f'meta[{name}="{value}"]'
    for name, value in (
        ("property", "article:modified_time"),
        ("itemprop", "dateModified"),
        ("name", "last-modified"),
        ("name", "dcterms.modified"),
    )
)


def read(content: bytes) -> Page:
    """Read the main part of a page, without navigation, side notes and what is hidden."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(_decoded(content))
    title_node = tree.css_first("title")
    title = title_node.text().strip() if title_node else ""
    said = next((node.attributes.get("content") for selector in CHANGED if (node := tree.css_first(selector))), None)
    for selector in (NOISE, ASIDE, INVISIBLE):
        for node in tree.css(selector):
            if node.tag not in ("html", "body"):
                node.decompose()
    main = next((node for selector in MAIN if (node := tree.css_first(selector)) and node.text(strip=True)), None)
    if main is None or not main.html:
        return Page(text="", title=title)
    text = to_markdown(main.html, is_shown_as_is=True)
    return Page(text=text, title=first_heading(text) or title, meta={"modified": said} if said else {})


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


def to_markdown(html: str, *, is_shown_as_is: bool = False) -> str:
    """Turn HTML into Markdown; a heading's id follows it as `{#id}`, also an empty one in what *is shown as it is*."""
    plain = dict.fromkeys(("escape_asterisks", "escape_underscores", "escape_misc"), False)
    converter: Any = Converter(heading_style=ATX, bullets="-", code_language_callback=_language, **plain)
    converter.is_shown_as_is = is_shown_as_is
    return str(converter.convert(html)).strip("\n") + "\n"


UNPACKED_LIMIT = 300_000_000  # bytes: what a document may grow to, so that a small file cannot fill the memory
NOT_WORD = "is not a Word document of the .docx kind; open it in Word and save it again."


def read_word(content: bytes) -> Page:
    """Read a Word document by its styles: its headings, text, lists and tables; pictures are left out."""
    import mammoth

    words: Any = mammoth
    check_packed(content, "word/document.xml", NOT_WORD)
    result = words.convert_to_html(
        io.BytesIO(with_formulas(content)),
        style_map="p[style-name='Title'] => h1:fresh\np[style-name='Source Code'] => pre:separator('\\n')",
        convert_image=words.images.img_element(_no_picture),
    )
    text = cleaned(to_markdown(result.value))
    return Page(text=text, title=first_heading(text))


def _no_picture(_: Any) -> dict[str, str]:
    return {}


def check_packed(content: bytes, part: str, problem: str) -> None:
    """Look at a packed file before it is unpacked. Raises `NotReadable`, with the *problem* if it lacks the *part*."""
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise NotReadable("is protected by a password or in an old format; save it in the new one, without a password.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise NotReadable(problem) from error
    if part not in sizes:
        raise NotReadable(problem)
    if sum(sizes.values()) > UNPACKED_LIMIT:
        raise NotReadable(f"unpacks to more than {UNPACKED_LIMIT // 1_000_000} MB; split it into smaller documents.")
