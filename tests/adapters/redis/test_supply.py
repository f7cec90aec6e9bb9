"""What the server has given to a process, until somebody there takes it."""

from __future__ import annotations

from adapters.redis.supply import Given, Supply

FIRST, SECOND = Given("1-0", "a"), Given("2-0", "b", is_over=True)


def test_it_is_taken_in_order_and_ours_until_that_is_over() -> None:
    """The server must not give to others what somebody here is about to work on."""
    supply = Supply()
    supply.add(FIRST)
    supply.add(SECOND)
    told = [(supply.next(), set(supply.entries), bool(supply)) for _ in range(3)]
    supply.over(FIRST)

    assert told == [
        (FIRST, {"1-0", "2-0"}, True),
        (SECOND, {"1-0", "2-0"}, False),
        (None, {"1-0", "2-0"}, False),
    ]
    assert supply.entries == {"2-0"}


def test_what_nobody_takes_can_be_let_go_of() -> None:
    """What somebody is taking stays ours."""
    supply = Supply()
    supply.add(FIRST)
    supply.add(SECOND)
    supply.next()
    supply.clear()

    assert (supply.next(), supply.entries) == (None, {"1-0"})
