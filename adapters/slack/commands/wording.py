"""What people write and choose on Slack, in the words in which the bot speaks of it."""

from __future__ import annotations

import re
from datetime import datetime

from core.messages import Forms

FORMS = Forms(
    ask="/footnote ask",
    privately="--private",
    menu="in a message's menu",
    sources="**Show sources**, in the same menu,",
    forget="**/footnote forget**",
    privacy="**/footnote privacy**",
    documents="**/footnote documents**",
    documents_page="`/footnote documents {}`",
    more="Slack has no commands in threads: there, mention me with "
    "`sources`, `documents`, `forget`, `help` or `privacy` alone.",
    in_thread="Slack has no commands in threads. In the thread with the answer, mention me with that word alone, "
    "or choose **Show sources** in a message's menu.",
    unconfirmed="This forgets every conversation here. To do it, write `/footnote admin forget everything confirm`.",
)

COMMANDS = """\
`/footnote ask [--private] QUESTION`
`/footnote documents [PAGE]`, `/footnote help`, `/footnote privacy`
`/footnote forget me` removes everything about you; in a thread, mention me with `forget` to remove the thread.
`/footnote admin status [PAGE]`, `pause [here]`, `resume [here]`, `forget person @NAME`, `forget everything` are for \
moderators."""


FORGET_WHAT = """\
`/footnote forget me` removes everything about you. To have a thread forgotten, mention me there with `forget` alone."""


_BOLD = re.compile(r"\*\*(.+?)\*\*")


def not_understood(text: str) -> str:
    """Say what can be written instead of *text*, which has to be safe already."""
    return f"I don't understand “{text}”. This is what I understand:\n{COMMANDS}"


def mrkdwn(sentence: str) -> str:
    """Return one of our sentences in Slack's dialect, which writes bold text with one star."""
    return _BOLD.sub(r"*\1*", sentence)


def since(moment: datetime) -> str:
    """Return a moment as each reader's own clock shows it."""
    return f"<!date^{int(moment.timestamp())}^{{date_short_pretty}}, {{time}}|{moment:%Y-%m-%d %H:%M} UTC>"
