"""What the contract suites of one port share."""

from __future__ import annotations

import pytest

from tests.inboxes import Box, Boxes


@pytest.fixture(name="inbox")
def _inbox(boxes: Boxes) -> Box:
    """Give the inbox as the first of two processes has it."""
    return boxes.here
