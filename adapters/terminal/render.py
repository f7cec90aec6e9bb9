"""How an answer looks: as plain text, on a screen, and as JSON. Nothing from outside is read as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from core.answering.dialect import GAP, leads, plain_words
from core.answering.nodes import runs
from core.events import ErrorType
from core.messages import WARNING
from core.model import Answer, Citation, Status, without_controls
from core.model.markup import (
    Block,
    CodeLine,
    CodeSpan,
    Emphasis,
    Footnote,
    Heading,
    Inline,
    LineBreak,
    Link,
    Paragraph,
    Rule,
    Strike,
    Strong,
    TableRow,
    Text,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.style import Style
    from rich.text import Text as StyledText

Cells: TypeAlias = Sequence[Sequence[Inline]]

_LINKABLE = re.compile(r"(?:https?|file)://[^\x00-\x20\x7f-\x9f]+\Z", re.IGNORECASE)
_SEARCH_ERRORS: dict[Status, ErrorType] = {
    Status.NO_CONTEXT: "no_context",
    Status.UNAVAILABLE: "retrieval",
    Status.FAILED: "generation",
}


def plain(answer: Answer) -> str:
    """Return the answer and its sources as lines of text; code in the answer keeps what holds it together."""
    text = cleaned(answer.text)
    parts = [f"{WARNING} {text}" if answer.is_failure or answer.lexical_only else text]
    for title, mark, named in (("Sources", "[{}]", answer.citations), ("Nearest sections", "-", answer.nearest)):
        lines = [
            " ".join(
                filter(
                    None, [mark.format(each.number), plain_words(each.heading) + each.age, without_controls(each.url)]
                )
            )
            + f" ({each.relevance_score:.2f})"
            for each in named
        ]
        if lines:
            parts.append("\n".join([f"{title}:", *lines]))
    return "\n\n".join(parts)


def cleaned(text: str) -> str:
    """Return a text of the answer without what nobody sees, but for what keeps its characters apart."""
    return GAP.join(map(without_controls, text.split(GAP)))


def drawn(blocks: Sequence[Block]) -> Iterator[RenderableType]:
    """Return what a screen shows of blocks, in which footnotes and links can be clicked."""
    from rich.text import Text as StyledText

    joined: list[list[Block]] = []  # the lines of a block of code, and the rows of a table
    for block in blocks:
        if joined and isinstance(block.leaf, CodeLine | TableRow) and not block.leaf.is_first:
            joined[-1].append(block)
        else:
            joined.append([block])
    for number, (block, *others) in enumerate(joined):
        if number and block.is_spaced:
            yield StyledText("")
        yield _block(block, others)


def _block(block: Block, others: Sequence[Block]) -> RenderableType:
    """Return a block; the *others* go on with it."""
    from rich.table import Table

    shown = _leaf(block, others)
    lead, _ = leads(block.path, block.opens)
    if not lead:
        return shown
    beside = Table.grid()
    beside.add_column(width=len(lead))
    beside.add_row(lead if block.opens else " " * len(lead), shown)
    return beside


def _leaf(block: Block, others: Sequence[Block]) -> RenderableType:
    from rich.rule import Rule as Line

    match block.leaf:
        case Paragraph(children):
            return styled_nodes(children)
        case Heading(_, children):
            return styled_nodes(children, bold=True)
        case CodeLine(language):
            from rich.syntax import Syntax  # it takes a while, and few answers have code

            text = "\n".join(each.leaf.text for each in (block, *others) if isinstance(each.leaf, CodeLine))
            return Syntax(text, language or "text", word_wrap=True, background_color="default")
        case TableRow(head):
            return _table(head, [each.leaf.cells for each in (block, *others) if isinstance(each.leaf, TableRow)])
        case Rule():
            return Line(style="dim")


def _table(head: Cells, rows: Sequence[Cells]) -> RenderableType:
    from rich.table import Table

    table = Table()
    for cell in head:
        table.add_column(styled_nodes(cell))
    for cells in filter(None, rows):
        table.add_row(*map(styled_nodes, cells))
    return table


def styled_nodes(nodes: Iterable[Inline], *, bold: bool = False) -> StyledText:
    """Return words with their styles and links."""
    from rich.style import Style
    from rich.text import Text as StyledText

    styled = StyledText()
    for run in runs(nodes):
        style = Style(bold=bold or Strong in run.wraps, italic=Emphasis in run.wraps, strike=Strike in run.wraps)
        match run.node:
            case Text(text):
                styled.append(text, style)
            case CodeSpan(text):
                styled.append(text, style + Style(color="cyan"))
            case LineBreak():
                styled.append("\n")
            case Footnote(number, url):
                styled.append(f"[{number}]", style + Style(color="bright_blue") + link_to(url))
            case Link(url, children):
                label = styled_nodes(children)
                label.stylize(Style(color="bright_blue") + link_to(url))
                styled.append_text(label)
    return styled


def link_to(url: str) -> Style:
    """Return the style of what leads to an address of a page or a file, and to nothing that runs."""
    from rich.style import Style

    return Style(link=url if _LINKABLE.match(url) else None)


def as_json(answer: Answer) -> dict[str, Any]:
    """Return the answer as the JSON object that `--json` promises."""
    error = _SEARCH_ERRORS.get(answer.status)
    return {
        "answer": answer.text,
        "status": answer.status.value,
        "sources": [_source(citation) for citation in answer.citations],
        "has_relevant_context": answer.has_relevant_context,
        "nearest": [_source(citation) for citation in answer.nearest],
        "tool_calls": [call.model_dump() for call in answer.tool_calls],
        "usage": {**answer.usage.model_dump(), "cost": answer.cost},
        "retrieval_time_ms": answer.retrieval_time_ms,
        "generation_time_ms": answer.generation_time_ms,
        "total_time_ms": answer.total_time_ms,
        "error": {"error_type": error, "message": answer.text} if error else None,
    }


def failure_as_json(status: Status, error_type: ErrorType, message: str) -> dict[str, Any]:
    """Return the same keys for a question that never came to an answer."""
    nothing = as_json(Answer(id="none", text="", status=status))
    return {**nothing, "error": {"error_type": error_type, "message": message}}


def _source(citation: Citation) -> dict[str, Any]:
    return {
        "number": citation.number,
        "title": plain_words(citation.title),
        "chapter": plain_words(citation.chapter),
        "section": plain_words(citation.section),
        "url": citation.url,
        "relevance_score": round(citation.relevance_score, 2),
    }
