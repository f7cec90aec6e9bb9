"""Where relevance begins for a model, as it was measured with the documents of this installation: kept in a file."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from core.model import Calibration

FILE = "calibrations.json"
CALIBRATIONS = TypeAdapter(dict[str, Calibration])


def kept_calibrations(folder: Path) -> dict[str, Calibration]:
    """Return what is kept in the data folder, by the name of the model; nothing of what cannot be read."""
    with contextlib.suppress(OSError, ValidationError):
        return CALIBRATIONS.validate_json((folder / FILE).read_bytes())
    return {}


def keep_calibrations(folder: Path, calibrations: Mapping[str, Calibration]) -> None:
    """Keep them beside those of other models; the next start uses them."""
    new = (folder / FILE).with_suffix(".new")
    new.write_bytes(CALIBRATIONS.dump_json({**kept_calibrations(folder), **calibrations}, indent=1))
    new.replace(folder / FILE)
