"""Encryption at rest: what is secret can be read with the secret key only, and only where it was put."""

from __future__ import annotations

import base64
import fcntl
import hmac
import os
import secrets as entropy
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError

from adapters.redis.connection import names, translated
from core.errors import Misconfigured
from core.model import Value

if TYPE_CHECKING:
    from redis.asyncio import Redis

SHORTEST = 32  # characters of a secret: what 32 random bytes need at the very least
VARIETY = 8  # different characters; random secrets of that length have more, made-up ones often do not
VERSION = b"\x01"
PSEUDONYM = 16  # bytes
NONCE = 12  # bytes, as AES-GCM wants; random, so one key is good for some 2**32 values
RECIPE = 'Make one with: python3 -c "import secrets; print(secrets.token_urlsafe(32))"'

VAULT = "footnote:vault:"

Kind = TypeVar("Kind", bound=str | Value)


class Seal:
    """Encrypts with the first secret and decrypts with any, so that secrets can be changed without losing data.

    A value is bound to the place that it is stored at: copied to another place it cannot be decrypted.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        if not secrets:
            raise Misconfigured(f"FOOTNOTE_SECRET_KEY is empty. {RECIPE}")
        if any(len(secret) < SHORTEST or len(set(secret)) < VARIETY for secret in secrets):
            raise Misconfigured(
                f"FOOTNOTE_SECRET_KEY holds a key that is too weak: it needs at least {SHORTEST} random characters. "
                f"{RECIPE}"
            )
        self._ciphers = [
            AESGCM(HKDF(SHA256(), length=32, salt=None, info=b"footnote stored text").derive(secret.encode()))
            for secret in secrets
        ]
        derived = HKDF(SHA256(), length=32, salt=None, info=b"footnote pseudonyms").derive(secrets[0].encode())
        self._pseudonyms = partial(hmac.digest, derived, digest="sha256")

    def pseudonym(self, name: str) -> str:
        """Return a name for *name* that nobody without the secret can lead back to it, the same until that changes."""
        return self._pseudonyms(name.encode())[:PSEUDONYM].hex()

    @classmethod
    def parse(cls, text: str) -> Seal:
        """Read secrets separated by commas, the newest first, as FOOTNOTE_SECRET_KEY holds them."""
        return cls([secret.strip() for secret in text.split(",") if secret.strip()])

    @classmethod
    def from_file(cls, path: Path) -> Seal:
        """Use the secret in a file that only its owner can read; make it if it is not there yet."""
        try:
            secret = _kept(path)
        except (OSError, UnicodeDecodeError) as error:
            raise Misconfigured(
                f"The secret key in {path} cannot be read or made. It has to be a plain file of this user, in a "
                "folder that can be written to, on a disk with room."
            ) from error
        try:
            return cls([secret])
        except Misconfigured as error:
            raise Misconfigured(
                f"The secret key in {path} is damaged. Put a copy of it back, or remove it to make a new one; "
                "what was stored under the old one can then no longer be read."
            ) from error

    def encrypt(self, text: str, *, place: str) -> bytes:
        """Return *text* so that only this seal can read it, and only at *place*."""
        nonce = os.urandom(NONCE)
        return VERSION + nonce + self._ciphers[0].encrypt(nonce, text.encode(), place.encode())

    def read(self, kind: type[Kind], sealed: bytes | None, *, place: str) -> Kind | None:
        """Return what was encrypted at *place*, a text or a value of some *kind*.

        None if there is none, if its secret is gone or it was altered, or if another version wrote it in another form.
        """
        from cryptography.exceptions import InvalidTag

        if not sealed or sealed[:1] != VERSION or len(sealed) <= 1 + NONCE:
            return None
        parse: Any = getattr(kind, "model_validate_json", kind)
        for cipher in self._ciphers:
            with suppress(InvalidTag, ValidationError):
                return parse(cipher.decrypt(sealed[1 : 1 + NONCE], sealed[1 + NONCE :], place.encode()).decode())
        return None


@dataclass
class RedisVault:
    """Keeps secrets, each bound to its key: copied to another one, it cannot be read."""

    client: Redis
    _: KW_ONLY
    seal: Seal

    async def load(self, key: str) -> str | None:
        """Read and decrypt."""
        place = VAULT + key
        with translated():
            sealed = cast("bytes | None", await self.client.get(place))
        return self.seal.read(str, sealed, place=place)

    async def keys(self, beginning: str) -> Sequence[str]:
        """Look at the name of every key."""
        return [name.removeprefix(VAULT) for name in await names(self.client, VAULT + beginning)]

    async def save(self, key: str, text: str, ttl: timedelta | None = None) -> None:
        """Encrypt and write; what was there goes, with its time."""
        place = VAULT + key
        with translated():
            await self.client.set(place, self.seal.encrypt(text, place=place), px=ttl)

    async def remove(self, key: str) -> None:
        """Remove it, whether or not it could be read."""
        with translated():
            await self.client.delete(VAULT + key)


def _kept(path: Path) -> str:
    """Read the secret in *path*; whoever finds the file empty writes it, and the lock lets only one do so."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            os.fchmod(file.fileno(), 0o600)
        if secret := file.read().strip():
            return secret
        secret = base64.urlsafe_b64encode(entropy.token_bytes(32)).decode()
        file.write(f"{secret}\n")
        file.flush()
        os.fsync(file.fileno())
        return secret
