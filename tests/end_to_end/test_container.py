"""The image, the services and the unit file: built and started with an engine where there is one, and without."""

from __future__ import annotations

import asyncio
import configparser
import fnmatch
import json
import re
import shutil
import signal
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.app import SIGNALS
from bot.outcome import WRONG_INPUT
from bot.roles import Role
from bot.settings import Settings
from tests.container import ROOT, Rehearsal, stages
from tests.end_to_end.test_run import PATIENCE, environment, said
from tests.fixtures.commands import write_documents
from tests.servers.discord import DiscordServer
from tests.servers.valkey import free_port

NAMES = {str(field.validation_alias) for field in Settings.model_fields.values()}
COMPOSED: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSED["services"]
OURS = ("bot", "worker", "sync", "discord", "slack")
AFTER_GRACE = 10  # seconds that are granted to commands under way


@pytest.fixture(name="image", scope="module")
def _image() -> Iterator[Rehearsal]:
    """Build it without an engine, where another user can read it, which the folders of tests do not allow."""
    folder = Path(tempfile.mkdtemp(prefix="footnote-image-"))
    folder.chmod(0o755)
    try:
        image = Rehearsal(folder)
        image.build()
        image.make_data()
        yield image
    finally:
        shutil.rmtree(folder)


@pytest.mark.promise("contained")
async def test_what_the_image_holds_reads_answers_and_stops(image: Rehearsal, tmp_path: Path) -> None:
    """From its own files alone, as a user without rights: its check sees that it lives, and a stop is in good order."""
    documents = write_documents(image.folder / "documents")
    port = str(free_port())
    ingesting = image.start("ingest", str(documents), "--base-url", "https://zoo.example")
    _, told = await asyncio.to_thread(ingesting.communicate)
    assert (ingesting.returncode, "2 added" in told) == (0, True), told
    async with DiscordServer() as server:
        guild = server.add_guild()
        channel, ada = server.add_channel(guild), server.add_member(guild)
        running = image.start(**environment(server, FOOTNOTE_HEALTH_PORT=port))
        try:
            await server.connected(seconds=PATIENCE)
            asked = server.post_as(ada, channel, "What do penguins eat?", mentions=[server.bot])
            await server.until(lambda: "krill" in said(server, asked), what="an answer", seconds=PATIENCE)
            lives = await asyncio.to_thread(image.is_healthy, FOOTNOTE_HEALTH_PORT=port)
            running.send_signal(signal.SIGTERM)
            _, log = await asyncio.wait_for(asyncio.to_thread(running.communicate), PATIENCE)
        finally:
            running.kill()
    is_dead = not await asyncio.to_thread(image.is_healthy, FOOTNOTE_HEALTH_PORT=port)

    assert (lives, is_dead, running.returncode) == (True, True, 0)
    assert {json.loads(line)["level"] for line in log.splitlines()} == {"info"}
    assert {path.stat().st_uid for path in image.data.rglob("*")} == {image.user}


def test_the_image_is_made_of_what_is_there() -> None:
    """Two stages of one base; what is copied is let through; it runs as no root, and settings are the real ones."""
    build, last = stages()
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [name for words in build.all("COPY") for name in words.split()[:-1]]
    (python,) = {words.split()[0] for stage in (build, last) for words in stage.all("FROM")}
    (user,) = last.all("USER")
    settings = {words.partition("=")[0] for words in last.all("ENV")} - {"PATH"}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert [name for name in copied if not (ROOT / name).exists() or name not in allowed] == []
    assert re.fullmatch(r"python:3\.1\d-slim-\w+", python)
    assert user.isdigit()
    assert int(user) > 0
    assert settings <= NAMES
    assert fnmatch.fnmatch(build.all("RUN")[-1], f"*footnote-{version}-py3-none-any.whl")
    assert last.all("VOLUME") == ["/data"]


def test_the_services_are_shares_of_the_work() -> None:
    """The bot alone, or each role with servers that keep what they are given; two workers; time to stop."""
    large = {name for name, service in SERVICES.items() if service["profiles"] == ["large"]}
    roles = {role for name in OURS for role in SERVICES[name].get("command", ["run"])[1:]}
    valkey = " ".join(SERVICES["valkey"]["command"])
    grace = Settings.model_fields["grace_seconds"].default

    assert set(SERVICES) - large == {"bot"}
    assert roles == set(Role)
    assert SERVICES["worker"]["deploy"]["replicas"] == 2
    assert ("--appendonly yes" in valkey, "--maxmemory-policy noeviction" in valkey) == (True, True)
    assert SERVICES["qdrant"]["environment"] == {"QDRANT__TELEMETRY_DISABLED": "true"}
    for name in OURS:
        service = SERVICES[name]
        assert {volume.partition(":")[0] for volume in service["volumes"]} <= {*COMPOSED["volumes"], "./documents"}
        assert int(service["stop_grace_period"].removesuffix("s")) > grace + AFTER_GRACE
        assert set(service.get("environment", {})) <= NAMES
        for address in service.get("environment", {}).values():
            assert re.fullmatch(r"\w+://(\w+):\d+(?:/0)?", address)[1] in SERVICES  # pyright: ignore[reportOptionalSubscript]


def test_the_unit_file_stops_the_bot_alone() -> None:
    """Its private store is needed until the end; what only the operator can change is not tried again."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    unit.read(ROOT / "deploy" / "footnote.service")
    service = unit["Service"]

    assert service["ExecStart"].endswith("/bin/footnote run")
    assert (service["KillMode"], signal.SIGTERM in SIGNALS) == ("mixed", True)
    assert int(service["RestartPreventExitStatus"]) == WRONG_INPUT
    assert int(service["TimeoutStopSec"]) > Settings.model_fields["grace_seconds"].default + AFTER_GRACE
    assert service["Environment"].partition("=")[0] in NAMES
    assert {"AF_INET", "AF_INET6", "AF_UNIX"} <= set(
        service["RestrictAddressFamilies"].split()
    )  # its store, and the net
    if (analyze := shutil.which("systemd-analyze")) is not None:
        ended = subprocess.run(
            [analyze, "verify", ROOT / "deploy" / "footnote.service"], capture_output=True, text=True, check=False
        )
        assert [line for line in ended.stderr.splitlines() if "Unknown" in line or "Failed to parse" in line] == []


def engine() -> str | None:
    """Give the container engine of this machine, if one answers."""
    for name in ("docker", "podman"):
        if (program := shutil.which(name)) is not None:
            asked = subprocess.run([program, "info"], capture_output=True, check=False)
            if asked.returncode == 0:
                return program
    return None


@pytest.mark.timeout(1_800)
def test_an_engine_builds_and_starts_it(tmp_path: Path) -> None:
    """As no root, with a root file system that cannot be written to, and data that outlives the container."""
    if (program := engine()) is None:
        pytest.skip("no container engine answers here")
    documents = write_documents(tmp_path / "documents")
    documents.chmod(0o755)
    tag, volume = "footnote-test", f"footnote-test-{free_port()}"
    run = [program, "run", "--rm", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL"]
    run += ["-v", f"{volume}:/data", "-v", f"{documents}:/documents:ro"]

    def output(*words: str) -> str:
        return subprocess.run([*run, tag, *words], capture_output=True, text=True, check=True).stdout

    subprocess.run([program, "build", "-t", tag, str(ROOT)], check=True)
    try:
        output("ingest", "/documents")
        answer = output("ask", "What", "do", "penguins", "eat")
        who = subprocess.run([*run, "--entrypoint", "id", tag, "-u"], capture_output=True, text=True, check=True)
    finally:
        subprocess.run([program, "volume", "rm", "-f", volume], check=False)

    assert ("krill" in answer, who.stdout.strip()) == (True, stages()[-1].all("USER")[0])
