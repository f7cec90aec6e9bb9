"""What is asked by a command and will not be answered: nobody but the asker sees that."""

from __future__ import annotations

import pytest

from core.model import Asked, Budget, Holder, Policy, Signal
from tests.adapters.slack.office import Office


@pytest.mark.promise("members-only")
async def test_the_question_of_a_guest_is_shown_to_nobody(office: Office) -> None:
    """It is refused, which is for the guest alone to hear, by the way back."""
    guest = office.server.add_member(office.workspace, is_restricted=True)
    async with office.open():
        office.server.slash(guest, office.channel, "/footnote", "ask What is a robot?")
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert (asked.question.visibility, asked.address and asked.address.interaction is not None) == ("private", True)
    assert office.server.messages(office.channel) == []


@pytest.mark.promise("silent-channels")
async def test_nothing_is_posted_to_ask_where_nothing_is_answered(office: Office) -> None:
    """Only who asks hears why not; other channels are as ever."""
    other = office.server.add_channel(office.workspace)
    office.policies.set(office.home(), Policy(silent_channels=frozenset({office.channel.id})))
    async with office.open():
        asked: list[Signal] = []
        for channel in (office.channel, other):
            office.server.slash(office.ada, channel, "/footnote", "ask What is a robot?")
            asked.append(await office.heard())

    assert [one.question.visibility for one in asked if isinstance(one, Asked)] == ["private", "thread"]
    assert [len(office.server.messages(channel)) for channel in (office.channel, other)] == [0, 1]


@pytest.mark.parametrize("kind", ["limit", "not allowed"])
async def test_nothing_is_posted_to_ask_what_is_not_answered(office: Office, kind: str) -> None:
    """A message that is taken away at once would have been read by everybody."""
    if kind == "limit":
        office.services.admission.budgets = [Budget(holder=Holder.PERSON, most=0)]
    else:
        await office.communities.remove(office.home())
    async with office.open():
        office.server.slash(office.ada, office.channel, "/footnote", "ask What is a robot?")
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert (asked.question.visibility, office.server.messages(office.channel)) == ("private", [])
