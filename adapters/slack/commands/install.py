"""Brings the command, the shortcuts, the buttons, the forms and the home to a Bolt app.

The app answers Slack when a listener is over. So each acknowledges and leaves the work to an errand: Slack waits for
three seconds, and sends none of these again.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from adapters.chat.desk import Desk
from adapters.chat.promised import NO_STORE
from adapters.slack.client.people import People
from adapters.slack.client.workspaces import Workspace, Workspaces
from adapters.slack.commands.asking import Promise, promises, put, question_of, take_up
from adapters.slack.commands.errands import Errands
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
from adapters.slack.commands.helping import forgot_person, helped, informed
from adapters.slack.commands.home import ACTIONS, choose_at_home, press_at_home, show_home
from adapters.slack.commands.kit import Kit
from adapters.slack.commands.moderating import ORDERS, moderated
from adapters.slack.commands.presses import add_reasons, pressed
from adapters.slack.commands.replying import Replies
from adapters.slack.commands.saying import said
from adapters.slack.commands.shortcuts import ANSWER_FROM, SHOW_SOURCES, answer_from, show_sources
from adapters.slack.commands.silencing import SILENT, choice_in
from adapters.slack.commands.situation import Body, Used, used_by_command, used_by_event, used_by_interaction
from adapters.slack.commands.slash import NAME, Order, Word, parsed
from adapters.slack.commands.wording import FORGET_WHAT, ONLY_IN_THREADS, not_understood
from adapters.slack.dialect import SLACK
from adapters.slack.inbound.wording import words
from core.errors import InvalidInput, StoreUnavailable
from core.model import Inbound, Outline
from core.sentences import LOOKING, THANKS

HOME_OPENED = "app_home_opened"
ACTS = {Word.HELP: helped, Word.PRIVACY: informed, Word.FORGET_ME: forgot_person}
FORM_FIELDS = {"text": QUESTION, "selection": TEXT}  # of a question, and where people fill them in


class Commands:
    """What was installed: listeners for all that people use, and the words that stand for commands in threads."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._errands = Errands()

    async def said(self, word: str, inbound: Inbound, workspace: Workspace) -> bool:
        """Take the whole text of a message to the bot; False if it is no command."""
        return await said(self._kit, self._errands, word, inbound, workspace)

    async def finish(self) -> None:
        """Wait until all that people have used is done."""
        await self._errands.finish()

    async def take_up(self) -> None:
        """Put what was asked of somebody who was killed over it."""
        await take_up(self._kit)

    async def command(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Take a command; who waits for a private answer sees at once that it is on its way."""
        used, order = used_by_command(body, self._kit.desk.now()), parsed(str(body.get("text") or ""))
        if order.word is not Word.ASK:
            await ack()
            self._errands.begin(partial(self._kit.privately, used, partial(self._obey, used, order)))
            return
        try:
            question = question_of(used, words(order.text), self._kit.desk.terms)
        except InvalidInput as refused:
            await ack(text=str(refused), response_type="ephemeral")
            return
        asked = Promise(used=used, question=question, is_private=order.is_private)
        try:
            claim = await promises(self._kit).note(used.trigger, asked)
        except StoreUnavailable:
            await ack(text=NO_STORE, response_type="ephemeral")
            self._errands.begin(partial(promises(self._kit).forget, used.trigger))
            return
        if order.is_private:
            await ack(text=LOOKING, response_type="ephemeral")
        else:
            await ack()
        if claim:
            self._errands.begin(partial(put, self._kit, asked, claim))

    async def _obey(self, used: Used, order: Order) -> str:
        if order.word in ORDERS:
            return await moderated(self._kit, used, order)
        if act := ACTS.get(order.word):
            return await act(self._kit, used)
        if order.word is Word.UNKNOWN:
            return not_understood(SLACK.on_one_line(words(order.text)))
        return FORGET_WHAT if order.word is Word.FORGET else ONLY_IN_THREADS

    async def answer_from(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Take a message that somebody wants to ask about."""
        await ack()
        used = used_by_interaction(body, self._kit.desk.now())
        self._errands.begin(partial(answer_from, self._kit, used, body))

    async def show_sources(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Take a message whose thread's sources somebody wants to see."""
        await ack()
        self._errands.begin(partial(show_sources, self._kit, used_by_interaction(body, self._kit.desk.now())))

    async def press(self, ack: AsyncAck, body: dict[str, Any], action: dict[str, Any]) -> None:
        """Take a button, below an answer or in the home."""
        await ack()
        used, action_id = used_by_interaction(body, self._kit.desk.now()), str(action.get("action_id"))
        if action_id in ACTIONS:
            self._errands.begin(partial(press_at_home, self._kit, used, action_id))
        elif action_id == SILENT:
            self._errands.begin(partial(choose_at_home, self._kit, used, choice_in(action, body)))
        else:
            self._errands.begin(partial(pressed, self._kit, used, action_id, str(action.get("value") or "")))

    async def selection(self, ack: AsyncAck, body: dict[str, Any], view: View) -> None:
        """Take a question about a text; what cannot be asked is told in the form, which stays."""
        used = returned(view, used_by_interaction(body, self._kit.desk.now()))
        text, selection = selection_in(view)
        try:
            question = question_of(used, text, self._kit.desk.terms, selection=selection)
        except InvalidInput as refused:
            await ack(response_action="errors", errors={FORM_FIELDS.get(refused.field, QUESTION): str(refused)})
            return
        asked = Promise(used=used, question=question, is_private=True)
        try:
            claim = await promises(self._kit).note(used.trigger, asked)
        except StoreUnavailable:
            await ack(response_action="errors", errors={QUESTION: NO_STORE})
            self._errands.begin(partial(promises(self._kit).forget, used.trigger))
            return
        await ack()
        if claim:
            self._errands.begin(partial(put, self._kit, asked, claim))

    async def reasons(self, ack: AsyncAck, body: dict[str, Any], view: View) -> None:
        """Take what is wrong with an answer, and give thanks where the form was."""
        used = used_by_interaction(body, self._kit.desk.now())
        await ack(response_action="update", view=words_form(THANKS))
        self._errands.begin(partial(add_reasons, self._kit, used, view))

    async def home(self, body: dict[str, Any]) -> None:
        """Show the home to whoever has opened it."""
        self._errands.begin(partial(show_home, self._kit, used_by_event(body, self._kit.desk.now())))


def install(
    app: AsyncApp,
    desk: Desk,
    workspaces: Workspaces,
    people: People,
    *,
    outline: Callable[[], Awaitable[Outline]],
    api_url: str | None = None,
) -> Commands:
    """Add the listeners to an app, before those for events, as only the first one that fits hears of anything."""
    session = app.client.session
    assert session is not None  # noqa: S101 - all clients share one
    commands = Commands(Kit(desk, workspaces, people, Replies(session, api_url=api_url), outline))
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
