"""What people can do on Discord besides writing: commands, buttons and forms.

All that a press or a form needs to be read is in its id, so that what was shown before a restart works after it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from discord import AutoShardedClient, ForumChannel, InteractionType, Thread

from adapters.chat.background import NO_STORE, BackgroundTasks, accepted, drop, settle
from adapters.chat.commands import command_named, retry, stop, vote
from adapters.chat.files import read_files, selected
from adapters.chat.platform import Poster, utc_now
from adapters.chat.registry import Command, Values, carried_out
from adapters.discord.dialect import MARK, PATTERN
from adapters.discord.events import ChannelInfo, files_in, forwards, words
from adapters.discord.files import LONGEST_SELECTED, fetch
from adapters.discord.interactions import (
    UNKNOWN,
    DiscordInteraction,
    DiscordServices,
    address_of,
    awaited,
    context_of,
    deferred,
    is_outside,
    is_taken,
    message_of,
    person_of,
    privately,
    tell,
)
from adapters.discord.limits import Throttle
from adapters.discord.moderators import DiscordModerators
from adapters.discord.poster import ChannelPoster
from adapters.discord.registering import ADMIN, MENU_NAME, MESSAGE_MENU, keep_registered
from adapters.discord.responses import WaitPoster
from adapters.discord.tags import tag_answered
from core import messages
from core.errors import InvalidInput, PostingFailed, StoreUnavailable
from core.model import QUESTION_LIMIT, Asked, MessageRef, Question

if TYPE_CHECKING:
    from discord.ui import Item, Modal

    from adapters.chat.services import ChatServices

Json: TypeAlias = dict[str, Any]

SELECTION_FORM = f"{MARK}:selection"
REASONS_FORM = rf"{MARK}:why:(?P<answer>[0-9a-f]{{1,64}})"
LONGEST_FIELD = 4_000  # characters


def install(
    client: AutoShardedClient,
    services: ChatServices,
    commands: BackgroundTasks,
    background: BackgroundTasks,
    moderators: DiscordModerators | None = None,
) -> None:
    """Do all that people use among the *commands*, and have them registered in the *background* for a client.

    It has to have logged in.
    """
    used = DiscordServices(services, moderators or DiscordModerators(services.policies))

    async def carry_out(interaction: DiscordInteraction) -> None:
        data = cast("Json", interaction.data or {})
        match interaction.type:
            case InteractionType.application_command if data.get("type") == MESSAGE_MENU:
                await _select(interaction, data["resolved"]["messages"][str(data["target_id"])])
            case InteractionType.application_command:
                await _use(used, interaction, data)
            case InteractionType.component:
                await _press(used, interaction, data)
            case InteractionType.modal_submit:
                await _take_form(used, interaction, data)
            case _:
                pass

    async def on_interaction(interaction: DiscordInteraction) -> None:
        commands.begin(partial(carry_out, interaction))

    client.event(on_interaction)
    background.begin(partial(keep_registered, client, services))


async def _select(interaction: DiscordInteraction, said: Json) -> None:
    """Show a form for a question about a message, with its words, those that it forwards, and its files."""
    links, reading = files_in(said), partial(fetch, interaction.client)
    files = await read_files(links, reading, within=LONGEST_SELECTED)
    texts = [words(said), *(each.text for each in forwards(said, place=ChannelInfo("", UNKNOWN))), *selected(files)]
    if text := "\n\n".join(filter(None, texts)):  # the previews and pictures of a message are none of its words
        await is_taken(interaction.response.send_modal(_selection_form(text)))
    else:
        await tell(interaction, messages.nothing_to_read(files) if files else messages.NO_TEXT)


async def _use(services: DiscordServices, interaction: DiscordInteraction, data: Json) -> None:
    """Do what a command says; one that Discord still shows as it was before gets a sentence."""
    chosen: list[Json] = data.get("options") or []
    in_group = data.get("name") == ADMIN and len(chosen) == 1
    named: Json = chosen[0] if in_group else data
    command = command_named(str(named.get("name")), for_moderators=in_group)
    values = _values(command, named.get("options") or []) if command else None
    if command is None or values is None:
        await tell(interaction, messages.OUTDATED)
    elif command.act is None:
        await _ask(services.chat, interaction, values["question"], private=values.get("private", False))
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
    private = private or selection is not None or is_outside(interaction)
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
    if message_id is None and asked.way is not None:
        message_id = await awaited(client, asked.way.token)
    if message_id is None:
        return None
    if question.visibility == "private" or address is None:
        return asked
    is_first = address.thread == question.message.thread  # where no thread goes on, it begins one of its own
    thread = question.message.thread.model_copy(update={"thread": message_id}) if is_first else address.thread
    message = MessageRef(thread=thread, id=message_id)
    place = {"thread": thread, "message": message if address.message else None}
    return Asked(question=question.model_copy(update={"message": message}), address=address.model_copy(update=place))


async def below(client: AutoShardedClient, asked: Asked) -> Poster:
    """Return what says in the place of the response to a question, or in its thread, that it waits."""
    if (way := asked.way) is None:
        return ChannelPoster(client.get_partial_messageable(int(asked.message.thread.thread)))
    return WaitPoster(client, way, asked.question, None, drafts=Throttle(), lives=lambda: utc_now() < way.expires_at)


async def _press(services: DiscordServices, interaction: DiscordInteraction, data: Json) -> None:
    """Do what a button says, also one that was shown before a restart."""
    found = re.fullmatch(PATTERN, str(data.get("custom_id")))
    if found is None:
        await tell(interaction, messages.OLD_BUTTON)
        return
    context, about = context_of(services, interaction), found["about"]
    answer = about.rpartition(":")[2]

    async def count() -> None:
        await vote(context, answer)

    match found["what"]:
        case "stop" | "retry" as what:
            *place, asker = about.split(":")
            act = stop if what == "stop" else partial(retry, tell=partial(tell, interaction))
            act = partial(act, context, message_of(interaction, *place), asker)
            await _quietly(interaction, interaction.response.defer(), act)
        case "up":
            await privately(interaction, partial(vote, context, answer, is_helpful=True))
            await _tag(interaction, on=True)
        case _:  # it counts at once: whoever closes the form has voted all the same
            await _quietly(interaction, interaction.response.send_modal(_reasons_form(answer)), count)
            await _tag(interaction, on=False)


async def _tag(interaction: DiscordInteraction, *, on: bool) -> None:
    """Tag a post as answered, or not any more, if whoever has begun it says so; it need not be allowed."""
    post = interaction.channel
    if isinstance(post, Thread) and isinstance(post.parent, ForumChannel):
        with suppress(PostingFailed):
            me = str(interaction.user.id)
            await tag_answered(interaction.client, str(post.parent_id), str(post.id), by=me, on=on)


async def _quietly(
    interaction: DiscordInteraction, reply: Awaitable[object], act: Callable[[], Awaitable[str | None]]
) -> None:
    """Acknowledge a button, do what it says, and say something only if that could not be done."""
    if await is_taken(reply):
        await carried_out(act, partial(tell, interaction))


async def _take_form(services: DiscordServices, interaction: DiscordInteraction, data: Json) -> None:
    """Take what somebody has filled in."""
    custom_id = str(data.get("custom_id"))
    labels: Sequence[Json] = data.get("components") or ()
    fields: Mapping[str, Json] = {each["component"]["custom_id"]: each["component"] for each in labels}
    if custom_id == SELECTION_FORM:
        question, text = (str(fields.get(name, {}).get("value") or "") for name in ("question", "text"))
        await _ask(services.chat, interaction, question, selection=text)
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
