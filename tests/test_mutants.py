"""The tool that changes the code: its tables fit the code, and a change is one."""

from __future__ import annotations

import re
from pathlib import Path

from bench.mutants import lua, python
from bench.mutants.mutant import Mutant, Place, sampled
from bench.mutants.table import ROOT, equivalents, groups

MODULE = '''"""A docstring of 3 words."""

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 3
Number: TypeAlias = int | None


@dataclass(frozen=True, slots=True)
class Pair:
    one: int | None = field(default=None, init=False)


def is_much(number: int | None, *, limit: int = LIMIT) -> bool:
    """Return whether it is more than 3."""
    return number is not None and number > limit
'''
NAMED = Path("script.lua")
SCRIPT = """-- If 1 == 2 then it returns 3.
local life = LIFE -- 7 is not changed
if redis.call('GET', KEYS[1]) ~= '0' then return {1} end
if tonumber(ARGV[2]) >= 500 then return 'of 9 lives' end
"""


def made(places: list[Place]) -> list[tuple[str, str]]:
    """Make every change that can be made."""
    mutants = [variant() for place in places for variant in place]
    return [(mutant.was, mutant.becomes) for mutant in mutants if mutant is not None]


def test_the_tables_name_what_is_there() -> None:
    """Every file of the table exists, every group has something to change and tests, and every equivalent its line."""
    found = groups()

    assert [group.name for group in found if not group.tests or not (*group.sources, *group.scripts)] == []
    assert isinstance(equivalents(), dict)


def test_python_is_changed_where_it_is_run() -> None:
    """Types, docstrings and the options of a dataclass stay as they are; a thing that is not another is not unequal."""
    changes = set(made(python.places(Path("much.py"), MODULE)))

    assert {was for was, _ in changes} == {"LIMIT = 3", "return number is not None and number > limit"}
    assert {"LIMIT = 4", "LIMIT = 2"} <= {becomes for _, becomes in changes}
    assert "return number != None and number > limit" not in {becomes for _, becomes in changes}


def test_a_change_is_tried_by_the_tests_that_run_its_line() -> None:
    """By all of them, where the line is run as the file is imported."""
    mutants = [variant() for place in python.places(Path("much.py"), MODULE) for variant in place]

    assert {mutant.was: tuple(mutant.lines) for mutant in mutants if mutant is not None} == {
        "LIMIT = 3": (),
        "return number is not None and number > limit": (len(MODULE.splitlines()),),
    }


def test_scripts_have_each_comparison_and_each_number_changed_once() -> None:
    """Comments, words and arguments are left alone; large numbers change by much."""
    assert made(lua.places(Path("script.lua"), SCRIPT)) == [
        (line.strip(), line.strip().replace(was, becomes, 1))
        for line, was, becomes in (
            (SCRIPT.splitlines()[2], "~=", "=="),
            (SCRIPT.splitlines()[2], "'0'", "'1'"),
            (SCRIPT.splitlines()[2], "{1}", "{2}"),
            (SCRIPT.splitlines()[3], ">=", ">"),
            (SCRIPT.splitlines()[3], "500", "1000"),
        )
    ]


def test_a_seed_means_a_sample() -> None:
    """The same one each time; no place is in it twice, and other files beside it only leave less room."""

    def drawn(seed: int) -> list[Mutant]:
        return sampled({NAMED: lua.places(NAMED, SCRIPT), **more}, 3, seed)

    more: dict[Path, list[Place]] = {}
    alone = drawn(1)
    more[Path("other.lua")] = lua.places(Path("other.lua"), SCRIPT)
    beside = [mutant for mutant in drawn(1) if mutant.path == NAMED]

    assert drawn(1) == drawn(1)
    assert len({(mutant.path, mutant.text) for mutant in drawn(2)}) == 3
    assert 0 < len(beside) < 3
    assert set(beside) < set(alone)


def test_what_went_unnoticed_once_is_held_by_a_test_that_is_there() -> None:
    """The page of the tool names them."""
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "bench/mutants/README.md").read_text()))
    written = {
        found
        for path in (ROOT / "tests").rglob("test_*.py")
        for found in re.findall(r"def (test_\w+)", path.read_text())
    }

    assert (len(named), named - written) == (11, set())
