"""What the operator sees of settings that cannot be read, and does about them."""

from __future__ import annotations

import asyncio

import pytest

from adapters.redis.connection import connect
from tests.fixtures.commands import Footnote, Here
from tests.fixtures.redis import say


async def store(url: str) -> None:
    """Put the settings of two workspaces on an empty server; a newer version has written one of them."""
    client = connect(url)
    await say(client, "FLUSHALL")
    await say(client, "HSET", "footnote:policy:{discord:42}", "version", "9", "silent:7", "1")
    await say(client, "HSET", "footnote:policy:{slack:T1}", "version", "1", "silent:C7", "1")
    await client.aclose()


@pytest.mark.promise("unreadable-is-closed")
@pytest.mark.promise("says-what-to-do")
def test_the_operator_is_told_of_unreadable_settings_and_can_replace_them(
    footnote: Footnote, here: Here, redis_url: str
) -> None:
    """Nothing happens before it is confirmed, and nothing to settings that can be read."""
    asyncio.run(store(redis_url))
    doctor = here(footnote, "doctor", REDIS_URL=redis_url)
    asked = here(footnote, "resume", "discord:42", REDIS_URL=redis_url)
    done = here(footnote, "resume", "discord:42", "--confirm", REDIS_URL=redis_url)
    others = [
        here(footnote, "resume", name, "--confirm", REDIS_URL=redis_url)
        for name in ("discord:42", "slack:T1", "Robots")
    ]
    well = here(footnote, "doctor", REDIS_URL=redis_url)

    lost = "- Switched off in 7.\n- Anything else that was set.\n"
    (trouble,) = [line for line in doctor.out.splitlines() if line.startswith("!!")]
    assert trouble == (
        "!!  moderation  The moderators' settings in discord:42 cannot be read, so nothing is answered there. "
        "A moderator can use resume there, or type: footnote resume discord:42"
    )
    assert (doctor.code, asked.code, asked.out) == (1, 2, "")
    assert f"This would be lost:\n{lost}To start over" in asked.err
    assert (done.code, done.out.endswith(f"This was lost:\n{lost}")) == (0, True)
    assert [(ended.code, ended.out, len(ended.err.splitlines())) for ended in others] == [(2, "", 1)] * 3
    assert (well.code, "ok  moderation  the moderators' settings can be read" in well.out) == (0, True)
