"""reStructuredText, plain and as Sphinx extends it."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from adapters.documents.rst import read
from tests.portion import portion


def shown(text: str) -> str:
    """Read an indented page."""
    return read(dedent(text).encode()).text


def test_headings_keep_the_anchors_that_sphinx_gives_them() -> None:
    """Labels before a heading do not hide its own anchor."""
    page = """
        Using ``rosdep``
        ================

        .. contents::

        .. _label:

        1 First steps
        -------------

        Text_ with |unknown| and *emphasis*.

        .. _Text: https://x.example
    """

    assert shown(page) == dedent("""\
        # Using `rosdep` {#using-rosdep}

        ## 1 First steps {#first-steps}

        [Text](https://x.example) with unknown and *emphasis*.
    """)


def test_a_substitution_that_is_a_link_leads_where_the_page_says() -> None:
    """What only the settings of its website could say is shown as words, and no mark of a link stays."""
    page = """
        See |GitHub|_, |the docs|_ and |Elsewhere|__ of |GitHub|.

        .. |GitHub| replace:: our *repository*
        .. _GitHub: https://x.example/repository
        .. _`The docs`: https://x.example/docs
    """

    assert shown(page) == (
        "See [our *repository*](https://x.example/repository), [the docs](https://x.example/docs) and Elsewhere of our "
        "*repository*.\n"
    )


def test_tabs_code_and_admonitions_keep_their_content() -> None:
    """Extensions that docutils does not know show their labels and what is inside."""
    page = """
        .. tabs::

          .. group-tab:: Linux

            .. code-block:: bash
               :caption: In a shell
               :emphasize-lines: 1

               ls -la

          .. code-tab:: py Python

             import os

        .. made-up-directive:: with an argument
           :odd: option

           Kept content.

        .. versionadded:: 3.1
           The option.

        .. attention:: Look.

        .. py:function:: spam(eggs)

           Cooks.
    """

    assert shown(page) == dedent("""\
        **Linux**

        In a shell

        ```bash
        ls -la
        ```

        **Python**

        ```py
        import os
        ```

        Kept content.

        3.1
        The option.

        **Attention!**

        Look.

        ###### `spam` {#spam}

        `spam(eggs)`

        Cooks.
    """)


API = """
    .. py:module:: farm.tools

    .. py:function:: feed(animal, *, times=2) -> int
                     feed(animal)

       Feeds.

    .. class:: Barn(size)

       .. py:method:: async add(animal)
       .. py:attribute:: Barn.size
       .. py:class:: Door

          .. method:: __init__()

    .. function:: helper(x: int = 3)
       :module: farm.other

    .. data:: LIMIT
       :no-index:

    .. currentmodule:: None
    .. function:: top()

    .. program:: farm run
    .. option:: -v, --verbose
    .. option:: --size=N
    .. option:: file
    .. envvar:: FARM_HOME

    .. c:struct:: animal

       .. c:member:: int legs[4]

    .. cpp:function:: void f(int x)
    .. js:function:: open(x)
    .. describe:: something

    .. default-domain:: c
    .. function:: int farm_feed(struct animal *a, int n)
"""


@pytest.mark.promise("deep-links")
def test_what_is_described_has_the_anchor_that_sphinx_gives_it() -> None:
    """As it stands in the page that Sphinx builds of this; what has none there opens no section."""
    text = read(dedent(API).encode()).text

    assert dict(re.findall(r"^###### `(.+)` \{#(.+)\}$", text, re.MULTILINE)) == {
        "feed": "farm.tools.feed",
        "Barn": "farm.tools.Barn",
        "Barn.add": "farm.tools.Barn.add",
        "Barn.size": "farm.tools.Barn.size",
        "Barn.Door": "farm.tools.Barn.Door",
        "Barn.Door.__init__": "farm.tools.Barn.Door.__init__",
        "helper": "farm.other.helper",
        "top": "top",
        "-v, --verbose": "cmdoption-farm-run-v",
        "--size=N": "cmdoption-farm-run-size",
        "file": "cmdoption-farm-run-arg-file",
        "FARM_HOME": "envvar-FARM_HOME",
        "animal": "c.animal",
        "animal.legs": "c.animal.legs",
        "open": "open",
        "farm_feed": "c.farm_feed",
    }
    assert "`feed(animal, *, times=2) -> int`\n\n`feed(animal)`\n\nFeeds." in text
    assert [words in text for words in ("\n`LIMIT`\n", "\n`void f(int x)`\n", "\n`something`\n")] == [True] * 3


def test_terms_of_a_glossary_have_the_anchors_that_sphinx_gives_them() -> None:
    """Those that share a definition are at the first of them; the other ones can still be found there."""
    page = """
        .. glossary::
           :sorted:

           widget
              A thing.

              It spins.
           Quality of *Service*
           QoS : key
              How messages arrive.

           .. a comment

           轮子
              A wheel.
    """

    assert shown(page) == dedent("""\
        ###### `widget` {#term-widget}

        A thing.

        It spins.

        ###### `Quality of Service` {#term-Quality-of-Service}

        **QoS**

        How messages arrive.

        **轮子**

        A wheel.
    """)


@pytest.mark.parametrize(
    ("said", "is_shown"),
    [
        ("html", True),
        ("latex", False),
        ("not latex", True),
        ("html or latex", True),
        ("html and not (epub or man)", True),
        ("latex and draft", False),
        ("builder_dirhtml", True),
        ("format_latex", False),
        ("draft", True),  # as nobody knows
        ("not html and", True),
    ],
)
def test_what_a_website_leaves_out_is_left_out(said: str, *, is_shown: bool) -> None:
    """Only where that is sure."""
    assert shown(f"Before.\n\n.. only:: {said}\n\n   Inside.\n") == "Before.\n" + "\nInside.\n" * is_shown


def test_what_an_unknown_domain_describes_keeps_its_name() -> None:
    """Without an anchor, as only the domain knows that; what shows nothing there shows nothing here."""
    page = ".. cmake:command:: find_it\n\n   Finds it.\n\n.. cpp:namespace:: farm\n"

    assert shown(page) == "`find_it`\n\nFinds it.\n"


def test_how_something_looks_is_not_described() -> None:
    """Docutils has a directive of the same name."""
    assert shown(".. class:: wide-table\n\n   Words.\n\n.. class:: left right\n\nMore.") == "Words.\n\nMore.\n"


def test_references_show_their_words() -> None:
    """Roles of Sphinx become text or code, never raw markup."""
    page = (
        ":doc:`../A/Some-Page`, :doc:`the page <x>`, :ref:`a label <x>`, :py:func:`~os.path.join`, :made:`up` :kbd:`x`"
    )

    assert shown(page) == "Some Page, the page, a label, `join`, up x\n"


@pytest.mark.parametrize(
    "page",
    [
        ".. include:: /etc/hostname",
        ".. literalinclude:: /etc/hostname",
        ".. raw:: html\n\n   <b>x</b>",
        ".. csv-table::\n   :file: /etc/hostname",
        ".. toctree::\n\n   a",
    ],
)
def test_nothing_is_taken_from_other_files(page: str) -> None:
    """A page cannot make the reader open files or pass HTML through."""
    assert shown(page).strip() == ""


def test_the_whole_ros_documentation_is_read_without_a_message_of_the_parser(shared_data: Path) -> None:
    """All 266 files give text, tabs are kept, and no error text or markup shows."""
    root = shared_data / "ros2-docs" / "source"
    files = sorted(root.rglob("*.rst"))
    texts = {str(file.relative_to(root)): read(file.read_bytes()).text for file in portion(files)}
    prose = "\n".join(re.sub(r"```.*?```", "", text, flags=re.DOTALL) for text in texts.values())

    assert len(files) == 266
    assert [name for name, text in texts.items() if not text.strip()] == []
    assert re.findall(r"System Message|Unknown directive|Unknown interpreted|<unknown>", prose) == []
    assert re.findall(r"^\.\. [\w-]+::", prose, flags=re.MULTILINE) == []
    for name, text in texts.items():
        tabs = re.findall(r"\.\. group-tab:: (.+)", (root / name).read_text(encoding="utf-8"))
        assert [tab for tab in set(tabs) if text.count(f"**{tab.strip()}**") < tabs.count(tab)] == [], name
