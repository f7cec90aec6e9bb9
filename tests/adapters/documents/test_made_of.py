"""What is not read a second time, what is skipped, and what a page of reStructuredText is made of."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from adapters.documents.folder import Folder
from adapters.documents.made_of import PageFile, expanded, parts
from core.model import Document, LeftOut, Unchanged, Unreadable
from core.ports import Found
from tests.adapters.documents.test_folder import write

PAGES = {
    "index.rst": "Start\n=====\n\n.. include:: _shared.txt\n\nUse {DISTRO}.\n",
    "guide/page.rst": "Guide\n=====\n\n.. include:: /_shared.txt\n",
    "_shared.txt": "Shared words.\n",
    "conf.py": "macros = {'DISTRO': 'rolling'}\n",
    "other.md": "# Other\n\nWords.\n",
}


def source(root: Path, base_url: str = "https://x.example", **macros: str) -> Folder:
    """Give a folder as a source."""
    return Folder(root, name="docs", base_url=base_url, macros=macros)


async def everything(
    root: Path, seen: dict[str, str] | None = None, base_url: str = "https://x.example"
) -> list[Found]:
    """Read a folder, of which some was seen."""
    return [found async for found in source(root, base_url).documents(seen or {})]


def stamps(found: list[Found]) -> dict[str, str]:
    """Give the stamps by address, as an index would keep them."""
    return {page.url: page.stamp for page in found if isinstance(page, Document)}


async def test_a_macro_that_somebody_names_wins_and_has_its_pages_read_again(tmp_path: Path) -> None:
    """Over the settings too; names that stay are told, and what a shell or a formula puts in braces is none."""
    odd = "Odd\n===\n\nUse {DISTRO}, {DISTRO_TITLE}, ${HOME}, {n}, :math:`\\\\frac{AB}{CD}` and {{NAME}}.\n"
    write(tmp_path, {"page.rst": odd, "conf.py": "macros = {'DISTRO': 'rolling'}\n", "page.md": "# It\n\n{NONE}\n"})

    before = [each async for each in source(tmp_path).documents({})]
    after = [each async for each in source(tmp_path, DISTRO="jazzy", DISTRO_TITLE="J").documents(stamps(before))]
    again = [each async for each in source(tmp_path, DISTRO="jazzy", DISTRO_TITLE="J").documents(stamps(after))]

    [first], [second] = ([each for each in found if isinstance(each, Document)] for found in (before[-1:], after[-1:]))
    assert ("Use rolling, {DISTRO" in first.text, first.macros) == (True, ("DISTRO_TITLE",))
    assert ("Use jazzy, J, ${HOME}, {n}" in second.text, second.macros) == (True, ())
    assert [type(each) for each in again if not isinstance(each, LeftOut)] == [Unchanged, Unchanged]


@pytest.mark.promise("incremental")
@pytest.mark.parametrize(
    ("changed", "read_again"),
    [
        ({}, set[str]()),
        ({"other.md": "# Other\n\nNew words.\n"}, {"other.md"}),
        ({"_shared.txt": "New words.\n"}, {"index.rst", "guide/page.rst"}),
        ({"conf.py": "macros = {'DISTRO': 'kilted'}\n"}, {"index.rst", "guide/page.rst"}),
        ({"new.md": "# New\n\nWords.\n"}, {"new.md"}),
    ],
)
async def test_a_page_is_read_again_only_if_something_that_it_is_made_of_has_changed(
    tmp_path: Path, changed: dict[str, str], read_again: set[str]
) -> None:
    """Its own file, what that includes, or the settings that its words come from."""
    write(tmp_path, PAGES)
    first = await everything(tmp_path)
    write(tmp_path, changed)

    again = await everything(tmp_path, stamps(first))

    assert {page.name for page in again if isinstance(page, Document)} == read_again
    assert Counter(type(found) for found in again)[Unchanged] == 3 - len(read_again - {"new.md"})


async def test_another_address_reads_everything_again(tmp_path: Path) -> None:
    """A stamp stands for the page and where it is published."""
    write(tmp_path, PAGES)
    seen = stamps(await everything(tmp_path))

    again = await everything(tmp_path, seen, "https://y.example")

    assert not [found for found in again if isinstance(found, Unchanged)]


async def test_a_file_that_has_moved_is_read_at_its_new_place(tmp_path: Path) -> None:
    """The same words elsewhere are another page."""
    write(tmp_path, {"a.md": "# A\n\nWords.\n"})
    seen = stamps(await everything(tmp_path))
    (tmp_path / "a.md").rename(tmp_path / "b.md")

    assert [type(found) for found in await everything(tmp_path, seen)] == [Document]


async def test_what_is_not_read_is_counted_by_its_kind(tmp_path: Path) -> None:
    """Pictures, hidden pages, and the plain text beside a page; files that begin with a dot are nobody's business."""
    pages = {"a.md": "# A\n\nWords.", "a.txt": "A\n\nWords.", "b.txt": "Alone.", "c.md": "---\ndraft: true\n---\nNo."}
    write(tmp_path, pages | {"d.PNG": "", "e.png": "", "LICENSE": "", ".hidden": "", "f.averylongending": ""})

    found = await everything(tmp_path)

    assert Counter(each.why for each in found if isinstance(each, LeftOut)) == {
        ".png": 2,
        ".averylongen": 1,
        "without an ending": 1,
        "hidden": 1,
        "the same page as text": 1,
    }
    assert [page.name for page in found if isinstance(page, Document)] == ["a.md", "b.txt"]
    assert [each for each in found if isinstance(each, Unreadable)] == []


async def test_a_page_has_the_words_of_what_it_includes(tmp_path: Path) -> None:
    """Also where that begins with an underscore, so that it is no page of its own; macros of the settings are read."""
    write(tmp_path, PAGES)

    texts = {page.name: page.text for page in await everything(tmp_path) if isinstance(page, Document)}

    assert set(texts) == {"index.rst", "guide/page.rst", "other.md"}
    assert texts["index.rst"] == "# Start {#start}\n\nShared words.\n\nUse rolling.\n"
    assert "Shared words." in texts["guide/page.rst"]


INCLUDED = {
    ".. include:: a.txt": "one\n.. start\ntwo\n.. end\nthree",
    ".. include:: a.txt\n   :start-after: .. start\n   :end-before: .. end": "two",
    ".. include:: a.txt\n   :lines: 1,3-": "one\ntwo\n.. end\nthree",
    ".. literalinclude:: code.py\n   :language: python3\n   :lines: 2-": ".. code-block:: python3\n\n   act()",
    ".. literalinclude:: code.py": ".. code-block:: python\n\n   def robot():\n   act()",
    ".. include:: code.py\n   :code: python": ".. code-block:: python\n\n   def robot():\n   act()",
}


@pytest.mark.parametrize("directive", INCLUDED)
def test_parts_of_a_file_can_be_included(tmp_path: Path, directive: str) -> None:
    """By lines, between two texts, and as a listing."""
    write(tmp_path, {"a.txt": "one\n.. start\ntwo\n.. end\nthree\n", "code.py": "def robot():\nact()\n"})

    assert expanded(directive, PageFile(tmp_path / "page.rst", tmp_path)).strip() == INCLUDED[directive]


@pytest.mark.promise("stays-in-folder")
@pytest.mark.parametrize(
    "named", ["../secret.txt", "/../secret.txt", "link.txt", "/etc/passwd", "sub/../../secret.txt"]
)
def test_nothing_outside_is_included(tmp_path: Path, named: str) -> None:
    """Not by a path, from the root of the disk, or by a link."""
    docs = tmp_path / "docs"
    write(docs, {"page.rst": "", "sub/a.txt": ""})
    (tmp_path / "secret.txt").write_text("secret root:x:0")
    (docs / "link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "conf.py").write_text("macros = {'A': 'secret'}")
    place = PageFile(docs / "page.rst", docs)
    (docs / "page.rst").write_text(f".. include:: {named}\n\n{{A}}\n")

    text = expanded((docs / "page.rst").read_text(), place)

    assert ("secret" in text.replace(named, ""), "root:" in text, parts(place)) == (False, False, ())


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    """Themselves, in a circle, or so often that the whole would be too large."""
    write(tmp_path, {"a.txt": ".. include:: b.txt\n", "b.txt": ".. include:: a.txt\n", "big.txt": "x" * 1_000_000})
    place = PageFile(tmp_path / "page.rst", tmp_path)

    assert len(expanded(".. include:: a.txt\n", place)) < 1_000
    assert len(expanded(".. include:: big.txt\n\n" * 50, place)) < 6_000_000
    (tmp_path / "page.rst").write_text(".. include:: a.txt\n")
    assert [path.name for path in parts(place)] == ["a.txt", "b.txt"]


@pytest.mark.parametrize(
    "settings",
    ["macros = {'A': open('/etc/passwd').read()}", "macros = [1]", "macros = {", "x" * 3_000_000, "(" * 5_000, "\0"],
)
def test_settings_are_not_run(tmp_path: Path, settings: str) -> None:
    """What is not written out there counts as nothing, and what cannot be read neither."""
    write(tmp_path, {"conf.py": settings})

    assert expanded("See {A}.", PageFile(tmp_path / "page.rst", tmp_path)) == "See {A}."


def test_settings_that_refer_to_each_other_are_read(tmp_path: Path) -> None:
    """What is no literal is left out, and nothing else with it, however large others would make it."""
    conf = """
import os
distro: str = "jazzy"
version = release = f"{distro}-" + "3.1"
macros = {"DISTRO": distro, "HOME": os.environ["HOME"], "N": 2, make(): "x", **others, "DEEP": {"a": "b"}}
"""
    grown = "A = 'xxxxxxxx'\n" + "A = A + A\n" * 200 + "macros['LATER'] = A\n"
    write(tmp_path, {"conf.py": conf + grown})

    text = expanded("{DISTRO} {N} {HOME} {DEEP} {LATER} |release|", PageFile(tmp_path / "page.rst", tmp_path))

    assert text.split("\n\n") == [
        "jazzy 2 {HOME} {DEEP} {LATER} |release|",
        ".. |release| replace:: jazzy-3.1",
    ]


def test_words_of_the_settings_are_read(tmp_path: Path) -> None:
    """The version, and what is put around every page."""
    conf = (
        "release = '1.2'\nrst_epilog = '''\n.. |robot| replace:: Robbie\n'''\nversion = make()\nprimary_domain = 'c'\n"
    )
    write(tmp_path, {"conf.py": conf})

    text = expanded("|robot| |release| |version|", PageFile(tmp_path / "page.rst", tmp_path))

    assert text.split("\n\n") == [
        ".. default-domain:: c",
        "|robot| |release| |version|",
        "\n.. |robot| replace:: Robbie",
        "\n.. |release| replace:: 1.2",
    ]
