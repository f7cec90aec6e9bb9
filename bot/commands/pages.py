"""`footnote docs` and `footnote manifest`: what messages refer to, also where only the wheel is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bot.outcome import OK
from core.errors import InvalidInput

INSTALLED = Path(__file__).parents[1] / "pages"
CHECKOUT = Path(__file__).parents[2]
MANIFEST = "manifest.json"
NO_PAGE = "There is no page {!r}. The pages are: {}."
NO_ADDRESS = "{!r} is not an address at which Slack can reach the bot. One looks like https://bot.example.org."


def show_page(name: str | None) -> int:
    """Print a page as it is written, or which pages there are and where. Raises `InvalidInput`."""
    folder = INSTALLED if INSTALLED.is_dir() else CHECKOUT / "docs"
    pages = {path.stem: path for path in sorted(folder.glob("*.md"))}
    if name is None:
        first = {stem: path.read_text(encoding="utf-8").partition("\n")[0] for stem, path in pages.items()}
        titles = [f"{stem:15}  {line.removeprefix('# ')}" for stem, line in first.items()]
        sys.stdout.write("\n".join([*titles, "", f"They are in {folder}", ""]))
        return OK
    if (page := pages.get(name.removesuffix(".md"))) is None:
        raise InvalidInput(NO_PAGE.format(name, ", ".join(pages)), field="page")
    sys.stdout.write(page.read_text(encoding="utf-8"))
    return OK


def show_manifest(address: str | None) -> int:
    """Print the manifest of the Slack app, for Socket Mode or for an *address* on the web. Raises `InvalidInput`."""
    path = INSTALLED / MANIFEST if INSTALLED.is_dir() else CHECKOUT / MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if address is not None:
        manifest = over_http(manifest, address.rstrip("/"))
    sys.stdout.write(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return OK


def over_http(manifest: dict[str, Any], address: str) -> dict[str, Any]:
    """Return the manifest of an app that Slack calls at an *address* with HTTPS. Raises `InvalidInput`."""
    from adapters.slack.http import PATH
    from adapters.slack.oauth import END

    if not address.startswith("https://") or len(address.split()) != 1:
        raise InvalidInput(NO_ADDRESS.format(address), field="http")
    settings, features = manifest["settings"], manifest["features"]
    url = f"{address}{PATH}"
    return {
        **manifest,
        "features": {**features, "slash_commands": [{**each, "url": url} for each in features["slash_commands"]]},
        "oauth_config": {"redirect_urls": [f"{address}{END}"], **manifest["oauth_config"]},
        "settings": {
            **settings,
            "event_subscriptions": {"request_url": url, **settings["event_subscriptions"]},
            "interactivity": {**settings["interactivity"], "request_url": url},
            "socket_mode_enabled": False,
        },
    }
