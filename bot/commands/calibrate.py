"""`footnote calibrate`: where relevance begins for the models that search, measured with what was read."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from bot.commands.session import Session, say, session
from bot.wiring.services import keep_calibrations, kept_calibrations
from core.documents.calibrating import Curve, curves
from core.errors import FootnoteError
from core.model import Calibration, without_controls

FEWEST = 100  # passages to measure with, without being told to
BOUNDARY, ENOUGH_RIGHT, FEW_FOREIGN = 0.5, 0.8, 0.2  # and how well headings and others have to be told apart there
THRESHOLDS = tuple(number / 10 for number in range(1, 10))
HEAD = "{}: shares of {} headings and of {} questions about other things that would get sources\n"
LINE = "  {:.1f}   {:7.1%} {:7.1%}   {:7.1%} {:7.1%}\n"
KEPT = "Kept; what runs already uses it from its next start on."
NOT_KEPT = "Nothing was changed. `footnote calibrate --keep` uses the measured boundary."
MEASURED = "Measured where relevance begins for {}; footnote calibrate shows it.\n"


def calibrate(*, keep: bool) -> int:
    """Print the curve of each model, as it is and as it was measured; with *keep*, use the second from now on."""
    with session("footnote calibrate") as opened:
        found = opened.run(_measured(opened))
        for curve in found:
            sys.stdout.write(without_controls(_table(curve)))
        if keep:
            keep_calibrations(opened.settings.data_dir, {curve.name: curve.fitted for curve in found})
    return say(KEPT if keep else NOT_KEPT)


def calibrate_services(opened: Session) -> None:
    """Measure once for services, whose calibrations are estimates, after documents have been read; or do without."""
    app, kept = opened.app, kept_calibrations(opened.settings.data_dir)
    names = [app.embedder.name, *([app.reranker.name] if app.reranker else [])]
    if opened.settings.cohere_key is None or all(name in kept for name in names):
        return
    with contextlib.suppress(FootnoteError):  # too few headings, or a service is down: the next reading tries again
        if opened.run(app.index.outline()).passages < FEWEST:
            return
        found = opened.run(_measured(opened))
        shares = [curve.shares(curve.fitted, BOUNDARY) for curve in found]
        if not all(right >= ENOUGH_RIGHT and foreign <= FEW_FOREIGN for right, foreign in shares):
            return  # such documents are about what the other questions are about, and tell nothing
        keep_calibrations(opened.settings.data_dir, {curve.name: curve.fitted for curve in found})
        sys.stderr.write(without_controls(MEASURED.format(" and ".join(names))))


async def _measured(opened: Session) -> Sequence[Curve]:
    return await curves(opened.app.index, opened.app.embedder, opened.app.reranker)


def _table(curve: Curve) -> str:
    says = HEAD.format(curve.name, len(curve.right), len(curve.foreign))
    says += "  threshold        now          measured\n"
    for threshold in THRESHOLDS:
        now, measured = curve.shares(curve.before, threshold), curve.shares(curve.fitted, threshold)
        says += LINE.format(threshold, *now, *measured)
    return f"{says}  {_of(curve.before)} now, {_of(curve.fitted)} measured\n\n"


def _of(calibration: Calibration) -> str:
    return f"boundary {calibration.midpoint:.3f}, slope {calibration.slope:.1f}"
