"""What people can do on Discord besides writing: commands, buttons and forms.

All that a press or a form needs to be read is in its id, so that what was shown before a restart works after it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from discord import AutoShardedClient, InteractionType, Permissions

from adapters.chat.background import NO_STORE, BackgroundTasks, accepted, drop, settle
from adapters.chat.commands import (
    COMMANDS,
    Command,
    Kind,
    Option,
    Values,
    carried_out,
    command_named,
    retry,
    stop,
    vote,
)
from adapters.discord.dialect import MARK, PATTERN
from adapters.discord.events import words
from adapters.discord.interactions import (
    ADMIN,
    DiscordInteraction,
    address_of,
    awaited,
    context_of,
    deferred,
    is_taken,
    message_of,
    person_of,
    privately,
    tell,
)
from adapters.discord.poster import translated
from adapters.retry import PATIENT
from core import messages
from core.errors import InvalidInput, PostingFailed, StoreUnavailable
from core.events import CommandsFailed, CommandsRegistered
from core.model import QUESTION_LIMIT, Asked, MessageRef, Question

if TYPE_CHECKING:
    from discord.ui import Item, Modal

    from adapters.chat.services import ChatServices

Json: TypeAlias = dict[str, Any]

SLASH, MESSAGE_MENU = 1, 3  # types of commands
SUBCOMMAND = 1  # the type of an option that is a command of a group
GUILD, DIRECT = 0, 1  # contexts in which a command can be used
FORUMS = (15, 16)  # types of channels: forums, and those for media
CHANNELS = (0, 5, 2, 13, *FORUMS)  # text, announcements, voice and stages
TYPES = {
    Kind.TEXT: 3,
    Kind.CHOICE: 3,
    Kind.NUMBER: 4,
    Kind.FLAG: 5,
    Kind.PERSON: 6,
    Kind.CHANNEL: 7,
    Kind.FORUM: 7,
}
MENU_NAME = "Answer from this message"
SELECTION_FORM = f"{MARK}:selection"
REASONS_FORM = rf"{MARK}:why:(?P<answer>[0-9a-f]{{1,64}})"
LONGEST_FIELD = 4_000  # characters
LOOKED_EVERY = 3_600.0  # seconds between two looks whether Discord still has the commands


def install(
    client: AutoShardedClient, services: ChatServices, commands: BackgroundTasks, background: BackgroundTasks
) -> None:
    """Do all that people use among the *commands*, and have them registered in the *background* for a client.

    It has to have logged in.
    """

    async def carry_out(interaction: DiscordInteraction) -> None:
        data = cast("Json", interaction.data or {})
        match interaction.type:
            case InteractionType.application_command if data.get("type") == MESSAGE_MENU:
                raw: Json = data["resolved"]["messages"][str(data["target_id"])]
                if text := words(raw):  # the previews and pictures of a message are none of its words
                    await is_taken(interaction.response.send_modal(_selection_form(text)))
                else:
                    await tell(interaction, messages.NO_TEXT)
            case InteractionType.application_command:
                await _use(services, interaction, data)
            case InteractionType.component:
                await _press(services, interaction, data)
            case InteractionType.modal_submit:
                await _take_form(services, interaction, data)
            case _:
                pass

    async def on_interaction(interaction: DiscordInteraction) -> None:
        commands.begin(partial(carry_out, interaction))

    client.event(on_interaction)
    background.begin(partial(_keep_registered, client, services))


async def _keep_registered(client: AutoShardedClient, services: ChatServices) -> None:
    """Register the commands where Discord does not have them as they are, and look again at times.

    If that fails, those of before still work, and so does all else.
    """
    kept: object = None
    has_failed = False
    while True:
        try:
            known = await PATIENT.call(partial(_registered, client))
            if known != kept and not is_current(known):
                writing = partial(client.http.bulk_upsert_global_commands, client.application_id or 0, list(_payload()))
                kept = await PATIENT.call(lambda writing=writing: translated(writing()))
        except Exception as error:  # noqa: BLE001 - whatever Discord answers, people are
            reason, has_failed = str(error) if isinstance(error, PostingFailed) else type(error).__name__, True
            services.observer(CommandsFailed(services.name, reason))
        else:
            if has_failed:
                services.observer(CommandsRegistered(services.name))
            has_failed = False
        await services.sleep(LOOKED_EVERY)


async def differences(client: AutoShardedClient) -> str:
    """Return which commands Discord does not have as they are; empty if it has all. Raises `PostingFailed`."""
    found, wanted = _named(await client.http.get_global_commands(client.application_id or 0)), _wanted()
    differ = {
        "missing": wanted.keys() - found.keys(),
        "different": {name for name in wanted.keys() & found.keys() if not _says(found[name], wanted[name])},
        "unknown": found.keys() - wanted.keys(),
    }
    if not found:
        return "Discord has none of the commands."
    said = "; ".join(f"{what}: {', '.join(sorted(names))}" for what, names in differ.items() if names)
    return said and f"Discord has other commands, {said}."


async def _registered(client: AutoShardedClient) -> object:
    """Return the commands that Discord has, in whatever shape that is. Raises `PostingFailed`."""
    return await translated(client.http.get_global_commands(client.application_id or 0))


def is_current(known: object) -> bool:
    """Return whether Discord has the commands as they are; it leaves out what is usual, and adds what we do not say."""
    found, wanted = _named(known), _wanted()
    return found.keys() == wanted.keys() and _says(found, wanted)


def _named(known: object) -> Json:
    """Return the commands that Discord has by their names; none of what is no list."""
    listed = cast("list[object]", known) if isinstance(known, list) else []
    return {str(cast("Json", each).get("name")): each for each in listed if isinstance(each, dict)}


def _wanted() -> Json:
    return {str(each["name"]): each for each in _payload()}


def _says(found: object, wanted: object) -> bool:
    if isinstance(found, dict) and isinstance(wanted, dict):
        has = cast("Json", found)
        return all(_says(has.get(name), value) for name, value in cast("Json", wanted).items())
    if isinstance(found, list) and isinstance(wanted, list):
        given, ours = cast("list[object]", found), cast("list[object]", wanted)
        if any(isinstance(each, int) for each in ours):  # in any order
            return set(given) == set(ours)
        return len(given) == len(ours) and all(map(_says, given, ours))
    return found == wanted or not (found or wanted)


def _payload() -> Iterator[Json]:
    """Yield all commands as Discord takes them; those of moderators are a group, which settings can give to others."""
    everywhere = {"contexts": [GUILD, DIRECT], "integration_types": [0]}
    orders: list[Json] = []
    for each in COMMANDS:
        options = [_option(option) for option in each.options]
        command: Json = {"name": each.name, "description": each.description, "options": options}
        if each.for_moderators:
            orders.append({**command, "type": SUBCOMMAND})
        else:
            yield {**command, "type": SLASH, **everywhere}
    yield {
        "name": ADMIN,
        "type": SLASH,
        "description": "How the bot works in this server.",
        "options": orders,
        "contexts": [GUILD],
        "integration_types": [0],
        "default_member_permissions": str(Permissions(manage_guild=True).value),
    }
    yield {"name": MENU_NAME, "type": MESSAGE_MENU, **everywhere}


def _option(option: Option) -> Json:
    more: Mapping[Kind, Json] = {
        Kind.TEXT: {"min_length": 1, "max_length": option.most},
        Kind.NUMBER: {"min_value": 1, "max_value": option.most},
        Kind.CHOICE: {"choices": [{"name": word, "value": word} for word in option.choices.values()]},
        Kind.CHANNEL: {"channel_types": list(CHANNELS)},
        Kind.FORUM: {"channel_types": list(FORUMS)},
    }
    return {
        "type": TYPES[option.kind],
        "name": option.name,
        "description": option.description,
        "required": option.is_required,
        **more.get(option.kind, {}),
    }


async def _use(services: ChatServices, interaction: DiscordInteraction, data: Json) -> None:
    """Do what a command says; one that Discord still shows as it was before gets a sentence."""
    chosen: list[Json] = data.get("options") or []
    in_group = data.get("name") == ADMIN and len(chosen) == 1
    named: Json = chosen[0] if in_group else data
    command = command_named(str(named.get("name")), for_moderators=in_group)
    values = _values(command, named.get("options") or []) if command else None
    if command is None or values is None:
        await tell(interaction, messages.OUTDATED)
    elif command.act is None:
        await _ask(services, interaction, values["question"], private=values.get("private", False))
    else:
        await privately(interaction, partial(command.act, context_of(services, interaction), values))


def _values(command: Command, chosen: Sequence[Json]) -> Values | None:
    """Return what was chosen; None where that does not fit the command as it is now."""
    given = {str(each.get("name")): each.get("value") for each in chosen}
    options = {option.name: option for option in command.options}
    values: dict[str, Any] = {}
    for name, value in given.items():
        option = options.get(name)
        words = {word: each for each, word in option.choices.items()} if option else {}
        values[name] = words.get(str(value)) if words else value
    is_whole = all(name in values for name, each in options.items() if each.is_required)
    return values if is_whole and given.keys() <= options.keys() and None not in values.values() else None


async def _ask(
    services: ChatServices,
    interaction: DiscordInteraction,
    text: str,
    *,
    selection: str | None = None,
    private: bool = False,
) -> None:
    """Take a question, before Discord hears that an answer is on its way; tell the asker what cannot be asked."""
    private = private or selection is not None
    try:
        question = Question.create(
            message=message_of(interaction),
            text=text,
            selection=selection,
            author=person_of(interaction),
            asked_at=interaction.created_at,
            visibility="private" if private else "thread",
            **services.terms.model_dump(),
        )
    except InvalidInput as refused:
        await tell(interaction, str(refused))
        return
    asked = Asked(question=question, address=address_of(interaction, question))
    try:
        until = await accepted(services, asked)
    except StoreUnavailable:
        await tell(interaction, NO_STORE)
        await drop(services, asked)
        return
    if until is not None:
        message_id = await deferred(interaction, private=private)
        await settle(
            services, asked, until, partial(find, interaction.client, message_id=message_id), partial(tell, interaction)
        )


async def find(client: AutoShardedClient, asked: Asked, *, message_id: str | None = None) -> Asked | None:
    """Return a question under the message with which Discord shows that an answer is on its way.

    Where that is not known it is looked for; None if there is none, as nobody waits for an answer then. One that only
    one person sees stays as it is. Raises `PostingFailed` where Discord does not say.
    """
    question, address = asked.question, asked.address
    if message_id is None and address is not None and address.interaction is not None:
        message_id = await awaited(client, address.interaction.token)
    if message_id is None:
        return None
    if question.visibility == "private" or address is None:
        return asked
    is_first = address.thread == question.message.thread  # where no thread goes on, it begins one of its own
    thread = question.message.thread.model_copy(update={"thread": message_id}) if is_first else address.thread
    message = MessageRef(thread=thread, id=message_id)
    place = {"thread": thread, "message": message if address.message else None}
    return Asked(question=question.model_copy(update={"message": message}), address=address.model_copy(update=place))


async def _press(services: ChatServices, interaction: DiscordInteraction, data: Json) -> None:
    """Do what a button says, also one that was shown before a restart."""
    found = re.fullmatch(PATTERN, str(data.get("custom_id")))
    if found is None:
        await tell(interaction, messages.OLD_BUTTON)
        return
    context, about = context_of(services, interaction), found["about"]

    async def count() -> None:
        await vote(context, about)

    match found["what"]:
        case "stop":
            *place, asker = about.split(":")
            if str(interaction.user.id) != asker and not interaction.permissions.manage_messages:
                await tell(interaction, messages.NOT_YOURS)
            else:
                await _quietly(
                    interaction, interaction.response.defer(), partial(stop, context, message_of(interaction, *place))
                )
        case "retry":
            asking_again = partial(retry, context, message_of(interaction, *about.split(":")))
            await _quietly(interaction, interaction.response.defer(), asking_again)
        case "up":
            await privately(interaction, partial(vote, context, about, is_helpful=True))
        case _:  # it counts at once: whoever closes the form has voted all the same
            await _quietly(interaction, interaction.response.send_modal(_reasons_form(about)), count)


async def _quietly(
    interaction: DiscordInteraction, reply: Awaitable[object], act: Callable[[], Awaitable[str | None]]
) -> None:
    """Acknowledge a button, do what it says, and say something only if that could not be done."""
    if await is_taken(reply):
        await carried_out(act, partial(tell, interaction))


async def _take_form(services: ChatServices, interaction: DiscordInteraction, data: Json) -> None:
    """Take what somebody has filled in."""
    custom_id = str(data.get("custom_id"))
    labels: Sequence[Json] = data.get("components") or ()
    fields: Mapping[str, Json] = {each["component"]["custom_id"]: each["component"] for each in labels}
    if custom_id == SELECTION_FORM:
        question, text = (str(fields.get(name, {}).get("value") or "") for name in ("question", "text"))
        await _ask(services, interaction, question, selection=text)
    elif found := re.fullmatch(REASONS_FORM, custom_id):
        chosen: Sequence[str] = fields.get("reasons", {}).get("values") or ()
        complaints = [each for each in messages.COMPLAINTS if each.value in chosen]  # in the order of the form
        voting = partial(vote, context_of(services, interaction), found["answer"], complaints=complaints)
        await privately(interaction, voting)


def _selection_form(text: str) -> Modal:
    """Return a form for a question about a text; people can cut the text down to what they mean."""
    from discord import TextStyle
    from discord.ui import TextInput

    question = TextInput[Any](custom_id="question", max_length=QUESTION_LIMIT)
    about = TextInput[Any](
        custom_id="text", style=TextStyle.paragraph, default=text[:LONGEST_FIELD], max_length=LONGEST_FIELD
    )
    return _form(SELECTION_FORM, MENU_NAME, {"Question": question, "Text": about})


def _reasons_form(answer_id: str) -> Modal:
    """Return a form that asks what is wrong with an answer; nobody can write there, so that no words are kept."""
    from discord import CheckboxGroupOption
    from discord.ui import CheckboxGroup

    options = [CheckboxGroupOption(label=words, value=each.value) for each, words in messages.COMPLAINTS.items()]
    boxes = CheckboxGroup[Any](
        custom_id="reasons", options=options, required=False, min_values=0, max_values=len(options)
    )
    return _form(f"{MARK}:why:{answer_id}", "Not helpful", {messages.TELL_MORE: boxes})


def _form(custom_id: str, title: str, fields: Mapping[str, Item[Any]]) -> Modal:
    from discord.ui import Label, Modal

    form = Modal(title=title, custom_id=custom_id)
    for label, field in fields.items():
        form.add_item(Label[Any](text=label, component=field))
    form.stop()  # what is sent is read without it, and a client remembers forms as long as it lives
    return form
