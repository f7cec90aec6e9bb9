"""Does what somebody wanted who used a command or a button, and says how it went."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from core.errors import InvalidInput, NotAllowed, PolicyUnreadable, StoreUnavailable
from core.sentences import AWAY, BROKEN, WARNING

Tell: TypeAlias = Callable[[str], Awaitable[object]]


async def attempted(act: Callable[[], Awaitable[str | None]], tell: Tell) -> None:
    """Do what was wanted and say how it went, if there is anything to say.

    What breaks is told without its reason, and raised for the log.
    """
    try:
        sentence = await act()
    except (InvalidInput, NotAllowed, PolicyUnreadable) as refused:
        sentence = str(refused)
    except StoreUnavailable:
        sentence = f"{WARNING} {AWAY}"
    except Exception:
        await tell(f"{WARNING} {BROKEN}")
        raise
    if sentence:
        await tell(sentence)
