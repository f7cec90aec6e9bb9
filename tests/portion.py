"""How much of the large corpora a run looks at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

WHOLE = bool(os.environ.get("FOOTNOTE_WHOLE"))


def portion(items: Sequence[Item]) -> Sequence[Item]:
    """Give every third, so that the usual run stays short; `make soak` looks at all of them."""
    return items if WHOLE else items[::3]
