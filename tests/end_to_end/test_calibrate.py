"""`footnote calibrate`: where relevance begins, measured with what was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.commands import Footnote

PARTS = ("gripper", "wheel", "camera", "battery", "motor", "joint", "sensor")
DONE = ("choose", "mount", "clean", "test")


def read_manual(footnote: Footnote, folder: Path) -> None:
    """Read a manual with a section for everything that is done with a part."""
    folder.mkdir()
    sections = [f"## How to {do} the {part}\n\nTo {do} a {part}, follow its sheet." for part in PARTS for do in DONE]
    (folder / "manual.md").write_text("# Manual\n\n" + "\n\n".join(sections), encoding="utf-8")
    assert footnote("ingest", str(folder)).code == 0


@pytest.mark.promise("abstains")
def test_the_boundary_is_measured_shown_and_kept(footnote: Footnote, tmp_path: Path) -> None:
    """Without `--keep` nothing changes; with it, what was measured is what the next command begins with."""
    read_manual(footnote, tmp_path / "manual")

    shown, kept, again = [footnote("calibrate", *words) for words in ((), ("--keep",), ())]

    assert [each.code for each in (shown, kept, again)] == [0, 0, 0]
    measured = shown.out.splitlines()[-3].rpartition("now, ")[2].removesuffix(" measured")
    assert shown.out.endswith("Nothing was changed. `footnote calibrate --keep` uses the measured boundary.\n")
    assert kept.out.endswith("Kept; what runs already uses it from its next start on.\n")
    assert f"{measured} now" in again.out


def test_a_few_pages_are_too_few_to_measure_with(footnote: Footnote) -> None:
    """The sentence says how many headings are needed."""
    ended = footnote("calibrate")

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith("and 20 are needed to measure with. Read more documents first.\n")
