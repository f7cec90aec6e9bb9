"""Markdown and MDX, as websites write them, become plain Markdown that loses no words."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.documents import frontmatter
from adapters.documents.markdown import read, rewritten
from tests.portion import examples


def shown(text: str, *, is_mdx: bool = True) -> str:
    """Rewrite an indented text."""
    return rewritten(dedent(text).strip("\n"), is_mdx=is_mdx)


def test_imports_exports_and_comments_go() -> None:
    """What only a build runs is no text."""
    page = """
        import Tabs from '@theme/Tabs';
        import {
          A,
          B,
        } from '../x';
        import './style.css';

        export const meta = {
          a: 1,
        };

        # Title {/* #own-id */}

        {/* not for readers */}
        <!-- nor
        this -->
        Import the package from 'here'.
    """

    assert shown(page) == "# Title {#own-id}\n\nImport the package from 'here'.\n"


def test_tabs_keep_their_labels_and_their_content() -> None:
    """Labels come from the item, from the list of values, or from the value."""
    page = """
        <Tabs
          groupId="os"
          values={[
            {label: 'Mac OS', value: 'mac'},
          ]}
          onChange={(x) => x > 3}>
          <TabItem value="mac">
            Install it:

            ```ts
            const f = <T>(x: T) => x;

              indented {x}
            ```

            1. one
               - nested
          </TabItem>
          <TabItem value="win" label="Windows" default>Use Ctrl + C</TabItem>
          <TabItem value="other">Ask</TabItem>
        </Tabs>
    """

    assert shown(page) == dedent("""\
        **Mac OS**

        Install it:

        ```ts
        const f = <T>(x: T) => x;

          indented {x}
        ```

        1. one
           - nested

        **Windows**

        Use Ctrl + C

        **other**

        Ask
    """)


def test_components_leave_the_text_that_they_show() -> None:
    """Text inside, and the attributes that a reader would see, remain."""
    page = """
        <details><summary>More <b>here</b></summary>

        Hidden text with <Highlight color="#fff">green</Highlight> words.

        </details>

        <Card title="Quick start" description="In five minutes" href="/x" icon={<Rocket />} />

        <Admonition type="tip" title="Did you know?">
          <p>
            Shorter.
          </p>
        </Admonition>

        <>Fragment</> {'literal'}{` `}{props.name} and {items.map((x) => <li key={x}>{x}</li>)}.

        <img src="a.png" alt="A robot arm" /><script>alert(1)</script>
    """

    assert shown(page) == dedent("""\
        **More here**

        Hidden text with green words.

        **Quick start** In five minutes

        **Tip: Did you know?**

        Shorter.

        Fragment literal {props.name} and .

        A robot arm
    """)


def test_a_component_in_a_list_item_stays_in_it() -> None:
    """Only the indentation of the tags is taken away, not that of the list."""
    page = """
        1. Step

           <Tabs>
             <TabItem value="x" label="X">
               in the list
               ```sh
               ls
               ```
             </TabItem>
           </Tabs>

        2. Next
    """

    assert shown(page) == dedent("""\
        1. Step

           **X**

           in the list
           ```sh
           ls
           ```

        2. Next
    """)


def test_a_fence_that_the_site_renders_is_opened() -> None:
    """Docusaurus shows the content of `mdx-code-block` as page, not as code."""
    page = "```mdx-code-block\n<Window minHeight={240}>\n\nlive **text**\n\n</Window>\n```\n"

    assert shown(page) == "live **text**\n"


@pytest.mark.parametrize("is_mdx", [True, False])
def test_comparisons_formulas_and_code_are_left_alone(*, is_mdx: bool) -> None:
    """What looks like a tag or an expression is not always one."""
    page = dedent("""\
        If a < b and c > d, then 1 <2; `List<T>` and ``a ` <b>`` hold, $a <b> c_{x}$ costs $5.

        $$
        \\frac{a}{b} < {c}
        $$

        ~~~mermaid
        graph TD; A{x} --> B<y>
        ~~~

        > ```
        > <quoted>
        > ```
    """)

    assert rewritten(page, is_mdx=is_mdx) == page


def test_braces_that_mdx_writes_as_strings_are_text() -> None:
    """And nothing between them is lost; an apostrophe inside of an expression is no string."""
    page = """
        Write {"{"}name{"}"} and {'{'}press{'}'}, <Tip title={"a } b"} /> then {on && <b>don't</b>} it's {'"'}done{'"'}.
    """

    assert shown(page) == 'Write {name} and {press}, a } b then  it\'s "done".\n'


def test_constants_of_a_page_are_put_in_their_place() -> None:
    """As the site shows them; what only a build computes stays a name, and code is left alone."""
    page = """
        export const V = "4.2";
        export const most = 20
        export const now = Date.now();

        Version {V} takes { most }, since {now}: `{V}`.
    """

    assert shown(page) == "Version 4.2 takes 20, since {now}: `{V}`.\n"


def test_markdown_keeps_placeholders_types_and_braces() -> None:
    """Outside of MDX only what must be HTML is taken for it."""
    page = "Set <your_name>, List<String> and <T> in {braces}.\n"

    assert shown(page, is_mdx=False) == page


def test_html_in_markdown_becomes_markdown() -> None:
    """Headings, emphasis, breaks, tables and listings survive as what they are."""
    page = """
        <h2 id="own" align="center">
          <img src="x.png" alt="Logo"/> Name
        </h2>

        Water is H<sub>2</sub>O, <b>10<sup>-3</sup></b><br/>and <code>x</code>.

        <table>
        <tr><th>A</th><th>B | C</th></tr>
        <tr><td>`x`</td><td>one<br>two</td></tr>
        </table>

        <pre><code class="language-py">a
          b</code></pre>
    """

    assert shown(page, is_mdx=False) == dedent("""\
        ## Logo Name {#own}

        Water is H2O, **10^-3** and `x`.

        | A | B \\| C |
        | --- | --- |
        | `x` | one two |

        ```py
        a
          b
        ```
    """)


def test_admonitions_of_every_tool_become_bold_lines() -> None:
    """Docusaurus, Pandoc, GitHub and MkDocs mean the same."""
    page = """
        :::note[Mind **this**]{.wide}
        Outer
        ::::tip
        Inner
        ::::
        :::

        ::: {.warning}
        Pandoc
        :::

        > [!CAUTION]
        > GitHub

        !!! danger "High voltage"
            MkDocs

                code

        === "Linux"

            ```bash
            apt install x
            ```
    """

    assert shown(page, is_mdx=False) == dedent("""\
        **Note: Mind this**

        Outer

        **Tip**

        Inner

        **Warning**

        Pandoc

        > **Caution**
        > GitHub

        **Danger: High voltage**

        MkDocs

            code

        **Linux**

        ```bash
        apt install x
        ```
    """)


@settings(max_examples=examples(150), deadline=None)
@given(
    code=st.lists(st.text(alphabet="ab<>{}/:!$*#\"'` \t", max_size=20), max_size=6),
    indent=st.sampled_from(["", "  ", "    "]),
)
def test_the_lines_of_a_fence_are_never_altered(code: list[str], indent: str) -> None:
    """Whatever stands in a fence inside of a component comes out as it went in."""
    lines = [line for line in code if not line.strip().startswith("`````")]
    body = "".join(f"{indent}{line}\n" if line.strip() else "\n" for line in lines)
    page = f"<Box>\n{indent}`````ts\n{body}{indent}`````\n</Box>\n"

    inside = rewritten(page, is_mdx=True).removeprefix("`````ts\n").removesuffix("`````\n")

    assert inside == "".join(f"{line}\n" if line.strip() else "\n" for line in lines)


@settings(max_examples=examples(150), deadline=None)
@given(st.text(alphabet="ab <>{}/=\"'`$\\!-\n:|#", max_size=120))
def test_no_text_breaks_the_reader_or_leaves_its_marks_behind(text: str) -> None:
    """Any text can be read, and nothing internal shows."""
    for is_mdx in (True, False):
        assert not re.search(r"[\x00-\x08]", rewritten(text, is_mdx=is_mdx))


@pytest.mark.parametrize(
    "text",
    [
        "<" * 50_000,
        "{" * 50_000,
        "`" * 49_999 + " ",
        "<a b=" * 10_000,
        "<!--" * 10_000,
        "$ a" * 20_000,
        "<table>\n" * 20_000,
        "<script>" * 20_000 + "</nothing>",
        "# " + " " * 50_000 + "x",
        "import a\n" * 20_000,
        "{{<" * 20_000,
        "<p>" * 20_000,
        "<h1 " * 20_000,
        "{'" + r"\'" * 50_000,
        "{" + "\"a' " * 20_000,
    ],
)
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    """No run of marks makes the reader slow; the suite's own limit would end it."""
    assert rewritten(text, is_mdx=True)


def test_the_words_of_the_textbook_and_the_course_all_remain(shared_data: Path) -> None:
    """Over every real page, only tags, marks and labels differ from what was written."""
    for corpus in ("course-physical-ai/lessons", "docusaurus-textbook/docs"):
        for file in sorted((shared_data / corpus).rglob("*.md")):
            _, body = frontmatter.split(file.read_text(encoding="utf-8"))
            written = re.sub(r"</?(?:details|summary|br) ?/?>|<!--.*?-->", " ", body, flags=re.DOTALL)
            words = re.findall(r"[^\s*:|]+", re.sub(r"^:::\w*", "", written, flags=re.MULTILINE))
            kept = re.sub(r"[\s*:|]+", "", read(file.read_bytes()).text)
            lost = [word for word in words if word not in kept]
            assert lost == [], file.name
