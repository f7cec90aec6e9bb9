"""Code, formulas and comments of Markdown: set aside while the rest is rewritten, so that they are never altered.

Every piece is replaced by a token between NUL characters, which no loaded text contains.
"""

from __future__ import annotations

import re
from collections.abc import Callable

OPAQUE = re.compile(
    r"""
    (?P<comment> <!--.*?--> )
  | (?P<fence>
        ^ (?P<lead> [ \t]* (?: (?: > | [-*+] | \d{1,9}[.)] ) [ \t]+ | > )*+ )
        (?P<marks> `{3,} (?=[^`\n]*$) | ~{3,} ) (?P<language> [^\n]*+ ) (?: \n | \Z )
        (?P<body> (?: (?! [ \t>]* (?P=marks) [`~]* [ \t]* $ ) [^\n]*+ \n )*+ )
        [^\n]* $
    )
  | (?P<display> \$\$ (?: [^$] | \$(?!\$) )++ \$\$ )
  | (?P<code> (?<![\\`]) (?P<ticks> `+ ) (?!`)
        (?: [^`\n]++ | \n(?![ \t]*\n) | (?! (?P=ticks)(?!`) ) `++ )*+ (?P=ticks) )
  | (?P<formula> (?<! [\\$\w] ) \$ (?![\s$]) [^$\n]* [^\s$\\] \$ (?![\d$]) )
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
FENCE = re.compile(r"^([^\n\x00]*)\x00f(\d+)\x00", re.MULTILINE)
INLINE = re.compile(r"\x00c(\d+)\x00")
LIVE = "mdx-code-block"  # a fence that Docusaurus renders instead of showing it


class Opaque:
    """The pieces that were set aside from one page."""

    def __init__(self) -> None:
        self._inline: list[str] = []
        self._fences: list[tuple[int, str]] = []

    def hide(self, text: str) -> str:
        """Put a token in the place of every fence, code span and formula, and nothing in that of a comment."""
        last = text.rfind("-->")
        return OPAQUE.sub(self._token, text[: last + 3] + text[last + 3 :].replace("<!--", "&lt;!--"))

    def show(self, text: str) -> str:
        """Put everything back; a fence that was moved to another indentation takes its lines along."""
        return self.show_inline(FENCE.sub(self._fence, text))

    def show_inline(self, text: str) -> str:
        """Put code spans and formulas back."""
        return INLINE.sub(lambda match: self._inline[int(match[1])], text)

    def edit(self, text: str, change: Callable[[str], str]) -> str:
        """Rewrite *text* with all that is opaque set aside."""
        return self.show(change(self.hide(text)))

    def _token(self, match: re.Match[str]) -> str:
        if match["comment"]:
            return ""
        if match["code"] and not match["code"].strip("` "):
            return " "  # how JSX writes a blank that counts
        if match["fence"] is None:
            self._inline.append(match[0])
            return f"\x00c{len(self._inline) - 1}\x00"
        if match["language"].strip() == LIVE:
            return "\n" + self.hide(match["body"]) + "\n"
        self._fences.append((len(match["lead"]), match[0][len(match["lead"]) :]))
        return f"{match['lead']}\x00f{len(self._fences) - 1}\x00"

    def _fence(self, match: re.Match[str]) -> str:
        width, fence = self._fences[int(match[2])]
        moved = len(match[1]) - width
        if moved > 0:
            fence = re.sub(r"\n(?=[^\n])", "\n" + " " * moved, fence)
        elif moved < 0:
            fence = re.sub(rf"\n[ \t]{{1,{-moved}}}", "\n", fence)
        return match[1] + fence
