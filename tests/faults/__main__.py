"""`python -m tests.faults --seed 1 --faults 200`: breaks a running bot many times, and prints what became of it.

Faults come in pieces of 200, each in an installation of its own; a piece that was played before is not played again,
so a long run can be broken off and taken up, or played piece by piece. Every fourth has a Redis with a replica and a
Sentinel.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from pathlib import Path

from tests.faults.report import Piece, is_clean, lines
from tests.faults.schedule import play

SIZE = 200
DOUBLED = 4


def main() -> int:
    """Play all pieces that were not played yet, or the one that is asked for, and print the report of these."""
    reader = argparse.ArgumentParser(prog="python -m tests.faults", description="Break a running bot many times.")
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--faults", type=int, default=SIZE)
    reader.add_argument("--piece", type=int, help="play only this one, from 0")
    reader.add_argument("--results", type=Path, default=Path(".footnote/faults"))
    asked = reader.parse_args()
    logging.disable()  # the servers complain of every connection that is broken
    pieces: list[Piece] = []
    for number in range(-(-asked.faults // SIZE)) if asked.piece is None else (asked.piece,):
        piece = Piece.read(asked.results, asked.seed, number)
        if piece is None:
            count = SIZE if asked.piece is not None else min(SIZE, asked.faults - number * SIZE)
            doubled = number % DOUBLED == DOUBLED - 1
            piece = asyncio.run(play(asked.seed, number, count, doubled=doubled, say=_say, kept=asked.results))
            piece.write(asked.results)
        pieces.append(piece)
    print("\n".join(lines(pieces)))
    for piece in pieces:
        for kind, found in piece.wrongs.items():
            print(f"piece {piece.number}, {kind}:", *found, sep="\n  ")
    return 0 if is_clean(pieces) else 1


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
