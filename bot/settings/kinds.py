"""What the value of a setting may be."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Annotated, Any, TypeAlias
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, SecretStr


def _checked_address(value: str) -> str:
    """Refuse what is not at a web address, and one with a secret in it, since addresses are shown."""
    return _checked_url(
        value, {"http", "https"}, "this is not a web address. One looks like https://api.example.com/v1"
    )


def _checked_gateway(value: str) -> str:
    """Refuse what is not a address of a web socket, and one with a secret in it."""
    return _checked_url(
        value, {"ws", "wss"}, "this is not the address of a gateway. One looks like wss://gateway.example.com"
    )


def _checked_url(value: str, schemes: Collection[str], refusal: str) -> str:
    parts = urlsplit("")
    with suppress(ValueError):  # its words quote the address
        parts = _split(value)
    if parts.scheme not in schemes or not parts.hostname:
        raise ValueError(refusal)
    if parts.username or parts.password:
        raise ValueError("leave the key out of the address, since addresses are shown; it has a setting of its own")
    return value.rstrip("/")


def _split(value: str) -> SplitResult:
    """Take an address apart, with its port, which is looked at only when it is asked for."""
    parts = urlsplit(value)
    return parts if parts.port != 0 else urlsplit("")


def _checked_key(value: SecretStr) -> SecretStr:
    """Take white space from the ends of a key that was pasted, and refuse what no request could carry."""
    key = value.get_secret_value().strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ValueError("it holds a character that no key has. Copy it again")
    return SecretStr(key)


def _checked_bot_token(value: SecretStr) -> SecretStr:
    """Refuse what is not a token of a bot on Slack; one that is renewed has something in front."""
    return _beginning(value, ("xoxb-", "xoxe.xoxb-"), "this is not a bot token. One begins with xoxb-")


def _checked_app_token(value: SecretStr) -> SecretStr:
    """Refuse what is not a token for connecting to Slack."""
    return _beginning(value, ("xapp-",), "this is not an app-level token. One begins with xapp-")


def _beginning(value: SecretStr, prefixes: tuple[str, ...], refusal: str) -> SecretStr:
    if not value.get_secret_value().startswith(prefixes):
        raise ValueError(f"{refusal}; SLACK_BOT_TOKEN and SLACK_APP_TOKEN are easily mixed up")
    return value


Address: TypeAlias = Annotated[str, AfterValidator(_checked_address)]
Gateway: TypeAlias = Annotated[str, AfterValidator(_checked_gateway)]
Key: TypeAlias = Annotated[SecretStr, AfterValidator(_checked_key)]
BotToken: TypeAlias = Annotated[Key, AfterValidator(_checked_bot_token)]
AppToken: TypeAlias = Annotated[Key, AfterValidator(_checked_app_token)]


def setting(name: str, default: object, description: str, **limits: Any) -> Any:
    """Return a field that the environment variable *name* fills; the *limits* are those of pydantic's `Field`."""
    return Field(default, validation_alias=name, description=description, **limits)


def revealed(value: SecretStr | None) -> str | None:
    """Return a secret as text, for the client that needs it."""
    return None if value is None else value.get_secret_value()
