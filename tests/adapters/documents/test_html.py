"""HTML pages, as Docusaurus, Sphinx and MkDocs build them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from adapters.documents.html import read
from adapters.documents.page import NotReadable

PAGE = """<!doctype html><html><head><title>Nodes | Book</title></head><body>
<nav>Menu</nav><div class="theme-doc-sidebar-container"><a>Side</a></div>
<main><article><div class="theme-doc-markdown markdown"><header><h1>Understanding nodes</h1></header>
<p>A <code>node_name</code> is <strong>good</strong> if 2*3*4 &lt; 30.</p>
<div class="theme-admonition"><div class="admonitionHeading_Gvgb"><span><svg></svg></span>note</div>
<div class="admonitionContent_x"><p>Mind this.</p></div></div>
<h2 class="anchor" id="create-a-node">Create a node<a href="#create-a-node" class="hash-link">#</a></h2>
<div class="language-bash codeBlockContainer"><div><pre class="prism-code language-bash"><code><span
class="token-line"><span>ros2 run</span><br></span><span class="token-line"><span>  ls</span><br></span></code></pre>
<div><button>Copy</button></div></div></div>
<div role="tabpanel" hidden>Second tab</div><div hidden>Secret</div><aside>Aside</aside>
</div></article></main><footer>Foot</footer><script>x()</script></body></html>"""


def test_only_the_article_of_a_docusaurus_page_is_read() -> None:
    """Menus, buttons and hidden parts go; anchors, languages, tabs and admonitions stay."""
    page = read(PAGE.encode())

    assert page.title == "Understanding nodes"
    assert page.text == dedent("""\
        # Understanding nodes {#}

        A `node_name` is **good** if 2*3*4 < 30.

        **Note**

        Mind this.

        ## Create a node {#create-a-node}

        ```bash
        ros2 run
          ls
        ```

        Second tab
    """)


def test_anchors_of_sphinx_sections_are_found() -> None:
    """The id stands on the section, and other targets may stand before the heading."""
    page = read(
        b'<div role="main"><section id="first-steps"><span id="old"></span><h1>First steps<a class="headerlink" '
        b'href="#first-steps">\xc2\xb6</a></h1><div class="admonition note"><p class="admonition-title">Note</p>'
        b'<p>Hi</p></div><div class="highlight-python notranslate"><div class="highlight"><pre><span></span>'
        b'import x\n</pre></div></div><section id="b"><h2><a name="own"></a>B</h2></section></section></div>'
    )

    assert page.text == dedent("""\
        # First steps {#first-steps}

        **Note**

        Hi

        ```python
        import x
        ```

        ## B {#own}
    """)


def test_tables_definitions_formulas_and_pictures_are_readable() -> None:
    """Bars in cells are escaped, formulas appear once, pictures by their description."""
    page = read(
        b"<main><table><tr><th>A</th></tr><tr><td>x|y</td></tr></table><dl><dt>API</dt><dd>An interface</dd></dl>"
        b'<p><span class="katex"><span class="katex-mathml"><math><mi>x</mi><annotation>x^2</annotation></math></span>'
        b'<span class="katex-html" aria-hidden="true">x2</span></span></p><p><img src="a.png" alt="An arm"></p></main>'
    )

    assert page.text == "| A |\n| --- |\n| x\\|y |\n\n**API**\n\nAn interface\n\n$x^2$\n\nAn arm\n"


def test_a_page_without_a_heading_takes_its_title_from_the_head() -> None:
    """The title of the window is better than a file name."""
    assert read(b"<title> Old page </title><body><p>Text</p></body>").title == "Old page"


def test_an_old_encoding_is_read_by_its_declaration() -> None:
    """Pages from before UTF-8 say what they are."""
    head = '<meta charset="windows-1251">'

    assert read(f"{head}<p>Привет</p>".encode("windows-1251")).text == "Привет\n"


def test_a_page_in_no_known_encoding_is_refused() -> None:
    """A declaration that does not fit gives a reason."""
    with pytest.raises(NotReadable, match="save it as UTF-8"):
        read(b'<meta charset="made-up"><p>\xff\xfe</p>')


def test_an_empty_page_has_no_text() -> None:
    """What that means is for the caller to say."""
    assert read(b"").text == ""


def test_words_that_look_like_a_heading_open_no_section() -> None:
    """A prompt, and lines above and below a title."""
    page = read(b"<main><p># ls</p><p>---\nTitle\n---</p></main>")

    assert page.text == "\\# ls\n\n\\---\nTitle\n\\---\n"


def test_a_heading_without_an_id_gets_no_anchor() -> None:
    """Nobody gives it one afterwards, as a builder does with Markdown, so that no footnote can lead there."""
    page = read(b"<main><h1>git-add(1)</h1><h2>NAME</h2><p>Adds.</p></main>")

    assert (page.title, page.text) == ("git-add(1)", "# git-add(1) {#}\n\n## NAME {#}\n\nAdds.\n")


def test_what_an_api_reference_describes_is_a_section() -> None:
    """A function is cited by its own anchor, with its signature below; a term without one stays a bold line."""
    page = read(
        b'<main><h1 id="m">functools</h1><p>Tools.</p><dl class="py function"><dt class="sig sig-object py" '
        b'id="functools.lru_cache"><em class="property">@</em><span class="sig-prename descclassname">functools.</span>'
        b'<span class="sig-name descname">lru_cache</span>(<em>maxsize=128</em>)<a class="viewcode-link">[source]</a>'
        b'<a class="headerlink" href="#functools.lru_cache">\xc2\xb6</a></dt><dd><p>Keeps calls.</p></dd></dl>'
        b'<dl><dt id="git-add--n">-n</dt><dd><p>Dry run.</p></dd><dt>plain</dt><dd>Words.</dd></dl></main>'
    )

    assert page.text == dedent("""\
        # functools {#m}

        Tools.

        ###### `functools.lru_cache` {#functools.lru_cache}

        `@functools.lru_cache(maxsize=128)`

        Keeps calls.

        ###### `-n` {#git-add--n}

        Dry run.

        **plain**

        Words.
    """)
