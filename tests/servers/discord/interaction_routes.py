"""Requests that answer interactions: the acknowledgement within three seconds, then edits and follow-ups by token."""

from __future__ import annotations

from tests.servers.discord import refusals
from tests.servers.discord.checks import check_message, check_modal
from tests.servers.discord.interactions import (
    MESSAGES,
    SECONDS_OF_TOKEN,
    SECONDS_TO_ACKNOWLEDGE,
    Acknowledgement,
    Answered,
    Asked,
    Interaction,
)
from tests.servers.discord.mentions import OF_WEBHOOKS
from tests.servers.discord.messages import EPHEMERAL, LOADING, Message
from tests.servers.discord.payloads import is_brought_along, message_payload
from tests.servers.discord.platform import Platform
from tests.servers.discord.posting import Marks, create, delete, edit
from tests.servers.discord.routes import Call, Route
from tests.servers.discord.shape import Json

LONGEST = 25  # choices
ALLOWED_IN_A_DEFERRAL = EPHEMERAL
MOST_FOLLOW_UPS = 5  # where the bot is not


def _acknowledge(platform: Platform, call: Call) -> Json | None:
    interaction = platform.interactions.get(call.id("interaction"))
    if interaction is None or interaction.token != call.path["token"]:
        raise refusals.unknown_interaction()
    if interaction.acknowledged is not None:
        raise refusals.already_acknowledged()
    if (platform.clock.now() - interaction.at).total_seconds() > SECONDS_TO_ACKNOWLEDGE:
        raise refusals.unknown_interaction()
    kind, data = _checked(interaction, call)
    interaction.acknowledged = Acknowledgement(kind, data, platform.clock.now())
    message = _shown(platform, interaction, kind, data, call.files)
    return _receipt(platform, interaction, message) if call.query.get("with_response") in ("1", "true") else None


def _checked(interaction: Interaction, call: Call) -> tuple[Answered, Json]:
    data: Json = call.json.get("data") or {}
    kind = call.json.get("type")
    if kind not in list(Answered):
        raise refusals.invalid_form("type", "BASE_TYPE_CHOICES", "Value must be one of (4, 5, 6, 7, 8, 9).")
    kind = Answered(kind)
    fits = {
        Answered.DEFERRED_UPDATE: interaction.message_id is not None,
        Answered.UPDATE: interaction.message_id is not None,
        Answered.MODAL: interaction.kind is not Asked.MODAL,
        Answered.CHOICES: interaction.kind is Asked.AUTOCOMPLETE,
    }
    if not fits.get(kind, interaction.kind is not Asked.AUTOCOMPLETE):
        raise refusals.invalid_form("type", "INTERACTION_APPLICATION_COMMAND_CALLBACK_TYPE", "Not for this interaction")
    match kind:
        case Answered.MESSAGE | Answered.UPDATE:
            check_message(data, files=call.files, editing=kind is Answered.UPDATE)
        case Answered.MODAL:
            check_modal(data)
        case Answered.CHOICES if len(data.get("choices", ())) > LONGEST:
            raise refusals.bad_length("data.choices", 0, LONGEST)
        case _:
            pass
    return kind, data


def _shown(
    platform: Platform, interaction: Interaction, kind: Answered, data: Json, files: tuple[str, ...]
) -> Message | None:
    """Let the acknowledgement have its effect, and give the message that is now the original one."""
    if kind in MESSAGES:
        flags = int(data.get("flags") or 0)
        if kind is Answered.DEFERRED_MESSAGE:
            data = {"flags": flags & ALLOWED_IN_A_DEFERRAL | LOADING}
        message = _post(platform, interaction, data, files)
        interaction.original_id = message.id
        return message
    if interaction.message_id is None or kind not in (Answered.UPDATE, Answered.DEFERRED_UPDATE):
        return None
    interaction.original_id = interaction.message_id
    message = platform.messages[interaction.message_id]
    if kind is Answered.UPDATE:
        edit(platform, message, data, OF_WEBHOOKS)
    return message


def _post(platform: Platform, interaction: Interaction, data: Json, files: tuple[str, ...] = ()) -> Message:
    secret = bool(int(data.get("flags") or 0) & EPHEMERAL)
    marks = Marks(
        platform.bot.id,
        interaction_id=interaction.id,
        webhook_id=platform.bot.id,
        seen_by=interaction.user_id if secret else None,
        files=files,
        default=OF_WEBHOOKS,
    )
    return create(platform, platform.channels[interaction.channel_id], data, marks)


def _receipt(platform: Platform, interaction: Interaction, message: Message | None) -> Json:
    about: Json = {"id": str(interaction.id), "type": int(interaction.kind)}
    kind = interaction.acknowledged.kind if interaction.acknowledged else Answered.MESSAGE
    if message is None:
        return {"interaction": about}
    about |= {
        "response_message_id": str(message.id),
        "response_message_loading": message.thinking,
        "response_message_ephemeral": message.ephemeral,
    }
    if kind not in (Answered.MESSAGE, Answered.UPDATE, Answered.DEFERRED_MESSAGE):
        return {"interaction": about}
    return {"interaction": about, "resource": {"type": int(kind), "message": message_payload(platform, message)}}


def _of_token(platform: Platform, call: Call) -> Interaction:
    """Find the interaction that a token belongs to. Raises `Refusal` before it is acknowledged and when it is over."""
    for interaction in platform.interactions.values():
        if interaction.token == call.path["token"]:
            if (platform.clock.now() - interaction.at).total_seconds() > SECONDS_OF_TOKEN:
                raise refusals.dead_token()
            if interaction.acknowledged is not None and call.id("application") == platform.bot.id:
                return interaction
    raise refusals.unknown_webhook()


def _message(platform: Platform, call: Call) -> tuple[Interaction, Message]:
    interaction = _of_token(platform, call)
    name = call.path.get("message")
    own = (interaction.original_id, *interaction.follow_ups)
    message_id = interaction.original_id if name is None else int(name)
    message = platform.messages.get(message_id or 0)
    if message is None or message.deleted or message_id not in own:
        raise refusals.unknown_message()
    return interaction, message


def _follow_up(platform: Platform, call: Call) -> Json:
    interaction = _of_token(platform, call)
    check_message(call.json, files=call.files)
    original = platform.messages.get(interaction.original_id or 0)
    if original is not None and original.thinking and not original.deleted:
        _fill(platform, original, call.json)  # what follows a deferral first takes its place
        return message_payload(platform, original)
    if is_brought_along(platform, interaction) and len(interaction.follow_ups) >= MOST_FOLLOW_UPS:
        raise refusals.too_many_follow_ups()
    message = _post(platform, interaction, call.json, call.files)
    interaction.follow_ups.append(message.id)
    return message_payload(platform, message)


def _edit(platform: Platform, call: Call) -> Json:
    _, message = _message(platform, call)
    check_message(call.json, editing=True)
    _fill(platform, message, call.json)
    return message_payload(platform, message)


def _fill(platform: Platform, message: Message, body: Json) -> None:
    message.flags &= ~LOADING
    edit(platform, message, body, OF_WEBHOOKS)


def _get(platform: Platform, call: Call) -> Json:
    return message_payload(platform, _message(platform, call)[1])


def _delete(platform: Platform, call: Call) -> None:
    delete(platform, _message(platform, call)[1])


WEBHOOK = "/webhooks/{application}/{token}"
OWN = f"{WEBHOOK}/messages/@original"
OTHER = f"{WEBHOOK}/messages/{{message}}"
ROUTES = (
    Route("POST /interactions/{interaction}/{token}/callback", _acknowledge, needs_token=False),
    Route(f"POST {WEBHOOK}", _follow_up, needs_token=False),
    *(Route(f"GET {path}", _get, needs_token=False) for path in (OWN, OTHER)),
    *(Route(f"PATCH {path}", _edit, needs_token=False) for path in (OWN, OTHER)),
    *(Route(f"DELETE {path}", _delete, needs_token=False) for path in (OWN, OTHER)),
)
