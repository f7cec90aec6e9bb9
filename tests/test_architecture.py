"""The shape of the code: who may import whom, how long things may get, and what an import costs."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [path for package in ("bot", "adapters", "core") for path in sorted((ROOT / package).rglob("*.py"))]
TESTS = [path for folder in ("tests", "bench") for path in sorted((ROOT / folder).rglob("*.py"))]
LONGEST_SOURCE, LONGEST_TEST, LONGEST_BODY = 400, 460, 40
ALLOWED_IN_CORE = {"core", "pydantic", "pydantic_core", "markdown_it", *sys.stdlib_module_names}
VENDORS = [
    "aiohttp",
    "cohere",
    "cryptography",
    "discord",
    "docutils",
    "httpx",
    "httpx2",
    "mammoth",
    "markdown_it",
    "markdownify",
    "numpy",
    "onnx",
    "onnxruntime",
    "openai",
    "prometheus_client",
    "pydantic_settings",
    "pypdfium2",
    "yaml",
    "qdrant_client",
    "qdrant_edge",
    "redis",
    "selectolax",
    "semantic_text_splitter",
    "slack_bolt",
    "slack_sdk",
    "structlog",
    "tokenizers",
    "rich.progress",
    "rich.markdown",
]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@pytest.mark.promise("dependency-rule")
def test_the_import_contracts_hold() -> None:
    """The layers, the independence of the adapters, the freedom of the core and the absence of cycles all hold."""
    linter = Path(sys.executable).with_name("lint-imports")
    ended = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (ended.returncode, "0 broken" in ended.stdout) == (0, True), ended.stdout


def test_the_core_imports_the_standard_library_and_two_packages() -> None:
    """No module of the core imports anything but the standard library, pydantic and markdown-it-py."""
    foreign = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        if path.is_relative_to(ROOT / "core")
        for name in _imported(path)
        if name not in ALLOWED_IN_CORE
    }

    assert foreign == set()


def _imported(path: Path) -> Iterator[str]:
    """Give the top-level packages that a file imports anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (name.name.partition(".")[0] for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case _:
                pass


def test_files_are_short() -> None:
    """A file that grows beyond the limit holds a second noun."""
    limits = dict.fromkeys(SOURCES, LONGEST_SOURCE) | dict.fromkeys(TESTS, LONGEST_TEST)
    lengths = {path: len(path.read_text().splitlines()) for path in limits}

    assert {str(path): length for path, length in lengths.items() if length > limits[path]} == {}


def test_functions_are_short() -> None:
    """No body is longer than a screen, its docstring not counted."""
    lengths = {
        f"{path.relative_to(ROOT)}: {node.name}": _body_length(node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, Function)
    }

    assert {name: length for name, length in lengths.items() if length > LONGEST_BODY} == {}


def _body_length(function: Function) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_every_test_states_a_fact() -> None:
    """Every test has a docstring of its own."""
    silent = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in TESTS
        for node in ast.parse(path.read_text()).body
        if isinstance(node, Function) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]

    assert silent == []


def test_no_test_uses_mocks() -> None:
    """Doubles are written by hand: no test imports `unittest.mock`, and only the environment is patched."""
    texts = {path: path.read_text() for path in TESTS if path != Path(__file__)}
    patched = ("unittest.mock", "monkeypatch.setattr", "monkeypatch.setitem", "mocker.")

    assert [str(path) for path, text in texts.items() if any(word in text for word in patched)] == []


def test_exported_names_exist() -> None:
    """Every name that a package exports is there, once and in order."""
    packages = [".".join(path.parent.relative_to(ROOT).parts) for path in SOURCES if path.name == "__init__.py"]
    exported = {package: list(getattr(importlib.import_module(package), "__all__", ())) for package in packages}

    missing = [f"{p}.{name}" for p, names in exported.items() for name in names if not hasattr(sys.modules[p], name)]
    assert (missing, [p for p, names in exported.items() if len(set(names)) != len(names)]) == ([], [])


@pytest.mark.promise("quick-help")
def test_the_command_line_loads_no_vendor() -> None:
    """Importing the command line in an empty environment loads nothing heavy, so that `--help` is quick."""
    program = "import bot.cli, json, sys; print(json.dumps([name for name in sys.argv[1:] if name in sys.modules]))"
    command = [sys.executable, "-W", "error", "-c", program, *VENDORS]
    ended = subprocess.run(command, cwd=ROOT, env={}, capture_output=True, text=True, check=False)

    assert (ended.stdout, ended.stderr) == ("[]\n", "")


def test_names_say_what_things_are() -> None:
    """No class has a name that says nothing."""
    empty = ("Manager", "Helper", "Util", "Utils", "Handler", "Service", "Base", "Impl")
    named = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and (node.name.endswith(empty) or node.name.startswith(("Base", "Abstract")))
    ]

    assert named == []
