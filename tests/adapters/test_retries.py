"""How long a service wishes to be left alone."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from adapters.retries import wished_wait


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:00 GMT"}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_the_wished_wait_is_read_in_all_its_forms(headers: Mapping[str, str], seconds: float | None) -> None:
    """What cannot be understood is no wish."""
    assert wished_wait(headers) == seconds
