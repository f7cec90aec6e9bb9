"""Texts that a model may write, and the sources that it may write them from."""

from __future__ import annotations

from hypothesis import strategies as st

from core.answering.citations import Footnotes, Sources
from core.answering.dialect import MARKDOWN
from core.answering.markup import MarkupReader
from core.model import Answer, Hit, Status
from tests.builders import passage

PIECES = [
    *("word", "Sentence one. ", "[1]", "[2]", "[9]", "[1, 2]", "99", "\\[99\\]", "【1】", "［99］", "é👍🏽", "。"),
    *("[guide](https://docs.example/page1)", "https://docs.example/page2#part", "https://evil.example/x", "https://"),
    *("[bank.example](https://docs.example/page1)", "[x](https://evil.example)", "![p](https://evil.example/p.png)"),
    *("@everyone", "@here", "<!channel>", "<@U1>", "<@123>", "<#9>", "</ask:1>", "<t:1:R>", "<:a:1>", "discord.gg/x"),
    *("<b>", "</b>", "<br>", "<!--", "-->", "<", ">", "&", "&lt;", "&amp;", "#60;", "lt;", "`", "``", "```", "~~~"),
    *("`@here`", "``a`b``", "\n", "\n\n", "\n```py\n", "\n```\n", "\n~~~\n", "\n> ", "\n- ", "\n1. ", "\n  - "),
    *("\n    ", "\n| a | b |\n", "|---|---|\n", "| c |", "\n# ", "\n#### ", "\n---\n", "\n===\n", "\n-# ", "|"),
    *("\n- [x] ", ">>> ", "\nSources:\n", "\n## References\n", "\n[1]: https://evil.example\n", "~~", "||", "\\"),
    *("**", "*", "_", "__", "!", "[", "]", "(", ")", "](", " ", "\t", ":", "\ue0000\ue001", "\u200b", "\u202e"),
    *("\u2028", "[1] x https://a.example", "bank.example ", "A sentence that fills. " * 30),
    *("1", ";", "&1", "+ ", "4. ", "www.e", "ps://x", "<ps:>", "*l*"),
    *("$x_i$", "$$\\frac{a}{b}$$", "\\(a^2\\)", "\\[", "\\]", "$", "$5 ", "$$"),
    *("word " * 60, "longer_words_" * 30),
]
GROWING = [  # beginnings of these could mean something else, or be written in another way
    *("*1**1】*k", "*1**l*!", "*a* [9]*b*", "**a** ~~b~~", "(~~# ps://l<`", ")*d ps://e[x\n", ". [9]+ ps://x["),
    *("&1;;", "&t;(", "\\&#91;<@1", "&amp;#60;word", "=\n4. <ps:>-", "|\n4. www.e`", "es\n4. ps://k>", "ewww.://"),
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def make_sources() -> Sources:
    """Five sections, one of whose passages names an address."""
    sources = Sources()
    for n in (1, 2, 3, 4):
        sources.add(Hit(passage(url=f"https://docs.example/page{n}#part", text=f"Text {n}."), 0.9 - n / 10))
    sources.add(Hit(passage(url="https://docs.example/page5", text="See https://tools.example/get (or not)."), 0.5))
    return sources


def answered(text: str, **fields: object) -> Answer:
    """Give the answer that comes of a text."""
    reader = MarkupReader(Footnotes(make_sources()))
    reader.feed(text, is_last=True)
    answer = Answer(
        id="a1",
        text=MARKDOWN.write(reader.blocks),
        blocks=tuple(reader.blocks),
        citations=reader.citations,
        status=Status.ANSWERED,
    )
    return answer.model_copy(update=fields)


def written(text: str) -> MarkupReader:
    """Give an answer of which so much has been written."""
    reader = MarkupReader(Footnotes(make_sources()))
    reader.feed(text)
    return reader
