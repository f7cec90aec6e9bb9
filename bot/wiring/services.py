"""The services that answers are made with, and how the doctor looks at each."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Container, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from adapters.chat.lease import sleep_held
from adapters.retry import INDEX, SERVICE, RetryPolicy, doubling
from bot.settings import OFF, Settings, revealed
from core.answering.review import Reviewer
from core.events import Observer
from core.model import Calibration
from core.ports import ChatModel, Embedder, PassageIndex, Reranker

if TYPE_CHECKING:
    from pydantic import SecretStr

    from adapters.beside import OwnerClient
    from adapters.cohere import CohereEmbedder, CohereReranker
    from adapters.openai import FallbackChat, OpenAIChat


class Advice(str):
    """A line about something that works, and that somebody should see to."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A part to look at: `look` gives a line about it, or raises an error whose sentence says what to do.

    `setting` says where the part is, unless it is in this process. Where a part that it `needs` is missing, nothing is
    said of this one.
    """

    name: str
    look: Callable[[], Awaitable[str]]
    setting: str | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetryTiming:
    """Seconds before a service that failed is asked again, and of rest between pieces of text for each answer."""

    retry_wait: float = 0.5
    interval: float = 0.0


DEFAULT_TIMING = RetryTiming()
SHARE = 3  # of the time of a question is given to a first model to begin, so that a second one can still answer
FIRST, SECOND, REVIEW = "chat model", "second chat model", "review model"
PLACES = {FIRST: "OPENAI_BASE_URL", SECOND: "OPENAI_FALLBACK_BASE_URL", REVIEW: "OPENAI_REVIEW_BASE_URL"}
IN_USE = "It answers at the moment, as the first one does not"
ESTIMATED = "where relevance begins is an estimate until `footnote calibrate --keep` measures it"
UNREVIEWED = "none is configured; sentences are compared with their passages by words and numbers alone"


async def load_ahead(settings: Settings) -> None:
    """Load what the first answer would wait for, and with it all that listens meanwhile."""
    if settings.has_chat_model:
        await asyncio.to_thread(import_module, "openai")


class Services:
    """Chooses each part by the settings: the service where there is a key or an address, what is built in otherwise."""

    def __init__(
        self,
        settings: Settings,
        observer: Observer,
        timing: RetryTiming,
        stack: contextlib.AsyncExitStack,
        owner: OwnerClient | None = None,
    ) -> None:
        self._settings = settings
        self._observer = observer
        self._timing = timing
        self._stack = stack
        self._owner = owner
        self._both: FallbackChat | None = None
        self._away = set[str]()  # chat models that did not work when the doctor last looked
        self.checks: list[Check] = []

    def chat_model(self, embedder: Embedder) -> ChatModel:
        """Return what writes answers. Raises `Misconfigured` where the settings do not go together."""
        settings = self._settings
        settings.check_chat_models()
        if not settings.has_chat_model:
            from adapters.extractive import ExtractiveModel

            async def look() -> str:
                return "none is configured; answers quote the documents"

            self.checks.insert(0, Check("chat model", look))
            return ExtractiveModel(embedder)
        first = self._chat(FIRST, settings.openai_model, settings.openai_url, settings.openai_key)
        if settings.openai_fallback_model is None:
            return first
        from adapters.openai import FallbackChat

        url, key = settings.openai_fallback_url, settings.openai_fallback_key
        second = self._chat(SECOND, settings.openai_fallback_model, url, key)
        self._both = FallbackChat(first, second, self._observer, settings.fallback_prices)
        return self._both

    def reviewer(self) -> Reviewer | None:
        """Return what reviews answers, if anything does."""
        settings = self._settings
        if settings.openai_review_model is None:
            if settings.has_chat_model:

                async def look() -> str:
                    return UNREVIEWED

                self._check_model(REVIEW, look)
            return None
        url, key = settings.openai_review_url, settings.openai_review_key
        return Reviewer(self._chat(REVIEW, settings.openai_review_model, url, key), settings.review_prices)

    def _chat(self, name: str, model: str, url: str | None, key: SecretStr | None) -> OpenAIChat:
        """Return one model behind an endpoint, at which the doctor looks under a *name*; without one, the first's."""
        from adapters.openai import Degraded, OpenAIChat, OpenAILimits, Overloaded, checked

        settings = self._settings
        has_second = name == FIRST and settings.openai_fallback_model is not None
        patience = settings.answer_seconds / (SHARE if has_second else 1)
        if url is None:  # nobody else is given the first one's key
            url, key = settings.openai_url, key or settings.openai_key
        limits = OpenAILimits(
            tokens=settings.openai_max_tokens,
            context={FIRST: settings.openai_context_tokens, SECOND: settings.openai_fallback_context}.get(name),
            first=settings.openai_first_seconds,
            read=min(settings.openai_seconds, patience),
            whole=settings.answer_seconds,
            patience=patience,
            loading=0.0 if has_second else settings.openai_first_seconds,  # the second one answers at once
            interval=self._timing.interval,
        )
        retries = replace(self._retries(SERVICE), sleep=sleep_held)  # whoever stood still meanwhile asks no model again
        chat = OpenAIChat(
            model, api_key=revealed(key) or "", base_url=url, retries=retries, limits=limits, observer=self._observer
        )

        async def look() -> str:
            self._away.add(name)
            says = await checked(chat, calls=name != REVIEW)
            self._away -= set() if isinstance(says, Overloaded) else {name}
            unused = settings.unused_seconds if name == FIRST else []
            is_second = name == SECOND and name not in self._away
            is_used = is_second and (FIRST in self._away or (self._both and self._both.is_away))
            line = ". ".join([says.removesuffix("."), *unused, *([IN_USE] if is_used else [])])
            return Advice(line) if unused or isinstance(says, Degraded) else line

        self._stack.push_async_callback(chat.aclose)
        self._check_model(name, look)
        return chat

    def _check_model(self, name: str, look: Callable[[], Awaitable[str]]) -> None:
        self.checks.insert(sum(each.name in PLACES for each in self.checks), Check(name, look, PLACES[name]))

    def embedder(self) -> Embedder:
        """Return what makes vectors."""
        settings = self._settings
        kept, key = kept_calibrations(settings.data_dir), revealed(settings.cohere_key)
        if key is None:
            from adapters.minilm import MiniLM

            made: type[MiniLM] = MiniLM
            if settings.embedder == "multilingual":
                from adapters.minilm.multilingual import Multilingual

                made = Multilingual
            built_in = made(settings.data_dir / "models", calibration=kept.get(made.name))

            async def tried() -> str:
                await built_in.embed_query("Is anybody there?")
                return f"{built_in.name}, {built_in.dimension} dimensions, in this process{built_in.price}"

            self.checks.append(Check("embedder", tried))
            return built_in
        from adapters.cohere import CohereEmbedder

        embedder = CohereEmbedder(
            settings.cohere_embed_model,
            dimension=settings.cohere_dimension,
            api_key=key,
            base_url=settings.cohere_url,
            retries=self._retries(SERVICE),
            observer=self._observer,
        )
        embedder.calibration = kept.get(embedder.name, embedder.calibration)
        self._stack.push_async_callback(embedder.aclose)
        self._check_measured("embedder", embedder, kept)
        return embedder

    def reranker(self) -> Reranker | None:
        """Return what puts passages in order, if anything does."""
        settings = self._settings
        key = revealed(settings.cohere_key)
        if key is None or settings.cohere_rerank_model == OFF:
            return None
        from adapters.cohere import CohereReranker

        reranker = CohereReranker(
            settings.cohere_rerank_model,
            api_key=key,
            base_url=settings.cohere_url,
            retries=self._retries(SERVICE),
            observer=self._observer,
        )
        kept = kept_calibrations(settings.data_dir)
        reranker.calibration = kept.get(reranker.name, reranker.calibration)
        self._stack.push_async_callback(reranker.aclose)
        self._check_measured("reranker", reranker, kept)
        return reranker

    def _check_measured(self, name: str, service: CohereEmbedder | CohereReranker, kept: Container[str]) -> None:
        async def look() -> str:
            says = await service.check()
            return says if service.name in kept else f"{says}; {ESTIMATED}"

        self.checks.append(Check(name, look, "COHERE_BASE_URL"))

    def index(self, embedder: Embedder) -> PassageIndex:
        """Return what is searched. Raises `Misconfigured` where the owner of the index embeds in another way."""
        settings = self._settings
        if settings.qdrant_url is None and self._owner is not None:
            self._owner.check_embedder(embedder.name, embedder.dimension)
            return self._owner
        if settings.qdrant_url is None:
            from adapters.qdrant import EdgeIndex

            built_in = EdgeIndex(settings.data_dir / "index", embedder=embedder.name, dimension=embedder.dimension)
            self._stack.push_async_callback(built_in.aclose)
            return built_in
        from adapters.qdrant import ServerIndex

        index = ServerIndex(
            settings.qdrant_url,
            embedder=embedder.name,
            dimension=embedder.dimension,
            collection=settings.qdrant_collection,
            api_key=revealed(settings.qdrant_key),
            retries=self._retries(INDEX),
            observer=self._observer,
        )
        self._stack.push_async_callback(index.aclose)
        self.checks.append(Check("qdrant", index.check, "QDRANT_URL"))
        return index

    def _retries(self, policy: RetryPolicy) -> RetryPolicy:
        return replace(policy, waits=doubling(self._timing.retry_wait, policy.longest))


MEASURED_FILE = "calibrations.json"  # where relevance begins for each model, with the documents of this installation
CALIBRATIONS = TypeAdapter(dict[str, Calibration])


def kept_calibrations(folder: Path) -> dict[str, Calibration]:
    """Return what is kept in the data folder, by the name of the model; nothing of what cannot be read."""
    with contextlib.suppress(OSError, ValidationError):
        return CALIBRATIONS.validate_json((folder / MEASURED_FILE).read_bytes())
    return {}


def keep_calibrations(folder: Path, calibrations: Mapping[str, Calibration]) -> None:
    """Keep them beside those of other models; the next start uses them."""
    new = (folder / MEASURED_FILE).with_suffix(".new")
    new.write_bytes(CALIBRATIONS.dump_json({**kept_calibrations(folder), **calibrations}, indent=1))
    new.replace(folder / MEASURED_FILE)
