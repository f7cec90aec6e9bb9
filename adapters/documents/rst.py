"""reStructuredText, also with what Sphinx adds: docutils makes HTML of it, with the anchors that Sphinx gives."""

from __future__ import annotations

from typing import Any

from adapters.documents.html import to_markdown
from adapters.documents.page import Page, first_heading
from adapters.documents.text import decode

SETTINGS = {
    "auto_id_prefix": "id",  # as Sphinx sets it
    "doctitle_xform": False,  # so that the title keeps its anchor and its level
    "sectsubtitle_xform": False,
    "docinfo_xform": False,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "halt_level": 5,
    "report_level": 5,  # problems of a page are its author's, and are not shown to readers
    "input_encoding": "unicode",
    "initial_header_level": 1,
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "embed_stylesheet": False,
    "smart_quotes": False,
    "_disable_config": True,
    "line_length_limit": 1_000_000,
}


def read(content: bytes) -> Page:
    """Read a page; directives and roles that docutils does not know keep their content."""
    from docutils import core

    from adapters.documents.sphinx import accept, definitions

    text = decode(content)
    accept(text)
    docutils: Any = core
    parts = docutils.publish_parts(text + definitions(text), writer="html5", settings_overrides=SETTINGS)
    markdown = to_markdown(parts["body"])
    return Page(text=markdown, title=first_heading(markdown))
