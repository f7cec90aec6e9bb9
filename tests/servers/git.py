"""A git server: git's own, behind HTTP, with one repository that a test fills, and every way to refuse."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from pathlib import Path

from aiohttp import web

from tests.servers.service import Received, Reply, Service

QUIET = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_{what}": "somebody@example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


class GitServer(Service):
    """Serves `/shelf.git` by `git http-backend`; `at` has other answers for single paths, `half` cuts packs short."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="footnote-git-")
        self.root = Path(self._folder.name) / "shelf.git"
        self.at: dict[str, Reply] = {}
        self.half = False
        self.git("init", "--quiet", "--initial-branch=main", str(self.root))

    @property
    def address(self) -> str:
        """Where the repository is."""
        return f"{self.url}/shelf.git"

    def git(self, *words: str) -> str:
        """Run git in the repository, with no settings of this machine."""
        place = self.root if self.root.is_dir() else self.root.parent
        ended = subprocess.run(["git", *words], cwd=place, env=QUIET, capture_output=True, text=True, check=True)
        return ended.stdout.strip()

    def put(self, files: Mapping[str, bytes]) -> None:
        """Commit these files and no others."""
        self.git("rm", "-r", "-q", "--ignore-unmatch", "--", ".")
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "Shelve")

    async def down(self) -> None:
        """Stop, and delete the repository."""
        await super().down()
        self._folder.cleanup()

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Answer as git does."""
        if (other := self.at.get(request.path)) is not None:
            return web.Response(status=other.status, body=other.payload, headers=dict(other.headers))
        env = {
            **QUIET,
            "GIT_PROJECT_ROOT": str(self.root.parent),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": request.method,
            "PATH_INFO": request.path.replace("/shelf.git", "/shelf.git/.git"),
            "QUERY_STRING": request.query_string,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }
        backend = await asyncio.create_subprocess_exec("git", "http-backend", env=env, stdin=PIPE, stdout=PIPE)
        said, _ = await backend.communicate(await request.read())
        head, _, body = said.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(headers.pop("Status", "200").split()[0])
        if self.half and b"packfile" in body[:200]:
            body = body[: len(body) // 2]
        return web.Response(status=status, body=body, headers=headers)
