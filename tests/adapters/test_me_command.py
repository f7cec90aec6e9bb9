"""The command by which people see what is kept of them, on both platforms."""

from __future__ import annotations

import pytest

from core.messages import COUNTED_JUST_NOW, person_kept
from core.model import Vote
from tests.adapters.desks import Desk, desk_fixture
from tests.builders import NOON

__all__ = ["desk_fixture"]


@pytest.mark.promise("own-data-is-shown")
async def test_what_is_kept_of_somebody_is_counted_once_in_a_minute(desk: Desk) -> None:
    """Since all that is stored has to be looked through; what is left of budgets is said each time."""
    for number, who in enumerate((desk.ada, desk.ada, "somebody")):
        await desk.office.remember(desk.thread(str(number)), who)
        await desk.office.votes.cast(desk.home, Vote(answer_id="a", person_id=who, is_helpful=True, at=NOON))
    told = [(await desk.use("me")).split("\n") for _ in range(2)]

    assert [lines[1] for lines in told] == [person_kept(2, 0, 1), COUNTED_JUST_NOW]
    assert [lines[0] for lines in told] == ["You have no limit of your own for a day or a month."] * 2
