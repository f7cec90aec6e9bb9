"""Settings: read once from the environment and `.env`, checked, and never changed."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args
from zoneinfo import ZoneInfo

from pydantic import SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import SettingsConfigDict

from bot.settings.fields import (
    OFF,
    BudgetList,
    CommunityList,
    DiscordSettings,
    Network,
    NetworkList,
    ServiceSettings,
    SlackSettings,
    ZoneName,
    budgets_in,
    communities_in,
    community_named,
    hosts_in,
    networks_in,
    revealed,
    setting,
)
from core.errors import Misconfigured
from core.messages import joined
from core.model import Budget, Holder, Measure, Period, Terms, WorkspaceRef

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

__all__ = [
    "OFF",
    "Settings",
    "SettingsRefused",
    "Slip",
    "community_named",
    "read_settings",
    "refusal_of",
    "revealed",
    "slips",
    "slips_of_settings",
]

BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most"}
UNREADABLE = "The file .env cannot be read. It has to be text in UTF-8 that you may read."

PREFIXES = ("FOOTNOTE_", "OPENAI_", "COHERE_", "QDRANT_", "REDIS_", "DISCORD_", "SLACK_")
BUDGETS = "person 100 questions day, community 2000 questions day, community 20000 questions month"
BESIDES = {"FOOTNOTE_SHARED_DATA", "FOOTNOTE_BENCH_DIR", "FOOTNOTE_RECORD", "FOOTNOTE_WHOLE"}
"""Names that the tests and benchmarks read, and nothing else does."""
UNPRICED = (
    "a limit on money has no effect without prices. Set OPENAI_PRICE_PROMPT and OPENAI_PRICE_COMPLETION, "
    "or limit questions or tokens instead"
)
UNUSED = "{}={:g} is more than a question has: FOOTNOTE_ANSWER_SECONDS={:g}"
ALIKE = 0.85
"""How alike two names have to be, from 0 to 1, for one to be taken for a slip of the other."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A name that looks like a setting and is none, and the setting that was *meant*, if one is much like it."""

    name: str
    meant: str | None

    def __str__(self) -> str:
        """Return the sentence for the person who wrote it."""
        if self.meant is None:
            return f"{self.name} is not a setting, and nothing reads it."
        return f"{self.name} is not a setting. Did you mean {self.meant}?"


def slips(names: Iterable[str], known: Collection[str]) -> list[Slip]:
    """Find those of *names* that are much like a setting's name, or carry one of our prefixes, and are none."""
    found: list[Slip] = []
    for name in sorted(set(names) - set(known) - BESIDES):
        alike = difflib.get_close_matches(name, known, n=1, cutoff=ALIKE)
        if alike or name.startswith(PREFIXES):
            found.append(Slip(name, alike[0] if alike else None))
    return found


class Settings(SlackSettings, DiscordSettings, ServiceSettings):
    """What the person who runs the bot can choose. Every field is one environment variable; see `.env.example`."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    communities: CommunityList | None = setting(
        "FOOTNOTE_COMMUNITIES", None, like="discord:81384788765712384, slack:T012AB3CD"
    )
    """The servers and workspaces that may use the bot, such as discord:81384788765712384, slack:T012AB3CD, besides
    those that `footnote communities` allows. Without it, the first on each platform may."""
    questions_per_minute: int = setting("FOOTNOTE_QUESTIONS_PER_MINUTE", 10, ge=1, le=1_000)
    """How many questions one person may ask in a minute on chat platforms; a thread, twice as many."""
    budgets: BudgetList = setting("FOOTNOTE_BUDGETS", BUDGETS)
    """What each person, channel and community may ask in a day or month: questions, tokens, or money if prices are set.
    `off` means no limit."""
    time_zone: ZoneName = setting("FOOTNOTE_TIME_ZONE", "UTC", like="Europe/Berlin")
    """The time zone in which the days and months of the budgets begin at midnight, such as Europe/Berlin."""
    answers_at_once: int = setting("FOOTNOTE_ANSWERS_AT_ONCE", 128, ge=1, le=1_000)
    """How many questions one process answers at the same time; the others wait for their turn."""
    answers_per_person: int = setting("FOOTNOTE_ANSWERS_PER_PERSON", 4, ge=1, le=1_000)
    """How many questions of one person are answered at the same time; the others wait."""
    answers_per_workspace: int = setting("FOOTNOTE_ANSWERS_PER_WORKSPACE", 32, ge=1, le=10_000)
    """How many questions of one server or workspace all processes answer at the same time; the others wait. As long
    as it is below FOOTNOTE_ANSWERS_AT_ONCE, a busy one does not make others wait."""
    answer_seconds: float = setting("FOOTNOTE_ANSWER_SECONDS", 300, ge=10, le=86_400)
    """How many seconds a question may take once work on it has begun, including retries; after that, the person who
    asked is told that it took too long."""
    lease_seconds: float = setting("FOOTNOTE_LEASE_SECONDS", 30, ge=1, le=600)
    """How many seconds a process may be silent before another one takes over its questions."""
    grace_seconds: float = setting("FOOTNOTE_GRACE_SECONDS", 20, ge=0, le=600)
    """How many seconds a stop waits for answers that are being written. Hosts often allow 30."""
    health_port: int | None = setting("FOOTNOTE_HEALTH_PORT", None, ge=1, le=65_535, like="8080")
    """The port at which `footnote run` answers /live, /ready and /metrics. Without it, there is none."""
    health_host: str = setting("FOOTNOTE_HEALTH_HOST", "127.0.0.1", min_length=1)
    """The address of this machine for that port. In a container it has to be 0.0.0.0; there is no login, so do not
    expose this port."""
    data_dir: Path = setting("FOOTNOTE_DATA_DIR", Path(".footnote"))
    """The folder for the index, the conversations, the key and the log."""
    secret_key: SecretStr | None = setting("FOOTNOTE_SECRET_KEY", None)
    """The key that encrypts stored texts. Of several, separated by commas, the first one encrypts. Without it, a key is
    made in the data folder."""
    conversation_hours: float = setting("FOOTNOTE_CONVERSATION_HOURS", 24, gt=0, le=24 * 365)
    """How many hours a conversation is kept after its last turn."""
    top_k: int = setting("FOOTNOTE_TOP_K", 5, ge=1, le=20)
    """How many passages a search gives the model."""
    relevance_threshold: float = setting("FOOTNOTE_RELEVANCE_THRESHOLD", 0.5, ge=0, le=1)
    """Passages below this relevance are not used. 0.5 is the measured boundary."""
    excerpt_characters: int = setting("FOOTNOTE_EXCERPT_CHARACTERS", 500, ge=100, le=4_000)
    """How many characters of a passage the model reads. Longer excerpts help some models."""
    history_tokens: int = setting("FOOTNOTE_HISTORY_TOKENS", 100_000, ge=0, le=2_000_000)
    """How many tokens of the conversation go to the model, at most."""
    fetch_networks: NetworkList | None = setting("FOOTNOTE_FETCH_NETWORKS", None, like="10.20.0.0/16")
    """Private networks in which websites may be read, such as 10.20.0.0/16; all other websites have to be public."""
    fetch_hosts: str | None = setting(
        "FOOTNOTE_FETCH_HOSTS",
        None,
        like="docs.example.org",
        must="a list of host names, separated by commas",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9., \[\]:-]*$",
    )
    """Behind a proxy, the hosts that websites may be read from, such as docs.example.org, separated by commas."""
    log_level: Literal["debug", "info", "warning", "error"] = setting("FOOTNOTE_LOG_LEVEL", "info")
    """How much is logged: debug, info, warning or error."""
    log: Literal["auto", "file", "stderr", "both"] = setting("FOOTNOTE_LOG", "auto")
    """Where the log goes: file is footnote.log in the data folder, stderr is standard error, both is both. auto is the
    file, and for `footnote run` standard error too when that is not a terminal."""

    @field_validator("budgets")
    @classmethod
    def _check_prices(cls, value: str, info: ValidationInfo) -> str:
        """Refuse a budget that would never be reached; a price that is wrong itself is told by itself."""
        is_unpriced = None in (info.data.get(each, 0) for each in ("price_prompt", "price_completion"))
        if is_unpriced and any(each.measure is Measure.MONEY for each in budgets_in(value)):
            raise ValueError(UNPRICED)
        return value

    @property
    def named_communities(self) -> tuple[WorkspaceRef, ...]:
        """The servers and workspaces that may use the bot whatever else is set."""
        return communities_in(self.communities or "")

    @property
    def allowed_networks(self) -> tuple[Network, ...]:
        """What websites may be read from although it is not public."""
        return networks_in(self.fetch_networks or "")

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """What a proxy may be asked for."""
        return hosts_in(self.fetch_hosts or "")

    @property
    def all_budgets(self) -> tuple[Budget, ...]:
        """The budgets, those of a minute among them."""
        often = self.questions_per_minute
        minute = [
            Budget(holder=holder, period=Period.MINUTE, most=most)
            for holder, most in ((Holder.PERSON, often), (Holder.THREAD, 2 * often))
        ]
        return (*minute, *budgets_in(self.budgets))

    @property
    def unused_seconds(self) -> list[str]:
        """A sentence for each time that the chat model is given and never gets, as the question has ended by then."""
        given = sorted(self.model_fields_set & {"openai_first_seconds", "openai_seconds"})
        said, most = ((field.upper(), getattr(self, field)) for field in given), self.answer_seconds
        return [UNUSED.format(name, seconds, most) for name, seconds in said if seconds > most]

    @property
    def zone(self) -> tzinfo:
        """The time zone of the budgets."""
        return ZoneInfo(self.time_zone)

    @property
    def terms(self) -> Terms:
        """How questions are asked on chat platforms."""
        return Terms(top_k=self.top_k, relevance_threshold=self.relevance_threshold)

    @property
    def conversation_ttl(self) -> timedelta:
        """How long a conversation lives after its last turn."""
        return timedelta(hours=self.conversation_hours)


class SettingsRefused(Misconfigured):
    """Some settings cannot be used; `refusals` has a sentence for each, with a value that could be."""

    def __init__(self, *refusals: str, heading: Sequence[str] = ("Some settings cannot be used.",)) -> None:
        super().__init__("\n".join([*heading, *refusals]))
        self.refusals = refusals


def read_settings() -> Settings:
    """Read the settings. Raises `SettingsRefused` with the name of each wrong one and what it may be."""
    try:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsRefused(UNREADABLE, heading=()) from error
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)
        raise SettingsRefused(*(_refusal(str(item["loc"][0]), item) for item in wrong)) from None


def refusal_of(name: str, value: str) -> str | None:
    """Return what is wrong with a *value* for a setting, whatever the others are, or None."""
    try:
        Settings.model_validate({name: value})
    except ValidationError as error:
        wrong = [item for item in error.errors(include_url=False, include_input=False) if item["loc"][0] == name]
        return _refusal(name, wrong[0]) if wrong else None
    return None


def _refusal(name: str, item: ErrorDetails) -> str:
    """Return what is wrong with a setting and what would be right; the value is not quoted, as it may be a secret."""
    field = next(field for field in Settings.model_fields.values() if field.validation_alias == name)
    limits = {side: _limit(field, side) for side in ("ge", "gt", "le")}
    match item["type"]:
        case "value_error":
            what = item["msg"].removeprefix("Value error, ")
        case "literal_error":
            what = f"this has to be {joined(get_args(field.annotation)).replace(' and ', ' or ')}"
        case "bool_parsing" | "bool_type":
            what = "this has to be true or false"
        case _ if any(limit is not None for limit in limits.values()):
            kind = "whole number" if int in (field.annotation, *get_args(field.annotation)) else "number"
            bounds = [f"{BOUNDS[side]} {limit:,}" for side, limit in limits.items() if limit is not None]
            what = f"this has to be a {kind}, {joined(bounds)}"
        case _:
            what = f"this has to be {field.title}" if field.title else "this cannot be used"
    example = next(iter(field.examples or ()), None)
    return f"{name}: {what}." if example is None else f"{name}: {what}. For example: {name}={_written(example)}"


def _limit(field: FieldInfo, side: str) -> float | None:
    return next((getattr(each, side) for each in field.metadata if hasattr(each, side)), None)


def _written(value: object) -> str:
    """Return a value as it is written into `.env`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def slips_of_settings() -> list[Slip]:
    """Find the names in the environment and in `.env` that look like settings but are not."""
    from dotenv import dotenv_values

    known = {str(field.validation_alias) for field in Settings.model_fields.values()}
    written: Iterable[str] = ()
    with suppress(OSError, UnicodeDecodeError):  # which is told where the settings are read
        written = dotenv_values(".env")
    return slips([*os.environ, *written], known)
