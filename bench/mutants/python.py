"""Changes of Python, made by the operators of cosmic-ray.

Its own sessions know one test command for all modules, so that only its operators are used here. Those that break a
module as a whole are left out, since any test would notice them; so is what is no behaviour (see `_Meaning`).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import replace
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
NO_BEHAVIOUR = {"dataclass": ("frozen", "slots", "kw_only", "repr"), "field": ("init", "repr")}
EQUAL: dict[type[ast.cmpop], ast.cmpop] = {ast.Is: ast.Eq(), ast.IsNot: ast.NotEq()}
NOTHING = ast.Constant(None)
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
    except SyntaxError:  # a star of a signature is taken for an operator
        return None
    mutant = None if is_same else changed(path, text, mutated)
    return mutant and replace(mutant, lines=tuple(_statement(text, mutant.line)))


def _statement(text: str, line: int) -> range:
    """Return the lines of the statement in a line, without those of its body; none for what is run at the import."""
    is_run, found = False, range(0)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt | ast.ExceptHandler) and node.lineno <= line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            lines = range(node.lineno, body[0].lineno if body else (node.end_lineno or 0) + 1)
            found = lines if line in lines and (not found or lines.start >= found.start) else found
            is_run |= isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and line not in lines
    return found if is_run else range(0)


def _meaning(text: str) -> str:
    return ast.dump(_Meaning().visit(ast.parse(text)))


class _Meaning(ast.NodeTransformer):
    """Leaves of a module what it does, so that changes of anything else are none.

    Out go annotations, aliases and imports for types, docstrings, how arguments may be handed over, and how a dataclass
    stores, guards and prints its fields.
    `is` and `==` count as one: they differ for no member of an enumeration and not for None.
    """

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        node.defaults += [each for each in node.kw_defaults if each is not None]
        node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
        node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        is_alias = ast.unparse(node.annotation) == "TypeAlias"
        node.annotation = NOTHING
        node.value = NOTHING if is_alias else node.value
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant):
            node.value = NOTHING
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        is_for_types = any(isinstance(each, ast.Name) and each.id == "TYPE_CHECKING" for each in ast.walk(node.test))
        return ast.Pass() if is_for_types else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        unused = NO_BEHAVIOUR.get(node.func.id, ()) if isinstance(node.func, ast.Name) else ()
        node.keywords = [each for each in node.keywords if each.arg not in unused]
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node.ops = [EQUAL.get(type(each), each) for each in node.ops]
        return self.generic_visit(node)
