"""Who is a guest, or a stranger from another company."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import PeopleUnavailable, PostingFailed

if TYPE_CHECKING:
    from adapters.slack.client.people import People
    from core.model import Question


class Guests:
    """Knows by Slack's own accounts who belongs to a workspace; implements `Membership`."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def is_guest(self, question: Question) -> bool:
        """Look up whoever asks. Raises `PeopleUnavailable` where Slack does not say."""
        try:
            profile = await self._people.profile(question.thread.workspace, question.author.id)
        except PostingFailed as failure:
            raise PeopleUnavailable("Slack does not say who asks. Please try again in a moment.") from failure
        return profile.is_guest
