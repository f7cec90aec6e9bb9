"""Notes and warnings of documentation tools: their label becomes a bold line, their content stays."""

from __future__ import annotations

import re

from adapters.documents.page import names

KNOWN = names(
    "abstract attention bug caution danger error example failure hint important info note question quote secondary "
    "success summary tip todo warning"
)
DIRECTIVE = re.compile(
    r"^(?P<lead>[ \t>]*):{3,}[ \t]*\{?\.?(?P<kind>[A-Za-z][\w-]*)\}?(?:\[(?P<label>[^\]\n]*)\])?(?:\{[^}\n]*\})?"
    r"[ \t]*(?P<rest>[^\n]*)$",
    re.MULTILINE,
)
CLOSING = re.compile(r"^[ \t>]*:{3,}[ \t]*$", re.MULTILINE)
ALERT = re.compile(r"^([ \t]*(?:>[ \t]?)+)\[!([A-Za-z]+)\][-+]?[ \t]*([^\n]*)$", re.MULTILINE)
INDENTED = re.compile(
    r"^[ \t]*(?:!!!|\?\?\?\+?|===[!+]?)[ \t]+(?P<kind>[\w-]+(?:[ \t]+[\w-]+)*)?"
    r"[ \t]*(?:\"(?P<label>[^\"\n]*)\")?[ \t]*$"
)


def opened(text: str) -> str:
    """Rewrite Docusaurus and Pandoc (`:::note`), GitHub (`> [!NOTE]`) and MkDocs (`!!! note`) admonitions."""
    if ":::" in text:
        text = CLOSING.sub("", DIRECTIVE.sub(_directive, text))
    if "[!" in text:
        text = ALERT.sub(lambda match: match[1] + label(match[2], match[3]), text)
    if any(mark in text for mark in ("!!!", "???", "===")):
        text = _outdented(text)
    return text


def label(kind: str, title: str) -> str:
    """Give the bold line for an admonition, or nothing if there is nothing to say."""
    name = kind.capitalize() if kind.lower() in KNOWN else ""
    words = ": ".join(part for part in (name, title.replace("**", "").strip()) if part)
    return f"**{words}**" if words else ""


def _directive(match: re.Match[str]) -> str:
    line = label(match["kind"], match["label"] or match["rest"])
    blank = match["lead"].rstrip()
    return f"{blank}\n{match['lead']}{line}\n{blank}"


def _outdented(text: str) -> str:
    """Take the extra indentation off the content of MkDocs blocks, which would read as code elsewhere."""
    out: list[str] = []
    open_blocks: list[int] = []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        while open_blocks and line.strip() and indent < open_blocks[-1] + 4:
            open_blocks.pop()
        match = INDENTED.match(line)
        shown = line[4 * len(open_blocks) :] if line.strip() else ""
        if match and (match["label"] or match["kind"]) and not line.strip().startswith("===="):
            head = label(match["kind"] or "", match["label"] or "")
            out += [" " * (indent - 4 * len(open_blocks)) + head, ""]
            open_blocks.append(indent)
        else:
            out.append(shown)
    return "\n".join(out)
