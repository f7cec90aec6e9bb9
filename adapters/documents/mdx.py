"""What documentation tools add to Markdown: admonitions become bold lines, JSX and HTML tags go, their text stays.

Works on text whose code was set aside. Block tags are first turned into lines that begin with a mark, so that a
second pass can take away the indentation that only showed the nesting of tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from adapters.documents.page import names

BLOCKS = names(
    "address article aside audio blockquote body center dd details dialog div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header html li main nav ol p picture section summary table tbody td tfoot th thead tr ul "
    "video Admonition Card CardGrid Cards Step Steps Tab TabItem Tabs"
)
INLINE = names(
    "a abbr b bdi bdo big br button cite code data del dfn em font hr i img input ins kbd label mark nobr q s samp "
    "small source span strike strong sub sup time tt u var wbr"
)
WITHOUT_TEXT = ("script", "style", "svg", "iframe", "noscript", "template")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

BLANKS = re.compile(r"[ \t]*")

Change = Callable[[re.Match[str]], str]
"""Returns the text for an element: group 1 holds its attributes, group 2 its content, or None if it closes itself."""


def replaced(text: str, name: str, change: Change) -> str:
    """Rewrite every *name* element; what is never closed is left alone."""
    last = text.lower().rfind(f"</{name}")
    if last < 0 and f"<{name}" not in text:
        return text
    # Behind the last closing tag no element can end: looking for its end there would take quadratic time.
    return _whole(name).sub(change, text[: last + len(name) + 3]) + text[last + len(name) + 3 :]


@cache
def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"<{name}(?=[\s/>])([^<>]*?)(?:/>|>(.*?)</{name}>)", re.DOTALL | re.IGNORECASE)


def indentation(text: str, at: int) -> str:
    """Return the blanks that begin the line in which position *at* stands."""
    start = text.rfind("\n", 0, at) + 1
    match = BLANKS.match(text, start, at)
    return match[0].expandtabs(4) if match else ""


NAME = re.compile(r"<(/?)([A-Za-z][\w.:-]*|(?=>))")
ATTRIBUTE = re.compile(r"""\s+([\w@:.-]+)(\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'{}<>=`]+)|(?=\{)))?""")
SPREAD = re.compile(r"\s*(?=\{)")
END = re.compile(r"\s*(/?)>")
OUTSIDE = re.compile(r"\\[{}]|[{}]")
# An apostrophe begins no string; to "(?!)", see core/answering/inline.py.
INSIDE = re.compile(r"""\\.|(?<!\w)(["'])(?:\\.|(?!\1)[^\\\n]|(?!))*+\1(?!\w)|[{}]""")
QUOTED = re.compile(r"""\{\s*(["'])(.*)\1\s*\}""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that ends before position `end`; attributes without a value are empty, expressions are as written."""

    name: str
    end: int
    is_closing: bool
    is_self_closing: bool
    attributes: Mapping[str, str]


def brace_pairs(text: str) -> dict[int, int]:
    """Find for every opening brace the closing one that belongs to it; those in a string of an expression are text."""
    pairs: dict[int, int] = {}
    waiting: list[int] = []
    at = 0
    while match := (INSIDE if waiting else OUTSIDE).search(text, at):
        at = match.end()
        if match[0] == "{":
            waiting.append(match.start())
        elif match[0] == "}" and waiting:
            pairs[waiting.pop()] = match.start()
    return pairs


def tag_at(text: str, at: int, pairs: Mapping[int, int]) -> Tag | None:
    """Read the tag whose `<` stands at *at*, or nothing if it is no tag."""
    head = NAME.match(text, at)
    if head is None:
        return None
    attributes, here = _attributes(text, head.end(), pairs)
    end = END.match(text, here)
    if end is None:
        return None
    return Tag(head[2], end.end(), bool(head[1]), bool(end[1]), attributes)


def _attributes(text: str, here: int, pairs: Mapping[int, int]) -> tuple[dict[str, str], int]:
    found: dict[str, str] = {}
    while True:
        match = ATTRIBUTE.match(text, here)
        spread = None if match else SPREAD.match(text, here)
        if match is None and spread is None:
            return found, here
        here = (match or spread).end()  # pyright: ignore[reportOptionalMemberAccess] - one of the two matched
        value = match[3] or match[4] or match[5] or "" if match else ""
        if text[here : here + 1] == "{" and (spread or (match and match[2] and not value)):
            if here not in pairs:
                return found, here
            value = text[here : pairs[here] + 1]
            value = string[2] if (string := QUOTED.fullmatch(value)) else value
            here = pairs[here] + 1
        if match:
            found[match[1]] = value


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


def open_admonitions(text: str) -> str:
    """Rewrite Docusaurus and Pandoc (`:::note`), GitHub (`> [!NOTE]`) and MkDocs (`!!! note`) admonitions."""
    if ":::" in text:
        text = CLOSING.sub("", DIRECTIVE.sub(_directive, text))
    if "[!" in text:
        text = ALERT.sub(lambda match: match[1] + label(match[2], match[3]), text)
    if any(mark in text for mark in ("!!!", "???", "===")):
        text = _outdented(text)
    return text


def label(kind: str, title: str) -> str:
    """Return the bold line for an admonition, or nothing if there is nothing to say."""
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


OPEN, CLOSE = "\x01", "\x02"
MARKS = {"b": "**", "strong": "**", "em": "*", "i": "*", "code": "`", "samp": "`", "tt": "`", "del": "~~", "s": "~~"}
STRONG = re.compile(r"</?(?:b|strong|h[1-6]|p)\b[^>\n]*>|\*\*", re.IGNORECASE)
IDENTIFIER = re.compile(r"""(?:\bid\s*=\s*)["']([^"'\s]+)["']""")
STRING = re.compile(r"""\s*(["'`])((?:(?!\1)[^`$\\])*)\1\s*""")
TOKEN = re.compile(r"\s*\x00c\d+\x00\s*")
PLAIN_NAME = re.compile(r"#?[\w.$-]+")
NOTHING: Mapping[str, str] = {}
VISIBLE = ("title", "label", "alt", "caption", "description", "summary")  # attributes that components show as text


def open_tags(text: str, *, is_mdx: bool, known: Mapping[str, str] = NOTHING) -> str:
    """Take tags and, in MDX, expressions out of *text*; names that are *known* are put in their place."""
    if "<" not in text and not (is_mdx and "{" in text):
        return text
    for name in WITHOUT_TEXT:
        text = replaced(text, name, lambda _: "")
    for name in ("summary", *HEADINGS):
        text = replaced(text, name, _summary if name == "summary" else _heading)
    return _dedented(_Scan(text, known, is_mdx=is_mdx).run())


def _heading(match: re.Match[str]) -> str:
    if match[2] is None:
        return ""
    anchor = IDENTIFIER.search(match[1])
    words = " ".join(match[2].split())
    return f"\n\n{'#' * int(match[0][2])} {words}{f' {{#{anchor[1]}}}' if anchor else ''}\n\n"


def _summary(match: re.Match[str]) -> str:
    words = " ".join(STRONG.sub("", match[2] or "").split())
    return f"\n\n{indentation(match.string, match.start())}**{words}**\n\n" if words else ""


class _Scan:
    """One walk over a text from left to right."""

    def __init__(self, text: str, known: Mapping[str, str], *, is_mdx: bool) -> None:
        self._text = text
        self._known = known
        self._is_mdx = is_mdx
        self._pairs = brace_pairs(text)
        self._out: list[str] = []
        self._labels: dict[str, str] = {}

    def run(self) -> str:
        """Return the text without its tags and expressions."""
        done = 0
        for match in re.finditer(r"\\.|[<{]", self._text):
            at = match.start()
            if at < done or match[0][0] == "\\":
                continue
            end, words = self._tag(at) if match[0] == "<" else self._expression(at)
            if end > at:
                self._out += (self._text[done:at], words)
                done = end
        self._out.append(self._text[done:])
        return "".join(self._out)

    def _expression(self, at: int) -> tuple[int, str]:
        end = self._pairs.get(at, -1) + 1
        if not self._is_mdx or not end:
            return at, ""
        inner = self._text[at + 1 : end - 1]
        if TOKEN.fullmatch(inner) or inner.isspace():
            return end, inner
        if string := STRING.fullmatch(inner):
            return end, string[2]
        if (said := self._known.get(inner.strip())) is not None:
            return end, said
        return (at, "") if PLAIN_NAME.fullmatch(inner) else (end, "")

    def _tag(self, at: int) -> tuple[int, str]:
        tag = tag_at(self._text, at, self._pairs)
        if tag is None or not self._is_markup(tag, at):
            return at, ""
        if values := tag.attributes.get("values"):
            self._labels.update(_labels(values))
        if self._is_block(tag, at):
            return tag.end, self._block(tag, at)
        return tag.end, _inline(tag)

    def _is_markup(self, tag: Tag, at: int) -> bool:
        """Return whether this is a tag and not a generic type or a placeholder: `List<String>`, `<your_name>`."""
        if self._is_mdx or tag.name.lower() in BLOCKS | INLINE:
            return True
        return tag.name[:1].isupper() and not tag.name.isupper() and not self._text[at - 1 : at].isalnum()

    def _is_block(self, tag: Tag, at: int) -> bool:
        if tag.name in BLOCKS or tag.name.lower() in BLOCKS:
            return True
        if tag.name in INLINE:
            return False
        line_start = self._text.rfind("\n", 0, at) + 1
        return not self._text[line_start:at].strip() and self._text[tag.end : tag.end + 1] in ("", "\n")

    def _block(self, tag: Tag, at: int) -> str:
        if tag.name == "li":
            return "" if tag.is_closing else "\n- "
        indent = indentation(self._text, at)
        if tag.is_closing:
            return f"\n{indent}{CLOSE}\n"
        lines = f"\n\n{indent}{OPEN}{self._label(tag)}\n\n"
        return lines + (f"{indent}{CLOSE}\n" if tag.is_self_closing else "")

    def _label(self, tag: Tag) -> str:
        attributes = tag.attributes
        if tag.name == "Admonition":
            return label(attributes.get("type", ""), attributes.get("title", ""))
        if tag.name == "TabItem":
            value = attributes.get("value", "")
            words = attributes.get("label") or self._labels.get(value) or value
            return f"**{words}**" if words else ""
        return _visible(tag, bold=True)


def _inline(tag: Tag) -> str:
    match tag.name:
        case "br":
            return " "
        case "sup" if not tag.is_closing:
            return "^"
        case name if name in MARKS:
            return MARKS[name]
        case _:
            return "" if tag.is_closing else _visible(tag, bold=False)


def _visible(tag: Tag, *, bold: bool) -> str:
    """Return the attributes that a component shows to readers; of HTML only what describes a picture."""
    names = VISIBLE if tag.name[:1].isupper() else ("alt",)
    words = [tag.attributes[name] for name in names if tag.attributes.get(name, "").strip()]
    if bold and words and tag.name[:1].isupper():
        words[0] = f"**{words[0]}**"
    return " ".join(words)


def _labels(values: str) -> dict[str, str]:
    """Read what `<Tabs values={[{label: 'Apple', value: 'apple'}]}>` calls its tabs."""
    found: dict[str, str] = {}
    for entry in re.findall(r"\{[^{}]*\}", values):
        pairs = dict(re.findall(r"""(label|value)\s*:\s*["']([^"']*)["']""", entry))
        if "label" in pairs and "value" in pairs:
            found[pairs["value"]] = pairs["label"]
    return found


def _dedented(text: str) -> str:
    """Move what stood inside tags back to where its outermost tag stood."""
    out: list[str] = []
    depth, outer, base = 0, 0, -1
    for line in text.split("\n"):
        bare = line.lstrip(" \t")
        indent = len(line) - len(bare)
        if bare[:1] in (OPEN, CLOSE):
            outer = indent if bare[0] == OPEN and depth == 0 else outer
            depth = depth + 1 if bare[0] == OPEN else max(0, depth - 1)
            base = -1
            out.append(" " * outer + bare[1:] if bare[1:] else "")
            continue
        if depth and bare:
            base = indent if base < 0 else base
            line = line[min(indent, max(0, base - outer)) :]  # noqa: PLW2901 - the same line, moved
        out.append(line)
    return "\n".join(out)
