"""Websites of Docusaurus, read from their sources: what is published where, and what its pages are made of."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from adapters.documents.docusaurus import NOT_PUBLISHED, OTHER_VERSION, TRANSLATED, DocusaurusSite
from adapters.documents.folder import Folder
from core.model import Document, LeftOut, Unchanged
from core.ports import Found
from tests.adapters.documents.test_folder import write

BASE = "https://x.example/site"
CONFIG = """
// presets: [['classic', {docs: false}]] was tried before
import {themes} from 'prism-react-renderer';
const config = {
  url: 'https://x.example', /* docs: {routeBasePath: 'wrong'} */
  i18n: {defaultLocale: 'en', locales: ['en', 'fr']},
  presets: [
    ['classic', /** @type {import('@docusaurus/preset-classic').Options} */ ({
      docs: {
        sidebarPath: require.resolve('./sidebars.js'),
        path: '../handbook',
        "routeBasePath": '/guide/',
        remarkPlugins: [[remarkMath, {path: 'wrong'}]],
        versions: {current: {label: 'Next'}, '1.0': {path: 'one'}},
        lastVersion: 'current',
      },
      blog: {routeBasePath: "news", path: `posts`, feedOptions: {type: 'all', path: 'wrong'}},
    })],
  ],
  plugins: [
    'plugin-image-zoom',
    ['@docusaurus/plugin-content-docs', {id: 'team', path: 'team', routeBasePath: 'people', numberPrefixParser: false}],
    [require.resolve('@docusaurus/plugin-content-pages'), {id: 'more', path: 'more'}],
  ],
  themeConfig: {docs: {sidebar: {hideable: true}}, navbar: {items: [{label: "It's {here}", to: 'docs'}]}},
};
export default config;
"""


def page(title: str, front: str = "") -> str:
    """Write a page."""
    return f"---\n{front}\n---\n\n# {title}\n\nWords.\n" if front else f"# {title}\n\nWords.\n"


async def everything(root: Path, base_url: str | None = BASE, seen: dict[str, str] | None = None) -> list[Found]:
    """Read a folder, of which some was seen."""
    return [found async for found in Folder(root, name="docs", base_url=base_url).documents(seen or {})]


async def paths(root: Path) -> dict[str, str]:
    """Give the path below the base URL of each file that is read."""
    found = [each for each in await everything(root) if isinstance(each, Document)]
    return {each.name: each.url.removeprefix(f"{BASE}/") for each in found}


@pytest.mark.promise("deep-links")
async def test_a_site_has_the_addresses_that_its_configuration_gives(tmp_path: Path) -> None:
    """Of documentation, blog posts, pages and files, wherever they lie; what is not published is not read."""
    published = {
        "handbook/01-start/02-first.mdx": ("", "guide/start/first"),
        "handbook/index.md": ("", "guide"),
        "handbook/tour/tour.md": ("", "guide/tour/"),
        "handbook/named.md": ("id: other", "guide/other"),
        "handbook/moved.md": ("slug: /up/here", "guide/up/here"),
        "handbook/home.md": ("slug: /", "guide"),
        "website/versioned_docs/version-1.0/old.md": ("", ""),
        "website/posts/2021-08-26-welcome/index.md": ("", "news/2021/08/26/welcome"),
        "website/posts/2019-05-28-first.md": ("id: no", "news/2019/05/28/first"),
        "website/posts/2022/01/30/deep.mdx": ("", "news/2022/01/30/deep"),
        "website/posts/robots/2023-01-01-arm.md": ("", "news/2023/01/01/robots/arm"),
        "website/posts/undated.md": ("", "news/undated"),
        "website/posts/2020-01-01-long.md": ("slug: short", "news/short"),
        "website/src/pages/about.md": ("", "about"),
        "website/src/pages/01-legal/README.md": ("", "01-legal/README"),
        "website/src/pages/help/index.mdx": ("", "help/"),
        "website/team/01-people.md": ("", "people/01-people"),
        "website/more/extra.md": ("id: no", "extra"),
        "website/static/files/a b.html": ("", "files/a%20b.html"),
        "website/i18n/fr/docusaurus-plugin-content-docs/current/page.md": ("", ""),
        "website/README.md": ("", ""),
        "CONTRIBUTING.md": ("", ""),
    }
    write(tmp_path, {name: page(name, front) for name, (front, _) in published.items()})
    write(tmp_path, {"website/docusaurus.config.js": CONFIG, "website/versions.json": json.dumps(["1.0"])})

    found = await everything(tmp_path)

    assert await paths(tmp_path) == {name: path for name, (_, path) in published.items() if path}
    skipped = {each.name: each.why for each in found if isinstance(each, LeftOut) and each.name.endswith(".md")}
    assert skipped == {
        "CONTRIBUTING.md": NOT_PUBLISHED,
        "website/README.md": NOT_PUBLISHED,
        "website/i18n/fr/docusaurus-plugin-content-docs/current/page.md": TRANSLATED,
        "website/versioned_docs/version-1.0/old.md": OTHER_VERSION,
    }


USUAL = {"docs": "docs/page", "blog": "blog/page", "src/pages": "page"}


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("", USUAL),
        ("export default async () => ({presets: load()});", USUAL),
        ("const a = {presets: [], plugins: [['content-docs', {}]]}", USUAL),
        ("const a = {presets: [['classic', {docs: false, blog: false, pages: {path: 'docs'}}]]}", {"docs": "page"}),
        ("plugins: [['@docusaurus/plugin-content-docs', {path: 'blog', routeBasePath: '/'}]]", {"blog": "page"}),
    ],
)
async def test_what_a_configuration_leaves_open_is_as_usual(tmp_path: Path, config: str, found: dict[str, str]) -> None:
    """Also where it cannot be told without running it; what is switched off is not published."""
    write(tmp_path, {f"{folder}/page.md": page(folder) for folder in ("docs", "blog", "src/pages")})
    write(tmp_path, {"docusaurus.config.ts": config})

    assert await paths(tmp_path) == {f"{folder}/page.md": path for folder, path in found.items()}


async def test_the_version_that_people_see_first_is_read(tmp_path: Path) -> None:
    """The newest that was released, unless the configuration names another."""
    folders = {"current": "docs", "2.0": "versioned_docs/version-2.0", "1.0": "versioned_docs/version-1.0"}
    write(tmp_path, {f"{folder}/page.md": page(name) for name, folder in folders.items()})
    write(tmp_path, {"docusaurus.config.js": "", "versions.json": '["2.0", "1.0"]'})
    newest = await paths(tmp_path)
    write(tmp_path, {"docusaurus.config.js": "presets: [['classic', {docs: {lastVersion: '1.0'}}]]"})
    named = await paths(tmp_path)

    assert newest == {"versioned_docs/version-2.0/page.md": "docs/page"}
    assert named == {"versioned_docs/version-1.0/page.md": "docs/page"}


async def test_without_a_website_all_files_are_read(tmp_path: Path) -> None:
    """But not what was built of them; a configuration above the folder says nothing of what is at the base URL."""
    write(tmp_path, {"docs/01-a.md": page("A"), "README.md": page("R"), "docusaurus.config.js": CONFIG})
    write(tmp_path, {"build/docs/a/index.html": "<h1>A</h1><p>Words.</p>"})

    alone = await everything(tmp_path, None)
    below = [each.url for each in await everything(tmp_path / "docs") if isinstance(each, Document)]

    urls = {each.url for each in alone if isinstance(each, Document)}
    assert urls == {(tmp_path / name).resolve().as_uri() for name in ("docs/01-a.md", "README.md")}
    assert below == [f"{BASE}/a"]


PARTS = {
    "docusaurus.config.js": "",
    "docs/page.mdx": """---
title: Page
---
import Install from './_install.mdx';
import Shared from "@site/docs/_parts/_shared.md"
import Card from '@site/src/components/Card';
import Away from '../../secret.md';

# Page

<Install system="Linux" />

```mdx
<Shared />
```

<Shared/>

<Away />
""",
    "docs/_install.mdx": """---
id: x
---
import Shared from './_parts/_shared.md';

## Install

Type it.

<Shared />
""",
    "docs/_parts/_shared.md": "Goats eat thistles.\n",
    "docs/other.md": "# Other\n\nWords.\n",
}


BOTH = {"docs/page.mdx", "docs/other.md"}


async def test_a_page_shows_what_it_imports(tmp_path: Path) -> None:
    """Where it is shown, with what that imports in turn; nothing from outside, and nothing in code."""
    write(tmp_path, {f"site/{name}": text for name, text in PARTS.items()})
    write(tmp_path, {"secret.md": "# Secret\n"})

    [other, shown] = sorted((p for p in await everything(tmp_path / "site") if isinstance(p, Document)), key=str)

    assert (other.title, shown.title) == ("Other", "Page")
    assert shown.text.split("\n\n") == [
        "# Page",
        "## Install",
        "Type it.",
        "Goats eat thistles.",
        "```mdx\n<Shared />\n```",
        "Goats eat thistles.\n",
    ]


@pytest.mark.promise("incremental")
@pytest.mark.parametrize(
    ("changed", "read_again"),
    [
        ({}, set[str]()),
        ({"docs/_parts/_shared.md": "Goats eat brambles.\n"}, {"docs/page.mdx"}),
        ({"docusaurus.config.js": "presets: [['classic', {docs: {routeBasePath: '/'}}]]"}, BOTH),
        ({"versions.json": "[]"}, BOTH),
    ],
)
async def test_a_page_is_read_again_when_what_it_imports_or_its_address_changes(
    tmp_path: Path, changed: dict[str, str], read_again: set[str]
) -> None:
    """And otherwise not."""
    write(tmp_path, PARTS)
    seen = {each.url: each.stamp for each in await everything(tmp_path) if isinstance(each, Document)}
    write(tmp_path, changed)

    again = await everything(tmp_path, seen=seen)

    assert {each.name for each in again if isinstance(each, Document)} == read_again
    assert len([each for each in again if isinstance(each, Unchanged)]) == 2 - len(read_again)


async def test_parts_that_show_each_other_end(tmp_path: Path) -> None:
    """However often they do; then not all of it is shown."""
    names = [f"P{number}" for number in range(12)]
    imports = "".join(f"import {name} from './_{name}.mdx';\n" for name in names)
    shown = "".join(f"<{name} />\n" for name in names)
    write(tmp_path, {f"_{name}.mdx": f"{imports}\n{name}\n\n{shown}" for name in names})
    write(tmp_path, {"page.mdx": f"{imports}\n# Page\n\n{shown}"})

    [found] = await everything(tmp_path)

    assert isinstance(found, Document)
    assert len(found.text) < 1_000_000


DEEP = "{" * 50_000 + "}" * 50_000


@pytest.mark.parametrize(
    "text",
    [
        "{" * 50_000,
        "[" * 50_000,
        "presets: [" * 5_000,
        "docs: {" * 5_000,
        "'" * 99_999,
        "'" + r"\'" * 50_000,
        "`" + r"\`" * 50_000,
        f"presets: [{{docs: {DEEP}}}]",
    ],
)
def test_a_broken_configuration_takes_no_longer_than_it_is(tmp_path: Path, text: str) -> None:
    """It says nothing."""
    config = tmp_path / "docusaurus.config.js"
    config.write_text(text)
    begun = time.process_time()

    assert DocusaurusSite.of(config).parts
    assert time.process_time() - begun < 3
