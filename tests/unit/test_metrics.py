"""What Prometheus reads: every event is counted, and nothing of anybody is in a label."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from bot.metrics import MOST_COMMUNITIES, MOST_MODELS, OTHERS, REMEMBERED, Metrics
from bot.wiring.platforms import TimedSurface
from core.events import (
    AnswerAssumed,
    Answered,
    CatchUpCutShort,
    Charged,
    CommunityBack,
    CommunityLost,
    Connected,
    ConnectionLost,
    Event,
    FellBack,
    InventionsRemoved,
    MemoryFailed,
    Passed,
    PlaceRefused,
    PlatformWaited,
    PossiblyDoubled,
    Retried,
    ServiceBack,
    ServiceFailed,
    ServiceSkipped,
    State,
    StateChanged,
    Step,
    TakenOver,
    TaskFailed,
    TokensUsed,
)
from core.model import Answer, Backlog, Claim, Cost, Status, Usage
from tests.builders import NOON, question
from tests.fakes.surface import RecordingSurface, drafted
from tests.platforms import progress

ASKED = question()
REF = ASKED.message
USAGE = Usage(prompt_tokens=100, cached_tokens=40, completion_tokens=7)
QUESTION = 'platform="test"'
OPERATIONS = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def figures(metrics: Metrics, backlog: Backlog | None = None, *, only: str = "") -> dict[str, float]:
    """Give what Prometheus would read, without what every process tells."""
    lines = metrics.exposed(backlog)[0].decode().splitlines()
    pairs = [line.rpartition(" ") for line in lines if line.startswith(f"footnote_{only}") and "_created" not in line]
    return {name.removeprefix("footnote_"): float(value) for name, _, value in pairs}


@pytest.mark.promise("counts-without-names")
@pytest.mark.parametrize(
    ("event", "counted"),
    [
        (Passed(REF, Step.HEARD), {f"questions_total{{{QUESTION}}}": 1}),
        (Passed(REF, Step.SETTLED), {}),
        (StateChanged(REF, State.RECEIVED), {}),
        (
            TokensUsed(REF, "m", USAGE),
            {
                'tokens_total{kind="prompt",model="m"}': 100,
                'tokens_total{kind="cached",model="m"}': 40,
                'tokens_total{kind="completion",model="m"}': 7,
            },
        ),
        (
            Answered(REF, Status.REFUSED, "", Usage(), None, 0.0, 0.0, 0.0),
            {f'answers_total{{{QUESTION},status="refused"}}': 1},
        ),
        (
            Charged(REF, Cost(questions=1, tokens=107, money=0.25)),
            {
                'used_total{community="test:w",measure="questions"}': 1,
                'used_total{community="test:w",measure="tokens"}': 107,
                'used_total{community="test:w",measure="money"}': 0.25,
            },
        ),
        (Charged(REF, Cost(tokens=9)), {'used_total{community="test:w",measure="tokens"}': 9}),
        (Charged(REF, Cost(searches=2)), {'used_total{community="test:w",measure="searches"}': 2}),
        (ServiceSkipped("index", "Why."), {'service_skipped{service="index"}': 1}),
        (TakenOver(REF, 2), {f"lease_takeovers_total{{{QUESTION}}}": 1}),
        (TaskFailed(REF, 2, is_last=False, reason="Why."), {f"task_failures_total{{{QUESTION}}}": 1}),
        (
            TaskFailed(REF, 3, is_last=True, reason="Why."),
            {f"task_failures_total{{{QUESTION}}}": 1, f"given_up_total{{{QUESTION}}}": 1},
        ),
        (AnswerAssumed(REF), {'answers_assumed_total{platform="test"}': 1}),
        (PossiblyDoubled(REF), {f"possibly_doubled_total{{{QUESTION}}}": 1}),
        (PlaceRefused(REF), {f"places_refused_total{{{QUESTION}}}": 1}),
        (MemoryFailed(REF, "load"), {'memory_failures_total{doing="load"}': 1}),
        (Retried("reranker", 2, "Why."), {'service_retries_total{service="reranker"}': 1}),
        (ServiceFailed("index", "Why."), {'service_failures_total{service="index"}': 1}),
        (FellBack("chat model", "Why."), {'fallbacks_total{service="chat model"}': 1}),
        (CatchUpCutShort("Slack", "Why."), {'catch_ups_cut_short_total{platform="slack"}': 1}),
        (ConnectionLost("Slack", "Why."), {'connections_lost_total{platform="slack"}': 1}),
        (Connected("Slack", "Footnote"), {'connected{platform="slack"}': 1}),
        (CommunityBack("Slack", "slack:T1", "slack:T1 (Robots)"), {'connected{platform="slack:T1"}': 1}),
        (
            PlatformWaited("discord", 1.5),
            {
                'platform_waits_total{platform="discord"}': 1,
                'platform_waited_seconds_total{platform="discord"}': 1.5,
            },
        ),
        (InventionsRemoved(REF, 3, 2), {"urls_removed_total": 3, "marks_removed_total": 2}),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, dict) else "",
)
def test_an_event_is_counted(event: Event, counted: dict[str, float]) -> None:
    """Once, by what there are only a few of; nothing else moves."""
    metrics = Metrics()
    before = figures(metrics)

    metrics.observe(event)

    after = figures(metrics)
    assert {name: value for name, value in after.items() if value != before.get(name, 0.0)} == counted


def test_a_community_that_is_left_is_shown_no_more() -> None:
    """As long as its token is refused, it is 0."""
    metrics = Metrics()

    metrics.observe(CommunityLost("Slack", "slack:T1", "slack:T1 (Robots)", "Why."))
    lost = figures(metrics)
    metrics.observe(CommunityBack("Slack", "slack:T1", "slack:T1 (Robots)", has_left=True))

    assert lost['connected{platform="slack:T1"}'] == 0
    assert 'connected{platform="slack:T1"}' not in figures(metrics)


def test_an_answer_is_timed_by_stage() -> None:
    """In seconds, with its cost."""
    metrics = Metrics()

    metrics.observe(Answered(REF, Status.ANSWERED, "m", USAGE, 0.25, 400.0, 2_000.0, 3_000.0, 500.0, 90.0))

    sums = figures(metrics, only="answer_stage_seconds_sum")
    assert sums == {
        'answer_stage_seconds_sum{stage="retrieval"}': 0.4,
        'answer_stage_seconds_sum{stage="first_token"}': 0.5,
        'answer_stage_seconds_sum{stage="generation"}': 2.0,
        'answer_stage_seconds_sum{stage="posting"}': 0.09,
        'answer_stage_seconds_sum{stage="total"}': 3.0,
    }
    assert figures(metrics, only="cost") == {'cost_total{model="m"}': 0.25}


async def test_what_readers_wait_for_is_timed() -> None:
    """Until somebody begins, counted for the first attempt only, and until the first words, whatever comes later."""
    metrics = Metrics(now=lambda: NOON + timedelta(seconds=4))
    surface = TimedSurface(RecordingSurface(), metrics)
    answer = Answer(id="a", text="It acts.", status=Status.ANSWERED, total_time_ms=5.0)
    refusal = Answer(id="a", text="Not now.", status=Status.REFUSED)

    await surface.reply(Claim(ASKED), progress(drafted("It "), drafted("It acts."), answer))
    await surface.reply(Claim(ASKED, attempt=2), progress(answer))
    await surface.reply(Claim(ASKED, is_update=True), progress(refusal))

    counts = figures(metrics, only="answer_stage_seconds_count")
    assert counts == {
        'answer_stage_seconds_count{stage="waiting"}': 1,
        'answer_stage_seconds_count{stage="first_text"}': 2,
    }
    assert figures(metrics)['answer_stage_seconds_sum{stage="waiting"}'] == 4.0


def test_the_inbox_is_told_as_it_is_or_not_at_all() -> None:
    """Old figures of a store that is away would be lies."""
    metrics = Metrics()

    known = figures(metrics, Backlog(waiting=3, running=2, dead=1, oldest=4.5))
    unknown = figures(metrics, None)

    told = {"questions_waiting": 3.0, "questions_running": 2.0, "dead_letters": 1.0, "oldest_question_seconds": 4.5}
    assert unknown["inbox_up"] == 0.0
    assert not set(told) & set(unknown)
    assert known == {**unknown, **told, "inbox_up": 1.0}


def test_a_question_that_is_heard_twice_is_counted_once() -> None:
    """As while the bot catches up; after many others nobody remembers it, and nothing grows."""
    metrics, others = Metrics(), [question(id=f"other{number}").message for number in range(REMEMBERED)]

    for message in (REF, REF, *others, REF):
        metrics.observe(Passed(message, Step.HEARD))

    assert figures(metrics, only="questions_total") == {f"questions_total{{{QUESTION}}}": REMEMBERED + 2}


def test_a_service_that_names_ever_new_models_fills_no_memory() -> None:
    """After some of them they share one line."""
    metrics = Metrics()

    for number in range(MOST_MODELS + 5):
        metrics.observe(TokensUsed(REF, f"m{number}", USAGE))

    completions = [name for name in figures(metrics, only="tokens_total") if "completion" in name]
    assert len(completions) == MOST_MODELS + 1
    assert figures(metrics)[f'tokens_total{{kind="completion",model="{OTHERS}"}}'] == 5 * 7


@pytest.mark.promise("failing-services-are-skipped")
def test_a_service_is_skipped_until_it_is_back() -> None:
    """Whoever looks later sees how it is."""
    metrics = Metrics()
    for event in (ServiceSkipped("index", "Why."), ServiceSkipped("embedder", "Why."), ServiceBack("index")):
        metrics.observe(event)

    assert figures(metrics, only="service_skipped") == {
        'service_skipped{service="index"}': 0,
        'service_skipped{service="embedder"}': 1,
    }


@pytest.mark.promise("spending-is-known")
def test_only_so_many_communities_have_a_line_of_their_own() -> None:
    """A bot may be in thousands: all but the first share one."""
    metrics = Metrics()
    for number in range(2 * (MOST_COMMUNITIES + 5)):
        home = REF.thread.model_copy(update={"workspace": f"w{number % (MOST_COMMUNITIES + 5)}"})
        metrics.observe(Charged(REF.model_copy(update={"thread": home}), Cost(questions=1)))

    used = figures(metrics, only="used_total")
    assert len(used) == MOST_COMMUNITIES + 1
    assert (used['used_total{community="test:w0",measure="questions"}'], sum(used.values())) == (2, 210)
    assert used[f'used_total{{community="{OTHERS}",measure="questions"}}'] == 10


def test_every_figure_is_explained() -> None:
    """The page for operators lists what is exposed, by its names; labels appear with the first event."""
    rows = [line for line in OPERATIONS.read_text().splitlines() if line.startswith("| `footnote_")]
    types = [line.split()[2] for line in Metrics().exposed(Backlog())[0].decode().splitlines() if "# TYPE" in line]

    explained = {name for row in rows for name in re.findall(r"`(footnote_\w+)`", row.split("|")[1])}
    assert explained == {name for name in types if name.startswith("footnote_") and not name.endswith("_created")}
