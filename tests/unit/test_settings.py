"""Settings come from the environment and `.env`, and a wrong one is named in words."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.settings import Settings, SettingsRefused, read_settings, slips, slips_of_settings
from core.errors import Misconfigured
from core.model import Holder, Period, Prices, Usage

KNOWN = {"OPENAI_MODEL", "OPENAI_API_KEY", "REDIS_URL", "FOOTNOTE_TOP_K"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path) -> Iterator[None]:
    """No `.env` of whoever runs the tests is read."""
    with contextlib.chdir(tmp_path):
        yield


def test_every_setting_has_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has to be set to start."""
    monkeypatch.delenv("FOOTNOTE_DATA_DIR")

    settings = read_settings()

    assert settings.data_dir == Path(".footnote")
    assert (settings.redis_url, settings.secret_key) == (None, None)
    assert settings.conversation_ttl == timedelta(hours=24)
    assert (settings.top_k, settings.relevance_threshold, settings.excerpt_characters) == (5, 0.5, 500)
    assert [(each.holder, each.most, each.period) for each in settings.all_budgets[2:]] == [
        (Holder.PERSON, 100, Period.DAY),
        (Holder.COMMUNITY, 2_000, Period.DAY),
        (Holder.COMMUNITY, 20_000, Period.MONTH),
    ]


def test_an_empty_variable_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line such as `REDIS_URL=` that was copied and never filled in changes nothing."""
    for name in ("REDIS_URL", "FOOTNOTE_SECRET_KEY", "FOOTNOTE_TOP_K", "FOOTNOTE_LOG_LEVEL"):
        monkeypatch.setenv(name, "")

    settings = read_settings()

    assert (settings.redis_url, settings.secret_key, settings.top_k, settings.log_level) == (None, None, 5, "info")


def test_the_environment_goes_before_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`.env` fills in what the environment does not say; what it says besides is left alone."""
    (tmp_path / ".env").write_text("FOOTNOTE_TOP_K=7\nFOOTNOTE_CONVERSATION_HOURS=2\nSOMETHING_ELSE=1\n")
    monkeypatch.setenv("FOOTNOTE_TOP_K", "9")

    settings = read_settings()

    assert (settings.top_k, settings.conversation_ttl) == (9, timedelta(hours=2))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FOOTNOTE_TOP_K", "0"),
        ("FOOTNOTE_TOP_K", "21"),
        ("FOOTNOTE_TOP_K", "many"),
        ("FOOTNOTE_RELEVANCE_THRESHOLD", "1.5"),
        ("FOOTNOTE_RELEVANCE_THRESHOLD", "nan"),
        ("FOOTNOTE_CONVERSATION_HOURS", "0"),
        ("FOOTNOTE_CONVERSATION_HOURS", "inf"),
        ("FOOTNOTE_EXCERPT_CHARACTERS", "99"),
        ("FOOTNOTE_HISTORY_TOKENS", "-1"),
        ("FOOTNOTE_LOG_LEVEL", "loud"),
    ],
)
def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """The sentence names the variable and what it may be."""
    monkeypatch.setenv(name, value)

    with pytest.raises(Misconfigured, match=rf"^Some settings cannot be used\.\n{name}: this has to be "):
        read_settings()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("OPENAI_BASE_URL", "api.example.com/v1", "not a web address"),
        ("QDRANT_URL", "ftp://qdrant.example", "not a web address"),
        ("QDRANT_URL", "http://", "not a web address"),
        ("COHERE_BASE_URL", "api.cohere.example", "not a web address"),
        ("QDRANT_API_KEY", "hunter2\nhunter2", "a character that cannot be in a key"),
        ("QDRANT_URL", "http://[hunter2", "not a web address"),
        ("QDRANT_URL", "http://qdrant.example:hunter2", "not a web address"),
        ("OPENAI_BASE_URL", "https://gateway.example:99999/v1", "not a web address"),
        ("OPENAI_BASE_URL", "https://me:hunter2℀@gateway.example", "not a web address"),
        ("QDRANT_URL", "http://me:hunter2@qdrant.example", "leave the key out"),
        ("COHERE_BASE_URL", "https://hunter2@cohere.example", "leave the key out"),
        ("OPENAI_API_KEY", "hunter2 hunter2", "a character that cannot be in a key"),
        ("COHERE_API_KEY", "hünter2", "a character that cannot be in a key"),
        ("QDRANT_COLLECTION", "../hunter2", "letters, digits, hyphens and underscores"),
        ("FOOTNOTE_COMMUNITIES", "discord:42, hunter2", "discord:81384788765712384, slack:T012AB3CD"),
        ("FOOTNOTE_COMMUNITIES", "discord:hunter2", "not a list of servers"),
        ("FOOTNOTE_COMMUNITIES", "telegram:42", "not a list of servers"),
        ("FOOTNOTE_COMMUNITIES", "81384788765712384", "not a list of servers"),
        ("FOOTNOTE_COMMUNITIES", "slack:C012AB3CD", "not a list of servers"),
    ],
)
def test_addresses_and_keys_are_checked(monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str) -> None:
    """What no request could carry is refused, and what was given is not repeated, since it may be a secret."""
    monkeypatch.setenv(name, value)

    with pytest.raises(Misconfigured, match=f"{name}: .*{says}") as refused:
        read_settings()

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("discord:42", ["discord:42"]),
        (" Discord: 42 ,slack:t012ab3cd,, discord:42", ["discord:42", "slack:T012AB3CD"]),
        ("slack:E1", ["slack:E1"]),
        ("", []),
    ],
)
def test_communities_are_read_as_people_write_them(
    monkeypatch: pytest.MonkeyPatch, text: str, names: list[str]
) -> None:
    """In their order and each once; a workspace's id has capital letters."""
    monkeypatch.setenv("FOOTNOTE_COMMUNITIES", text)

    assert [str(each) for each in read_settings().named_communities] == names


def test_a_pasted_key_loses_its_white_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line feed at its end would be refused by every client in a way that nobody understands."""
    monkeypatch.setenv("OPENAI_API_KEY", " sk-1\n")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.example.com/v1/")

    settings = read_settings()

    assert settings.openai_key is not None
    assert (settings.openai_key.get_secret_value(), settings.openai_url) == ("sk-1", "https://api.example.com/v1")


def test_a_file_that_is_no_text_is_told_in_words(tmp_path: Path) -> None:
    """`.env` may have been saved in another encoding."""
    (tmp_path / ".env").write_bytes(b"FOOTNOTE_TOP_K=7\n# \xff\n")

    with pytest.raises(Misconfigured, match=r"^The file \.env cannot be read"):
        read_settings()


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        ({}, None),
        ({"OPENAI_PRICE_PROMPT": "2"}, None),
        ({"OPENAI_PRICE_PROMPT": "2", "OPENAI_PRICE_COMPLETION": "8"}, 2 * 1.0 + 8 * 0.5),
        ({"OPENAI_PRICE_PROMPT": "2", "OPENAI_PRICE_CACHED": "1", "OPENAI_PRICE_COMPLETION": "8"}, 2 * 0.6 + 0.4 + 4),
    ],
)
def test_prices_make_a_cost(monkeypatch: pytest.MonkeyPatch, prices: dict[str, str], cost: float | None) -> None:
    """Per million tokens; cached ones cost what others do unless they have a price."""
    for name, value in prices.items():
        monkeypatch.setenv(name, value)
    usage = Usage(prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=500_000)

    found = read_settings().prices

    assert (found and found.cost(usage)) == (cost and pytest.approx(cost))


@pytest.mark.parametrize(
    ("others", "second", "dearest"),
    [
        ({}, (2, 1, 8), (2, 1, 8)),
        ({"PROMPT": "3"}, (2, 1, 8), (2, 1, 8)),
        ({"PROMPT": "3", "COMPLETION": "4"}, (3, 3, 4), (3, 3, 8)),
        ({"PROMPT": "1", "CACHED": "0.5", "COMPLETION": "9"}, (1, 0.5, 9), (2, 1, 9)),
    ],
    ids=["none", "half", "without a cache", "all"],
)
def test_a_second_model_has_its_own_prices_or_those_of_the_first(
    monkeypatch: pytest.MonkeyPatch, others: dict[str, str], second: tuple[float, ...], dearest: tuple[float, ...]
) -> None:
    """What is set aside is the dearest of each kind, once there is a second model; searches cost both the same."""
    for name, value in {"PROMPT": "2", "CACHED": "1", "COMPLETION": "8"}.items():
        monkeypatch.setenv(f"OPENAI_PRICE_{name}", value)
    for name, value in others.items():
        monkeypatch.setenv(f"OPENAI_FALLBACK_PRICE_{name}", value)
    monkeypatch.setenv("COHERE_PRICE_SEARCHES", "2.5")
    monkeypatch.setenv("COHERE_API_KEY", "key")
    alone = read_settings()
    monkeypatch.setenv("OPENAI_FALLBACK_MODEL", "second")
    found = read_settings()

    assert alone.dearest_prices == alone.prices == prices_of(2, 1, 8)
    assert (found.fallback_prices, found.dearest_prices) == (prices_of(*second), prices_of(*dearest))


def prices_of(prompt: float, cached: float, completion: float) -> Prices:
    """Give prices with that of the searches."""
    return Prices(prompt=prompt, cached=cached, completion=completion, searches=2.5)


def test_reviews_have_their_own_prices_or_those_of_the_first_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any of the first, nothing is counted."""
    for name, value in {"REVIEW_PRICE_PROMPT": "3", "REVIEW_PRICE_COMPLETION": "4"}.items():
        monkeypatch.setenv(f"OPENAI_{name}", value)
    assert read_settings().review_prices is None

    for name, value in {PROMPT: "2", COMPLETION: "8"}.items():
        monkeypatch.setenv(name, value)
    own = read_settings().review_prices
    monkeypatch.delenv("OPENAI_REVIEW_PRICE_COMPLETION")

    assert own == Prices(prompt=3, cached=3, completion=4)
    assert read_settings().review_prices == read_settings().prices


def test_searches_in_this_process_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they would cost elsewhere; and without prices of the first model, nothing is counted."""
    monkeypatch.setenv("COHERE_PRICE_SEARCHES", "2.5")
    for name in ("OPENAI_FALLBACK_PRICE_PROMPT", "OPENAI_FALLBACK_PRICE_COMPLETION"):
        monkeypatch.setenv(name, "2")
    assert (read_settings().fallback_prices, read_settings().dearest_prices) == (None, None)

    for name in ("OPENAI_PRICE_PROMPT", "OPENAI_PRICE_COMPLETION"):
        monkeypatch.setenv(name, "2")
    found = read_settings().prices

    assert found is not None
    assert found.searches == 0.0


PROMPT, COMPLETION = "OPENAI_PRICE_PROMPT", "OPENAI_PRICE_COMPLETION"


@pytest.mark.promise("bounded-asking")
@pytest.mark.parametrize("prices", [[], [PROMPT], [COMPLETION]])
def test_money_is_limited_only_where_it_can_be_counted(monkeypatch: pytest.MonkeyPatch, prices: list[str]) -> None:
    """Without both prices such a limit is none at all, although it takes the place of the usual ones."""
    budgets = "person 9 questions day, community 20 money month"
    monkeypatch.setenv("FOOTNOTE_BUDGETS", budgets)
    for name in prices:
        monkeypatch.setenv(name, "2")

    with pytest.raises(Misconfigured, match=rf"FOOTNOTE_BUDGETS: .* Set {PROMPT} and {COMPLETION}, or limit questions"):
        read_settings()

    for name in (PROMPT, COMPLETION):
        monkeypatch.setenv(name, "2")
    assert read_settings().budgets == budgets


def test_a_wrong_price_is_told_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever mistypes a price has set one."""
    monkeypatch.setenv("FOOTNOTE_BUDGETS", "community 20 money month")
    monkeypatch.setenv(PROMPT, "two")
    monkeypatch.setenv(COMPLETION, "2")

    with pytest.raises(Misconfigured, match=rf"^Some settings cannot be used\.\n{PROMPT}: .*$"):
        read_settings()


def test_all_wrong_settings_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to fix them one by one."""
    monkeypatch.setenv("FOOTNOTE_TOP_K", "0")
    monkeypatch.setenv("FOOTNOTE_LOG_LEVEL", "loud")

    with pytest.raises(Misconfigured, match=r"FOOTNOTE_TOP_K: .*\nFOOTNOTE_LOG_LEVEL: "):
        read_settings()


NAMES = [str(field.validation_alias) for field in Settings.model_fields.values()]
GOOD = {
    "FOOTNOTE_DATA_DIR",
    "OPENAI_MODEL",
    "OPENAI_FALLBACK_MODEL",
    "OPENAI_REVIEW_MODEL",
    "COHERE_EMBED_MODEL",
    "COHERE_RERANK_MODEL",
    "HOST",
    "FOOTNOTE_HEALTH_HOST",
}
"""Those that may be any text."""
LATER = {"REDIS_URL", "FOOTNOTE_SECRET_KEY"}
"""Those that are looked at where they are used, which says what is wrong with them."""


@pytest.mark.parametrize("name", sorted(set(NAMES) - GOOD - LATER))
def test_a_bad_value_is_answered_with_a_good_one(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A sentence in our words, and an example that can be copied; of keys, no other than the real one would do."""
    monkeypatch.setenv(name, "-\x01 nonsense")
    with pytest.raises(SettingsRefused) as refused:
        read_settings()
    (said,) = refused.value.refusals
    start, _, example = said.partition(f" For example: {name}=")
    monkeypatch.setenv(name, example or "a-key")

    read_settings()

    assert start.startswith(f"{name}: ")
    assert start.endswith(".")
    assert "Input should" not in said
    assert "onsense" not in said.replace("nonsense' is not a budget", "")


def test_secrets_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed or logged by accident shows stars."""
    monkeypatch.setenv("REDIS_URL", "redis://:hunter2@localhost:6379/0")
    monkeypatch.setenv("FOOTNOTE_SECRET_KEY", "hunter3")

    assert "hunter" not in f"{read_settings()!r} {read_settings()}"


def test_settings_do_not_change() -> None:
    """They are read once."""
    with pytest.raises(ValidationError, match="frozen"):
        Settings().top_k = 7


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        ("OPENAI_MODLE", ["OPENAI_MODLE is not a setting. Did you mean OPENAI_MODEL?"]),
        ("OPENAI_MODEL", []),
        ("openai_model", []),
        ("OPEN_AI_API_KEY", ["OPEN_AI_API_KEY is not a setting. Did you mean OPENAI_API_KEY?"]),
        ("FOOTNOTE_COLOUR", ["FOOTNOTE_COLOUR is not a setting, and nothing reads it."]),
        ("FOOTNOTE_SHARED_DATA", []),
        ("PATH", []),
        ("RADIUS_URI", []),
    ],
)
def test_a_slip_is_pointed_out(name: str, sentences: list[str]) -> None:
    """By the nearest name, or as nothing that is read; what belongs to other programs is left alone."""
    assert [str(slip) for slip in slips([name], KNOWN)] == sentences


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is when the command starts."""
    monkeypatch.setenv("FOOTNOTE_TOPK", "7")

    assert [str(slip) for slip in slips_of_settings()] == [
        "FOOTNOTE_TOPK is not a setting. Did you mean FOOTNOTE_TOP_K?"
    ]
