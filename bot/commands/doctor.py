"""`footnote doctor`: what is there, what is missing, and what to do; and `footnote resume`, where it cannot be read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from bot.commands.session import Session, say, session
from bot.outcome import OK
from bot.settings import SettingsRefused, slips_of_settings
from bot.wiring import Advice, Check
from core.errors import FootnoteError, InvalidInput
from core.messages import FAULTS, Drawing, lost_lines
from core.model import ModerationOrder, OrderKind, Person, WorkspaceRef, without_controls
from core.ports import PolicyStore

if TYPE_CHECKING:
    from adapters.beside import OwnerClient

TROUBLE = 1
TIMEOUT = 20.0  # seconds for each look


class Sign(StrEnum):
    """What stands in front of a finding."""

    WELL = "ok"
    ADVICE = "??"
    WRONG = "!!"


COLOURS = {Sign.WELL: "green", Sign.ADVICE: "yellow", Sign.WRONG: "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    sign: Sign
    name: str
    says: str


def examine() -> int:
    """Look at everything and print a line each; the code is 1 if anything that is needed is missing."""
    try:
        with session("footnote doctor", tells_slips=False) as opened:
            findings = _told(opened.owner) if opened.owner else _findings(opened)
            return opened.run(_examine(findings))
    except SettingsRefused as refused:  # without settings, nothing else can be looked at
        return asyncio.run(_examine(_refusals(refused)))


async def _refusals(refused: SettingsRefused) -> AsyncIterator[Finding]:
    for slip in _slips():
        yield slip
    for refusal in refused.refusals:
        yield Finding(Sign.WRONG, "settings", refusal)


async def _examine(findings: AsyncIterator[Finding]) -> int:
    from rich.console import Console

    console = Console()
    is_well = True
    async for finding in findings:
        is_well = is_well and finding.sign is not Sign.WRONG
        console.print(f"[{COLOURS[finding.sign]}]{finding.sign}[/]  [bold]{finding.name}[/]  ", end="")
        console.print(without_controls(finding.says), markup=False, highlight=False, soft_wrap=True)
    return OK if is_well else TROUBLE


async def _told(owner: OwnerClient) -> AsyncIterator[Finding]:
    """Have the bot that owns the data folder look, since it sees what it is connected to; then add what is amiss here.

    What stands in `.env` is seen by both.
    """
    slips = {finding.says: finding for finding in _slips()}
    async for sign, name, says in owner.findings():
        slips.pop(says, None)
        yield Finding(Sign(sign), name, says)
    for finding in slips.values():
        yield finding


async def look_inside(opened: Session, bot: Check) -> AsyncIterator[tuple[str, str, str]]:
    """Yield what the doctor finds in this process, which is a *bot* at work."""
    async for finding in _findings(opened, bot):
        yield astuple(finding)


async def _findings(opened: Session, *more: Check) -> AsyncIterator[Finding]:
    """Look at one part after the other, so that none makes another seem slow."""
    yield Finding(Sign.WELL, "settings", f"data folder {opened.settings.data_dir.resolve()}")
    for slip in _slips():
        yield slip
    wrong: set[str] = set()
    for check in (*more, *opened.app.checks):
        if wrong.intersection(check.needs):
            continue
        finding = await look_at(check)
        if finding.sign is Sign.WRONG:
            wrong.add(check.name)
        yield finding


def _slips() -> list[Finding]:
    return [Finding(Sign.ADVICE, "settings", str(slip)) for slip in slips_of_settings()]


async def look_at(check: Check, *, within: float = TIMEOUT) -> Finding:
    """Look twice, since the first time loads libraries and connects; an error's sentence says what to do.

    What works less well is not looked at again, as it may be slow.
    """
    todo = f"Check {check.setting}, and whether the service is working." if check.setting else "Try again in a moment."
    says, took = "", ""
    try:
        async with asyncio.timeout(within):
            says = await check.look()
            start = time.monotonic()
            if not isinstance(says, Advice):
                says = await check.look()
                took = f" ({(time.monotonic() - start) * 1000:.0f} ms)"
    except FootnoteError as error:
        detail = f" It said: {error.detail}" if error.detail else ""
        return Finding(Sign.WRONG, check.name, f"{error}{detail}")
    except TimeoutError:
        if not says:  # one that has answered once is there
            return Finding(Sign.WRONG, check.name, f"It did not answer within {within:g} seconds. {todo}")
    except Exception as mistake:  # noqa: BLE001 - one odd answer keeps nobody from looking at the rest
        says = f"It answered in a way that this version does not understand ({type(mistake).__name__}). {todo}"
        return Finding(Sign.WRONG, check.name, says)
    if isinstance(says, Advice):
        return Finding(Sign.ADVICE, check.name, says)
    return Finding(Sign.WELL, check.name, f"{says}{took}")


OPERATOR = Person(id="operator", name="the operator")
READABLE = "The settings of {} can be read, so nothing was changed. A moderator can use resume there."
UNCONFIRMED = (
    "{} This would be lost:\n{}\nTo start over with the default settings, type the same command with --confirm."
)
DONE = "Questions are answered in {} again, with the default settings. This was lost:\n{}"
DRAWING = Drawing(plain=str, moment=str, bullet="-", resume="", page="", channel=str, person=str)


def resume_workspace(name: str, *, is_confirmed: bool) -> int:
    """Replace a policy that cannot be read by the default one, if that is confirmed."""
    home = WorkspaceRef.parse(name)
    with session("footnote resume", memory=True) as opened:
        says = opened.run(resumed(opened.stores.policies, home, is_confirmed=is_confirmed))
    return say(says)


async def resumed(policies: PolicyStore, home: WorkspaceRef, *, is_confirmed: bool) -> str:
    """Replace the policy, which is noted as the operator's order, and say what is lost."""
    policy = await policies.load(home)
    if policy.fault is None:
        raise InvalidInput(READABLE.format(home), field="workspace")
    if not is_confirmed:
        lost = "\n".join(lost_lines(policy, DRAWING))
        raise InvalidInput(UNCONFIRMED.format(FAULTS[policy.fault], lost), field="confirm")
    order = ModerationOrder(OrderKind.RESUME)
    applied = await policies.apply(home, order, by=OPERATOR, at=datetime.now(UTC))
    return DONE.format(home, "\n".join(lost_lines(applied.before, DRAWING)))
