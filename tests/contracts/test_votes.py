"""What every store of votes promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.redis.community import RedisVotes
from core.model import Complaint, Tally, Vote, WorkspaceRef
from core.ports import VoteStore
from tests.builders import NOON, thread
from tests.fakes.votes import MemoryVotes
from tests.fixtures.redis import clean, place

HOME = thread().home
ELSEWHERE = WorkspaceRef(platform="test", workspace="{other}: w")


@pytest.fixture(name="votes", params=["memory", "redis", "cluster"])
async def _votes(request: pytest.FixtureRequest) -> AsyncIterator[VoteStore]:
    """Give one implementation after the other."""
    if request.param == "memory":
        yield MemoryVotes()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisVotes(client)


def vote(on: str = "a1", *, by: str = "p1", is_helpful: bool = True) -> Vote:
    """Somebody's opinion."""
    complaints = () if is_helpful else (Complaint.UNCLEAR,)
    return Vote(answer_id=on, person_id=by, is_helpful=is_helpful, complaints=complaints, at=NOON)


async def test_nobody_has_voted_at_first(votes: VoteStore) -> None:
    """And there is nothing to forget."""
    assert await votes.count(HOME) == Tally()
    assert await votes.forget_person(HOME, "p1") == 0


@pytest.mark.promise("one-vote-each")
async def test_votes_are_counted_by_workspace(votes: VoteStore) -> None:
    """Of several people on several answers."""
    for on, by, is_helpful in (("a1", "p1", True), ("a1", "p2", False), ("a2", "p1", True)):
        await votes.cast(HOME, vote(on, by=by, is_helpful=is_helpful))
    await votes.cast(ELSEWHERE, vote(is_helpful=False))

    assert await votes.count(HOME) == Tally(helpful=2, unhelpful=1)
    assert await votes.count(ELSEWHERE) == Tally(unhelpful=1)


@pytest.mark.promise("one-vote-each")
async def test_a_person_has_one_vote_on_an_answer(votes: VoteStore) -> None:
    """The last one counts, and repeating it changes nothing."""
    tallies: list[Tally] = []
    for is_helpful in (True, True, False, False, True):
        await votes.cast(HOME, vote(is_helpful=is_helpful))
        tallies.append(await votes.count(HOME))

    yes, no = Tally(helpful=1), Tally(unhelpful=1)
    assert tallies == [yes, yes, no, no, yes]


@pytest.mark.promise("one-vote-each")
async def test_votes_at_the_same_moment_are_all_counted(votes: VoteStore) -> None:
    """However many people vote, and however often one of them presses."""
    await asyncio.gather(*(votes.cast(HOME, vote(by=str(number % 10))) for number in range(30)))

    assert await votes.count(HOME) == Tally(helpful=10)


@pytest.mark.promise("forget-person")
async def test_the_votes_of_a_person_can_be_forgotten(votes: VoteStore) -> None:
    """In one workspace, and those of others stay."""
    for number in range(3):
        await votes.cast(HOME, vote(str(number), is_helpful=number > 0))
    await votes.cast(HOME, vote(by="p2"))
    await votes.cast(HOME, vote(by="p1 2"))
    await votes.cast(ELSEWHERE, vote())

    assert [await votes.count_person(HOME, person) for person in ("p1", "p2", "p3")] == [3, 1, 0]
    assert [await votes.forget_person(HOME, "p1") for _ in range(2)] == [3, 0]
    assert await votes.count_person(HOME, "p1") == 0
    assert await votes.count(HOME) == Tally(helpful=2)
    assert await votes.count(ELSEWHERE) == Tally(helpful=1)


@pytest.mark.promise("forget-workspace")
async def test_the_votes_of_a_workspace_can_be_forgotten(votes: VoteStore) -> None:
    """Of everybody, those of other workspaces stay, and people can vote again."""
    for on, by, is_helpful in (("a b", "p1", True), ("a1", "p 2", False), ("a2", "p1", True)):
        await votes.cast(HOME, vote(on, by=by, is_helpful=is_helpful))
    await votes.cast(ELSEWHERE, vote())

    assert [await votes.forget_workspace(HOME) for _ in range(2)] == [3, 0]
    await votes.cast(HOME, vote(is_helpful=False))
    assert await votes.count(HOME) == Tally(unhelpful=1)
    assert await votes.count(ELSEWHERE) == Tally(helpful=1)
    assert await votes.forget_person(HOME, "p1") == 1


async def test_ids_of_any_characters_are_kept_apart(votes: VoteStore) -> None:
    """Where one id ends and the other begins is never in doubt."""
    for on, by in (("a b", "c"), ("a", "b c"), ("{a}", "نص"), ("a:b", "\n")):
        await votes.cast(HOME, vote(on, by=by))

    assert await votes.count(HOME) == Tally(helpful=4)
    assert await votes.forget_person(HOME, "b c") == 1
