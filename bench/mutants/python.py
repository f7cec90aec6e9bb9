"""Changes of Python, made by the operators of cosmic-ray.

Its own sessions know one test command for all modules, so that only its operators are used here. Those that break a
module as a whole are left out, since any test would notice them; so are changes of annotations and docstrings.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.mutants.mutant import Mutant, Place, Variant, changed

FAMILIES = (
    "AddNot",
    "ExceptionReplacer",
    "NumberReplacer",
    "ReplaceAndWithOr",
    "ReplaceBinaryOperator",
    "ReplaceBreakWithContinue",
    "ReplaceComparisonOperator",
    "ReplaceContinueWithBreak",
    "ReplaceFalseWithTrue",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceUnaryOperator",
    "ZeroIterationForLoop",
)
_plugins: Any = import_module("cosmic_ray.plugins")  # untyped
_mutating: Any = import_module("cosmic_ray.mutating")
_ast: Any = import_module("cosmic_ray.ast")


def places(path: Path, text: str) -> list[Place]:
    """Return the places of a module that can be changed, each with all operators that know what to do there."""
    found: dict[object, list[Variant]] = defaultdict(list)
    nodes: list[Any] = list(_ast.ast_nodes(_ast.get_ast(text)))
    for name in sorted(_plugins.operator_names()):
        family = name.removeprefix("core/").partition("_")[0]
        if family in FAMILIES:
            operator = _plugins.get_operator(name)()
            positions = [position for node in nodes for position in operator.mutation_positions(node)]
            for occurrence, (start, _) in enumerate(positions):
                found[start, family].append(partial(_mutant, path, text, operator, occurrence))
    return [tuple(found[place]) for place in sorted(found, key=str)]


def _mutant(path: Path, text: str, operator: Any, occurrence: int) -> Mutant | None:
    mutated: str = _mutating.mutate_code(text, operator, occurrence)
    try:
        is_same = _meaning(mutated) == _meaning(text)
    except SyntaxError:  # the star of a signature is taken for an operator
        return None
    return None if is_same else changed(path, text, mutated)


def _meaning(text: str) -> str:
    """Return what a module does: its syntax without annotations, which nobody evaluates, and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.arg() | ast.AnnAssign():
                node.annotation = ast.Constant(None)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                node.returns = None
            case ast.Expr(value=ast.Constant(value=str())):
                node.value = ast.Constant(None)
            case _:
                pass
    return ast.dump(tree)
