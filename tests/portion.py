"""How much a run looks at: of the large corpora, and of what is made up at random."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import cycle, product
from typing import TypeVar

Item = TypeVar("Item")

WHOLE = bool(os.environ.get("FOOTNOTE_WHOLE"))
STEP = 10
SHARE = 8
FORMS = ("memory", "redis", "cluster", *(("sentinel",) if WHOLE else ()))
"""Where stores lie; a server found by sentinels is in the usual run only where that makes a difference."""


def portion(items: Sequence[Item]) -> Sequence[Item]:
    """Give every tenth, so that the usual run stays short; `make soak` looks at all of them."""
    return items if WHOLE else items[::STEP]


def by_turns(items: Sequence[Item], platforms: Sequence[str]) -> Sequence[tuple[Item, str]]:
    """Pair each item with one of the platforms by turns, as what is tried is written once; `make soak`, with all."""
    return list(product(items, platforms)) if WHOLE else list(zip(items, cycle(platforms), strict=False))


def examples(number: int) -> int:
    """Give how many examples to try: an eighth in the usual run, all of them in `make soak`."""
    return number if WHOLE else number // SHARE
