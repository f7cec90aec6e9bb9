"""What whoever watches hears of a question in the inbox."""

from __future__ import annotations

from core.events import Event, Passed, Step
from tests.adapters.redis.desk import Desk
from tests.inboxes import asked, edited, taken


async def test_each_step_of_a_question_is_told(desk: Desk) -> None:
    """That it was heard comes before anything of it is written down; an edit is no further question."""
    events = list[Event]()
    async with desk.inbox(observer=events.append) as inbox:
        await inbox.put(asked())
        await inbox.put(edited())
        await taken(inbox)

    steps = [event.step for event in events if isinstance(event, Passed)]
    assert steps == [Step.HEARD, Step.PUT, Step.PUT, Step.TAKEN, Step.SETTLED]
