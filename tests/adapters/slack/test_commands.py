"""The command, and the words that stand for it in threads, from the wire to the inbox and the stores."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import pytest

from adapters.slack.api import connect, open_session, respond
from adapters.slack.interactions import URL_LIFE, by_event, home_of, mrkdwn
from adapters.slack.slash import parsed
from adapters.slack.workspaces import workspace_of
from core import messages
from core.answering.dialect import GAP
from core.errors import PostingFailed, RateLimited, Rejected, Unreachable
from core.messages import NOT_PART_OF_IT
from core.model import (
    NO_QUESTION,
    Asked,
    Inbound,
    InboundKind,
    MessageRef,
    Person,
    Question,
    Setting,
)
from tests.adapters.slack.office import Office
from tests.builders import NOON
from tests.fakes.services import SOURCE, TERMS
from tests.servers.slack import Channel, Lost, Message, Reply, Reset, SlackServer

NOBODY_SAYS = Reply(200, {"ok": False, "error": "internal_error"})


@pytest.mark.parametrize(
    ("text", "command", "values"),
    [
        ("", "help", {}),
        ("ask What is ROS?", "ask", {"question": "What is ROS?"}),
        ("  ASK  --private  What\nis it?", "ask", {"question": "What\nis it?", "private": True}),
        ("ask —private What?", "ask", {"question": "What?", "private": True}),
        ("--private what is it", "ask", {"question": "what is it", "private": True}),
        ("ask --privately What?", "ask", {"question": "--privately What?"}),
        ("ask", "ask", {"question": ""}),
        ("what is ROS", "ask", {"question": "what is ROS"}),
        ("ROS?", "ask", {"question": "ROS?"}),
        ("stats", "", {}),
        ("help me", "help", None),
        ("Sources ", "sources", {}),
        ("forget", "forget", None),
        ("forget   me", "forget", {"what": "me"}),
        ("forget it", "forget", None),
        ("admin", "help", {}),
        ("Admin help", "help", {}),
        ("admin stats", "", {}),
        ("admin Status", "admin status", {}),
        ("admin status 2", "admin status", {"page": 2}),
        ("admin status 100", "admin status", {"page": 100}),
        ("admin status 0", "admin status", None),
        ("admin status 101", "admin status", None),
        ("admin pause", "admin pause", {}),
        ("admin pause here", "admin pause", {"channel": "C1"}),
        ("admin resume  Here", "admin resume", {"channel": "C1"}),
        ("admin pause <#C2|help>", "admin pause", {"channel": "C2"}),
        ("admin pause there", "admin pause", None),
        ("admin auto-answer C1", "admin auto-answer", None),
        ("admin auto-answer on here", "admin auto-answer", {"on": True, "channel": "C1"}),
        ("admin auto-answer off <#C2|help>", "admin auto-answer", {"on": False, "channel": "C2"}),
        ("admin guests on here", "admin guests", {"on": True, "channel": "C1"}),
        ("admin guests off <#C2|help>", "admin guests", {"on": False, "channel": "C2"}),
        ("admin guests here", "admin guests", None),
        ("admin moderators <!subteam^S1|@helpers> on", "admin moderators", {"role": "S1", "on": True}),
        ("admin moderators S012345678 off", "admin moderators", {"role": "S012345678", "on": False}),
        ("admin moderators <@U1> on", "admin moderators", None),
        ("admin moderators <!subteam^S1>", "admin moderators", None),
        ("admin forget person <@U1|ada>", "admin forget", {"what": "person", "person": "U1"}),
        ("admin forget person <@W2>", "admin forget", {"what": "person", "person": "W2"}),
        ("admin forget person <@U1> <@U2>", "admin forget", {"what": "person", "person": ""}),
        ("admin forget person ada", "admin forget", {"what": "person", "person": ""}),
        ("admin forget everything", "admin forget", {"what": "everything"}),
        ("admin forget everything confirm", "admin forget", {"what": "everything", "confirm": True}),
        ("admin forget everything please", "admin forget", None),
    ],
)
def test_what_is_written_behind_the_command_says_what_to_do(
    text: str, command: str, values: dict[str, object] | None
) -> None:
    """A question needs no word in front, but a single word that is none of ours is a slip."""
    usage = parsed(text, channel="C1")
    found = usage.command
    named = f"{'admin ' if found.for_moderators else ''}{found.name}" if found else ""

    assert (named, usage.values) == (command, values)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"team_id": "T1", "enterprise_id": "E1", "is_enterprise_install": "false"}, "T1"),
        ({"team_id": "T1", "enterprise_id": "E1", "is_enterprise_install": "true"}, "E1/T1"),
        ({"team": {"id": "T1"}, "enterprise": None, "user": {"team_id": "T9"}}, "T1"),
        ({"team": None, "user": {"team_id": "T2"}, "enterprise": {"id": "E1"}, "is_enterprise_install": True}, "E1/T2"),
        ({"team": {"id": "T9"}, "view": {"app_installed_team_id": "T1"}}, "T1"),
    ],
)
def test_every_use_names_the_workspace_of_the_installation(body: Mapping[str, object], name: str) -> None:
    """In all the shapes in which Slack says it, those of organizations included."""
    assert home_of(body) == name


@pytest.mark.parametrize("team", ["T1", None], ids=["named", "left out"])
async def test_the_home_is_opened_where_messages_are_heard(office: Office, team: str | None) -> None:
    """An organization's installation need not name the workspace, which the event names too."""
    given = {"team_id": team, "enterprise_id": "E1", "is_enterprise_install": True}
    body = {"team_id": "T1", "authorizations": [given], "event": {"type": "app_home_opened", "user": "U1"}}

    async with office.open() as commands:
        context = by_event(commands.slack, body)

    assert (context.home.workspace, workspace_of(body)) == ("E1/T1", "E1/T1")


async def test_a_question_is_asked_before_all_in_a_message_that_begins_its_thread(office: Office) -> None:
    """The bot posts it in the asker's name and words, where it notifies nobody and previews nothing."""
    async with office.open():
        text = "ask What do &lt;!channel&gt; and <@U1|ada> say of <https://evil.example|the docs>, @here?"
        way_back = office.server.slash(office.ada, office.channel, "/footnote", text).payload["response_url"]
        asked = await office.heard()

    (root,) = office.server.messages(office.channel)
    message = MessageRef(thread=office.thread(office.channel, root), id=root.ts)
    question = Question(
        message=message,
        text="What do <!channel> and @ada say of the docs, @here?",
        author=Person(id=office.ada.id),
        asked_at=NOON,
        **TERMS.model_dump(),
    )
    assert isinstance(asked, Asked)
    assert asked.address is not None
    assert asked.address.interaction is not None
    assert (asked.question, asked.address.message, asked.address.interaction.token) == (question, message, way_back)
    who = f"<@{office.ada.id}>"
    assert root.text.replace(GAP, "") == f"{who} asks: What do &lt;!channel&gt; and @ada say of the docs, @here?"
    assert (root.live, root.unfurls, root.seen_by, root.thread_ts) == ([who], False, None, None)


async def test_who_uses_a_command_where_no_installation_is_known_hears_that(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    """By the way back, as a store that was emptied may be given what it has lost in a moment; the log hears nothing."""
    other = office.server.add_workspace("Other")
    async with office.open():
        said = await office.use(office.server.add_member(other), "help", office.server.add_channel(other))

    assert (said, caplog.records) == (messages.NOT_INSTALLED, [])


async def test_a_private_question_is_answered_by_the_way_back(office: Office) -> None:
    """The asker sees at once that it is on its way; it is in no thread, and goes by the use of the command."""
    async with office.open():
        used = office.server.slash(office.ada, office.channel, "/footnote", "ask --private What is a robot?")
        asked = await office.heard()
        await office.server.until(lambda: office.told(office.ada), what="a sign")

    assert isinstance(asked, Asked)
    assert asked.address is not None
    assert asked.address.interaction is not None
    trigger = used.payload["trigger_id"]
    assert (asked.question.visibility, asked.message.id, asked.message.thread.thread, asked.address.message) == (
        "private",
        trigger,
        trigger,
        None,
    )
    assert (asked.address.interaction.token, asked.address.interaction.expires_at) == (
        used.payload["response_url"],
        NOON + URL_LIFE,
    )
    assert timedelta(minutes=30) > URL_LIFE
    assert [(one.text, one.seen_by) for one in office.server.messages(office.channel)] == [
        (messages.LOOKING, office.ada.id)
    ]


@pytest.mark.promise("posted-once")
async def test_a_question_whose_message_was_posted_unheard_is_answered_below_it(office: Office) -> None:
    """The message bears a mark by which it is found, so that it does not stay there without an answer."""
    office.server.faults.add("chat.postMessage", Lost())
    async with office.open():
        office.server.slash(office.ada, office.channel, "/footnote", "ask What is a robot?")
        asked = await office.heard()

    (root,) = office.server.messages(office.channel)
    assert isinstance(asked, Asked)
    assert (asked.question.visibility, asked.message.id) == ("thread", root.ts)


@pytest.mark.promise("refusals-end")
async def test_where_the_bot_may_not_write_a_question_becomes_a_private_one(office: Office) -> None:
    """The asker is answered all the same."""
    office.server.remove_bot(office.channel, office.workspace)
    async with office.open():
        office.server.slash(office.ada, office.channel, "/footnote", "ask What is a robot?")
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert (asked.question.visibility, asked.address and asked.address.interaction is not None) == ("private", True)
    assert asked.address is not None
    assert asked.address.message == asked.message  # so that the answer says why only Ada sees it
    assert office.server.messages(office.channel) == []


@pytest.mark.promise("answers-at-once")
async def test_a_command_is_acknowledged_while_the_inbox_hangs(office: Office) -> None:
    """Slack waits for three seconds only."""
    office.inbox.opens.clear()
    async with office.open():
        await office.server.slash(office.ada, office.channel, "/footnote", "ask --private What?").acknowledged()
        await office.server.slash(office.ada, office.channel, "/footnote", "ask What?").acknowledged()
        before = list(office.inbox.signals)
        office.inbox.opens.set()
        await office.heard()

    assert before == []


@pytest.mark.promise("asked-once")
async def test_a_command_that_comes_again_asks_once(office: Office) -> None:
    """There is one message for all to see, and one question in the inbox."""
    office.server.faults.add("users.info", NOBODY_SAYS)  # the command says itself who it was
    async with office.open():
        for text in ("ask What?", "ask --private What?"):
            used = office.server.slash(office.ada, office.channel, "/footnote", text)
            await office.heard()
            await office.server.until(lambda: not office.inbox.kept, what="the end of the promise")
            await office.server.outbox.send(used.kind, used.payload).acknowledged()
        office.server.slash(office.ada, office.channel, "/footnote", "ask --private And an arm?")
        other = await office.heard()

    assert [one.text for one in office.server.messages(office.channel) if not one.ephemeral] == [
        f"<@{office.ada.id}> asks: What?"
    ]
    assert isinstance(other, Asked)
    assert (other.question.text, office.inbox.signals) == ("And an arm?", [])


@pytest.mark.parametrize("flag", ["", "--private "])
async def test_a_question_that_cannot_be_kept_gets_a_warning(office: Office, flag: str) -> None:
    """In the place of the sign that an answer comes; no question is left standing before all."""
    async with office.open():
        office.inbox.fails = office.away
        first = await office.use(office.ada, f"ask {flag}What is a robot?")
        await office.server.until(lambda: office.told(office.ada)[-1].text != messages.LOOKING, what="a warning")
        left = [one.text for one in office.server.messages(office.channel) if not one.ephemeral]
        office.shut()
        await office.use(office.ada, "ask What is a robot?")

    assert first in (messages.LOOKING, f"⚠️ {messages.CANNOT_TAKE}")
    assert [one.text for one in office.told(office.ada)] == [f"⚠️ {messages.CANNOT_TAKE}"] * 2
    assert (left, len(office.server.requests_to("chat.postMessage"))) == ([], 0 if flag else 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ask", NO_QUESTION),
        ("help", mrkdwn(messages.help_text(messages.SLACK_FORMS))),
        ("", mrkdwn(messages.help_text(messages.SLACK_FORMS))),
        ("sources", mrkdwn(messages.SLACK_FORMS.in_thread)),
        ("forget", mrkdwn(messages.SLACK_FORMS.forget)),
        ("forget thread", mrkdwn(messages.SLACK_FORMS.in_thread)),
        ("&lt;!here&gt;", f"I don't understand “&lt;!here&gt;”. This is what I understand:\n{messages.SLACK_COMMANDS}"),
    ],
)
async def test_what_needs_no_store_is_told_to_one_person(office: Office, text: str, said: str) -> None:
    """In Slack's dialect, with nothing live, even where the stores are away."""
    office.shut()
    async with office.open():
        told = await office.use(office.ada, text)

    assert told == said
    assert "**" not in told
    assert [one.live for one in office.told(office.ada)] == [[]]


async def test_privacy_says_for_how_long_and_who_reads_the_questions(office: Office) -> None:
    """In the words of this platform's command."""
    async with office.open():
        told = await office.use(office.ada, "privacy")

    assert told == mrkdwn(messages.privacy(office.services.practices, messages.SLACK_FORMS))
    assert "48 hours" in told
    assert "*/footnote forget me* removes everything" in told


@pytest.mark.promise("forget-me")
async def test_people_are_forgotten_in_their_workspace(office: Office) -> None:
    """Others stay, and what the same id has asked in another workspace."""
    own, others = office.thread(office.channel, "1"), office.thread(office.channel, "2")
    elsewhere = own.model_copy(update={"workspace": "T9"})
    for thread, asker in ((own, office.ada.id), (others, "U9"), (elsewhere, office.ada.id)):
        await office.remember(thread, asker)
    async with office.open():
        told = await office.use(office.ada, "forget me")

    assert told == messages.person_forgotten(1, 0)
    assert [not (await office.conversations.load(thread)).turns for thread in (own, others, elsewhere)] == [
        True,
        False,
        False,
    ]


@pytest.mark.promise("plain-errors")
async def test_what_breaks_is_told_without_its_reason(office: Office) -> None:
    """A store that is away, and a mistake of ours; a platform that stumbles hears it again."""
    async with office.open():
        office.inbox.fails = ValueError("secret")
        office.server.faults.add("response_url", Reset())
        broken = await office.use(office.ada, "ask What is a robot?")
        office.shut()
        away = await office.use(office.ada, "forget me")

    assert (broken, away) == (f"⚠️ {messages.BROKEN}", f"⚠️ {messages.AWAY}")
    assert [one.status for one in office.server.requests_to("response_url")] == [None, 200, 200]


async def test_nothing_is_posted_to_addresses_that_are_not_slacks() -> None:
    """Whoever forges one gets nothing of what people ask."""
    async with open_session() as session:
        for url in ("https://evil.example/x", "https://hooks.slack.com.evil.example/x", "http://hooks.slack.com/x", ""):
            with pytest.raises(Rejected, match="no way back"):
                await respond(connect(session), url, {"text": "secret"})


@pytest.mark.parametrize("host", ["hooks.slack.com", "hooks.slack-gov.com"])
async def test_responses_go_the_way_of_all_calls(host: str) -> None:
    """Through the machine's proxy, to whichever Slack it is; this one hangs up once it knows where they want to go."""
    asked = list[str]()

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readline()).decode())
        writer.close()

    proxy = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with proxy, open_session() as session:
        client = connect(session)
        client.proxy = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        with pytest.raises(Unreachable):
            await respond(client, f"https://{host}/commands/x", {"text": "!"})

    assert asked == [f"CONNECT {host}:443 HTTP/1.1\r\n"]


async def test_what_slack_says_to_an_answer_means_the_same_as_elsewhere() -> None:
    """A limit, a failure of its own, and an address that is used up."""
    said: list[tuple[type[PostingFailed], str]] = []
    async with SlackServer() as server, open_session() as session:
        server.faults.add("response_url", Reply(429, {}, {"Retry-After": "7"}), Reply(503, {}))
        for _ in range(3):
            with pytest.raises(PostingFailed) as failed:
                await respond(connect(session, api_url=server.api_url), f"{server.url}/commands/x", {"text": "!"})
            said.append((failed.type, str(failed.value)))

    assert said == [(RateLimited, "rate limit"), (Unreachable, "status 503"), (Rejected, "status 404")]


def inbound_of(office: Office, message: Message, channel: Channel, setting: Setting) -> Inbound:
    """Give what the listener makes of a message to the bot."""
    ref = MessageRef(thread=office.thread(channel, message), id=message.ts)
    return Inbound(
        kind=InboundKind.WRITTEN,
        message=ref,
        setting=setting,
        author=Person(id=message.user_id),
        text=message.text,
        at=NOON,
    )


async def test_words_in_a_thread_are_commands_and_told_to_one_person(office: Office) -> None:
    """Once for each message, although a mention comes as two events; other words are questions."""
    root = office.server.post_as(office.ada, office.channel, "?")
    message = office.server.post_as(office.ada, office.channel, "sources", root)
    await office.remember(office.thread(office.channel, root), office.ada.id, citations=(SOURCE,))
    inbound = inbound_of(office, message, office.channel, Setting.THREAD)
    async with office.open() as commands:
        words = ("sources", "Sources ", "sources of energy")
        heard = [await commands.said(inbound.model_copy(update={"text": word})) for word in words]
        await commands.background.finish()

    (told,) = office.told(office.ada)
    assert heard == [True, True, False]
    assert told.text == "<https://docs.example/arms|[1]> Robots › Arms (docs.example)"
    assert told.thread_ts == root.ts


@pytest.mark.promise("forget-me")
async def test_a_thread_is_forgotten_for_those_who_asked_in_it(office: Office) -> None:
    """Others are refused, and in a channel there is nothing to forget; even where Slack cannot say who moderates."""
    bob = office.server.add_member(office.workspace, "bob")
    root = office.server.post_as(office.ada, office.channel, "?")
    thread = office.thread(office.channel, root)
    await office.remember(thread, office.ada.id)
    office.server.faults.add("users.info", NOBODY_SAYS, NOBODY_SAYS)
    async with office.open() as commands:
        for who, setting in ((bob, Setting.THREAD), (office.ada, Setting.CHANNEL), (office.ada, Setting.THREAD)):
            message = office.server.post_as(who, office.channel, "forget", root)
            await commands.said(inbound_of(office, message, office.channel, setting))
            await commands.background.finish()

    assert [one.text for one in office.told(bob)] == [NOT_PART_OF_IT]
    assert [one.text for one in office.told(office.ada)] == [
        mrkdwn(messages.SLACK_FORMS.in_thread),
        messages.thread_forgotten(was_there=True),
    ]
    assert not (await office.conversations.load(thread)).turns


async def test_where_slack_shows_nothing_to_one_person_the_thread_is_told(office: Office) -> None:
    """In direct messages only one person reads anyway; notes that are away keep no help from anybody."""
    office.dedup.fails = True
    direct = office.server.direct(office.workspace, office.ada)
    first = office.server.post_as(office.ada, direct, "help")
    second = office.server.post_as(
        office.ada, office.channel, "help", office.server.post_as(office.ada, office.channel, "?")
    )
    office.channel.members.discard(office.ada.id)  # user_not_in_channel
    async with office.open() as commands:
        await commands.said(inbound_of(office, first, direct, Setting.DIRECT))
        await commands.said(inbound_of(office, second, office.channel, Setting.THREAD))
        await commands.background.finish()

    said = [
        office.server.messages(channel, thread_ts=of.root_ts)[-1]
        for channel, of in ((direct, first), (office.channel, second))
    ]
    assert [(one.text, one.user_id, one.seen_by) for one in said] == [
        (mrkdwn(messages.help_text(messages.SLACK_FORMS)), office.workspace.bot.id, None)
    ] * 2
