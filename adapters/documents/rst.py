"""reStructuredText, also with what Sphinx adds: docutils makes HTML of it, with the anchors that Sphinx gives."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any, ClassVar

from docutils import core, nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en
from docutils.statemachine import StringList

from adapters.documents.described import CONTEXT, DESCRIBING, Described, Describing, identifier
from adapters.documents.html import to_markdown
from adapters.documents.page import Page, decode, first_heading, names

CODE = names(
    "code-block sourcecode code prompt doctest testcode testoutput mermaid plantuml uml graphviz digraph graph ipython "
    "parsed-literal"
)
DIAGRAMS = {"graphviz": "dot", "digraph": "dot", "graph": "dot", "uml": "plantuml", "prompt": "console"}
DROPPED = names(
    "toctree contents sectnum redirect-from include literalinclude index highlight tabularcolumns meta raw "
    "sectionauthor codeauthor testsetup testcleanup header footer automodule autoclass autofunction autosummary "
    "bibliography title c:namespace c:namespace-push c:namespace-pop cpp:namespace cpp:namespace-push "
    "cpp:namespace-pop"
)
WEBSITE = names("html dirhtml singlehtml")
OTHER_BUILDS = names("latex latexpdf pdf epub man text texinfo info xml pseudoxml gettext json pickle htmlhelp")
"""What Sphinx makes beside websites; other tags are of the settings of one."""
LABELLED = names("tab group-tab code-tab tab-item dropdown card grid-item-card details collapse topic")
LOOK = re.compile(r"[a-z0-9 -]+")
LITERAL = re.compile(
    r"^(?:(?:py|c|cpp|js|rst):[\w-]+|file|command|program|option|envvar|samp|func|class|meth|mod|attr|obj|data|const|"
    r"exc|makevar|mimetype|token|regexp|confval)$"
)
TITLED = re.compile(r"^(.*?)\s*<([^<>]*)>$", re.DOTALL)
USED_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|\n]+\| +)?([A-Za-z][\w:.+-]*?) ?::(?:\s|$)", re.MULTILINE)
USED_ROLE = re.compile(r":([A-Za-z][\w:.+-]*):`|`:([A-Za-z][\w:.+-]*):")


USED_SUBSTITUTION = re.compile(r"(?<![\w|])\|([A-Za-z][\w .-]*?)\|(?:__?)?(?!\w)")
LINKED_SUBSTITUTION = re.compile(r"(?<![\w|])(\|([A-Za-z][\w .-]*?)\|)__?(?!\w)")
TARGET = re.compile(r"^[ \t]*\.\. _(?:`([^`\n]+)`|([^:\n]+)):", re.MULTILINE)
DEFINED_SUBSTITUTION = re.compile(r"^\s*\.\. \|([^|\n]+)\|", re.MULTILINE)


class _AnyOption(dict[str, Callable[[str], str]]):
    """An option table in which every option is known."""

    def __missing__(self, key: str) -> Callable[[str], str]:
        return directives.unchanged


class _Stub(Directive):
    """A directive of any name with any options."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Any] = _AnyOption(name=directives.unchanged)

    def run(self) -> Sequence[nodes.Node]:
        """Keep the content, under the argument where that is a label for readers."""
        name = self.name.lower()
        argument = self.arguments[0] if self.arguments else ""
        inner: list[nodes.Node] = []
        if argument.startswith(".. "):  # content without a blank line before it
            return self._parsed(StringList([*argument.split("\n"), "", *self.content], source=""), 0)
        if argument and name == "code-tab":
            language, _, title = argument.partition(" ")
            return [_bold(title or language), self._listing(language)]
        if argument and (DESCRIBING.match(name) or ":" in name):  # also of a domain that nobody knows
            return self._described(name, [line.strip() for line in argument.replace("\\\n", " ").split("\n")])
        if argument and name in LABELLED:
            inner.append(_bold(argument))
        elif argument and (name.startswith(("version", "deprecated")) or not self.content):
            inner.extend(self._parsed(StringList([argument], source=""), 0))
        return [*inner, *self._parsed(self.content, self.content_offset)]

    def _described(self, name: str, signatures: Sequence[str]) -> list[nodes.Node]:
        """Show something under its signatures; as a term with the anchor that leads to it, if that is known."""
        place: Describing = self.state.document.settings.describing
        found = place.read(name, signatures[0], self.options)
        with place.within(name, found):
            content = self._parsed(self.content, self.content_offset)
        if found is None or not found.anchor:
            return [*_signatures(signatures), *content]
        body = nodes.definition("", *_signatures(signatures[1:]), *content)
        return [nodes.definition_list("", nodes.definition_list_item("", _term(signatures[0], found), body))]

    def _parsed(self, lines: StringList, offset: int) -> list[nodes.Node]:
        box = nodes.Element()
        self.state.nested_parse(lines, offset, box, match_titles=True)
        return list(box.children)

    def _listing(self, language: str) -> nodes.literal_block:
        text = "\n".join(self.content)
        classes = ["code", language] if re.fullmatch(r"[\w+#-]+", language) else []
        return nodes.literal_block(text, text, classes=classes)


class _Code(_Stub):
    """A listing in the language that is named."""

    def run(self) -> Sequence[nodes.Node]:
        """Show the content as it is, with its caption above."""
        words = self.arguments[0].split() if self.arguments else []
        language = words[0] if words else DIAGRAMS.get(self.name.lower(), "")
        if self.name.lower() in {*DIAGRAMS, "mermaid", "plantuml"}:
            language = DIAGRAMS.get(self.name.lower(), self.name.lower())
        caption = self.options.get("caption", "")
        above = self._parsed(StringList([caption], source=""), 0) if caption else []
        return [*above, self._listing(language)] if self.content else above


class _Glossary(_Stub):
    """A list of terms, some of which share a definition."""

    def run(self) -> Sequence[nodes.Node]:
        """Show each definition below its terms, of which the first one has the anchor that Sphinx gives it."""
        entries = list[tuple[list[str], list[str]]]()
        for line in self.content:
            if not line[:1].strip():
                if entries:
                    entries[-1][1].append(line)
            elif not line.startswith(".. "):
                if not entries or any(map(str.strip, entries[-1][1])):
                    entries.append(([], []))
                entries[-1][0].append(re.sub(r"^(\S.*?) +: +\S+$", r"\1", line))
        return [nodes.definition_list("", *(self._entry(terms, said) for terms, said in entries))]

    def _entry(self, terms: Sequence[str], said: Sequence[str]) -> nodes.definition_list_item:
        words = [self.state.inline_text(term, self.lineno)[0] for term in terms]
        first = nodes.term("", "", *words[0])
        if (anchor := identifier(f"term-{first.astext()}")) != "term":  # as of one without a Latin letter
            first["ids"] = [anchor]
        others = [nodes.paragraph("", "", nodes.strong("", "", *each)) for each in words[1:]]
        body = self._parsed(StringList(dedent("\n".join(said)).split("\n"), source=""), 0)
        return nodes.definition_list_item("", first, nodes.definition("", *others, *body))


class _Only(_Stub):
    """What only some builds show."""

    def run(self) -> Sequence[nodes.Node]:
        """Show it unless it is known that a website leaves it out."""
        said = self.arguments[0] if self.arguments else ""
        try:
            is_shown = _holds(ast.parse(said, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            is_shown = None
        return [] if is_shown is False else self._parsed(self.content, self.content_offset)


def _holds(said: ast.expr) -> bool | None:
    """Return whether what is said of a build is true of a website's; None where only its settings know."""
    match said:
        case ast.Name(id=tag):
            tag = tag.removeprefix("builder_").removeprefix("format_")
            return True if tag in WEBSITE else False if tag in OTHER_BUILDS else None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return None if (holds := _holds(operand)) is None else not holds
        case ast.BoolOp(op=op, values=values):
            decides, found = isinstance(op, ast.Or), [_holds(each) for each in values]
            return decides if decides in found else None if None in found else not decides
        case _:
            return None


class _Dropped(_Stub):
    """A directive that shows nothing of its own, or only what other files hold."""

    def run(self) -> Sequence[nodes.Node]:
        """Show nothing."""
        return []


class _Class(_Stub):
    """A class of Python, as Sphinx has it, or how something looks, as docutils has it."""

    def run(self) -> Sequence[nodes.Node]:
        """Describe what can be no name of a look, or stands in a module."""
        place: Describing = self.state.document.settings.describing
        if not place.module and LOOK.fullmatch(" ".join(self.arguments)):
            return self._parsed(self.content, self.content_offset)
        return super().run()


class _Context(_Stub):
    """A directive that says to what those behind it belong."""

    def run(self) -> Sequence[nodes.Node]:
        """Show what is in it, and nothing else."""
        place: Describing = self.state.document.settings.describing
        place.note(self.name.lower(), self.arguments[0] if self.arguments else "")
        return self._parsed(self.content, self.content_offset)


def _signatures(lines: Sequence[str]) -> list[nodes.Node]:
    return [nodes.paragraph("", "", *(nodes.literal("", line) for line in lines))] if lines else []


def _term(signature: str, found: Described) -> nodes.term:
    """Return a signature with its name marked as Sphinx does."""
    before, _, after = signature.partition(found.written)
    words = nodes.Text(before), nodes.inline("", found.name, classes=["sig-name"]), nodes.Text(after)
    return nodes.term("", "", *words, ids=[found.anchor])


def _bold(words: str) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.strong("", words))


def _role(
    name: str, rawtext: str, text: str, *_: Any, **__: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Show the words of a reference, and leave out what it points to."""
    text = text.replace("\x00", "")
    titled = TITLED.match(text)
    words = titled[1] if titled and titled[1] else text.strip("<>")
    if not titled and name.lower() == "doc":
        words = re.sub(r"[-_]+", " ", words.rstrip("/").rpartition("/")[2])
    if not titled and words[:1] in "~!" and words:
        words = words[1:].rpartition(".")[2] if words[0] == "~" else words[1:]
    shown = nodes.literal(rawtext, words) if LITERAL.match(name.lower()) else nodes.inline(rawtext, words)
    return [shown], []


def accept(text: str) -> None:
    """Make docutils know every directive and role that *text* uses."""
    registry: Any = roles
    for name, directive in _OWN.items():
        directives.register_directive(name, directive)
    for name in set(USED_DIRECTIVE.findall(text)):
        if name.lower() not in _OWN and name.lower() not in en.directives:
            directives.register_directive(name.lower(), _Stub)
    for pair in set(USED_ROLE.findall(text)):
        name = (pair[0] or pair[1]).lower()
        if name not in en.roles:
            registry.register_local_role(name, _role)


_OWN: dict[str, type[Directive]] = {
    **dict.fromkeys(DROPPED, _Dropped),
    **dict.fromkeys(CONTEXT, _Context),
    **dict.fromkeys(CODE, _Code),
    "class": _Class,
    "glossary": _Glossary,
    "only": _Only,
}


def definitions(text: str) -> str:
    """Define the substitutions that *text* leaves to the settings of its website, each as its own name."""
    defined = {name.lower() for name in DEFINED_SUBSTITUTION.findall(text)}
    missing = {name.lower(): name for name in USED_SUBSTITUTION.findall(text) if name.lower() not in defined}
    return "".join(f"\n\n.. |{name}| replace:: {name}" for name in missing.values())


def without_dead_links(text: str) -> str:
    """Take the mark of a link off a substitution that leads to no target of this page."""
    targets = {(quoted or plain).strip().lower() for quoted, plain in TARGET.findall(text)}
    return LINKED_SUBSTITUTION.sub(lambda match: match[0] if match[2].lower() in targets else match[1], text)


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
    text = without_dead_links(decode(content))
    accept(text)
    docutils: Any = core
    settings = {**SETTINGS, "describing": Describing()}
    parts = docutils.publish_parts(text + definitions(text), writer="html5", settings_overrides=settings)
    markdown = to_markdown(parts["body"])
    return Page(text=markdown, title=first_heading(markdown))
