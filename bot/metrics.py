"""What happens, as counters and histograms in the form that Prometheus reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from core import events
from core.model import Backlog, Claim, Measure, MessageRef

Stage: TypeAlias = Literal["waiting", "first_text", "retrieval", "first_token", "generation", "total", "posting"]

SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900)
MOST_MODELS = 20
"""So many names of models get a line of their own: services name them, and nobody else bounds what they say."""
MOST_COMMUNITIES = 100
"""So many servers and workspaces do, those that ask first: a bot may be in thousands."""
OTHERS = "other"
REMEMBERED = 1_000
"""So many questions are known again: what comes while the bot catches up is often received twice."""
COUNTED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "questions": ("Questions received, by platform; one that is delivered twice counts once.", ("platform",)),
    "answers": ("Answers, by platform and how they ended.", ("platform", "status")),
    "tokens": ("Tokens as the model's service counts them; prompt ones include the cached ones.", ("model", "kind")),
    "cost": ("What answers cost, in the currency of the prices that are set.", ("model",)),
    "used": (
        "What communities have used: questions, tokens, searches that are billed, and money where prices are set.",
        ("community", "measure"),
    ),
    "service_retries": ("Calls to a service that were retried.", ("service",)),
    "service_failures": ("Calls to a service that failed.", ("service",)),
    "fallbacks": ("Calls that went to a second service because the first one was not available.", ("service",)),
    "lease_takeovers": ("Questions taken over from a worker that had stopped responding.", ("platform",)),
    "lost_by_store": ("Questions that the data store lost before they were answered.", ("platform",)),
    "answers_assumed": (
        "Questions that count as answered, since the data store and the platform could not tell.",
        ("platform",),
    ),
    "task_failures": ("Attempts to answer that failed.", ("platform",)),
    "given_up": ("Questions that failed at their last attempt.", ("platform",)),
    "possibly_doubled": ("Messages that may have been posted twice.", ("platform",)),
    "places_refused": ("Questions in places where the bot is not allowed to post.", ("platform",)),
    "memory_failures": ("Answers given without memory, or not remembered.", ("doing",)),
    "platform_waits": ("Times a platform asked the bot to slow down.", ("platform",)),
    "platform_waited_seconds": ("Seconds that platforms asked the bot to wait.", ("platform",)),
    "catch_ups_cut_short": (
        "Times when not everything that was posted while the bot was away could be read.",
        ("platform",),
    ),
    "connections_lost": ("Times the connection to a platform was lost.", ("platform",)),
    "urls_removed": ("Addresses that a model wrote and no document contains.", ()),
    "marks_removed": ("Numbers of footnotes that a model wrote and no search returned.", ()),
}


class Metrics:
    """Counts events, and times what readers wait for; no label holds an id or name of a person, or a text."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._registry = CollectorRegistry()
        self._inbox = InboxCollector()
        self._registry.register(self._inbox)
        ProcessCollector(registry=self._registry)
        self._models: set[str] = set()
        self._communities: set[str] = set()
        self._heard: dict[MessageRef, None] = {}
        self._counted = {
            name: Counter(f"footnote_{name}", says, labels, registry=self._registry)
            for name, (says, labels) in COUNTED.items()
        }
        self._stages = Histogram(
            "footnote_answer_stage_seconds",
            "Seconds that questions wait for their turn, that the first words take from then on, that searching, the "
            "first tokens of the model and all it writes take, the whole answer, and what posting it takes after that.",
            ["stage"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._connected = Gauge(
            "footnote_connected", "Whether a platform can be reached.", ["platform"], registry=self._registry
        )
        self._skipped = Gauge(
            "footnote_service_skipped",
            "Whether a service is skipped because it failed again and again.",
            ["service"],
            registry=self._registry,
        )
        self._listeners = self._listening()

    def observe(self, event: events.Event) -> None:
        """Count an event; those that are of no interest cost a look into a dictionary."""
        if listener := self._listeners.get(type(event)):
            listener(event)

    def took(self, stage: Stage, seconds: float) -> None:
        """Note how long something took; clocks of several machines may differ, so that it may seem to be negative."""
        self._stages.labels(stage).observe(max(seconds, 0.0))

    def waited(self, claim: Claim) -> None:
        """Note how long a question has waited for its first attempt."""
        if claim.attempt == 1 and not claim.is_update:
            self.took("waiting", (self._now() - claim.question.asked_at).total_seconds())

    def exposed(self, backlog: Backlog | None, *, accepts: str = "") -> tuple[bytes, str]:
        """Return everything in the form that the reader *accepts*, and its type; no *backlog* where nobody knows it."""
        self._inbox.backlog = backlog
        encode, kind = choose_encoder(accepts)
        return encode(self._registry), kind

    def _add(self, name: str, *labels: str, amount: float = 1.0) -> None:
        counter = self._counted[name]
        (counter.labels(*labels) if labels else counter).inc(amount)

    def _listening(self) -> Mapping[type[events.Event], Callable[[Any], None]]:
        return {
            events.Passed: self._passed,
            events.Answered: self._answered,
            events.TokensUsed: self._tokens,
            events.Charged: self._charged,
            events.TaskFailed: self._task_failed,
            events.PlatformWaited: self._platform_waited,
            events.TakenOver: lambda event: self._add("lease_takeovers", _platform(event)),
            events.AnswerAssumed: lambda event: self._add("answers_assumed", _platform(event)),
            events.LostByStore: lambda event: self._add("lost_by_store", _platform(event)),
            events.PossiblyDoubled: lambda event: self._add("possibly_doubled", _platform(event)),
            events.PlaceRefused: lambda event: self._add("places_refused", _platform(event)),
            events.MemoryFailed: lambda event: self._add("memory_failures", event.doing),
            events.Retried: lambda event: self._add("service_retries", event.service),
            events.ServiceFailed: lambda event: self._add("service_failures", event.service),
            events.FellBack: lambda event: self._add("fallbacks", event.service),
            events.ServiceSkipped: lambda event: self._skipped.labels(event.service).set(1),
            events.ServiceBack: lambda event: self._skipped.labels(event.service).set(0),
            events.CatchUpCutShort: lambda event: self._add("catch_ups_cut_short", event.platform.lower()),
            events.Connected: lambda event: self._connected.labels(event.platform.lower()).set(1),
            events.ConnectionLost: self._lost,
            events.CommunityLost: lambda event: self._connected.labels(event.community).set(0),
            events.CommunityBack: self._community_back,
            events.InventionsRemoved: self._invented,
        }

    def _invented(self, event: events.InventionsRemoved) -> None:
        self._add("urls_removed", amount=event.urls)
        self._add("marks_removed", amount=event.marks)

    def _passed(self, event: events.Passed) -> None:
        if event.step is events.Step.HEARD and event.question not in self._heard:
            self._heard[event.question] = None
            if len(self._heard) > REMEMBERED:
                del self._heard[next(iter(self._heard))]
            self._add("questions", _platform(event))

    def _answered(self, event: events.Answered) -> None:
        self._add("answers", _platform(event), event.status.value)
        if event.cost is not None:
            self._add("cost", _bounded(self._models, event.model, MOST_MODELS), amount=event.cost)
        if event.total_time_ms:  # what was refused took nothing of this
            self.took("retrieval", event.retrieval_time_ms / 1000)
            self.took("first_token", event.first_token_time_ms / 1000)
            self.took("generation", event.generation_time_ms / 1000)
            self.took("total", event.total_time_ms / 1000)
            self.took("posting", event.posting_time_ms / 1000)

    def _tokens(self, event: events.TokensUsed) -> None:
        model, usage = _bounded(self._models, event.model, MOST_MODELS), event.usage
        for kind in ("prompt", "cached", "completion"):
            self._add("tokens", model, kind, amount=getattr(usage, f"{kind}_tokens"))

    def _charged(self, event: events.Charged) -> None:
        community = _bounded(self._communities, str(event.charged or event.question.thread.home), MOST_COMMUNITIES)
        for measure in Measure:
            if amount := event.cost.of(measure):
                self._add("used", community, measure.value, amount=amount)
        if event.cost.searches:
            self._add("used", community, "searches", amount=event.cost.searches)

    def _task_failed(self, event: events.TaskFailed) -> None:
        self._add("task_failures", _platform(event))
        if event.is_last:
            self._add("given_up", _platform(event))

    def _platform_waited(self, event: events.PlatformWaited) -> None:
        platform = event.platform.lower()
        self._add("platform_waits", platform)
        self._add("platform_waited_seconds", platform, amount=event.seconds)

    def _lost(self, event: events.ConnectionLost) -> None:
        self._connected.labels(event.platform.lower()).set(0)
        self._add("connections_lost", event.platform.lower())

    def _community_back(self, event: events.CommunityBack) -> None:
        if event.has_left:
            self._connected.remove(event.community)
        else:
            self._connected.labels(event.community).set(1)


class InboxCollector(Collector):
    """Exposes what is known of the inbox at the moment; where nothing is known, no old values, and a sign of that."""

    def __init__(self) -> None:
        self.backlog: Backlog | None = None

    def collect(self) -> Iterable[Metric]:
        """Return the gauges."""
        gauges = [("inbox_up", "Whether the inbox can be reached.", float(self.backlog is not None))]
        if (backlog := self.backlog) is not None:
            gauges += (
                ("questions_waiting", "Questions that are waiting for their turn, in all processes.", backlog.waiting),
                ("questions_running", "Questions that are being answered, in all processes.", backlog.running),
                ("dead_letters", "Failed questions that are kept for the operator.", backlog.dead),
                ("oldest_question_seconds", "How long the oldest question has been waiting.", backlog.oldest),
            )
        return [GaugeMetricFamily(f"footnote_{name}", says, value=value) for name, says, value in gauges]


def _bounded(known: set[str], name: str, most: int) -> str:
    """Return a name that is among the first ones that were *known*, or the one for all others."""
    if len(known) < most:
        known.add(name)
    return name if name in known else OTHERS


def _platform(event: Any) -> str:
    return event.question.thread.platform
