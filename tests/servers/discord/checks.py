"""The limits of a message's parts: each refusal is the one that the platform gives."""

from __future__ import annotations

from collections.abc import Sequence

from tests.servers.discord.messages import COMPONENTS_V2, custom_ids_of
from tests.servers.discord.refusals import bad_length, empty_message, invalid_form, too_long
from tests.servers.discord.shape import Json

CONTENT = 2000
NONCE = 25
EMBEDS = 10
EMBED_TEXT = 6000
ROWS = 5
ROW = 5
ALL_COMPONENTS = 40
EMBED_PARTS = {"title": 256, "description": 4096}
ACTION_ROW, BUTTON, TEXT_DISPLAY, LABEL = 1, 2, 10, 18
LINK = 5
DISPLAYED = 4000


def check_message(body: Json, *, files: Sequence[str] = (), editing: bool = False) -> None:
    """Check the body of a message. Raises `Refusal`."""
    content = str(body.get("content") or "")
    components: list[Json] = body.get("components") or []
    embeds: list[Json] = body.get("embeds") or []
    if len(content) > CONTENT:
        raise too_long("content", CONTENT)
    if len(str(body.get("nonce") or "")) > NONCE:
        raise too_long("nonce", NONCE)
    _check_embeds(embeds)
    if int(body.get("flags") or 0) & COMPONENTS_V2:
        _check_second_version(content, embeds, components)
    else:
        _check_rows(components)
    if not editing and not (content.strip() or embeds or components or files):
        raise empty_message()


def _check_embeds(embeds: Sequence[Json]) -> None:
    if len(embeds) > EMBEDS:
        raise bad_length("embeds", 0, EMBEDS)
    for place, embed in enumerate(embeds):
        for part, most in EMBED_PARTS.items():
            if len(embed.get(part) or "") > most:
                raise too_long(f"embeds.{place}.{part}", most)
    if sum(map(_text_of, embeds)) > EMBED_TEXT:
        raise invalid_form("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {EMBED_TEXT}")


def _text_of(embed: Json) -> int:
    fields: list[Json] = embed.get("fields") or []
    footer: Json = embed.get("footer") or {}
    author: Json = embed.get("author") or {}
    texts: list[str | None] = [embed.get("title"), embed.get("description"), footer.get("text"), author.get("name")]
    texts += [one.get(part) for one in fields for part in ("name", "value")]
    return sum(len(text or "") for text in texts)


def _check_second_version(content: str, embeds: Sequence[Json], components: Sequence[Json]) -> None:
    if content or embeds:
        words = "The 'content' and 'embeds' fields cannot be used when using MessageFlags.IS_COMPONENTS_V2"
        raise invalid_form("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", words)
    parts = [part for component in components for part in _flat(component)]
    if len(parts) > ALL_COMPONENTS:
        raise invalid_form("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "Too many components")
    if sum(len(part.get("content", "")) for part in parts if part["type"] == TEXT_DISPLAY) > DISPLAYED:
        raise invalid_form("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", "Too much text")
    _check_ids(components)


def _flat(component: Json) -> list[Json]:
    inner: list[Json] = component.get("components") or []
    return [component, *(part for child in inner for part in _flat(child))]


def _check_rows(rows: Sequence[Json]) -> None:
    if len(rows) > ROWS:
        raise bad_length("components", 0, ROWS)
    for place, row in enumerate(rows):
        path = f"components.{place}"
        if row.get("type") != ACTION_ROW:
            raise invalid_form(f"{path}.type", "UNION_TYPE_CHOICES", "Value of field 'type' must be one of (1,).")
        inner: list[Json] = row.get("components") or []
        if not 1 <= len(inner) <= ROW:
            raise bad_length(f"{path}.components", 1, ROW)
        for child, component in enumerate(inner):
            _check_button(component, f"{path}.components.{child}")
    _check_ids(rows)


def _check_button(component: Json, path: str) -> None:
    if component.get("type") != BUTTON:
        return
    if len(component.get("label") or "") > 80:
        raise too_long(f"{path}.label", 80)
    if component.get("style") == LINK:
        if len(component.get("url") or "") > 512:
            raise too_long(f"{path}.url", 512)
    elif not 1 <= len(component.get("custom_id") or "") <= 100:
        raise bad_length(f"{path}.custom_id", 1, 100)


def _check_ids(components: Sequence[Json]) -> None:
    ids = [found for component in components for found in custom_ids_of(component)]
    if len(set(ids)) != len(ids):
        words = "Component custom id cannot be duplicated"
        raise invalid_form("components", "COMPONENT_CUSTOM_ID_DUPLICATED", words)


def check_modal(data: Json) -> None:
    """Check a form. Raises `Refusal`."""
    if not 1 <= len(data.get("title") or "") <= 45:
        raise bad_length("data.title", 1, 45)
    if not 1 <= len(data.get("custom_id") or "") <= 100:
        raise bad_length("data.custom_id", 1, 100)
    components: list[Json] = data.get("components") or []
    if not 1 <= len(components) <= ROWS:
        raise bad_length("data.components", 1, ROWS)
    _check_ids(components)


def check_thread_name(name: object) -> str:
    """Check the name of a thread. Raises `Refusal`."""
    text = str(name or "")
    if not 1 <= len(text) <= 100:
        raise bad_length("name", 1, 100)
    return text
