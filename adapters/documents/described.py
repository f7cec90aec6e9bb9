"""What Sphinx describes in reStructuredText, such as a function: its name, and the anchor that Sphinx gives it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from adapters.documents.page import names

PYTHON = names(
    "function class method classmethod staticmethod attribute property data exception decorator decoratormethod type"
)
SCRIPT = names("function class method attribute data")
C = names("function macro struct union enum enumerator type member var")
STANDARD = names("option envvar confval")
OTHERS = names("describe object")  # without an anchor, as all of C++, whose anchors only a compiler could tell
CONTEXT = names("module py:module currentmodule py:currentmodule js:module default-domain program")
"""Directives that show nothing, and say to what those behind them belong."""
DESCRIBING = re.compile(rf"^(?:\w+:)?(?:{'|'.join(sorted(PYTHON | C | STANDARD | OTHERS))})$")
HOLDERS = names("class exception struct union enum")
NAME = re.compile(r"^(?:(?:async|abstract|static|class|final) )*([\w.$]*[\w$])\s*(?=[(\[:=]|->|$)")
C_NAME = re.compile(r"([A-Za-z_][\w.]*)\s*(?=[(\[={:]|$)")
OPTION = re.compile(r"(?:/|--|-|\+)?[^\s=\[,]+")
NOT_IN_ID, AT_ENDS = re.compile(r"[^a-zA-Z0-9._]+"), re.compile(r"^[-0-9._]+|-+$")
UNMARKED = frozenset(("noindex", "no-index"))


@dataclass(frozen=True, slots=True)
class Described:
    """Something with a *name*, which is *written* so in its signature; without an anchor nothing leads to it."""

    name: str
    written: str
    anchor: str


@dataclass(slots=True)
class Describing:
    """To what belongs what comes next in a page: the directives before it, and around it, say so."""

    domain: str = "py"
    module: str = ""
    program: str = ""
    _around: list[str] = field(default_factory=list[str])

    def note(self, directive: str, argument: str) -> None:
        """Take in what a directive says of those behind it."""
        match directive.rpartition(":")[2]:
            case "default-domain":
                self.domain = argument.strip()
            case "program":
                self.program = "-".join(argument.split())
            case _:
                self.module = "" if argument.strip() == "None" else argument.strip()

    @contextmanager
    def within(self, directive: str, described: Described | None) -> Generator[None]:
        """Have what is described meanwhile belong to a class, or the like."""
        is_holder = described is not None and directive.rpartition(":")[2] in HOLDERS
        if described is not None and is_holder:
            self._around.append(described.name)
        yield
        if is_holder:
            self._around.pop()

    def read(self, directive: str, signature: str, options: Mapping[str, str]) -> Described | None:
        """Return what a directive describes, by the first of its signatures; None for what nobody can tell."""
        domain, _, kind = directive.rpartition(":")
        domain = domain or ("std" if kind in STANDARD else "" if kind in OTHERS else self.domain)
        found = self._named(domain, kind, signature, options.get("module", self.module))
        return found and Described(found.name, found.written, "" if UNMARKED & options.keys() else found.anchor)

    def _named(self, domain: str, kind: str, signature: str, module: str) -> Described | None:
        if domain == "std":
            return self._standard(kind, signature)
        match = NAME.match(signature) if domain != "c" else None if "(*" in signature else C_NAME.search(signature)
        if match is None or kind not in {"py": PYTHON, "js": SCRIPT, "c": C}.get(domain, ()):
            return None
        name, around = match[1], self._around[-1] if self._around else ""
        if around and name != around and not name.startswith(f"{around}."):
            name = f"{around}.{name}"
        full = f"c.{name}" if domain == "c" else f"{module}.{name}" if module else name
        return Described(name, match[1], identifier(full))

    def _standard(self, kind: str, signature: str) -> Described | None:
        match = OPTION.match(signature)
        if kind != "option" or match is None:
            return Described(signature, signature, identifier(f"{kind}-{signature}")) if match else None
        parts = ["cmdoption", *([self.program] if self.program else []), *(["arg"] if match[0][0] not in "-/" else [])]
        return Described(signature, signature, identifier("-".join((*parts, match[0]))))


def identifier(text: str) -> str:
    """Return the id that Sphinx makes of a name."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return AT_ENDS.sub("", NOT_IN_ID.sub("-", " ".join(plain.split())))
