"""What all platforms share: what people can use beside writing, and what is known of threads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.settings import Settings
from bot.wiring.stores import Stores
from core.crowd import Crowd
from core.errors import StoreUnavailable
from core.events import Observer
from core.forgetting import Forgetting
from core.model import ThreadRef
from core.moderation import Moderation
from core.ports import LastHeard
from core.self_help import SelfHelp
from core.sentences import Practices

if TYPE_CHECKING:
    from adapters.chat.desk import Desk
    from adapters.chat.full_house import House
    from adapters.chat.services import Services
    from adapters.redis.inbox import RedisInbox


def unnoticed(reason: str) -> None:
    """Take no note of commands that a platform did not take."""


class Office:
    """Makes what the listeners of a platform work with, over the stores of this process."""

    def __init__(self, settings: Settings, stores: Stores, inbox: RedisInbox, observer: Observer) -> None:
        self._settings = settings
        self._stores = stores
        self._inbox = inbox
        self._observer = observer
        self.now: Callable[[], datetime] = partial(datetime.now, UTC)
        self.forgetting = Forgetting(stores.conversations, stores.votes, inbox, stores.policies)

    def desk(self, unregistered: Callable[[str], None] = unnoticed) -> Desk:
        """Give what commands, buttons and forms work with; *unregistered* hears of commands that were not taken."""
        from adapters.chat.desk import Desk

        stores = self._stores
        moderation = Moderation(stores.policies, stores.conversations, self.forgetting, now=self.now)
        return Desk(
            inbox=self._inbox,
            self_help=SelfHelp(stores.conversations, self.forgetting, moderation),
            moderation=moderation,
            votes=stores.votes,
            memo=stores.memo,
            promises=stores.promises,
            now=self.now,
            terms=self._settings.terms,
            practices=Practices(self._settings.conversation_hours, services=tuple(_readers(self._settings))),
            unregistered=unregistered,
            observer=self._observer,
        )

    def services(self, cut_short: Callable[[str], object], last_heard: LastHeard | None = None) -> Services:
        """Return what listeners work with; *cut_short* is told why not all could be read that was missed."""
        from adapters.chat.services import Services

        stores = self._stores
        return Services(
            inbox=self._inbox,
            terms=self._settings.terms,
            memo=stores.memo,
            policies=stores.policies,
            askers=self.askers,
            owns=self.owns,
            purge=self.forgetting.farewell,
            house=self._house(),
            last_heard=last_heard,
            cut_short=cut_short,
            now=self.now,
        )

    def _house(self) -> House:
        """Return what whoever asks while many wait is told by."""
        from adapters.chat.full_house import House

        return House(
            crowd=Crowd(self._settings.answers_at_once),
            inbox=self._inbox,
            memo=self._stores.memo,
            notices=self._stores.notices,
            awaits=self._inbox.awaits,
            now=self.now,
        )

    async def askers(self, thread: ThreadRef) -> Collection[str] | None:
        """Say who has asked in a thread, and who waits for an answer there; None where nobody can know."""
        try:
            conversation = await self._stores.conversations.load(thread)
            waiting = await self._inbox.running(thread)
        except StoreUnavailable:
            return None
        asked = {turn.author_id for turn in conversation.turns} if conversation else set[str]()
        return asked | ({waiting.author.id} if waiting else set[str]()) or None

    async def owns(self, thread: ThreadRef) -> bool:
        """Say whether a thread began with a question that is remembered. Raises `StoreUnavailable`."""
        conversation = await self._stores.conversations.load(thread)
        turns = conversation.turns if conversation else ()
        return any(turn.question_ref.id == thread.thread for turn in turns)


def _readers(settings: Settings) -> Iterator[str]:
    """Name the services that are given what people ask."""
    if settings.has_chat_model:
        where = urlsplit(settings.openai_url).hostname if settings.openai_url else "OpenAI"
        yield f"the chat model {settings.openai_model} ({where})"
    if settings.cohere_key is not None:
        yield "Cohere"
