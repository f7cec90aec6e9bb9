"""The shape of the code: who may import whom, how long things may get, and what an import costs."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bench.size import PACKAGES, Function, measured, sources

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
TESTS = [path for folder in ("tests", "bench") for path in sorted((ROOT / folder).rglob("*.py"))]
LONGEST_FILE, LONGEST_BODY = 400, 40
LONGER_TESTS = {
    ROOT / "tests" / path: 460
    for path in (
        "adapters/slack/test_commands.py",
        "adapters/discord/test_surface.py",
        "adapters/slack/test_server.py",
        "contracts/test_inbox.py",
        "contracts/test_surface.py",
    )
}
CEILINGS = {"files": 245, "lines": 47_780, "code lines": 30_380, "small modules with a single importer": 0}
"""What the product measured when this was written, and a little more."""
NAMED_TWICE = frozenset[str]()
"""Names of classes that still have two meanings; the list only ever becomes shorter."""
UNITS = re.compile(r"seconds|minutes|relevance|between \d")
ALLOWED_IN_CORE = {"core", "pydantic", "pydantic_core", "markdown_it", *sys.stdlib_module_names}
VENDORS = [
    "aiohttp",
    "cohere",
    "cryptography",
    "discord",
    "docutils",
    "dulwich",
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
    "protego",
    "pptx",
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
    "webvtt",
    "rich.progress",
    "rich.markdown",
]


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


def test_files_hold_what_changes_together() -> None:
    """A file is no longer than 400 lines; those that already were, when this became the limit, do not grow."""
    limits = dict.fromkeys(SOURCES, LONGEST_FILE) | dict.fromkeys(TESTS, LONGEST_FILE) | LONGER_TESTS
    lengths = {path: len(path.read_text().splitlines()) for path in limits}

    assert {str(path): length for path, length in lengths.items() if length > limits[path]} == {}
    assert [str(path) for path in LONGER_TESTS if lengths[path] <= LONGEST_FILE] == []


def test_functions_are_short() -> None:
    """No body is longer than a screen, its docstring not counted."""
    functions = ((f"{source.path}: {name}", lines) for source in sources() for name, lines in source.functions())

    assert {name: lines for name, lines in functions if lines > LONGEST_BODY} == {}


def test_the_product_does_not_grow() -> None:
    """Each figure is at most what it was when its ceiling was set; they rise with what it can do alone."""
    size = measured()
    figures = {
        "files": size.files,
        "lines": size.lines,
        "code lines": size.code_lines,
        "small modules with a single importer": len(size.lonely),
    }

    assert {what: figure for what, figure in figures.items() if figure > CEILINGS[what]} == {}


def test_a_class_name_means_one_thing() -> None:
    """No two classes of the product have the same name, but those that are known; a known one has to be needed."""
    used = Counter(
        node.name for source in sources() for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)
    )
    twice = {name for name, times in used.items() if times > 1}

    assert (twice - NAMED_TWICE, NAMED_TWICE - twice) == (set(), set())


def test_ports_name_their_errors() -> None:
    """Each method of a port, or its port, names the errors that it raises, by classes that exist, or says none."""
    classes = {node.name for source in sources() for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)}
    ports = {port.name: port for port in _ports()}
    silent = [
        f"{port.name}.{method.name}"
        for port in ports.values()
        for method in _methods(port)
        if not _raised(method) | _raised_by(port, ports)
    ]
    unknown = {name for port in ports.values() for node in (port, *_methods(port)) for name in _raised(node)} - classes

    assert (silent, unknown - {"nothing"}) == ([], set())


def test_ports_name_their_units() -> None:
    """Each method of a port that takes or returns a float says what it counts."""
    vague = [
        f"{port.name}.{method.name}"
        for port in _ports()
        for method in _methods(port)
        if "float" in ast.unparse(method).partition(":\n")[0] and not UNITS.search(ast.get_docstring(method) or "")
    ]

    assert vague == []


def _ports() -> list[ast.ClassDef]:
    """Return the protocols that the core owns."""
    files = [source for source in sources() if source.path.parent == Path("core/ports")]
    return [node for source in files for node in source.tree.body if isinstance(node, ast.ClassDef)]


def _methods(port: ast.ClassDef) -> list[Function]:
    """Return the methods of a port; what is only looked at is none."""
    return [node for node in port.body if isinstance(node, Function) and not node.decorator_list]


def _raised(node: ast.ClassDef | Function) -> set[str]:
    """Return the names of the errors in a docstring, or "nothing"."""
    said = " ".join((ast.get_docstring(node) or "").split())
    sentences = re.findall(r"Raises ((?:`\w+`|nothing)(?:(?:, | or | and )`\w+`)*)", said)
    return {
        name for sentence in sentences for name in re.findall(r"`(\w+)`|(nothing)", sentence) for name in name if name
    }


def _raised_by(port: ast.ClassDef, ports: Mapping[str, ast.ClassDef]) -> set[str]:
    """Return what a port says of all its methods, or one that it extends does."""
    bases = [ports[base.id] for base in port.bases if isinstance(base, ast.Name) and base.id in ports]
    return _raised(port).union(*(_raised_by(base, ports) for base in bases))


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
@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("bot.cli", VENDORS),
        ("adapters.documents.reader", [*VENDORS, "asyncio", "core", "pydantic"]),
        ("adapters.documents.checkout", [*VENDORS, "asyncio", "core", "pydantic"]),
    ],
)
def test_what_is_started_often_loads_nothing_heavy(module: str, heavy: list[str]) -> None:
    """Neither the command line, so that `--help` is quick, nor a process that reads what strangers wrote."""
    program = f"import {module}, json, sys; print(json.dumps([name for name in sys.argv[1:] if name in sys.modules]))"
    command = [sys.executable, "-W", "error", "-c", program, *heavy]
    ended = subprocess.run(command, cwd=ROOT, env={}, capture_output=True, text=True, check=False)

    assert (ended.stdout, ended.stderr) == ("[]\n", "")
