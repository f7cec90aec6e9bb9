"""`python -m bench.size`: how large the product is, in files, lines and functions.

Lines are those of Python and Lua in the three packages. Lines of code are what is left of them without blank lines,
docstrings and imports. `--list` names the small modules that only one other imports.
"""

from __future__ import annotations

import argparse
import ast
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bot", "adapters", "core")
SMALL = 60  # lines, below which a module with a single importer might as well be a part of that
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """A file of Python or Lua; `path` is seen from the root."""

    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax; that of an empty module for what is no Python."""
        return ast.parse(self.text if self.path.suffix == ".py" else "")

    @property
    def module(self) -> str:
        """The name by which it is imported."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if self.path.stem == "__init__" else parts)

    @property
    def is_package(self) -> bool:
        """Whether it is the `__init__` of one."""
        return self.path.name == "__init__.py"

    @property
    def lines(self) -> int:
        """All of them."""
        return len(self.text.splitlines())

    @property
    def code_lines(self) -> int:
        """Those that are neither blank nor of a docstring or an import."""
        others = {number for node in ast.walk(self.tree) if _is_no_code(node) for number in _numbers(node)}
        lines = enumerate(self.text.splitlines(), start=1)
        return sum(1 for number, line in lines if line.strip() and number not in others)

    def functions(self) -> Iterator[tuple[str, int]]:
        """Yield the name of each function with the lines of its body, its docstring not counted."""
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                yield node.name, _body_length(node)

    def imported(self) -> Iterator[str]:
        """Yield the names of everything that may be a module of ours and is imported anywhere in the file."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names=names):
                    yield from (name.name for name in names)
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    yield module
                    yield from (f"{module}.{name.name}" for name in names)
                case _:
                    pass


@cache
def sources() -> tuple[Source, ...]:
    """Return the files of the product."""
    paths = (path for package in PACKAGES for kind in ("*.py", "*.lua") for path in (ROOT / package).rglob(kind))
    return tuple(Source(path.relative_to(ROOT), path.read_text()) for path in sorted(paths))


@dataclass(frozen=True, slots=True)
class Size:
    """The figures; `median_file` leaves the `__init__` files apart, `lonely` names the small ones with one importer."""

    files: int
    lines: int
    code_lines: int
    median_file: float
    longest_function: tuple[str, int]
    lonely: tuple[Path, ...]


def measured() -> Size:
    """Return the size of the product as it is."""
    found = sources()
    functions = ((f"{source.path}: {name}", lines) for source in found for name, lines in source.functions())
    return Size(
        files=len(found),
        lines=sum(source.lines for source in found),
        code_lines=sum(source.code_lines for source in found),
        median_file=statistics.median(source.lines for source in found if not source.is_package),
        longest_function=max(functions, key=lambda function: function[1]),
        lonely=_lonely(found),
    )


def _lonely(found: tuple[Source, ...]) -> tuple[Path, ...]:
    importers = _importers(found)
    small = (source for source in found if source.lines < SMALL and not source.is_package)
    return tuple(source.path for source in small if len(importers[source.module]) == 1)


def _importers(found: tuple[Source, ...]) -> Mapping[str, set[str]]:
    importers: dict[str, set[str]] = defaultdict(set)
    for source in found:
        for name in source.imported():
            importers[name].add(source.module)
    return importers


def _is_no_code(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case _:
            return False


def _numbers(node: ast.AST) -> range:
    assert isinstance(node, ast.stmt)
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _body_length(function: Function) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.size", description="How large the product is.")
    parser.add_argument("--list", action="store_true", help="name the small modules that only one other imports")
    asked = parser.parse_args()
    size = measured()
    name, longest = size.longest_function
    print(f"files {size.files:,}")
    print(f"lines {size.lines:,}")
    print(f"code lines {size.code_lines:,}")
    print(f"median file {size.median_file:g} lines")
    print(f"longest function {longest} lines ({name})")
    print(f"modules under {SMALL} lines with a single importer {len(size.lonely)}")
    for path in size.lonely if asked.list else ():
        print(f"  {path}")


if __name__ == "__main__":
    main()
