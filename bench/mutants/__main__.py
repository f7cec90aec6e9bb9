"""`python -m bench.mutants`: which small changes of the code the tests around it do not notice.

A seeded sample of changes of Python, and each comparison and number of the scripts on the server, is tried one by one
against the tests that `table.toml` names for it. Those of `equivalent.toml` change nothing and are not tried. At the
end come the figures, and every change that survived.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from bench.mutants.mutant import Mutant, sampled
from bench.mutants.table import Group, equivalents, groups
from bench.mutants.trial import Copies, Outcome, copies

KILLED = (Outcome.KILLED, Outcome.OUT_OF_TIME)


def chosen(among: Sequence[Group], *, seed: int, sample: int, scripts: int | None) -> list[Mutant]:
    """Return *sample* mutants of Python, and *scripts* of Lua, or all of them; the same ones for the same seed."""
    in_python = {path: places for group in among for path, places in group.in_python().items()}
    in_lua = {path: places for group in among for path, places in group.in_lua().items()}
    count = sum(map(len, in_lua.values())) if scripts is None else scripts
    return [*sampled(in_python, sample, seed), *sampled(in_lua, count, seed)]


def tried(mutants: Sequence[Mutant], among: Sequence[Group], trees: Copies, at_once: int) -> list[Outcome]:
    """Return what became of each mutant; a line is printed for each as soon as that is known."""
    same = equivalents()
    group_of = {path: group for group in among for path in (*group.sources, *group.scripts)}
    needed = {group_of[mutant.path].name: group_of[mutant.path] for mutant in mutants if mutant.key not in same}
    with ThreadPoolExecutor(at_once) as pool:
        usual = dict(zip(needed, pool.map(trees.usual, needed.values()), strict=True))
        for name, each in usual.items():
            print(f"{name}: {len(each.seconds)} tests of {sum(each.seconds.values()):.0f} s", flush=True)

        def of(mutant: Mutant) -> Outcome:
            if mutant.key in same:
                return Outcome.EQUIVALENT
            outcome = trees.outcome(mutant, usual[group_of[mutant.path].name])
            print(f"{outcome}: {mutant}", flush=True)
            return outcome

        return list(pool.map(of, mutants))


def tell(title: str, mutants: Sequence[Mutant], outcomes: Mapping[Mutant, Outcome]) -> None:
    """Print the figures of some mutants, where there are any."""
    count = Counter(outcomes[mutant] for mutant in mutants)
    killed, equivalent = sum(count[each] for each in KILLED), count[Outcome.EQUIVALENT]
    if mutants:
        share = 100 * killed / max(len(mutants) - equivalent, 1)
        print(
            f"{title}: {len(mutants)} mutants, killed {killed} ({count[Outcome.OUT_OF_TIME]} by time), "
            f"survived {count[Outcome.SURVIVED]}, equivalent {equivalent}; {share:.1f} % of the others killed"
        )


def main() -> None:
    """Try the sample, and print what became of it."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutants", description="Changes that no test notices.")
    parser.add_argument("--seed", type=int, default=1, help="which sample; default: 1")
    parser.add_argument("--sample", type=int, default=400, help="how many changes of Python; default: 400")
    parser.add_argument("--scripts", type=int, help="how many changes of the scripts; default: all")
    parser.add_argument("--group", action="append", help="only this group of the table; may be repeated")
    parser.add_argument("--file", action="append", help="only changes of files, or lines, of this name: worker.py:90")
    parser.add_argument("--at-once", type=int, default=2 * (os.cpu_count() or 1), help="default: two for each core")
    asked = parser.parse_args()
    among = [group for group in groups() if not asked.group or group.name in asked.group]
    mutants = chosen(among, seed=asked.seed, sample=asked.sample, scripts=asked.scripts)
    if asked.file:
        mutants = [each for each in mutants if {each.path.name, f"{each.path.name}:{each.line}"} & {*asked.file}]
    with copies(asked.at_once) as trees:
        outcomes = dict(zip(mutants, tried(mutants, among, trees, asked.at_once), strict=True))

    print()
    for group in among:
        paths = {*group.sources, *group.scripts}
        tell(group.name, [mutant for mutant in mutants if mutant.path in paths], outcomes)
    tell("all of Python", [mutant for mutant in mutants if not mutant.is_in_lua], outcomes)
    tell("all scripts", [mutant for mutant in mutants if mutant.is_in_lua], outcomes)
    survivors = [mutant for mutant in mutants if outcomes[mutant] is Outcome.SURVIVED]
    print(f"\nSurvived ({len(survivors)}):")
    for mutant in survivors:
        print(mutant)


if __name__ == "__main__":
    main()
