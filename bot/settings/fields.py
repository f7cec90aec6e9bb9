"""What can be set: the services that the bot uses, the platforms that people ask on, and what a value may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings

from core.errors import InvalidInput, Misconfigured
from core.model import Budget, Holder, Period, Prices, WorkspaceRef


def _checked_url(value: str, *, schemes: Collection[str], refusal: str) -> str:
    """Refuse what is at no address of these kinds, and one with a secret in it, since addresses are shown."""
    parts = urlsplit("")
    with suppress(ValueError):  # its words quote the address; its port is looked at only when it is asked for
        parts = urlsplit(value) if urlsplit(value).port != 0 else parts
    if parts.scheme not in schemes or not parts.hostname:
        raise ValueError(refusal)
    if parts.username or parts.password:
        raise ValueError("leave the key out of the address, since addresses are shown; it has a setting of its own")
    return value.strip().rstrip("/")


def _checked_key(value: SecretStr) -> SecretStr:
    """Take white space from the ends of a key that was pasted, and refuse what no request could carry."""
    key = value.get_secret_value().strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ValueError("it contains a character that cannot be in a key. Copy it again")
    return SecretStr(key)


def _beginning(value: SecretStr, *, prefixes: tuple[str, ...], refusal: str) -> SecretStr:
    if not value.get_secret_value().startswith(prefixes):
        raise ValueError(f"{refusal}; SLACK_BOT_TOKEN and SLACK_APP_TOKEN are easily mixed up")
    return value


OFF = "off"
WEB = "this is not a web address, which begins with http:// or https://"
SOCKET = "this is not the address of a gateway, which begins with ws:// or wss://"
BOT = "this is not a bot token, which begins with xoxb-"  # one that is renewed has something in front
APP = "this is not an app-level token, which begins with xapp-"
Address: TypeAlias = Annotated[str, AfterValidator(partial(_checked_url, schemes={"http", "https"}, refusal=WEB))]
Gateway: TypeAlias = Annotated[str, AfterValidator(partial(_checked_url, schemes={"ws", "wss"}, refusal=SOCKET))]
Key: TypeAlias = Annotated[SecretStr, AfterValidator(_checked_key)]
BotToken: TypeAlias = Annotated[Key, AfterValidator(partial(_beginning, prefixes=("xoxb-", "xoxe.xoxb-"), refusal=BOT))]
AppToken: TypeAlias = Annotated[Key, AfterValidator(partial(_beginning, prefixes=("xapp-",), refusal=APP))]


def budgets_in(text: str) -> tuple[Budget, ...]:
    """Read budgets that are separated by commas; `off` is none. Raises `ValueError`."""
    if text.strip().lower() == OFF:
        return ()
    try:
        found = [Budget.parse(each) for each in text.split(",") if each.strip()]
    except InvalidInput as error:
        raise ValueError(str(error).rstrip(".")) from error
    if any(each.period is Period.MINUTE or each.holder is Holder.THREAD for each in found):
        raise ValueError("a budget is for a person, channel or community, and for a day or month")
    if len({each.name for each in found}) < len(found):
        raise ValueError("it has two limits of one kind")
    return tuple(found)


Network: TypeAlias = IPv4Network | IPv6Network
LIKE = "One looks like discord:81384788765712384 or slack:T012AB3CD"
COMMUNITY = re.compile(r"discord:\d{1,20}|slack:[ET][A-Z0-9]+")


def community_named(text: str) -> WorkspaceRef:
    """Read the name of a server, a workspace or an organization. Raises `InvalidInput`."""
    platform, _, name = (part.strip() for part in text.partition(":"))
    written = f"{platform.lower()}:{name.upper()}"
    if not COMMUNITY.fullmatch(written):
        raise InvalidInput(f"{text!r} is not a server or workspace. {LIKE}.", field="community")
    return WorkspaceRef.parse(written)


def communities_in(text: str) -> tuple[WorkspaceRef, ...]:
    """Read those that are separated by commas, each once. Raises `InvalidInput`."""
    return tuple(dict.fromkeys(community_named(each.strip()) for each in text.split(",") if each.strip()))


def networks_in(text: str) -> tuple[Network, ...]:
    """Read networks, or single addresses, that are separated by commas. Raises `ValueError`."""
    return tuple(ip_network(each.strip()) for each in text.split(",") if each.strip())


def hosts_in(text: str) -> frozenset[str]:
    """Read names of hosts that are separated by commas."""
    return frozenset(each.strip().lower() for each in text.split(",") if each.strip())


def _readable(value: str, *, read: Callable[[str], object], refusal: str) -> str:
    try:
        read(value)
    except (InvalidInput, ValueError, LookupError, OSError) as error:
        raise ValueError(refusal.format(error)) from error
    return value


COMMUNITIES = "this is not a list of servers and workspaces, separated by commas"
NETWORKS = "this is not a list of networks, separated by commas"
ZONE = "this is not a time zone that this machine knows"
CommunityList: TypeAlias = Annotated[str, AfterValidator(partial(_readable, read=communities_in, refusal=COMMUNITIES))]
BudgetList: TypeAlias = Annotated[str, AfterValidator(partial(_readable, read=budgets_in, refusal="{}"))]
NetworkList: TypeAlias = Annotated[str, AfterValidator(partial(_readable, read=networks_in, refusal=NETWORKS))]
ZoneName: TypeAlias = Annotated[str, AfterValidator(partial(_readable, read=ZoneInfo, refusal=ZONE))]


def setting(name: str, default: object, *, like: str | None = None, must: str | None = None, **limits: Any) -> Any:
    """Return a field that the environment variable *name* fills; the *limits* are those of pydantic's `Field`.

    The text below a field is what people read about it in the README and in `.env.example`. A value that cannot be
    used is answered with one that can, which is *like* this or the default, and by what it *must* be, where the limits
    do not tell.
    """
    return Field(default, validation_alias=name, examples=[default if like is None else like], title=must, **limits)


def price(name: str, *, like: str) -> Any:
    """Return a field for what something costs, in any currency."""
    return setting(name, None, ge=0, allow_inf_nan=False, like=like)


def revealed(value: SecretStr | None) -> str | None:
    """Return a secret as text, for the client that needs it."""
    return None if value is None else value.get_secret_value()


NO_FALLBACK = (
    "The chat model that takes over has no name. Set OPENAI_FALLBACK_MODEL too.",
    "OPENAI_FALLBACK_MODEL takes over from a first chat model. Set OPENAI_API_KEY or OPENAI_BASE_URL too.",
)
NO_REVIEW = (
    "The chat model that reviews answers has no name. Set OPENAI_REVIEW_MODEL too.",
    "OPENAI_REVIEW_MODEL reviews what another chat model writes. Set OPENAI_API_KEY or OPENAI_BASE_URL too.",
)


class ServiceSettings(BaseSettings):
    """A chat model, Cohere, a Qdrant server and a Redis server."""

    openai_key: Key | None = setting("OPENAI_API_KEY", None)
    """The key for the chat model's service. Without it and without an address, answers are quotes."""
    openai_url: Address | None = setting("OPENAI_BASE_URL", None, like="http://localhost:11434/v1")
    """The address of any service that is compatible with OpenAI's chat completions, such as
    http://localhost:11434/v1. Without it, OpenAI's own."""
    openai_model: str = setting("OPENAI_MODEL", "gpt-4o-mini")
    """The chat model, by the name that its service gives it."""
    openai_max_tokens: int = setting("OPENAI_MAX_TOKENS", 8_192, ge=1)
    """The most tokens that the chat model may write at once, including its reasoning. An answer that is cut off says
    so."""
    openai_context_tokens: int | None = setting("OPENAI_CONTEXT_TOKENS", None, ge=1_024, like="32768")
    """The most tokens that the chat model can read and write together. Without it, the limit that its service
    reports."""
    openai_first_seconds: float = setting("OPENAI_FIRST_SECONDS", 300, ge=1, le=86_400)
    """How long the chat model may take to begin to answer. One that has to be loaded first may need minutes."""
    openai_seconds: float = setting("OPENAI_SECONDS", 120, ge=1, le=86_400)
    """How long the chat model may be silent once it has begun."""
    openai_fallback_model: str | None = setting("OPENAI_FALLBACK_MODEL", None)
    """A second chat model, which answers while the first one is unreachable, overloaded or gone. Without it, none
    does."""
    openai_fallback_url: Address | None = setting("OPENAI_FALLBACK_BASE_URL", None, like="http://localhost:11434/v1")
    """The service of the second chat model. Without it, that of the first one."""
    openai_fallback_key: Key | None = setting("OPENAI_FALLBACK_API_KEY", None)
    """The key for the second chat model. Without it, that of the first one if both use the same service."""
    openai_fallback_context: int | None = setting("OPENAI_FALLBACK_CONTEXT_TOKENS", None, ge=1_024, like="32768")
    """The most tokens that the second chat model can read and write together. Without it, what its service reports."""
    openai_review_model: str | None = setting("OPENAI_REVIEW_MODEL", None)
    """A chat model that reviews each answer before its warnings are shown, and notices negations and paraphrases.
    Without it, words and numbers decide."""
    openai_review_url: Address | None = setting("OPENAI_REVIEW_BASE_URL", None, like="http://localhost:11434/v1")
    """The service of the chat model that reviews. Without it, that of the first one."""
    openai_review_key: Key | None = setting("OPENAI_REVIEW_API_KEY", None)
    """The key for the chat model that reviews. Without it, that of the first one if both use the same service."""
    price_prompt: float | None = price("OPENAI_PRICE_PROMPT", like="0.15")
    """What a million prompt tokens cost, in your currency. With both prices, JSON and the log say what an answer
    cost."""
    price_cached: float | None = price("OPENAI_PRICE_CACHED", like="0.075")
    """What a million prompt tokens from the service's cache cost. Without it, they cost as much as others."""
    price_completion: float | None = price("OPENAI_PRICE_COMPLETION", like="0.6")
    """What a million tokens of answers cost, in your currency."""
    fallback_price_prompt: float | None = price("OPENAI_FALLBACK_PRICE_PROMPT", like="0.15")
    """What a million prompt tokens of the second chat model cost. Without both its prices, as much as those of the
    first one."""
    fallback_price_cached: float | None = price("OPENAI_FALLBACK_PRICE_CACHED", like="0.075")
    """What a million prompt tokens from the cache of that model's service cost. Without it, as much as its others."""
    fallback_price_completion: float | None = price("OPENAI_FALLBACK_PRICE_COMPLETION", like="0.6")
    """What a million tokens of answers by the second chat model cost."""
    review_price_prompt: float | None = price("OPENAI_REVIEW_PRICE_PROMPT", like="0.15")
    """What a million prompt tokens of the chat model that reviews cost. Without both its prices, as much as those of
    the first one."""
    review_price_completion: float | None = price("OPENAI_REVIEW_PRICE_COMPLETION", like="0.6")
    """What a million tokens that it writes cost."""
    embedder: Literal["english", "multilingual"] = setting("FOOTNOTE_EMBEDDER", "english")
    """The model in this process that embeds: a small one for English, or, from an optional package and at twice the
    processor time, one for a hundred languages. If you change it, ingest all documents again."""
    cohere_key: Key | None = setting("COHERE_API_KEY", None)
    """The key for embeddings and reranking by Cohere. Without it, the model in this process embeds, and nothing is
    reranked."""
    cohere_url: Address | None = setting("COHERE_BASE_URL", None, like="https://cohere.example.com")
    """Another address of Cohere's API, such as a private deployment."""
    cohere_embed_model: str = setting("COHERE_EMBED_MODEL", "embed-v4.0")
    """Cohere's model for embeddings. If you change it, ingest all documents again."""
    cohere_dimension: int = setting("COHERE_DIMENSION", 1536, ge=64, le=4096)
    """The dimensions of that model's vectors. If you change the number, ingest all documents again."""
    cohere_rerank_model: str = setting("COHERE_RERANK_MODEL", "rerank-v3.5")
    """Cohere's model for reranking; `off` skips reranking."""
    price_searches: float | None = price("COHERE_PRICE_SEARCHES", like="2")
    """What a thousand searches cost at Cohere, with the embedding of a question and one reranking each. It is counted
    if the first chat model has prices too."""
    qdrant_url: Address | None = setting("QDRANT_URL", None, like="http://localhost:6333")
    """A Qdrant server for the passages, such as http://localhost:6333. Without it, the same engine runs in this
    process."""
    qdrant_key: Key | None = setting("QDRANT_API_KEY", None)
    """The key for the Qdrant server, if it needs one."""
    qdrant_collection: str = setting(
        "QDRANT_COLLECTION",
        "documents",
        pattern=r"^[A-Za-z0-9_-]{1,200}$",
        like="documents",
        must="a name of at most 200 letters, digits, hyphens and underscores",
    )
    """The name of the passages' collection on the Qdrant server."""
    redis_url: SecretStr | None = setting("REDIS_URL", None)
    """A Redis or Valkey server for conversations, such as redis://localhost:6379/0. Without it, a private one runs in
    the data folder."""
    redis_allow_loss: bool = setting("REDIS_ALLOW_LOSS", False)
    """Accept a server that may lose questions: one that evicts them, or keeps nothing on disk."""

    @property
    def prices(self) -> Prices | None:
        """What the first chat model's tokens and searches cost, if both prices of the model are set."""
        return self._priced(self.price_prompt, self.price_cached, self.price_completion)

    @property
    def fallback_prices(self) -> Prices | None:
        """The same with the second chat model's tokens, if there are prices of the first at all."""
        theirs = self._priced(self.fallback_price_prompt, self.fallback_price_cached, self.fallback_price_completion)
        return self.prices and (theirs or self.prices)

    @property
    def review_prices(self) -> Prices | None:
        """The same with those of the chat model that reviews."""
        theirs = self._priced(self.review_price_prompt, None, self.review_price_completion)
        return self.prices and (theirs or self.prices)

    @property
    def dearest_prices(self) -> Prices | None:
        """What tokens and searches cost at most, whichever of the chat models writes."""
        if self.openai_fallback_model is None or self.fallback_prices is None or self.prices is None:
            return self.prices
        return self.prices.dearest(self.fallback_prices)

    def _priced(self, prompt: float | None, cached: float | None, completion: float | None) -> Prices | None:
        if prompt is None or completion is None:
            return None
        searches = (self.price_searches or 0.0) if self.cohere_key else 0.0
        cached = prompt if cached is None else cached
        return Prices(prompt=prompt, cached=cached, completion=completion, searches=searches)

    @property
    def has_chat_model(self) -> bool:
        """Whether a service writes the answers; local ones need an address and no key."""
        return self.openai_key is not None or self.openai_url is not None

    def check_chat_models(self) -> None:
        """Raise `Misconfigured` with one sentence if the settings of the chat models do not go together."""
        for name, more, no_name, no_first in (
            (self.openai_fallback_model, (self.openai_fallback_key, self.openai_fallback_url), *NO_FALLBACK),
            (self.openai_review_model, (self.openai_review_key, self.openai_review_url), *NO_REVIEW),
        ):
            if name is None and any(more):
                raise Misconfigured(no_name)
            if name is not None and not self.has_chat_model:
                raise Misconfigured(no_first)

    @property
    def is_shared(self) -> bool:
        """Whether index and store are servers, so that several processes may use the data folder."""
        return self.qdrant_url is not None and self.redis_url is not None


class DiscordSettings(BaseSettings):
    """Discord."""

    discord_token: Key | None = setting("DISCORD_TOKEN", None)
    """The token of the bot on Discord, from the Bot page of the application. Without it, the bot is not on Discord."""
    discord_message_content: bool = setting("DISCORD_MESSAGE_CONTENT", False)
    """Whether the bot may read messages that do not mention it, such as follow-ups in its threads. Needs the Message
    Content Intent, on the Bot page of the application."""
    discord_api_url: Address | None = setting("DISCORD_API_URL", None, like="https://discord.example.com/api")
    """Another address of Discord's API, such as a proxy of your network."""
    discord_gateway_url: Gateway | None = setting("DISCORD_GATEWAY_URL", None, like="wss://gateway.example.com")
    """The address of Discord's gateway that goes with it."""


UNHEARD = (
    "With SLACK_BOT_TOKEN alone, the bot receives no messages. Set SLACK_APP_TOKEN too, for Socket Mode, "
    "or SLACK_SIGNING_SECRET, for HTTP."
)
MUTE = (
    "The settings of Slack name no workspace to answer in. Set SLACK_BOT_TOKEN for one workspace, "
    "or SLACK_CLIENT_ID and SLACK_CLIENT_SECRET for several."
)
HALF = "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET belong together. Set both or none of them."
ONE_OR_MANY = (
    "SLACK_BOT_TOKEN is for one workspace, and SLACK_CLIENT_ID with SLACK_CLIENT_SECRET for several. Leave one out."
)
UNSIGNED = "Installing in several workspaces works over HTTP. Set SLACK_SIGNING_SECRET too."
NO_SOCKETS = "Installing in several workspaces works over HTTP. Leave SLACK_APP_TOKEN out."


class SlackSettings(BaseSettings):
    """Slack, in Socket Mode or over HTTP."""

    slack_bot_token: BotToken | None = setting("SLACK_BOT_TOKEN", None, like="xoxb-...")
    """The token of the bot in one Slack workspace, which begins with xoxb-. Without it and without a client id, the bot
    is not on Slack."""
    slack_app_token: AppToken | None = setting("SLACK_APP_TOKEN", None, like="xapp-...")
    """The app-level token for Socket Mode, which begins with xapp-. With it, the bot opens the connections to Slack
    itself."""
    slack_signing_secret: Key | None = setting("SLACK_SIGNING_SECRET", None)
    """The secret with which Slack signs its requests. Needed if Slack calls the bot over HTTP."""
    slack_client_id: Key | None = setting("SLACK_CLIENT_ID", None)
    """The id of the app, for installing it in several workspaces instead of one."""
    slack_client_secret: Key | None = setting("SLACK_CLIENT_SECRET", None)
    """The secret that goes with the id of the app."""
    slack_guests: bool = setting("SLACK_GUESTS", False)
    """Whether guests of a workspace, and people of other companies in its channels, are answered."""
    slack_moderators: str | None = setting(
        "SLACK_MODERATORS",
        None,
        pattern=r"^S[A-Z0-9]+$",
        like="S0123456789",
        must="the id of a user group, which begins with S",
    )
    """The id of a user group, such as S0123456789, whose members moderate the bot besides admins."""
    slack_api_url: Address | None = setting("SLACK_API_URL", None, like="https://slack.example.com/api/")
    """Another address of Slack's API, such as a proxy of your network."""
    host: str = setting("HOST", "0.0.0.0", min_length=1)  # noqa: S104 - a host has its own doors, and requests are verified
    """The address of this machine at which Slack's requests arrive over HTTP."""
    port: int = setting("PORT", 3000, ge=0, le=65_535)
    """The port at which Slack's requests arrive over HTTP."""

    @property
    def has_slack(self) -> bool:
        """Whether anything was set that only Slack needs."""
        is_many = self.slack_client_id is not None or self.slack_client_secret is not None
        return any((self.slack_bot_token, self.slack_app_token, self.slack_signing_secret, is_many))

    @property
    def has_installations(self) -> bool:
        """Whether the bot can be installed in several workspaces."""
        return self.slack_client_id is not None

    def check_slack(self) -> None:
        """Raise `Misconfigured` with one sentence if the settings of Slack do not go together."""
        is_many = self.slack_client_id is not None or self.slack_client_secret is not None
        speaks, hears = self.slack_bot_token is not None, self.slack_app_token is not None
        is_signed = self.slack_signing_secret is not None
        wrong = {
            HALF: (self.slack_client_id is None) != (self.slack_client_secret is None),
            ONE_OR_MANY: is_many and speaks,
            NO_SOCKETS: is_many and hears,
            UNSIGNED: is_many and not is_signed,
            MUTE: not is_many and not speaks,
            UNHEARD: not is_many and not hears and not is_signed,
        }
        if sentence := next((sentence for sentence, is_so in wrong.items() if is_so), None):
            raise Misconfigured(sentence)
