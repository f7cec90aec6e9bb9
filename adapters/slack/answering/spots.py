"""Finds where an answer goes: a thread on the question, or the way back to the one person who used a command."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial

from adapters.chat.posting import Poster, nonce
from adapters.slack.answering.response_poster import ResponsePoster, Way
from adapters.slack.answering.unhurried import Leisure, Unhurried
from adapters.slack.blocks import blocks_below, blocks_of
from adapters.slack.client.budget import Budget, Growth
from adapters.slack.client.lost import LostPosts, Place
from adapters.slack.client.poster import Look, ThreadPoster
from adapters.slack.client.streaming import Reader, Streaming, StreamPoster
from adapters.slack.people import People
from adapters.slack.workspaces import Workspace
from core.errors import PostingFailed
from core.events import Observer, PossiblyDoubled
from core.model import Claim, Interruption, Question

LONGEST_LOOK = 2.0  # seconds, for the home of a person; people wait for the first words


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an answer goes; there is no *place* for what only one person sees."""

    poster: Poster
    leisure: Leisure
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Spots:
    """Makes them; *apart* are the seconds between two edits of a draft."""

    people: People
    observer: Observer
    apart: float
    budget: Budget = field(default_factory=Budget)
    growth: Growth = field(default_factory=Growth)

    def in_thread(self, claim: Claim, workspace: Workspace) -> Spot:
        """Return the thread of the question; what earlier attempts posted is edited there, and nothing is streamed."""
        place = Place(workspace, claim.thread.channel, claim.thread.thread, claim.message.id)
        look = look_of(claim.question)
        is_known, is_again = bool(claim.delivery.messages), claim.is_redelivered
        # A store may come back without what it had written last, so an attempt before may have posted unknown to it.
        trying = claim.delivery.trying or (claim.question.asked_at if is_again else None)
        lost = LostPosts(
            place,
            all_in_doubt=trying is not None,
            streamed_since=None if is_known else trying,
            doubtful=partial(self.observer, PossiblyDoubled(claim.message)),
        )
        plain_poster, leisure = ThreadPoster(place, look, lost), Leisure(self.apart)
        for at, message in enumerate(claim.delivery.messages):
            plain_poster.took(message.id, nonce(claim.message, claim.question.revision, at))
        otherwise = Unhurried(plain_poster, leisure, self.growth, workspace=workspace.name)
        if is_known:
            return Spot(otherwise, leisure, place)
        streaming = Streaming(
            partial(self._reader, claim, workspace),
            self.budget,
            is_stopped=lambda: claim.cancelled.reason is Interruption.STOPPED,
        )
        return Spot(StreamPoster(plain_poster, otherwise, look, lost, streaming), leisure, place)

    def in_response(self, claim: Claim, workspace: Workspace, url: str) -> Spot:
        """Return the way back to the one person who asked."""
        doubtful = partial(self.observer, PossiblyDoubled(claim.message))
        look, is_again = look_of(claim.question), claim.is_redelivered
        seen = claim.address.thread if claim.address else claim.thread
        way = Way(url, seen.thread if seen != claim.thread else "")
        poster = ResponsePoster(workspace.client, way, look, is_again=is_again, doubtful=doubtful)
        return Spot(poster, Leisure(self.apart))

    async def _reader(self, claim: Claim, workspace: Workspace) -> Reader:
        """Return whoever asked, with the workspace that the account is of; if that cannot be known, with this one."""
        asker = claim.question.author.id
        try:
            async with asyncio.timeout(LONGEST_LOOK):
                profile = await self.people.profile(workspace.name, asker)
        except (PostingFailed, TimeoutError):
            return Reader(asker, workspace.team_id)
        return Reader(asker, profile.team_id or workspace.team_id)


def look_of(question: Question) -> Look:
    """Return how the messages of an answer are drawn."""
    return Look(
        blocks=lambda part: blocks_of(part, question),
        below=lambda part: blocks_below(part, question),
        text=lambda part: part.plain or part.text,
    )
