"""`footnote resume`: answers again in a workspace whose settings cannot be read."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from bot.commands.session import session
from bot.outcome import OK
from core.errors import InvalidInput
from core.messages import FAULTS, Drawing, lost_lines
from core.model import ModerationOrder, OrderKind, Person, WorkspaceRef, without_controls
from core.ports import PolicyStore

OPERATOR = Person(id="operator", name="the operator")
READABLE = "The settings of {} can be read, so nothing was changed. A moderator can use resume there."
UNCONFIRMED = "{} This would be lost:\n{}\nTo start again with the default settings, type the same with --confirm."
DONE = "Questions are answered in {} again, with the default settings. This was lost:\n{}"
DRAWING = Drawing(plain=str, moment=str, bullet="-", resume="", page="", channel=str, person=str)


def resume_workspace(name: str, *, is_confirmed: bool) -> int:
    """Put the usual policy in the place of one that cannot be read, if that is confirmed."""
    home = WorkspaceRef.parse(name)

    async def run() -> str:
        assert opened.app.stores is not None  # noqa: S101 - the session was opened with memory
        return await resumed(opened.app.stores.policies, home, is_confirmed=is_confirmed)

    with session("footnote resume", memory=True) as opened:
        says = opened.run(run())
    sys.stdout.write(f"{without_controls(says)}\n")
    return OK


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
