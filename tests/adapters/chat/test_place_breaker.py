"""What is remembered of places that take no posts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from adapters.chat.delivery import PlaceBreaker
from core.events import Event, PlaceRefused
from core.model import Claim, Interaction, MessageRef, ReplyAddress, ThreadRef
from tests.builders import NOON, question


def claim(channel: str, thread: str, message: str, *, by_command: bool = False) -> Claim:
    """A question in a thread; one whose message has the thread's id stands in the channel itself."""
    place = ThreadRef(platform="test", workspace="w", channel=channel, thread=thread)
    used = Interaction(id="i", token="t", expires_at=NOON + timedelta(minutes=14)) if by_command else None
    asked = question().model_copy(update={"message": MessageRef(thread=place, id=message)})
    return Claim(asked, address=ReplyAddress(thread=place, interaction=used))


@pytest.mark.promise("refusals-end")
@pytest.mark.parametrize(
    ("refused", "others"),
    [
        (claim("c", "m1", "m1"), {("c", "m2", "m2"): True, ("c", "t", "m3"): True, ("d", "m4", "m4"): False}),
        (claim("c", "t", "m1"), {("c", "t", "m2"): True, ("c", "m3", "m3"): False, ("c", "u", "m4"): False}),
        (claim("c", "m1", "m1", by_command=True), {("c", "m2", "m2"): False}),
    ],
    ids=["a channel closes its threads", "a thread", "a command says nothing of its place"],
)
def test_a_place_that_refused_is_kept_out_of(refused: Claim, others: dict[tuple[str, str, str], bool]) -> None:
    """Commands are answered everywhere."""
    told = list[Event]()
    breaker = PlaceBreaker(told.append, lambda: NOON)
    breaker.trip(refused)
    asked = {place: claim(*place) for place in others}

    kept = {place: breaker.keeps_out(each) for place, each in asked.items()}

    assert (kept, told) == (others, [PlaceRefused(refused.message)])
    assert not breaker.keeps_out(claim("c", "m9", "m9", by_command=True))


def test_a_closed_place_is_told_once_and_tried_again_after_five_minutes() -> None:
    """Refusals meanwhile, of what was under way, are neither told nor do they make it longer."""
    told, now = list[Event](), [NOON]
    breaker = PlaceBreaker(told.append, lambda: now[0])
    first, second, third = (claim("c", name, name) for name in ("m1", "m2", "m3"))
    breaker.trip(first)
    now[0] += timedelta(minutes=4, seconds=59)
    breaker.trip(second)
    before = breaker.keeps_out(third)
    now[0] += timedelta(seconds=1)
    after = breaker.keeps_out(third)
    breaker.trip(third)

    assert (before, after, told) == (True, False, [PlaceRefused(first.message), PlaceRefused(third.message)])
