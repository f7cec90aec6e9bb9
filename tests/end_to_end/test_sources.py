"""`footnote sources`: which documents there are, and who may read them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from bot.commands.sources import NOT_ALLOWED, WHO
from tests.fixtures.commands import Footnote, Here
from tests.fixtures.redis import clean

OTHER, THIRD = "discord:81384788765712384", "slack:T012AB3CD"


@pytest.fixture(name="url")
async def _url(redis_url: str) -> AsyncGenerator[str]:
    """Give a store that knows of no community."""
    async with clean(redis_url):
        yield redis_url


def listed(footnote: Footnote, here: Here, **env: str) -> list[dict[str, object]]:
    """Give the list as a program reads it."""
    ended = here(footnote, "sources", "list", "--json", **env)
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)["sources"]


def zoo(*communities: str, is_shared: bool = True, everyone: bool = False) -> list[dict[str, object]]:
    """Give the one source as the list should have it."""
    who = {"is_shared": is_shared, "everyone": everyone, "communities": list(communities)}
    return [{"name": "zoo", "pages": 2, **who}]


@pytest.mark.promise("documents-apart")
def test_who_may_read_a_source_is_said_and_listed(footnote: Footnote, here: Here, url: str) -> None:
    """What is said replaces what was said before; before that it is the first community's."""
    env = {"REDIS_URL": url}
    steps = [("--with", OTHER, "--with", THIRD), ("--everyone",), ("--nobody",), ("--with", THIRD)]
    found = [listed(footnote, here, **env)]
    told: list[str] = []
    for words in steps:
        ended = here(footnote, "sources", "share", "zoo", *words, **env)
        told.append(ended.out.removeprefix("zoo may be read by ").removesuffix(", from the next question on.\n"))
        found.append(listed(footnote, here, **env))
        assert ended.code == 0
        assert ended.err == "".join(f"{NOT_ALLOWED.format(each, each)}\n" for each in words if ":" in each)
    table = here(footnote, "sources", "list", **env).out.splitlines()

    assert found == [zoo(is_shared=False), zoo(OTHER, THIRD), zoo(everyone=True), zoo(), zoo(THIRD)]
    assert told == [f"{OTHER} and {THIRD}", "everybody", "nobody", THIRD]
    assert [" ".join(line.split()) for line in table] == ["SOURCE pages who may read it", f"zoo 2 {THIRD}"]


@pytest.mark.promise("says-what-to-do")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("zoo",), WHO),
        (("zoo", "--everyone", "--nobody"), WHO),
        (("zoo", "--everyone", "--with", OTHER), WHO),
        (
            ("farm", "--everyone"),
            "There is no source 'farm'. The sources are: zoo. Type footnote sources list to see who may read them.",
        ),
        (("zoo", "--with", "Cooks"), "'Cooks' is not a server or workspace"),
    ],
)
def test_what_is_shared_with_whom_has_to_be_said(
    footnote: Footnote, here: Here, url: str, words: tuple[str, ...], said: str
) -> None:
    """The sentence names the next step, and nothing is changed."""
    ended = here(footnote, "sources", "share", *words, REDIS_URL=url)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(said)
    assert listed(footnote, here, REDIS_URL=url) == zoo(is_shared=False)


@pytest.mark.promise("starts-empty")
def test_without_documents_the_list_says_so(here: Here, tmp_path: Path) -> None:
    """And how to read some."""
    ended = here(Footnote(tmp_path / "data"), "sources", "list")

    assert (ended.code, ended.out) == (0, "There are no documents yet. Read some first: footnote ingest FOLDER\n")
