"""Makes a call again that may work the next time, for the few words that are said beside answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from adapters.chat.posting import TooFast, Unreachable

Result = TypeVar("Result")

WAITS = (0.5, 2.0)  # seconds before the second and the last try, so that all are within the three that platforms wait
LONGEST_WAIT = 30.0  # seconds; who is asked for more says it too late for anybody to read


async def insisted(
    call: Callable[[], Awaitable[Result]], *, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> Result:
    """Give what a call gives at last, which has to be one that can be made twice; raises how the last one failed."""
    for pause in WAITS:
        try:
            return await call()
        except Unreachable:
            wait = pause
        except TooFast as failure:
            wait = max(pause, failure.wait)
            if wait > LONGEST_WAIT:
                raise
        await sleep(wait)
    return await call()
