"""Slack, and somebody who mentions the bot there."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.adapters.slack.office import Office
from tests.on_slack import OnSlack, OnSlackByEdits, on_slack


@pytest.fixture
async def slack() -> AsyncIterator[OnSlack]:
    """A workspace that knows streams and sessions."""
    async with on_slack(OnSlack) as slack:
        yield slack


@pytest.fixture
async def by_edits() -> AsyncIterator[OnSlackByEdits]:
    """A workspace that knows neither."""
    async with on_slack(OnSlackByEdits) as slack:
        yield slack


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    """What stands behind the commands, and people who use them."""
    async with Office.at_work() as office:
        yield office
