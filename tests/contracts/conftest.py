"""What the contract suites of one port share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.inboxes import Box, Boxes, open_boxes
from tests.portion import FORMS


@pytest.fixture(name="boxes", params=FORMS)
async def _boxes(request: pytest.FixtureRequest) -> AsyncIterator[Boxes]:
    """Give an inbox as two processes have it."""
    async with open_boxes(request) as boxes:
        yield boxes


@pytest.fixture(name="inbox")
def _inbox(boxes: Boxes) -> Box:
    """Give the inbox as the first of two processes has it."""
    return boxes.here
