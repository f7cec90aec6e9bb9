"""What all platforms share: what people can use beside writing, and what is known of threads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.settings import Settings
from bot.wiring.stores import Stores
from core.crowd import Crowd
from core.errors import StoreUnavailable
from core.events import CatchUpCutShort, CommandsFailed, Observer
from core.forgetting import Forgetting
from core.model import Outline, ThreadRef
from core.moderation import Moderation
from core.self_help import SelfHelp
from core.sentences import Practices

if TYPE_CHECKING:

    from adapters.chat.full_house import House
    from adapters.chat.services import ChatServices
    from adapters.redis.inbox import RedisInbox


class Office:
    """Makes what the listeners of a platform work with, over the stores of this process."""

    def __init__(self, settings: Settings, stores: Stores, inbox: RedisInbox, observer: Observer) -> None:
        self._settings = settings
        self._stores = stores
        self._inbox = inbox
        self._observer = observer
        self._now: Callable[[], datetime] = partial(datetime.now, UTC)
        self._forgetting = Forgetting(stores.conversations, stores.votes, inbox, stores.policies)

    def services(self, name: str, outline: Callable[[], Awaitable[Outline]]) -> ChatServices:
        """Return what the listeners and commands of the platform of a *name* work with."""
        from adapters.chat.services import ChatServices

        stores, observer = self._stores, self._observer
        moderation = Moderation(stores.policies, stores.conversations, self._forgetting, now=self._now)
        return ChatServices(
            inbox=self._inbox,
            memo=stores.memo,
            policies=stores.policies,
            votes=stores.votes,
            promises=stores.promises,
            last_heard=stores.last_heard,
            moderation=moderation,
            self_help=SelfHelp(stores.conversations, self._forgetting, moderation),
            askers=self._askers,
            owns=self._owns,
            purge=self._forgetting.farewell,
            outline=outline,
            house=self._house(),
            terms=self._settings.terms,
            practices=Practices(self._settings.conversation_hours, services=tuple(_readers(self._settings))),
            cut_short=lambda reason: observer(CatchUpCutShort(name, reason)),
            unregistered=lambda reason: observer(CommandsFailed(name, reason)),
            now=self._now,
            observer=observer,
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
            now=self._now,
        )

    async def _askers(self, thread: ThreadRef) -> Collection[str] | None:
        """Say who has asked in a thread, and who waits for an answer there; None where nobody can know."""
        try:
            conversation = await self._stores.conversations.load(thread)
            waiting = await self._inbox.running(thread)
        except StoreUnavailable:
            return None
        asked = {turn.author_id for turn in conversation.turns} if conversation else set[str]()
        return asked | ({waiting.author.id} if waiting else set[str]()) or None

    async def _owns(self, thread: ThreadRef) -> bool:
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
