"""Formulas in answers: no platform draws them, so they are shown as they were written, as code."""

from __future__ import annotations

import pytest

from core.answering.dialect import MARKDOWN
from core.answering.markup import read
from tests.answers import make_sources, written


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"The gain $K_p * e_i * t$ is set.", "The gain `K_p * e_i * t` is set."),
        (r"So \(x^2\) and \(\{1, 2\}\) hold.", r"So `x^2` and `\{1, 2\}` hold."),
        ("It is\n$$\n\\frac{a_1}{b_1} \\\\\n= c\n$$\nhere.", r"It is `\frac{a_1}{b_1} \\ = c` here."),
        ("It is\n\\[\nv = \\omega r\n\\]\nhere.", r"It is `v = \omega r` here."),
        ("Its radius $r$.", "Its radius `r`."),
        ("$2^n$ nodes", "`2^n` nodes"),
        ("At $(x, y, 1)$.", "At `(x, y, 1)`."),
        ("**$a_1$ b**", "**`a_1` b**"),
    ],
)
def test_a_formula_is_code(text: str, shown: str) -> None:
    """Nothing in it is emphasis, a mark or an escape."""
    assert " ".join(MARKDOWN.write(read(text, make_sources())).split("\n")) == shown


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and that $10.",
        "Between $5-$10, or $100.50, US$ 7 and A$AP.",
        "Set $HOME or $HOME/$USER to $ 5 $.",
        r"See \[1\] and \[99\].",
        r"Read \[the guide\] or \(not\).",
        r"Type \[y/N\] or \[x\], arr\[i_0\] and f\(x_0\) \(see sections 3-4\).",
        "[y/N]",
        "[INFO] a_b started [ok]",
        "Put ${prefix}_${name} into $(find a)/$(arg b).",
        "It is $5/month, or US$x and A$AP_b$.",
        "5$ and 6$",
        "$ x $ and a $",
        "$5 + 6 is $11",
    ],
)
def test_prices_variables_and_brackets_are_words(text: str) -> None:
    """They stay what they are, but for the backslashes; read again, too."""
    found = read(text, make_sources())

    again = read(MARKDOWN.write(found), make_sources())
    assert "`" not in MARKDOWN.write(found)
    assert (MARKDOWN.write(again), again) == (MARKDOWN.write(found), found)


def test_a_price_holds_nothing_back() -> None:
    """A formula that is open is shown once it is whole, and no price is taken for one."""
    assert drawn("It costs $5 and more words follow") == "It costs $5 and more words"
    assert [drawn(text) for text in ("It has $K_", "It has $K_p$ set. ")] == [
        "It has",
        "It has `K_p` set",
    ]


def drawn(text: str) -> str:
    """Give what is certain of an answer of which so much is written."""
    return MARKDOWN.write([block for blocks in written(text).read() for block in blocks])
