"""Every promise has a test, and every mark names a promise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.promises import PROMISES

TESTS = Path(__file__).resolve().parent


def marks() -> Iterator[tuple[str, str]]:
    """Give each promise that a test names, with the test."""
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            match node:
                case (
                    ast.FunctionDef(name=name, decorator_list=found)
                    | ast.AsyncFunctionDef(name=name, decorator_list=found)
                ):
                    yield from ((promise, f"{path.name}::{name}") for promise in _named(found))
                case _:
                    pass


def _named(decorators: list[ast.expr]) -> Iterator[str]:
    for decorator in decorators:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="promise"), args=[ast.Constant(value=str(promise))]):
                yield promise
            case _:
                pass


def test_every_promise_is_kept_by_a_test() -> None:
    """No promise is without a test."""
    assert set(PROMISES) - {promise for promise, _ in marks()} == set()


def test_every_mark_names_a_promise() -> None:
    """No test carries the mark of a promise that nobody gave."""
    assert [(promise, test) for promise, test in marks() if promise not in PROMISES] == []


def test_promises_are_sentences() -> None:
    """Each promise is a sentence of its own."""
    sentences = list(PROMISES.values())

    assert [text for text in sentences if not (text[0].isupper() and text.endswith("."))] == []
    assert len(set(sentences)) == len(sentences)
