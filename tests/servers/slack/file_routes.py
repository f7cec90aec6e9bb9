"""Files: what messages say of them, what the platform says when it is asked, and what is in them."""

from __future__ import annotations

from aiohttp import web

from tests.servers.slack.platform import Platform, StoredFile
from tests.servers.slack.refusals import Refusal
from tests.servers.slack.routes import TIERS, Call, Route
from tests.servers.slack.shape import Json
from tests.servers.slack.workspaces import Installation

PATH = "/files-pri/"
STUB = "check_file_info"
NEEDED = "files:read"


def file_payload(platform: Platform, file: StoredFile, *, is_stub: bool = False) -> Json:
    """Give a file as messages show it; in channels that are shared with others, nearly nothing."""
    if file.deleted:
        return {"id": file.id, "mode": "tombstone"}
    if is_stub:
        return {"id": file.id, "mode": "file_access", "file_access": STUB, "created": 0, "timestamp": 0}
    url = f"{platform.url}{PATH}{file.team_id}-{file.id}/{file.upload.name}"
    return {
        "id": file.id,
        "name": file.upload.name,
        "title": file.upload.name,
        "mimetype": file.upload.kind or "application/octet-stream",
        "mode": "hosted",
        "file_access": "visible",
        "is_external": False,
        "size": len(file.upload.body),
        "url_private": url,
        "url_private_download": url.replace(f"/{file.upload.name}", f"/download/{file.upload.name}"),
    }


def serve(platform: Platform, token: Installation | None, path: str) -> web.Response:
    """Answer with what is in a file; whoever may not read it is sent to where people log in."""
    team_id, _, rest = path.removeprefix(PATH).partition("-")
    file = platform.files.get(rest.partition("/")[0])
    if token is None or NEEDED not in token.scopes or team_id not in token.teams:
        return web.Response(status=302, headers={"Location": f"{platform.url}/?redir={path}"})
    if file is None or file.deleted:
        return web.Response(status=404, text="File not found")
    return web.Response(body=file.upload.body, headers={"Content-Type": file.upload.kind or "application/octet-stream"})


def _info(platform: Platform, call: Call) -> Json:
    file = platform.files.get(call.need("file"))
    if file is None:
        raise Refusal("file_not_found")
    if file.deleted:
        raise Refusal("file_deleted")
    return {"file": file_payload(platform, file)}


ROUTES = (Route("files.info", _info, (NEEDED,), TIERS[4]),)
