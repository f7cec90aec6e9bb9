"""The situations of `quiet_*.jsonl`: what people say in threads of the bot's, to it and to each other."""

from __future__ import annotations

import pytest

from bench.quiet import PARTS, judged, situations


@pytest.mark.promise("quiet-among-people")
def test_people_are_left_alone_and_questions_are_answered() -> None:
    """Of all situations no more are mistaken than when the rule was judged; what is said to the bot is answered."""
    people, direct, among = judged(PARTS)

    assert [people.all, direct.all, among.all] == [506, 138, 246]
    assert [len(people.answered) <= 28, len(direct.answered), len(among.answered) >= 234] == [True, 138, True]


@pytest.mark.parametrize("part", PARTS)
def test_half_of_the_situations_are_people_among_themselves(part: str) -> None:
    """In each part, and in many languages; no situation is in two of them."""
    found = situations(part)

    assert sum(not each.is_for_bot for each in found) >= len(found) / 2
    assert len({each.language for each in found}) >= 15
    texts = [(each.text, each.comes_from, each.after) for other in PARTS for each in situations(other)]
    assert len(set(texts)) >= len(texts) - 3
