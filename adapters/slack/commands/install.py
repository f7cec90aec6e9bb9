"""Brings the command, the shortcuts, the buttons, the forms and the home to a Bolt app.

The app answers Slack when a listener is over. So each acknowledges and does the work in the background: Slack
waits for three seconds, and sends none of these again.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, cast

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from adapters.chat.accepting import NO_STORE, accepted, drop
from adapters.chat.background import BackgroundTasks
from adapters.chat.commands import ASK, Values
from adapters.chat.services import ChatServices
from adapters.slack.commands.asking import asked_by, put, take_over_questions
from adapters.slack.commands.context import Kit, context_of
from adapters.slack.commands.forms import (
    QUESTION,
    REASONS_FORM,
    SELECTION_FORM,
    TEXT,
    View,
    returned,
    selection_in,
    words_form,
)
from adapters.slack.commands.home import ACTIONS, SILENT, choice_in, choose_at_home, press_at_home, show_home
from adapters.slack.commands.presses import add_reasons, pressed
from adapters.slack.commands.replying import Replies
from adapters.slack.commands.saying import said
from adapters.slack.commands.shortcuts import ANSWER_FROM, SHOW_SOURCES, answer_from, show_sources
from adapters.slack.commands.situation import Body, Used, used_by_command, used_by_event, used_by_interaction
from adapters.slack.commands.slash import NAME, ParsedCommand, parsed
from adapters.slack.commands.wording import FORGET_WHAT, not_understood
from adapters.slack.dialect import SLACK
from adapters.slack.events import words
from adapters.slack.people import People
from adapters.slack.workspaces import Workspaces
from core.errors import InvalidInput, StoreUnavailable
from core.messages import LOOKING, THANKS
from core.model import Inbound

HOME_OPENED = "app_home_opened"
FORM_FIELDS = {"text": QUESTION, "selection": TEXT}  # of a question, and where people fill them in


class Commands:
    """What was installed: listeners for all that people use, and the words that stand for commands in threads."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._tasks = BackgroundTasks(ignore=())

    async def said(self, inbound: Inbound) -> bool:
        """Take the whole text of a message to the bot; False if it is no command."""
        return await said(self._kit, self._tasks, inbound)

    async def finish(self, within: float | None = None) -> None:
        """Wait until all that people have used is done, for so many seconds at most."""
        await self._tasks.finish(within)

    async def take_over(self) -> None:
        """Move what was asked of somebody who was killed over it, until this is cancelled."""
        await take_over_questions(self._kit)

    async def command(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Take a command; who waits for a private answer sees at once that it is on its way."""
        used, text = used_by_command(body, self._kit.services.now()), str(body.get("text") or "")
        wanted = parsed(text, channel=used.channel)
        if wanted.command is not ASK:
            await ack()
            self._tasks.begin(partial(self._kit.privately, used, partial(self._obey, used, wanted, text)))
            return
        asked_for: Values = wanted.values or {}
        is_private = bool(asked_for.get("private"))
        try:
            text = words(str(asked_for["question"]))
            asked = asked_by(used, text, self._kit.services.terms, is_private=is_private)
        except InvalidInput as refused:
            await ack(text=str(refused), response_type="ephemeral")
            return
        try:
            until = await accepted(self._kit.services, asked)
        except StoreUnavailable:
            await ack(text=NO_STORE, response_type="ephemeral")
            self._tasks.begin(partial(drop, self._kit.services, asked))
            return
        if is_private:
            await ack(text=LOOKING, response_type="ephemeral")
        else:
            await ack()
        if until is not None:
            self._tasks.begin(partial(put, self._kit, used, asked, until))

    async def _obey(self, used: Used, wanted: ParsedCommand, text: str) -> str:
        command, values = wanted.command, wanted.values
        if command is not None and command.act is not None and values is not None:
            return await command.act(context_of(self._kit, used), values)
        is_forget = command is not None and command.name == "forget" and not command.for_moderators
        return FORGET_WHAT if is_forget else not_understood(SLACK.on_one_line(words(text)))

    async def answer_from(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Take a message that somebody wants to ask about."""
        await ack()
        used = used_by_interaction(body, self._kit.services.now())
        self._tasks.begin(partial(answer_from, self._kit, used, body))

    async def show_sources(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Take a message whose thread's sources somebody wants to see."""
        await ack()
        self._tasks.begin(partial(show_sources, self._kit, used_by_interaction(body, self._kit.services.now())))

    async def press(self, ack: AsyncAck, body: dict[str, Any], action: dict[str, Any]) -> None:
        """Take a button, below an answer or in the home."""
        await ack()
        used, action_id = used_by_interaction(body, self._kit.services.now()), str(action.get("action_id"))
        if action_id in ACTIONS:
            self._tasks.begin(partial(press_at_home, self._kit, used, action_id))
        elif action_id == SILENT:
            self._tasks.begin(partial(choose_at_home, self._kit, used, choice_in(action, body)))
        else:
            self._tasks.begin(partial(pressed, self._kit, used, action_id, str(action.get("value") or "")))

    async def selection(self, ack: AsyncAck, body: dict[str, Any], view: View) -> None:
        """Take a question about a text; what cannot be asked is told in the form, which stays."""
        used = returned(view, used_by_interaction(body, self._kit.services.now()))
        text, selection = selection_in(view)
        try:
            asked = asked_by(used, text, self._kit.services.terms, selection=selection)
        except InvalidInput as refused:
            await ack(response_action="errors", errors={FORM_FIELDS.get(refused.field, QUESTION): str(refused)})
            return
        try:
            until = await accepted(self._kit.services, asked)
        except StoreUnavailable:
            await ack(response_action="errors", errors={QUESTION: NO_STORE})
            self._tasks.begin(partial(drop, self._kit.services, asked))
            return
        await ack()
        if until is not None:
            self._tasks.begin(partial(put, self._kit, used, asked, until))

    async def reasons(self, ack: AsyncAck, body: dict[str, Any], view: View) -> None:
        """Take what is wrong with an answer, and give thanks where the form was."""
        used = used_by_interaction(body, self._kit.services.now())
        await ack(response_action="update", view=words_form(THANKS))
        self._tasks.begin(partial(add_reasons, self._kit, used, view))

    async def home(self, body: dict[str, Any]) -> None:
        """Show the home to whoever has opened it."""
        self._tasks.begin(partial(show_home, self._kit, used_by_event(body, self._kit.services.now())))


def install(
    app: AsyncApp,
    services: ChatServices,
    workspaces: Workspaces,
    people: People,
    *,
    api_url: str | None = None,
) -> Commands:
    """Add the listeners to an app, before those for events, as only the first one that fits hears of anything."""
    session = app.client.session
    assert session is not None  # noqa: S101 - all clients share one
    commands = Commands(Kit(services, workspaces, people, Replies(session, api_url=api_url)))
    untyped = cast("Any", app)
    untyped.command(NAME)(commands.command)
    untyped.message_shortcut(ANSWER_FROM)(commands.answer_from)
    untyped.message_shortcut(SHOW_SOURCES)(commands.show_sources)
    untyped.action(re.compile(""))(commands.press)
    untyped.view(SELECTION_FORM)(commands.selection)
    untyped.view(REASONS_FORM)(commands.reasons)
    untyped.event(HOME_OPENED, matchers=[_is_home])(commands.home)
    return commands


async def _is_home(event: Body) -> bool:
    """Tell the home from the messages, whose opening is an event of the same name."""
    return event.get("tab") == "home"
