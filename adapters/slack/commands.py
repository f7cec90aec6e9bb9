"""What people can use on Slack: the command, words in threads, shortcuts, buttons, forms and the app's home.

The app answers Slack when a listener is over. So each acknowledges and does the work in the background: Slack
waits for three seconds, and sends none of these again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.background import NO_STORE, BackgroundTasks, accepted, drop
from adapters.chat.commands import ASK, retry, shown_sources, stop, vote
from adapters.chat.files import read_files, selected
from adapters.chat.registry import carried_out
from adapters.slack import dialect
from adapters.slack.api import tell
from adapters.slack.ask import QuestionMessage, asked_by, put
from adapters.slack.dialect import SLACK
from adapters.slack.events import forwards, words
from adapters.slack.files import LONGEST_FILE, fetch, files_in
from adapters.slack.forms import (
    QUESTION,
    REASONS_FORM,
    SELECTION_FORM,
    TEXT,
    View,
    complaints_in,
    reasons_form,
    returned,
    selection_form,
    selection_in,
    words_form,
)
from adapters.slack.home import ACTIONS, MENUS, choose_at_home, pin_prompts, press_at_home, show_home
from adapters.slack.interactions import InteractionContext, SlackServices, by_event, by_question, by_use, mrkdwn
from adapters.slack.poster import Place, ThreadPoster
from adapters.slack.responses import PrivatePoster
from adapters.slack.slash import NAME, ParsedCommand, parsed, text_command
from core import messages
from core.errors import InvalidInput, PostingFailed, Rejected, StoreUnavailable
from core.model import Asked, Inbound, MessageRef, Setting

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck

    from adapters.chat.platform import Poster
    from adapters.chat.services import ChatServices
    from adapters.slack.people import People
    from adapters.slack.workspaces import Workspaces

ANSWER_FROM = "footnote:answer_from_message"
SHOW_SOURCES = "footnote:show_sources"
HOME_OPENED = "app_home_opened"
FORM_FIELDS = {"text": QUESTION, "selection": TEXT}  # of a question, and where people fill them in


class SlackCommands:
    """Listeners for all that people use, and the words that stand for commands in threads.

    What they have used is done in the `background`, which has to be closed.
    """

    def __init__(self, slack: SlackServices) -> None:
        self.slack = slack
        self.background = BackgroundTasks(ignore=())

    async def find(self, asked: Asked) -> Asked:
        """Return where the answer to a question goes that a process had accepted before it died."""
        return await QuestionMessage(by_question(self.slack, asked), is_in_doubt=True).place(asked)

    async def below(self, asked: Asked) -> Poster:
        """Return what says that a question waits: in its thread, or to whoever asked alone. Raises `PostingFailed`."""
        thread, workspace = asked.message.thread, await self.slack.workspaces.find(asked.message.thread.workspace)
        if asked.question.visibility == "thread" or asked.address is None or asked.way is None:
            return ThreadPoster(Place(workspace, thread.channel, thread.thread, asked.message.id))
        return PrivatePoster(workspace.client, asked.way.token, asked.question, asked.address.thread)

    async def command(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Take a command; who waits for a private answer sees at once that it is on its way."""
        context, text = by_use(self.slack, body), str(body.get("text") or "")
        wanted = parsed(text, channel=context.channel)
        if wanted.command is not ASK:
            await ack()
            self._carry_out(context, partial(_obeyed, context, wanted, text))
            return
        values = wanted.values or {}
        is_private = bool(values.get("private"))

        async def refuse(sentence: str, _: str) -> None:
            await ack(text=sentence, response_type="ephemeral")

        create = partial(asked_by, context, words(str(values["question"])), is_private=is_private)
        shown = partial(ack, text=messages.LOOKING, response_type="ephemeral") if is_private else ack
        await self._ask(context, create, shown, refuse)

    async def selection(self, ack: AsyncAck, body: dict[str, Any], view: View) -> None:
        """Take a question about a text; what cannot be asked is told in the form, which stays."""
        context = returned(view, by_use(self.slack, body))
        text, selection = selection_in(view)

        async def refuse(sentence: str, field: str) -> None:
            await ack(response_action="errors", errors={FORM_FIELDS.get(field, QUESTION): sentence})

        await self._ask(context, partial(asked_by, context, text, selection=selection), ack, refuse)

    async def _ask(
        self,
        context: InteractionContext,
        create: Callable[[], Asked],
        acknowledge: Callable[[], Awaitable[object]],
        refuse: Callable[[str, str], Awaitable[None]],
    ) -> None:
        """Have a question accepted before it is acknowledged, and moved after; *refuse* says why not, and of what."""
        try:
            asked = create()
        except InvalidInput as refused:
            await refuse(str(refused), refused.field)
            return
        try:
            until = await accepted(self.slack.chat, asked)
        except StoreUnavailable:
            await refuse(NO_STORE, "")
            self.background.begin(partial(drop, self.slack.chat, asked))
            return
        await acknowledge()
        if until is not None:
            self.background.begin(partial(put, context, asked, until))

    async def answer_from(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Take a message that somebody wants to ask about, and show a form for the question."""
        await ack()
        context, said = by_use(self.slack, body), cast("dict[str, Any]", body["message"])

        async def show() -> str | None:
            links, files = files_in(said), ()
            if links:
                workspace = await self.slack.workspaces.find(context.home.workspace)
                files = await read_files(links, partial(fetch, workspace), within=LONGEST_FILE)
            texts = [words(str(said.get("text") or "")), *(each.text for each in forwards(said)), *selected(files)]
            text = "\n\n".join(filter(None, texts))
            if not text:  # a preview is none of its words
                return messages.nothing_to_read(files) if files else messages.NO_TEXT
            await context.open_form(selection_form(text, context))
            return None

        self._carry_out(context, show)

    async def show_sources(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Take a message whose thread's sources somebody wants to see."""
        await ack()
        context = by_use(self.slack, body)
        self._carry_out(context, partial(shown_sources, context.command))

    async def press(self, ack: AsyncAck, body: dict[str, Any], action: dict[str, Any]) -> None:
        """Take a button, below an answer or in the home."""
        await ack()
        context, action_id = by_use(self.slack, body), str(action.get("action_id"))
        if action_id in ACTIONS:
            self.background.begin(partial(press_at_home, context, action_id))
        elif action_id in MENUS:
            self.background.begin(partial(choose_at_home, context, action, body))
        else:
            self._carry_out(context, partial(_pressed, context, action_id, str(action.get("value") or "")))

    async def reasons(self, ack: AsyncAck, body: dict[str, Any], view: View) -> None:
        """Count a vote again, now with its reasons, and show thanks where the form was, or what went wrong."""
        context = by_use(self.slack, body)
        await ack(response_action="update", view=words_form(messages.THANKS))

        async def count() -> None:
            await vote(context.command, str(view["private_metadata"]), complaints=complaints_in(view))

        async def show(sentence: str) -> None:
            with suppress(PostingFailed):
                client = (await self.slack.workspaces.find(context.home.workspace)).client
                await tell(client, "views.update", view_id=str(view["id"]), view=words_form(sentence))

        self.background.begin(partial(carried_out, count, show))

    async def opened(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Show the home to whoever has opened it, or what there is to ask above the messages, where it stays."""
        context, tab = by_event(self.slack, body), event.get("tab")
        if tab == "home":
            self.background.begin(partial(show_home, context))
        elif tab == "messages":
            self.background.begin(partial(pin_prompts, context, str(event["channel"])))

    async def said(self, inbound: Inbound) -> bool:
        """Begin to do what the whole text of a message to the bot stands for; False if it is no command there."""
        wanted, known = text_command(inbound.text), self.slack.chat.communities
        if wanted is None or inbound.author is None or not (await known.load()).admits(inbound.message.thread.home):
            return False
        context = InteractionContext(
            slack=self.slack,
            home=inbound.message.thread.home,
            person=inbound.author,
            at=inbound.at or self.slack.chat.now(),
            channel=inbound.message.thread.channel,
            thread_ts="" if inbound.setting is Setting.CHANNEL else inbound.message.thread.thread,
            is_private=False,  # all read it where Slack shows nothing to one person
        )
        self.background.begin(partial(_answer_word, context, wanted, inbound))
        return True

    def _carry_out(self, context: InteractionContext, act: Callable[[], Awaitable[str | None]]) -> None:
        self.background.begin(partial(carried_out, act, context.tell))


async def _obeyed(context: InteractionContext, wanted: ParsedCommand, text: str) -> str:
    """Do what was written behind the command; what is no command is told, with those that there are."""
    if (told := await wanted.carry_out(context.command)) is not None:
        return told
    command = wanted.command
    is_forget = command is not None and command.name == "forget" and not command.for_moderators
    return context.command.forms.forget if is_forget else messages.not_understood(SLACK.on_one_line(words(text)))


async def _answer_word(context: InteractionContext, wanted: ParsedCommand, inbound: Inbound) -> None:
    """Do what a word in a thread stands for, once for each message: a mention comes as two events, and each again."""
    if await context.slack.chat.is_new(f"slack:said:{inbound.message}", str(inbound.revision)):
        await carried_out(partial(wanted.carry_out, context.command), partial(_tell_below, context.slack, inbound))


async def _tell_below(slack: SlackServices, inbound: Inbound, sentence: str) -> None:
    """Tell the author of a message alone, or all in its thread where Slack shows nothing to one person."""
    thread, asker = inbound.message.thread, inbound.author.id if inbound.author else ""
    text: dict[str, Any] = {"channel": thread.channel, "text": mrkdwn(sentence)}
    below: dict[str, Any] = {**text, "thread_ts": thread.thread}
    with suppress(PostingFailed):
        workspace = await slack.workspaces.find(thread.workspace)
        if inbound.setting is not Setting.DIRECT:
            where = below if inbound.setting is Setting.THREAD else text
            with suppress(Rejected):
                await tell(workspace.client, "chat.postEphemeral", user=asker, **where)
                return
        await tell(workspace.once, "chat.postMessage", **below, unfurl_links=False, unfurl_media=False)


async def _pressed(context: InteractionContext, action_id: str, value: str) -> str | None:
    """Do what a button below an answer says, also one that was shown before a restart."""
    first, _, rest = value.partition(" ")
    match action_id, first:
        case (dialect.VOTE, dialect.UP) if rest:
            return await vote(context.command, rest, is_helpful=True)
        case (dialect.VOTE, dialect.DOWN) if rest:
            return await _complained(context, rest)
        case (dialect.RETRY, asker):
            return await retry(context.command, _message(context, rest), asker, context.tell)
        case (dialect.STOP, asker):
            return await stop(context.command, _message(context, rest), asker)
        case _:
            return messages.OLD_BUTTON


async def _complained(context: InteractionContext, answer_id: str) -> str | None:
    """Take the vote while the form is being shown: whoever closes that has voted all the same."""

    async def show() -> bool:
        try:
            await context.open_form(reasons_form(answer_id))
        except PostingFailed:
            return False
        return True

    is_shown, _ = await asyncio.gather(show(), vote(context.command, answer_id))
    return None if is_shown else messages.THANKS


def _message(context: InteractionContext, text: str) -> MessageRef | None:
    """Return which question a button is about; one of another workspace is nobody's business."""
    try:
        message = MessageRef.parse(text)
    except InvalidInput:
        return None
    return message if message.thread.home == context.home else None


def install(app: AsyncApp, services: ChatServices, workspaces: Workspaces, people: People) -> SlackCommands:
    """Add the listeners to an app, before those for events, as only the first one that fits hears of anything."""
    commands = SlackCommands(SlackServices(services, workspaces, people, app.client))
    untyped = cast("Any", app)
    untyped.command(NAME)(commands.command)
    untyped.message_shortcut(ANSWER_FROM)(commands.answer_from)
    untyped.message_shortcut(SHOW_SOURCES)(commands.show_sources)
    untyped.action({"action_id": re.compile("")})(commands.press)
    untyped.view(SELECTION_FORM)(commands.selection)
    untyped.view(REASONS_FORM)(commands.reasons)
    untyped.event(HOME_OPENED)(commands.opened)
    return commands
